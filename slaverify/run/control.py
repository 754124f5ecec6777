"""Tells a fault of ours from one of theirs: asks two control URLs of independent hosts after a transport fault.

Source: docs/spec/run.md, section "Control probe".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

from slaverify.contract.words import Attribution
from slaverify.run.pace import Gate, Stop

PERIOD_S = 10.0
"""At most one probe in this time, seconds (convention)."""
RED_LIMIT_S = 900.0
"""Longest that a run waits for its own network before it stops, resumable, seconds (convention)."""

ProbeCall = Callable[[], Awaitable[tuple[bool, ...]]]
"""Asks the control URLs and says of each whether it answered."""


class ControlProbe:
    """Attributes transport faults; while both controls fail, all workers pause."""

    def __init__(self, ask: ProbeCall | None, gate: Gate, stop: Stop, note: Callable[[tuple[bool, ...]], None]) -> None:
        """Take the probe (None: the contract names no control URLs) and a place to record each answer."""
        self._ask = ask
        self._gate = gate
        self._stop = stop
        self._note = note
        self._lock = asyncio.Lock()
        self._asked_at = float("-inf")
        self._answers: tuple[bool, ...] = ()
        self._watch: asyncio.Task[None] | None = None

    async def attribute(self) -> Attribution:
        """Say whose a transport fault is that just happened."""
        if self._ask is None:
            return Attribution.UNRESOLVED
        answers = await self._fresh()
        if all(answers):
            return Attribution.VENDOR
        if any(answers):
            return Attribution.UNRESOLVED
        if self._watch is None or self._watch.done():
            self._gate.hold()
            self._watch = asyncio.create_task(self._until_green())
        return Attribution.AUDITOR

    async def close(self) -> None:
        """End the watch."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)

    async def _fresh(self) -> tuple[bool, ...]:
        async with self._lock:
            if self._ask is not None and monotonic() - self._asked_at >= PERIOD_S:
                self._answers = await self._ask()
                self._asked_at = monotonic()
                self._note(self._answers)
            return self._answers

    async def _until_green(self) -> None:
        began = monotonic()
        while await self._stop.sleep(PERIOD_S):
            if all(await self._fresh()):
                break
            if monotonic() - began > RED_LIMIT_S:
                self._stop.set("network")
        self._gate.release()
