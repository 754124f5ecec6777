"""May this judge be used? Labels enough, better than chance, and as good as the contract asks; in that order.

Only lower limits count, never the point: an instrument is as good as has been shown. Kappa gates nothing.

Source: docs/spec/calibration.md section 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from slaverify.canonical import JsonObject, real9
from slaverify.contract.model.judge import Calibration
from slaverify.judging.calibration.figures import Seen
from slaverify.statistics import Designed, exact_interval

_MOST_LABELS = 100_000


class Refusal(StrEnum):
    """Why a judge may not be used; a word of the decision's reasons."""

    TOO_SMALL = "calibration_too_small"
    NOT_INFORMATIVE = "judge_not_informative"
    BELOW_MINIMUM = "judge_below_minimum"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Whether the judge may be used, why not, and how many labels of each class are there and are needed.

    The classes are the judge's verdicts in `stratified_audit`, else what people found.
    """

    refusal: Refusal | None
    positive: tuple[int, int]
    negative: tuple[int, int]

    def to_json(self) -> JsonObject:
        """Return the gate as it stands in the record."""
        return {
            "met": self.refusal is None,
            "reason": None if self.refusal is None else self.refusal.value,
            "positive": {"labels": self.positive[0], "needed": self.positive[1]},
            "negative": {"labels": self.negative[0], "needed": self.negative[1]},
        }


def gate(terms: Calibration, cells: Sequence[Seen], found: Mapping[str, Designed], *, complete: bool) -> Gate:
    """Return the gate of one subject. `complete`: every row that was drawn has the label that counts."""
    positive, negative = (_class(terms, cells, verdict) for verdict in (True, False))
    enough = complete and all(labels >= needed for labels, needed in (positive, negative))
    lows = [found[name].low for name in ("sensitivity", "specificity")]
    asked = (terms.min_sensitivity, terms.min_specificity)
    if not enough:
        refusal: Refusal | None = Refusal.TOO_SMALL
    elif any(low is None for low in lows) or sum(_nine(low) for low in lows) <= 1:
        refusal = Refusal.NOT_INFORMATIVE
    elif any(_nine(low) < least for low, least in zip(lows, asked, strict=True)):
        refusal = Refusal.BELOW_MINIMUM
    else:
        refusal = None
    return Gate(refusal=refusal, positive=positive, negative=negative)


def _class(terms: Calibration, cells: Sequence[Seen], verdict: bool) -> tuple[int, int]:
    if terms.design == "stratified_audit":
        own = [cell for cell in cells if cell.judged is verdict]
        labels, size = sum(cell.labels for cell in own), sum(cell.size for cell in own)
        return labels, min(terms.min_per_class, size)
    right = sum(cell.right if verdict else cell.labels - cell.right for cell in cells)
    return right, terms.min_per_class


def _nine(value: float | None) -> Decimal:
    # At nine places, as the record prints it: whoever reads it can check the comparison.
    return Decimal(0) if value is None else Decimal(real9(value))


def labels_that_reach(value: float, least: Decimal) -> int | None:
    """Return how many labels of one class would show a rate of at least `least`, if it stays at `value`; an estimate.

    None where no number would (the rate itself is too low), or more than 100,000.
    """
    if value <= least:
        return None

    def shows(n: int) -> bool:
        return exact_interval(value * n, n, 0.95).low >= least

    high = 1
    while not shows(high):
        high *= 2
        if high > _MOST_LABELS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high
