"""The integers that decide: against brute force, their published values, properties, refusals."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    TwoPoint,
    acceptance_numbers,
    binomial_tails,
    exact_at_most,
    failures_at_most,
    finite_bank_acceptance_numbers,
    finite_bank_interval,
    min_n_zero_failures,
    rejection_number,
    required_sample,
)

A = Decimal("0.025")


def brute(n: int, t: Fraction) -> list[Fraction]:
    """P(F <= c) for c = 0..n, term by term."""
    total, out = Fraction(0), []
    for f in range(n + 1):
        total += math.comb(n, f) * t ** (n - f) * (1 - t) ** f
        out.append(total)
    return out


rates = st.integers(1, 199).map(lambda k: Decimal(k) / 200)
levels = st.integers(1, 99).map(lambda k: Decimal(k) / 200)


@given(n=st.integers(1, 60), t=rates, alpha_pass=levels, alpha_breach=levels)
@settings(max_examples=150, deadline=None)
def test_numbers_are_those_of_the_definition(n: int, t: Decimal, alpha_pass: Decimal, alpha_breach: Decimal) -> None:
    cumulative = brute(n, Fraction(t))
    found = acceptance_numbers(t, n, alpha_pass, alpha_breach)
    accepts = [c for c in range(n + 1) if cumulative[c] <= Fraction(alpha_pass)]
    rejects = [r for r in range(1, n + 1) if 1 - cumulative[r - 1] <= Fraction(alpha_breach)]
    assert found.pass_max_failures == (max(accepts) if accepts else None)
    assert found.breach_min_failures == (min(rejects) if rejects else None)
    assert found.risk_false_pass == (cumulative[max(accepts)] if accepts else 0)
    assert found.risk_false_breach == (1 - cumulative[min(rejects) - 1] if rejects else 0)
    if accepts and rejects:
        assert max(accepts) < min(rejects)


@given(n=st.integers(1, 400), t=rates, alpha=levels)
@settings(max_examples=80, deadline=None)
def test_at_most_mirrors_at_least(n: int, t: Decimal, alpha: Decimal) -> None:
    assert acceptance_numbers(t, n, alpha, alpha) == acceptance_numbers(1 - t, n, alpha, alpha, "at_most")


@given(n=st.integers(1, 500), t=rates, small=levels, large=levels)
@settings(max_examples=80, deadline=None)
def test_a_wider_alpha_widens_both_states(n: int, t: Decimal, small: Decimal, large: Decimal) -> None:
    small, large = sorted((small, large))
    tight, wide = acceptance_numbers(t, n, small, small), acceptance_numbers(t, n, large, large)
    infinite = n + 1
    tight_pass = -1 if tight.pass_max_failures is None else tight.pass_max_failures
    wide_pass = -1 if wide.pass_max_failures is None else wide.pass_max_failures
    tight_breach = infinite if tight.breach_min_failures is None else tight.breach_min_failures
    wide_breach = infinite if wide.breach_min_failures is None else wide.breach_min_failures
    assert tight_pass <= wide_pass
    assert tight_breach >= wide_breach


@pytest.mark.parametrize("n", [301, 1000, 5000])
@pytest.mark.parametrize("t", [Fraction(19, 20), Fraction(1, 2), Fraction(3, 100), Fraction("0.9512345")])
def test_brackets_agree_with_the_full_integers(n: int, t: Fraction) -> None:
    mean = float(n * (1 - t))
    sd = math.sqrt(float(n * t * (1 - t)))
    for c in {0, int(mean - 6 * sd), int(mean - 2 * sd), int(mean), int(mean + 2 * sd), int(mean + 7 * sd), n - 1}:
        if 0 <= c < n:
            quick, full = failures_at_most(c, n, t), exact_at_most(c, n, t)
            assert 0 <= quick - full < Fraction(1, 2**250)


def test_a_tie_is_settled_by_the_full_integers() -> None:
    """P(F <= 0) = alpha exactly: PASS is `<= alpha`, so the tie passes; a hair less and it does not."""
    n = 1000
    t = Fraction(999, 1000)
    alpha = t**n
    assert alpha < Fraction(1, 2)
    assert acceptance_numbers(t, n, alpha, A).pass_max_failures == 0
    assert acceptance_numbers(t, n, alpha - Fraction(1, 10**200), A).pass_max_failures is None
    assert rejection_number(1 - t, n, alpha) == n
    assert rejection_number(1 - t, n, alpha - Fraction(1, 10**200)) is None


def test_small_ties_of_decimals() -> None:
    assert acceptance_numbers(Decimal("0.5"), 5, Decimal("0.03125"), A).pass_max_failures == 0
    assert acceptance_numbers(Decimal("0.5"), 5, Decimal("0.03124"), A).pass_max_failures is None


def test_large_n_agrees_with_scipy() -> None:
    from scipy.stats import binom

    for n in (20_001, 1_000_000):
        found = acceptance_numbers(Decimal("0.95"), n, A, A)
        c, r = found.pass_max_failures, found.breach_min_failures
        assert binom.cdf(c, n, 0.05) <= 0.025 < binom.cdf(c + 1, n, 0.05)
        assert binom.sf(r - 1, n, 0.05) <= 0.025 < binom.sf(r - 2, n, 0.05)


@pytest.mark.parametrize(
    ("alpha", "table"),
    [
        ("0.025", {"0.90": 36, "0.95": 72, "0.97": 122, "0.98": 183, "0.99": 368, "0.995": 736, "0.999": 3688}),
        ("0.05", {"0.90": 29, "0.95": 59, "0.97": 99, "0.98": 149, "0.99": 299, "0.995": 598, "0.999": 2995}),
    ],
)
def test_smallest_sample_that_can_pass(alpha: str, table: dict[str, int]) -> None:
    for threshold, n in table.items():
        assert min_n_zero_failures(Decimal(threshold), Decimal(alpha)) == n
        assert acceptance_numbers(Decimal(threshold), n, Decimal(alpha), A).pass_max_failures == 0
        assert acceptance_numbers(Decimal(threshold), n - 1, Decimal(alpha), A).pass_max_failures is None


def test_the_sawtooth_at_71_and_72() -> None:
    assert acceptance_numbers(Decimal("0.95"), 71, A, A).pass_max_failures is None
    assert acceptance_numbers(Decimal("0.95"), 72, A, A).pass_max_failures == 0


def test_numbers_of_the_demonstration() -> None:
    two = Fraction(A) / 2
    assert acceptance_numbers(Decimal("0.90"), 120, A, two).pass_max_failures == 5
    assert acceptance_numbers(Decimal("0.90"), 120, A, two).breach_min_failures == 21
    assert acceptance_numbers(Decimal("0.10"), 150, A, two, "at_most").pass_max_failures == 7
    assert acceptance_numbers(Decimal("0.10"), 150, A, two, "at_most").breach_min_failures == 25


def test_guarded_rejection_that_cannot_reject_accepts_nothing() -> None:
    found = acceptance_numbers(Decimal("0.5"), 3, A, A, rule="guarded_rejection")
    assert (found.pass_max_failures, found.breach_min_failures) == (None, None)


def test_zero_observed_may_carry_one() -> None:
    found = acceptance_numbers(Decimal(1), 50, A, A, rule="zero_observed")
    assert (found.pass_max_failures, found.breach_min_failures) == (0, 1)
    assert found.risk_false_pass == 1
    mirrored = acceptance_numbers(Decimal(0), 50, A, A, "at_most", "zero_observed")
    assert (mirrored.pass_max_failures, mirrored.breach_min_failures) == (0, 1)


def test_two_point_numbers_at_the_planned_n() -> None:
    plan = TwoPoint(Decimal("0.02"), Decimal("0.05"), Decimal("0.05"), Decimal("0.05"))
    assert acceptance_numbers(Decimal("0.95"), 386, A, A, rule="two_point", two_point=plan).pass_max_failures == 12
    with pytest.raises(StatisticsError, match="SLV-S007"):
        acceptance_numbers(Decimal("0.95"), 385, A, A, rule="two_point", two_point=plan)
    with pytest.raises(StatisticsError, match="SLV-S012"):
        acceptance_numbers(Decimal("0.95"), 386, A, A, rule="two_point")


def test_no_items_no_numbers() -> None:
    for rule in ("guarded", "guarded_rejection", "simple", "zero_observed"):
        found = acceptance_numbers(Decimal("0.9"), 0, A, A, rule=rule)
        assert (found.pass_max_failures, found.breach_min_failures) == (None, None)


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("SLV-S001", (Decimal("1"), 10, A, A)),
        ("SLV-S001", (Decimal("0"), 10, A, A)),
        ("SLV-S001", (Decimal("-0.1"), 10, A, A)),
        ("SLV-S001", (0.95, 10, A, A)),
        ("SLV-S001", ("0.95", 10, A, A)),
        ("SLV-S001", (Decimal("0." + "9" * 30), 10, A, A)),
        ("SLV-S002", (Decimal("NaN"), 10, A, A)),
        ("SLV-S002", (Decimal("Infinity"), 10, A, A)),
        ("SLV-S002", (Decimal("0.9"), True, A, A)),
        ("SLV-S002", (Decimal("0.9"), -1, A, A)),
        ("SLV-S002", (Decimal("0.9"), 10.0, A, A)),
        ("SLV-S002", (Decimal("0.9"), 10**18, A, A)),
        ("SLV-S003", (Decimal("0.9"), 10, Decimal("0.5"), A)),
        ("SLV-S003", (Decimal("0.9"), 10, A, Decimal("0"))),
        ("SLV-S003", (Decimal("0.9"), 10, 0.025, A)),
        ("SLV-S012", (Decimal("0.9"), 10, A, A, "at_least", "coin")),
        ("SLV-S012", (Decimal("0.9"), 10, A, A, "above")),
    ],
)
def test_refusals(code: str, arguments: tuple) -> None:
    with pytest.raises(StatisticsError, match=code):
        acceptance_numbers(*arguments)


@given(n=st.integers(0, 80), t=st.integers(0, 20).map(lambda k: Decimal(k) / 20), data=st.data())
@settings(max_examples=100, deadline=None)
def test_tails_overlap_in_one_point(n: int, t: Decimal, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, n))
    tails = binomial_tails(x, n, t)
    point = math.comb(n, x) * Fraction(t) ** x * (1 - Fraction(t)) ** (n - x)
    assert tails.p_greater + tails.p_less == 1 + point


def test_required_sample() -> None:
    assert required_sample(Decimal("0.95"), Decimal("0.95")) == 59
    with pytest.raises(StatisticsError, match="SLV-S001"):
        required_sample(Decimal("1"), Decimal("0.95"))


@given(size=st.integers(2, 60), t=rates, alpha=levels, data=st.data())
@settings(max_examples=120, deadline=None)
def test_bank_numbers_are_those_of_the_definition(size: int, t: Decimal, alpha: Decimal, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, size))
    found = finite_bank_acceptance_numbers(size, n, t, alpha, alpha)
    required = math.ceil(Fraction(t) * size)

    def cumulative(c: int, wrong: int) -> Fraction:
        ways = sum(math.comb(wrong, f) * math.comb(size - wrong, n - f) for f in range(c + 1))
        return Fraction(ways, math.comb(size, n))

    accepts = [c for c in range(n + 1) if cumulative(c, size - required + 1) <= Fraction(alpha)]
    rejects = [r for r in range(1, n + 1) if 1 - cumulative(r - 1, size - required) <= Fraction(alpha)]
    assert found.count_required == required
    assert found.numbers.pass_max_failures == (max(accepts) if accepts else None)
    assert found.numbers.breach_min_failures == (min(rejects) if rejects else None)


def test_a_census_has_no_sampling_error() -> None:
    found = finite_bank_acceptance_numbers(500, 500, Decimal("0.95"), A, A)
    assert (found.numbers.pass_max_failures, found.numbers.breach_min_failures) == (25, 26)
    assert found.numbers.risk_false_pass == found.numbers.risk_false_breach == 0
    interval = finite_bank_interval(470, 500, 500, Decimal("0.95"))
    assert interval.count_low == interval.count_high == 470


@given(size=st.integers(1, 80), data=st.data())
@settings(max_examples=80, deadline=None)
def test_bank_interval_holds_the_estimate(size: int, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, size))
    x = data.draw(st.integers(0, n))
    found = finite_bank_interval(x, n, size, Decimal("0.95"))
    assert x <= found.count_low <= found.count_high <= size - (n - x)
    assert found.low <= Fraction(x, n) <= found.high or size < 2 * n


def test_a_sample_above_the_bank_is_refused() -> None:
    with pytest.raises(StatisticsError, match="SLV-S004"):
        finite_bank_acceptance_numbers(10, 11, Decimal("0.9"), A, A)
    with pytest.raises(StatisticsError, match="SLV-S004"):
        finite_bank_interval(3, 11, 10, Decimal("0.95"))
