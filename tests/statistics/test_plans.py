"""Plans where samples are small or promises are at their ends: every n looked at, hand formulas at one and at all."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest
from scipy.stats import binom

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    TwoPoint,
    acceptance_numbers,
    calibration_allocation,
    detectable_rate,
    min_n_power,
    oc_accept,
    power,
    state_probability,
    two_point_plan,
)
from tests.statistics.oracles import needed

A = Decimal("0.025")


@pytest.mark.parametrize(
    ("threshold", "rate"),
    [
        ("0.05", 0.4), ("0.05", 0.0), ("0.1", 0.9), ("0.1", 1.0), ("0.2", 0.01), ("0.3", 0.05), ("0.3", 0.75),
        ("0.5", 1.0), ("0.5", 0.0), ("0.7", 0.99), ("0.95", 0.3), ("0.95", 0.6), ("0.99", 0.0), ("0.99", 0.999),
        ("0.99", 0.9), ("0.9", 0.96), ("0.9", 0.84),
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", [0.3, 0.8, 0.99])
@pytest.mark.parametrize("alpha", ["0.025", "0.0125", "0.2", "0.49"])
def test_the_n_of_a_power_is_found_among_all(threshold: str, rate: float, target: float, alpha: str) -> None:
    side = "pass" if rate > float(threshold) else "breach"
    found = min_n_power(Decimal(threshold), rate, Decimal(alpha), target, side)
    assert found == needed(float(threshold), rate, float(alpha), side.upper(), most=4000, power=target)


@pytest.mark.parametrize("rate", ["0.1", "0.5", "0.95"])
def test_at_the_threshold_itself_no_n_has_power(rate: str) -> None:
    for side in ("pass", "breach"):
        assert min_n_power(Decimal(rate), Fraction(rate), A, 0.8, side) is None
        assert min_n_power(Decimal(rate), Decimal(rate), A, 0.8, side) is None


@pytest.mark.parametrize("rate", [-0.01, 1.01, 2.0])
def test_a_rate_outside_of_its_scale_is_refused(rate: float) -> None:
    for call in (
        lambda: power(Decimal("0.9"), rate, 50, A, "pass"),
        lambda: oc_accept(50, 3, rate),
        lambda: min_n_power(Decimal("0.9"), rate, A, 0.8, "pass"),
    ):
        with pytest.raises(StatisticsError, match="SLV-S001"):
            call()


@pytest.mark.parametrize("n", [1, 2, 7])
def test_probabilities_at_the_ends_of_a_sample(n: int) -> None:
    """None of n, all of n, and a number that no sample of n can reach."""
    assert oc_accept(n, 0, 0.3) == pytest.approx(0.7**n)
    assert oc_accept(n, n - 1, 0.3) == pytest.approx(1 - 0.3**n)
    assert [oc_accept(n, c, 0.3) for c in (n, n + 1, n + 9)] == [1.0, 1.0, 1.0]
    assert state_probability(n, None, 0, 0.7, "breach") == 1.0
    assert state_probability(n, None, 1, 0.7, "breach") == pytest.approx(1 - 0.7**n)
    assert state_probability(n, None, n, 0.7, "breach") == pytest.approx(0.3**n)
    assert state_probability(n, None, n + 1, 0.7, "breach") == 0.0
    assert detectable_rate(n, 1, 0.8) == pytest.approx(0.2 ** (1 / n))
    assert detectable_rate(n, n, 0.8) == pytest.approx(1 - 0.8 ** (1 / n))
    assert [detectable_rate(n, reject, 0.8) for reject in (None, 0, n + 1)] == [None, None, None]


def small_plans() -> list[tuple[float, float, float, float]]:
    generator = random.Random(11)
    plans = [(0.0001, 0.05, 0.3, 0.1), (0.01, 0.05, 0.95, 0.1), (0.2, 0.1, 0.97, 0.1), (0.05, 0.2, 0.96, 0.04)]
    for _ in range(120):
        good = round(generator.uniform(0.001, 0.5), 3)
        bad = round(generator.uniform(good + 0.15, 0.99), 3)
        if bad < 1:
            plans.append((good, generator.choice([0.05, 0.1, 0.3]), bad, generator.choice([0.05, 0.1, 0.3])))
    return plans


def first_plan(good: float, reject_good: float, bad: float, accept_bad: float) -> tuple[int, int]:
    for c in range(500):
        n = next(n for n in range(c + 1, 5000) if binom.cdf(c, n, bad) <= accept_bad)
        if binom.cdf(c, n, good) >= 1 - reject_good:
            return n, c
    raise AssertionError


def test_a_plan_of_two_points_is_the_first_of_all() -> None:
    for good, reject_good, bad, accept_bad in small_plans():
        found = two_point_plan(TwoPoint(*(Decimal(str(one)) for one in (good, reject_good, bad, accept_bad))))
        assert (found.n, found.pass_max_failures) == first_plan(good, reject_good, bad, accept_bad)


def test_planned_and_binding_numbers_agree_at_every_small_n() -> None:
    """Power is that of the exact numbers: P(F <= Ac) and P(F >= Re) by scipy."""
    for threshold in ("0.05", "0.5", "0.9"):
        for n in range(1, 60):
            exact = acceptance_numbers(Decimal(threshold), n, A, A)
            accept, reject = exact.pass_max_failures, exact.breach_min_failures
            rate = 0.5 * float(threshold) + 0.4
            passes = 0.0 if accept is None else float(binom.cdf(accept, n, 1 - rate))
            breaches = 0.0 if reject is None else float(binom.sf(reject - 1, n, 1 - rate))
            assert power(Decimal(threshold), rate, n, A, "pass") == pytest.approx(passes, abs=1e-12)
            assert power(Decimal(threshold), rate, n, A, "breach") == pytest.approx(breaches, abs=1e-12)


def test_a_budget_of_labels_holds_both_pilots() -> None:
    with pytest.raises(StatisticsError, match="SLV-S002"):
        calibration_allocation(1, 0.5, 0.9, 0.9, 1)
    with pytest.raises(StatisticsError, match="SLV-S002"):
        calibration_allocation(0, 0.5, 0.9, 0.9, 1)
    assert calibration_allocation(2, 0.5, 0.9, 0.9, 1).m0 == 1
    assert math.isclose(calibration_allocation(100, 0.5, 0.9, 0.9, 10).m1, 50)
