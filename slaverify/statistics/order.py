"""Quantiles as order statistics, with the interval that needs no shape of the distribution.

Source: David and Nagaraja, Order Statistics, 3rd ed., section 7.1 (*unverified*).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from slaverify.statistics.exact import rejection_number


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ranks (from 1, ascending) of a quantile and of its interval's ends; null where n is too small for that end."""

    value: int
    low: int | None
    high: int | None


def quantile_ranks(n: int, q: Fraction, confidence: Fraction) -> Ranks:
    """Return the ranks of the q-quantile of n independent values (n from 1), q and `confidence` in (0, 1).

    Of the B ~ Bin(n, q) values below the quantile: X(l) with P(B <= l - 1) <= a and X(u) with P(B >= u) <= a hold it
    with probability 1 - 2a at least, a = (1 - confidence) / 2. The value is X(ceil(q n)).
    Raises: ValueError outside these ranges.
    """
    if n < 1 or not 0 < q < 1 or not 0 < confidence < 1:
        raise ValueError("n from 1, q and confidence in (0, 1)")
    alpha = (1 - confidence) / 2
    # P(B <= l - 1) is P(n - B >= n - l + 1), and n - B ~ Bin(n, 1 - q).
    below = rejection_number(q, n, alpha)
    above = rejection_number(1 - q, n, alpha)
    return Ranks(
        value=max(1, -(-q.numerator * n // q.denominator)),
        low=None if below is None else n - below + 1,
        high=above,
    )
