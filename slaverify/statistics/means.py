"""Decide a promised mean of bounded scores by betting: valid for every distribution on the declared scale.

With y the score as a share of its scale and t the threshold, W(y, t) = mean over the stakes c of
prod (1 + c (y_i/t - 1)) has expectation at most 1 while the mean is at most t, for every n and any order.

Source: Waudby-Smith and Ramdas 2024, JRSS B 86:1-27 (arXiv 2010.09686, *unverified*), with fixed stakes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from slaverify.errors import StatisticsError, Text
from slaverify.statistics import domain

Units: TypeAlias = Mapping[tuple[float, float], int]
"""How often each pair of (errors, weight) occurs among the units."""

STAKES = (0.03, 0.1, 0.3, 0.6, 0.85)
"""Fixed stakes, part of the format: another set would be another method."""


@dataclass(frozen=True, slots=True)
class LogE:
    """Natural logarithms of the two e-values; a side decides at ln(1/alpha)."""

    log_e_pass: float
    log_e_breach: float


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean on its scale and the limits that the bets leave open."""

    mean: float
    low: float
    high: float


def bounded_mean_log_e(
    scores: Sequence[float],
    scale_low: Decimal | float,
    scale_high: Decimal | float,
    threshold: Decimal | Fraction | float,
    direction: str = "at_least",
) -> LogE:
    """Return the e-values for and against "the mean meets the threshold".

    `threshold` on the scale, strictly inside. Raises: StatisticsError SLV-S001, SLV-S002, SLV-S005 (off the scale),
    SLV-S010 (no scale).
    """
    shares, t = shares_of(scores, scale_low, scale_high), _inside(threshold, scale_low, scale_high)
    above, below = log_wealth(shares, t), log_wealth(mirrored(shares), 1.0 - t)
    return LogE(above, below) if direction == "at_least" else LogE(below, above)


def bounded_mean_interval(
    scores: Sequence[float], scale_low: Decimal | float, scale_high: Decimal | float, confidence: Decimal | float
) -> MeanInterval:
    """Return the two-sided interval of a bounded mean. Raises: StatisticsError SLV-S002, -S003, -S005, -S010."""
    shares = shares_of(scores, scale_low, scale_high)
    if not shares:
        raise domain.refusal("SLV-S002", Text("no hay puntajes", "there are no scores"), "scores")
    bar = math.log(2.0 / (1.0 - domain.confidence(confidence)))
    low, width = float(scale_low), float(scale_high) - float(scale_low)
    mean = math.fsum(score for score in map(float, scores)) / len(scores)
    return MeanInterval(
        mean, low + width * lower_limit(shares, bar), low + width * (1.0 - lower_limit(mirrored(shares), bar))
    )


def corpus_rate_log_e(
    errors: Sequence[int], weights: Sequence[int], threshold: Decimal | Fraction | float, w_max: int, r_max: Decimal
) -> LogE:
    """Return the e-values for and against "errors over weight are at most the threshold" (as word error rate).

    `threshold` in (0, r_max); errors of a unit count up to `r_max` times its weight, or times 1
    where it has none (the cap belongs to the metric).
    Raises: StatisticsError SLV-S001, SLV-S002, SLV-S005 (a unit longer than `w_max`).
    """
    t, ratio = domain.finite(threshold, "threshold"), domain.finite(r_max, "r_max")
    units = _units(errors, weights, w_max, ratio)
    if not 0.0 < t < ratio:
        raise _threshold(threshold, 0, r_max)
    shares = corpus_shares(units, t, w_max, ratio)
    return LogE(log_wealth(mirrored(shares), 1.0 - t / ratio), log_wealth(shares, t / ratio))


def corpus_rate_interval(
    errors: Sequence[int], weights: Sequence[int], w_max: int, r_max: Decimal, confidence: Decimal | float
) -> MeanInterval:
    """Return the interval of a corpus rate, in [0, r_max]. Raises: StatisticsError SLV-S002, SLV-S003, SLV-S005."""
    ratio = domain.finite(r_max, "r_max")
    units = _units(errors, weights, w_max, ratio)
    weight = math.fsum(w * count for (_, w), count in units.items())
    if weight <= 0.0:
        raise domain.refusal("SLV-S002", Text("no hay peso", "there is no weight"), "weights")
    rate = math.fsum(e * count for (e, _), count in units.items()) / weight
    low, high = corpus_limits(units, w_max, ratio, math.log(2.0 / (1.0 - domain.confidence(confidence))))
    return MeanInterval(rate, low, high)


def corpus_limits(units: Units, w_max: float, r_max: float, bar: float) -> tuple[float, float]:
    """Return the rates at which the bets against too low and too high reach `bar` (a logarithm); within [0, r_max]."""
    from scipy.optimize import brentq

    def above(theta: float) -> float:
        return log_wealth(corpus_shares(units, theta, w_max, r_max), theta / r_max) - bar

    def below(theta: float) -> float:
        return log_wealth(mirrored(corpus_shares(units, theta, w_max, r_max)), 1.0 - theta / r_max) - bar

    edge = 1e-12 * r_max
    low = float(brentq(above, edge, r_max - edge, xtol=1e-13)) if above(edge) > 0.0 > above(r_max - edge) else 0.0
    high = float(brentq(below, edge, r_max - edge, xtol=1e-13)) if below(r_max - edge) > 0.0 > below(edge) else r_max
    return low, high


def corpus_shares(units: Units, t: float, w_max: float, r_max: float) -> dict[float, int]:
    """Return D = e - t w as a share of its range [-t w_max, (r_max - t) w_max]; mean D = 0 is the share t/r_max."""
    out: Counter[float] = Counter()
    for (wrong, weight), count in units.items():
        out[min(1.0, max(0.0, (wrong - t * weight + t * w_max) / (r_max * w_max)))] += count
    return dict(out)


def log_wealth(shares: Mapping[float, int], t: float) -> float:
    """Return ln W(y, t) of shares in [0, 1] with their counts, t in (0, 1); 0 for an empty sample."""
    logs = [math.fsum(count * math.log1p(stake * (y / t - 1.0)) for y, count in shares.items()) for stake in STAKES]
    top = max(logs)
    return top + math.log(math.fsum(math.exp(value - top) for value in logs) / len(STAKES))


def lower_limit(shares: Mapping[float, int], bar: float) -> float:
    """Return the t with ln W(y, t) = bar, 0 if every share is 0. W falls in t."""
    from scipy.optimize import brentq

    if all(y <= 0.0 for y in shares):
        return 0.0
    edge = 1e-300

    def height(t: float) -> float:
        return log_wealth(shares, t) - bar

    return float(brentq(height, edge, 1.0, xtol=1e-14, rtol=8.9e-16)) if height(edge) > 0.0 else 0.0


def shares_of(scores: Sequence[float], scale_low: Decimal | float, scale_high: Decimal | float) -> Counter[float]:
    """Return the scores as shares of their declared scale, with counts; never clipped, never rescaled by guess.

    Raises: StatisticsError SLV-S002, SLV-S005, SLV-S010.
    """
    low, high = domain.finite(scale_low, "scale_low"), domain.finite(scale_high, "scale_high")
    if low >= high:
        raise domain.refusal("SLV-S010", Text("escala vacía", "empty scale"), "scale")
    shares: Counter[float] = Counter()
    for index, score in enumerate(scores):
        value = domain.finite(score, f"scores[{index}]")
        if not low <= value <= high:
            raise off_scale(value, low, high, f"scores[{index}]")
        shares[(value - low) / (high - low)] += 1
    return shares


def mirrored(shares: Mapping[float, int]) -> dict[float, int]:
    """Return the shares 1 - y."""
    out: Counter[float] = Counter()
    for y, count in shares.items():
        out[1.0 - y] += count
    return dict(out)


def off_scale(value: float, low: float, high: float, where: str) -> StatisticsError:
    """Return the refusal of a score outside of its scale: the judge's operator has to act."""
    return domain.refusal(
        "SLV-S005",
        Text(f"{value} está fuera de la escala [{low}, {high}]", f"{value} lies off the scale [{low}, {high}]"),
        where,
        Text("corrija la escala declarada o el puntaje", "mend the declared scale or the score"),
    )


def _inside(threshold: Decimal | Fraction | float, scale_low: Decimal | float, scale_high: Decimal | float) -> float:
    low, high = float(scale_low), float(scale_high)
    t = (domain.finite(threshold, "threshold") - low) / (high - low)
    if not 0.0 < t < 1.0:
        raise _threshold(threshold, scale_low, scale_high)
    return t


def _threshold(value: object, low: object, high: object) -> StatisticsError:
    return domain.refusal(
        "SLV-S001",
        Text(
            f"el umbral {value} no está entre {low} y {high}", f"the threshold {value} is not between {low} and {high}"
        ),
        "threshold",
    )


def _units(errors: Sequence[int], weights: Sequence[int], w_max: int, r_max: float) -> Units:
    if len(errors) != len(weights):
        raise domain.refusal("SLV-S006", Text("listas de distinto largo", "lists of different length"), "weights")
    domain.count(w_max, "w_max", least=1)
    units: Counter[tuple[float, float]] = Counter()
    for index, (wrong, weight) in enumerate(zip(errors, weights, strict=True)):
        domain.count(wrong, f"errors[{index}]")
        if domain.count(weight, f"weights[{index}]") > w_max:
            raise off_scale(weight, 0, w_max, f"weights[{index}]")
        units[min(float(wrong), r_max * max(weight, 1)), float(weight)] += 1
    return units
