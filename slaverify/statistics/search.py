"""Bisection over integers for monotone conditions."""

from __future__ import annotations

from collections.abc import Callable


def first_true(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest integer in (low, high] where a condition that stays true holds; `high` if nowhere below."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def last_true(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the largest integer in [low, high) where a condition that stays false holds; `low` if nowhere above."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
