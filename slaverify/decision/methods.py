"""The four ways to measure a metric: integers, the beta function, bets, a calibrated judge. Each fills in its tails."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from slaverify.decision.assessed import Assessed, Effective, Figure, count_of, rows_of
from slaverify.decision.betting import bets
from slaverify.decision.calibrated import MetricCalibration, corrected, counts_of, reason_of
from slaverify.decision.rules import Ruling, numbers_of
from slaverify.decision.words import Reason, State
from slaverify.statistics import (
    Tails,
    Weighted,
    bank_tails,
    binomial_tails,
    clustered_decision,
    limit_levels,
    real_tails,
    two_sided_z,
    weighted_rate,
)


def not_measured(base: Assessed, reason: Reason) -> Assessed:
    """Return the metric without a number, with its reason; a ruling that stood before stays."""
    return replace(base, prior=base.prior or Ruling(State.NOT_MEASURED, reason))


def by_integers(base: Assessed) -> Assessed:
    """Measure independent items: acceptance and rejection numbers, exact tails. Raises: StatisticsError."""
    terms, n = base.terms, base.n
    numbers = numbers_of(terms, n, base.level_pass, base.level_breach / terms.family)
    accept, reject = numbers.pass_max_failures, numbers.breach_min_failures
    tails = _tails(base)
    return replace(
        base,
        method="finite_bank" if terms.estimand == "bank" else "exact",
        numbers=numbers,
        p_pass=tails.p_greater,
        p_breach=tails.p_less,
        passes=accept is not None and base.f_pass <= accept,
        breaches_alone=reject is not None and base.f_breach >= reject,
    )


def by_beta(base: Assessed) -> Assessed:
    """Measure clusters, weighted strata or repeated calls by their effective sample. Raises: StatisticsError."""
    terms = base.terms
    effective = _effective(base)
    p_pass, p_against = real_tails(effective.x_low, effective.x_low, effective.n_low, terms.t)
    _, p_breach = real_tails(effective.x_high, effective.x_high, effective.n_high, terms.t)
    method = "clustered" if terms.clustered else "weighted" if terms.weights is not None else "repeats"
    return _with_tails(replace(base, method=method, effective=effective), p_pass, p_breach, p_against)


def by_bets(base: Assessed) -> Assessed:
    """Measure a mean or a corpus rate. Raises: StatisticsError."""
    found = bets(base.terms, base.entry)
    if found is None:
        return not_measured(base, Reason.SCORE_OFF_SCALE)
    figure = Figure(rate=found.rate, low=found.low, high=found.high)
    return _with_tails(
        replace(base, method="betting", figure=figure, provenance="derived"),
        math.exp(-max(0.0, found.log_e_pass)),
        math.exp(-max(0.0, found.log_e_breach)),
        math.exp(-max(0.0, found.log_e_against)),
    )


def by_calibration(base: Assessed, calibration: MetricCalibration, min_per_class: int) -> Assessed:
    """Measure a metric with judged items by its calibration, or say why it cannot be. Raises: StatisticsError."""
    terms = base.terms
    low, high = counts_of(base.entry, with_unknown=False), counts_of(base.entry, with_unknown=True)
    if low is None or high is None:
        return not_measured(base, Reason.DATA_ABSENT)
    if calibration.guard is not None:
        # What the judge says counts for nothing; what rules prove without it stands.
        return by_rules_alone(base, reason_of(calibration.guard))
    if terms.weights is not None or (terms.calls == 1 and terms.per_item > 1):
        # No formula joins a judge's error with unequal weights, or with an item that all of its calls decide.
        return by_rules_alone(base, Reason.RULE_UNDEFINED)
    deff = _effective(base).deff * terms.calls
    against = corrected(terms, low, calibration, deff, min_per_class)
    in_favour = corrected(terms, high, calibration, deff, min_per_class)
    guard = against.guard or in_favour.guard
    base = replace(base, method=against.method, assumptions=("judge_error_carries_over",), provenance="derived")
    if guard is not None or against.limits is None or in_favour.limits is None or against.estimate is None:
        return not_measured(base, guard or Reason.DATA_ABSENT)
    p_pass, p_against = limit_levels(against.limits, terms.t)
    _, p_breach = limit_levels(in_favour.limits, terms.t)
    z = two_sided_z(terms.confidence)
    shown = (_clip(against.estimate), _clip(against.limits(z)[0]), _clip(in_favour.limits(z)[1]))
    rate, bottom, top = shown
    if terms.direction == "at_most":
        rate, bottom, top = 1.0 - rate, 1.0 - top, 1.0 - bottom
    return _with_tails(replace(base, figure=Figure(rate=rate, low=bottom, high=top)), p_pass, p_breach, p_against)


def by_rules_alone(base: Assessed, reason: Reason) -> Assessed:
    """Measure what rules prove without the judge: every judged item both ways. Raises: StatisticsError."""
    counts = counts_of(base.entry, with_unknown=False)
    if counts is None:
        return not_measured(base, reason)
    judged_failures = round(counts.n_judged - counts.x_judged)
    bounded = replace(base, f_pass=base.f_pass + round(counts.x_judged), f_breach=base.f_breach - judged_failures)
    terms = base.terms
    found = by_beta(bounded) if terms.clustered or terms.weights or terms.calls > 1 else by_integers(bounded)
    proved = (found.passes or found.breaches_alone) and found.effective is None
    return found if proved else not_measured(replace(base, method=found.method, numbers=found.numbers), reason)


def _with_tails(base: Assessed, p_pass: float, p_breach: float, p_against: float) -> Assessed:
    """Let real-valued tails speak under the rule: only rules with a test can.

    `p_breach` counts what is unknown for the vendor, `p_against` against: what only "not contradicted" asks of PASS.
    """
    terms, level = base.terms, float(base.level_breach / base.terms.family)
    breaches = p_breach <= level
    passes = p_pass <= float(base.level_pass) if terms.rule == "guarded" else p_against > level
    return replace(
        base,
        p_pass=p_pass,
        p_breach=p_breach,
        passes=passes and terms.tested,
        breaches_alone=breaches and terms.tested,
    )


def _tails(base: Assessed) -> Tails:
    terms, n = base.terms, base.n
    if terms.estimand == "bank":
        return bank_tails(base.f_pass, base.f_breach, n, terms.bank_size, terms.t)
    low, high = binomial_tails(n - base.f_pass, n, terms.t), binomial_tails(n - base.f_breach, n, terms.t)
    return Tails(low.p_greater, high.p_less)


def _effective(base: Assessed) -> Effective:
    terms, calls = base.terms, max(1, count_of(base.entry, "calls"))
    level = float(min(base.level_pass, base.level_breach / terms.family))
    ends = []
    for with_unknown in (False, True):
        rate, n_eff = _rate(base, with_unknown), float(base.n)
        if terms.weights is not None:
            weighted = _weighted(base, terms.weights, with_unknown, calls)
            rate, n_eff = weighted.rate, weighted.n_eff
        if terms.clustered:
            rows = rows_of(base.entry, "clusters") or []
            successes = [(x + with_unknown * unknown) / calls for x, unknown, _ in rows]
            sizes = [size / calls for _, _, size in rows]
            found = clustered_decision(successes, sizes, terms.icc_floor, level)
            # Weights and clusters together: the weighted sample loses what clustering takes from the whole one.
            n_eff *= found.n_eff / base.n
        ends.append((rate * n_eff, n_eff))
    (x_low, n_low), (x_high, n_high) = ends
    return Effective(x_low=x_low, n_low=n_low, x_high=x_high, n_high=n_high, deff=base.n / n_low)


def _rate(base: Assessed, with_unknown: bool) -> float:
    failures = base.f_breach if with_unknown else base.f_pass
    return (base.observations - failures) / base.observations


def _weighted(base: Assessed, weights: Mapping[str, Fraction], with_unknown: bool, calls: int) -> Weighted:
    strata = base.entry.get("strata")
    x, sizes, shares = [], [], []
    for name in sorted(weights):
        row = strata.get(name) if isinstance(strata, dict) else None
        counts = row if isinstance(row, dict) else {}
        unknown = count_of(counts, "unresolved") + count_of(counts, "open")
        x.append((count_of(counts, "x") + with_unknown * unknown) / calls)
        sizes.append(count_of(counts, "n") / calls)
        shares.append(weights[name])
    return weighted_rate(x, sizes, shares)


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))
