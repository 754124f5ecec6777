"""What an answer says beside its cues of abstention, where no grammar knows the value: nothing, talk, or content.

A cue takes with it what is lacking, where it was looked for and whom to ask instead. What else holds a word that
neither the question nor talk about sources explains is content, however short; a claim about what a source says is
talk that excuses nothing and proves nothing.

Source: docs/spec/abstention.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import IntEnum

from slaverify.scoring.data import word_list
from slaverify.scoring.folding import fold


class Beside(IntEnum):
    """What stands beside the cues; the greater one prevails."""

    NOTHING = 0
    TALK = 1
    CONTENT = 2


_FUNCTION = word_list("beside.json", "function")
_STEMS = tuple(sorted(word_list("beside.json", "stems")))
_GENERIC = tuple(sorted(word_list("beside.json", "generic")))
_ACTS = tuple(sorted(word_list("beside.json", "acts")))
_NO = re.compile(r"\b(?:es|is)\s(?:que\s)?(?:no|not|negativ[oa]|negative)\W*$")
_CONTRACTED = frozenset(
    ["there's", "it's", "that's", "i'd", "i'm", "i've", "we've", "you're", "isn't", "wasn't", "can't", "don't"]
)
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_ADVERB = re.compile(r"[a-z]{3,}(?:mente|ly)")
_SOURCE = re.compile(
    r"\b(?:corpus|reglamentos?|ordenanzas?|normativas?|normas?|documentos?|documentacion|textos?|ley|leyes|legislacion"
    r"|decretos?|fuentes?|materiales|indice|contexto|articulos?|articulado|resultados?|extractos?|disposiciones|bases?"
    r"|manual|codigo|regulations?|documents?|texts?|sources?|context|passages?|statutes?|acts?|laws?|articles?|rules"
    r"|provisions?|ordinances?|excerpts?|index|materials?)\b"
)
_FINITE = re.compile(
    r"\b(?:es|son|fue|fueron|era|eran|sera|seran|seria|serian|esta|estan|estaba|estaban|hay|habia|tiene|tienen|tenia"
    r"|debe|deben|puede|pueden|dice|dijo|dicen|cuesta|vale|paga|pagan|hace|hizo|va|van|llama|llaman|pertenece|mide|pesa"
    r"|is|are|was|were|has|had|said|says|did|can|must|costs?|will|[a-z]{3,}(?:aron|ieron|aban))\b"
)
_PRETERITE = re.compile(r"\w{2,}ó\b")
_SUBORDINATE = re.compile(
    r"\b(?:que|si|cual(?:es)?|cuant[oa]s?|quien(?:es)?|donde|cuando|como|cuyo|cuya|what|which|who|whom|whose|where|when"
    r"|how|whether|if|that|why)\b"
)
_THAT = re.compile(r"\b(?:que|that)\s(?=\S)")
_FIRST = re.compile(
    r"\bno (?:(?:me|nos|le|les|lo|la|los|las|te) ){0,2}(?:se$|tengo|tenemos|puedo|podemos|dispongo|cuento|encuentro"
    r"|encontre|conozco|poseo|recuerdo|hallo|halle|sabria|estoy)|\b(?:desconozco|ignoro|me abstengo|carezco)\b"
    r"|\bno (?:lo|la|los|las) se\b|\b(?:i|we)\b|\bsin (?:informacion|datos|antecedentes)\b|\bni idea\b"
)
_KNOW = re.compile(
    r"\bno (?:lo |la )?sé\b|\bno (?:lo|la) se\b|\bni idea\b|\b(?:i|we) (?:do not|don't) know\b|\bno idea\b"
    r"|\bno consta\b"
)
_COMPLEMENT = re.compile(
    r"\W*(?:$|(?:que|si|cual|cuales|cuant\w{1,2}|como|donde|cuando|quien|quienes|por|de|del|sobre|acerca|respecto|a|con"
    r"|la|el|los|las|ese|esa|eso|esto|este|esta|nada|decir\w*|exactamente|bien|responder\w*|contestar\w*|ni|al|en|y|e"
    r"|pero|porque|ya|todavia|aun|what|who|which|how|if|whether|the|that|this|about|where|when|why|anything|for"
    r"|exactly|in|from|based|of|yet|enough|and|but)\b)"
)
_AFTER = re.compile(
    r"\W*(?:sobre|acerca|respecto|relativ\w{1,3}|en relacion|en cuanto|segun|conforme|de acuerdo|ni|no|not|nor|tampoco"
    r"|about|regarding|concerning|according|under|based)\b"
)
_BEFORE = re.compile(
    r"\W*(?:segun|conforme|de acuerdo|en (?:cuanto|relacion|el caso|base|lo)|respecto|sobre|acerca|para|tras"
    r"|luego|despues"
    r"|con (?:base|los|la|el|lo)|a partir|pese|al|hasta donde|como|about|regarding|concerning|according|based"
    r"|after|as|for"
    r"|on|in|from|having)\b"
)
_CAUSE = re.compile(
    r"\W*(?:por (?:lo tanto|lo que|lo cual|tanto|ello|eso|esa razon|ese motivo|consiguiente)|en consecuencia|asi que"
    r"|de modo que|de manera que|dado que|ya que|porque|puesto que|pues|so|therefore|because|since|as such|thus|hence"
    r"|for that reason)\b,?"
)
_ENUMERATION = re.compile(r"\W*(?:y|e|o|u|ni|and|or|nor)\s")
_PIECES = re.compile(
    r",\s|\s[—–-]\s|\s(?=(?:y|e|and)\s(?!/))|\s(?=(?:porque|pues|ya que|dado que|puesto que|because|since)\b)"
)
_FRONTED = re.compile(r"\bno (?:lo|la|los|las) (?!se\b)")
_POLITE = re.compile(
    r"\b(?:podria\w?|puede\w?|desea\w?|quiere\w?|necesita\w?|hay algo|algo mas|le parece|me permite|gustaria"
    r"|could|can|would"
    r"|may|do you|is there|anything|else)\b"
)
_YES = re.compile(r"\W*(?:si|yes|sip|yep)\W*")
_NAMED = re.compile(
    r"\b(?:sobre|acerca del?|respecto (?:del?|al?)|del?|relativ\w{1,3} al?|ningun[oa]?|ni|about|regarding|on"
    r"|of|any|mencionan?"
    r"|trata|abordan?|contienen?|incluyen?|cubren?|recogen?|contempla|preven?|regulan?|include|contain|define"
    r"|indica|especifica|senala|establece|mention|address|cover|define|specify|state)"
    r"\s(?:(?:el|la|los|las|un|una|the|a|an|any|ningun[oa]?|al?|de)\s){0,2}(?!(?:eso|ello|esto|that|this|it"
    r"|nada)\b)[a-z]{4,}"
)
_JOINS = re.compile(r"\s(?:y|e|o|u|ni|and|or|nor)\s")
_REACH = 400
_PIECES_AT_MOST = 60
_MANY = 4
"""New words from which an enumeration of what is lacking is no longer taken for one."""

Neutral = Callable[[str], bool]
Cue = Callable[[str], "re.Match[str] | None"]


def words_of(query: str) -> frozenset[str]:
    """Return the stems of the words of a question: an answer that repeats them says nothing new."""
    return frozenset(_stem(word) for word in _WORD.findall(fold(query)))


def _stem(word: str) -> str:
    return word[:5] if len(word) > 5 else word.rstrip("s")


def new_words(text: str, known: frozenset[str]) -> list[str]:
    """Return the words of `text` that neither the question nor talk about sources and answers explains."""
    return [
        word
        for word in _WORD.findall(text)
        if len(word) > 2
        and word not in _FUNCTION
        and _stem(word) not in known
        and not word.startswith(_STEMS)
        and not _ADVERB.fullmatch(word)
    ]


_OF_ANSWERS = re.compile(
    r"\b(?:respuestas?|respond\w{1,6}|contest\w{1,6}|datos?|informacion|preguntas?|consultas?|sab(?:er|ria|emos)|consta|antecedentes"
    r"|establec\w{1,5}|indic\w{1,5}|mencion\w{1,5}|senal\w{1,5}|especific\w{1,5}|precis\w{1,5}|desprend\w{1,5}|deduc\w{1,5}"
    r"|answers?|questions?|information|data|know\w{0,2}|tell|specif\w{1,5}|mention\w{0,3}|stated?)\b"
)


def of_answers(text: str, known: frozenset[str]) -> bool:
    """Tell whether `text` speaks of sources or of answering, in words of its own, and of nothing else."""
    if any(not word.startswith(_GENERIC) and word not in _CONTRACTED for word in new_words(text, known)):
        return False
    if any(word.startswith(_ACTS) and not _OF_ANSWERS.match(word) for word in _WORD.findall(text)) or _NO.search(text):
        return False  # "No se presentan documentos", "The answer is no": said of the world
    found = [*_SOURCE.finditer(text), *_OF_ANSWERS.finditer(text)]
    return any(_stem(match.group()) not in known for match in found)


def apart(text: str, known: frozenset[str]) -> Beside:
    """Say what a sentence without a cue is, beside another one that has one."""
    if _YES.fullmatch(text):
        return Beside.CONTENT
    if not new_words(text, known):
        return Beside.NOTHING
    return Beside.TALK if _SOURCE.search(text) and not _THAT.search(text) else Beside.CONTENT


def talk(text: str, known: frozenset[str], neutral: Neutral) -> Beside:
    """Say what an offer, an advice, a question or a sentence about the sources holds."""
    cause = _CAUSE.match(text)
    if cause is not None:
        rest = text[cause.end() :]
        if not new_words(rest, known) or _ENUMERATION.match(rest):
            return Beside.NOTHING
        return Beside.NOTHING if _SOURCE.search(rest) and not _THAT.search(rest) else Beside.CONTENT
    if text.rstrip(" \"')").endswith("?"):
        asks = _POLITE.search(text) or not new_words(text, known)
        return Beside.NOTHING if asks else Beside.TALK
    for that in _THAT.finditer(text):
        if _claims(text[that.end() :]) and new_words(text[that.end() :], known):
            return Beside.TALK
    added = [
        piece
        for piece in _PIECES.split(text)[1:]
        if new_words(piece, known) and not _AFTER.match(piece) and not neutral(piece)
    ]
    if any(_claims(piece) and not _SOURCE.search(piece) for piece in added):
        return Beside.CONTENT
    loose = [piece for piece in added if not _ENUMERATION.match(piece) and not _SOURCE.search(piece)]
    return Beside.TALK if loose else Beside.NOTHING


def names_source(text: str, before: str) -> bool:
    """Tell whether `text` is no more than the name of the source that `before` ends with."""
    return _SOURCE.search(before[-60:]) is not None and _SOURCE.search(text) is not None and not _claims(text)


def within(text: str, raw: str, known: frozenset[str], cue: Cue, neutral: Neutral) -> Beside:
    """Say what a clause with a cue holds beside the cue and its complement. `raw` is the same with accents."""
    found = cue(text)
    if found is None:
        return Beside.NOTHING
    worst = Beside.NOTHING
    start = 0
    before = ""
    joined = max((match.start() for match in _JOINS.finditer(text)), default=-1)
    ends = [*(match.start() for match in _PIECES.finditer(text)), len(text)]
    if len(ends) > _PIECES_AT_MOST:
        return Beside.CONTENT
    for end in ends:
        piece = text[start:end].strip(" ,")
        own = cue(piece)
        if own is None and not (start < found.end() and found.start() < end):
            worst = max(worst, _piece(piece, raw[start:end], before, known, neutral, joined >= start))
        else:
            worst = max(worst, _core(piece, raw[start:end], own, known))
        before = (before + " " + piece)[-_REACH:]
        start = end
    return worst


_EXCEPT = re.compile(
    r"\b(?:salvo|excepto|fuera de|aparte de|ademas de|adicional a|adicionales a|mas que|mas alla de|sino"
    r"|except|other than"
    r"|besides|beyond|apart from)\s(?:el hecho de\s|the fact\s)?(?:que|that|de que|es|is)\b"
)


def _core(piece: str, raw: str, own: re.Match[str] | None, known: frozenset[str]) -> Beside:
    # the piece that holds the cue: what stands before and after it without a comma
    if own is None:
        return Beside.NOTHING
    ahead, behind = piece[: own.start()], piece[own.end() :]
    if new_words(ahead, known) and not _BEFORE.match(ahead) and not _SUBORDINATE.search(ahead):
        if _FIRST.search(own.group()) and not _FRONTED.match(own.group()):
            return Beside.CONTENT
        if _finite(ahead, raw) and not _SOURCE.search(ahead):
            return Beside.CONTENT
    if _EXCEPT.search(behind) and new_words(behind, known):
        return Beside.CONTENT
    know = _KNOW.search(raw.lower())
    if know is not None:
        rest = fold(raw[know.end() :])
        if not _COMPLEMENT.match(rest) and new_words(rest, known):
            return Beside.CONTENT
    verb = re.search(r"\b(?:es|son|fue|era|is|are|was|were)\b", behind)
    stated = verb is not None and not _SUBORDINATE.search(own.group() + behind[: verb.start()])
    if stated and _FIRST.search(own.group()) and new_words(behind, known):
        return Beside.CONTENT
    return Beside.NOTHING


def _piece(piece: str, raw: str, before: str, known: frozenset[str], neutral: Neutral, following_joins: bool) -> Beside:
    if _YES.fullmatch(piece):
        return Beside.CONTENT
    fresh = new_words(piece, known)
    if not fresh:
        return Beside.NOTHING
    if _CAUSE.match(piece):
        return talk(piece, known, neutral)
    if neutral(piece):
        return talk(piece, known, neutral)
    if not before.strip():
        return Beside.NOTHING if _BEFORE.match(piece) and not _claims(piece) else _loose(piece, raw, fresh)
    if _AFTER.match(piece) and not _claims(piece):
        return Beside.NOTHING
    if _ENUMERATION.match(piece) and not _finite(piece, raw):
        complement = _lacks(before)
        if complement and len(fresh) < _MANY:
            return Beside.NOTHING
        return Beside.TALK if complement else Beside.CONTENT
    if following_joins and _lacks(before) and len(fresh) < _MANY and not _finite(piece, raw):
        return Beside.NOTHING
    return _loose(piece, raw, fresh)


def _loose(piece: str, raw: str, fresh: Sequence[str]) -> Beside:
    if _SOURCE.search(piece) and not _THAT.search(piece):
        return Beside.NOTHING if len(fresh) < _MANY and not _finite(piece, raw) else Beside.TALK
    return Beside.CONTENT


def _lacks(before: str) -> bool:
    # what is lacking has been named: "sobre el color", "del tamaño", "about the size"
    return _NAMED.search(before) is not None


def _claims(text: str) -> bool:
    verb = _FINITE.search(text)
    return verb is not None and _SUBORDINATE.search(text[: verb.start()]) is None


def _finite(piece: str, raw: str) -> bool:
    return _FINITE.search(piece) is not None or _PRETERITE.search(raw) is not None
