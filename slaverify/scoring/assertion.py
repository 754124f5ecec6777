"""Whether a value is asserted where it stands: negation and its reach, corrections, what bounds or hedges it.

Negation reaches to the end of its clause. `no podrá exceder de 15 días` asserts the bound; `no obstante` and a
reply `No, …` negate nothing. After a comma the reach is in doubt, and doubt is kept as such.

Source: docs/spec/scoring.md section 7.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from slaverify.scoring.passage import Passage
from slaverify.scoring.result import Span


class Assertion(Enum):
    """How a value stands in its clause."""

    ASSERTED = auto()
    NEGATED = auto()
    DOUBTFUL = auto()


REACH = 600
"""Code points that a negation reaches at most; a longer clause is no sentence."""

_NEGATOR = re.compile(
    r"\b(?:no|ni|tampoco|nunca|jamas|not|never|nor|neither|cannot|sin)\b|n't\b"
    r"|\b(?:es|resulta|seria)\s(?:falso|incorrecto|erroneo|inexacto)\s(?:que|decir|afirmar)\b"
    r"|\b(?:niego|descarto|rechazo|descartad[oa]s?|excluid[oa]s?)\b"
    r"|\b(?:it\sis|it's)\s(?:false|wrong|incorrect|untrue)\s(?:that|to)\b"
    r"|\b(?:en\s(?:vez|lugar)\sde|instead\sof|rather\sthan|a\sdiferencia\sde|unlike)\b"
)
_NO_NEGATION = re.compile(
    r"no(?:,|\.\s?[0-9]|\sobstante|\ssol[oa](?:mente)?\b|\ssin\b|\ssolo\b)|not\sonly\b|sin\s(?:perjuicio|embargo|dudas?|que|lugar\sa\sdudas?|ninguna\sduda)\b"
    r"|ni\ssiquiera\s(?=$)"
)
_OTHERWISE = re.compile(r"\W?\bsi\sno,?\s(?:(?:de|a|en|unos|seran|son)\s)?$")
_BOUND = re.compile(
    r"\b(?:exce\w{1,12}|super(?:a|ar|an|e|en|ara|aran|ior|iores|ando)|sobrepas\w{1,8}|rebas\w{1,8}|mayor(?:es)?|menor(?:es)?"
    r"|inferior(?:es)?|mas\s(?:de|que|alla)|menos\s(?:de|que)|antes\sde|despues\sde|baj(?:a|ar|e)\sde|pas(?:a|ar|e)\sde"
    r"|transcurr\w{1,8}|hasta\sque|more\sthan|less\sthan|fewer\sthan|later\sthan|greater\sthan|longer\sthan|until|otr[oa]s?\sque"
    r"|other\sthan|sino|salvo|excepto|except|but)\b"
)
_NEAR_ONLY = re.compile(r"(?:en\s|instead|rather|a\sdif|unlike|sin\b)")
_THEN_VERB = re.compile(r"[0-9][^.;]{0,40}\b(?:es|son|sera|seran|is|are)\b")
_VERB = re.compile(r"[0-9]|\b(?:es|son|sera|seran|hay|is|are|rige|corresponde)\b")
_SCOPE_END = re.compile(
    r"\b(?:si|cuando|porque|ya\sque|dado\sque|pues|because|when|if|since)\b"
    r"|\b(?:y|e|and)\s(?:(?:el|la|los|las)\b(?!\sde\b)|se|su|sus|es|son|sera|the|it|its|is|debe|deben|asciende|corresponde\w{0,2})\b"
)
_NEW_SUBJECT = re.compile(
    r",\s(?:el|la|los|las|su|mi|the|its?|my)(?:\s[a-z]{1,20}){0,4}?\s?(?:\b(?:es|son|sera|seran|seria|is|are|would\sbe)\b|'s\b)"
)
# "no es A, es B": but not "no es cierto que sea A, es B"
_CONTRAST = re.compile(
    r"^(?:(?!\b(?:que|si|that|whether|if)\b)[^,;.]){1,80},\s(?:es|son|seria|it's|it\sis|they're|they\sare|is|are)"
    r"\s(?:la\s|el\s|los\s|las\s|de\s|the\s|option\s|opcion\s){0,2}$"
)
# "la multa por no informarlo es de 5": the negation belongs to the infinitive
_NEGATED_INFINITIVE = re.compile(
    r"\s[a-z]{1,20}[aei]r(?:l[oae]s?|se|me)?\b[^,.;]{0,80}?\b(?:es|son|sera|seran|seria|asciende)\b"
)
_DENIED_AFTER = re.compile(
    r"(?:\s[a-z]{1,20}){0,3}?,?\s(?:no(?=\s?(?:[.,;!]|$))"
    r"|no\s(?:es|son|seria|serian|(?:se\s)?(?:corresponden?|aplican?|proceden?|rigen?|vale|existen?|esta|estan|figuran?)"
    r"|resultan?\s(?:aplicable|procedente|pertinente)s?|regulan?)\b|(?:es|son|seria|resulta)\s(?:incorrect|fals|erron|equivocad|improceden)"
    r"|(?:es|son|seria|serian|era|eran)\s(?:un\s|una\s)?(?:error|equivocacion|errata|mentira|invento)"
    r"|(?:fue|fueron|ha\ssido|han\ssido|quedo|quedaron|esta|estan)\s(?:derogad|eliminad|suprimid|reemplazad|anulad|descartad|sin\sefecto)"
    r"|(?:was|were|has\sbeen|have\sbeen)\s(?:repealed|replaced|removed|abolished|superseded|ruled\sout)|would\sbe\s(?:wrong|a\smistake)"
    r"|(?:is|are)\s(?:not\b|wrong|incorrect|false)|isn't|aren't|(?:does\snot|doesn't)\s(?:apply|exist|govern))"
)
_CORRECTION = re.compile(
    r"\b(?:corrijo|me\scorrijo|correccion|mejor\sdicho|mas\sbien\sdicho|rectifico|rectificacion|perdon(?=,)|digo(?=,)|quise\sdecir"
    r"|quiero\sdecir|me\sequivoque|correction|i\smean|or\srather|scratch\sthat|i\sstand\scorrected|let\sme\scorrect)\b"
)
# "Dicen que son 15 días pero es falso", "15 días. Mentira": what follows takes the value back
_TAKEN_BACK = re.compile(
    r"[^0-9.;:!?\n]{0,80}?(?:,|;|\.|:|!|\(|\s[—–-]\s|\b(?:pero|aunque|y|mas|but|though|although|yet|and|which|lo\scual|lo\sque|cosa\sque)\b)"
    r"\s?(?:(?:pero|aunque|y|but|though|and|which|lo\scual|lo\sque|cosa\sque|eso|esto|ello|that|this|it)\s){0,3}"
    r"(?:(?:es|era|seria|resulta|resulto|is|was)\s(?:un\s|una\s|an?\s)?)?"
    r"(?:(?:dato|cifra|valor|respuesta|numero|plazo|monto|fecha|informacion|lista|value|figure|number|answer)\s)?"
    r"(?:fals[oa]|mentira|falsedad|incorrect[oa]?|errone[oa]|errad[oa]|equivocad[oa]|error|inexact[oa]|false|wrong|untrue|a\slie"
    r"|derogad[oa]|desactualizad[oa]|obsolet[oa]|invalid[oa]?|(?:ya\s)?no\s(?:esta\s)?(?:vigente|valid[oa])|outdated|repealed"
    r"|no\slonger\s(?:valid|in\sforce|applicable)"
    r"|mistaken|no\ses\s(?:asi|cierto|verdad|correcto|efectivo)|no\sson|(?:is\s)?not\s(?:true|correct|right|so)|isn't\s(?:true|so))"
    r"\s?(?=[.,;:!)\n]|$)"
)
QUALIFIER = re.compile(
    r"\b(?:(?:mas|menos)\s(?:de|que)|(?:mayor|menor|superior|inferior)(?:es)?\s(?:a|de|que)|casi|doble\sde|triple\sde|mitad\sde"
    r"|tercio\sde|(?:more|less|fewer|greater|longer|shorter)\sthan|over|under|above|below|almost|nearly|twice|half\sof)"
    r"\s(?:el\s|la\s|los\s|las\s|the\s|a\s)?$"
)
HEDGE = re.compile(
    r"\b(?:aproximadamente|aprox\.?|unos|unas|cerca\sde|alrededor\sde|en\storno\sa|mas\so\smenos|about|around|approximately"
    r"|roughly|circa|some)\s(?:los\s|las\s)?$"
)
_ARTICLES = r"\s(?:el\s|la\s|los\s|las\s|unos\s|unas\s|un\stotal\sde\s|a\s|the\s|de\s)?$"
BOUNDS = {
    "near": re.compile(
        r"\b(?:aproximadamente|aprox\.?|cerca\sde|alrededor\sde|en\storno\sa|mas\so\smenos|approximately|roughly|circa|around|about)"
        + _ARTICLES
    ),
    "min": re.compile(
        r"\b(?:al\smenos|(?:como|por\slo)\smin\w{3}|por\slo\smenos|minimo(?:\sde)?|desde|a\spartir\sde|at\sleast|(?:a\s)?minimum(?:\sof)?"
        r"|no\smenos\s(?:de|que)|no\s(?:\w{1,12}\s){0,2}(?:menor|inferior)(?:es)?\s(?:a|de|que)|(?:no|not)\sless\sthan)"
        + _ARTICLES
    ),
    "max": re.compile(
        r"\b(?:hasta|a\slo\s(?:mas|sumo)|como\smaximo|maximo(?:\sde)?|up\sto|at\smost|(?:a\s)?maximum(?:\sof)?)"
        + _ARTICLES
    ),
}
"""Words before a value that make it something else than the value: near it, at least it, at most it."""

BOUNDS_AFTER = {
    "near": re.compile(r"\s(?:aproximadamente|aprox\.?|mas\so\smenos|approximately|or\sso|more\sor\sless)\b"),
    "min": re.compile(r",?\s(?:(?:como|por\slo)\s(?:minimo|menos)|al\smenos|o\smas|minimum|at\sleast|or\smore)\b"),
    "max": re.compile(r",?\s(?:como\smaximo|a\slo\s(?:mas|sumo)|o\smenos|maximum|at\smost|or\sless)\b"),
    "rate": re.compile(
        r"(?:\s(?:habiles|corridos))?\s(?:por\s(?:cada\s)?(?:un\s)?|al\s|a\sla\s|per\s|for\s(?:each|every)\s|each\s|every\s|cada\s|an?\s)"
        r"(?:dia|semana|mes|ano|hora|persona|trabajador|pasajero|nave|vez|day|week|month|year|hour|person)\b"
        r"|(?:\s(?:habiles|corridos))?\s(?:diari[oa]s?|semanal(?:es)?|mensual(?:es)?|anual(?:es)?|daily|weekly|monthly|yearly)\b"
    ),
}
ASKED_BOUNDS = {
    "near": re.compile(
        r"\b(?:aproximad\w{1,6}|estim\w{1,6}|cerca|alrededor|mas\so\smenos|approximate\w{0,2}|roughly|about|around)\b"
    ),
    "min": re.compile(r"\b(?:minim[oa]s?|al\smenos|desde|por\slo\smenos|a\spartir|minimum|at\sleast|least)\b"),
    "max": re.compile(
        r"\b(?:maxim[oa]s?|hasta|limite|tope|plazos?|a\slo\smas|vence\w{0,3}|tardar|maximum|limit|deadline|up\sto|at\smost|most|within"
        r"|term|time\slimit)\b"
    ),
    "rate": re.compile(
        r"\b(?:por|cada|al|a\sla|per|each|every)\s(?:cada\s)?(?:un\s)?(?:dia|semana|mes|ano|hora|persona|trabajador|pasajero|nave|vez|day|week"
        r"|month|year|hour|person)\b|\b(?:diari[oa]s?|semanal(?:es)?|mensual(?:es)?|anual(?:es)?|daily|weekly|monthly|yearly)\b"
    ),
}
"""What a question says that makes the same bound a plain answer to it."""


# "Antes eran 30 días": what was so is not said to be so
_PAST = re.compile(
    r"\b(?:antes|antiguamente|anteriormente|originalmente|previously|formerly|originally)\b[^.;\n]{0,40}?"
    r"\b(?:era|eran|fue|fueron|was|were)\b[^.;\n]{0,40}$|\bused\sto\sbe\b[^.;\n]{0,20}$"
)
# what others say, a supposition, an example: held out by nobody
_SUPPOSED = re.compile(
    r"\b(?:se\s(?:decia|dice|creia|cree|pensaba|rumorea|comenta)\sque|(?:algunos|otros|muchos|unos|varios)\s(?:dicen|creen|sostienen|opinan|afirman)"
    r"|dudo\sque|supongamos|supongase|imagine\w{0,2}|por\sejemplo,?|p\.\s?ej\.|pongamos|si\s(?:fueran?|fuesen?|hubieran?|tuvieran?)"
    r"|(?:some|others|people|many)\s(?:say|believe|think|claim)|it\s(?:was|is)\s(?:said|believed|rumou?red)\sthat|i\sdoubt|suppose|for\sexample,?"
    r"|e\.g\.|if\sit\swere|say,)\s(?:(?:que|that|it|it's|is|son|eran|era|sean|seran|es|de|were|are|about|unos|el|la|los|las|the)\s){0,4}$"
)
_OLD_AFTER = re.compile(
    r"(?:\s[a-z]{1,20}){0,3}?,?\s(?:en|segun|conforme\sa|bajo|under|in)\s(?:el|la|los|las|the)\s(?:[a-z]{1,20}\s)?"
    r"(?:(?:version|norma|ley|redaccion|texto|reglamento|regimen)\s(?:antigu|anterior|derogad|previ|vieja|viejo)|(?:old|former|previous|repealed)\s)"
    r"|(?:\s[a-z]{1,20}){0,3}?,?\s(?:a\smodo\sde|como)\sejemplo\b|(?:\s[a-z]{1,20}){0,3}?,?\sas\san\sexample\b"
)
_POSSIBLY = re.compile(
    r"\b(?:podrian?|pueden?|pudieran?)\s(?:que\s)?(?:ser|sean?|tratarse\sde)\s(?:de\s|la\s|el\s|los\s|las\s|opcion\s|alternativa\s){0,3}$"
    r"|\b(?:might|may|could)\s(?:well\s)?be\s(?:the\s|option\s|answer\s){0,2}$"
)
_MAY_DOUBT = re.compile(
    r"\b(?:ser|sean?|be|tratarse|era|eran|fue|fueron|was|were|que|that|dicen|creen|dudo|supong\w+|suponga\w*|imagine\w*|ejemplo"
    r"|p\.|pongamos|si|say|doubt|suppose|example|e\.g\.|if|some|others|people|many)\b"
)
_ALTERNATIVE = re.compile(
    r"\s?[)\"'%‰\]]{0,2}(?:\s[a-z]{2,20}){0,4}?[)\"']?,?\s(?:o|u|or)\s"
    r"(?:bien\s|en\ssu\s(?:caso|defecto),?\s|quizas?\s|tal\svez\s|incluso\s|perhaps\s|maybe\s|else\s){0,2}"
    r"(?:(?:lo|el|la|los|las|aquel(?:la|los|las)?)\s(?:que|cual)\b|cualquier\w{0,3}\b|otr[oa]s?\b|algun\w{0,2}\sotr[oa]\b"
    r"|whatever\b|whichever\b|(?:any|some)\sother\b|another\b|something\selse\b)"
)
_ALTERNATIVE_BEFORE = re.compile(
    r"\b(?:(?:lo|el|la|los|las)\sque|cualquier\w{0,3}|otr[oa]s?|whatever|whichever)\s[^.;:!?\n0-9]{1,60},?\s(?:o|u|or)\s(?:bien\s|de\s)?$"
)


def alternative(folded: str, span: Span) -> bool:
    """Tell whether something that is no value is held out in its place: `15 días, o lo que fije el juez`."""
    if _ALTERNATIVE.match(folded, span.end, min(span.end + REACH, len(folded))):
        return True
    return _ALTERNATIVE_BEFORE.search(folded, max(span.start - 100, 0), span.start) is not None


def bound_of(before: str, folded: str, end: int) -> str | None:
    """Return the bound that stands right before or after a value; null if none does."""
    for name, pattern in BOUNDS.items():
        if pattern.search(before):
            return name
    return next((name for name, pattern in BOUNDS_AFTER.items() if pattern.match(folded, end)), None)


def assertion(passage: Passage, span: Span) -> Assertion:
    """Return how the value at `span` stands in its clause."""
    clause = passage.clause_at(span.start)
    folded = passage.folded
    if _TAKEN_BACK.match(folded, span.end, min(span.end + REACH, len(folded))):
        return Assertion.NEGATED
    if _DENIED_AFTER.match(folded, span.end, max(clause.end, span.end)):
        return Assertion.NEGATED
    if _doubtful(folded, max(clause.start, span.start - 100), span) or _OLD_AFTER.match(folded, span.end):
        return Assertion.DOUBTFUL
    last: re.Match[str] | None = None
    for match in _NEGATOR.finditer(folded, max(clause.start, span.start - REACH), span.start):
        else_no = match.group() == "no" and _OTHERWISE.match(folded[max(match.start() - 4, 0) : span.start]) is not None
        if _NO_NEGATION.match(folded, match.start()) is None and not else_no:
            last = match
    if last is None:
        return Assertion.ASSERTED
    between = folded[last.end() : span.start]
    if _BOUND.search(between):
        return Assertion.ASSERTED
    if _NEAR_ONLY.match(last.group()):
        # "en vez de 20 son 15": it reaches what comes right after, no further
        if _THEN_VERB.search(between):
            return Assertion.ASSERTED
        return Assertion.NEGATED if between.count(" ") <= 3 and not _VERB.search(between) else Assertion.DOUBTFUL
    if _NEW_SUBJECT.search(between) or _CONTRAST.search(between) or _NEGATED_INFINITIVE.match(between):
        return Assertion.ASSERTED
    end = _SCOPE_END.search(between)
    if end is not None:
        return Assertion.ASSERTED if end.group().startswith(("y ", "e ", "and ")) else Assertion.DOUBTFUL
    if "," in between and not _parenthetical(between):
        return Assertion.DOUBTFUL
    return Assertion.NEGATED


def bounded(passage: Passage, span: Span) -> bool:
    """Tell whether a negation before the value makes it a bound (`no más de 15`)."""
    clause = passage.clause_at(span.start)
    before = passage.folded[max(clause.start, span.start - REACH) : span.start]
    found = list(_NEGATOR.finditer(before))
    return bool(found) and _BOUND.search(before, found[-1].end()) is not None


def last_correction(passage: Passage) -> int | None:
    """Return where the last explicit correction ends, null if there is none."""
    ends = [match.end() for match in _CORRECTION.finditer(passage.folded)]
    return ends[-1] if ends else None


def _doubtful(folded: str, start: int, span: Span) -> bool:
    end = span.start
    if _MAY_DOUBT.search(folded, start, end) is None:
        return False
    if _SUPPOSED.search(folded, start, end):
        return True
    return _PAST.search(folded, start, end) is not None or _POSSIBLY.search(folded, start, end) is not None


def _parenthetical(between: str) -> bool:
    # "no se aplica, según el artículo 3, el plazo de": two commas enclose an aside
    return between.count(",") == 2
