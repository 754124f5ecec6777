"""`choice@1`: one option chosen, by its label in a position where a label stands, or by its full text.

A letter inside a word, the article `a`, the pronoun `I` are no labels; there is no fall-back to any letter. Several
options held out are no choice.

Source: docs/spec/scoring.md sections 2 and 7.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from slaverify.evalset import ChoiceReference
from slaverify.scoring.assertion import Assertion, alternative, assertion, last_correction
from slaverify.scoring.folding import fold
from slaverify.scoring.passage import Passage
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.resolution import Finding
from slaverify.scoring.result import Span
from slaverify.scoring.rules.task import Task

NAME = "choice@1"
MAX_MENTIONS = 400
"""Labels of one answer that are looked at; more are a list of all options."""

_BEFORE = (
    r"(?:\b(?:respuestas?|opcion|opciones|alternativas?|letra|inciso|literal|answers?|options?|choices?|letter)\b"
    r"(?:\s(?:correctas?|final|elegida|seleccionada|correct|final))?\s?(?:es|son|seria|is|are|would be|:|=|-)?\s?"
    r"(?:la\s|el\s|the\s)?(?:opcion\s|alternativa\s|letra\s|option\s|choice\s|letter\s)?"
    r"|\b(?:elijo|escojo|selecciono|marco|opto\spor|elegiria|escogeria|choose|pick|select|go\swith|chose)\s"
    r"(?:la\s|el\s|the\s)?(?:opcion\s|alternativa\s|letra\s|option\s|letter\s)?"
    r"|\b(?:me\sinclino\spor|quizas?|tal\svez|probablemente|creo\sque|maybe|perhaps|probably|i\sthink)\s(?:es\s|it's\s)?(?:la\s)?"
    r"|\b(?:podria|puede|deberia|could|might|may|should)\s(?:ser|be)\s(?:la\s)?(?:opcion\s|alternativa\s)?|:\s"
    r"|\b(?:es|seria|is|it's|would be)\s(?:la\s|el\s|the\s)?|\b(?:la|sino|not|no|but|pero)\s(?:la\s|es\sla\s|es\s)?"
    r"|\b(?:sin\s(?:lugar\sa\s)?dudas?|claramente|definitivamente|ciertamente|definitely|clearly|certainly|undoubtedly),?\s(?:es\s)?(?:la\s)?"
    r"|\b(?:menos|excepto|salvo|except(?:\sfor)?|ambas|ambos|tanto|both)\s(?:la\s|the\s)?)"
)
_JOIN = (
    r"(?:,|/|;|&|\+|\.\.+|…|\by/o\b|\bo\b|\bu\b|\by\b|\be\b|\baunque\b|\bpero\b|\bjunto\scon\b|\bademas\sde\b|\basi\scomo\b"
    r"|\bcomo\b|\bo\sbien\b|\bor\b|\band\b|\bthough\b|\balthough\b|\bbut\b|\bplus\b|\bas\swell\sas\b|\balong\swith\b)"
)
_MORE = (
    rf"(?:\s?{_JOIN}\s?(?:{_JOIN}\s?){{0,2}}"
    r"(?:(?:la|el|quizas?|tal\svez|maybe|perhaps|tambien|ademas|igualmente|incluso|acaso|also|even|possibly|possiblemente|bien"
    r"|opcion|alternativa|letra|option|letter|the|es|podria\sser|puede\sser|could\sbe|might\sbe|maybe)\s){0,4}[\"'(\[]?)"
)
_KEPT = re.compile(
    r"\b(?:sin|no|tampoco|without|not|nor)\s(?:(?:se|puedo|podria|can|could|i|do)\s){0,3}"
    r"(?:descart|exclu|desech|rul|dismiss)[a-z]{0,6}\s[^.;,]{0,20}$"
)
_EXCEPTED = re.compile(r"\b(?:menos|excepto|salvo|except(?:\sfor)?)\s(?:la\s|el\s|the\s)?[\"'(\[]?$")
_WRONG = re.compile(
    r"[\"')\]]{0,2}\s?[:=–—-]?\s?(?:es\s|son\s|seria\s|is\s|are\s)?"
    r"(?:incorrect\w{0,2}|fals[oa]|errone[oa]|equivocad[oa]|wrong|false|no\s(?:es\s)?(?:la\s)?correct\w|not\s(?:correct|right))\b"
)
_ALSO = re.compile(
    r"[\"')\]]?,?\s(?:tambien|igualmente|asimismo|ademas|too|also|as\swell)\b"
    r"|[\"')\]]?\s(?:es|son|seria|podria\sser|puede\sser|is|are|could\sbe|might\sbe|may\sbe)\s(?:\w{1,12}\s)?"
    r"(?:correct|valid|posible|possible|right|cierta|aceptable|acceptable|verdader|plausible)"
)
_ORDINARY = frozenset(["A", "E", "I", "O", "U", "Y"])
"""Labels that are also words: `A` and `I` in English, `A`, `E`, `O`, `U`, `Y` in Spanish."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An option put forward or denied."""

    label: str
    span: Span
    assertion: Assertion
    by_text: bool


def judge(task: Task, reference: ChoiceReference) -> Finding | None:
    """Return what the answer comes to; null if it chooses no option."""
    found = mentions(task.passage, reference.options)
    if not found:
        return None
    cut = last_correction(task.passage)
    if cut is not None and any(mention.span.start >= cut for mention in found):
        found = [mention for mention in found if mention.span.start >= cut]
    asserted = [mention for mention in found if mention.assertion is not Assertion.NEGATED]
    chosen = {mention.label for mention in asserted}
    if not chosen:
        return Finding(Correctness.INCORRECT, Reason.NEGATED, None)
    if len(chosen) > 1:
        sure = {mention.label for mention in asserted if mention.assertion is Assertion.ASSERTED}
        both = Reason.CONTRADICTION if len(sure) == 2 and _apart(task.passage, asserted) else Reason.MULTIPLE_ANSWERS
        return Finding(Correctness.INCORRECT, both, None)
    if reference.value not in chosen:
        return Finding(Correctness.INCORRECT, Reason.OTHER_VALUE, None)
    if any(alternative(task.passage.folded, mention.span) for mention in asserted):
        return Finding(Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS, None)
    rivals = _strays(task.passage, reference.options, reference.value, found)
    if rivals:
        also = any(_ALSO.match(task.passage.folded, span.end) for span in rivals)
        held = (Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS)
        return Finding(*(held if also else (Correctness.UNDETERMINED, Reason.UNRESOLVED_CANDIDATES)), None)
    if all(mention.assertion is Assertion.DOUBTFUL for mention in asserted):
        return Finding(Correctness.UNDETERMINED, Reason.QUALIFIED, None)
    return Finding(Correctness.CORRECT, Reason.EQUAL, None)


def mentions(passage: Passage, options: Mapping[str, str]) -> list[Mention]:
    """Return every option that the answer puts forward or denies, in order."""
    whole = _whole(passage.text, options)
    if whole is not None:
        return [Mention(whole, Span(0, len(passage.text)), Assertion.ASSERTED, by_text=False)]
    texts = _texts(passage, options)
    taken = [mention.span for mention in texts]
    labels = [
        mention
        for mention in _labels(passage, tuple(sorted(options)))
        if not any(mention.span.start < span.end and span.start < mention.span.end for span in taken)
    ]
    return sorted(texts + labels, key=lambda mention: mention.span)


def _strays(passage: Passage, options: Mapping[str, str], value: str, found: list[Mention]) -> list[Span]:
    # a label of another option that stands alone outside the positions of labels: "B, porque la norma de D…"
    others = sorted(
        (label for label in options if label != value and re.fullmatch(r"[A-Z]", label)),
    )
    if not others or _whole(passage.text, options) is not None:
        return []
    pattern = re.compile(rf"(?<![\w.'’])(?:{'|'.join(others)})(?![\w'’]|\.[A-Z])")
    taken = [mention.span for mention in found]
    spans = [Span(*match.span()) for match in pattern.finditer(passage.text)][:MAX_MENTIONS]
    return [
        span
        for span in spans
        if not any(span.start < other.end and other.start < span.end for other in taken)
        and _how(passage, span) is not Assertion.NEGATED
        and (passage.text[span.start] not in _ORDINARY or _ALSO.match(passage.folded, span.end))
    ]


def _how(passage: Passage, span: Span) -> Assertion:
    # "sin descartar la D" leaves D standing
    before = max(span.start - 40, 0)
    kept = _KEPT.search(passage.folded, before, span.start)
    if _EXCEPTED.search(passage.folded, before, span.start) or _WRONG.match(passage.folded, span.end):
        return Assertion.NEGATED
    return Assertion.ASSERTED if kept is not None else assertion(passage, span)


def _whole(text: str, options: Mapping[str, str]) -> str | None:
    bare = text.strip(" \n\t.,;:!()[]{}\"'«»“”¡¿*-")
    if bare in options:
        return bare
    folded = " ".join(fold(bare).split())
    by_label = [label for label in options if fold(label) == folded]
    by_text = [label for label, option in options.items() if _plain(option) == _plain(bare)]
    same = set(by_label) | set(by_text)
    return same.pop() if len(same) == 1 else None


def _plain(text: str) -> str:
    # without the article: "la Junta" is chosen by "a Junta"
    whole = " ".join(fold(text).strip(" \n\t.,;:!()[]{}\"'¡¿").split())
    bare = _ARTICLE.sub("", whole)
    return bare if len(bare) > _SHORT else whole


@lru_cache(maxsize=512)
def _label_patterns(labels: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    one = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    unit = rf"[\"'(\[]?(?P<label>{one})(?![\w'’])[\"')\]]?"
    start = re.compile(
        rf"(?:^|\n)\s{{0,8}}(?:[-•*]\s)?{unit}"
        rf"(?=\s?[).:\]\-–—,;/&+(]|\s?$|\s?\n|\s(?:o|u|y|or|and|y/o)\s[\"'(\[]?(?:{one})(?!\w)"
        rf"|\s(?:es|is|seria)\s|(?<![{''.join(_ORDINARY)}])\s(?:o|u|or)\s)"
        rf"|(?<=[.;]\s)(?P<label3>{one})(?=\s?[:)])"
    )
    bracketed = re.compile(rf"[(\[](?P<label>{one})[)\]]|(?<!\w)(?P<label2>{one})\)")
    after = re.compile(rf"{unit}")
    return start, bracketed, after


def _labels(passage: Passage, labels: tuple[str, ...]) -> list[Mention]:
    text, folded = passage.text, passage.folded
    start, bracketed, after = _label_patterns(labels)
    spans: dict[Span, str] = {}
    for match in start.finditer(text):
        name = "label" if match.group("label") is not None else "label3"
        spans[Span(*match.span(name))] = match.group(name)
    for match in bracketed.finditer(text):
        name = "label" if match.group("label") is not None else "label2"
        spans[Span(*match.span(name))] = match.group(name)
    for lead in _LEAD.finditer(folded):
        match_after = after.match(text, lead.end())
        if match_after is not None and _is_label(text, match_after, lead.group()):
            spans[Span(*match_after.span("label"))] = match_after.group("label")
    last = _last(text, after)
    if last is not None:
        spans[Span(*last.span("label"))] = last.group("label")
    for span in list(spans)[:MAX_MENTIONS]:
        _chain(text, folded, span, after, spans)
    kept = sorted(spans.items())[:MAX_MENTIONS]
    return [Mention(label, span, _stands(passage, span, kept), by_text=False) for span, label in kept]


def _stands(passage: Passage, span: Span, found: list[tuple[Span, str]]) -> Assertion:
    # "No or Yes": the option No joined to another one denies nothing
    how = _how(passage, span)
    if how is Assertion.NEGATED:
        for other, label in found:
            join = _CHAIN.match(passage.folded, other.end) if fold(label) in _DENIALS else None
            if join is not None and join.end() == span.start:
                return Assertion.ASSERTED
    return how


def _last(text: str, after: re.Pattern[str]) -> re.Match[str] | None:
    # "Sin lugar a dudas, B."
    comma = text.rfind(", ")
    if comma < 0 or text[comma - 1 : comma].isupper():
        return None
    match = after.match(text, comma + 2)
    return match if match is not None and not text[match.end() :].strip(" .!\n") else None


_LEAD = re.compile(_BEFORE)
_ARTICLE = re.compile(r"^(?:el|la|los|las|un|una|the|an?)\s")
_SHORT = 3
_DENIALS = frozenset(["no", "not", "none", "ninguna", "ninguno", "falso", "false"])
_CHAIN = re.compile(r"[\"')\]]?" + _MORE)


def _is_label(text: str, match: re.Match[str], lead: str) -> bool:
    # "is A car", "es A quien": a label that is also a word needs a sign after it, or a lead that names an option
    label = match.group("label")
    if label not in _ORDINARY:
        return True
    rest = text[match.end() : match.end() + 64]
    named = re.search(r"respuest|opcion|alternativ|letra|answer|option|choice|letter|elij|escoj|choose|pick", lead)
    return (
        not rest.strip()
        or rest.lstrip()[0] in ".,;:)!?\n"
        or rest.startswith("\n")
        or (named is not None and not re.match(r"\s[a-záéíóúñ]{2,}\s[a-z]", rest))
        or re.match(r"\s(?:o|u|y|or|and|because|porque|ya|pues|since|as)\b", rest) is not None
    )


def _chain(text: str, folded: str, span: Span, after: re.Pattern[str], spans: dict[Span, str]) -> None:
    # A o B, A, B y C: what is joined to a label that stands as one is a label too
    end = span.end
    for _ in range(64):
        join = _CHAIN.match(folded, end)
        found = after.match(text, join.end()) if join is not None else None
        lower = found is None and join is not None
        if lower and join is not None:
            # "Elijo B y d": a lower-case letter that is no word
            found = after.match(text[: join.end() + 3].upper(), join.end()) if _letter(text, join.end()) else None
        if found is None or (found.group("label") in _ORDINARY and not _is_label(text, found, "")):
            return
        spans[Span(*found.span("label"))] = found.group("label").upper() if lower else found.group("label")
        end = found.end("label")


def _letter(text: str, at: int) -> bool:
    one = text[at : at + 2]
    return one[:1].isascii() and one[:1].islower() and one[:1].upper() not in _ORDINARY and not one[1:].isalnum()


def _texts(passage: Passage, options: Mapping[str, str]) -> list[Mention]:
    folded = passage.folded
    out: list[Mention] = []
    taken: list[Span] = []
    short = [plain for option in options.values() if len(plain := _plain(option)) <= _SHORT]
    for label, option in sorted(options.items(), key=lambda entry: -len(entry[1])):
        plain = _plain(option)
        if len(plain) <= _SHORT:
            found = _short_text(plain, folded, short)
        else:
            pattern = re.compile(r"(?<!\w)" + r"\s+".join(map(re.escape, plain.split())) + r"(?!\w)")
            found = [Span(*match.span()) for match in pattern.finditer(folded)]
        for span in found[:MAX_MENTIONS]:
            if any(span.start < other.end and other.start < span.end for other in taken):
                continue
            taken.append(span)
            how = Assertion.ASSERTED if len(plain) <= _SHORT else _how(passage, span)
            out.append(Mention(label, span, how, by_text=True))
    return out


def _short_text(plain: str, folded: str, others: Sequence[str]) -> list[Span]:
    # Sí, No: words that stand anywhere; they count at the start of the answer, and joined to another of them there
    match = re.match(rf"\W{{0,4}}({re.escape(plain)})(?=\s?[.,;:!]|\s?$)", folded)
    if match is None and len(others) > 1:
        one = "|".join(map(re.escape, others))
        pair = re.match(rf"\W{{0,4}}(?:{one})\s?(?:y|o|u|e|and|or|/|,)\s?(?:{one})(?=\s?[.,;:!]|\s?$)", folded)
        match = None if pair is None else re.search(rf"(?<!\w)({re.escape(plain)})(?!\w)", pair.group())
    return [Span(*match.span(1))] if match is not None else []


def _apart(passage: Passage, found: list[Mention]) -> bool:
    return len({passage.sentence_at(mention.span.start) for mention in found}) > 1
