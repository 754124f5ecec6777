"""A wire in a process of its own: where a core is free, what the run does meanwhile lengthens no latency.

Reading, journal and batches keep a processor busy; an answer that came meanwhile would be noted when it is looked at,
not when it came. So the process that talks to the endpoint does nothing else, and its clock marks are those of the
record (one monotonic clock for all processes of a machine).

Frames: four bytes of length, then a tuple in the marshal format; both ends are this program. A request is
(number, body, extra headers, side), a result (number, fields of `WireResult`), (number,) withdraws a request.

Source: docs/spec/run.md, section "Wire reader".
"""

from __future__ import annotations

import asyncio
import marshal
import os
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import fields
from operator import attrgetter
from time import sleep
from types import TracebackType
from typing import Any

from slaverify.engine import Fault, Wire, WireRequest, WireResult
from slaverify.run.faults import relay_error
from slaverify.run.forks import close_all_but, ended, forked

Made = Callable[[], AbstractAsyncContextManager[Wire]]
"""Opens a wire inside the loop that will use it."""

# Numbers, texts, bytes, null, and tuples or lists of these.
_Frame = tuple[Any, ...]
_HEAD = 4
_PATIENCE_S = 2.0
"""How long the process may take to close its connections, seconds (convention)."""
_FIELDS = tuple(one.name for one in fields(WireResult))
_FAULT = _FIELDS.index("fault")
_values = attrgetter(*_FIELDS)


class Relay:
    """The process and our end of it. `with` it before a loop or a thread of the run begins, `async with` it inside."""

    def __init__(self, made: Made) -> None:
        self._made = made
        self._pid = 0
        self._number = 0
        self._waiting: dict[int, asyncio.Future[WireResult]] = {}
        self._frames: _Frames | None = None
        self._socket: socket.socket | None = None

    def __enter__(self) -> Relay:
        ours, theirs = socket.socketpair()

        def work() -> None:
            close_all_but(theirs.fileno())
            # The keyboard interrupts a whole group of processes: when to stop is for the run to say.
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)
            asyncio.run(_serve(theirs, self._made))

        self._pid = forked(work)
        theirs.close()
        self._socket = ours
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._socket is not None:
            self._socket.close()
        for _ in range(int(_PATIENCE_S / 0.01)):
            if ended(self._pid, wait=False):
                return
            sleep(0.01)
        os.kill(self._pid, signal.SIGKILL)
        ended(self._pid)

    async def __aenter__(self) -> Relay:
        loop = asyncio.get_running_loop()
        _, self._frames = await loop.create_connection(lambda: _Frames(self._told, self._lost), sock=self._socket)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._frames is not None:
            self._frames.close()

    async def send(self, request: WireRequest) -> WireResult:
        """Send one request and return what came back, as a `Wire` does.

        Raises: EndpointError SLV-N038 if the process has ended: what it had under way is not known.
        """
        if self._frames is None or self._frames.is_lost:
            raise relay_error()
        number = self._number = self._number + 1
        future: asyncio.Future[WireResult] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self._frames.write((number, request.body, request.extra_headers, request.side))
        try:
            return await future
        finally:
            del self._waiting[number]
            if future.cancelled():
                self._frames.write((number,))

    def _told(self, told: _Frame) -> None:
        number, *values = told
        future = self._waiting.get(number)
        if future is None or future.done():
            return
        if values[_FAULT] is not None:
            values[_FAULT] = Fault(values[_FAULT])
        future.set_result(WireResult(*values))

    def _lost(self) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(relay_error())


class _Frames(asyncio.Protocol):
    """Cuts what comes over the pair of sockets into frames, and writes them."""

    _transport: asyncio.Transport

    def __init__(self, take: Callable[[_Frame], None], lost: Callable[[], None]) -> None:
        self._take = take
        self._on_loss = lost
        self._buffer = bytearray()
        self.is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a stream socket has no other
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        buffer, start = self._buffer, 0
        buffer += data
        while len(buffer) - start >= _HEAD:
            first = start + _HEAD
            end = first + int.from_bytes(buffer[start:first], "big")
            if end > len(buffer):
                break
            self._take(marshal.loads(buffer[first:end]))  # noqa: S302 - the other end is a fork of this process
            start = end
        del buffer[:start]

    def connection_lost(self, error: Exception | None) -> None:
        self.is_lost = True
        self._on_loss()

    def close(self) -> None:
        self._transport.close()

    def write(self, frame: _Frame) -> None:
        data = marshal.dumps(frame)
        self._transport.write(len(data).to_bytes(_HEAD, "big") + data)


async def _serve(theirs: socket.socket, made: Made) -> None:
    """Carry requests until the other end closes."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    tasks: dict[int, asyncio.Task[None]] = {}
    async with made() as wire:

        async def carry(number: int, body: bytes, extra: tuple[tuple[str, str], ...], side: str) -> None:
            result = await wire.send(WireRequest(body, extra, side))
            values = list(_values(result))
            values[_FAULT] = None if result.fault is None else result.fault.value
            frames.write((number, *values))

        def settled(number: int, task: asyncio.Task[None]) -> None:
            del tasks[number]
            if not task.cancelled() and task.exception() is not None:
                # A wire never raises. Where it does, the run must not wait for ever, nor go on as if nothing were.
                os._exit(1)

        def take(told: _Frame) -> None:
            number, *rest = told
            if rest:
                task = tasks[number] = loop.create_task(carry(number, *rest))
                task.add_done_callback(lambda task: settled(number, task))
            elif (withdrawn := tasks.get(number)) is not None:
                withdrawn.cancel()

        _, frames = await loop.create_connection(lambda: _Frames(take, over.set), sock=theirs)
        await over.wait()
        for task in tasks.values():
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks.values(), return_exceptions=True)
