"""The public index of a bank: one leaf a line, in leaf order.

Boundary: `index.jsonl` comes from outside; a line that is not exactly a leaf, a gap, a repeated id or a twin of
nothing is refused here.

Source: docs/spec/bank.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from slaverify.canonical import StrictJsonError, loads_canonical, sha256_hex
from slaverify.custody import merkle
from slaverify.custody.commitments import Leaf
from slaverify.custody.faults import fault
from slaverify.custody.shapes import (
    integer,
    is_count,
    is_hex32,
    is_id,
    is_name,
    optional_text,
    shape_fault,
    text,
)

MAX_ITEMS = 100_000
"""Items of one bank."""
PROBE = "probe"
"""The stratum of plants and probes: never in a metric, never drawn as fresh."""
_MAX_LINE = 1024
_REQUIRED = {
    "i": is_count,
    "id": is_id,
    "stratum": is_name,
    "c_query": is_hex32,
    "c_reference": is_hex32,
}


@dataclass(frozen=True)
class Index:
    """The leaves of one bank, in order."""

    leaves: tuple[Leaf, ...]

    @cached_property
    def lines(self) -> tuple[bytes, ...]:
        """The canonical line of each leaf, without LF."""
        return tuple(leaf.line() for leaf in self.leaves)

    @cached_property
    def hashes(self) -> tuple[bytes, ...]:
        """The hash of each leaf."""
        return tuple(merkle.leaf_hash(line) for line in self.lines)

    @cached_property
    def root(self) -> bytes:
        """The root of the tree over the leaves."""
        return merkle.root(self.hashes)

    @cached_property
    def by_id(self) -> dict[str, Leaf]:
        """The leaf of each id."""
        return {leaf.id: leaf for leaf in self.leaves}

    @cached_property
    def strata(self) -> dict[str, int]:
        """How many items each stratum has, names ascending."""
        found: dict[str, int] = {}
        for leaf in self.leaves:
            found[leaf.stratum] = found.get(leaf.stratum, 0) + 1
        return dict(sorted(found.items()))

    def file_bytes(self) -> bytes:
        """Return the bytes of `index.jsonl`."""
        return b"".join(line + b"\n" for line in self.lines)

    def sha256(self) -> str:
        """Return the SHA-256 of `index.jsonl`, hex."""
        return sha256_hex(self.file_bytes())

    def ids(self, indices: Iterable[int]) -> tuple[str, ...]:
        """Return the ids of leaf numbers. Raises: CustodyError SLV-K018 for a number that no leaf has."""
        found = []
        for number in indices:
            if not 0 <= number < len(self.leaves):
                raise _malformed(f"leaf {number}", "no existe", "does not exist")
            found.append(self.leaves[number].id)
        return tuple(found)


def parse_leaf(line: bytes, where: str) -> Leaf:
    """Read one line of the index, without LF. Raises: CustodyError SLV-K018."""
    if len(line) > _MAX_LINE:
        raise _malformed(where, "línea demasiado larga", "line too long")
    try:
        tree = loads_canonical(line, max_depth=2)
    except StrictJsonError as error:
        raise _malformed(where, str(error), str(error)) from error
    wrong = shape_fault(tree, _REQUIRED, {"twin_of": is_id})
    if wrong is not None:
        raise _malformed(where, f"campo {wrong}", f"field {wrong}")
    return Leaf(
        integer(tree, "i"),
        text(tree, "id"),
        text(tree, "stratum"),
        text(tree, "c_query"),
        text(tree, "c_reference"),
        optional_text(tree, "twin_of"),
    )


def parse_index(data: bytes) -> Index:
    """Read `index.jsonl`.

    Raises: CustodyError SLV-K018 (line malformed, numbers not contiguous, id repeated), SLV-K003 (twin).
    """
    if not data.endswith(b"\n"):
        raise _malformed("index.jsonl", "última línea sin LF", "last line without LF")
    if data.count(b"\n") > MAX_ITEMS:
        raise _malformed("index.jsonl", f"más de {MAX_ITEMS} líneas", f"more than {MAX_ITEMS} lines")
    leaves, lines = [], data[:-1].split(b"\n")
    for number, line in enumerate(lines):
        leaf = parse_leaf(line, f"index.jsonl:{number + 1}")
        if leaf.i != number:
            raise _malformed(f"index.jsonl:{number + 1}", "numeración con saltos", "numbers not contiguous")
        leaves.append(leaf)
    index = Index(tuple(leaves))
    # Each line was found to be canonical: it is the line of its leaf and need not be written again.
    index.__dict__["lines"] = tuple(lines)
    if len(index.by_id) != len(leaves):
        raise _malformed("index.jsonl", "id repetido", "repeated id")
    check_twins(index)
    return index


def check_twins(index: Index) -> None:
    """Refuse a twin of nothing, of itself, of another twin or of another stratum. Raises: CustodyError SLV-K003."""
    for leaf in index.leaves:
        if leaf.twin_of is None:
            continue
        original = index.by_id.get(leaf.twin_of)
        if original is None or original.twin_of is not None or original.stratum != leaf.stratum:
            raise fault(
                3,
                f"{leaf.id} es gemelo de {leaf.twin_of}, que no existe, es gemelo o es de otro estrato",
                f"{leaf.id} is the twin of {leaf.twin_of}, which does not exist, is a twin or is of another stratum",
                where=f"index.jsonl:{leaf.i + 1}",
            )


def _malformed(where: str, es: str, en: str) -> Exception:
    return fault(18, f"índice mal formado: {es}", f"malformed index: {en}", where=where)
