"""From the votes on one answer to its outcome, and from there to its score record.

Code's half stays: only what it left undetermined is filled in. Missing votes leave the answer unresolved, with the
worst and the best verdict that it could have had; that is the auditor's fault and never a mark.

Source: docs/spec/judging.md sections 2 and 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from slaverify.canonical import JsonObject
from slaverify.judging.by_criteria import with_criteria
from slaverify.judging.by_facts import with_facts
from slaverify.judging.panel import Readings
from slaverify.judging.readings import COPIES, JUDGE, Panel, Word, marked, outcome, unresolved
from slaverify.judging.records import Purpose, Vote
from slaverify.scoring import MET, NOT_MET, VERDICT_TABLES, Correctness, Grounding, ScoreRecord, Verdict

PLAIN = "plain@1"


def judged(panel: Panel, record: ScoreRecord, votes: Sequence[Vote]) -> ScoreRecord:
    """Return the score record with what the votes on its answer say; unchanged where no vote decides it."""
    items = [vote for vote in votes if vote.purpose is Purpose.ITEM]
    if panel.rubric.per_criterion and (items or {MET, NOT_MET}.intersection(dict(record.criteria).values())):
        return with_criteria(panel, record, votes)
    if not items:
        return record
    # No opinion removes what code found.
    if record.verdict is not None:
        return record
    if "eligibility" in panel.rubric.asks:
        return with_facts(panel, record, votes)
    return _with_verdict(panel, record, votes)


def undecided(record: ScoreRecord, votes: Sequence[Vote]) -> ScoreRecord:
    """Return the record as it was before its votes, as far as the votes fill it in."""
    asked = {field for vote in votes for field in vote.asked}
    criteria = {vote.criterion for vote in votes}
    facts = not asked.isdisjoint({"eligibility", "sentences"})
    return replace(
        record,
        verdict=None,
        bounds=None,
        correctness=Correctness.UNDETERMINED if asked & {"correctness", "eligibility"} else record.correctness,
        grounding=Grounding.UNDETERMINED if "grounding" in asked or facts else record.grounding,
        criteria=tuple((name, mark) for name, mark in record.criteria if name not in criteria),
        decided_by=None,
    )


def word_of(panel: Panel, record: ScoreRecord, asked: Sequence[str]) -> tuple[Readings, Word]:
    """Return the verdicts that an answer's votes can give, and the verdict that values give, by the pinned table."""
    table = _table(panel, record, asked)
    settled = {"correctness": record.correctness.value, "grounding": record.grounding.value}

    def word(values: JsonObject) -> str:
        halves = {**settled, **{field: str(value) for field, value in values.items()}}
        return str(table[halves["correctness"]][halves["grounding"]])

    halves = [
        panel.rubric.scales[field] if field in asked else (settled[field],) for field in ("correctness", "grounding")
    ]
    cells = {table[first].get(second) for first, second in product(*halves) if first in table}
    return frozenset(str(cell) for cell in cells if cell is not None), word


def _table(panel: Panel, record: ScoreRecord, asked: Sequence[str]) -> Mapping[str, Mapping[str, str | None]]:
    # Where nothing is to be grounded the plain table holds: under the other no answer could be accurate.
    if "grounding" not in asked and record.grounding is Grounding.NOT_APPLICABLE:
        return VERDICT_TABLES[PLAIN]
    return panel.rubric.table


def _with_verdict(panel: Panel, record: ScoreRecord, votes: Sequence[Vote]) -> ScoreRecord:
    asked = next(vote.asked for vote in votes if vote.purpose is Purpose.ITEM)
    scale, word = word_of(panel, record, asked)
    found = outcome(panel, votes, scale, word, Verdict.INCOMPLETE.value)
    if len(found.readings) != 1:
        return unresolved(record, found)
    verdict = Verdict(next(iter(found.readings)))
    halves = {field: _half(votes, field, word, verdict.value) for field in asked}
    correctness, grounding = halves.get("correctness"), halves.get("grounding")
    flags = _votes_flags(votes, word, verdict.value)
    return replace(
        marked(record, found, flags),
        verdict=verdict,
        bounds=None,
        correctness=record.correctness if correctness is None else Correctness(correctness),
        grounding=record.grounding if grounding is None else Grounding(grounding),
        decided_by=JUDGE,
    )


def _half(votes: Sequence[Vote], field: str, word: Word, verdict: str) -> str:
    """Return the value of a field on which all votes for the verdict agree; else it stays undetermined."""
    found = {
        str(vote.values[field])
        for vote in votes
        if vote.purpose in _OWN and vote.values is not None and field in vote.values and word(vote.values) == verdict
    }
    return found.pop() if len(found) == 1 else "undetermined"


_OWN = (Purpose.ITEM, *COPIES)


def _votes_flags(votes: Sequence[Vote], word: Word, verdict: str) -> tuple[str, ...]:
    chosen = [vote for vote in votes if vote.purpose is Purpose.ITEM and vote.values is not None]
    return tuple(flag for vote in chosen if word(vote.values or {}) == verdict for flag in vote.flags)
