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
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache

from slaverify.scoring.assertion import Assertion
from slaverify.scoring.beside import Beside, apart, names_source, of_answers, talk, within, words_of
from slaverify.scoring.cues import Cues, cues
from slaverify.scoring.data import word_list
from slaverify.scoring.exclusions import Exclusions, exclusions
from slaverify.scoring.passage import Passage
from slaverify.scoring.quantities import every_quantity
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import AnswerClass
from slaverify.scoring.result import Span
from slaverify.scoring.settings import Settings

TYPED = frozenset({"number", "amount", "date", "choice", "citation", "json"})
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
_LACKING = re.compile(
    _NEGATIVE.pattern
    + r"|\b(?:fuera|ajen[oa]s?|imposible|insuficientes?|faltan?|omis[oa]s?|silencio|carec\w{1,4}|beyond|outside|missing"
    r"|silent|insufficient|empty|unable)\b"
)
_BRACKETS = re.compile(r"\((?=[^()\n]{0,200}?(?:[a-z]{2}|\b(?!(?:19|20)[0-9]{2}\b)[0-9]))[^()\n]{1,400}\)")
_COUNTS = re.compile(
    r"\b(?:cuant[oa]s?|cuando|plazo|monto|porcentaje|fecha|numero|how (?:many|much|long|old)|when|deadline"
    r"|percentage|date)\b"
)
_THESE = re.compile(
    r"\b(?:consultad\w{1,2}|revisad\w{1,2}|disponibles?|siguientes?|consulted|provided|reviewed|following):$"
)
_TURN = re.compile(r"^\W*(?:pero|sino|aunque|sin embargo|but|however|although|though|yet|y|e|and)\W+")
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
    text: str
    raw: str


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


def classify(passage: Passage, kind: str, values: Sequence[Value], settings: Settings, query: str = "") -> Classified:
    """Return the class of the answer `passage` to `query`; `values` are the candidates of the slot of `kind`."""
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
    asserted = [
        value for value in values if value.assertion is not Assertion.NEGATED or _in_bracket(value.span, segments)
    ]
    standing = [value for value in asserted if _stands(passage, value.span, segments, kind)]
    if kind == "choice":
        standing += [value for value in asserted if _is_option(passage, value.span, segments, patterns)]
    if found:
        # "¿Son 15 días? No lo sé."
        standing = [value for value in standing if not passage.in_question(value.span.start)]
        asserted = [value for value in asserted if not passage.in_question(value.span.start)]
    if standing or (asserted and not found and kind in TYPED):
        return Classified(AnswerClass.ANSWER, Reason.EQUAL, found, hedged=bool(found))
    if found:
        counted = kind not in TYPED and _COUNTS.search(Passage(query).folded) is not None
        doubt = any(_doubtful(passage, value.span, segments, counted) for value in asserted)
        beside = Beside.NOTHING if kind in TYPED else _beside(segments, patterns, words_of(query))
        return _with_cue(segments, kind, found, excluded, beside, doubt=doubt)
    if kind == "none" and _only_refers(segments, patterns, words_of(query)):
        return Classified(AnswerClass.ABSTENTION, Reason.ABSTAINED)
    if not values and kind == "none" and _lacks_alone(segments, words_of(query)):
        return Classified(AnswerClass.ABSTENTION, Reason.ABSTAINED)
    if kind == "none" and _only_denies(passage, segments):
        return Classified(AnswerClass.UNDETERMINED, Reason.CLASS_UNDETERMINED)
    if not values and kind != "choice" and _lacks_alone(segments, words_of(query)):
        return Classified(AnswerClass.ABSTENTION, Reason.ABSTAINED)
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
    inner = [Span(match.start() + 1, match.end() - 1) for match in _BRACKETS.finditer(masked)]
    out = [_segment(passage, masked, span, patterns, kind) for span in inner]
    outer = _BRACKETS.sub(lambda match: " " * len(match.group()), masked)
    for clause in passage.clauses:
        start = clause.start
        cuts = [match.end() for match in _SPLIT.finditer(outer, clause.start, clause.end)]
        if hedges is not None:
            cuts += [match.end() for match in hedges.finditer(outer, clause.start, clause.end)]
        if patterns.concessive.match(outer[clause.start : clause.end].lstrip(" ¿¡\"'")):
            comma = outer.find(", ", clause.start, clause.end)
            cuts += [comma + 2] if comma > 0 else []
        for end in [*sorted(set(cuts)), clause.end]:
            if _WORD.search(outer, start, end):
                out.append(_segment(passage, outer, Span(start, end), patterns, kind))
            start = end
    out.sort(key=lambda segment: (segment.span.start, -segment.span.end))
    return [_in_place(segment, masked) for segment in out]


def _in_place(segment: Segment, folded: str) -> Segment:
    # "el reglamento (Decreto 45)", "los textos: Ley 1 y Ley 2": the name of a source says no more than the source;
    # "no trata de seguros, sino de carga": what a source treats instead
    before = folded[max(segment.span.start - 80, 0) : segment.span.start].rstrip()
    named = (before.endswith("(") or _THESE.search(before)) and names_source(segment.text, before)
    instead = segment.text.startswith("sino ") and names_source("norma " + segment.text, before)
    neutral = segment.part is Part.OTHER and bool(named or instead)
    return replace(segment, part=Part.NEUTRAL) if neutral else segment


def _segment(passage: Passage, folded: str, span: Span, patterns: Cues, kind: str) -> Segment:
    text = _flat(folded[span.start : span.end]).strip()
    return Segment(span, _part(text, patterns, kind), text, passage.text[span.start : span.end])


def _segment_at(position: int, segments: Sequence[Segment]) -> Segment | None:
    holding = [one for one in segments if one.span.start <= position < one.span.end]
    return holding[-1] if holding else None


@lru_cache(maxsize=512)
def _part(text: str, patterns: Cues, kind: str) -> Part:
    body = _TURN.sub("", text)
    if patterns.courtesy.search(body):
        return Part.NEUTRAL
    if any(pattern.search(body) for pattern in _kinds(patterns, kind)):
        return Part.CUE
    if patterns.offer.search(body) or patterns.advice.search(body) or body.endswith("?"):
        return Part.NEUTRAL
    if patterns.hedge_start.match(body):
        return Part.GUESS
    if patterns.scope.search(body):
        return Part.NEUTRAL
    return Part.RULE if patterns.assertion.search(body) else Part.OTHER


@lru_cache(maxsize=512)
def _cue(body: str, patterns: Cues, kind: str) -> re.Match[str] | None:
    found = [match for pattern in _kinds(patterns, kind) if (match := pattern.search(body)) is not None]
    return min(found, key=lambda match: match.start()) if found else None


def _kinds(patterns: Cues, kind: str) -> tuple[re.Pattern[str], ...]:
    slot = (patterns.slot_denial,) if kind in TYPED else ()
    return (patterns.lack, patterns.refusal, patterns.denial, *slot)


def _beside(segments: Sequence[Segment], patterns: Cues, known: frozenset[str]) -> Beside:
    # what the answer says beside its cues, in a slot whose values no grammar finds
    def cue(text: str) -> re.Match[str] | None:
        return _cue(text, patterns, "none")

    def neutral(text: str) -> bool:
        return _part(text, patterns, "none") is Part.NEUTRAL

    worst = Beside.NOTHING
    for segment in segments:
        body = _TURN.sub("", segment.text)
        if segment.part is Part.CUE:
            raw = segment.raw[max(len(segment.raw) - len(body), 0) :]
            worst = max(worst, within(body, raw, known, cue, neutral))
        elif segment.part is Part.OTHER:
            worst = max(worst, apart(body, known))
        elif segment.part is Part.NEUTRAL and patterns.courtesy.search(body) is None:
            worst = max(worst, talk(body, known, neutral))
    return worst


def _inside(span: Span, other: Span) -> bool:
    return other.start < span.start and span.end <= other.end


def _only_refers(segments: Sequence[Segment], patterns: Cues, known: frozenset[str]) -> bool:
    # "Consulte a la municipalidad." sends elsewhere and says nothing else
    if any(segment.part is not Part.NEUTRAL for segment in segments):
        return False
    advice = any(patterns.advice.search(segment.text) for segment in segments)
    return advice and _beside(segments, patterns, known) is Beside.NOTHING


def _lacks_alone(segments: Sequence[Segment], known: frozenset[str]) -> bool:
    # "Ese dato no está.": no cue knows it, but a denial that speaks of sources and answers and of nothing else is one
    if any(segment.part in (Part.RULE, Part.GUESS) for segment in segments):
        return False
    others = " ".join(segment.text for segment in segments if segment.part is Part.OTHER)
    return _LACKING.search(others) is not None and of_answers(others, known)


def _stands(passage: Passage, span: Span, segments: Sequence[Segment], kind: str) -> bool:
    # a value inside a denial is denied with it, unless a verb states it anew: "no hay norma y el plazo es de 30 días"
    segment = _segment_at(span.start, segments)
    if segment is None or segment.part in (Part.RULE, Part.GUESS, Part.OTHER):
        return True
    if segment.part is Part.NEUTRAL:
        return kind in TYPED
    before = passage.folded[segment.span.start : span.start]
    stated = _STATED.search(before)
    if stated is None or _CONDITION.search(before[: stated.start()]):
        return False
    return " y " in before[: stated.start()] or ("," in before[: stated.start()] and before.count(",") == 1)


def _is_option(passage: Passage, span: Span, segments: Sequence[Segment], patterns: Cues) -> bool:
    # "Ninguna de las anteriores", "Es falso": the words of an option are no cue
    segment = _segment_at(span.start, segments)
    if segment is None or segment.part is not Part.CUE:
        return False
    start, end = max(span.start, segment.span.start), min(span.end, segment.span.end)
    rest = passage.folded[segment.span.start : start] + " " + passage.folded[end : segment.span.end]
    return _cue(_TURN.sub("", _flat(rest).strip()), patterns, "choice") is None


def _in_bracket(span: Span, segments: Sequence[Segment]) -> bool:
    # "No lo sé (15)": the negation before the bracket does not reach into it
    own = _segment_at(span.start, segments)
    return own is not None and any(_inside(own.span, other.span) for other in segments if other is not own)


def _doubtful(passage: Passage, span: Span, segments: Sequence[Segment], counted: bool) -> bool:
    # a value in an offer or a piece of advice, or set off from the denial by a comma
    segment = _segment_at(span.start, segments)
    if segment is None:
        return False
    if segment.part is Part.NEUTRAL:
        return counted
    folded = passage.folded
    return "," in folded[span.end : segment.span.end] or "," in folded[segment.span.start : span.start]


def _with_cue(
    segments: Sequence[Segment],
    kind: str,
    found: tuple[Span, ...],
    excluded: Exclusions,
    beside: Beside,
    *,
    doubt: bool,
) -> Classified:
    rest = [segment for segment in segments if segment.part is not Part.CUE]
    ruled = any(segment.part is Part.RULE for segment in rest)
    guessed = kind not in TYPED and any(segment.part is Part.GUESS for segment in rest)
    cited = any(
        segment.part in (Part.OTHER, Part.RULE) and _holds(segment.span, excluded.citations) for segment in rest
    )
    # "La Dirección, aunque el texto no lo dice": a name and then a hedge
    named = kind == "entity" and segments[0].part is Part.OTHER
    if ruled or guessed or cited or named or beside is Beside.CONTENT:
        return Classified(AnswerClass.ANSWER, Reason.NO_VALUE, found, hedged=True)
    if doubt or beside is Beside.TALK:
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
