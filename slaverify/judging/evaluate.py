"""All of a judge's work from recorded replies: the calls that were due, their votes, the records, what is wrong.

The auditor and the verifier call the same function; one asks what is missing, the other compares bytes.

Source: docs/spec/judging.md section 7 (cache and replay).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slaverify.judging.answers import Ask
from slaverify.judging.calls import (
    Call,
    Work,
    answer_calls,
    baseline_calls,
    closing_calls,
    refusal_calls,
    trivial_calls,
    watching_calls,
)
from slaverify.judging.outcomes import judged
from slaverify.judging.prompt import nonce_of
from slaverify.judging.readings import panel_of, refused_by_all, with_event
from slaverify.judging.records import WATCHING, Purpose, Vote
from slaverify.judging.replay import Reading, Records, read_call, vote_of
from slaverify.scoring import ScoreRecord

NONCE_IN_ANSWER = "nonce_in_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """The votes of a run in the order of their calls, and the readings behind them."""

    votes: tuple[Vote, ...]
    readings: tuple[Reading, ...]

    @property
    def used(self) -> frozenset[str]:
        """The keys of the records that a call of this run asked for."""
        return frozenset(reading.key for reading in self.readings if reading.key is not None)

    @property
    def surplus(self) -> int:
        """Attempts after the one that counts: each would be a choice among answers."""
        return sum({reading.key: reading.surplus for reading in self.readings}.values())


def evaluate(work: Work, records: Records) -> Evaluated:
    """Return what the recorded replies give, for every call that was due."""
    calls = [*baseline_calls(work), *trivial_calls(work), *answer_calls(work)]
    calls += refusal_calls(work, refused_asks(work, records))
    calls += [*watching_calls(work), *closing_calls(work)]
    readings = tuple(read_call(work.instrument, call, records) for call in calls)
    named = {sentinel.id: sentinel for sentinel in work.sentinels}
    return Evaluated(votes=tuple(vote_of(reading, named) for reading in readings), readings=readings)


def refused_asks(work: Work, records: Records) -> list[Ask]:
    """Return the questions on which every vote of every member was a refusal."""
    panel = panel_of(work.instrument.judge)
    votes: dict[tuple[tuple[str, int, str], str | None, tuple[str, ...]], list[Vote]] = defaultdict(list)
    for call in answer_calls(work):
        if call.purpose is Purpose.ITEM:
            vote = vote_of(read_call(work.instrument, call, records), {})
            votes[call.answer_key, call.id.criterion, call.case.asks].append(vote)
    return [ask for ask in work.asks if refused_by_all(panel, votes.get(_key(ask), []))]


def judged_records(work: Work, records: Iterable[ScoreRecord], votes: Sequence[Vote]) -> list[ScoreRecord]:
    """Return the score records with what the votes say, in their order."""
    panel = panel_of(work.instrument.judge)
    own: dict[tuple[str, int, str], list[Vote]] = defaultdict(list)
    for vote in votes:
        if vote.purpose not in WATCHING:
            own[vote.answer_key].append(vote)
    leaked, found = _leaked(work), []
    for record in records:
        key = record.item_id, record.repetition, record.side
        marked = judged(panel, record, own.get(key, []))
        found.append(with_event(marked, NONCE_IN_ANSWER, confirmed=True) if key in leaked else marked)
    return found


def _leaked(work: Work) -> frozenset[tuple[str, int, str]]:
    """Return the answers that hold the nonce of a call about them, which nobody outside could know by then."""
    texts = {ask.answer.key: ask.answer.raw_text or "" for ask in work.asks}
    key = work.instrument.run_key
    calls = (call for call in answer_calls(work) if call.purpose is Purpose.ITEM)
    return frozenset(call.answer_key for call in calls if nonce_of(key, call.id) in texts[call.answer_key])


def _key(ask: Ask) -> tuple[tuple[str, int, str], str | None, tuple[str, ...]]:
    return ask.answer.key, None if ask.case.criterion is None else ask.case.criterion.id, ask.case.asks


__all__ = ["Call", "Evaluated", "evaluate", "judged_records", "refused_asks"]
