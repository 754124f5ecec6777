"""Compute what is shown beside a state: rate, intervals, bounds, power. None of it decides.

Everything is computed in the sense of success and turned into the contract's own sense at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from slaverify.canonical import JsonValue, real9
from slaverify.decision.assessed import Assessed, count_of
from slaverify.statistics import (
    conformance_probability,
    detectable_rate,
    finite_bank_interval,
    limits_at,
    power,
    state_probability,
    wilson_interval,
)

_POWER = 0.8


@dataclass(frozen=True, slots=True)
class Sample:
    """The two ends of a sample in successes: unknown items as failures (`low`) and as successes (`high`)."""

    x_low: float
    n_low: float
    x_high: float
    n_high: float


def sample_of(one: Assessed) -> Sample:
    """Return the sample that the intervals speak of: the effective one where there is one, else the counts."""
    if one.effective is not None:
        effective = one.effective
        return Sample(effective.x_low, effective.n_low, effective.x_high, effective.n_high)
    n = one.observations
    return Sample(n - one.f_pass, n, n - one.f_breach, n)


def rate(one: Assessed) -> str | None:
    """Return the share of calls that match what the metric counts, in the contract's own sense."""
    if one.figure is not None:
        return real9(one.figure.rate)
    if one.observations <= 0 or not one.terms.sampled:
        return None
    if one.effective is not None and one.terms.weights is not None:
        share = Fraction(one.effective.x_low / one.effective.n_low)
        return real9(share if one.terms.direction == "at_least" else 1 - share)
    counted = count_of(one.entry, "x") if one.terms.direction == "at_least" else one.f_breach
    return real9(Fraction(counted, one.observations))


def exact(one: Assessed) -> JsonValue:
    """Return the interval of the decision, {low, high} in the contract's own sense."""
    terms, sample = one.terms, sample_of(one)
    if one.figure is not None:
        return {"low": real9(one.figure.low), "high": real9(one.figure.high)}
    if sample.n_low <= 0 or not terms.sampled:
        return None
    if one.method == "finite_bank":
        confidence = Fraction(terms.confidence)
        low = finite_bank_interval(one.n - one.f_pass, one.n, terms.bank_size, confidence).low
        high = finite_bank_interval(one.n - one.f_breach, one.n, terms.bank_size, confidence).high
        return _sense(one, low, high)
    tail = float((1 - terms.confidence) / 2)
    return _sense(
        one, limits_at(sample.x_low, sample.n_low, tail).low, limits_at(sample.x_high, sample.n_high, tail).high
    )


def wilson(one: Assessed) -> JsonValue:
    """Return the descriptive interval, {low, high} in the contract's own sense."""
    sample = sample_of(one)
    if sample.n_low <= 0 or not one.terms.sampled or one.figure is not None:
        return None
    confidence = one.terms.confidence
    low = wilson_interval(sample.x_low, sample.n_low, confidence).low
    return _sense(one, low, wilson_interval(sample.x_high, sample.n_high, confidence).high)


def zero_bound(one: Assessed) -> str | None:
    """Return the one-sided bound of the event that did not occur once (failures, or successes)."""
    sample, tail = sample_of(one), float(1 - one.terms.confidence)
    if sample.n_low <= 0 or not one.terms.sampled or one.figure is not None:
        return None
    if one.f_pass == 0:
        return real9(1.0 - limits_at(sample.n_low, sample.n_low, tail).low)
    if one.f_breach == one.observations:
        return real9(limits_at(0.0, sample.n_high, tail).high)
    return None


def conformance(one: Assessed) -> str | None:
    """Return P(the true rate meets the threshold), information only."""
    sample = sample_of(one)
    independent = one.terms.sampled and one.figure is None and one.method != "finite_bank"
    if sample.n_low <= 0 or not independent or not 0 < one.terms.t < 1:
        return None
    return real9(conformance_probability(sample.x_low, sample.n_low, one.terms.t))


def planned(one: Assessed) -> dict[str, JsonValue]:
    """Return margin, the power of both states at it, and the shortfall that BREACH would see with power 0.8.

    A power is null where the state cannot occur; all four where no power is known (means, judged items).
    """
    keys = ("margin", "power_at_margin", "power_breach_at_margin", "shortfall")
    empty: dict[str, JsonValue] = dict.fromkeys(keys)
    terms = one.terms
    if not terms.sampled or not 0 < terms.t < 1 or one.n <= 0:
        return empty
    above, below = float(min(Fraction(1), terms.t + terms.margin)), float(max(Fraction(0), terms.t - terms.margin))
    if one.numbers is None:
        n = 0 if one.effective is None else int(one.effective.n_low)
        if n < 1 or not terms.tested:
            return empty
        level = one.level_breach / terms.family
        return {
            **empty,
            "margin": real9(terms.margin),
            "power_at_margin": real9(power(terms.t, above, n, one.level_pass, "pass")),
            "power_breach_at_margin": real9(power(terms.t, below, n, level, "breach")),
        }
    accept, reject = one.numbers.pass_max_failures, one.numbers.breach_min_failures
    seen = detectable_rate(one.n, reject, _POWER)
    passes = None if accept is None else real9(state_probability(one.n, accept, reject, above, "pass"))
    breaches = None if reject is None else real9(state_probability(one.n, accept, reject, below, "breach"))
    return {
        "margin": real9(terms.margin),
        "power_at_margin": passes,
        "power_breach_at_margin": breaches,
        "shortfall": None if seen is None else real9(max(0.0, float(terms.t) - seen)),
    }


def _sense(one: Assessed, low: float | Fraction, high: float | Fraction) -> JsonValue:
    if one.terms.direction == "at_most":
        low, high = 1 - high, 1 - low
    return {"low": real9(low), "high": real9(high)}
