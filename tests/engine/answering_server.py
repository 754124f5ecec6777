"""An HTTP server over asyncio streams in a thread: answers by a function of the request, and keeps what it saw."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Seen:
    """One request: its raw bytes, its JSON body, and how often this body came before."""

    raw: bytes
    body: dict
    again: int


@dataclass
class Reply:
    """What the server does: status and JSON body, raw bytes in their place, or a dropped connection."""

    body: object = None
    status: int = 200
    delay_s: float = 0.0
    raw: bytes | None = None
    drop: bool = False
    headers: tuple[tuple[str, str], ...] = ()


Behaviour = Callable[[Seen], Reply]


def answer(text: str, version: str = "engine-x@1") -> Reply:
    return Reply({"answer": text, "version": version})


@dataclass
class AnsweringServer:
    behaviour: Behaviour
    seen: list[Seen] = field(default_factory=list)

    def __enter__(self) -> AnsweringServer:
        self._ready = threading.Event()
        self._counts: dict[bytes, int] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._client, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._done.wait()
        server.close()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        data = await reader.readexactly(length)
        again = self._counts.get(data, 0)
        self._counts[data] = again + 1
        seen = Seen(head + data, json.loads(data) if data else {}, again)
        self.seen.append(seen)
        reply = self.behaviour(seen)
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if reply.drop:
            return False
        if reply.raw is not None:
            writer.write(reply.raw)
            await writer.drain()
            return False
        body = json.dumps(reply.body, ensure_ascii=False).encode()
        lines = [f"HTTP/1.1 {reply.status} X", "Content-Type: application/json", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in reply.headers]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()
        return True
