"""The one thread that writes a journal: it groups what waits into one commit and tells the waiting afterwards.

A group is whatever arrived while the last commit ran and a moment after it (at most 64 jobs), so a lone job never
waits and a busy run pays one sync for many rows. The frequent rows of a group are one statement: each statement gives
the interpreter away and has to wait for it again.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic, sleep

from slaverify.run import schema
from slaverify.run.faults import disk_error
from slaverify.run.schema import Statement

GROUP = 64
"""Most jobs of one commit (convention)."""
SWITCH_S = 0.0002
"""How long the loop may keep the interpreter while the writer waits for it, seconds (measured: an intent waits for its
commit, and a commit for the interpreter; docs/validation/throughput.md)."""
LINGER_S = 0.002
"""How long after a commit the next one waits for company, seconds (measured there too: fewer commits, less CPU)."""


@dataclass(slots=True)
class _Job:
    statements: Sequence[Statement]
    future: asyncio.Future[None] | None = None
    then: Callable[[], None] | None = None


class Writer:
    """Writes durably from one thread; order is that of the calls. `failed` is told of what nobody waits for."""

    def __init__(
        self, connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop, failed: Callable[[BaseException], None]
    ) -> None:
        self._connection = connection
        self._loop = loop
        self._failed = failed
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._failure: sqlite3.Error | None = None
        schema.prepare_writing(connection)
        self._usual_switch_s = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_S)
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def commit(self, statements: Sequence[Statement]) -> asyncio.Future[None]:
        """Hand over rows; the future is done when they, and all that was handed over before, are durable.

        The future raises: EndpointError SLV-N032 (disk full, exit 6) or SLV-N030 (journal, exit 5).
        """
        future: asyncio.Future[None] = self._loop.create_future()
        self._queue.put(_Job(statements, future))
        return future

    def hand_over(self, statements: Sequence[Statement], then: Callable[[], None] | None = None) -> None:
        """Hand over rows that nobody waits for; `then` runs in the loop when they are durable."""
        self._queue.put(_Job(statements, then=then))

    async def close(self) -> None:
        """Wait until everything handed over is on disk, then end the thread."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        sys.setswitchinterval(self._usual_switch_s)

    def _work(self) -> None:
        last = False
        next_at = 0.0
        while not last:
            job = self._queue.get()
            if job is None:
                return
            if (early := next_at - monotonic()) > 0:
                sleep(early)
            group = [job]
            while len(group) < GROUP:
                try:
                    more = self._queue.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    last = True
                    break
                group.append(more)
            self._write(group)
            next_at = monotonic() + LINGER_S
            self._loop.call_soon_threadsafe(self._tell, group, self._failure)

    def _write(self, group: Sequence[_Job]) -> None:
        if self._failure is not None:
            return
        execute, statements = self._connection.execute, _joined(group)
        # One statement alone is a transaction by itself, and the interpreter changes hands once instead of three times.
        several = len(statements) > 1
        try:
            if several:
                execute("BEGIN IMMEDIATE")
            for sql, values in statements:
                execute(sql, values)
            if several:
                execute("COMMIT")
        except sqlite3.Error as error:
            self._failure = error
            if self._connection.in_transaction:
                self._connection.rollback()

    def _tell(self, group: Sequence[_Job], failure: sqlite3.Error | None) -> None:
        for job in group:
            if failure is None and job.then is not None:
                try:
                    job.then()
                except Exception as raised:  # noqa: BLE001 - noted; the others must be told too
                    self._failed(raised)
            if job.future is None:
                if failure is not None:
                    self._failed(disk_error(failure))
            elif not job.future.done():
                if failure is None:
                    job.future.set_result(None)
                else:
                    job.future.set_exception(disk_error(failure))


def _joined(group: Sequence[_Job]) -> list[Statement]:
    """Return the statements of a group with the frequent ones in one; no job of a group depends on another one."""
    rows: dict[str, list[Sequence[object]]] = {sql: [] for sql in schema.TOGETHER}
    others: list[Statement] = []
    for job in group:
        for sql, values in job.statements:
            if sql in rows:
                rows[sql].append(values)
            else:
                others.append((sql, values))
    given = [(sql, values) for sql, found in rows.items() for values in found]
    return [*([schema.together(given)] if given else []), *others]
