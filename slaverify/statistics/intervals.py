"""Show intervals of a rate: Wilson as a description, exact (Clopper-Pearson) as the interval of the decision.

All limits are shares in [0, 1]. A real x and n are allowed where a design effect makes them so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.errors import Text
from slaverify.statistics import domain


@dataclass(frozen=True, slots=True)
class Interval:
    """Two limits, `low` <= `high`."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ZeroBound:
    """What 0 events of n leave open: the exact one-sided bound, and 3/n as a reading aid."""

    exact_one_sided: float
    rule_of_three: float


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile at p in (0, 1). Source: Wichura, AS 241, as in the standard library."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def two_sided_z(confidence: Decimal | Fraction | float) -> float:
    """Return z of a two-sided confidence in (0, 1). Raises: StatisticsError SLV-S003."""
    return normal_quantile((1.0 + domain.confidence(confidence)) / 2.0)


def wilson_interval(x: float, n: float, confidence: Decimal | float) -> Interval:
    """Return the Wilson score interval of x of n (counts, or effective ones): descriptive, it never decides.

    Raises: StatisticsError SLV-S002 counts, SLV-S003 confidence.
    Source: Wilson 1927, Journal of the American Statistical Association 22:209-212 (*unverified*).
    """
    x, n = _real_counts(x, n)
    z = two_sided_z(confidence)
    p, z2 = x / n, z * z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    low = 0.0 if x <= 0.0 else max(0.0, centre - half)
    high = 1.0 if x >= n else min(1.0, centre + half)
    return Interval(low, high)


def exact_interval(x: float, n: float, confidence: Decimal | Fraction | float) -> Interval:
    """Return the exact two-sided interval of x of n, the interval of the decision.

    Raises: StatisticsError SLV-S002, SLV-S003. Source: Clopper and Pearson 1934, Biometrika 26:404-413
    (*unverified*); limits as beta quantiles.
    """
    a = (1.0 - domain.confidence(confidence)) / 2.0
    return limits_at(x, n, a)


def exact_bound(x: float, n: float, confidence: Decimal | Fraction | float) -> Interval:
    """Return both one-sided exact bounds of x of n, each at `confidence`. Raises: SLV-S002, SLV-S003."""
    return limits_at(x, n, 1.0 - domain.confidence(confidence))


def limits_at(x: float, n: float, tail: float) -> Interval:
    """Return the exact limits with probability `tail` in (0, 1) outside each. Raises: StatisticsError SLV-S002."""
    from scipy.special import betainccinv, betaincinv

    x, n = _real_counts(x, n)
    low = 0.0 if x <= 0.0 else float(betaincinv(x, n - x + 1.0, tail))
    high = 1.0 if x >= n else float(betainccinv(x + 1.0, n - x, tail))
    return Interval(low, high)


def jeffreys_interval(x: float, n: float, confidence: Decimal | float) -> Interval:
    """Return the equal-tailed interval of Beta(x + 1/2, n - x + 1/2); 0 at x = 0 and 1 at x = n. Never a rule.

    Raises: StatisticsError SLV-S002, SLV-S003.
    """
    from scipy.special import betainccinv, betaincinv

    x, n = _real_counts(x, n)
    a = (1.0 - domain.confidence(confidence)) / 2.0
    low = 0.0 if x <= 0.0 else float(betaincinv(x + 0.5, n - x + 0.5, a))
    high = 1.0 if x >= n else float(betainccinv(x + 0.5, n - x + 0.5, a))
    return Interval(low, high)


def conformance_probability(x: float, n: float, threshold: Decimal | Fraction) -> float:
    """Return P(rate >= T | x of n) under the Jeffreys prior: information, never a rule.

    Raises: StatisticsError SLV-S001, SLV-S002. Source: JCGM 106:2012, wording (*unverified*).
    """
    from scipy.special import betaincc

    x, n = _real_counts(x, n)
    t = float(domain.share(threshold, "threshold", closed=True))
    return float(betaincc(x + 0.5, n - x + 0.5, t))


def zero_event_bound(n: int, confidence: Decimal | float) -> ZeroBound:
    """Return the one-sided bound of a rate with 0 events of n: 1 - alpha^(1/n), alpha = 1 - confidence.

    Raises: StatisticsError SLV-S002, SLV-S003.
    Source: Hanley and Lippman-Hand 1983, JAMA 249:1743-1745 (*unverified*), for 3/n.
    """
    domain.count(n, "n", least=1)
    alpha = 1.0 - domain.confidence(confidence)
    return ZeroBound(-math.expm1(math.log(alpha) / n), min(1.0, 3.0 / n))


def real_tails(x_pass: float, x_breach: float, n: float, threshold: Fraction) -> tuple[float, float]:
    """Return (p_pass, p_breach) of real-valued successes: P(X >= x_pass) and P(X <= x_breach) at the threshold.

    Raises: StatisticsError SLV-S002. Source: docs/spec/decision.md, tails through the beta function.
    """
    from scipy.special import betainc, betaincc

    t = float(threshold)
    low, n = _real_counts(x_pass, n)
    high, n = _real_counts(x_breach, n)
    p_pass = 1.0 if low <= 0.0 else float(betainc(low, n - low + 1.0, t))
    p_breach = 1.0 if high >= n else float(betaincc(high + 1.0, n - high, t))
    return p_pass, p_breach


def _real_counts(x: float, n: float) -> tuple[float, float]:
    x, n = domain.finite(x, "x"), domain.finite(n, "n")
    if not 0.0 <= x <= n or n <= 0.0:
        raise domain.refusal(
            "SLV-S002", Text(f"se exige 0 <= x <= n y n > 0: {x} de {n}", f"0 <= x <= n and n > 0: {x} of {n}"), "x"
        )
    return x, n
