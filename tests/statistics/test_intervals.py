"""Intervals: G1 by exact enumeration, what they must contain, zero events, refusals."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    acceptance_numbers,
    conformance_probability,
    exact_bound,
    exact_interval,
    jeffreys_interval,
    real_tails,
    two_sided_z,
    wilson_interval,
    zero_event_bound,
)

A = Decimal("0.025")
SIZES = (50, 100, 200, 500, 1000)
GRID = [Decimal(9000 + 5 * k) / 10000 for k in range(191)]


def coverage(n: int, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Exact coverage at each rate of the grid of an interval given for every x = 0..n."""
    p = np.array([float(rate) for rate in GRID])[:, None]
    masses = stats.binom.pmf(np.arange(n + 1)[None, :], n, p)
    return (masses * ((low[None, :] <= p) & (p <= high[None, :]))).sum(axis=1)


def exact_limits(n: int) -> tuple[np.ndarray, np.ndarray]:
    found = [exact_interval(x, n, 0.95) for x in range(n + 1)]
    return np.array([i.low for i in found]), np.array([i.high for i in found])


@pytest.mark.parametrize("n", SIZES)
def test_g1_coverage_of_the_deciding_interval(n: int) -> None:
    assert coverage(n, *exact_limits(n)).min() >= 0.950


@pytest.mark.parametrize("n", SIZES)
def test_g1_risks_at_every_threshold(n: int) -> None:
    for threshold in GRID:
        numbers = acceptance_numbers(threshold, n, A, A)
        assert numbers.risk_false_pass <= Fraction(A)
        assert numbers.risk_false_breach <= Fraction(A)
        fail = 1 - float(threshold)
        if numbers.pass_max_failures is not None:
            assert special.bdtr(numbers.pass_max_failures, n, fail) <= 0.025 + 1e-12
        if numbers.breach_min_failures is not None:
            assert special.bdtrc(numbers.breach_min_failures - 1, n, fail) <= 0.025 + 1e-12


def test_what_the_shown_intervals_cover_at_worst() -> None:
    """Why none of them decides: minimum coverage over the same grid, in percent."""
    worst: dict[str, list[float]] = {"wald": [], "wilson": [], "jeffreys": [], "midp": [], "exact": []}
    z = two_sided_z(0.95)
    for n in SIZES:
        x = np.arange(n + 1)
        p = x / n
        half = z * np.sqrt(p * (1 - p) / n)
        worst["wald"].append(coverage(n, p - half, p + half).min())
        wilson = [wilson_interval(k, n, 0.95) for k in range(n + 1)]
        worst["wilson"].append(coverage(n, *(np.array([getattr(i, s) for i in wilson]) for s in ("low", "high"))).min())
        jeffreys = [jeffreys_interval(k, n, 0.95) for k in range(n + 1)]
        worst["jeffreys"].append(
            coverage(n, *(np.array([getattr(i, s) for i in jeffreys]) for s in ("low", "high"))).min()
        )
        worst["midp"].append(midp_coverage(n).min())
        worst["exact"].append(coverage(n, *exact_limits(n)).min())
    percent = {name: [100 * value for value in values] for name, values in worst.items()}
    assert min(percent["wald"]) == pytest.approx(22, abs=1)
    assert max(percent["wald"]) == pytest.approx(87, abs=1)
    assert percent["wilson"] == pytest.approx([89.5, 89.5, 92.0, 93.2, 93.8], abs=0.1)
    assert min(percent["jeffreys"]) == pytest.approx(87.8, abs=0.1)
    assert max(percent["jeffreys"]) == pytest.approx(92.4, abs=0.1)
    assert min(percent["midp"]) == pytest.approx(91.8, abs=0.1)
    assert max(percent["midp"]) == pytest.approx(92.8, abs=0.1)
    assert min(percent["exact"]) == pytest.approx(95.1, abs=0.1)


def midp_coverage(n: int) -> np.ndarray:
    """x is kept at p if both mid-tails exceed 2.5 %."""
    p = np.array([float(rate) for rate in GRID])[:, None]
    x = np.arange(n + 1)[None, :]
    mass = stats.binom.pmf(x, n, p)
    below = stats.binom.cdf(x, n, p) - mass / 2
    above = stats.binom.sf(x - 1, n, p) - mass / 2
    return (mass * ((below > 0.025) & (above > 0.025))).sum(axis=1)


def test_where_wilson_and_the_exact_interval_disagree_the_exact_one_governs() -> None:
    assert wilson_interval(465, 500, 0.95).high == pytest.approx(0.9492, abs=5e-5)
    assert exact_interval(465, 500, 0.95).high == pytest.approx(0.9508, abs=5e-5)
    numbers = acceptance_numbers(Decimal("0.95"), 500, A, A)
    assert numbers.pass_max_failures < 35 < numbers.breach_min_failures


@given(n=st.integers(1, 3000), data=st.data(), confidence=st.floats(0.5, 0.999))
def test_limits_hold_the_estimate_and_stay_in_range(n: int, data: st.DataObject, confidence: float) -> None:
    x = data.draw(st.integers(0, n))
    for method in (wilson_interval, exact_interval, jeffreys_interval, exact_bound):
        found = method(x, n, confidence)
        assert 0.0 <= found.low <= x / n + 1e-12
        assert x / n - 1e-12 <= found.high <= 1.0
        assert (found.low == 0.0) if x == 0 else True
        assert (found.high == 1.0) if x == n else True


@given(n=st.integers(1, 400), data=st.data())
def test_the_exact_interval_is_that_of_scipy(n: int, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, n))
    ours, theirs = exact_interval(x, n, 0.95), stats.binomtest(x, n).proportion_ci(0.95, "exact")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    mine, other = wilson_interval(x, n, 0.95), stats.binomtest(x, n).proportion_ci(0.95, "wilson")
    assert (mine.low, mine.high) == pytest.approx((other.low, other.high), abs=1e-9)


@given(n=st.integers(1, 300), threshold=st.integers(1, 99).map(lambda k: Decimal(k) / 100), data=st.data())
def test_real_tails_agree_with_the_integers(n: int, threshold: Decimal, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, n))
    p_pass, p_breach = real_tails(x, x, n, Fraction(threshold))
    assert p_pass == pytest.approx(stats.binom.sf(x - 1, n, float(threshold)), abs=1e-9)
    assert p_breach == pytest.approx(stats.binom.cdf(x, n, float(threshold)), abs=1e-9)


@pytest.mark.parametrize(("n", "bound"), [(20, 0.139), (500, 0.006)])
def test_zero_events_leave_a_bound(n: int, bound: float) -> None:
    found = zero_event_bound(n, 0.95)
    assert found.exact_one_sided == pytest.approx(bound, abs=5e-4)
    assert found.exact_one_sided < found.rule_of_three
    assert found.exact_one_sided == pytest.approx(1 - exact_bound(n, n, 0.95).low, abs=1e-12)


def test_conformance_probability_is_half_at_the_estimate_of_a_large_sample() -> None:
    assert conformance_probability(5000, 10000, Decimal("0.5")) == pytest.approx(0.5, abs=1e-9)
    assert conformance_probability(10, 10, Decimal("0.5")) > 0.99


@pytest.mark.parametrize(
    ("x", "n"), [(0, 0), (-1, 5), (6, 5), (math.nan, 5), (1, math.inf), (True, 5), ("1", 5), (None, 5)]
)
def test_bad_counts_are_refused(x: object, n: object) -> None:
    for method in (wilson_interval, exact_interval, jeffreys_interval):
        with pytest.raises(StatisticsError, match="SLV-S002"):
            method(x, n, 0.95)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, 2.0])
def test_bad_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(StatisticsError, match="SLV-S003"):
        exact_interval(1, 5, confidence)
    with pytest.raises(StatisticsError, match="SLV-S003"):
        zero_event_bound(5, confidence)
