"""The plaintext of a sealed bank: a header line, one line per item in leaf order, attachments.

Boundary: even a package that decrypts is hostile until its digest and each commitment agree with the manifest.

Source: docs/spec/bank.md (item bytes and package).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slaverify.canonical import JsonObject, StrictJsonError, jcs, loads_canonical, sha256_hex
from slaverify.custody.commitments import MAX_DEPTH, Leaf, Part, commitment, salt
from slaverify.custody.faults import fault
from slaverify.custody.shapes import (
    constant,
    integer,
    is_count,
    is_hex32,
    is_id,
    is_name,
    is_object,
    is_text,
    optional_text,
    shape_fault,
    strict_base64,
    text,
)
from slaverify.errors import CustodyError

MAX_PACKAGE = 512 * 1024 * 1024
"""Bytes of a whole package."""
MAX_ATTACHMENT = 32 * 1024 * 1024
"""Bytes of one attachment."""

_HEADER = {
    "type": constant("slaverify/bank"),
    "v": constant(1),
    "seed": is_hex32,
    "n": is_count,
    "item_schema_sha256": is_hex32,
    "canary": is_text,
}
_ITEM = {"i": is_count, "id": is_id, "stratum": is_name, "query": is_object, "reference": is_object}
_ATTACHMENT = {"attachment": is_hex32, "base64": is_text}


@dataclass(frozen=True, slots=True)
class PackageHeader:
    """The first line. `seed` makes every salt; whoever has it can test guesses."""

    seed: bytes
    n: int
    item_schema_sha256: str

    def line(self, canary: str) -> bytes:
        """Return the header line with its canary (a fresh UUID that stands in no prompt), LF included."""
        tree: JsonObject = {
            "type": "slaverify/bank",
            "v": 1,
            "seed": self.seed.hex(),
            "n": self.n,
            "item_schema_sha256": self.item_schema_sha256,
            "canary": canary,
        }
        return jcs(tree) + b"\n"


@dataclass(frozen=True, slots=True)
class PackageItem:
    """One item in clear: its leaf number, sealed id, stratum, original if it is a twin, canonical parts."""

    i: int
    id: str
    stratum: str
    query: bytes
    reference: bytes
    twin_of: str | None = None

    def line(self) -> bytes:
        """Return the package line, LF included: JCS put together from parts that are JCS already."""
        before, after = _around_reference(self.i, self.id, self.stratum, self.query, self.twin_of)
        return b"".join((before, self.reference, after, b"\n"))

    def part(self, part: Part) -> bytes:
        """Return the canonical bytes of one part."""
        return self.query if part is Part.QUERY else self.reference

    def leaf(self, seed: bytes) -> Leaf:
        """Return the public line of the item."""
        query = commitment(salt(seed, self.i, Part.QUERY), Part.QUERY, self.query)
        reference = commitment(salt(seed, self.i, Part.REFERENCE), Part.REFERENCE, self.reference)
        return Leaf(self.i, self.id, self.stratum, query.hex(), reference.hex(), self.twin_of)


def _around_reference(i: int, item: str, stratum: str, query: bytes, twin_of: str | None) -> tuple[bytes, bytes]:
    # what stands before and after the reference in a package line
    twin = b"" if twin_of is None else b',"twin_of":"' + twin_of.encode() + b'"'
    head = f'{{"i":{i},"id":"{item}","query":'.encode()
    return head + query + b',"reference":', b',"stratum":' + jcs(stratum) + twin + b"}"


def parse_header(line: bytes) -> PackageHeader:
    """Read the first line, without LF. Raises: CustodyError SLV-K012."""
    tree = _tree(line, 1, 2)
    if shape_fault(tree, _HEADER) is not None:
        raise malformed(1)
    return PackageHeader(bytes.fromhex(text(tree, "seed")), integer(tree, "n"), text(tree, "item_schema_sha256"))


def parse_item(line: bytes, number: int) -> PackageItem:
    """Read an item line, without LF; `number` is its line in the package, from 1. Raises: CustodyError SLV-K012."""
    tree = _tree(line, number, MAX_DEPTH + 1)
    query, reference = tree.get("query"), tree.get("reference")
    wrong = shape_fault(tree, _ITEM, {"twin_of": is_id})
    if wrong is not None or not isinstance(query, Mapping) or not isinstance(reference, Mapping):
        raise malformed(number)
    # The line is canonical: once the query is written, what lies between the keys around it is the reference.
    i, item, stratum, twin = integer(tree, "i"), text(tree, "id"), text(tree, "stratum"), optional_text(tree, "twin_of")
    written = jcs(query)
    before, after = _around_reference(i, item, stratum, written, twin)
    if not line.startswith(before) or not line.endswith(after):
        raise malformed(number)
    return PackageItem(i, item, stratum, written, line[len(before) : len(line) - len(after)], twin)


def attachment_line(data: bytes, encoded: str) -> bytes:
    """Return the line of an attachment given with its base64, LF included."""
    return jcs({"attachment": sha256_hex(data), "base64": encoded}) + b"\n"


def parse_attachment(line: bytes, number: int) -> tuple[str, bytes]:
    """Read an attachment line: digest (hex) and content. Raises: CustodyError SLV-K012."""
    tree = _tree(line, number, 2)
    data = None if shape_fault(tree, _ATTACHMENT) else strict_base64(text(tree, "base64"))
    if data is None or sha256_hex(data) != tree["attachment"]:
        raise malformed(number)
    return text(tree, "attachment"), data


def _tree(line: bytes, number: int, depth: int) -> JsonObject:
    try:
        return loads_canonical(line, max_depth=depth)
    except StrictJsonError as error:
        raise malformed(number) from error


def malformed(number: int) -> CustodyError:
    """Return the refusal of line `number` (from 1) of a package."""
    return fault(12, "paquete mal formado", "malformed package", where=f"bank.age:{number}")
