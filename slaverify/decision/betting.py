"""Measure a mean of bounded scores or a corpus rate by betting e-values, under both bounds for what is unknown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue
from slaverify.decision.terms import Terms
from slaverify.statistics import log_wealth, lower_limit, mirrored

Shares = Mapping[float, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bets:
    """The e-values (natural logarithms), the figure and its limits in the contract's own sense and scale.

    `log_e_breach` with what is unknown for the vendor, `log_e_against` the same bet with it against.
    """

    log_e_pass: float
    log_e_breach: float
    log_e_against: float
    rate: float
    low: float
    high: float
    units: int
    unknown: int


def bets(terms: Terms, entry: JsonObject) -> Bets | None:
    """Return the bets of one metric, null where a score lies off its scale or the data are absent.

    Raises: ArithmeticError where the promised value has no room on its scale.
    """
    return _corpus(terms, entry) if terms.kind == "corpus_rate" else _mean(terms, entry)


def _mean(terms: Terms, entry: JsonObject) -> Bets | None:
    rows = _rows(entry, 3)
    if rows is None or terms.scale is None or not 0 < terms.t < 1:
        return None
    low, high = (Fraction(limit) for limit in terms.scale)
    worst: Counter[float] = Counter()
    best: Counter[float] = Counter()
    unknown, mean = 0, Fraction(0)
    for total, hidden, size in rows:
        if total is None or hidden is None or size is None or size <= 0:
            return None
        known = (total - (size - hidden) * low) / (high - low)
        if not 0 <= known <= size - hidden:
            return None
        at_least = terms.direction == "at_least"
        share = known / size if at_least else (size - hidden - known) / size
        worst[float(share)] += 1
        best[float(share + hidden / size)] += 1
        unknown += int(hidden)
        mean += (known + (0 if at_least else hidden)) / size
    t = float(terms.t)
    bar = math.log(2.0 / float(1 - terms.confidence))
    bottom, top = lower_limit(worst, bar), 1.0 - lower_limit(mirrored(best), bar)
    if terms.direction == "at_most":
        bottom, top = 1.0 - top, 1.0 - bottom
    width = float(high - low)
    return Bets(
        log_e_pass=log_wealth(worst, t),
        log_e_breach=log_wealth(mirrored(best), 1.0 - t),
        log_e_against=log_wealth(mirrored(worst), 1.0 - t),
        rate=float(low) + width * float(mean / len(rows)),
        low=float(low) + width * bottom,
        high=float(low) + width * top,
        units=len(rows),
        unknown=unknown,
    )


def _corpus(terms: Terms, entry: JsonObject) -> Bets | None:
    """Bet on D = errors - T weight per unit; equal weight per unit, so that clusters stand for themselves."""
    from slaverify.statistics import corpus_limits, corpus_shares

    rows = _rows(entry, 4)
    if rows is None or terms.w_max is None or terms.r_max is None or not 0 < terms.t < terms.r_max:
        return None
    w_max, r_max = float(terms.w_max), float(terms.r_max)
    worst: Counter[tuple[float, float]] = Counter()
    best: Counter[tuple[float, float]] = Counter()
    unknown, errors, weight = 0, Fraction(0), Fraction(0)
    for wrong, words, hidden, size in rows:
        if wrong is None or words is None or hidden is None or size is None or size <= 0:
            return None
        # Each call may err up to r_max times its weight, and a call of no weight (a silence) up to r_max.
        if wrong > (words + size - hidden) * Fraction(terms.r_max) or words > terms.w_max * (size - hidden):
            return None
        full = float(words + hidden * terms.w_max) / float(size)
        worst[float(wrong + hidden * Fraction(terms.r_max) * terms.w_max) / float(size), full] += 1
        best[float(wrong) / float(size), full] += 1
        unknown, errors, weight = unknown + int(hidden), errors + wrong, weight + words
    if weight == 0:
        return None
    t = float(terms.t)
    against, for_ = corpus_shares(worst, t, w_max, r_max), corpus_shares(best, t, w_max, r_max)
    bar = math.log(2.0 / float(1 - terms.confidence))
    return Bets(
        log_e_pass=log_wealth(mirrored(against), 1.0 - t / r_max),
        log_e_breach=log_wealth(for_, t / r_max),
        log_e_against=log_wealth(against, t / r_max),
        rate=float(errors / weight),
        low=corpus_limits(best, w_max, r_max, bar)[0],
        high=corpus_limits(worst, w_max, r_max, bar)[1],
        units=len(rows),
        unknown=unknown,
    )


def _rows(entry: JsonObject, width: int) -> list[tuple[Fraction | None, ...]] | None:
    units = entry.get("units")
    if not isinstance(units, list | tuple) or not units:
        return None
    rows = [tuple(_number(value) for value in row) for row in units if isinstance(row, list | tuple)]
    return rows if len(rows) == len(units) and all(len(row) == width for row in rows) else None


def _number(value: JsonValue) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return Fraction(value)
    except ValueError:
        return None
