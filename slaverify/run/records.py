"""One attempt as recorded, and its line of `run/outcomes.jsonl` and of `run/exchanges.jsonl`. Pure.

Source: docs/spec/run.md, section "Files".
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.words import Attribution, Outcome
from slaverify.engine import ATTESTED, Fault, Reading, Received
from slaverify.run.rules import moment, stamp

OUTCOMES = "run/outcomes.jsonl"
EXCHANGES = "run/exchanges.jsonl"
PLAN = "run/plan.json"
SIZE_STEP = 256
"""Sizes are shown rounded up to this many bytes, so that they tell no answer."""

ATTESTED_FLAGS = frozenset({"secret_echo"})
"""Flags that the recorded bytes no longer show."""


@dataclass(frozen=True, slots=True)
class AttemptKey:
    """Which attempt: `turn` from 0, `attempt` from 1. Files are in this order."""

    item_id: str
    repetition: int
    side: str
    turn: int
    attempt: int

    @property
    def order(self) -> tuple[str, int, str, int, int]:
        """Return the sort key of the files."""
        return (self.item_id, self.repetition, self.side, self.turn, self.attempt)


@dataclass(frozen=True, slots=True)
class Cut:
    """A response that is kept elsewhere: its size in bytes and its keyed digest."""

    size: int
    mac: str


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """What was recorded of one attempt: what happened on the wire, and the bytes. Times in ms, bytes raw.

    `wire_fault` is a fault of the wire; faults of the content are derived. `probe` is what the control probe
    said of a transport fault (from the files: the attribution of the line, which it decided).
    """

    key: AttemptKey
    started_at: str
    ended_at: str | None
    first_byte_ms: int | None
    last_byte_ms: int | None
    status: int | None
    wire_fault: Fault | None
    headers: Mapping[str, str]
    request: bytes
    response: bytes | None
    peer: str | None = None
    spki: str | None = None
    probe: Attribution | None = None
    attested: tuple[str, ...] = ()
    cut: Cut | None = None

    def received(self) -> Received:
        """Return what the engine room reads."""
        return Received(self.status, self.headers, self.response or b"", self.wire_fault, self.last_byte_ms)


@dataclass(frozen=True, slots=True)
class Ending:
    """How the exchange of a last attempt ended.

    `extra` are flags of the exchange as a whole; `trace_sha256` the last hash of its trace, where it has turns.
    """

    outcome: Outcome
    attribution: Attribution
    extra: tuple[str, ...] = field(default=())
    trace_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """The times of an attempt as its line has them: end in UTC, milliseconds from the first request byte."""

    ended_at: str | None
    first_byte_ms: int | None
    last_byte_ms: int | None


def timed(started_at: str, start_ns: int, first_ns: int | None, end_ns: int | None) -> Times:
    """Return the times of an attempt from its monotonic marks (nanoseconds)."""
    spent = None if end_ns is None else max(0, end_ns - start_ns) // 1_000_000
    return Times(
        ended_at=None if spent is None else stamp(moment(started_at) + timedelta(milliseconds=spent)),
        first_byte_ms=None if first_ns is None else max(0, first_ns - start_ns) // 1_000_000,
        last_byte_ms=spent,
    )


def keyed(key: bytes, data: bytes | None) -> str | None:
    """Return the HMAC-SHA-256 of recorded bytes, hex; null for none. Source: RFC 2104."""
    return None if data is None else hmac.digest(key, data, "sha256").hex()


def outcome_line(
    record: AttemptRecord, reading: Reading, ending: Ending | None, batch: int | None, key: bytes
) -> JsonObject:
    """Return the line of `run/outcomes.jsonl`; `ending` is null on an attempt that another one followed."""
    cut = record.cut
    return {
        "item_id": record.key.item_id,
        "repetition": record.key.repetition,
        "side": record.key.side,
        "turn": record.key.turn,
        "attempt": record.key.attempt,
        "batch": batch,
        "started_at": record.started_at,
        "ended_at": record.ended_at,
        "first_byte_ms": record.first_byte_ms,
        "last_byte_ms": record.last_byte_ms,
        "status": record.status,
        "fault": None if reading.fault is None else reading.fault.value,
        "flags": list(line_flags(record, reading, ending)),
        "outcome": None if ending is None else ending.outcome.value,
        "attribution": None if ending is None else ending.attribution.value,
        "trace_sha256": None if ending is None else ending.trace_sha256,
        "request_size": rounded(len(record.request)),
        "response_size": None if record.response is None and cut is None else rounded(_size(record)),
        "request_mac": keyed(key, record.request),
        "response_mac": response_mac(record, key),
        "engine_version": reading.version,
    }


def line_flags(record: AttemptRecord, reading: Reading, ending: Ending | None) -> tuple[str, ...]:
    """Return the flags of an attempt, sorted."""
    return tuple(sorted({*reading.flags, *record.attested, *(() if ending is None else ending.extra)}))


def response_mac(record: AttemptRecord, key: bytes) -> str | None:
    """Return the keyed digest of a response, also of one that is kept elsewhere; null for none."""
    return record.cut.mac if record.cut is not None else keyed(key, record.response)


OUTCOME_KEYS = frozenset(
    {
        *("item_id", "repetition", "side", "turn", "attempt", "batch", "started_at", "ended_at", "first_byte_ms"),
        *("last_byte_ms", "status", "fault", "flags", "outcome", "attribution", "trace_sha256", "request_size"),
        *("response_size", "request_mac", "response_mac", "engine_version"),
    }
)
EXCHANGE_KEYS = frozenset(
    {
        *("item_id", "repetition", "side", "turn", "attempt", "request", "response", "status", "headers", "cut"),
        *("peer", "spki"),
    }
)


def rounded(size: int) -> int:
    """Return a size in bytes, rounded up to the step."""
    return -(-size // SIZE_STEP) * SIZE_STEP


def _size(record: AttemptRecord) -> int:
    return record.cut.size if record.cut is not None else len(record.response or b"")


def exchange_line(record: AttemptRecord) -> JsonObject:
    """Return the line of `run/exchanges.jsonl`."""
    return {
        "item_id": record.key.item_id,
        "repetition": record.key.repetition,
        "side": record.key.side,
        "turn": record.key.turn,
        "attempt": record.key.attempt,
        "request": base64.b64encode(record.request).decode("ascii"),
        "response": None if record.response is None else base64.b64encode(record.response).decode("ascii"),
        "status": record.status,
        "headers": dict(record.headers),
        "cut": None if record.cut is None else {"size": record.cut.size, "mac": record.cut.mac},
        "peer": record.peer,
        "spki": record.spki,
    }


def read_record(outcome: JsonObject, exchange: JsonObject) -> AttemptRecord:
    """Rebuild an attempt from its two lines; what can be derived is left to be derived.

    Raises: ValueError if a line breaks its form, or the two do not name the same attempt.
    """
    if outcome.keys() != OUTCOME_KEYS or exchange.keys() != EXCHANGE_KEYS:
        raise ValueError("keys")
    key = read_key(outcome)
    if key != read_key(exchange) or outcome["status"] != exchange["status"]:
        raise ValueError("the two lines name different attempts")
    fault = None if outcome["fault"] is None else Fault(_text(outcome["fault"]))
    flags = outcome["flags"]
    return AttemptRecord(
        key=key,
        started_at=_text(outcome["started_at"]),
        ended_at=None if outcome["ended_at"] is None else _text(outcome["ended_at"]),
        first_byte_ms=_count_or_none(outcome["first_byte_ms"]),
        last_byte_ms=_count_or_none(outcome["last_byte_ms"]),
        status=_count_or_none(outcome["status"]),
        wire_fault=fault if fault in ATTESTED else None,
        headers=_headers(exchange["headers"]),
        request=_decode(exchange["request"]),
        response=None if exchange["response"] is None else _decode(exchange["response"]),
        peer=None if exchange["peer"] is None else _text(exchange["peer"]),
        spki=None if exchange["spki"] is None else _text(exchange["spki"]),
        probe=None if outcome["attribution"] is None else Attribution(_text(outcome["attribution"])),
        attested=tuple(
            flag
            for flag in (flags if isinstance(flags, list) else [])
            if isinstance(flag, str) and flag in ATTESTED_FLAGS
        ),
        cut=_cut(exchange["cut"]),
    )


def read_key(line: JsonObject) -> AttemptKey:
    """Return which attempt a line is of. Raises: ValueError, KeyError."""
    turn, attempt = _count(line["turn"]), _count(line["attempt"])
    if attempt < 1:
        raise ValueError("attempt")
    return AttemptKey(_text(line["item_id"]), _count(line["repetition"]), _text(line["side"]), turn, attempt)


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise ValueError("text expected")
    return value


def _count(value: JsonValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("count expected")
    return value


def _count_or_none(value: JsonValue) -> int | None:
    return None if value is None else _count(value)


def _headers(value: JsonValue) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError("headers")
    return {name: _text(text) for name, text in value.items()}


def _cut(value: JsonValue) -> Cut | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != {"size", "mac"}:
        raise ValueError("cut")
    return Cut(_count(value["size"]), _text(value["mac"]))


def _decode(value: JsonValue) -> bytes:
    try:
        return base64.b64decode(_text(value), validate=True)
    except binascii.Error as error:
        raise ValueError("base64") from error
