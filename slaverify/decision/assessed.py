"""One metric measured, before the family is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue
from slaverify.decision.rules import Ruling
from slaverify.decision.terms import Terms
from slaverify.statistics import Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """A real-valued sample: successes under the two bounds, each of its own effective size.

    `x_low` counts unknown items as failures, `x_high` as successes; `deff` is that of `x_low`.
    """

    x_low: float
    n_low: float
    x_high: float
    n_high: float
    deff: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure that is no plain share: its value and limits in the contract's own sense and scale."""

    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """One metric measured. P-values are exact fractions where integers exist.

    `f_pass`, `f_breach` failures with unknown calls against and for the vendor; `method` a word of the formats;
    `prior` a ruling that stands whatever was counted; the levels are one-sided, `level_breach` before the family;
    `breaches_alone` what the metric's own numbers say.
    """

    terms: Terms
    entry: JsonObject
    n: int
    observations: int
    f_pass: int
    f_breach: int
    method: str
    provenance: str
    subjects: int
    prior: Ruling | None
    level_pass: Fraction
    level_breach: Fraction
    numbers: Numbers | None = None
    effective: Effective | None = None
    figure: Figure | None = None
    clusters: int | None = None
    p_pass: Fraction | float | None = None
    p_breach: Fraction | float | None = None
    passes: bool = False
    breaches_alone: bool = False
    assumptions: tuple[str, ...] = ()


def count_of(entry: JsonObject, key: str) -> int:
    """Return a count of an inputs entry; anything but an integer from 0 reads as 0."""
    value = entry.get(key)
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else 0


def rows_of(entry: JsonObject, key: str) -> list[tuple[int, int, int]] | None:
    """Return rows of three counts, null if the entry has none."""
    value = entry.get(key)
    return [_row(row) for row in value] if isinstance(value, list | tuple) else None


def _row(value: JsonValue) -> tuple[int, int, int]:
    if isinstance(value, list | tuple) and len(value) == 3:
        a, b, c = value
        if isinstance(a, int) and isinstance(b, int) and isinstance(c, int):
            return a, b, c
    return 0, 0, 0
