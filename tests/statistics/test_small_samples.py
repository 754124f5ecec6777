"""Effective samples, limits and levels at their smallest: one item, two, half of one; by hand or against scipy."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, norm, t

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    Cell,
    clustered_decision,
    clustered_interval,
    conformance_probability,
    designed_share,
    independent_difference,
    limit_levels,
    oc_accept,
    real_tails,
    weighted_rate,
    wilson_interval,
)

reals = st.floats(0.05, 6.0)


@settings(max_examples=80)
@given(
    st.lists(st.tuples(reals, st.sampled_from([0.0, 0.3, 0.7, 1.0])), min_size=2, max_size=8),
    st.sampled_from([None, 0.0, 0.2, 1.0]),
    st.sampled_from([0.025, 0.01]),
)
def test_clusters_of_any_size_follow_korn_and_graubard(
    of: list[tuple[float, float]], floor: float | None, alpha: float
) -> None:
    """Sizes may be parts of an item: means over calls."""
    m, x = [size for size, _ in of], [size * share for size, share in of]
    found = clustered_decision(x, m, floor, alpha)
    n, g = sum(m), len(m)
    p = sum(x) / n
    observed = None
    if 1e-12 < p < 1 - 1e-12 and n > 1:
        v = g / (g - 1) * sum((a - p * b) ** 2 for a, b in of_pairs(x, m)) / n**2
        observed = v / (p * (1 - p) / (n - 1))
    if floor is None:
        n_eff = min(n, g)
        deff = n / n_eff
    else:
        deff = max(observed or 1.0, 1.0 + (sum(size**2 for size in m) / n - 1) * floor, 1.0)
        ratio = float(t.ppf(1 - alpha, n - 1) / t.ppf(1 - alpha, g - 1)) ** 2 if n > 1 else 1.0
        n_eff = min(n, n / deff * ratio)
    assert (found.deff_observed is None) == (observed is None)
    if observed is not None:
        assert found.deff_observed == pytest.approx(observed, abs=1e-9)
    assert (found.rate, found.deff, found.n_eff) == pytest.approx((p, deff, n_eff), rel=1e-9)


def of_pairs(x: list[float], m: list[float]) -> list[tuple[float, float]]:
    return list(zip(x, m, strict=True))


def test_the_smallest_samples_of_clusters() -> None:
    """Two clusters of one item each, right and wrong: v = 2 * (1/4 + 1/4) / 4 = 1/4, and p q / 1 = 1/4."""
    assert clustered_decision([1, 0], [1, 1], 0.2, 0.025).deff_observed == pytest.approx(1.0)
    half = clustered_decision([0.5, 0.25], [0.5, 0.5], 0.2, 0.025)
    assert (half.deff_observed, half.deff, half.n_eff) == (None, 1.0, 1.0)
    whole = clustered_interval([4, 4], [4, 4])
    assert (whole.mean, whole.se_cr) == (1.0, 0.0)
    assert whole.low == pytest.approx(0.025 ** (1 / 8))


def test_a_weighted_rate_is_never_above_one() -> None:
    """Weights may miss one by their last digits."""
    found = weighted_rate([5, 7, 9], [5, 7, 9], [0.3, 0.3, 0.4 + 5e-10])
    assert found.rate == 1.0


@pytest.mark.parametrize("n", range(1, 200))
def test_all_of_n_reach_one_exactly(n: int) -> None:
    assert wilson_interval(n, n, 0.95).high == 1.0
    assert wilson_interval(0, n, 0.95).low == 0.0


@settings(max_examples=80)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.2, 9.0), st.sampled_from([0.03, 0.3, 0.9]))
def test_tails_of_parts_of_an_item(a: float, b: float, n: float, promised: float) -> None:
    """A real sample has the tails of the beta function; nothing right says nothing against a breach of all."""
    low, high = sorted((a * n, b * n))
    p_pass, p_breach = real_tails(low, high, n, promised)
    assert p_pass == pytest.approx(1.0 if low == 0 else float(beta.cdf(promised, low, n - low + 1)), abs=1e-9)
    assert p_breach == pytest.approx(1.0 if high == n else float(beta.sf(promised, high + 1, n - high)), abs=1e-9)


def test_a_promise_of_nothing_is_met_and_one_of_all_is_not() -> None:
    assert [conformance_probability(3, 10, Fraction(one)) for one in (0, 1)] == [1.0, 0.0]


def rate(w: list, p: list) -> complex:
    return sum(a * b for a, b in zip(w, p, strict=True)) / sum(w)


def test_an_empty_cell_changes_no_figure() -> None:
    cells = [Cell(60, 20, 15), Cell(40, 10, 9)]
    for at in range(3):
        with_empty = [*cells[:at], Cell(0, 0, 0), *cells[at:]]
        assert designed_share(with_empty, rate, 0.95) == designed_share(cells, rate, 0.95)


def test_one_label_of_one_item_has_the_limits_of_one_item() -> None:
    found = designed_share([Cell(1, 1, 1)], rate, 0.95)
    assert (found.value, found.n_eff) == (1.0, pytest.approx(1.0))
    assert (found.low, found.high) == (pytest.approx(0.025), 1.0)


@pytest.mark.parametrize("distance", [0.01, 0.5, 0.99, 1.5, 3.0, 7.9, 9.0])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_level_of_a_limit_is_the_tail_of_its_distance(distance: float, side: int) -> None:
    """Limits that grow by one tenth a z: they meet the threshold at z = distance; beyond 8 the level is that of 8."""
    centre = 0.5 + side * distance / 10
    p_pass, p_breach = limit_levels(lambda z: (centre - z / 10, centre + z / 10), 0.5)
    tail = float(norm.sf(min(distance, 8.0)))
    assert (p_pass, p_breach) == pytest.approx((tail, 1 - tail) if side > 0 else (1 - tail, tail), abs=1e-9)


def test_a_limit_at_the_threshold_says_neither() -> None:
    assert limit_levels(lambda z: (0.5 - z, 0.5 + z), 0.5) == (0.5, 0.5)


@pytest.mark.parametrize("n", [1, 2, 40])
def test_opposite_samples_differ_by_at_most_one(n: int) -> None:
    up, down = independent_difference(n, n, 0, n, 0.95), independent_difference(0, n, n, n, 0.95)
    assert (up.high, down.low) == (1.0, -1.0)
    assert math.isclose(up.low, -down.high)


def test_one_item_and_a_half_in_two_clusters_has_more_than_its_quantile_of_freedom() -> None:
    """Sizes 1.45 and 0.05 under a floor of 1: deff 1.4033; half a degree of freedom against one outweighs it."""
    found = clustered_decision([1.45, 0.0], [1.45, 0.05], 1.0, 0.025)
    ratio = float(t.ppf(0.975, 0.5) / t.ppf(0.975, 1.0)) ** 2
    assert found.deff == pytest.approx((1.45**2 + 0.05**2) / 1.5)
    assert 1.5 / found.deff * ratio > 1.5
    assert found.n_eff == 1.5


@pytest.mark.parametrize("places", [1, 18])
def test_decimals_have_up_to_eighteen_places(places: int) -> None:
    tiny = Decimal(1).scaleb(-places)
    assert conformance_probability(3, 10, tiny) <= 1.0
    with pytest.raises(StatisticsError, match="SLV-S001"):
        conformance_probability(3, 10, Decimal(1).scaleb(-19))
    with pytest.raises(StatisticsError, match="18"):
        conformance_probability(3, 10, Decimal(0).scaleb(19))
    assert conformance_probability(3, 10, Decimal(0).scaleb(18)) == 1.0


def test_a_count_may_be_as_large_as_the_largest_and_no_larger() -> None:
    assert oc_accept(10_000_000, 10_000_000, 0.5) == 1.0
    with pytest.raises(StatisticsError, match="SLV-S002"):
        oc_accept(10_000_001, 10_000_000, 0.5)
