"""The calls of a run, in their order, as a pure function of contract, answers, sentinels and what came so far.

1 the whole sentinel set three times (the baseline), and trivial answers to some of the questions; 2 the answers,
with one sentinel after every so many calls; 3 where every member refused an answer, the same with the reference in its
place; 4 repeats, differential copies, counterfactuals and shadows; 5 the whole sentinel set once more. Samples are
drawn by the run's key.

Source: docs/spec/judging.md sections 6 and 7.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from hashlib import sha256
from itertools import cycle

from slaverify.canonical import jcs
from slaverify.contract import Contract
from slaverify.judging.answers import (
    Ask,
    GivenAnswer,
    asks_of,
    cut_of,
    shadow_of,
    with_cited_texts,
    with_text,
    words_of_reference,
)
from slaverify.judging.prompt import Case, Instrument
from slaverify.judging.records import CallId, Purpose
from slaverify.judging.sentinels import BASELINE_PASSES, Sentinel, case_of_sentinel
from slaverify.judging.trivial import MOST as MOST_TRIVIAL
from slaverify.judging.trivial import tried, trivial_texts

CLEAN, RAW, CUT, FALSE_TEXT, REFERENCE, SHADOW = "clean", "raw", "cut", "false_text", "reference", "shadow"
LARGEST_REPEATS = 60
"""Answers that are repeated where the contract says no number (convention)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call that is due. `subject`: item or sentinel id; `settled`: what code found, for a shadow.

    `trivial`: the name of an answer that knows nothing.
    """

    id: CallId
    purpose: Purpose
    subject: str
    repetition: int
    side: str
    case: Case
    settled: tuple[tuple[str, str], ...] | None = None
    trivial: str | None = None

    @property
    def answer_key(self) -> tuple[str, int, str]:
        """The key of the score record that it is about."""
        return self.subject, self.repetition, self.side


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """All that may be asked in one run. `false_texts`: for some asks, the official text of another item."""

    contract: Contract
    instrument: Instrument
    sentinels: tuple[Sentinel, ...]
    asks: tuple[Ask, ...]
    shadows: tuple[Ask, ...]


def work_of(
    contract: Contract, instrument: Instrument, answers: Iterable[GivenAnswer], sentinels: tuple[Sentinel, ...]
) -> Work:
    """Return what may be asked of a run's answers, in the order of their records."""
    known = with_cited_texts(sorted(answers, key=lambda answer: answer.key))
    asks = tuple(ask for answer in known for ask in asks_of(contract, instrument, answer))
    settled = [ask for answer in known if (ask := shadow_of(contract, instrument, answer)) is not None]
    share = instrument.judge.differential.random_share
    return Work(
        contract=contract,
        instrument=instrument,
        sentinels=sentinels,
        asks=asks,
        shadows=tuple(_sample(instrument, "shadow", settled, _part(share, len(settled)))),
    )


def baseline_calls(work: Work) -> list[Call]:
    """Return the calls before the first answer."""
    return [call for vote in range(BASELINE_PASSES) for call in _pass(work, vote)]


def trivial_calls(work: Work) -> list[Call]:
    """Return the calls on trivial answers, before the first answer of the run."""
    asks = tried(work.asks)
    keys = list(dict.fromkeys(ask.answer.key for ask in asks))
    ranked = sorted(keys, key=lambda key: _draw(work.instrument, "trivial", "/".join(map(str, key))))
    drawn = set(ranked[:MOST_TRIVIAL])
    chosen = [ask for ask in asks if ask.answer.key in drawn]
    calls: list[Call] = []
    for name, ask, text in trivial_texts(chosen, work.instrument.language):
        case = with_text(ask.case, text, work.instrument)
        if ask.case.sentences and not case.sentences:
            continue  # nothing to label
        calls += [replace(call, trivial=name) for call in _votes(work, ask, Purpose.TRIVIAL, case, name, range(1))]
    return calls


def answer_calls(work: Work) -> list[Call]:
    """Return the calls that decide, each answer's members and votes together, with sentinels in between."""
    calls: list[Call] = []
    since, number = 0, 0
    turning = cycle(_turned(work)) if work.sentinels else None
    seen: set[CallId] = set()
    for ask in work.asks:
        for call in _votes(work, ask, Purpose.ITEM, ask.case, CLEAN, range(work.instrument.judge.votes)):
            calls.append(call)
            since += call.id not in seen
            seen.add(call.id)
            if turning is not None and since >= work.instrument.judge.sentinels.every:
                since = 0
                calls += _sentinel_calls(work, next(turning), BASELINE_PASSES + number)
                number += 1
    return calls


def refusal_calls(work: Work, refused: Sequence[Ask]) -> list[Call]:
    """Return, for each answer that every member refused, the calls with the reference in its place."""
    return [
        call
        for ask in refused
        for call in _votes(work, ask, Purpose.REFUSAL, _referenced(work, ask), REFERENCE, range(1))
    ]


def watching_calls(work: Work) -> list[Call]:
    """Return the calls that decide nothing by themselves: repeats, differential, counterfactual, shadow."""
    judge = work.instrument.judge
    calls: list[Call] = []
    for ask in repeated(work):
        votes = range(judge.votes, judge.votes + judge.repeats.per_item - 1)
        calls += _votes(work, ask, Purpose.REPEAT, ask.case, CLEAN, votes)
    for ask in differential(work):
        for purpose, copy, case in _copies(work, ask):
            calls += _votes(work, ask, purpose, case, copy, range(1))
    for ask, case in counterfactual(work):
        calls += _votes(work, ask, Purpose.COUNTERFACTUAL, case, FALSE_TEXT, range(1))
    for ask in work.shadows:
        record = ask.answer.record
        code = {"correctness": record.correctness.value, "grounding": record.grounding.value}
        own = tuple((field, code[field]) for field in ask.case.asks)
        calls += [replace(call, settled=own) for call in _votes(work, ask, Purpose.SHADOW, ask.case, SHADOW, range(1))]
    return calls


def closing_calls(work: Work) -> list[Call]:
    """Return the calls after the last answer; their vote is beyond any of the rotation."""
    during = sum(call.purpose is Purpose.SENTINEL for call in answer_calls(work))
    return list(_pass(work, BASELINE_PASSES + during))


def repeated(work: Work) -> list[Ask]:
    """Return the asks that are repeated."""
    size = work.instrument.judge.repeats.sample
    return _sample(work.instrument, "repeats", work.asks, LARGEST_REPEATS if size is None else size)


def differential(work: Work) -> list[Ask]:
    """Return the asks that are judged as raw and as cut copy too: the flagged ones and a random share."""
    share = _part(work.instrument.judge.differential.random_share, len(work.asks))
    chosen = {id(ask) for ask in _sample(work.instrument, "differential", work.asks, share)}
    return [ask for ask in work.asks if ask.answer.flagged or id(ask) in chosen]


def counterfactual(work: Work) -> list[tuple[Ask, Case]]:
    """Return some asks with the official text of another item, which makes a right answer wrong."""
    share = _part(work.instrument.judge.differential.counterfactual_share, len(work.asks))
    chosen = _sample(work.instrument, "counterfactual", work.asks, share)
    texts = sorted({ask.case.official_text for ask in work.asks})
    found = []
    for ask in chosen:
        own = texts.index(ask.case.official_text)
        if len(texts) > 1:
            found.append((ask, replace(ask.case, official_text=texts[(own + 1) % len(texts)])))
    return found


def _copies(work: Work, ask: Ask) -> Iterator[tuple[Purpose, str, Case]]:
    # An identical copy would be one more repeat: noise, and no sign of an influence.
    raw = with_text(ask.case, ask.answer.raw_text or "", work.instrument)
    if raw.digest != ask.case.digest:
        yield Purpose.RAW, RAW, raw
    without = with_text(ask.case, cut_of(ask.answer), work.instrument)
    if without.digest != ask.case.digest and (without.sentences or not ask.case.sentences):
        yield Purpose.CUT, CUT, without


def _referenced(work: Work, ask: Ask) -> Case:
    return with_text(ask.case, words_of_reference(ask.answer.item), work.instrument)


def _votes(work: Work, ask: Ask, purpose: Purpose, case: Case, copy: str, votes: range) -> list[Call]:
    item, repetition, side = ask.answer.key
    return [
        Call(
            id=_call_id(case, member.id, vote, copy),
            purpose=purpose,
            subject=item,
            repetition=repetition,
            side=side,
            case=case,
        )
        for member in work.instrument.judge.panel
        for vote in votes
    ]


def _pass(work: Work, vote: int) -> Iterator[Call]:
    for sentinel in work.sentinels:
        yield from _sentinel_calls(work, sentinel, vote)


def _sentinel_calls(work: Work, sentinel: Sentinel, vote: int) -> list[Call]:
    case = case_of_sentinel(sentinel, work.instrument)
    return [
        Call(
            id=_call_id(case, member.id, vote, CLEAN),
            purpose=Purpose.SENTINEL,
            subject=sentinel.id,
            repetition=0,
            side="current",
            case=case,
        )
        for member in work.instrument.judge.panel
    ]


def _call_id(case: Case, member: str, vote: int, copy: str) -> CallId:
    criterion = None if case.criterion is None else case.criterion.id
    return CallId(case=case.digest, member=member, criterion=criterion, vote=vote, copy=copy)


def _turned(work: Work) -> list[Sentinel]:
    return sorted(work.sentinels, key=lambda one: _draw(work.instrument, "rotation", one.id))


def _sample(instrument: Instrument, what: str, asks: Sequence[Ask], size: int) -> list[Ask]:
    """Return `size` of the asks, drawn by the run's key, in their own order."""
    ranked = sorted(range(len(asks)), key=lambda at: (_draw(instrument, what, asks[at].case.digest), at))
    return [asks[at] for at in sorted(ranked[: max(size, 0)])]


def _part(share: Decimal, of: int) -> int:
    return int((share * of).to_integral_value(ROUND_CEILING))


def _draw(instrument: Instrument, what: str, name: str) -> bytes:
    return hmac.new(instrument.run_key, jcs({"draw": what, "of": name}), sha256).digest()
