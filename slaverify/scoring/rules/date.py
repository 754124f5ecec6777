"""`date@1`: a day, a month or a year, compared at the precision of the reference.

Source: docs/spec/scoring.md sections 2, 7 and 8.
"""

from __future__ import annotations

import re
from itertools import pairwise

from slaverify.evalset import DateReference
from slaverify.scoring.abstention import Value
from slaverify.scoring.assertion import ASKED_BOUNDS, Assertion, alternative, assertion, last_correction
from slaverify.scoring.dates import Dated, find_dates, order_of, relative
from slaverify.scoring.exclusions import exclusions, inside
from slaverify.scoring.folding import fold
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.resolution import Finding, joined
from slaverify.scoring.result import Span
from slaverify.scoring.rules.task import Task

NAME = "date@1"
POLICIES = ("year_pivot",)


def dates(task: Task, reference: DateReference) -> list[Dated]:
    """Return the dates of the answer; the reference gives at most the order of numeric ones."""
    order = reference.order or order_of(task.settings.locale)
    found = find_dates(task.passage.folded, order, task.settings.policies.year_pivot, task.settings.locale)
    # the year of a norm is no date: "la Ley 20.000 de 2006"
    cited = exclusions(task.passage).citations
    return [one for one in found if not inside(one.span, cited)]


def values(task: Task, reference: DateReference) -> list[Value]:
    """Return the dates as values of the slot."""
    found = [Value(one.span, assertion(task.passage, one.span)) for one in dates(task, reference)]
    if not found and relative(task.passage.folded):
        return [Value(Span(0, len(task.passage.text)), Assertion.ASSERTED)]
    return found


def judge(task: Task, reference: DateReference) -> Finding | None:
    """Return what the answer comes to; null if it holds no date."""
    found = dates(task, reference)
    cut = last_correction(task.passage)
    if cut is not None and any(one.span.start >= cut for one in found):
        found = [one for one in found if one.span.start >= cut]
    if not found:
        return Finding(Correctness.UNDETERMINED, Reason.RELATIVE_DATE, None) if relative(task.passage.folded) else None
    stands = [(one, assertion(task.passage, one.span)) for one in found]
    asserted = [one for one, how in stands if how is not Assertion.NEGATED]
    if not asserted:
        return Finding(Correctness.INCORRECT, Reason.NEGATED, None)
    right = [one for one in asserted if one.iso is not None and _same(one.iso, reference.value)]
    if not right:
        return _wrong(asserted, reference.value)
    if any(alternative(task.passage.folded, one.span) or _another_day(task, one) for one in right):
        return Finding(Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS, None)
    others = [one for one in asserted if one not in right]
    if others:
        return Finding(*_against(task, asserted, right), None)
    bound = [_bound(task, one) for one in right]
    if None not in bound:
        moved = "moved" in bound
        reason = Reason.OTHER_VALUE if moved else Reason.QUALIFIED
        return Finding(Correctness.INCORRECT if moved else Correctness.UNDETERMINED, reason, None)
    if all(
        how is Assertion.DOUBTFUL or task.passage.in_question(one.span.start) for one, how in stands if one in right
    ):
        return Finding(Correctness.UNDETERMINED, Reason.QUALIFIED, None)
    return Finding(Correctness.CORRECT, Reason.EQUAL, None)


_MOVED = re.compile(
    r"\b(?:dias?|semanas?|mes|meses|anos?|horas?|days?|weeks?|months?|years?|hours?|vispera|dia\ssiguiente|eve|day)\s(?:habiles\s|corridos\s)?"
    r"(?:antes|despues|posterior(?:es)?|anterior(?:es)?|siguientes?|contad[oa]s|desde|before|after|from|following|prior|de|of|a)?"
    r"\s?(?:desde|de|a|al|del|to)?\s?(?:el|the|la\sfecha\sdel?)?\s?$"
)
_DAY_BEFORE = re.compile(
    r"\b(?:entre|del?|desde|between|from)\s(?:el\s|the\s)?[0-9]{1,2}\s(?:y|al?|hasta|and|to)\s(?:el\s|the\s)?$"
    r"|\b[0-9]{1,2}\s?(?:o|u|or|/|-)\s?(?:el\s)?$"
)
_DAY_AFTER = re.compile(r"\s?[,(]?\s?(?:o|u|or)\s(?:el\s|the\s|quizas\s|tal\svez\s)?[0-9]{1,2}(?![0-9/.-])")


def _another_day(task: Task, one: Dated) -> bool:
    # "4 de marzo de 2025 (o 5)", "entre el 1 y el 4 de marzo"
    folded = task.passage.folded
    before = folded[max(one.span.start - 40, 0) : one.span.start]
    return _DAY_BEFORE.search(before) is not None or _DAY_AFTER.match(folded, one.span.end) is not None


_NEAR = re.compile(
    r"\b(?:alrededor|cerca|hacia|aproximadamente|en\storno|circa|around|about|approximately|near)(?:\sdel?|\sal?)?(?:\sel|\sthe)?\s$"
)
_NEAR_AFTER = re.compile(
    r",?\s(?:o\s(?:por\sahi|asi)|mas\so\smenos|aproximadamente|or\s(?:so|thereabouts)|approximately)\b"
)
_BOUNDS = {
    "before": (
        re.compile(
            r"\b(?:antes|previ[oa]|anterior|before|prior)(?:\sto|\sal?|\sdel?)?(?:\sel|\sthe|\sdia)*\s$|\b(?:hasta|until|by)(?:\sel|\sthe)?\s$"
            r"|\b(?:a\smas\stardar|no\slater\sthan)(?:\sel)?\s$"
        ),
        re.compile(
            r"\b(?:antes|hasta|previ[oa]|limite|plazo|tardar|venc\w{1,5}|before|until|by|deadline|expire\w?|due)\b"
        ),
    ),
    "after": (
        re.compile(r"\b(?:despues|posterior|luego|after|later\sthan)(?:\sal?|\sdel?)?(?:\sel|\sthe|\sdia)*\s$"),
        re.compile(r"\b(?:despues|desde|partir|posterior|after|since|from)\b"),
    ),
}


def _bound(task: Task, one: Dated) -> str | None:
    # "antes del 1 de marzo" is not that day, unless the question asks before what day
    folded = task.passage.folded
    before = folded[max(one.span.start - 60, 0) : one.span.start]
    if _MOVED.search(before) and not re.search(
        r"\b(?:el|al|del|en|on|the)\s(?:mismo\s|mes\sy\s)?(?:dia|mes|ano|month|year)\s(?:de|del|of)?\s?$", before
    ):
        return "moved"
    query = fold(task.query)
    near = _NEAR.search(before) or _NEAR_AFTER.match(folded, one.span.end)
    if near is not None and ASKED_BOUNDS["near"].search(query) is None:
        return "near"
    for name, (said, wanted) in _BOUNDS.items():
        if said.search(before) and wanted.search(query) is None:
            return name
    return None


def _same(found: str, wanted: str) -> bool:
    return found[: len(wanted)] == wanted if not found.startswith("-") else False


def _wrong(asserted: list[Dated], wanted: str) -> Finding:
    if any(one.iso is None for one in asserted):
        return Finding(Correctness.INCORRECT, Reason.IMPOSSIBLE_DATE, None)
    for one in asserted:
        if len(asserted) == 1 and one.iso is not None and _agrees(one.iso, wanted):
            return Finding(Correctness.PARTIAL, Reason.MISSING_ELEMENT, None)
    return Finding(Correctness.INCORRECT, Reason.OTHER_VALUE, None)


def _agrees(found: str, wanted: str) -> bool:
    # less precise than the reference, but not against it: "marzo de 2025", "3 de marzo"
    return wanted.startswith(found) or (found.startswith("--") and wanted[4:] == found[1:])


def _against(task: Task, asserted: list[Dated], right: list[Dated]) -> tuple[Correctness, Reason]:
    if len({one.iso for one in asserted}) >= 3:
        return Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS
    for left, following in pairwise(asserted):
        apart = (left in right) != (following in right)
        if apart and joined(task.passage.folded, left.span.end, following.span.start):
            return Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS
    return Correctness.UNDETERMINED, Reason.UNRESOLVED_CANDIDATES
