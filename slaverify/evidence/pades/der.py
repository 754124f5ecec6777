"""Strict DER, as little of it as a signature's frame needs: read a value whole, and write one.

Source: ITU-T X.690 (definite, shortest lengths; single-byte tags).
"""

from __future__ import annotations

from typing import NamedTuple

SEQUENCE = 0x30
SET = 0x31
OCTETS = 0x04
INTEGER = 0x02
CONTEXT_0 = 0xA0
CONTEXT_1 = 0xA1


class DerError(ValueError):
    """Bytes that are no strict DER."""


class Value(NamedTuple):
    """One value: its tag byte, its content, and all its bytes."""

    tag: int
    content: bytes
    whole: bytes


def first(data: bytes) -> Value:
    """Return the value at the start of `data`; bytes may follow. Raises: DerError."""
    if len(data) < 2 or data[0] & 0x1F == 0x1F:
        raise DerError("tag")
    length, start = data[1], 2
    if length >= 0x80:
        count = length & 0x7F
        if not 1 <= count <= 4 or len(data) < 2 + count:
            raise DerError("length")
        length, start = int.from_bytes(data[2 : 2 + count], "big"), 2 + count
    end = start + length
    whole = data[:end]
    if len(data) < end or whole != encode(data[0], data[start:end]):
        raise DerError("length")
    return Value(data[0], data[start:end], whole)


def only(data: bytes, tag: int | None = None) -> Value:
    """Return the one value that `data` is, with the tag expected. Raises: DerError."""
    value = first(data)
    if len(value.whole) != len(data) or (tag is not None and value.tag != tag):
        raise DerError("bytes after the value, or another tag")
    return value


def children(content: bytes, limit: int = 64) -> list[Value]:
    """Return the values that follow one another in `content`, at most `limit`. Raises: DerError."""
    out: list[Value] = []
    while content:
        if len(out) >= limit:
            raise DerError("too many values")
        value = first(content)
        out.append(value)
        content = content[len(value.whole) :]
    return out


def encode(tag: int, content: bytes) -> bytes:
    """Return the DER of one value."""
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(length))) + length + content
