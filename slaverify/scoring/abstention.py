"""What an answer is: an answer, an abstention, or neither. The reference is never seen here.

1 a declared null token is an abstention. 2 A value asserted in the slot, outside a denial, is an answer, whatever
hedges stand before it. 3 Else a cue of lack, refusal or denial decides: with a rule, a citation or a hedged guess
asserted beside it, it is an answer all the same; with other text beside it that is no courtesy, offer, advice or
talk about the sources, it is in doubt; else it is an abstention. 4 Without a cue: a rule or a citation is an
answer; a sentence that only denies something, where no slot is known, is in doubt; nothing of the kind, in an item
that has a slot, is a non-answer.

Source: docs/spec/scoring.md section 9.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from slaverify.scoring.assertion import Assertion
from slaverify.scoring.cues import Cues, cues
from slaverify.scoring.data import word_list
from slaverify.scoring.exclusions import Exclusions, exclusions
from slaverify.scoring.passage import Passage
from slaverify.scoring.quantities import every_quantity
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import AnswerClass
from slaverify.scoring.result import Span
from slaverify.scoring.settings import Settings

TYPED = frozenset({"number", "amount", "date", "choice", "citation", "json", "set"})
"""Kinds whose values a grammar finds: without one, there is no value."""

_SPACES = re.compile(r"\s+")
_QUOTED = re.compile(r'"[^"\n]{12,2000}"')
_SPLIT = re.compile(
    r",\s(?=(?:y|e|and)\s)"
    r"|\s(?=(?:quizas?|tal vez|probablemente|creo que|supongo|maybe|perhaps|probably|i think|i guess)\b)"
)
_WORD = re.compile(r"\w+")
_STATED = re.compile(
    r"\b(?:es|son|seria|serian|sera|seran|asciende|equivale|corresponde|is|are|would\sbe|amounts\sto)\b"
)
_CONDITION = re.compile(r"\b(?:si|que|whether|that|if)\b")
_NEGATIVE = re.compile(r"\b(?:no|ni|tampoco|nada|ningun[oa]?|not|nor|neither|none|nothing)\b|n't\b")
_FEW_WORDS = 3
_SOURCE_NOUNS = word_list("text.json", "source_nouns")


class Part(Enum):
    """What a segment of an answer does."""

    CUE = auto()
    NEUTRAL = auto()
    RULE = auto()
    GUESS = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of an answer and what it does."""

    span: Span
    part: Part
    words: int


@dataclass(frozen=True, slots=True)
class Classified:
    """The class of an answer; `spans` are the cues, `hedged`: it answers beside a cue."""

    answer_class: AnswerClass
    reason: Reason
    spans: tuple[Span, ...] = ()
    hedged: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the slot as its rule found it."""

    span: Span
    assertion: Assertion


def classify(passage: Passage, kind: str, values: Sequence[Value], settings: Settings) -> Classified:
    """Return the class of the answer `passage`; `values` are the candidates of the slot of `kind`."""
    if is_null_token(passage.text, settings):
        return Classified(AnswerClass.ABSTENTION, Reason.NULL_TOKEN, (Span(0, len(passage.text)),))
    patterns = cues(settings.abstention)
    if settings.language is not None and settings.language not in patterns.languages:
        return Classified(AnswerClass.UNDETERMINED, Reason.CLASS_UNDETERMINED)
    segments = _segments(passage, patterns, kind)
    found = tuple(segment.span for segment in segments if segment.part is Part.CUE)
    excluded = exclusions(passage)
    if kind not in TYPED:
        values = _values(passage, excluded, settings)
    asserted = [value for value in values if value.assertion is not Assertion.NEGATED]
    standing = [value for value in asserted if _stands(passage, value.span, segments, kind)]
    if standing or (asserted and not found and kind in TYPED):
        return Classified(AnswerClass.ANSWER, Reason.EQUAL, found, hedged=bool(found))
    if found:
        doubt = any(_doubtful(passage, value.span, segments, kind) for value in asserted)
        return _with_cue(segments, kind, found, excluded, doubt=doubt)
    if kind == "none" and _only_denies(passage, segments):
        return Classified(AnswerClass.UNDETERMINED, Reason.CLASS_UNDETERMINED)
    return _without_cue(segments, kind, excluded, denied=bool(values))


def is_null_token(text: str, settings: Settings) -> bool:
    """Tell whether the whole text is a token that the contract declares to mean that there is no value."""
    return bool(settings.null_tokens) and _token(text) in {_token(token) for token in settings.null_tokens}


def courteous(text: str, settings: Settings) -> bool:
    """Tell whether a sentence is courtesy alone."""
    return cues(settings.abstention).courtesy.search(_flat(Passage(text).folded)) is not None


def _token(text: str) -> str:
    return _SPACES.sub(" ", text).strip().strip(".").casefold()


def _flat(folded: str) -> str:
    return _SPACES.sub(" ", folded)


def _values(passage: Passage, excluded: Exclusions, settings: Settings) -> list[Value]:
    numbers = [
        Value(quantity.span, quantity.assertion)
        for quantity in every_quantity(passage, settings, excluded)
        if not quantity.weak and quantity.noun not in _SOURCE_NOUNS
    ]
    return numbers + [Value(span, Assertion.ASSERTED) for span in excluded.dates]


def _segments(passage: Passage, patterns: Cues, kind: str) -> list[Segment]:
    masked = _QUOTED.sub(lambda match: '"' + " " * (len(match.group()) - 2) + '"', passage.folded)
    if not _WORD.search(masked):
        masked = passage.folded  # the whole answer is in quotes
    hedges = re.compile(rf",\s(?={patterns.hedge_start.pattern})") if "," in masked else None
    out: list[Segment] = []
    for clause in passage.clauses:
        start = clause.start
        cuts = [match.end() for match in _SPLIT.finditer(masked, clause.start, clause.end)]
        if hedges is not None:
            cuts += [match.end() for match in hedges.finditer(masked, clause.start, clause.end)]
        if patterns.concessive.match(masked[clause.start : clause.end].lstrip(" ¿¡\"'")):
            comma = masked.find(", ", clause.start, clause.end)
            cuts += [comma + 2] if comma > 0 else []
        for end in [*sorted(set(cuts)), clause.end]:
            text = _flat(masked[start:end]).strip()
            words = len(_WORD.findall(text))
            if words:
                out.append(Segment(Span(start, end), _part(text, patterns, kind), words))
            start = end
    return out


def _part(text: str, patterns: Cues, kind: str) -> Part:
    body = re.sub(r"^\W*(?:pero|sino|aunque|sin embargo|but|however|although|though|yet|y|and)\W+", "", text)
    if patterns.courtesy.search(body):
        return Part.NEUTRAL
    if patterns.lack.search(body) or patterns.refusal.search(body) or patterns.denial.search(body):
        return Part.CUE
    if kind in TYPED and patterns.slot_denial.search(body):
        return Part.CUE
    if patterns.offer.search(body) or patterns.advice.search(body) or body.endswith("?"):
        return Part.NEUTRAL
    if patterns.hedge_start.match(body):
        return Part.GUESS
    if patterns.scope.search(body):
        return Part.NEUTRAL
    return Part.RULE if patterns.assertion.search(body) else Part.OTHER


def _stands(passage: Passage, span: Span, segments: Sequence[Segment], kind: str) -> bool:
    # a value inside a denial is denied with it, unless a verb states it anew: "no hay norma y el plazo es de 30 días"
    segment = next((one for one in segments if one.span.start <= span.start < one.span.end), None)
    if segment is None or segment.part in (Part.RULE, Part.GUESS, Part.OTHER):
        return True
    if segment.part is Part.NEUTRAL:
        return kind in TYPED
    before = passage.folded[segment.span.start : span.start]
    stated = _STATED.search(before)
    if stated is None or _CONDITION.search(before[: stated.start()]):
        return False
    return " y " in before[: stated.start()] or ("," in before[: stated.start()] and before.count(",") == 1)


def _doubtful(passage: Passage, span: Span, segments: Sequence[Segment], kind: str) -> bool:
    # a value in an offer or a piece of advice, or set off from the denial by a comma
    segment = next((one for one in segments if one.span.start <= span.start < one.span.end), None)
    if segment is None:
        return False
    if segment.part is Part.NEUTRAL:
        return kind not in TYPED
    folded = passage.folded
    return "," in folded[span.end : segment.span.end] or "," in folded[segment.span.start : span.start]


def _with_cue(
    segments: Sequence[Segment], kind: str, found: tuple[Span, ...], excluded: Exclusions, *, doubt: bool
) -> Classified:
    rest = [segment for segment in segments if segment.part is not Part.CUE]
    ruled = any(segment.part is Part.RULE for segment in rest)
    guessed = kind not in TYPED and any(segment.part is Part.GUESS for segment in rest)
    cited = any(
        segment.part in (Part.OTHER, Part.RULE) and _holds(segment.span, excluded.citations) for segment in rest
    )
    # "La Dirección, aunque el texto no lo dice": a name and then a hedge
    named = kind == "entity" and segments[0].part is Part.OTHER
    if ruled or guessed or cited or named:
        return Classified(AnswerClass.ANSWER, Reason.NO_VALUE, found, hedged=True)
    others = [segment for segment in rest if segment.part is Part.OTHER and segment.words > _FEW_WORDS]
    if doubt or (kind not in TYPED and others):
        return Classified(AnswerClass.UNDETERMINED, Reason.CLASS_UNDETERMINED, found)
    return Classified(AnswerClass.ABSTENTION, Reason.ABSTAINED, found)


def _only_denies(passage: Passage, segments: Sequence[Segment]) -> bool:
    # a negative sentence that no cue knows and that states no rule: it may deny, it may answer
    if any(segment.part in (Part.RULE, Part.GUESS) for segment in segments):
        return False
    others = [segment.span for segment in segments if segment.part is Part.OTHER]
    return any(_NEGATIVE.search(passage.folded, span.start, span.end) for span in others)


def _without_cue(segments: Sequence[Segment], kind: str, excluded: Exclusions, *, denied: bool) -> Classified:
    if kind in ("text", "none"):
        return Classified(AnswerClass.ANSWER, Reason.EQUAL)
    content = any(segment.part is not Part.NEUTRAL for segment in segments)
    if kind not in TYPED:
        return Classified(AnswerClass.ANSWER if content else AnswerClass.NON_ANSWER, Reason.NO_VALUE)
    ruled = any(segment.part is Part.RULE for segment in segments)
    if denied or ruled or excluded.citations:
        return Classified(AnswerClass.ANSWER, Reason.NO_VALUE)
    return Classified(AnswerClass.NON_ANSWER, Reason.NO_VALUE)


def _holds(span: Span, others: Sequence[Span]) -> bool:
    return any(span.start <= other.start < span.end for other in others)
