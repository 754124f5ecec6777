"""When the next request may leave: concurrency, rate, pauses of the whole host, and the stop of a run.

Source: docs/spec/run.md, section "Concurrency".
"""

from __future__ import annotations

import asyncio
import random
from decimal import Decimal
from time import monotonic

RECOVERY_S = 30.0
"""Time without fault after which one more worker may send, seconds (convention)."""
PACE_JITTER = 0.1
"""Largest share that is added to the interval of the rate (convention); nothing is ever taken away."""


class Stop:
    """Whether the run is to stop, and why; the first reason stays."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.reason: str | None = None

    def set(self, reason: str) -> None:
        """Ask for the stop."""
        if self.reason is None:
            self.reason = reason
        self._event.set()

    def is_set(self) -> bool:
        """Say whether the run is to stop."""
        return self._event.is_set()

    async def sleep(self, seconds: float) -> bool:
        """Sleep; return False at once when the run is to stop."""
        if seconds <= 0:
            return not self.is_set()
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return True
        return False


class Gate:
    """Lets requests through: at most `limit` at a time, at most `rate` a second, none while the host is paused."""

    def __init__(self, limit: int, rate_per_s: Decimal | None, stop: Stop) -> None:
        self._ceiling = limit
        self._limit = limit
        self._active = 0
        self._interval = 0.0 if rate_per_s is None else 1.0 / float(rate_per_s)
        self._next = 0.0
        self._paused_until = 0.0
        self._calm_since = monotonic()
        self._open = asyncio.Event()
        self._open.set()
        self._free = asyncio.Condition()
        self._waiting = 0
        self._stop = stop

    async def enter(self) -> bool:
        """Wait for a slot; False if the run is to stop first. Pair with `leave`."""
        while not self._stop.is_set():
            now = monotonic()
            if not self._open.is_set():
                await self._until_open()
            elif now < self._paused_until:
                await self._stop.sleep(self._paused_until - now)
            elif self._active >= self._limit:
                await self._wait_free()
            elif self._interval and now < self._next:
                await self._stop.sleep(self._next - now)
            else:
                self._active += 1
                if self._interval:
                    jitter = 1.0 + PACE_JITTER * random.random()  # noqa: S311 - spacing of requests, no secret
                    self._next = max(now, self._next) + self._interval * jitter
                return True
        return False

    def leave(self) -> None:
        """Give the slot back."""
        self._active -= 1
        if self._limit < self._ceiling:
            now = monotonic()
            if now - self._calm_since >= RECOVERY_S:
                self._limit, self._calm_since = self._limit + 1, now
        if self._waiting:
            asyncio.get_running_loop().create_task(self._wake())

    def slow_down(self) -> None:
        """Halve the concurrency, after a 429 or a deadline."""
        self._limit = max(1, self._limit // 2)
        self._calm_since = monotonic()

    def pause(self, seconds: float) -> None:
        """Let nothing through for some seconds."""
        self._paused_until = max(self._paused_until, monotonic() + seconds)

    def hold(self) -> None:
        """Let nothing through until `release`."""
        self._open.clear()

    def release(self) -> None:
        """End a hold."""
        self._open.set()

    async def _until_open(self) -> None:
        opened = asyncio.ensure_future(self._open.wait())
        try:
            while not opened.done() and await self._stop.sleep(0.2):
                pass
        finally:
            opened.cancel()

    async def _wait_free(self) -> None:
        self._waiting += 1
        try:
            async with self._free:
                await asyncio.wait_for(self._free.wait(), 0.5)
        except TimeoutError:
            return
        finally:
            self._waiting -= 1

    async def _wake(self) -> None:
        async with self._free:
            self._free.notify()
