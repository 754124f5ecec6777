"""Decide about items that are not independent: clusters with a declared floor, weighted strata.

The effective sample makes a real-valued binomial of n items; its tails go through the beta function. The declared
floor, not the estimate, protects near 1, where few failures leave the design effect unmeasurable.

Source: Korn and Graubard 1998, Survey Methodology 24:193-201 (*unverified*); floor and cap: docs/spec/decision.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.errors import Text
from slaverify.statistics import domain
from slaverify.statistics.intervals import Interval, limits_at


@dataclass(frozen=True, slots=True)
class Clustered:
    """A rate over clusters. `rate` in [0, 1]; `deff` >= 1; `deff_observed` null at rate 0 or 1; `n_eff` in (0, n].

    `low` and `high` are the exact limits of the effective sample, each at the level asked.
    """

    rate: float
    deff_observed: float | None
    deff: float
    n_eff: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ClusteredInterval:
    """The descriptive survey interval: mean, its standard error between clusters, limits in [0, 1]."""

    mean: float
    se_cr: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Weighted:
    """A weighted rate over strata and its effective sample."""

    rate: float
    n_eff: float


def clustered_decision(
    successes: Sequence[float], sizes: Sequence[float], icc_floor: Decimal | Fraction | float | None, alpha: float
) -> Clustered:
    """Return rate, design effect, effective sample and one-sided limits at `alpha` of clustered successes.

    `successes` and `sizes` per cluster (real where a mean over repeats), 0 <= successes <= size; `icc_floor` in
    [0, 1], null: n_eff is the number of clusters. At least two clusters.
    Raises: StatisticsError SLV-S002 counts, SLV-S003 alpha, SLV-S006 sizes.
    """
    x, m = _checked(successes, sizes, least=2)
    a = _alpha(alpha)
    n, g = math.fsum(m), len(m)
    p = math.fsum(x) / n
    observed = _observed_deff(x, m, p, n)
    if icc_floor is None:
        n_eff = min(n, float(g))
        limits = limits_at(p * n_eff, n_eff, a)
        return Clustered(p, observed, n / n_eff, n_eff, limits.low, limits.high)
    floor = domain.finite(icc_floor, "icc_floor")
    deff = max(observed or 1.0, 1.0 + (math.fsum(size * size for size in m) / n - 1.0) * floor, 1.0)
    n_eff = min(n, n / deff * _t_ratio(n, g, a))
    limits = limits_at(p * n_eff, n_eff, a)
    return Clustered(p, observed, deff, n_eff, limits.low, limits.high)


def clustered_interval(
    successes: Sequence[float], sizes: Sequence[float], confidence: Decimal | float = 0.95
) -> ClusteredInterval:
    """Return the Korn-Graubard interval as survey packages print it: no floor, no cap. Descriptive, never decides.

    Raises: StatisticsError SLV-S002, SLV-S003, SLV-S006.
    """
    x, m = _checked(successes, sizes, least=2)
    n, g = math.fsum(m), len(m)
    p = math.fsum(x) / n
    a = (1.0 - domain.confidence(confidence)) / 2.0
    v = _variance(x, m, p, n)
    if v <= 0.0:
        limits = limits_at(p * n, n, a)
        return ClusteredInterval(p, 0.0, limits.low, limits.high)
    n_eff = p * (1.0 - p) / v * _t_ratio(n, g, a)
    limits = limits_at(p * n_eff, n_eff, a)
    return ClusteredInterval(p, math.sqrt(v), limits.low, limits.high)


def weighted_rate(
    successes: Sequence[float], sizes: Sequence[float], weights: Sequence[Fraction | Decimal | float]
) -> Weighted:
    """Return the weighted rate of strata and its effective sample.

    `weights` sum to 1. Raises: StatisticsError SLV-S002, SLV-S006, SLV-S011 (a stratum of one item).
    """
    x, n = _checked(successes, sizes, least=1)
    w = domain.finites(weights, "weights")
    if len(w) != len(n) or not math.isclose(math.fsum(w), 1.0, abs_tol=1e-9) or min(w) < 0.0:
        raise domain.refusal(
            "SLV-S006",
            Text("los pesos no suman 1, uno por estrato", "weights do not sum to 1, one a stratum"),
            "weights",
        )
    if any(size < 2.0 for size in n):
        raise domain.refusal(
            "SLV-S011",
            Text("un estrato con un solo ítem y pesos desiguales", "a stratum of one item with unequal weights"),
            "sizes",
            Text("saque al menos dos ítems por estrato", "draw at least two items a stratum"),
        )
    rates = [right / size for right, size in zip(x, n, strict=True)]
    p = math.fsum(weight * rate for weight, rate in zip(w, rates, strict=True))
    v = math.fsum(
        weight**2 * rate * (1.0 - rate) / (size - 1.0) for weight, rate, size in zip(w, rates, n, strict=True)
    )
    bounds = [math.fsum(n), 1.0 / math.fsum(weight**2 / size for weight, size in zip(w, n, strict=True))]
    if v > 0.0:
        bounds.append(p * (1.0 - p) / v)
    return Weighted(min(1.0, max(0.0, p)), min(bounds))


def logit_interval(successes: Sequence[float], sizes: Sequence[float], confidence: Decimal | float = 0.95) -> Interval:
    """Return the logit interval of survey packages: an oracle for tests and comparison, never a decision.

    Raises: StatisticsError SLV-S002, SLV-S003, SLV-S006.
    """
    from scipy.special import stdtrit

    x, m = _checked(successes, sizes, least=2)
    n, g = math.fsum(m), len(m)
    p = math.fsum(x) / n
    if not 0.0 < p < 1.0:
        return Interval(p, p)
    z = float(stdtrit(g - 1, (1.0 + domain.confidence(confidence)) / 2.0))
    centre, half = math.log(p / (1.0 - p)), z * math.sqrt(_variance(x, m, p, n)) / (p * (1.0 - p))
    return Interval(1.0 / (1.0 + math.exp(half - centre)), 1.0 / (1.0 + math.exp(-half - centre)))


def _variance(x: list[float], m: list[float], p: float, n: float) -> float:
    g = len(m)
    return g / (g - 1.0) * math.fsum((right - p * size) ** 2 for right, size in zip(x, m, strict=True)) / n**2


def _observed_deff(x: list[float], m: list[float], p: float, n: float) -> float | None:
    """Return the observed design effect, null where every item agrees."""
    if p <= 0.0 or math.fsum(x) >= n or n <= 1.0:
        return None
    return _variance(x, m, p, n) / (p * (1.0 - p) / (n - 1.0))


def _t_ratio(n: float, g: int, alpha: float) -> float:
    from scipy.special import stdtrit

    if n <= 1.0:
        return 1.0
    return float((stdtrit(n - 1.0, 1.0 - alpha) / stdtrit(g - 1.0, 1.0 - alpha)) ** 2)


def _alpha(alpha: float) -> float:
    a = domain.finite(alpha, "alpha")
    if not 0.0 < a < 0.5:
        raise domain.refusal(
            "SLV-S003",
            Text(f"el riesgo {alpha} no está entre 0 y 0.5", f"the risk {alpha} is not in (0, 0.5)"),
            "alpha",
        )
    return a


def _checked(successes: Sequence[float], sizes: Sequence[float], *, least: int) -> tuple[list[float], list[float]]:
    x, m = domain.finites(successes, "successes"), domain.finites(sizes, "sizes")
    if len(x) != len(m) or len(m) < least or any(size <= 0.0 for size in m):
        raise domain.refusal(
            "SLV-S006",
            Text(
                f"se necesitan {least} o más grupos de tamaño positivo",
                f"{least} or more groups of positive size are needed",
            ),
            "sizes",
        )
    if any(not 0.0 <= right <= size for right, size in zip(x, m, strict=True)):
        raise domain.refusal("SLV-S002", Text("se exige 0 <= x <= tamaño", "0 <= x <= size is due"), "successes")
    return x, m
