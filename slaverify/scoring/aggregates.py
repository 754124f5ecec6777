"""Rates over many answers, as pure functions: what is unknown keeps its place, repeats buy no items.

Source: docs/spec/scoring.md section 10 (aggregates).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from slaverify.errors import StatisticsError, Text


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean score in [0, 1] with what is unknown counted as wrong (`low`) and as right (`high`)."""

    low: Fraction
    high: Fraction
    denominator: int
    unknown: int


def pooled(pairs: Iterable[tuple[int, int]]) -> Fraction | None:
    """Return the sum of what is right over the sum of totals, null where there is nothing: never a mean of rates.

    Raises: StatisticsError SLV-S002 if a pair is not 0 <= right <= total.
    """
    right = total = 0
    for part, whole in pairs:
        if not 0 <= part <= whole:
            raise _counts(f"{part}/{whole}")
        right, total = right + part, total + whole
    return Fraction(right, total) if total else None


def bounded_mean(scores: Sequence[Fraction | None]) -> Spread | None:
    """Return the mean of `scores`, each in [0, 1], with both bounds for null ones; null for an empty list.

    Raises: StatisticsError SLV-S002 for a score outside of [0, 1].
    """
    if not scores:
        return None
    known = [score for score in scores if score is not None]
    if any(not 0 <= score <= 1 for score in known):
        raise _counts("score")
    n, unknown = len(scores), len(scores) - len(known)
    total = sum(known, Fraction(0))
    return Spread(total / n, (total + unknown) / n, n, unknown)


def effective_n(items: Iterable[str]) -> int:
    """Return how many items stand behind the calls, given the item id of each: a repeat buys no item."""
    return len(set(items))


def _counts(what: str) -> StatisticsError:
    return StatisticsError("SLV-S002", Text(f"conteo imposible: {what}", f"impossible count: {what}"))
