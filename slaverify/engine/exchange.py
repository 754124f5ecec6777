"""What goes out and what comes back in one attempt, as values; the wire fills them, everybody else reads them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from slaverify.engine.faults import Fault


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request as it is sent: the body, the headers that vary with the exchange, and which version it goes to."""

    body: bytes
    extra_headers: tuple[tuple[str, str], ...] = ()
    side: str = "current"


@dataclass(slots=True)
class WireResult:
    """What one attempt gave. Times are monotonic nanoseconds, sizes bytes; None: that point was not reached.

    `body` is raw and inflated, cut at the cap; `framing` is `length`, `chunked` or `close`; `spki` the SHA-256
    of the server's public key, hex.
    """

    started_ns: int
    sent_ns: int | None = None
    first_byte_ns: int | None = None
    ended_ns: int = 0
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    wire_bytes: int = 0
    framing: str | None = None
    fault: Fault | None = None
    detail: str = ""
    peer: str | None = None
    spki: str | None = None
    tls_version: str | None = None
    marks: list[str] = field(default_factory=list)

    @property
    def latency_ms(self) -> int | None:
        """Return the time from the first request byte to the last byte, in whole milliseconds."""
        return None if self.sent_ns is None else (self.ended_ns - self.sent_ns) // 1_000_000


class Wire(Protocol):
    """Whatever can carry a request to the endpoint: the one place where the HTTP client can be replaced."""

    async def send(self, request: WireRequest) -> WireResult:
        """Send one request and return what came back; a fault is a value, never an exception."""


def kept_headers(headers: Iterable[tuple[str, str]], allowed: frozenset[str]) -> dict[str, str]:
    """Return the headers that the record keeps, names in lower case; different values of one name are joined."""
    found: dict[str, list[str]] = {}
    for name, value in headers:
        key = name.lower()
        if key in allowed and value not in found.setdefault(key, []):
            found[key].append(value)
    return {key: ", ".join(values) for key, values in sorted(found.items())}
