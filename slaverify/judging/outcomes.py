"""From the votes on one answer to its outcome, and from there to its score record.

Code's half stays: only what it left undetermined is filled in. Missing votes leave the answer unresolved, with the
worst and the best verdict that it could have had; that is the auditor's fault and never a mark.

Source: docs/spec/judging.md sections 2 and 6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from slaverify.canonical import JsonObject, real9
from slaverify.contract.model.judge import Criterion, Judge
from slaverify.judging.criteria import meets, values_of
from slaverify.judging.panel import (
    BADNESS,
    Readings,
    eligibility_of,
    mean_ends,
    median_ends,
    of_member,
    of_panel,
    worst_and_best,
)
from slaverify.judging.records import FailureKind, Purpose, Vote
from slaverify.judging.rubrics import Rubric, rubric_of
from slaverify.scoring import VERDICT_TABLES, Bounds, Correctness, Event, Grounding, ScoreRecord, Verdict

MET, NOT_MET, UNRESOLVED = "met", "not_met", "unresolved"
JUDGE = "judge"
PLAIN = "plain@1"
BY_ANSWER = "refusal_caused_by_answer"
SPLIT, HUMAN_QUEUE, NO_JUDGEMENT = "split_panel", "human_queue", "judge_unresolved"
SWAYED = "judge_swayed"
_GROUNDED = frozenset({"supported", "no_claim"})
_ELIGIBLE = frozenset({"no_issues", "minor_issues"})

Word = Callable[[JsonObject], str]


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


def judged(panel: Panel, record: ScoreRecord, votes: Sequence[Vote]) -> ScoreRecord:
    """Return the score record with what the votes on its answer say; unchanged where no vote decides it."""
    items = [vote for vote in votes if vote.purpose is Purpose.ITEM]
    if not items:
        return record
    if panel.rubric.per_criterion:
        return _with_criteria(panel, record, votes)
    # No opinion removes what code found.
    if record.verdict is not None:
        return record
    if "eligibility" in panel.rubric.asks:
        return _with_facts(panel, record, votes)
    return _with_verdict(panel, record, votes)


def outcome(panel: Panel, votes: Sequence[Vote], scale: Iterable[str], word: Word, failed: str) -> Outcome:
    """Return what the panel says: `word` turns values into one of `scale`; `failed` is the word of a refused answer."""
    known = frozenset(scale)
    own = _members(panel, votes, Purpose.ITEM, known, word)
    main = _aggregated(panel, own)
    item_votes = [vote for vote in votes if vote.purpose is Purpose.ITEM]
    queue = any(vote.values is None and vote.failure != FailureKind.TRANSPORT for vote in item_votes)
    split = len({next(iter(one)) for one in own.values() if len(one) == 1}) > 1
    if _refused_by_all(panel, item_votes) and _accepted_by_all(panel, votes):
        return Outcome(readings=frozenset({failed}), split=split, queue=queue, by_answer=True)
    readings, swayed = _differential(panel, votes, main, known, word)
    return Outcome(readings=readings, split=split, queue=queue, swayed=swayed)


def refused_by_all(panel: Panel, votes: Sequence[Vote]) -> bool:
    """Say whether every vote of every member on one question was a refusal."""
    return _refused_by_all(panel, [vote for vote in votes if vote.purpose is Purpose.ITEM])


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
        return _unresolved(record, found)
    verdict = Verdict(next(iter(found.readings)))
    halves = {field: _half(votes, field, word, verdict.value) for field in asked}
    correctness, grounding = halves.get("correctness"), halves.get("grounding")
    flags = _votes_flags(votes, word, verdict.value)
    return replace(
        _marked(record, found, flags),
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


_OWN = (Purpose.ITEM, Purpose.RAW, Purpose.CUT)


def _votes_flags(votes: Sequence[Vote], word: Word, verdict: str) -> tuple[str, ...]:
    chosen = [vote for vote in votes if vote.purpose is Purpose.ITEM and vote.values is not None]
    return tuple(flag for vote in chosen if word(vote.values or {}) == verdict for flag in vote.flags)


def _with_criteria(panel: Panel, record: ScoreRecord, votes: Sequence[Vote]) -> ScoreRecord:
    marks, changed = dict(record.criteria), record
    for name, own in _by_criterion(votes).items():
        found = criterion_outcome(panel, name, own)
        marks[name] = next(iter(found.readings)) if len(found.readings) == 1 else UNRESOLVED
        changed = _marked(changed, found, (NO_JUDGEMENT,) if marks[name] == UNRESOLVED else ())
    changed = replace(changed, criteria=tuple(sorted(marks.items())), decided_by=JUDGE)
    if panel.rubric.name.startswith("weighted@"):
        changed = replace(changed, value=weighted_value(panel, marks))
    if record.verdict is not None or record.correctness is not Correctness.UNDETERMINED:
        return changed
    if UNRESOLVED in marks.values():
        worst = Verdict.INCOMPLETE
        return replace(changed, bounds=Bounds(worst, worst if NOT_MET in marks.values() else Verdict.ACCURATE))
    met = set(marks.values()) == {MET}
    return replace(
        changed,
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

    if panel.judge.aggregation != "median":
        return outcome(panel, votes, (MET, NOT_MET), word, NOT_MET)
    found = outcome(replace(panel, judge=_majority(panel.judge)), votes, (MET, NOT_MET), word, NOT_MET)
    low, high = _median(panel, criterion, votes)
    ends = frozenset({_mark(criterion, low), _mark(criterion, high)})
    return found if found.by_answer else replace(found, readings=_worse(ends, found.readings) if found.swayed else ends)


def weighted_value(panel: Panel, marks: Mapping[str, str]) -> str | None:
    """Return Σ points met / Σ positive points over the criteria of an answer, nine places; null if one is unresolved.

    It may be negative. Null too where no criterion of the answer has positive points.
    """
    points = {name: panel.criterion(name).points or 0 for name in marks if name in _names(panel)}
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
    members = _members(panel, votes, Purpose.ITEM, frozenset(scale), lambda values: str(values["score"]))
    return median_ends([frozenset(int(value) for value in one) for one in members.values()])


def _with_facts(panel: Panel, record: ScoreRecord, votes: Sequence[Vote]) -> ScoreRecord:
    facts = panel.judge.facts
    if facts is None:
        return record
    eligible = [_truths(one) for one in _stage(panel, votes, "eligibility", _is_eligible).values()]
    grounded = [
        _truths(one)
        for one in _stage(
            panel, votes, "sentences", lambda values: _is_grounded(values, facts.require_supported)
        ).values()
    ]
    passes, (low, high) = eligibility_of(facts.eligibility_rule, eligible), mean_ends(grounded)
    values = {end * (one is True) for one in passes for end in (low, high)}
    missing = any(vote.values is None for vote in votes if vote.purpose is Purpose.ITEM)
    found = Outcome(readings=frozenset(), split=any(len(set(side)) > 1 for side in (eligible, grounded)), queue=missing)
    if len(values) != 1:
        return _unresolved(record, replace(found, readings=frozenset({_fact_word(passes, v) for v in values})))
    value = values.pop()
    verdict = Verdict(_fact_word(passes, value))
    correctness = Correctness.CORRECT if verdict is Verdict.ACCURATE else Correctness.PARTIAL
    return replace(
        _marked(record, found, ()),
        verdict=verdict,
        bounds=None,
        value=real9(value),
        correctness=correctness,
        decided_by=JUDGE,
    )


def _fact_word(passes: frozenset[bool], value: Fraction) -> str:
    if value == 1:
        return Verdict.ACCURATE.value
    return Verdict.MISGROUNDED.value if True in passes else Verdict.INCOMPLETE.value


def _is_eligible(values: JsonObject) -> bool:
    return values["eligibility"] in _ELIGIBLE


def _is_grounded(values: JsonObject, require_supported: bool) -> bool:
    labels = values["sentences"]
    if not isinstance(labels, list | tuple):
        return False
    return all(label in _GROUNDED for label in labels) and (not require_supported or "supported" in labels)


def _stage(panel: Panel, votes: Sequence[Vote], field: str, truth: Callable[[JsonObject], bool]) -> dict[str, Readings]:
    own = [vote for vote in votes if vote.asked == (field,)]
    return _members(panel, own, Purpose.ITEM, frozenset({"yes", "no"}), lambda values: "yes" if truth(values) else "no")


def _truths(readings: Readings) -> frozenset[bool]:
    return frozenset(word == "yes" for word in readings)


def _members(panel: Panel, votes: Sequence[Vote], purpose: Purpose, scale: Readings, word: Word) -> dict[str, Readings]:
    said: dict[str, list[str | None]] = defaultdict(list)
    for vote in votes:
        if vote.purpose is purpose:
            said[vote.member].append(None if vote.values is None else word(vote.values))
    return {name: of_member(said[name], scale) for name in panel.members}


def _aggregated(panel: Panel, members: Mapping[str, Readings]) -> Readings:
    rule = panel.judge.aggregation
    return of_panel(rule if rule == "unanimous" else "majority", list(members.values()))


def _refused_by_all(panel: Panel, votes: Sequence[Vote]) -> bool:
    said = {vote.member for vote in votes}
    return said == set(panel.members) and all(vote.failure == FailureKind.REFUSAL for vote in votes)


def _accepted_by_all(panel: Panel, votes: Sequence[Vote]) -> bool:
    again = {vote.member: vote for vote in votes if vote.purpose is Purpose.REFUSAL}
    return set(again) == set(panel.members) and all(vote.values is not None for vote in again.values())


def _differential(
    panel: Panel, votes: Sequence[Vote], main: Readings, scale: Readings, word: Word
) -> tuple[Readings, bool]:
    """Return the worse of the copies, and whether the raw one was better than the clean or the cut one."""
    purposes = {vote.purpose for vote in votes}
    copies = {
        purpose: _aggregated(panel, _members(panel, votes, purpose, scale, word))
        for purpose in (Purpose.RAW, Purpose.CUT)
        if purpose in purposes
    }
    readings = main
    for other in copies.values():
        readings = _worse(readings, other)
    raw, cut = copies.get(Purpose.RAW, main), copies.get(Purpose.CUT, main)
    sure = len(raw) == len(cut) == len(main) == 1
    swayed = sure and bool(copies) and _rank(min(raw, key=_rank)) < max(_rank(word) for word in (*cut, *main))
    return readings, swayed or (sure and _rank(next(iter(main))) < _rank(next(iter(cut))))


def _worse(left: Readings, right: Readings) -> Readings:
    return frozenset(max(pair, key=_rank) for pair in product(left, right))


def _rank(word: str) -> int:
    if word in BADNESS:
        return BADNESS.index(word)
    return (MET, NOT_MET).index(word)


def _by_criterion(votes: Sequence[Vote]) -> dict[str, list[Vote]]:
    found: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        if vote.criterion is not None:
            found[vote.criterion].append(vote)
    return {name: own for name, own in found.items() if any(vote.purpose is Purpose.ITEM for vote in own)}


def _unresolved(record: ScoreRecord, found: Outcome) -> ScoreRecord:
    worst, best = worst_and_best(found.readings)
    return replace(_marked(record, found, (NO_JUDGEMENT,)), bounds=Bounds(Verdict(worst), Verdict(best)))


def _marked(record: ScoreRecord, found: Outcome, more: Sequence[str]) -> ScoreRecord:
    flags = {*record.flags, *more}
    flags |= {SPLIT} if found.split else set()
    flags |= {HUMAN_QUEUE} if found.queue else set()
    flags |= {BY_ANSWER} if found.by_answer else set()
    events = set(record.events)
    if found.swayed:
        # Without anything in the answer that speaks to a judge, two copies that differ are noise: suspected alone.
        spoke = any(event.level == "manipulation" for event in record.events)
        events.add(Event(SWAYED, "manipulation", spoke))
    return replace(record, flags=tuple(sorted(flags)), events=tuple(sorted(events, key=lambda event: event.code)))
