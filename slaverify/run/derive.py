"""Derives a run again from its files: outcomes, answers, versions, flags. Pure; the finaliser and `verify` share it.

What the wire saw (times, transport faults, what the control probe said) is attested by the record; everything
else follows from the bytes and the contract, and is compared with what the record says.

Source: docs/spec/run.md, section "Derivation".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, loads_jsonl
from slaverify.contract.words import VENDOR_STOP, Attribution, Outcome
from slaverify.engine import EndpointSpec, Fault, Reading
from slaverify.errors import EvidenceError, Text
from slaverify.evalset.answer import Answer
from slaverify.run.attribution import Ended, count_outcomes, end_exchange, read_attempt, tries, unsent_attribution
from slaverify.run.plan import Plan, PlannedExchange
from slaverify.run.records import (
    EXCHANGES,
    OUTCOME_KEYS,
    OUTCOMES,
    AttemptKey,
    AttemptRecord,
    line_flags,
    outcome_line,
    read_key,
    read_record,
    response_mac,
)
from slaverify.run.rules import RunRules
from slaverify.run.signals import Signal, seen, signals_of, size_of
from slaverify.run.stages import reached

MAX_LINE = 8 * 1024 * 1024
RecordFile = bytes | Sequence[JsonObject]
"""A record file: its bytes, or its lines as a strict reader of canonical lines gave them."""
_CallKey = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class DerivedExchange:
    """One planned exchange as it ended. `latency_ms` is that of the attempt that gave the answer.

    `attempts` counts those that the vendor had, none that failed by the auditor's own fault; `response_mac` is of the
    last attempt; `answer` is null where the mapping found none (and in `recorded_run`, which has no bytes).
    """

    planned: PlannedExchange
    outcome: Outcome
    attribution: Attribution
    answer: Answer | None = None
    engine_version: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    input_tokens: int | None = None
    latency_ms: int | None = None
    attempts: int = 0
    response_mac: str | None = None
    fault: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A place where the record does not say what its bytes say; `line` counts from 1, 0 for the file."""

    path: str
    line: int
    item_id: str
    key: str
    recorded: str
    derived: str


@dataclass(frozen=True, slots=True)
class DerivedRun:
    """A run as derived: exchanges by position, counts per outcome, signals, and what does not agree."""

    exchanges: tuple[DerivedExchange, ...]
    counts: Mapping[Outcome, int]
    signals: tuple[Signal, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()


def derive_outcomes(
    spec: EndpointSpec,
    rules: RunRules,
    plan: Plan,
    outcomes: RecordFile,
    exchanges: RecordFile,
) -> DerivedRun:
    """Derive a run from `run/outcomes.jsonl` and `run/exchanges.jsonl`.

    Raises: EvidenceError SLV-E041 for files that break their form (not for a false value: that is a mismatch).
    """
    key, wire_lines = _exchange_lines(exchanges)
    lines = _lines(outcomes, OUTCOMES)
    if len(lines) != len(wire_lines):
        raise _malformed(EXCHANGES, f"{len(wire_lines)} lines for {len(lines)}")
    try:
        records = [read_record(line, wire) for line, wire in zip(lines, wire_lines, strict=True)]
    except (ValueError, KeyError) as error:
        raise _malformed(EXCHANGES, str(error)) from error
    mismatches: list[Mismatch] = []
    rows = BytesIO()
    ended: dict[_CallKey, DerivedExchange] = {}
    by_call = _by_call(_ordered(lines))
    planned = {_call(exchange): exchange for exchange in plan.exchanges}
    _all_planned(by_call, planned)
    for call, numbers in by_call.items():
        group = [records[number] for number in numbers]
        recorded = [lines[number] for number in numbers]
        derived, expected, row = _derive(spec, rules, planned[call], group, recorded, key)
        ended[call] = derived
        rows.write(row)
        for number, line, again in zip(numbers, recorded, expected, strict=True):
            mismatches.extend(_compare(number + 1, line, again))
    whole = complete_run(plan, ended)
    return DerivedRun(
        whole.exchanges, whole.counts, signals_of(rows, size_of(reached(plan, ended).exchanges)), tuple(mismatches)
    )


def recorded_run(plan: Plan, outcomes: RecordFile, ceiling_ms: int | None = None) -> DerivedRun:
    """Read a run from its public lines alone: outcomes as recorded, no answers, the signals of `PUBLIC`.

    Raises: EvidenceError SLV-E041.
    """
    lines = _lines(outcomes, OUTCOMES)
    by_call = _by_call(_ordered(lines))
    planned = {_call(exchange): exchange for exchange in plan.exchanges}
    _all_planned(by_call, planned)
    rows = BytesIO()
    ended: dict[_CallKey, DerivedExchange] = {}
    for call, numbers in by_call.items():
        try:
            ended[call] = _recorded(planned[call], [lines[number] for number in numbers])
        except (ValueError, KeyError) as error:
            raise _malformed(OUTCOMES, f"{call[0]}: {error}") from error
        rows.write(seen(planned[call].position, lines[numbers[-1]], ceiling_ms=ceiling_ms))
    whole = complete_run(plan, ended)
    return DerivedRun(whole.exchanges, whole.counts, signals_of(rows, size_of(reached(plan, ended).exchanges)))


def _derive(
    spec: EndpointSpec,
    rules: RunRules,
    planned: PlannedExchange,
    records: Sequence[AttemptRecord],
    recorded: Sequence[JsonObject],
    key: bytes,
) -> tuple[DerivedExchange, list[JsonObject], bytes]:
    """Return an exchange, the lines that it should have, and its row among the signals."""
    row = seen_of(spec, rules, planned.position, records[-1], None, recorded[-1])
    if any(record.cut for record in records if spec.turns) or records[-1].cut is not None:
        # The bytes stayed in the journal: this outcome is attested, as the record says.
        return _recorded(planned, recorded), list(recorded), row
    if spec.turns and rules.conversation is None:
        # Nobody here can carry the conversation on: that takes the annex.
        return _recorded(planned, recorded), list(recorded), row
    readings = [read_attempt(spec, rules, record) for record in records]
    done = end_exchange(records, readings, rules.conversation)
    last = len(records) - 1
    expected: list[JsonObject] = []
    for index, (record, reading, line) in enumerate(zip(records, readings, recorded, strict=True)):
        ending = done.ending if index == last else None
        batch = line["batch"] if isinstance(line["batch"], int) else None
        expected.append(line if record.cut else outcome_line(record, reading, ending, batch, key))
    row = seen_of(spec, rules, planned.position, records[-1], done.last, expected[-1])
    return ended_exchange(planned, records, done, key), expected, row


def seen_of(
    spec: EndpointSpec, rules: RunRules, position: int, record: AttemptRecord, last: Reading | None, line: JsonObject
) -> bytes:
    """Return the row of an exchange among the signals, given its last attempt as the files have it."""
    if record.cut is not None or spec.turns:
        last = None
    return seen(position, line, record, last, spec.of(record.key.side).template, rules.ceiling_ms)


def ended_exchange(
    planned: PlannedExchange, records: Sequence[AttemptRecord], done: Ended, key: bytes
) -> DerivedExchange:
    """Return an exchange as it ended, given its attempts and the key of the MACs."""
    last = done.last
    attempts, retried = tries([(one.key.turn, read.fault) for one, read in zip(records, done.readings, strict=True)])
    return DerivedExchange(
        planned=planned,
        outcome=done.ending.outcome,
        attribution=done.ending.attribution,
        answer=done.answer,
        engine_version=last.version,
        fingerprint=last.fingerprint,
        response_id=last.response_id,
        input_tokens=last.input_tokens,
        latency_ms=records[-1].last_byte_ms,
        attempts=attempts,
        response_mac=response_mac(records[-1], key),
        fault=None if last.fault is None else last.fault.value,
        flags=tuple(sorted({*line_flags(records[-1], last, done.ending), *retried})),
    )


def _recorded(planned: PlannedExchange, lines: Sequence[JsonObject]) -> DerivedExchange:
    final = lines[-1]
    if any(line["outcome"] is not None for line in lines[:-1]):
        raise ValueError("an outcome before the last attempt")
    latency = final["last_byte_ms"]
    faults = (None if line["fault"] is None else Fault(str(line["fault"])) for line in lines)
    attempts, retried = tries([(read_key(line).turn, fault) for line, fault in zip(lines, faults, strict=True)])
    return DerivedExchange(
        planned=planned,
        outcome=Outcome(str(final["outcome"])),
        attribution=Attribution(str(final["attribution"])),
        engine_version=_text_or_none(final["engine_version"]),
        latency_ms=latency if isinstance(latency, int) else None,
        attempts=attempts,
        response_mac=_text_or_none(final["response_mac"]),
        fault=_text_or_none(final["fault"]),
        flags=tuple(sorted({*_texts(final["flags"]), *retried})),
    )


def complete_run(plan: Plan, ended: Mapping[_CallKey, DerivedExchange]) -> DerivedRun:
    """Return the run in plan order: what no attempt is recorded of was not sent. Asserts Σ = planned.

    A stage of which nothing was sent is no part of the run.
    """
    plan = reached(plan, ended)
    whose = unsent_of(ended.values())
    exchanges = tuple(ended.get(_call(planned)) or not_sent(planned, whose) for planned in plan.exchanges)
    return DerivedRun(exchanges, count_outcomes((one.outcome for one in exchanges), len(plan.exchanges)))


def unsent_of(ended: Iterable[DerivedExchange]) -> Attribution:
    """Return whose the exchanges are that were never sent, given all that were."""
    return unsent_attribution((None if one.fault is None else Fault(one.fault), one.attribution) for one in ended)


def not_sent(planned: PlannedExchange, whose: Attribution) -> DerivedExchange:
    """Return an exchange of which no attempt is recorded."""
    flags = (VENDOR_STOP,) if whose is Attribution.VENDOR else ()
    return DerivedExchange(planned, Outcome.NOT_SENT, whose, flags=flags)


def _compare(number: int, recorded: JsonObject, derived: JsonObject) -> list[Mismatch]:
    return [
        Mismatch(OUTCOMES, number, str(recorded["item_id"]), key, repr(recorded.get(key)), repr(derived[key]))
        for key in sorted(derived)
        if recorded.get(key) != derived[key]
    ]


def _lines(data: RecordFile, path: str) -> Sequence[JsonObject]:
    try:
        lines = loads_jsonl(data, max_line=MAX_LINE) if isinstance(data, bytes) else data
    except StrictJsonError as error:
        raise _malformed(path, str(error)) from error
    if path == OUTCOMES and any(line.keys() != OUTCOME_KEYS for line in lines):
        raise _malformed(path, "keys")
    return lines


def _exchange_lines(data: RecordFile) -> tuple[bytes, Sequence[JsonObject]]:
    lines = _lines(data, EXCHANGES)
    nonce = lines[0].get("nonce") if lines and set(lines[0]) == {"nonce"} else None
    if not isinstance(nonce, str) or len(nonce) != 64 or any(digit not in "0123456789abcdef" for digit in nonce):
        raise _malformed(EXCHANGES, "nonce")
    return bytes.fromhex(nonce), lines[1:]


def _ordered(lines: Sequence[JsonObject]) -> list[AttemptKey]:
    try:
        keys = [read_key(line) for line in lines]
    except (ValueError, KeyError) as error:
        raise _malformed(OUTCOMES, str(error)) from error
    if any(first.order >= second.order for first, second in pairwise(keys)):
        raise _malformed(OUTCOMES, "order")
    return keys


def _by_call(keys: Sequence[AttemptKey]) -> dict[_CallKey, list[int]]:
    found: dict[_CallKey, list[int]] = {}
    for number, key in enumerate(keys):
        found.setdefault((key.item_id, key.repetition, key.side), []).append(number)
    return found


def _all_planned(by_call: Mapping[_CallKey, object], planned: Mapping[_CallKey, object]) -> None:
    stray = next((call for call in by_call if call not in planned), None)
    if stray is not None:
        raise _malformed(OUTCOMES, f"{stray[0]} is not in the plan")


def _call(exchange: PlannedExchange) -> _CallKey:
    return (exchange.item_id, exchange.repetition, exchange.side)


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(str(member) for member in value) if isinstance(value, list) else ()


def _text_or_none(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _malformed(path: str, detail: str) -> EvidenceError:
    return EvidenceError(
        "SLV-E041",
        Text(f"el registro de la corrida está mal formado: {detail}", f"the record of the run is malformed: {detail}"),
        where=path,
    )
