"""The public index of a bank: one leaf a line, in leaf order.

Boundary: `index.jsonl` comes from outside; a line that is not exactly a leaf, a gap, a repeated id or a twin of
nothing is refused here.

Source: docs/spec/bank.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from io import BytesIO
from sys import intern

from slaverify.canonical import StrictJsonError, loads_canonical
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
_LEAF = re.compile(
    rb'\{"c_query":"([0-9a-f]{64})","c_reference":"([0-9a-f]{64})","i":(0|[1-9][0-9]{0,14}),"id":"([a-z0-9][a-z0-9-]{2,63})"'
    rb',"stratum":"([ !#-\[\]-~]+)"(?:,"twin_of":"([a-z0-9][a-z0-9-]{2,63})")?\}'
)
"""The one form of a leaf whose stratum is printable ASCII without escapes: what it matches is canonical."""
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
    def hashes(self) -> tuple[bytes, ...]:
        """The hash of each leaf."""
        return tuple(merkle.leaf_hash(leaf.line()) for leaf in self.leaves)

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

    def ids(self, indices: Iterable[int]) -> tuple[str, ...]:
        """Return the ids of leaf numbers. Raises: CustodyError SLV-K018 for a number that no leaf has."""
        found = []
        for number in indices:
            if not 0 <= number < len(self.leaves):
                raise _malformed(f"leaf {number}", "no existe", "does not exist")
            found.append(self.leaves[number].id)
        return tuple(found)


class IndexTally:
    """What the manifest says of an index that is written line by line: strata, root, digest."""

    def __init__(self) -> None:
        self._digest = sha256()
        self._tree = merkle.Frontier()
        self._strata: Counter[str] = Counter()

    def add(self, leaf: Leaf) -> bytes:
        """Count the next leaf; return its line of `index.jsonl`, LF included."""
        line = leaf.line()
        self._tree.append(merkle.leaf_hash(line))
        self._strata[leaf.stratum] += 1
        line += b"\n"
        self._digest.update(line)
        return line

    def strata(self) -> dict[str, int]:
        """Return how many items each stratum has, names ascending."""
        return dict(sorted(self._strata.items()))

    def root(self) -> bytes:
        """Return the root of the tree over the leaves."""
        return self._tree.root()

    def sha256(self) -> str:
        """Return the SHA-256 of the lines, hex."""
        return self._digest.hexdigest()


def parse_leaf(line: bytes, where: str) -> Leaf:
    """Read one line of the index, without LF. Raises: CustodyError SLV-K018."""
    if len(line) > _MAX_LINE:
        raise _malformed(where, "línea demasiado larga", "line too long")
    plain = _LEAF.fullmatch(line)
    if plain is not None:
        query, reference, number, item, stratum, twin = plain.groups()
        twin_of = None if twin is None else twin.decode()
        return Leaf(int(number), item.decode(), intern(stratum.decode()), query.decode(), reference.decode(), twin_of)
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
    leaves: list[Leaf] = []
    for number, line in enumerate(BytesIO(data)):
        leaf = parse_leaf(line[:-1], f"index.jsonl:{number + 1}")
        if leaf.i != number:
            raise _malformed(f"index.jsonl:{number + 1}", "numeración con saltos", "numbers not contiguous")
        leaves.append(leaf)
    index = Index(tuple(leaves))
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
