"""Describe repeats of one item: they do not buy items. The intra-class correlation is reported raw, never clipped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from slaverify.errors import Text
from slaverify.statistics import domain


@dataclass(frozen=True, slots=True)
class Icc:
    """One-way intra-class correlation, down to -1/(K-1); null with `reason` `no_variation` where nothing varies."""

    icc: float | None
    low: float | None
    high: float | None
    reason: str | None = None


def icc_one_way(matrix: Sequence[Sequence[float]], confidence: Decimal | float = 0.95) -> Icc:
    """Return the one-way ICC of items (rows) by repeats (columns) with its interval by F quantiles.

    At least two items and two repeats, all rows of one length. Raises: StatisticsError SLV-S002, SLV-S003, SLV-S006.
    Source: Shrout and Fleiss 1979, Psychological Bulletin 86:420-428, ICC(1,1) (*unverified*).
    """
    rows = [domain.finites(row, f"matrix[{index}]") for index, row in enumerate(matrix)]
    k = len(rows[0]) if rows else 0
    if len(rows) < 2 or k < 2 or any(len(row) != k for row in rows):
        raise domain.refusal(
            "SLV-S006",
            Text("se necesitan dos ítems y dos repeticiones, filas parejas", "two items and two repeats, even rows"),
            "matrix",
        )
    n = len(rows)
    grand = math.fsum(map(math.fsum, rows)) / (n * k)
    means = [math.fsum(row) / k for row in rows]
    between = k * math.fsum((mean - grand) ** 2 for mean in means) / (n - 1)
    within = math.fsum((value - mean) ** 2 for row, mean in zip(rows, means, strict=True) for value in row) / (
        n * (k - 1)
    )
    return _from_squares(between, within, n, k, domain.confidence(confidence))


def _from_squares(between: float, within: float, n: int, k: int, confidence: float) -> Icc:
    if between + (k - 1) * within <= 0.0:
        return Icc(None, None, None, "no_variation")
    icc = (between - within) / (between + (k - 1) * within)
    if within <= 0.0:
        return Icc(icc, icc, icc)
    from scipy.special import fdtri

    tail = (1.0 + confidence) / 2.0
    between_df, within_df = n - 1, n * (k - 1)
    f = between / within
    low = f / float(fdtri(between_df, within_df, tail))
    high = f * float(fdtri(within_df, between_df, tail))
    return Icc(icc, (low - 1.0) / (low + k - 1.0), (high - 1.0) / (high + k - 1.0))
