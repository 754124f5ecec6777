"""Several candidates, one slot: which of them is the answer, if any.

1 what a correction or an equals sign superseded and what is negated is no assertion. 2 Without an asserted value
that equals the reference the answer is wrong. 3 With one, every other asserted value has to be explained: one that
the question states itself, of another kind, is no rival. A list, a disjunction or a range around the right value
is `multiple_answers`; a rival of the same kind is a `contradiction`; three values or more are a dump. What is
left is undetermined, never correct.

Source: docs/spec/scoring.md section 7.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise

from slaverify.scoring.asked import Asked
from slaverify.scoring.assertion import Assertion
from slaverify.scoring.passage import Passage
from slaverify.scoring.quantities import Quantity
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.units import exact_ratio

DUMP = 3
"""Distinct values from which an answer is a list, whatever parts them."""


class Fit(Enum):
    """How one candidate compares with the reference."""

    EQUAL = auto()
    OTHER = auto()
    OPEN = auto()


@dataclass(frozen=True, slots=True)
class Compared:
    """A candidate with its comparison and the reason of it."""

    quantity: Quantity
    fit: Fit
    reason: Reason


@dataclass(frozen=True, slots=True)
class Finding:
    """What the candidates come to; `chosen` is the one that decided."""

    correctness: Correctness
    reason: Reason
    chosen: Quantity | None
    flags: tuple[str, ...] = ()


_JOINED = re.compile(
    r"[)%‰]?(?:\s[a-z]{1,20}){0,3}?[)%‰]?\s?(?:,|;|/|-|–|—|−|\n|•|\.\.+|\b(?:y/o|and/or|y|e|o|u|or|and|a|al|hasta|to|through)\b)\s?"
    r"(?:(?:de|los|las|el|la|unos|unas|bien|acaso|quizas?|tal\svez|incluso|entre|hasta|maybe|perhaps|even|o|or|y)\s){0,3}"
    r"(?:[-•*(]\s?)?(?:us\$|[$€])?\s?"
)
_ADDED = re.compile(
    r"\b(?:prorrog\w{1,8}|ampli\w{1,8}|renov\w{1,8}|extend\w{0,5}|extens\w{1,5}|renew\w{0,5}|adicional(?:es)?|otr[oa]s?"
    r"|additional|another|further)\b"
)
_MORE = re.compile(r"\s(?:[a-z]{1,20}\s){0,2}(?:adicionales|adicional|mas|additional|more)\b")
_RESULT = re.compile(
    r"(?:=|->|→|\b(?:es|son|da|dan|suman|resultan?|resultado|equivalen?|igual\sa|total|is|are|gives?|makes?|equals?|get))"
    r"(?:\s(?:de|a|un|una|el|la|total|igual|to|the|in)){0,3}:?\s?$"
)
_LIKENESS = (Reason.SIGN, Reason.SCALE, Reason.OTHER_DAY_KIND, Reason.OTHER_UNIT, Reason.AMBIGUOUS_SEPARATOR)


def resolve(
    passage: Passage, found: Sequence[Quantity], compare: Callable[[Quantity], tuple[Fit, Reason]], question: Asked
) -> Finding:
    """Return what `found`, which is not empty, comes to."""
    asserted = [Compared(quantity, *compare(quantity)) for quantity in found if quantity.asserted]
    if not asserted:
        return Finding(Correctness.INCORRECT, Reason.NEGATED, found[0])
    equal = [one for one in asserted if one.fit is Fit.EQUAL]
    if not equal:
        return _without_equal(asserted)
    rivals = [
        one
        for one in asserted
        if one.fit is not Fit.EQUAL
        and not _restated(one.quantity, equal, question)
        and not _operand(passage, one, equal, asserted, question)
    ]
    best = next((one for one in equal if _plain(one.quantity)), equal[0])
    if rivals:
        return Finding(*_against(passage, equal, rivals, asserted), best.quantity)
    if not _plain(best.quantity):
        return Finding(Correctness.UNDETERMINED, Reason.QUALIFIED, best.quantity)
    flags = ("hedged",) if best.quantity.hedged else ()
    return Finding(Correctness.CORRECT, best.reason, best.quantity, flags)


def _plain(quantity: Quantity) -> bool:
    return quantity.assertion is Assertion.ASSERTED and not quantity.qualified


def _without_equal(asserted: Sequence[Compared]) -> Finding:
    opens = [one for one in asserted if one.fit is Fit.OPEN]
    if opens:
        return Finding(Correctness.UNDETERMINED, opens[0].reason, opens[0].quantity)
    chosen = next((one for reason in _LIKENESS for one in asserted if one.reason is reason), asserted[0])
    return Finding(Correctness.INCORRECT, chosen.reason, chosen.quantity)


def _restated(quantity: Quantity, equal: Sequence[Compared], question: Asked) -> bool:
    if any(same_amount(quantity, one.quantity) for one in equal):
        return True  # 48 horas (2 días)
    kinds_differ = all(not _bare(one.quantity) and not _same_kind(quantity, one.quantity) for one in equal)
    return kinds_differ and question.states(quantity)


def _operand(
    passage: Passage, one: Compared, equal: Sequence[Compared], asserted: Sequence[Compared], question: Asked
) -> bool:
    # "100 y 3 suman 103": what the question itself puts in is quoted, unless it stands in one list with the answer
    if not question.echoed(one.quantity) or _claimed(passage, one, equal, asserted):
        return False
    if any(right.quantity.value in question.values for right in equal) and not _result(
        passage, equal, asserted, question
    ):
        return False
    ordered = sorted(asserted, key=lambda other: other.quantity.span.start)
    at = ordered.index(one)
    for left, right in ((at - 1, at), (at, at + 1)):
        if left < 0 or right >= len(ordered) or Fit.EQUAL not in (ordered[left].fit, ordered[right].fit):
            continue
        if joined(passage.folded, ordered[left].quantity.span.end, ordered[right].quantity.span.start):
            return False
    return True


def _claimed(passage: Passage, one: Compared, equal: Sequence[Compared], asserted: Sequence[Compared]) -> bool:
    # "Son 30. Son 15.": a number of the question put forward as the result, or alone in a sentence, is no operand
    start = one.quantity.span.start
    if _RESULT.search(passage.folded[max(start - 40, 0) : start]):
        return True
    sentence = passage.sentence_at(start)
    beside = [other for other in asserted if sentence.start <= other.quantity.span.start < sentence.end]
    return len(beside) < 2 and not any(other in equal for other in beside)


def _result(passage: Passage, equal: Sequence[Compared], asserted: Sequence[Compared], question: Asked) -> bool:
    # "9 por 1 es 9": the question holds the right value too, so only a result that it does not state counts
    last = max(asserted, key=lambda one: one.quantity.span.start)
    times = sum(one.quantity.value == last.quantity.value for one in asserted)
    before = passage.folded[max(last.quantity.span.start - 40, 0) : last.quantity.span.start]
    beyond = last.quantity.value is not None and times > question.values[last.quantity.value]
    return last in equal and beyond and _RESULT.search(before) is not None and _said(passage) not in question.words


def _said(passage: Passage) -> str:
    return " ".join(passage.folded.split()).strip(" .!¿?")


def _against(
    passage: Passage, equal: Sequence[Compared], rivals: Sequence[Compared], asserted: Sequence[Compared]
) -> tuple[Correctness, Reason]:
    if len({(one.quantity.value, one.quantity.percent) for one in (*equal, *rivals)}) >= DUMP:
        return Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS
    if all(_adds(passage, one.quantity) for one in rivals):
        return Correctness.UNDETERMINED, Reason.UNRESOLVED_CANDIDATES
    ordered = sorted(asserted, key=lambda one: one.quantity.span.start)
    for left, right in pairwise(ordered):
        if (left.fit is Fit.EQUAL) == (right.fit is Fit.EQUAL) or not _may_be_same(left.quantity, right.quantity):
            continue
        if passage.folded[left.quantity.span.end : right.quantity.span.start].strip() == "(":
            return Correctness.INCORRECT, Reason.CONTRADICTION  # quince (20) días
        if joined(passage.folded, left.quantity.span.end, right.quantity.span.start):
            return Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS
    for one in rivals:
        if one.fit is Fit.OTHER and any(_contradicts(one.quantity, other.quantity) for other in equal):
            return Correctness.INCORRECT, Reason.CONTRADICTION
    return Correctness.UNDETERMINED, Reason.UNRESOLVED_CANDIDATES


def _adds(passage: Passage, quantity: Quantity) -> bool:
    # "15 días, prorrogables por otros 5": what may be added is no second answer, nor the first one any more
    clause = passage.clause_at(quantity.span.start)
    before = passage.folded[max(clause.start, quantity.span.start - 60) : quantity.span.start]
    return _ADDED.search(before) is not None or _MORE.match(passage.folded, quantity.span.end) is not None


def joined(folded: str, start: int, end: int) -> bool:
    """Tell whether what parts two values makes them members of a list, a disjunction or a range."""
    return _JOINED.fullmatch(folded, start, end) is not None


def _same_kind(left: Quantity, right: Quantity) -> bool:
    if left.unit is not None and right.unit is not None:
        return left.unit.unit.dimension == right.unit.unit.dimension
    return (left.percent, left.noun) == (right.percent, right.noun)


def same_amount(left: Quantity, right: Quantity) -> bool:
    """Tell whether two values are one in two units that convert exactly, such as 48 hours and 2 days."""
    if left.unit is None or right.unit is None or left.value is None or right.value is None:
        return False
    if left.unit.day_kind is not None or right.unit.day_kind is not None:
        return False
    ratio = exact_ratio(left.unit.unit, right.unit.unit)
    return ratio is not None and left.value * ratio == right.value


def _bare(quantity: Quantity) -> bool:
    return quantity.unit is None and quantity.noun is None and quantity.percent is None


def _may_be_same(left: Quantity, right: Quantity) -> bool:
    return _same_kind(left, right) or _bare(left) or _bare(right)


def _contradicts(rival: Quantity, right: Quantity) -> bool:
    return _plain(rival) and (_same_kind(rival, right) or (_bare(rival) and _bare(right)))
