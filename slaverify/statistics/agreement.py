"""Measure agreement between raters: kappa with its interval, AC1, alpha, and the word for kappa's lower limit.

Nothing here gates a judge: sensitivity and specificity do. A figure that does not exist is null with a reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from slaverify.errors import Text
from slaverify.statistics import domain
from slaverify.statistics.intervals import two_sided_z

Ratings: TypeAlias = Sequence[Sequence[Hashable | None]]
"""One list per rater, one value per item; null = missing."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa in [-1, 1], its standard error and normal limits; null with a `reason`."""

    kappa: float | None
    se: float | None
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Ac1:
    """Gwet's AC1, its standard error, observed and chance agreement."""

    ac1: float | None
    se: float | None
    pa: float | None
    pe: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha for nominal values."""

    alpha: float | None
    reason: str | None = None


def cohen_kappa(table: Sequence[Sequence[int]], confidence: Decimal | float = 0.95) -> Kappa:
    """Return kappa of a square table (rows = rater 1) with the Fleiss-Cohen-Everitt standard error.

    Raises: StatisticsError SLV-S002, SLV-S006 (no square table or no items).
    Source: Fleiss, Cohen and Everitt 1969, Psychological Bulletin 72:323-327 (*unverified*).
    """
    size, n = _square(table)
    p = [[count / n for count in row] for row in table]
    rows = [math.fsum(row) for row in p]
    columns = [math.fsum(row[k] for row in p) for k in range(size)]
    chance = math.fsum(r * c for r, c in zip(rows, columns, strict=True))
    if 1.0 - chance <= 0.0:
        return Kappa(None, None, None, None, "one_category")
    observed = math.fsum(p[k][k] for k in range(size))
    kappa = (observed - chance) / (1.0 - chance)
    rest = 1.0 - kappa
    agree = math.fsum(p[k][k] * (1.0 - (rows[k] + columns[k]) * rest) ** 2 for k in range(size))
    differ = rest**2 * math.fsum(
        p[i][j] * (columns[i] + rows[j]) ** 2 for i in range(size) for j in range(size) if i != j
    )
    variance = (agree + differ - (kappa - chance * rest) ** 2) / (n * (1.0 - chance) ** 2)
    se = math.sqrt(max(0.0, variance))
    half = two_sided_z(confidence) * se
    return Kappa(kappa, se, kappa - half, kappa + half)


def gwet_ac1(raters: Ratings, categories: int | None = None) -> Ac1:
    """Return AC1 over two or more raters, missing values allowed.

    `categories` q >= 2, by default those that occur. Raises: StatisticsError SLV-S006.
    Source: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48 (*unverified*).
    """
    items = [counts for counts in _by_item(raters) if counts]
    values = {value for counts in items for value in counts}
    q = max(len(values), categories or 0)
    rated = [counts for counts in items if sum(counts.values()) >= 2]
    if not rated:
        return Ac1(None, None, None, None, "no_item_rated_twice")
    if q < 2:
        return Ac1(None, None, 1.0, None, "one_category")
    n = len(items)
    shares = {value: math.fsum(c[value] / sum(c.values()) for c in items) / n for value in values}
    pe = math.fsum(share * (1.0 - share) for share in shares.values()) / (q - 1)
    # pe is at most 1/q (all shares alike), so that 1 - pe is at least a half.
    pa = math.fsum(_pairs(counts) for counts in rated) / len(rated)
    ac1 = (pa - pe) / (1.0 - pe)
    total = 0.0
    for counts in items:
        own = sum(counts.values())
        agreed = (n / len(rated)) * (_pairs(counts) - pe) / (1.0 - pe) if own >= 2 else 0.0
        chance = math.fsum(counts[v] / own * (1.0 - shares[v]) for v in counts) / (q - 1)
        total += (agreed - 2.0 * (1.0 - ac1) * (chance - pe) / (1.0 - pe) - ac1) ** 2
    se = math.sqrt(total / (n * (n - 1))) if n > 1 else None
    return Ac1(ac1, se, pa, pe)


def krippendorff_alpha(reliability_data: Ratings) -> Alpha:
    """Return alpha for nominal values over any number of raters, missing values allowed.

    Raises: StatisticsError SLV-S006.
    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability (*unverified*).
    """
    units = [counts for counts in _by_item(reliability_data) if sum(counts.values()) >= 2]
    totals: Counter[Hashable] = Counter()
    observed = 0.0
    for counts in units:
        own = sum(counts.values())
        totals.update(counts)
        observed += math.fsum(counts[v] * (own - counts[v]) for v in counts) / (own - 1)
    n = sum(totals.values())
    expected = sum(count * (n - count) for count in totals.values())
    if n == 0:
        return Alpha(None, "no_item_rated_twice")
    if expected == 0:
        return Alpha(None, "one_category")
    return Alpha(1.0 - (n - 1) * observed / expected)


def landis_koch(kappa: float, low: float) -> str:
    """Return the word for an agreement, chosen by the lower limit of kappa, never by kappa itself.

    Source: Landis and Koch 1977, Biometrics 33:159-174 (*unverified*), for the words and cuts.
    """
    domain.finite(kappa, "kappa")
    limit = domain.finite(low, "low")
    if limit < 0.0:
        return "poor"
    cuts = ((0.20, "slight"), (0.40, "fair"), (0.60, "moderate"), (0.80, "substantial"))
    return next((word for cut, word in cuts if limit <= cut), "almost_perfect")


def _square(table: Sequence[Sequence[int]]) -> tuple[int, int]:
    size = len(table)
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            domain.count(value, f"table[{i}][{j}]")
    n = sum(map(sum, table))
    if size < 2 or any(len(row) != size for row in table) or n == 0:
        raise domain.refusal(
            "SLV-S006", Text("se necesita una tabla cuadrada con ítems", "a square table with items"), "table"
        )
    return size, n


def _by_item(raters: Ratings) -> list[Counter[Hashable]]:
    if len(raters) < 2 or len({len(row) for row in raters}) != 1:
        raise domain.refusal(
            "SLV-S006",
            Text("se necesitan dos evaluadores con las mismas filas", "two raters with the same rows"),
            "raters",
        )
    return [Counter(value for value in column if value is not None) for column in zip(*raters, strict=True)]


def _pairs(counts: Counter[Hashable]) -> float:
    own = sum(counts.values())
    return sum(count * (count - 1) for count in counts.values()) / (own * (own - 1))
