"""What the labels say of the judge: the confusion matrix, agreement, sensitivity and specificity, each with limits.

Positive is accurate, or the criterion met. Rows of the matrix: what the judge said; columns: what people said.
Every figure weighs a label by the inverse of its probability of being read.

Source: docs/spec/calibration.md section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue, real9
from slaverify.statistics import Cell, Designed, designed_coefficient, designed_share, landis_koch

Shares = Sequence[complex]
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class Seen:
    """One cell as people saw it: what the judge said of all of it, its size, its labels, and how many are positive."""

    judged: bool
    size: int
    labels: int
    right: int


def figures(cells: Sequence[Seen], confidence: Decimal | float) -> dict[str, Designed]:
    """Return each figure by name; one that does not exist is null with its reason. Raises nothing."""
    said = [cell.judged for cell in cells]
    counted = [Cell(cell.size, cell.labels, cell.right) for cell in cells]
    both = {verdict: sum(cell.labels for cell in cells if cell.judged is verdict) for verdict in (True, False)}
    shares = {name: designed_share(counted, make(said), confidence) for name, make in _SHARES.items()}
    if not both[False]:
        shares["missed"] = Designed(None, None, None, reason="one_class")
    if not both[True]:
        shares["precision"] = Designed(None, None, None, reason="one_class")
    coefficients = {name: designed_coefficient(counted, make(said), confidence) for name, make in _AGREEMENT.items()}
    return {**shares, **coefficients}


def matrix(cells: Sequence[Seen]) -> JsonObject:
    """Return the counts and the weighted counts of judge by people; keys `<judge>_<people>`."""
    counts = dict.fromkeys(_QUADRANTS, 0)
    weights = dict.fromkeys(_QUADRANTS, Fraction(0))
    for cell in cells:
        for word, labels in (("positive", cell.right), ("negative", cell.labels - cell.right)):
            name = f"{'positive' if cell.judged else 'negative'}_{word}"
            counts[name] += labels
            weights[name] += Fraction(cell.size * labels, cell.labels) if cell.labels else 0
    return {"counts": {**counts}, "weights": {name: real9(weight) for name, weight in weights.items()}}


_QUADRANTS = ("positive_positive", "positive_negative", "negative_positive", "negative_negative")


def figure_json(found: Designed) -> JsonObject:
    """Return a figure with its limits, nine places, or nulls with the reason."""
    return {
        "value": _real(found.value),
        "low": _real(found.low),
        "high": _real(found.high),
        "reason": found.reason,
    }


def figures_json(found: Mapping[str, Designed]) -> dict[str, JsonValue]:
    """Return all figures; kappa with the word for its lower limit."""
    tree: dict[str, JsonValue] = {name: figure_json(one) for name, one in found.items()}
    kappa = found["kappa"]
    word = None if kappa.value is None or kappa.low is None else landis_koch(kappa.value, kappa.low)
    return {**tree, "kappa_word": word}


def _real(value: float | None) -> str | None:
    return None if value is None else real9(value)


def _dot(weights: Shares, rates: Shares) -> complex:
    return sum((w * p for w, p in zip(weights, rates, strict=True)), 0j)


def _over(part: complex, whole: complex) -> complex:
    if abs(whole) < _NOTHING:
        raise ZeroDivisionError
    return part / whole


def _only(said: Sequence[bool], verdict: bool, weights: Shares) -> list[complex]:
    return [w if one is verdict else 0j for one, w in zip(said, weights, strict=True)]


def _not(rates: Shares) -> list[complex]:
    return [1 - rate for rate in rates]


_Make = Callable[[Sequence[bool]], Callable[[Shares, Shares], complex]]


def _rate(_: Sequence[bool]) -> Callable[[Shares, Shares], complex]:
    return _dot


def _sensitivity(said: Sequence[bool]) -> Callable[[Shares, Shares], complex]:
    return lambda w, p: _over(_dot(_only(said, True, w), p), _dot(w, p))


def _specificity(said: Sequence[bool]) -> Callable[[Shares, Shares], complex]:
    return lambda w, p: _over(_dot(_only(said, False, w), _not(p)), _dot(w, _not(p)))


def _precision(said: Sequence[bool]) -> Callable[[Shares, Shares], complex]:
    return lambda w, p: _over(_dot(_only(said, True, w), p), sum(_only(said, True, w), 0j))


def _missed(said: Sequence[bool]) -> Callable[[Shares, Shares], complex]:
    return lambda w, p: _over(_dot(_only(said, False, w), p), sum(_only(said, False, w), 0j))


def _agreement(said: Sequence[bool]) -> Callable[[Shares, Shares], complex]:
    return lambda w, p: _dot(_only(said, True, w), p) + _dot(_only(said, False, w), _not(p))


def _kappa(said: Sequence[bool]) -> Callable[[Shares, Shares], complex]:
    def kappa(w: Shares, p: Shares) -> complex:
        judge, people = sum(_only(said, True, w), 0j), _dot(w, p)
        chance = judge * people + (1 - judge) * (1 - people)
        return _over(_agreement(said)(w, p) - chance, 1 - chance)

    return kappa


def _ac1(said: Sequence[bool]) -> Callable[[Shares, Shares], complex]:
    def ac1(w: Shares, p: Shares) -> complex:
        share = (sum(_only(said, True, w), 0j) + _dot(w, p)) / 2
        chance = 2 * share * (1 - share)
        return _over(_agreement(said)(w, p) - chance, 1 - chance)

    return ac1


_SHARES: Mapping[str, _Make] = {
    "corrected": _rate,
    "agreement": _agreement,
    "sensitivity": _sensitivity,
    "specificity": _specificity,
    "precision": _precision,
    "missed": _missed,
}
"""`corrected`: the rate among all units; `precision` PPV; `missed` FOR, the positives among what the judge rejects."""
_AGREEMENT: Mapping[str, _Make] = {"kappa": _kappa, "ac1": _ac1}
