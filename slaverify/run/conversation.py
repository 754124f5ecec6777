"""Exchanges of several turns: the port through which somebody else says what is sent next, and how it ended. Pure.

The runner knows neither tools nor questions: it sends what it is given, records what comes, and asks again. The same
port, fed with the recorded bytes, gives the same turns and the same ending when a run is derived again.

Source: docs/spec/run.md, section "Turns".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from slaverify.canonical import JsonObject, sha256_hex
from slaverify.contract.words import Outcome
from slaverify.engine import Reading

if TYPE_CHECKING:
    from slaverify.run.records import AttemptRecord


@dataclass(frozen=True, slots=True)
class Call:
    """Which planned exchange a conversation is of."""

    item_id: str
    repetition: int
    side: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What came in one turn: its last attempt. `at` in UTC; digests of the bytes, hex."""

    turn: int
    reading: Reading
    at: str
    request_sha256: str
    response_sha256: str


class Concluded(Protocol):
    """How a conversation ended."""

    @property
    def outcome(self) -> Outcome:
        """Return its outcome."""

    @property
    def trace(self) -> bytes:
        """Return its trace, JSON Lines."""

    @property
    def trace_sha256(self) -> str:
        """Return the last hash of the trace, hex."""


class Conversation(Protocol):
    """Says what follows what came. Both methods depend on nothing but their arguments."""

    def package(self, call: Call, replies: Sequence[Reply]) -> JsonObject | None:
        """Return the query package of the next turn, None where the conversation is over."""

    def conclude(self, call: Call, replies: Sequence[Reply]) -> Concluded:
        """Return how it ended; the last reply may be one that broke the conversation off."""


class ToolProbe(Protocol):
    """Asks the public probe with tools on offer, before anything private."""

    def package(self, query: str) -> JsonObject:
        """Return the query package of the probe."""

    def called(self, reading: Reading) -> bool:
        """Say whether a reply holds a call that the tools could carry out."""


def replies_of(records: Sequence[AttemptRecord], readings: Sequence[Reading]) -> tuple[Reply, ...]:
    """Return the reply of each turn: its last attempt, in order."""
    last: dict[int, Reply] = {}
    for record, reading in zip(records, readings, strict=True):
        last[record.key.turn] = Reply(
            turn=record.key.turn,
            reading=reading,
            at=record.ended_at or record.started_at,
            request_sha256=sha256_hex(record.request),
            response_sha256=sha256_hex(record.response or b""),
        )
    return tuple(last[turn] for turn in sorted(last))


def call_of(record: AttemptRecord) -> Call:
    """Return which exchange an attempt is of."""
    return Call(record.key.item_id, record.key.repetition, record.key.side)
