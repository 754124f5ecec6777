"""One exchange from intent to ending: what is written when, what is sent, what follows.

Order, carried out in `Sender.exchange`: (1) a slot of the gate; (2) the intent, durable; (3) the request; (4) the
reading; (5) the result, durable, together with the ending if there is one; (6) the wait, the park or the stop.

Source: docs/spec/run.md, sections "Journal" and "Retries".
"""

from __future__ import annotations

import json
import random
import secrets as randomness
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache, partial
from time import monotonic_ns

from slaverify.canonical import JsonObject, jcs, sha256_hex
from slaverify.contract.words import Attribution, Outcome
from slaverify.engine import (
    IDENTITY,
    TRANSPORT,
    EndpointSpec,
    Fault,
    Reading,
    Received,
    RequestIds,
    Retry,
    Wire,
    WireRequest,
    WireResult,
    attribution_of,
    kept_headers,
    next_step,
    outcome_of,
    retry_class,
)
from slaverify.engine.retry import Move, Step, backoff_s
from slaverify.engine.wire import Secrets
from slaverify.run import schema
from slaverify.run.attribution import Ended, end_exchange, read_attempt, read_received
from slaverify.run.control import ControlProbe
from slaverify.run.conversation import Call, call_of, replies_of
from slaverify.run.pace import Gate, Stop
from slaverify.run.records import AttemptKey, AttemptRecord, Times, outcome_line, timed
from slaverify.run.rules import RunRules, stamp
from slaverify.run.schema import Statement
from slaverify.run.stored import JournalExchange
from slaverify.run.writer import Writer

AUDITOR_TRIES = 5
"""Most attempts of one exchange that may fail by the auditor's own fault before it is left to the bounds."""


@dataclass(slots=True)
class Outbox:
    """One exchange under way: what was sent so far and what it meant."""

    row: JournalExchange
    body: bytes
    digest: str
    readings: list[Reading] = field(default_factory=list)
    turn: int = 0

    @property
    def records(self) -> list[AttemptRecord]:
        """Return its attempts so far."""
        return self.row.records

    def of_turn(self) -> list[tuple[AttemptRecord, Reading]]:
        """Return the attempts of the turn under way."""
        if not self.readings:
            return []
        pairs = zip(self.records, self.readings, strict=True)
        return [(record, reading) for record, reading in pairs if record.key.turn == self.turn]


class Chance:
    """Random 128-bit values, drawn from the system in blocks: one call for each would cost more than the request."""

    def __init__(self) -> None:
        self._left: list[str] = []

    def token(self) -> str:
        """Return 32 random hex digits that nobody got before."""
        if not self._left:
            block = randomness.token_hex(16 * 256)
            self._left = [block[start : start + 32] for start in range(0, len(block), 32)]
        return self._left.pop()


@dataclass(slots=True)
class Sender:
    """Sends the exchanges of one run. `finished` is called when an ending is durable."""

    spec: EndpointSpec
    rules: RunRules
    wire: Wire
    secrets: Secrets
    writer: Writer
    gate: Gate
    control: ControlProbe
    stop: Stop
    clock: Callable[[], datetime]
    queries: Mapping[str, JsonObject]
    may_send: Callable[[], bool]
    finished: Callable[[Outbox, Ended], None]
    fault_seen: Callable[[Fault], None]
    chance: Chance = field(default_factory=Chance)

    async def exchange(self, row: JournalExchange) -> float | None:
        """Carry one exchange as far as it goes; seconds to park it, or None."""
        box = self._outbox(row)
        while True:
            if not await self.gate.enter():
                return None
            try:
                if not self.may_send():
                    return None
                step = await self._attempt(box)
            finally:
                self.gate.leave()
            if step.move is Move.PARK:
                return step.wait_s
            if step.move in (Move.DONE, Move.STOP) or not await self.stop.sleep(step.wait_s):
                return None

    def _outbox(self, row: JournalExchange) -> Outbox:
        readings = [read_attempt(self.spec, self.rules, record) for record in row.records]
        if row.records:
            # All attempts of a turn send the same bytes, also after a kill.
            box = Outbox(row, row.records[-1].request, "", readings, row.records[-1].key.turn)
            box.digest = sha256_hex(box.body)
            self._next_turn(box)
            return box
        package: JsonObject | None = self.queries.get(row.item_id)
        if self.rules.conversation is not None:
            package = self.rules.conversation.package(Call(row.item_id, row.repetition, row.side), ())
        assert package is not None  # noqa: S101 - checked before the run began
        body = self._rendered(package, row.side)
        return Outbox(row, body, sha256_hex(body), readings)

    def _rendered(self, package: JsonObject, side: str) -> bytes:
        return self.spec.of(side).template.render(package, RequestIds(self.chance.token(), self.chance.token()))

    def _next_turn(self, box: Outbox) -> bool:
        """Go on to the turn that follows the last reply; say whether there is one."""
        conversation, last = self.rules.conversation, box.readings[-1]
        if conversation is None or last.turn is None:
            return False
        package = conversation.package(call_of(box.records[-1]), replies_of(box.records, box.readings))
        if package is None:
            return False
        box.turn += 1
        box.body = self._rendered(package, box.row.side)
        box.digest = sha256_hex(box.body)
        return True

    async def _attempt(self, box: Outbox) -> Step:
        row, number = box.row, len(box.of_turn()) + 1
        started, start_ns = self.clock(), monotonic_ns()
        intent: list[Statement] = [
            (schema.INTENT, (row.exchange_id, box.turn, number, stamp(started), start_ns, box.digest)),
            (schema.IN_FLIGHT, (row.exchange_id,)),
        ]
        if number == 1:
            intent.insert(0, (schema.BODY, (box.digest, box.body)))
        row.state = "in_flight"
        await self.writer.commit(intent)
        key = self.spec.idempotency_header
        # A turn is a request of its own: under one key a gateway would give the reply of the first again.
        name = f"{row.exchange_id}-{box.turn}" if box.turn else row.exchange_id
        extra = () if key is None else ((key, name),)
        result = await self.wire.send(WireRequest(box.body, extra, row.side))
        start_ns = result.sent_ns or result.started_ns
        started_at = stamp(self.clock() - timedelta(microseconds=(monotonic_ns() - start_ns) // 1000))
        times = timed(started_at, start_ns, result.first_byte_ns, result.ended_ns)
        received = self._received(result, times)
        reading = read_received(self.spec.of(row.side), self.rules, received, started_at, times.ended_at)
        whose = await self._whose(reading)
        record = AttemptRecord(
            key=AttemptKey(row.item_id, row.repetition, row.side, box.turn, number),
            started_at=started_at,
            ended_at=times.ended_at,
            first_byte_ms=times.first_byte_ms,
            last_byte_ms=received.latency_ms,
            status=result.status,
            wire_fault=result.fault,
            headers=received.headers,
            request=box.body,
            response=None if result.status is None else received.body,
            peer=result.peer,
            spki=result.spki,
            probe=whose,
            attested=("secret_echo",) if received.body != result.body else (),
        )
        box.records.append(record)
        box.readings.append(reading)
        step = self._step(box)
        return await self._write(box, result, (started_at, start_ns), step)

    def _received(self, result: WireResult, times: Times) -> Received:
        """Return what came back as it is kept and read: the secret redacted."""
        kept = kept_headers(result.headers, self.spec.kept_headers)
        return Received(
            status=result.status,
            headers={name: self.secrets.redact_text(value) for name, value in kept.items()},
            body=self.secrets.redact(result.body),
            fault=result.fault,
            latency_ms=None if result.fault is not None else times.last_byte_ms,
        )

    async def _whose(self, reading: Reading) -> Attribution:
        if reading.fault is not None:
            self.fault_seen(reading.fault)
        if reading.fault in TRANSPORT:
            whose = await self.control.attribute()
            return attribution_of(outcome_of(reading, whose))
        return attribution_of(reading.outcome)

    def _step(self, box: Outbox) -> Step:
        record, reading = box.records[-1], box.readings[-1]
        if reading.fault is None:
            # A complete answer is never asked for again.
            return Step(Move.DONE)
        if retry_class(reading.fault) is Retry.STOP:
            self.stop.set("engine_mismatch" if reading.fault in IDENTITY else str(reading.fault))
            return Step(Move.STOP)
        jitter = random.random()  # noqa: S311 - spreads retries, no secret
        if reading.fault is Fault.PLUGIN:
            # The answer came and our plug-in cannot read it: to ask again would be a second try.
            return Step(Move.DONE)
        if record.probe is Attribution.AUDITOR:
            own = sum(
                1
                for one, read in box.of_turn()
                if one.probe is Attribution.AUDITOR and read.fault is not Fault.INTERRUPTED
            )
            spent = own >= AUDITOR_TRIES
            return Step(Move.DONE) if spent else Step(Move.WAIT, backoff_s(self.spec.call, own, jitter))
        faults = [read.fault for one, read in box.of_turn() if one.probe is not Attribution.AUDITOR]
        step = next_step(self.spec.call, faults, record.status, record.headers, jitter)
        if reading.fault in (Fault.RATE_LIMITED, Fault.DEADLINE):
            self.gate.slow_down()
            if reading.fault is Fault.RATE_LIMITED and step.move is Move.WAIT:
                # The host as a whole is over its rate: another worker would only trip the limit again.
                self.gate.pause(step.wait_s)
        return step

    async def _write(self, box: Outbox, result: WireResult, marks: tuple[str, int], step: Step) -> Step:
        statements = self._rows(box, result, marks, step)
        row = box.row
        if step.move is Move.DONE and self._next_turn(box):
            await self.writer.commit(statements)
            return Step(Move.WAIT)
        final = step.move is Move.DONE or (step.move is Move.STOP and box.readings[-1].fault in IDENTITY)
        if final:
            ended = end_exchange(box.records, box.readings, self.rules.conversation)
            statements.append((schema.STATE, ("done", ended.ending.outcome.value, None, row.exchange_id)))
            row.state, row.outcome = "done", ended.ending.outcome
            # Not awaited: the next intent is queued behind it, so it is durable before another byte leaves.
            self.writer.hand_over(statements, partial(self.finished, box, ended))
            return step
        if step.move is Move.PARK:
            not_before = stamp(self.clock() + timedelta(seconds=step.wait_s))
            statements.append((schema.STATE, ("parked", None, not_before, row.exchange_id)))
            row.state = "parked"
        elif step.move is Move.STOP:
            statements.append((schema.STATE, ("planned", None, None, row.exchange_id)))
            row.state = "planned"
        await self.writer.commit(statements)
        return step

    def _rows(self, box: Outbox, result: WireResult, marks: tuple[str, int], step: Step) -> list[Statement]:
        record, reading, row = box.records[-1], box.readings[-1], box.row
        digest = None if record.response is None else sha256_hex(record.response)
        statements: list[Statement] = []
        if digest is not None:
            statements.append((schema.BODY, (digest, record.response)))
        values = (
            marks[0],
            marks[1],
            result.first_byte_ns,
            result.ended_ns,
            result.status,
            _as_json(tuple(record.headers.items())),
            result.wire_bytes,
            len(result.body),
            digest,
            result.framing,
            None if reading.fault is None else reading.fault.value,
            step.wait_s if step.move in (Move.WAIT, Move.PARK) else None,
            result.peer,
            result.spki,
            None if record.probe is None else record.probe.value,
            row.exchange_id,
            record.key.turn,
            record.key.attempt,
        )
        statements.append((schema.RESULT, values))
        if record.attested:
            key = record.key
            detail = jcs({"exchange_id": row.exchange_id, "turn": key.turn, "attempt": key.attempt}).decode("utf-8")
            statements.append((schema.EVENT, (marks[0], "secret_echo", detail)))
        return statements


@lru_cache(maxsize=64)
def _as_json(headers: tuple[tuple[str, str], ...]) -> str:
    """Return headers as a row keeps them; most responses of a run have the same ones."""
    return json.dumps(dict(headers), ensure_ascii=False, sort_keys=True)


def exchange_lines(records: Sequence[AttemptRecord], ended: Ended, batch: int | None, key: bytes) -> list[JsonObject]:
    """Return the lines of one exchange that has ended."""
    last = len(records) - 1
    return [
        outcome_line(record, reading, ended.ending if index == last else None, batch, key)
        for index, (record, reading) in enumerate(zip(records, ended.readings, strict=True))
    ]


def ending_now(spec: EndpointSpec, rules: RunRules, records: Sequence[AttemptRecord]) -> Ended | None:
    """Return how an exchange ends if nothing more is sent; None if nothing was."""
    if not records:
        return None
    return end_exchange(records, [read_attempt(spec, rules, record) for record in records], rules.conversation)


def outcome_now(spec: EndpointSpec, rules: RunRules, row: JournalExchange) -> Outcome:
    """Return the outcome of an exchange if nothing more is sent."""
    if row.outcome is not None:
        return row.outcome
    ended = ending_now(spec, rules, row.records)
    return Outcome.NOT_SENT if ended is None else ended.ending.outcome
