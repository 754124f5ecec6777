"""What a panel's votes on one question can still come to, with its copies and its refusals; shared by all rubrics.

Source: docs/spec/judging.md section 6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from slaverify.canonical import JsonObject
from slaverify.contract.model.judge import Criterion, Judge
from slaverify.judging.panel import BADNESS, Readings, of_member, of_panel, worst_and_best
from slaverify.judging.records import FailureKind, Purpose, Vote
from slaverify.judging.rubrics import Rubric, rubric_of
from slaverify.scoring import Bounds, Event, ScoreRecord, Verdict

JUDGE = "judge"
BY_ANSWER = "refusal_caused_by_answer"
SPLIT, HUMAN_QUEUE, NO_JUDGEMENT = "split_panel", "human_queue", "judge_unresolved"
SWAYED = "judge_swayed"
COPIES = (Purpose.RAW, Purpose.CUT)

Word = Callable[[JsonObject], str]
Rank = Callable[[str], int]
"""How bad a word is for the answer: higher is worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The part of an instrument that turns votes into outcomes: no key, no text."""

    judge: Judge
    rubric: Rubric

    @property
    def members(self) -> tuple[str, ...]:
        """The ids of the members."""
        return tuple(member.id for member in self.judge.panel)

    def criterion(self, name: str) -> Criterion:
        """Return a criterion of the contract. Raises: KeyError."""
        return {criterion.id: criterion for criterion in self.judge.criteria}[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a panel says of one question about one answer.

    `readings`: words still possible; `split`: members differed; `queue`: a person has to look; `by_answer`: the
    answer itself made every member refuse; `swayed`: the raw copy was judged better than the one without what
    speaks to the judge.
    """

    readings: Readings
    split: bool = False
    queue: bool = False
    by_answer: bool = False
    swayed: bool = False


def panel_of(judge: Judge) -> Panel:
    """Return the panel of a contract. Raises: JudgeError as `rubric_of`."""
    return Panel(judge=judge, rubric=rubric_of(judge))


def rank_of(word: str) -> int:
    """Return how bad a verdict is, from 0."""
    return BADNESS.index(word)


def outcome(
    panel: Panel, votes: Sequence[Vote], scale: Iterable[str], word: Word, failed: str, rank: Rank = rank_of
) -> Outcome:
    """Return what the panel says: `word` turns values into one of `scale`; `failed` is the word of a refused answer.

    `rank` says which of two words is worse for the answer.
    """
    known = frozenset(scale)
    own = members_of(panel, votes, Purpose.ITEM, known, word)
    main = aggregated(panel, own)
    item_votes = [vote for vote in votes if vote.purpose is Purpose.ITEM]
    queue = any(vote.values is None and vote.failure != FailureKind.TRANSPORT for vote in item_votes)
    split = len({next(iter(one)) for one in own.values() if len(one) == 1}) > 1
    if caused_by_answer(panel, votes):
        return Outcome(readings=frozenset({failed}), split=split, queue=queue, by_answer=True)
    purposes = {vote.purpose for vote in votes}
    copies = {
        copy: aggregated(panel, members_of(panel, votes, copy, known, word)) for copy in COPIES if copy in purposes
    }
    readings, swayed = worst_of(main, copies, rank)
    return Outcome(readings=readings, split=split, queue=queue, swayed=swayed)


def refused_by_all(panel: Panel, votes: Sequence[Vote]) -> bool:
    """Say whether every vote of every member on one question was a refusal."""
    own = [vote for vote in votes if vote.purpose is Purpose.ITEM]
    return {vote.member for vote in own} == set(panel.members) and all(
        vote.failure == FailureKind.REFUSAL for vote in own
    )


def caused_by_answer(panel: Panel, votes: Sequence[Vote]) -> bool:
    """Say whether every member refused the answer to one question, and none the reference in its place."""
    again = {vote.member: vote for vote in votes if vote.purpose is Purpose.REFUSAL}
    accepted = set(again) == set(panel.members) and all(vote.values is not None for vote in again.values())
    return accepted and refused_by_all(panel, votes)


def members_of(
    panel: Panel, votes: Sequence[Vote], purpose: Purpose, scale: Readings, word: Word
) -> dict[str, Readings]:
    """Return what each member's votes of one purpose can be, as words of the scale."""
    said: dict[str, list[str | None]] = defaultdict(list)
    for vote in votes:
        if vote.purpose is purpose:
            said[vote.member].append(None if vote.values is None else word(vote.values))
    return {name: of_member(said[name], scale) for name in panel.members}


def aggregated(panel: Panel, members: Mapping[str, Readings]) -> Readings:
    """Return what the panel's word can be."""
    rule = panel.judge.aggregation
    return of_panel(rule if rule == "unanimous" else "majority", list(members.values()))


def worst_of(readings: Readings, copies: Mapping[Purpose, Readings], rank: Rank) -> tuple[Readings, bool]:
    """Return the worse of the answer and its copies, and whether what speaks to a judge made it look better.

    The raw copy better than the clean one or than the one without what speaks to a judge, or the clean better than
    that one; only where each of them is one word.
    """
    found = readings
    for other in copies.values():
        found = frozenset(max(pair, key=rank) for pair in product(found, other))
    raw, cut = copies.get(Purpose.RAW, readings), copies.get(Purpose.CUT, readings)
    if not copies or any(len(one) != 1 for one in (raw, cut, readings)):
        return found, False
    bad, bad_cut, bad_raw = (rank(next(iter(one))) for one in (readings, cut, raw))
    return found, bad_raw < max(bad, bad_cut) or bad < bad_cut


def unresolved(record: ScoreRecord, found: Outcome) -> ScoreRecord:
    """Return the record of an answer with several possible verdicts: none, and the two ends."""
    worst, best = worst_and_best(found.readings)
    return replace(marked(record, found, (NO_JUDGEMENT,)), bounds=Bounds(Verdict(worst), Verdict(best)))


def marked(record: ScoreRecord, found: Outcome, more: Sequence[str]) -> ScoreRecord:
    """Return the record with the flags and the event of an outcome."""
    flags = {*record.flags, *more}
    flags |= {SPLIT} if found.split else set()
    flags |= {HUMAN_QUEUE} if found.queue else set()
    flags |= {BY_ANSWER} if found.by_answer else set()
    changed = replace(record, flags=tuple(sorted(flags)))
    # Without anything in the answer that speaks to a judge, two copies that differ are noise: suspected alone.
    spoke = any(event.level == "manipulation" for event in record.events)
    return with_event(changed, SWAYED, confirmed=spoke) if found.swayed else changed


def with_event(record: ScoreRecord, code: str, *, confirmed: bool) -> ScoreRecord:
    """Return the record with one more event of level manipulation."""
    events = {*record.events, Event(code, "manipulation", confirmed)}
    return replace(record, events=tuple(sorted(events, key=lambda event: event.code)))
