"""Items on their way into a bank: checked one by one, shuffled, and given back in the order of their leaves.

Their canonical parts lie in a temporary file without a name, so that memory holds a hundred bytes an item and not
the bank. Not pure: stands behind the second door `custody.seal`.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from sys import intern
from typing import BinaryIO

from slaverify.canonical import JsonObject
from slaverify.custody.commitments import MAX_ITEM_BYTES, part_bytes
from slaverify.custody.faults import fault
from slaverify.custody.index import MAX_ITEMS
from slaverify.custody.package import PackageItem


@dataclass(frozen=True, slots=True)
class SealItem:
    """An item already cut in two. `source_id` is the author's id, `twin_of` that of another item."""

    source_id: str
    stratum: str
    query: JsonObject
    reference: JsonObject
    twin_of: str | None = None
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class _Kept:
    # what memory keeps of an item: where its parts begin in the file, and their sizes in bytes
    stratum: str
    cluster: str | None
    twin_of: str | None
    offset: int
    query: int
    reference: int


class Gathered:
    """The items of a bank to be. `sealed_ids` names the sealed id of each author's id."""

    def __init__(self, clear: BinaryIO, kept: Mapping[str, _Kept]) -> None:
        self._clear = clear
        self._kept = kept
        self._order = list(kept)
        random.SystemRandom().shuffle(self._order)
        taken: set[str] = set()
        self.sealed_ids = {source: _fresh_id(taken) for source in kept}

    def __len__(self) -> int:
        return len(self._order)

    def items(self) -> Iterator[PackageItem]:
        """Yield each item with its leaf number, in an order that the operating system's generator chose."""
        for i, source in enumerate(self._order):
            one = self._kept[source]
            self._clear.seek(one.offset)
            query, reference = self._clear.read(one.query), self._clear.read(one.reference)
            twin = None if one.twin_of is None else self.sealed_ids[one.twin_of]
            yield PackageItem(i, self.sealed_ids[source], one.stratum, query, reference, twin)


def gather(items: Iterable[SealItem], clear: BinaryIO) -> Gathered:
    """Check items and write their parts to `clear`, a file that nobody else can open.

    Raises: CustodyError SLV-K001 (item bytes), SLV-K002 (ids), SLV-K003 (twin), SLV-K004 (empty, or over a cap).
    """
    kept: dict[str, _Kept] = {}
    offset = 0
    for number, item in enumerate(items, 1):
        source = item.source_id
        if number > MAX_ITEMS:
            raise fault(4, f"más de {MAX_ITEMS} ítems", f"more than {MAX_ITEMS} items")
        if source in kept:
            raise fault(2, f"id repetido: {source}", f"repeated id: {source}", where=source)
        query = part_bytes(item.query, f"{source}.query")
        reference = part_bytes(item.reference, f"{source}.reference")
        size = len(query) + len(reference)
        if size > MAX_ITEM_BYTES:
            raise fault(4, f"{source} supera 1 MiB", f"{source} is over 1 MiB", where=source)
        clear.write(query)
        clear.write(reference)
        kept[source] = _Kept(intern(item.stratum), item.cluster, item.twin_of, offset, len(query), len(reference))
        offset += size
    if not kept:
        raise fault(4, "el banco no tiene ítems", "the bank has no items")
    _check_twins(kept)
    return Gathered(clear, kept)


def _fresh_id(taken: set[str]) -> str:
    while True:
        sealed = f"it-{secrets.token_hex(6)}"
        if sealed not in taken:
            taken.add(sealed)
            return sealed


def _check_twins(kept: Mapping[str, _Kept]) -> None:
    for source, one in kept.items():
        if one.twin_of is None:
            continue
        twin, original = one.twin_of, kept.get(one.twin_of)
        if (
            original is None
            or original.twin_of is not None
            or (original.stratum, original.cluster) != (one.stratum, one.cluster)
        ):
            raise fault(
                3,
                f"{source} es gemelo de {twin}, que no existe, es gemelo, o es de otro estrato o grupo",
                f"{source} is the twin of {twin}, which does not exist, is a twin, or is of another stratum or cluster",
                where=source,
            )
