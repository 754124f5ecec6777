"""Quantile intervals against binomial sums written out here."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.statistics import Ranks, quantile_ranks

HALF = Fraction(1, 2)


def cumulative(c: int, n: int, q: Fraction) -> Fraction:
    """P(B <= c) for B ~ Bin(n, q), term by term."""
    return sum((comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(c + 1)), Fraction(0))


def test_the_median_of_ten_as_tables_have_it():
    # P(B <= 1) = 11/1024 <= .025 < P(B <= 2) = 56/1024: the second and the ninth of ten.
    assert quantile_ranks(10, HALF, Fraction(95, 100)) == Ranks(5, 2, 9)


def test_too_few_values_have_no_bound():
    assert quantile_ranks(5, HALF, Fraction(95, 100)) == Ranks(3, None, None)
    assert quantile_ranks(100, Fraction(99, 100), Fraction(95, 100)).high is None
    assert quantile_ranks(1, HALF, Fraction(95, 100)) == Ranks(1, None, None)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.fractions(Fraction(1, 20), Fraction(19, 20)), st.sampled_from(["0.8", "0.95", "0.99"]))
def test_the_ends_are_the_tightest_that_hold(n, q, confidence):
    tail = (1 - Fraction(confidence)) / 2
    ranks = quantile_ranks(n, q, Fraction(confidence))
    assert ranks.value == max(1, ceil(q * n))
    lows = [rank for rank in range(1, n + 1) if cumulative(rank - 1, n, q) <= tail]
    highs = [rank for rank in range(1, n + 1) if 1 - cumulative(rank - 1, n, q) <= tail]
    assert ranks.low == (max(lows) if lows else None)
    assert ranks.high == (min(highs) if highs else None)


@pytest.mark.parametrize(("n", "q", "confidence"), [(0, HALF, HALF), (5, Fraction(0), HALF), (5, HALF, Fraction(1))])
def test_what_is_no_quantile_is_refused(n, q, confidence):
    with pytest.raises(ValueError, match="confidence"):
        quantile_ranks(n, q, confidence)
