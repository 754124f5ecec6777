"""What a journal holds, as values, and an attempt read from its row."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, repeat

from slaverify.contract.words import Attribution, Outcome
from slaverify.engine import ATTESTED, Fault
from slaverify.run.faults import journal_error
from slaverify.run.records import AttemptKey, AttemptRecord, timed


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What a journal is of: identity and digests, as the contract and the ledger have them."""

    run_id: str
    contract_digest: str
    bank_digest: str
    sample_sha256: str
    plan_sha256: str
    method_digest: str
    product_version: str
    started_at: str


@dataclass(slots=True)
class JournalExchange:
    """One exchange as the journal has it; `records` are its attempts so far (loaded where it is not done)."""

    exchange_id: str
    item_id: str
    repetition: int
    side: str
    position: int
    state: str
    outcome: Outcome | None
    not_before: datetime | None
    records: list[AttemptRecord]


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """An attempt with the exchange that it is of; `outcome` is null while that is not done."""

    exchange_id: str
    position: int
    outcome: Outcome | None
    record: AttemptRecord


@dataclass(frozen=True, slots=True)
class PendingBatch:
    """A batch row; `ledger_seq` null until the ledger has it."""

    number: int
    first: int
    last: int
    root: str
    ledger_seq: int | None


class Stretches:
    """Which batch holds a position: batches are disjoint stretches of positions."""

    def __init__(self, batches: Sequence[PendingBatch]) -> None:
        self._sorted = sorted(batches, key=lambda batch: batch.first)
        self._starts = [batch.first for batch in self._sorted]

    def number_of(self, position: int) -> int | None:
        """Return the number of the batch that holds a position; None if none does."""
        index = bisect_right(self._starts, position) - 1
        if index < 0 or position > self._sorted[index].last:
            return None
        return self._sorted[index].number

    def first_free(self) -> int:
        """Return the lowest position that no batch holds."""
        low = 0
        for batch in self._sorted:
            if batch.first > low:
                break
            low = max(low, batch.last + 1)
        return low


@dataclass(frozen=True, slots=True)
class Summary:
    """What a journal says, counted from rows: `in_doubt` are intents without result."""

    planned: int
    done: int
    to_do: int
    in_doubt: int
    attempts: int
    outcomes: Mapping[Outcome, int]
    state: str

    def every_outcome(self) -> Iterator[Outcome]:
        """Return the outcome of each exchange that is done."""
        return chain.from_iterable(repeat(outcome, count) for outcome, count in self.outcomes.items())


def record_of_row(row: Sequence[object], echoed: frozenset[tuple[str, int, int]]) -> AttemptRecord:
    """Return an attempt as recorded; `echoed` are the (exchange id, turn, number) whose bytes were redacted."""
    exchange_id, item, repetition, side, turn, number, started, start_ns, first_ns, end_ns = row[:10]
    status, headers, fault, attribution, peer, spki, request, response = row[10:]
    known = None if fault is None else Fault(str(fault))
    times = timed(
        str(started),
        _int(start_ns),
        None if first_ns is None else _int(first_ns),
        None if end_ns is None else _int(end_ns),
    )
    kept: dict[str, str] = json.loads(str(headers)) if headers is not None else {}
    return AttemptRecord(
        key=AttemptKey(str(item), _int(repetition), str(side), _int(turn), _int(number)),
        started_at=str(started),
        ended_at=times.ended_at,
        first_byte_ms=times.first_byte_ms,
        last_byte_ms=None if known in ATTESTED else times.last_byte_ms,
        status=None if status is None else _int(status),
        wire_fault=known if known in ATTESTED else None,
        headers=kept,
        request=request if isinstance(request, bytes) else b"",
        response=response if isinstance(response, bytes) else None,
        peer=None if peer is None else str(peer),
        spki=None if spki is None else str(spki),
        probe=None if attribution is None else Attribution(str(attribution)),
        attested=("secret_echo",) if (str(exchange_id), _int(turn), _int(number)) in echoed else (),
    )


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise journal_error("un número falta", "a number is missing")
    return value
