"""`facts@1`: eligibility and sentences of each member to the score of an answer, and to its verdict.

Score = share of the members that find it grounded × eligibility of the panel. Where code found the required value the
eligibility is code's and no member is asked.

Source: docs/spec/judging.md sections 2 and 6 (arXiv 2501.03200, read in abstract only: unverified).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from slaverify.canonical import JsonObject, real9
from slaverify.contract.model.judge import Facts
from slaverify.judging.answers import ELIGIBILITY, SENTENCES
from slaverify.judging.panel import eligibility_of, mean_ends
from slaverify.judging.readings import (
    COPIES,
    JUDGE,
    Outcome,
    Panel,
    caused_by_answer,
    marked,
    members_of,
    unresolved,
)
from slaverify.judging.records import FailureKind, Purpose, Vote
from slaverify.scoring import Correctness, Grounding, ScoreRecord, Verdict

_GROUNDED = frozenset({"supported", "no_claim"})
_ELIGIBLE = frozenset({"no_issues", "minor_issues"})
_Stages = Mapping[str, Sequence[Vote]]


@dataclass(frozen=True, slots=True)
class _Read:
    """What one copy of an answer can still be: eligible or not, and the lowest and highest share that grounds it."""

    eligible: frozenset[bool]
    low: Fraction
    high: Fraction
    split: bool

    @property
    def scores(self) -> frozenset[Fraction]:
        return frozenset(end * one for one in self.eligible for end in (self.low, self.high))

    @property
    def words(self) -> frozenset[str]:
        return frozenset(_word(one, end) for one in self.eligible for end in (self.low, self.high))


def with_facts(panel: Panel, record: ScoreRecord, votes: Sequence[Vote]) -> ScoreRecord:
    """Return the record with the score and the verdict that the votes give; several possible: unresolved."""
    facts = panel.judge.facts
    if facts is None:
        return record
    stages = {field: [vote for vote in votes if vote.asked == (field,)] for field in (ELIGIBILITY, SENTENCES)}
    main = _read(panel, facts, stages, Purpose.ITEM)
    purposes = {vote.purpose for vote in votes}
    copies = {copy: _read(panel, facts, stages, copy) for copy in COPIES if copy in purposes}
    scores, swayed = _worst(main, copies)
    missing = any(
        vote.values is None and vote.failure != FailureKind.TRANSPORT for vote in votes if vote.purpose is Purpose.ITEM
    )
    by_answer = any(caused_by_answer(panel, own) for own in stages.values())
    found = Outcome(readings=main.words, split=main.split, queue=missing, by_answer=by_answer, swayed=swayed)
    if by_answer:
        scores, main = frozenset({Fraction(0)}), replace(main, eligible=frozenset({False}))
    if len(scores) != 1:
        words = frozenset().union(*(one.words for one in (main, *copies.values())))
        return unresolved(record, replace(found, readings=words))
    score = next(iter(scores))
    eligible = True in main.eligible
    settled = record.correctness is not Correctness.UNDETERMINED
    return replace(
        marked(record, found, ()),
        verdict=Verdict(_word(eligible, score)),
        bounds=None,
        value=real9(score),
        correctness=record.correctness if settled else Correctness.CORRECT if eligible else Correctness.PARTIAL,
        grounding=_grounding((main, *copies.values())),
        decided_by=JUDGE,
    )


def is_eligible(values: JsonObject) -> bool:
    """Say whether one reply finds the answer eligible."""
    return values["eligibility"] in _ELIGIBLE


def is_grounded(values: JsonObject, require_supported: bool) -> bool:
    """Say whether one reply finds every sentence grounded, and (`require_supported`) one supported at least."""
    labels = values["sentences"]
    if not isinstance(labels, list | tuple):
        return False
    return all(label in _GROUNDED for label in labels) and (not require_supported or "supported" in labels)


def _read(panel: Panel, facts: Facts, stages: _Stages, purpose: Purpose) -> _Read:
    eligible = _stage(panel, stages[ELIGIBILITY], purpose, is_eligible)
    grounded = _stage(panel, stages[SENTENCES], purpose, lambda values: is_grounded(values, facts.require_supported))
    passes = eligibility_of(facts.eligibility_rule, eligible) if eligible else frozenset({True})
    low, high = mean_ends(grounded) if grounded else (Fraction(0), Fraction(1))
    return _Read(passes, low, high, any(len(set(side)) > 1 for side in (eligible, grounded)))


def _stage(
    panel: Panel, votes: Sequence[Vote], purpose: Purpose, truth: Callable[[JsonObject], bool]
) -> list[frozenset[bool]]:
    """Return what each member can say in one stage; a copy that was not shown there reads as the answer itself."""
    if not votes:
        return []
    shown = purpose if any(vote.purpose is purpose for vote in votes) else Purpose.ITEM
    both = frozenset({"yes", "no"})
    found = members_of(panel, votes, shown, both, lambda values: "yes" if truth(values) else "no")
    return [frozenset(word == "yes" for word in readings) for readings in found.values()]


def _worst(main: _Read, copies: Mapping[Purpose, _Read]) -> tuple[frozenset[Fraction], bool]:
    """Return the lowest score of the copies, and whether what speaks to a judge made the answer look better."""
    found = main.scores
    for copy in copies.values():
        found = frozenset(min(pair) for pair in product(found, copy.scores))
    raw, cut = (copies.get(copy, main).scores for copy in COPIES)
    if not copies or any(len(one) != 1 for one in (main.scores, raw, cut)):
        return found, False
    own, best, bare = next(iter(main.scores)), next(iter(raw)), next(iter(cut))
    return found, best > min(own, bare) or own > bare


def _grounding(copies: Sequence[_Read]) -> Grounding:
    """Return what the sentences say by themselves, whether the answer was eligible or not."""
    if all(one.low == 1 for one in copies):
        return Grounding.GROUNDED
    return Grounding.UNDETERMINED if all(one.high == 1 for one in copies) else Grounding.MISGROUNDED


def _word(eligible: bool, score: Fraction) -> str:
    if not eligible:
        return Verdict.INCOMPLETE.value
    return Verdict.ACCURATE.value if score == 1 else Verdict.MISGROUNDED.value
