"""What custody needs from elsewhere: clock and timestamps. Implemented by other rooms and handed in.

Source: RFC 3161 (timestamps).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Returns the present, aware, in UTC."""


@dataclass(frozen=True, slots=True)
class TokenTime:
    """What a verified RFC 3161 token says: an aware UTC time, and its accuracy in milliseconds (0: none stated)."""

    at: datetime
    accuracy_ms: int

    @property
    def earliest(self) -> datetime:
        """The earliest moment that the token is compatible with."""
        return self.at - timedelta(milliseconds=self.accuracy_ms)


class Timestamper(Protocol):
    """Asks a time-stamping authority."""

    def stamp(self, data: bytes) -> bytes:
        """Return a whole RFC 3161 reply (the bytes of a `.tsr` file) over SHA-256 of `data`.

        Raises: SlaverifyError, exit code 6, if no authority answers with a valid token.
        """


class TimestampVerifier(Protocol):
    """Verifies a time-stamping reply, offline."""

    def time(self, data: bytes, tsr: bytes, roots_pem: Sequence[str]) -> TokenTime:
        """Return the time of a token over `data` that chains to one of the roots.

        Raises: SlaverifyError if it is not one.
        """
