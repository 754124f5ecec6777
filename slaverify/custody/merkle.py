"""Merkle trees and their proofs, over hashes of leaves. Source: RFC 6962 section 2.1, RFC 9162 section 2.1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

EMPTY = sha256(b"").digest()
"""Root of the tree without leaves."""


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of one leaf."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """The right edge of a growing tree: enough to append a leaf and to name the root, in O(log n)."""

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        """Add the hash of the next leaf."""
        full = self.size
        while full & 1:
            leaf = node_hash(self._peaks.pop(), leaf)
            full >>= 1
        self._peaks.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """Return the root over all leaves so far."""
        *left, top = self._peaks or [EMPTY]
        for peak in reversed(left):
            top = node_hash(peak, top)
        return top


def root(leaves: Iterable[bytes]) -> bytes:
    """Return the root over the hashes of leaves."""
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf)
    return frontier.root()


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return the path of leaf `index`, lowest sibling first. Raises: IndexError."""
    if not 0 <= index < len(leaves):
        raise IndexError(index)
    if len(leaves) == 1:
        return []
    split = 1 << (len(leaves) - 1).bit_length() - 1
    if index < split:
        return [*inclusion_proof(leaves[:split], index), root(leaves[split:])]
    return [*inclusion_proof(leaves[split:], index - split), root(leaves[:split])]


def consistency_proof(leaves: Sequence[bytes], size: int) -> list[bytes]:
    """Return the proof that the first `size` leaves are a prefix of `leaves`. Raises: IndexError."""
    if not 0 < size <= len(leaves):
        raise IndexError(size)
    return _subproof(size, leaves, True)


def _subproof(size: int, leaves: Sequence[bytes], known: bool) -> list[bytes]:
    if size == len(leaves):
        return [] if known else [root(leaves)]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    if size <= split:
        return [*_subproof(size, leaves[:split], known), root(leaves[split:])]
    return [*_subproof(size - split, leaves[split:], False), root(leaves[:split])]


def _sides(index: int, last: int) -> list[bool]:
    sides = []  # for each step from leaf `index` to the root: does the other hash stand on the left?
    while last:
        left = bool(index & 1) or index == last
        while left and not index & 1 and index:
            index, last = index >> 1, last >> 1
        sides.append(left)
        index, last = index >> 1, last >> 1
    return sides


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], expected: bytes) -> bool:
    """Tell whether `leaf` is leaf number `index` of the tree of `size` leaves under root `expected`."""
    if not 0 <= index < size or any(len(item) != 32 for item in (leaf, *proof)):
        return False
    sides = _sides(index, size - 1)
    for item, left in zip(proof, sides, strict=False):
        leaf = node_hash(item, leaf) if left else node_hash(leaf, item)
    return len(sides) == len(proof) and leaf == expected


def verify_consistency(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Tell whether the tree of `new` leaves extends the tree of `old` leaves."""
    if not 0 <= old <= new or any(len(item) != 32 for item in proof):
        return False
    if old in (0, new):
        return not proof and old_root == (new_root if old == new else EMPTY)
    index, last = old - 1, new - 1
    path = [old_root, *proof] if old & index == 0 else list(proof)
    while index & 1:
        index, last = index >> 1, last >> 1
    sides = _sides(index, last)
    if len(path) != len(sides) + 1:
        return False
    first = second = path[0]
    for item, left in zip(path[1:], sides, strict=True):
        first = node_hash(item, first) if left else first
        second = node_hash(item, second) if left else node_hash(second, item)
    return first == old_root and second == new_root
