"""Clusters, weighted strata, repeats: what must never happen, and what must always hold."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    clustered_decision,
    clustered_interval,
    icc_one_way,
    logit_interval,
    real_tails,
    weighted_rate,
)

clusters = st.lists(
    st.integers(1, 12).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m))), min_size=2, max_size=30
)


@given(rows=clusters, floor=st.one_of(st.none(), st.floats(0, 1)))
@settings(max_examples=150, deadline=None)
def test_the_effective_sample_is_never_above_the_items(rows: list, floor: float | None) -> None:
    x, m = [row[0] for row in rows], [row[1] for row in rows]
    found = clustered_decision(x, m, floor, 0.025)
    assert 0 < found.n_eff <= sum(m)
    assert found.deff >= 1 - 1e-12
    assert 0 <= found.low <= found.rate + 1e-9
    assert found.rate - 1e-9 <= found.high <= 1


@given(rows=clusters, seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_order_of_clusters_changes_nothing(rows: list, seed: int) -> None:
    shuffled = rows[:]
    random.Random(seed).shuffle(shuffled)
    one = clustered_decision([r[0] for r in rows], [r[1] for r in rows], 0.2, 0.025)
    two = clustered_decision([r[0] for r in shuffled], [r[1] for r in shuffled], 0.2, 0.025)
    assert one.n_eff == pytest.approx(two.n_eff, abs=1e-9)
    assert one.rate == pytest.approx(two.rate, abs=1e-12)


def test_near_one_the_floor_protects() -> None:
    """All right: the observed design effect does not exist, and the floor still shrinks the sample."""
    found = clustered_decision([5] * 100, [5] * 100, 0.5, 0.025)
    assert found.deff_observed is None
    assert found.deff == 3.0
    assert found.n_eff < 500 / 3


def test_without_a_floor_the_clusters_are_the_sample() -> None:
    assert clustered_decision([5] * 20, [5] * 20, None, 0.025).n_eff == 20


def test_one_item_per_cluster_and_no_floor_is_independent() -> None:
    found = clustered_decision([1] * 95 + [0] * 5, [1] * 100, 0.0, 0.025)
    assert found.deff == pytest.approx(1.0, abs=1e-9)
    assert found.n_eff == pytest.approx(100.0, abs=1e-6)


@pytest.mark.parametrize(
    ("x", "m", "code"),
    [
        ([1], [1], "S006"),
        ([], [], "S006"),
        ([1, 1], [1], "S006"),
        ([1, 0], [1, 0], "S006"),
        ([2, 1], [1, 1], "S002"),
        ([math.nan, 1], [1, 1], "S002"),
        ([True, 1], [1, 1], "S002"),
        ([-1, 1], [1, 1], "S002"),
    ],
)
def test_bad_clusters_are_refused(x: list, m: list, code: str) -> None:
    with pytest.raises(StatisticsError, match=code):
        clustered_decision(x, m, 0.2, 0.025)
    with pytest.raises(StatisticsError, match=code):
        clustered_interval(x, m)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, math.nan])
def test_bad_levels_are_refused(alpha: float) -> None:
    with pytest.raises(StatisticsError):
        clustered_decision([1, 1], [2, 2], 0.2, alpha)


def test_descriptive_interval_at_the_edges() -> None:
    found = clustered_interval([5, 5, 5], [5, 5, 5])
    assert (found.mean, found.high) == (1.0, 1.0)
    assert found.low < 1.0
    assert logit_interval([5, 5, 5], [5, 5, 5]).low == 1.0
    even = clustered_interval([1, 1, 1], [2, 2, 2])
    assert even.se_cr == 0.0
    assert even.low < 0.5 < even.high


def test_weighted_rate() -> None:
    found = weighted_rate([80, 10], [100, 20], [Fraction(1, 2), Fraction(1, 2)])
    assert found.rate == pytest.approx(0.65)
    assert found.n_eff < 120
    equal = weighted_rate([80, 16], [100, 20], [Fraction(100, 120), Fraction(20, 120)])
    assert equal.rate == pytest.approx(0.8)
    perfect = weighted_rate([100, 20], [100, 20], [Fraction(1, 2), Fraction(1, 2)])
    assert perfect.n_eff == pytest.approx(1 / (0.25 / 100 + 0.25 / 20))


@pytest.mark.parametrize(
    ("sizes", "weights", "code"),
    [([100, 1], [0.5, 0.5], "S011"), ([100, 20], [0.5, 0.4], "S006"), ([100, 20], [1.5, -0.5], "S006")],
)
def test_bad_weights_are_refused(sizes: list, weights: list, code: str) -> None:
    with pytest.raises(StatisticsError, match=code):
        weighted_rate([0, 0], sizes, weights)


def test_icc_is_raw() -> None:
    identical = icc_one_way([[1, 1, 1], [1, 1, 1]])
    assert (identical.icc, identical.reason) == (None, "no_variation")
    opposite = icc_one_way([[0, 1], [1, 0], [0, 1]])
    assert opposite.icc == pytest.approx(-1.0)
    between = icc_one_way([[1, 1], [0, 0], [1, 1]])
    assert between.icc == 1.0


@given(
    st.integers(2, 6).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, 1), min_size=k, max_size=k), min_size=2, max_size=20)
    )
)
@settings(max_examples=100, deadline=None)
def test_icc_stays_in_its_range(matrix: list) -> None:
    found, k = icc_one_way(matrix), len(matrix[0])
    if found.icc is None:
        assert found.reason == "no_variation"
    else:
        assert -1 / (k - 1) - 1e-9 <= found.icc <= 1 + 1e-9
        assert found.low <= found.icc + 1e-9
        assert found.icc - 1e-9 <= found.high


@pytest.mark.parametrize("matrix", [[], [[1]], [[1, 2]], [[1, 2], [1]], [[1], [2]], [[1, math.nan], [1, 2]]])
def test_bad_matrices_are_refused(matrix: list) -> None:
    with pytest.raises(StatisticsError):
        icc_one_way(matrix)


def test_real_tails_at_the_edges() -> None:
    assert real_tails(0.0, 10.0, 10.0, Fraction(9, 10)) == (1.0, 1.0)
    with pytest.raises(StatisticsError, match="S002"):
        real_tails(1.0, 11.0, 10.0, Fraction(9, 10))
    assert real_tails(9.5, 9.5, 10.0, Fraction(Decimal("0.9")))[0] < 1
