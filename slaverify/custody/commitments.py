"""Item bytes, salts, commitments and leaves: what binds a sealed item to a public line without telling it.

HMAC-SHA-256 with a fixed key of 32 bytes binds and hides; `openssl dgst -sha256 -mac HMAC -macopt hexkey:…`
checks it by hand.

Source: RFC 2104 (HMAC), RFC 8785 (JCS), docs/spec/bank.md.
"""

from __future__ import annotations

import hmac
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from slaverify.canonical import JsonObject, StrictJsonError, jcs, loads_object
from slaverify.custody.faults import fault
from slaverify.errors import Text

MAX_DEPTH = 64
"""Depth of an item part."""
MAX_ITEM_BYTES = 1024 * 1024
"""Bytes of query and reference together."""


class Part(StrEnum):
    """One half of a sealed item."""

    QUERY = "query"
    REFERENCE = "reference"


def item_bytes(data: bytes, where: str = "") -> bytes:
    """Return the canonical bytes of one item part that arrives as JSON text. Raises: CustodyError SLV-K001."""
    try:
        return jcs(loads_object(data, max_depth=MAX_DEPTH, nfc=True))
    except StrictJsonError as error:
        raise _refused(error, where) from error


def part_bytes(part: JsonObject, where: str = "") -> bytes:
    """Return the canonical bytes of one item part that is already a tree. Raises: CustodyError SLV-K001."""
    try:
        data = jcs(part)
        # One test of the whole text settles nearly all parts: no character that JSON puts around or inside a
        # string composes with the next one unless the string's own characters do, or follow an escape.
        if data.isascii() and _shallow(data):
            return data
        if _shallow(data) and unicodedata.is_normalized("NFC", data.decode("utf-8")):
            return data
        loads_object(data, max_depth=MAX_DEPTH, nfc=True)
    except StrictJsonError as error:
        raise _refused(error, where) from error
    except RecursionError as error:
        raise _refused(StrictJsonError("depth"), where) from error
    return data


def _shallow(data: bytes) -> bool:
    return data.count(b"{") + data.count(b"[") <= MAX_DEPTH


def _refused(error: StrictJsonError, where: str) -> Exception:
    return fault(
        1,
        f"el ítem no tiene una única forma en bytes ({error})",
        f"the item has no single form in bytes ({error})",
        where=where,
        fix=Text(
            "use texto NFC, sin claves repetidas, y escriba los decimales como texto",
            "use NFC text, no repeated keys, and write decimals as text",
        ),
    )


def salt(seed: bytes, index: int, part: Part) -> bytes:
    """Return the salt (32 bytes) of one part of item `index`."""
    label = b"slaverify/salt/v1\x00" + part.value.encode() + b"\x00" + index.to_bytes(8, "big")
    return hmac.digest(seed, label, "sha256")


def commitment(salt_bytes: bytes, part: Part, content: bytes) -> bytes:
    """Return the commitment (32 bytes) to the canonical bytes of one part."""
    label = b"slaverify/commitment/v1\x00" + part.value.encode() + b"\x00"
    return hmac.digest(salt_bytes, label + content, "sha256")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One public line of the index."""

    i: int
    id: str
    stratum: str
    c_query: str
    c_reference: str
    twin_of: str | None = None

    def line(self) -> bytes:
        """Return the canonical bytes of the line, without LF."""
        # RFC 8785 put together by hand: commitments and ids need no escape. A bank has up to 100,000 of these.
        twin = "" if self.twin_of is None else f',"twin_of":"{self.twin_of}"'
        head = f'{{"c_query":"{self.c_query}","c_reference":"{self.c_reference}","i":{self.i},"id":"{self.id}"'
        return f'{head},"stratum":'.encode() + jcs(self.stratum) + f"{twin}}}".encode()

    def commitment_of(self, part: Part) -> str:
        """Return the commitment to `part`, in hex."""
        return self.c_query if part is Part.QUERY else self.c_reference
