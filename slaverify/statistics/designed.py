"""Figures of a sample that people read with known inclusion probabilities: each cell drawn at random, cells unlike.

A figure is a function of the cells' shares of the run and of the share found positive in each. Its variance follows
from both by linearisation: what was read in a cell is binomial, the cells' shares are those of a sample of the run.
A share is then turned into an effective sample for the exact tails, as in `stratified_audit`, whose rate is the
figure `sum(w * p)`.

Source: Woodruff 1971, Journal of the American Statistical Association 66:411-414, for linearisation (*unverified*);
bounds and smoothing as in docs/spec/decision.md. Derivatives by the complex step: Squire and Trapp 1998, SIAM Review
40:110-112 (*unverified*).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from slaverify.statistics import domain
from slaverify.statistics.intervals import limits_at, two_sided_z
from slaverify.statistics.judge import Cell

Figure: TypeAlias = Callable[[Sequence[complex], Sequence[complex]], complex]
"""From the cells' shares of the run and their shares of positives to the figure. Sums, products and quotients only."""

_STEP = 1e-30


@dataclass(frozen=True, slots=True)
class Designed:
    """A figure with its limits; all null, with a `reason`, where it does not exist. `n_eff` null for coefficients."""

    value: float | None
    low: float | None
    high: float | None
    n_eff: float | None = None
    reason: str | None = None


def designed_share(cells: Sequence[Cell], figure: Figure, confidence: Decimal | float) -> Designed:
    """Return a share in [0, 1] with exact limits on its effective sample.

    Raises: StatisticsError SLV-S002, SLV-S003.
    """
    found = _measured(cells, figure)
    if isinstance(found, str):
        return Designed(None, None, None, reason=found)
    value = min(1.0, max(0.0, found.value))
    smooth = min(1.0, max(0.0, found.smooth))
    n, labels = float(sum(cell.size for cell in cells)), float(sum(cell.labels for cell in cells))
    n_eff = labels
    if found.variance > 0.0:
        n_eff = min(n, smooth * (1 - smooth) / found.variance, max(value * (1 - value) / found.variance, labels))
    tail = (1.0 - domain.confidence(confidence)) / 2.0
    if n_eff <= 0.0:
        return Designed(value, 0.0, 1.0, 0.0)
    limits = limits_at(value * n_eff, n_eff, tail)
    return Designed(value, limits.low, limits.high, n_eff)


def designed_coefficient(cells: Sequence[Cell], figure: Figure, confidence: Decimal | float) -> Designed:
    """Return a coefficient of agreement (at most 1) with normal limits. Raises: StatisticsError SLV-S002, SLV-S003."""
    found = _measured(cells, figure)
    if isinstance(found, str):
        return Designed(None, None, None, reason=found)
    half = two_sided_z(confidence) * math.sqrt(found.variance)
    return Designed(found.value, found.value - half, min(1.0, found.value + half))


@dataclass(frozen=True, slots=True)
class _Measured:
    value: float
    smooth: float
    variance: float


def _measured(cells: Sequence[Cell], figure: Figure) -> _Measured | str:
    used = [(index, cell) for index, cell in enumerate(cells) if domain.count(cell.size, "size") > 0]
    if not used:
        return "no_items"
    for _, cell in used:
        domain.counts(cell.right, cell.labels, least=0)
    if any(cell.labels == 0 for _, cell in used):
        return "cell_without_labels"
    n = sum(cell.size for _, cell in used)
    shares, rates, smooth = [0.0] * len(cells), [0.0] * len(cells), [0.0] * len(cells)
    for index, cell in used:
        shares[index] = cell.size / n
        rates[index] = cell.right / cell.labels
        smooth[index] = (cell.right + 1) / (cell.labels + 2)
    try:
        value = figure(shares, rates).real
        at_smooth = figure(shares, smooth).real
        of_rates = [_slope(figure, shares, smooth, 1, index) for index, _ in used]
        of_shares = [_slope(figure, shares, smooth, 0, index) for index, _ in used]
    except ZeroDivisionError:
        return "one_class"
    within = math.fsum(
        slope**2 * smooth[index] * (1 - smooth[index]) / cell.labels
        for slope, (index, cell) in zip(of_rates, used, strict=True)
    )
    mean = math.fsum(shares[index] * slope for slope, (index, _) in zip(of_shares, used, strict=True))
    between = math.fsum(shares[index] * (slope - mean) ** 2 for slope, (index, _) in zip(of_shares, used, strict=True))
    return _Measured(value, at_smooth, within + between / n)


def _slope(figure: Figure, shares: Sequence[float], rates: Sequence[float], which: int, index: int) -> float:
    values: list[list[complex]] = [[complex(one) for one in shares], [complex(one) for one in rates]]
    values[which][index] += complex(0.0, _STEP)
    return figure(values[0], values[1]).imag / _STEP
