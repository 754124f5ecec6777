"""Criteria: from the votes on each to its mark, and from the marks of an answer to its verdict and its weighted value.

Source: docs/spec/judging.md sections 2 and 6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from slaverify.canonical import JsonObject, real9
from slaverify.contract.model.judge import Criterion, Judge
from slaverify.judging.criteria import meets, values_of
from slaverify.judging.panel import median_ends
from slaverify.judging.readings import JUDGE, NO_JUDGEMENT, Outcome, Panel, marked, members_of, outcome
from slaverify.judging.records import Purpose, Vote
from slaverify.scoring import MET, NOT_APPLICABLE, NOT_MET, Bounds, Correctness, ScoreRecord, Verdict

UNRESOLVED = "unresolved"


def with_criteria(panel: Panel, record: ScoreRecord, votes: Sequence[Vote]) -> ScoreRecord:
    """Return the record with the marks that the votes give, beside those of code.

    Where no rule gave a verdict: accurate if every criterion that applies came out well (a penalty: not there).
    """
    marks, changed = dict(record.criteria), record
    for name, own in _by_criterion(votes).items():
        found = criterion_outcome(panel, name, own)
        marks[name] = next(iter(found.readings)) if len(found.readings) == 1 else UNRESOLVED
        changed = marked(changed, found, (NO_JUDGEMENT,) if marks[name] == UNRESOLVED else ())
    if votes:
        changed = replace(changed, criteria=tuple(sorted(marks.items())), decided_by=JUDGE)
    if panel.rubric.name.startswith("weighted@"):
        changed = replace(changed, value=weighted_value(panel, marks))
    if record.verdict is not None or record.correctness is not Correctness.UNDETERMINED:
        return changed
    if "cut_body" not in record.flags:
        # What code left open the criteria say: the answer is open no more.
        changed = replace(changed, flags=tuple(flag for flag in changed.flags if flag != "open"))
    counted = {name: mark for name, mark in marks.items() if mark != NOT_APPLICABLE}
    bad = any(mark not in (UNRESOLVED, _good(panel.criterion(name))) for name, mark in counted.items())
    if UNRESOLVED in counted.values():
        worst = Verdict.INCOMPLETE
        return replace(changed, bounds=Bounds(worst, worst if bad else Verdict.ACCURATE))
    met = bool(counted) and not bad
    return replace(
        changed,
        decided_by=changed.decided_by or "rule",
        verdict=Verdict.ACCURATE if met else Verdict.INCOMPLETE,
        correctness=Correctness.CORRECT if met else Correctness.PARTIAL,
        bounds=None,
    )


def criterion_outcome(panel: Panel, name: str, votes: Sequence[Vote]) -> Outcome:
    """Return what the panel says of one criterion of one answer: `met` or `not_met`."""
    criterion = panel.criterion(name)

    def word(values: JsonObject) -> str:
        value = values["score"]
        return MET if isinstance(value, str | int) and meets(criterion, value) else NOT_MET

    good = _good(criterion)
    bad = NOT_MET if good == MET else MET

    def rank(mark: str) -> int:
        return (good, bad).index(mark)

    if panel.judge.aggregation != "median":
        return outcome(panel, votes, (MET, NOT_MET), word, bad, rank)
    found = outcome(replace(panel, judge=_majority(panel.judge)), votes, (MET, NOT_MET), word, bad, rank)
    low, high = _median(panel, criterion, votes)
    ends = frozenset({_mark(criterion, low), _mark(criterion, high)})
    if found.by_answer or not found.swayed:
        return found if found.by_answer else replace(found, readings=ends)
    return replace(found, readings=frozenset(max(pair, key=rank) for pair in product(ends, found.readings)))


def _good(criterion: Criterion) -> str:
    """Return the mark that speaks for the answer: of a penalty, that it is not there."""
    return NOT_MET if criterion.points is not None and criterion.points < 0 else MET


def weighted_value(panel: Panel, marks: Mapping[str, str]) -> str | None:
    """Return Σ points met / Σ positive points over the criteria of an answer, nine places; null if one is unresolved.

    It may be negative. Null too where no criterion of the answer has positive points.
    """
    own = [name for name in _names(panel) if marks.get(name, NOT_APPLICABLE) != NOT_APPLICABLE]
    points = {name: panel.criterion(name).points or 0 for name in own}
    positive = sum(value for value in points.values() if value > 0)
    if positive == 0 or any(marks[name] == UNRESOLVED for name in points):
        return None
    return real9(Fraction(sum(value for name, value in points.items() if marks[name] == MET), positive))


def _names(panel: Panel) -> frozenset[str]:
    return frozenset(criterion.id for criterion in panel.judge.criteria)


def _majority(judge: Judge) -> Judge:
    return judge.model_copy(update={"aggregation": "majority"})


def _mark(criterion: Criterion, value: int) -> str:
    return MET if meets(criterion, value) else NOT_MET


def _median(panel: Panel, criterion: Criterion, votes: Sequence[Vote]) -> tuple[int, int]:
    scale = [str(value) for value in values_of(criterion)]
    members = members_of(panel, votes, Purpose.ITEM, frozenset(scale), lambda values: str(values["score"]))
    return median_ends([frozenset(int(value) for value in one) for one in members.values()])


def _by_criterion(votes: Sequence[Vote]) -> dict[str, list[Vote]]:
    found: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        if vote.criterion is not None:
            found[vote.criterion].append(vote)
    return {name: own for name, own in found.items() if any(vote.purpose is Purpose.ITEM for vote in own)}
