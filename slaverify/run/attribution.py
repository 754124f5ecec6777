"""How an exchange ended and whose that is: from its attempts to one outcome. Pure.

Every planned exchange ends as exactly one outcome; the sum is asserted, so no failure leaves the denominator.

Source: docs/spec/run.md, section "Outcomes".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from slaverify.contract.words import UNATTRIBUTED_RETRY, Attribution, Outcome
from slaverify.engine import (
    OURS,
    STOPPING,
    TRANSPORT,
    EndpointSpec,
    Fault,
    Reading,
    Received,
    attribution_of,
    outcome_of,
    read_response,
)
from slaverify.evalset.answer import Answer
from slaverify.run.conversation import Conversation, call_of, replies_of
from slaverify.run.records import AttemptRecord, Ending
from slaverify.run.rules import RunRules


@dataclass(frozen=True, slots=True)
class Ended:
    """One exchange as it ended: what each attempt meant, and the ending of the last one."""

    readings: tuple[Reading, ...]
    ending: Ending
    answer: Answer | None

    @property
    def last(self) -> Reading:
        """Return the reading that decided."""
        return self.readings[-1]


def read_attempt(spec: EndpointSpec, rules: RunRules, record: AttemptRecord) -> Reading:
    """Return what one attempt meant, with the flags that its time gives it."""
    return read_received(spec.of(record.key.side), rules, record.received(), record.started_at, record.ended_at)


def read_received(
    spec: EndpointSpec, rules: RunRules, received: Received, started_at: str, ended_at: str | None
) -> Reading:
    """Return what a response meant that came between two moments (RFC 3339), with the flags that they give it."""
    reading = read_response(spec, received)
    if rules.window is not None and rules.outside(started_at, ended_at):
        reading = replace(reading, flags=tuple(sorted({*reading.flags, "outside_window"})))
    return reading


def end_exchange(
    records: Sequence[AttemptRecord], readings: Sequence[Reading], conversation: Conversation | None = None
) -> Ended:
    """Return how an exchange ended, given all its attempts in order (at least one).

    In a conversation the text of the answer is its trace, and the loop decides what a whole reply is worth. A body
    cut after answer text had arrived marks the exchange: the answer of a later attempt is a second try.
    """
    last, record = readings[-1], records[-1]
    outcome = outcome_of(last, record.probe)
    extra = ("cut_body",) if any("cut_body" in reading.flags for reading in readings[:-1]) else ()
    answer, trace = last.answer, None
    if conversation is not None:
        concluded = conversation.conclude(call_of(record), replies_of(records, readings))
        answer, trace = Answer(concluded.trace.decode("utf-8")), concluded.trace_sha256
        outcome = outcome if last.turn is None else concluded.outcome
    if answer is not None:
        flags = tuple(sorted({*answer.flags, *last.flags, *extra, *record.attested}))
        answer = answer if flags == answer.flags else replace(answer, flags=flags)
    return Ended(tuple(readings), Ending(outcome, attribution_of(outcome), extra, trace), answer)


def tries(attempts: Sequence[tuple[int, Fault | None]]) -> tuple[int, tuple[str, ...]]:
    """Return how many attempts an exchange took, given turn and fault of each, and the flag that this gives it.

    One, and one more for each repeated one. What failed by the auditor's own fault is no attempt of the vendor's.
    """
    turns = [turn for turn, fault in attempts if fault not in OURS]
    count = len(turns) - len(set(turns)) + 1 if turns else 0
    earlier = [fault for _, fault in attempts[:-1] if fault is not None and fault not in OURS]
    broken = bool(earlier) and all(fault in TRANSPORT for fault in earlier)
    return count, (UNATTRIBUTED_RETRY,) if broken else ()


def unsent_attribution(endings: Iterable[tuple[Fault | None, Attribution]]) -> Attribution:
    """Return whose the exchanges are that were never sent: the vendor's if its fault stopped the run.

    `endings` are fault and attribution of the last attempt of each exchange.
    """
    stopped = any(fault in STOPPING and whose is Attribution.VENDOR for fault, whose in endings)
    return Attribution.VENDOR if stopped else Attribution.AUDITOR


def count_outcomes(outcomes: Iterable[Outcome], planned: int) -> dict[Outcome, int]:
    """Return the number of exchanges per outcome, every outcome named.

    Raises: AssertionError if the sum is not the number of planned exchanges.
    """
    counted: Mapping[Outcome, int] = Counter(outcomes)
    counts = {outcome: counted.get(outcome, 0) for outcome in Outcome}
    if sum(counts.values()) != planned:
        raise AssertionError(f"{sum(counts.values())} outcomes for {planned} planned exchanges")
    return counts
