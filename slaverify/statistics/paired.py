"""Compare two versions or two runs: the same items (paired) or different ones. Never SLA conformity.

Discordant pairs: `b` passed before and fail after, `c` failed before and pass after. A p above alpha is no evidence
of "no loss": only the change check, with its margin, accepts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import comb

from slaverify.errors import Text
from slaverify.statistics import domain
from slaverify.statistics.intervals import Interval, normal_quantile, wilson_interval


@dataclass(frozen=True, slots=True)
class McNemar:
    """A two-sided p in [0, 1]; `note` is `no_discordant_pairs` where nothing can be said."""

    p: Fraction
    note: str | None = None


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean of the differences new minus old, its standard error, and their ratio (null if the error is 0)."""

    mean: float
    se: float
    t: float | None


@dataclass(frozen=True, slots=True)
class ChangeCheck:
    """The score statistic at the margin and the state: `accepted`, `reverted` or `not_shown`."""

    z: float
    state: str


@dataclass(frozen=True, slots=True)
class PairedSize:
    """Items that a paired comparison needs: as computed, and rounded up."""

    n_real: float
    n: int


def mcnemar_exact(b: int, c: int) -> McNemar:
    """Return the exact two-sided p, min(1, 2 P(Bin(b + c, 1/2) <= min)). Raises: StatisticsError SLV-S002.

    Source: McNemar 1947, Psychometrika 12:153-157 (*unverified*), with the exact distribution.
    """
    n, least = _discordant(b, c)
    if n == 0:
        return McNemar(Fraction(1), "no_discordant_pairs")
    return McNemar(min(Fraction(1), 2 * _half(least, n)))


def mcnemar_midp(b: int, c: int) -> McNemar:
    """Return the mid-p, the one that is shown. Raises: StatisticsError SLV-S002.

    Source: Fagerland, Lydersen and Laake 2013, BMC Medical Research Methodology 13:91 (*unverified*).
    """
    n, least = _discordant(b, c)
    if n == 0:
        return McNemar(Fraction(1), "no_discordant_pairs")
    point = Fraction(comb(n, least), 2**n)
    return McNemar(1 - point / 2 if b == c else 2 * _half(least, n) - point)


def fisher_exact(a: int, b: int, c: int, d: int) -> Fraction:
    """Return the exact two-sided p of a 2 x 2 table (rows a b and c d): the tables no likelier than this one.

    1 for an empty margin. Raises: StatisticsError SLV-S002. Source: Fisher 1934 (*unverified*), exact integers.
    """
    for value, where in ((a, "a"), (b, "b"), (c, "c"), (d, "d")):
        domain.count(value, where)
    row, column, n = a + b, a + c, a + b + c + d
    ways = [comb(row, k) * comb(n - row, column - k) for k in range(max(0, column - (n - row)), min(row, column) + 1)]
    mine = comb(row, a) * comb(n - row, column - a)
    return Fraction(sum(way for way in ways if way <= mine), comb(n, column))


def paired_difference(a: Sequence[float], b: Sequence[float]) -> PairedDifference:
    """Return the mean difference a - b over the same items. Descriptive. Raises: StatisticsError SLV-S002, SLV-S006."""
    first, second = domain.finites(a, "a"), domain.finites(b, "b")
    n = len(first)
    if n != len(second) or n < 2:
        raise domain.refusal("SLV-S006", Text("se necesitan dos o más pares", "two or more pairs are needed"), "a")
    differences = [x - y for x, y in zip(first, second, strict=True)]
    mean = math.fsum(differences) / n
    se = math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (n - 1) / n)
    return PairedDifference(mean, se, mean / se if se > 0.0 else None)


def independent_difference(x1: int, n1: int, x2: int, n2: int, confidence: Decimal | float) -> Interval:
    """Return the interval of p1 - p2 for different items. Raises: StatisticsError SLV-S002, SLV-S003.

    Source: Newcombe 1998, Statistics in Medicine 17:873-890, method 10 (*unverified*).
    """
    one, two = wilson_interval(x1, n1, confidence), wilson_interval(x2, n2, confidence)
    p1, p2 = x1 / n1, x2 / n2
    below = math.hypot(p1 - one.low, two.high - p2)
    above = math.hypot(one.high - p1, p2 - two.low)
    return Interval(max(-1.0, p1 - p2 - below), min(1.0, p1 - p2 + above))


def paired_sample_size(
    omega2: float, sigma2_a: float, sigma2_b: float, k_a: int, k_b: int, delta: float, alpha: float, power: float
) -> PairedSize:
    """Return the items needed to see a difference `delta` with `power` at two-sided `alpha`.

    `omega2` variance of the item differences, `sigma2_…` within-item variances over `k_…` calls.
    Raises: StatisticsError SLV-S002, SLV-S003. Source: Miller 2024 (arXiv 2411.00640, *unverified*).
    """
    variance = (
        domain.finite(omega2, "omega2")
        + domain.finite(sigma2_a, "sigma2_a") / domain.count(k_a, "k_a", least=1)
        + domain.finite(sigma2_b, "sigma2_b") / domain.count(k_b, "k_b", least=1)
    )
    if domain.finite(delta, "delta") == 0.0 or variance < 0.0:
        raise domain.refusal("SLV-S002", Text("delta distinto de 0", "delta other than 0"), "delta")
    z = normal_quantile(1.0 - domain.confidence(alpha, "alpha") / 2.0) + normal_quantile(
        domain.confidence(power, "power")
    )
    n = z * z * variance / (delta * delta)
    return PairedSize(n, math.ceil(n))


def change_check(b: float, c: float, n: float, max_loss: Decimal | Fraction, alpha: Decimal | Fraction) -> ChangeCheck:
    """Say whether a loss above `max_loss` is ruled out over n paired items (real where a design effect shrinks them).

    `max_loss` in (0, 1), `alpha` one-sided in (0, 0.5). Raises: StatisticsError SLV-S001, SLV-S002, SLV-S003.
    Source: Tango 1998, Statistics in Medicine 17:891-908 (*unverified*).
    """
    b, c, n = domain.finite(b, "b"), domain.finite(c, "c"), domain.finite(n, "n")
    # Counts that one design effect divides may miss n by the last bit.
    if min(b, c) < 0.0 or n <= 0.0 or b + c > n * (1.0 + 1e-12):
        raise domain.refusal("SLV-S002", Text("se exige b + c <= n", "b + c <= n is due"), "n")
    margin = -float(domain.share(max_loss, "max_loss"))
    level = domain.level(alpha, "alpha")
    linear = -b - c + (2.0 * n - c + b) * margin
    constant = -b * margin * (1.0 - margin)
    q = (math.sqrt(max(0.0, linear * linear - 8.0 * n * constant)) - linear) / (4.0 * n)
    spread = n * (2.0 * q + margin * (1.0 - margin))
    z = (c - b - n * margin) / math.sqrt(spread) if spread > 0.0 else 0.0
    if z >= normal_quantile(1.0 - float(level)):
        return ChangeCheck(z, "accepted")
    return ChangeCheck(z, "reverted" if _loss_shown(b, c, level) else "not_shown")


def _loss_shown(b: float, c: float, level: Fraction) -> bool:
    """Tell whether P(Bin(b + c, 1/2) <= c) <= level: exact for counts, through the beta function for real ones."""
    if b + c <= 0.0:
        return False
    if b.is_integer() and c.is_integer():
        return _half(int(c), int(b + c)) <= level
    from scipy.special import betaincc

    return b > 0.0 and float(betaincc(c + 1.0, b, 0.5)) <= float(level)


def _half(least: int, n: int) -> Fraction:
    """Return P(Bin(n, 1/2) <= least), exact."""
    term, total = 1, 0
    for k in range(least + 1):
        total += term
        term = term * (n - k) // (k + 1)
    return Fraction(total, 2**n)


def _discordant(b: int, c: int) -> tuple[int, int]:
    domain.count(b, "b")
    domain.count(c, "c")
    return b + c, min(b, c)
