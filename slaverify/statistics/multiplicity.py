"""Correct a family of tests by Holm's step-down procedure, on exact fractions or floats alike."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from slaverify.errors import Text
from slaverify.statistics import domain

P = TypeVar("P", Fraction, float)


def holm_adjust(p: Sequence[P]) -> list[P]:
    """Return the adjusted p-values in the given order, each at most 1; the running maximum is carried.

    `p` in [0, 1]; a member that was not measured enters as 1, never left out. Raises: StatisticsError SLV-S002.
    Source: Holm 1979, Scandinavian Journal of Statistics 6:65-70 (*unverified*).
    """
    for index, value in enumerate(p):
        if not isinstance(value, Fraction):
            domain.finite(value, f"p[{index}]")
        if not 0 <= value <= 1:
            raise domain.refusal("SLV-S002", Text(f"p = {value} fuera de [0, 1]", f"p = {value} outside [0, 1]"), "p")
    order = sorted(range(len(p)), key=lambda index: p[index])
    adjusted: dict[int, P] = {}
    largest: P | None = None
    for rank, index in enumerate(order):
        scaled = p[index] * (len(p) - rank)
        largest = scaled if largest is None or scaled > largest else largest
        adjusted[index] = largest if largest < 1 else type(largest)(1)
    return [adjusted[index] for index in range(len(p))]
