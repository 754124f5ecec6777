"""Collects finished exchanges into batches and gets each one into the ledger, exactly once.

A batch is a stretch of plan positions that are all done, so that the journal's `first` and `last` say what it
holds. Its row is durable before the ledger entry, the entry's number after it.

Source: docs/spec/run.md, section "Batches".
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import monotonic
from typing import Protocol

from slaverify.canonical import JsonObject
from slaverify.run import schema
from slaverify.run.batches import PERIOD_S, SIZE, Batch, make_batch
from slaverify.run.schema import Statement
from slaverify.run.stored import Stretches
from slaverify.run.writer import Writer

TOGETHER = 16
"""Most batches whose rows share a commit (convention): a fast run would else finish more than it can register."""


class LedgerPort(Protocol):
    """Where batches are registered. Called from a thread, one call at a time."""

    def on_batch(self, batch: Batch) -> int:
        """Append the entry of a batch and return its sequence number."""

    def find_batch(self, number: int) -> int | None:
        """Return the sequence number of a batch that the ledger already holds, None if it does not."""


class Batcher:
    """Takes the lines of finished exchanges by position; `pump` writes what is due."""

    def __init__(
        self, writer: Writer, ledger: LedgerPort, number: int, previous_root: str | None, held: Stretches
    ) -> None:
        """Begin at batch `number`; `held` are the positions that earlier batches hold."""
        self._writer = writer
        self._ledger = ledger
        self._number = number
        self._previous = previous_root
        self._held = held
        self._batched: set[int] = set()
        self._waiting: dict[int, Sequence[JsonObject]] = {}
        self._oldest = monotonic()
        self._low = held.first_free()
        self._lock = asyncio.Lock()

    def add(self, position: int, lines: Sequence[JsonObject]) -> None:
        """Take the lines of an exchange that is durable and done."""
        if not self._waiting:
            self._oldest = monotonic()
        self._waiting[position] = lines

    def due(self) -> bool:
        """Say whether a batch can be written now."""
        if not self._waiting:
            return False
        if monotonic() - self._oldest >= PERIOD_S:
            return True
        return len(self._waiting) >= SIZE and len(self._front(SIZE)) >= SIZE

    async def pump(self, *, everything: bool = False) -> None:
        """Write the batches that are due, or all that is finished. Raises what the ledger raises."""
        async with self._lock:
            while len(front := self._front(SIZE * TOGETHER)) >= SIZE:
                whole = len(front) - len(front) % SIZE
                await self._write([front[start : start + SIZE] for start in range(0, whole, SIZE)])
            if everything or (self._waiting and monotonic() - self._oldest >= PERIOD_S):
                stretches = _stretches(sorted(self._waiting))
                for start in range(0, len(stretches), TOGETHER):
                    await self._write(stretches[start : start + TOGETHER])

    def _front(self, most: int) -> list[int]:
        while self._low in self._batched or self._held.number_of(self._low) is not None:
            self._batched.discard(self._low)
            self._low += 1
        found: list[int] = []
        position = self._low
        while position in self._waiting and len(found) < most:
            found.append(position)
            position += 1
        return found

    async def _write(self, stretches: Sequence[Sequence[int]]) -> None:
        batches: list[Batch] = []
        rows: list[Statement] = []
        for number, positions in enumerate(stretches, self._number):
            lines = [{**line, "batch": number} for position in positions for line in self._waiting[position]]
            batch = make_batch(number, positions, lines)
            rows.append((schema.BATCH, (number, batch.first, batch.last, batch.root, self._previous)))
            batches.append(batch)
            self._previous = batch.root
        await self._writer.commit(rows)
        sequences = await asyncio.to_thread(lambda: [self._ledger.on_batch(batch) for batch in batches])
        await self._writer.commit(
            [(schema.BATCH_SEQ, (seq, batch.number)) for seq, batch in zip(sequences, batches, strict=True)]
        )
        for positions in stretches:
            for position in positions:
                del self._waiting[position]
                self._batched.add(position)
        self._number += len(batches)
        self._oldest = monotonic()


def _stretches(positions: Sequence[int]) -> list[list[int]]:
    """Return the runs of consecutive positions, none longer than a batch."""
    found: list[list[int]] = []
    for position in positions:
        if found and found[-1][-1] + 1 == position and len(found[-1]) < SIZE:
            found[-1].append(position)
        else:
            found.append([position])
    return found
