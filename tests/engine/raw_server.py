"""A raw-socket server that replays the scripts of the endpoint vectors: it reads no prose and knows no HTTP library."""

from __future__ import annotations

import base64
import gzip
import json
import select
import socket
import ssl
import struct
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime


class Cancelled(Exception):
    """The test is over."""


class Connection:
    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.buffer = b""
        self.chunked = False
        self.close_framed = False

    def send(self, data: bytes) -> None:
        try:
            self.sock.sendall(data)
        except OSError:
            return

    def close(self, *, reset: bool = False) -> None:
        try:
            if reset:
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.sock.close()
        except OSError:
            return


class RawServer:
    """Plays one script. `requests` holds the bytes of each whole request, in order."""

    def __init__(
        self, script: list[dict], *, substitutions: dict[str, str] | None = None, tls=None, listen=True
    ) -> None:
        self.script = script
        self.substitutions = substitutions or {}
        self.tls = tls
        self.requests: list[bytes] = []
        self.times: list[float] = []
        self.failure: BaseException | None = None
        self.finished = threading.Event()
        self._stop = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(True)
        self.port = self._listener.getsockname()[1]
        if not listen:
            self._listener.close()
            self.script = []
        self._open: list[Connection] = []
        self._named: dict[str, Connection] = {}
        self._loops: dict[int, int] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> RawServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(10)
        for connection in self._open:
            connection.close()
        self._listener.close()
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        try:
            index = 0
            while index < len(self.script):
                index = self._step(index)
        except Cancelled:
            pass
        except BaseException as error:  # noqa: BLE001 - handed to the test
            self.failure = error
        finally:
            self.finished.set()

    def _step(self, index: int) -> int:
        step = self.script[index]
        operation = step["op"]
        if operation == "accept":
            self._named[step["conn"]] = self._accept()
        elif operation == "send_head":
            self._head(index, step)
        elif operation == "send_body":
            self._body(step)
        elif operation == "end":
            connection = self._named[step["conn"]]
            if connection.chunked:
                connection.send(b"0\r\n\r\n")
                connection.chunked = False
            elif connection.close_framed:
                connection.close()
        elif operation == "delay":
            if self._stop.wait(step["seconds"]):
                raise Cancelled
        elif operation in ("close", "reset"):
            self._named[step["conn"]].close(reset=operation == "reset")
        elif operation == "repeat":
            return self._repeat(index, step)
        else:
            raise AssertionError(operation)
        return index + 1

    def _repeat(self, index: int, step: dict) -> int:
        if step["times"] is None:
            return step["from"]
        self._loops[index] = self._loops.get(index, 0) + 1
        if self._loops[index] <= step["times"]:
            return step["from"]
        return index + 1

    def _accept(self) -> Connection:
        while not self._stop.is_set():
            live = [one for one in self._open if one.sock.fileno() >= 0]
            ready, _, _ = select.select([self._listener, *(one.sock for one in live)], [], [], 0.05)
            if self._listener in ready:
                self._take_connection()
            for connection in live:
                pending = isinstance(connection.sock, ssl.SSLSocket) and connection.sock.pending()
                if connection.sock in ready or pending:
                    try:
                        data = connection.sock.recv(65536)
                    except OSError:
                        data = b""
                    if not data:
                        connection.close()
                        self._open.remove(connection)
                        continue
                    connection.buffer += data
                if self._whole(connection):
                    return connection
            self._open = [one for one in self._open if one.sock.fileno() >= 0]
        raise Cancelled

    def _take_connection(self) -> None:
        sock, _ = self._listener.accept()
        if self.tls is not None:
            context = self.tls(len(self.requests) + 1)
            sock.settimeout(5)
            try:
                sock = context.wrap_socket(sock, server_side=True)
            except (OSError, ssl.SSLError):
                sock.close()
                return
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open.append(Connection(sock))

    def _whole(self, connection: Connection) -> bool:
        head, separator, rest = connection.buffer.partition(b"\r\n\r\n")
        if not separator:
            return False
        length = 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = int(value)
        if len(rest) < length:
            return False
        self.requests.append(head + separator + rest[:length])
        self.times.append(time.monotonic())
        connection.buffer = rest[length:]
        return True

    def _head(self, index: int, step: dict) -> None:
        connection = self._named[step["conn"]]
        lines = [f"HTTP/1.1 {step['status']} X"]
        lines += [f"{name}: {self._text(value)}" for name, value in step["headers"]]
        if step.get("date_offset_s") is not None:
            moment = datetime.now(UTC) + timedelta(seconds=step["date_offset_s"])
            lines.append("Date: " + format_datetime(moment, usegmt=True))
        connection.chunked = step["framing"] == "chunked"
        connection.close_framed = step["framing"] == "close"
        if step["framing"] == "length":
            declared = step.get("declared_length")
            lines.append(f"Content-Length: {self._ahead(index) if declared is None else declared}")
        elif connection.chunked:
            lines.append("Transfer-Encoding: chunked")
        else:
            lines.append("Connection: close")
        connection.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")

    def _ahead(self, index: int) -> int:
        name, total = self.script[index]["conn"], 0
        for step in self.script[index + 1 :]:
            if step.get("conn") == name and step["op"] == "send_body":
                total += len(self._bytes(step))
            elif step.get("conn") == name and step["op"] != "send_body":
                break
        return total

    def _body(self, step: dict) -> None:
        connection, data = self._named[step["conn"]], self._bytes(step)
        if connection.chunked:
            data = f"{len(data):x}\r\n".encode() + data + b"\r\n" if data else b""
        connection.send(data)

    def _bytes(self, step: dict) -> bytes:
        encode = step.get("encode", "utf-8")
        if "base64" in step:
            return base64.b64decode(step["base64"])
        if "json" in step:
            text = self._text(json.dumps(step["json"], ensure_ascii=False))
        elif "text" in step:
            text = self._text(step["text"])
        else:
            text = "".join(self._text(part["text"]) * part["repeat"] for part in step["parts"])
        if encode == "gzip":
            return gzip.compress(text.encode("utf-8"), 9, mtime=0)
        return text.encode(encode)

    def _text(self, text: str) -> str:
        for name, value in {**self.substitutions, "request": str(len(self.requests))}.items():
            text = text.replace("{" + name + "}", value)
        return text


class SilentListener:
    """A second origin that must never get a byte."""

    def __init__(self) -> None:
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]

    def connections(self) -> int:
        count = 0
        self.sock.setblocking(False)
        while True:
            try:
                self.sock.accept()
            except OSError:
                return count
            count += 1

    def __enter__(self) -> SilentListener:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()


class ControlServer:
    """A control URL: answers every GET with 204, or drops it."""

    def __init__(self, behaviour: str) -> None:
        self.behaviour = behaviour
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.requests: list[bytes] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def _run(self) -> None:
        while True:
            try:
                sock, _ = self.sock.accept()
            except OSError:
                return
            with sock:
                sock.settimeout(2)
                try:
                    self.requests.append(sock.recv(65536))
                    if self.behaviour == "ok":
                        sock.sendall(b"HTTP/1.1 204 X\r\nConnection: close\r\n\r\n")
                except OSError:
                    continue

    def close(self) -> None:
        self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()
