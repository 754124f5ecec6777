"""Measure one metric against its terms: which method applies, its numbers or tails, and both bounds.

Integers alone (no scipy) for independent items, a frozen bank and `all_of_k`; the beta function for clusters,
weights and repeated calls; betting e-values for means. Nothing here looks at other metrics: see `combine`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue
from slaverify.decision.rules import Facts, Ruling, numbers_of, prior_state
from slaverify.decision.terms import Terms
from slaverify.decision.words import Reason, RunValidity, State
from slaverify.errors import StatisticsError
from slaverify.statistics import (
    Numbers,
    Tails,
    Weighted,
    bank_tails,
    binomial_tails,
    clustered_decision,
    min_n_zero_failures,
    real_tails,
    required_sample,
    weighted_rate,
)

_NINETY_FIVE = Decimal("0.95")


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """A real-valued sample: successes under the two bounds, each of its own effective size.

    `x_low` counts unknown items as failures, `x_high` as successes; `deff` is that of `x_low`.
    """

    x_low: float
    n_low: float
    x_high: float
    n_high: float
    deff: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """One metric measured, before the family is looked at. P-values are exact fractions where integers exist."""

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
    clusters: int | None = None
    p_pass: Fraction | float | None = None
    p_breach: Fraction | float | None = None
    passes: bool = False
    breaches_alone: bool = False


def assess(terms: Terms, entry: JsonObject, validity: RunValidity, unresolved_max: Decimal) -> Assessed:
    """Return the metric measured. Never raises: what has no number gets a reason.

    `entry` is one metric of `slaverify/inputs/1`; `unresolved_max` a share.
    """
    base = _base(terms, entry, validity, unresolved_max)
    if base.prior is not None and base.prior.reason is not Reason.FEW_CLUSTERS:
        return base
    try:
        return _measured(base)
    except (StatisticsError, ArithmeticError):
        return _without_number(base, Reason.RULE_UNDEFINED)


def count_of(entry: JsonObject, key: str) -> int:
    """Return a count of an inputs entry; anything but an integer from 0 reads as 0."""
    value = entry.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _base(terms: Terms, entry: JsonObject, validity: RunValidity, unresolved_max: Decimal) -> Assessed:
    n, calls = count_of(entry, "n"), max(1, count_of(entry, "calls"))
    f_breach = count_of(entry, "failures") + count_of(entry, "failures_vendor")
    unknown = count_of(entry, "unresolved") + count_of(entry, "open")
    observations = count_of(entry, "x") + f_breach + unknown
    clusters = _rows(entry, "clusters")
    subjects = n if clusters is None else len(clusters)
    provenance = _provenance(validity.provenance, subjects, required_subjects(terms))
    stage = next((stage for stage in terms.stages if stage.n >= n), None)
    facts = Facts(
        run_valid=validity.valid and count_of(entry, "missing") == 0 and observations == n * calls,
        judge_drift=validity.judge_drift and entry.get("judged") is not None,
        n=n,
        observations=observations,
        unresolved=count_of(entry, "unresolved"),
        unresolved_max=unresolved_max,
        guard=None,
        clusters=None if clusters is None else len(clusters),
        provenance=provenance,
        passes=False,
        breaches=False,
    )
    return Assessed(
        terms=terms,
        entry=entry,
        n=n,
        observations=observations,
        f_pass=f_breach + unknown,
        f_breach=f_breach,
        method="exact",
        provenance=provenance if observations > 0 else "not_measured",
        subjects=subjects,
        prior=prior_state(facts),
        level_pass=Fraction(terms.alpha_pass) if stage is None else stage.alpha_pass,
        level_breach=Fraction(terms.alpha_breach) if stage is None else stage.alpha_breach,
        clusters=facts.clusters,
    )


def required_subjects(terms: Terms) -> int | None:
    """Return the independent subjects that the figure needs at least, null where no such number exists.

    The contract's `min_subjects`; else, for independent items under the guarded rule, the smallest n that can PASS
    (a metric that binds) or the 59 items that see a 5 % defect with 95 % confidence (one that is only reported).
    """
    if terms.min_subjects is not None:
        return terms.min_subjects
    if terms.rule != "guarded" or terms.clustered or terms.weights is not None or not terms.sampled:
        return None
    if not terms.binding:
        return required_sample(_NINETY_FIVE, _NINETY_FIVE)
    try:
        return min_n_zero_failures(terms.t, terms.alpha_pass)
    except StatisticsError:
        return None


def _provenance(run: str, subjects: int, required: int | None) -> str:
    if run == "measured" and required is not None and subjects < required:
        return "insufficient"
    return run


def _measured(base: Assessed) -> Assessed:
    terms = base.terms
    if not terms.sampled:
        return _without_number(base, Reason.DATA_ABSENT)
    if terms.clustered or terms.calls > 1 or terms.weights is not None:
        return _by_beta(base)
    return _by_integers(base)


def _without_number(base: Assessed, reason: Reason) -> Assessed:
    return replace(base, prior=base.prior or Ruling(State.NOT_MEASURED, reason))


def _by_integers(base: Assessed) -> Assessed:
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


def _tails(base: Assessed) -> Tails:
    terms, n = base.terms, base.n
    if terms.estimand == "bank":
        return bank_tails(base.f_pass, base.f_breach, n, terms.bank_size, terms.t)
    low, high = binomial_tails(n - base.f_pass, n, terms.t), binomial_tails(n - base.f_breach, n, terms.t)
    return Tails(low.p_greater, high.p_less)


def _by_beta(base: Assessed) -> Assessed:
    terms = base.terms
    effective = _effective(base)
    p_pass, _ = real_tails(effective.x_low, effective.x_low, effective.n_low, terms.t)
    _, p_breach = real_tails(effective.x_high, effective.x_high, effective.n_high, terms.t)
    level = float(base.level_breach / terms.family)
    breaches = p_breach <= level
    passes = p_pass <= float(base.level_pass) if terms.rule == "guarded" else not breaches
    return replace(
        base,
        method="clustered" if terms.clustered else "weighted" if terms.weights is not None else "repeats",
        effective=effective,
        p_pass=p_pass,
        p_breach=p_breach,
        passes=passes and terms.tested,
        breaches_alone=breaches and terms.tested,
    )


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
            rows = _rows(base.entry, "clusters") or []
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


def _rows(entry: JsonObject, key: str) -> list[tuple[int, int, int]] | None:
    """Return rows of three counts, null if the entry has none or one that is no such row."""
    value = entry.get(key)
    if not isinstance(value, list | tuple):
        return None
    return [_row(row) for row in value]


def _row(value: JsonValue) -> tuple[int, int, int]:
    if isinstance(value, list | tuple) and len(value) == 3:
        a, b, c = value
        if isinstance(a, int) and isinstance(b, int) and isinstance(c, int):
            return a, b, c
    return 0, 0, 0
