"""The tree against the recursive definition, and every proof of every small tree."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.custody import (
    Frontier,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    merkle_root,
    verify_consistency,
    verify_inclusion,
)
from slaverify.custody.merkle import EMPTY, node_hash

LEAVES = [leaf_hash(bytes([number])) for number in range(69)]


def by_definition(leaves: list[bytes]) -> bytes:
    """RFC 6962 section 2.1, word for word."""
    if not leaves:
        return EMPTY
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return node_hash(by_definition(leaves[:k]), by_definition(leaves[k:]))


ROOTS = [by_definition(LEAVES[:n]) for n in range(len(LEAVES) + 1)]


def flips(proof: list[bytes], bits: range | list[int]) -> Iterator[list[bytes]]:
    for place, item in enumerate(proof):
        for bit in bits:
            changed = bytearray(item)
            changed[bit // 8] ^= 1 << bit % 8
            yield [*proof[:place], bytes(changed), *proof[place + 1 :]]


def some_bits(seed: int) -> list[int]:
    return random.Random(seed).sample(range(256), 6)


def test_root_and_frontier_follow_the_definition() -> None:
    frontier = Frontier()
    for n in range(len(LEAVES) + 1):
        assert merkle_root(LEAVES[:n]) == frontier.root() == ROOTS[n]
        if n < len(LEAVES):
            frontier.append(LEAVES[n])


def test_inclusion_of_every_leaf_of_every_tree() -> None:
    for n in range(1, 70):
        for i in range(n):
            proof = inclusion_proof(LEAVES[:n], i)
            assert verify_inclusion(LEAVES[i], i, n, proof, ROOTS[n])
            assert not verify_inclusion(LEAVES[i], i, n, [*proof, EMPTY], ROOTS[n])
            assert not proof or not verify_inclusion(LEAVES[i], i, n, proof[:-1], ROOTS[n])
            assert not any(verify_inclusion(LEAVES[i], j, n, proof, ROOTS[n]) for j in range(-1, n + 2) if j != i)
            for changed in flips(proof, some_bits(n * 100 + i)):
                assert not verify_inclusion(LEAVES[i], i, n, changed, ROOTS[n])


def test_consistency_of_every_pair_of_trees() -> None:
    for n in range(1, 41):
        for m in range(1, n + 1):
            proof = consistency_proof(LEAVES[:n], m)
            assert verify_consistency(m, n, ROOTS[m], ROOTS[n], proof)
            assert not verify_consistency(m, n, ROOTS[m], ROOTS[n], [*proof, EMPTY])
            assert not proof or not verify_consistency(m, n, ROOTS[m], ROOTS[n], proof[:-1])
            assert not verify_consistency(m, n, ROOTS[m - 1], ROOTS[n], proof)
            assert not verify_consistency(m, n, ROOTS[m], ROOTS[n + 1], proof)
            if m < n:
                assert not verify_consistency(n, m, ROOTS[n], ROOTS[m], proof)
            for changed in flips(proof, some_bits(n * 100 + m)):
                assert not verify_consistency(m, n, ROOTS[m], ROOTS[n], changed)


@pytest.mark.nightly
def test_every_single_bit_of_every_proof() -> None:
    for n in range(1, 70):
        for i in range(n):
            for changed in flips(inclusion_proof(LEAVES[:n], i), range(256)):
                assert not verify_inclusion(LEAVES[i], i, n, changed, ROOTS[n])
    for n in range(1, 41):
        for m in range(1, n + 1):
            for changed in flips(consistency_proof(LEAVES[:n], m), range(256)):
                assert not verify_consistency(m, n, ROOTS[m], ROOTS[n], changed)


def test_the_empty_tree_is_a_prefix_of_all() -> None:
    assert verify_consistency(0, 5, EMPTY, ROOTS[5], [])
    assert not verify_consistency(0, 5, ROOTS[1], ROOTS[5], [])
    assert not verify_consistency(0, 5, EMPTY, ROOTS[5], [ROOTS[1]])


def test_a_node_is_no_leaf() -> None:
    assert not verify_inclusion(node_hash(LEAVES[0], LEAVES[1]), 0, 2, [ROOTS[2]], ROOTS[4])


def test_proofs_of_leaves_that_do_not_exist() -> None:
    for wrong in (-1, 3):
        with pytest.raises(IndexError):
            inclusion_proof(LEAVES[:3], wrong)
    for wrong in (0, 4):
        with pytest.raises(IndexError):
            consistency_proof(LEAVES[:3], wrong)


@given(
    st.integers(-2, 80),
    st.integers(-2, 80),
    st.lists(st.binary(min_size=0, max_size=33), max_size=9),
    st.binary(min_size=32, max_size=32),
)
def test_no_made_up_proof_is_accepted(one: int, other: int, proof: list[bytes], root: bytes) -> None:
    assert not verify_inclusion(LEAVES[0], one, other, proof, root)
    assert not verify_consistency(one, other, root, ROOTS[7], proof)
