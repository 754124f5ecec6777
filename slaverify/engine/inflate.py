"""Inflates a response within a cap: what would grow beyond it is never held. Stands on the edge to the vendor.

Source: RFC 1952 (gzip, members in sequence), RFC 9110 8.4.
"""

from __future__ import annotations

import zlib

_GZIP = 16 + zlib.MAX_WBITS


class InflateError(ValueError):
    """The bytes are no gzip stream."""


class Inflater:
    """Collects a body of at most `cap` bytes; `encoded` says whether it is gzip."""

    def __init__(self, cap: int, *, encoded: bool) -> None:
        self._cap = cap
        self._chunks: list[bytes] = []
        self._decoder = zlib.decompressobj(_GZIP) if encoded else None
        self.size = 0
        self.overflow = False

    def feed(self, data: bytes) -> None:
        """Take bytes of the wire. Sets `overflow` at the cap. Raises: InflateError."""
        if self._decoder is None:
            self._keep(data)
            return
        try:
            while data and not self.overflow:
                if self._decoder.eof:
                    self._decoder = zlib.decompressobj(_GZIP)
                self._keep(self._decoder.decompress(data, self._cap - self.size + 1))
                data = self._decoder.unused_data if self._decoder.eof else self._decoder.unconsumed_tail
        except zlib.error as error:
            raise InflateError(str(error)) from error

    def finish(self) -> bytes:
        """Return the whole body. Raises: InflateError if the stream did not end."""
        if self._decoder is not None and not self._decoder.eof:
            raise InflateError("the gzip stream is not complete")
        return self.partial()

    def partial(self) -> bytes:
        """Return what there is so far."""
        return b"".join(self._chunks)

    def _keep(self, data: bytes) -> None:
        room = self._cap - self.size
        if len(data) > room:
            data, self.overflow = data[:room], True
        self._chunks.append(data)
        self.size += len(data)
