"""Measure one metric against its terms: what stands before the count, then the method that its terms ask for.

Integers alone (no scipy) for independent items, a frozen bank and `all_of_k`; the beta function for clusters,
weights and repeated calls; betting e-values for means; a calibration for judged items. Nothing here looks at other
metrics: see `states`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from slaverify.canonical import JsonObject
from slaverify.decision.assessed import Assessed, count_of, rows_of
from slaverify.decision.calibrated import MetricCalibration
from slaverify.decision.methods import (
    by_beta,
    by_bets,
    by_calibration,
    by_integers,
    by_rules_alone,
    not_measured,
)
from slaverify.decision.rules import Facts, prior_state
from slaverify.decision.terms import Terms
from slaverify.decision.words import Reason, RunValidity
from slaverify.errors import StatisticsError
from slaverify.statistics import MIN_PER_CLASS, min_n_zero_failures, required_sample

_TAKEN_AS_TRUTH = ("judge_taken_as_truth",)
_NINETY_FIVE = Decimal("0.95")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What all metrics of a run share.

    `unresolved_max` a share; `calibrations` by metric id; `naive` true if the parties agreed that an uncalibrated
    judge may decide (`on_uncalibrated: declared_limitation`).
    """

    validity: RunValidity
    unresolved_max: Decimal
    calibrations: Mapping[str, MetricCalibration] = field(default_factory=dict)
    naive: bool = False
    min_per_class: int = MIN_PER_CLASS


def assess(terms: Terms, entry: JsonObject, context: Context) -> Assessed:
    """Return the metric measured. Never raises: what has no number gets a reason.

    `entry` is one metric of `slaverify/inputs/1`.
    """
    base = _base(terms, entry, context)
    if base.prior is not None and base.prior.reason is not Reason.FEW_CLUSTERS:
        return base
    try:
        return _measured(base, context)
    except (StatisticsError, ArithmeticError):
        return not_measured(base, Reason.RULE_UNDEFINED)


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
    if terms.estimand == "bank":
        return None
    try:
        return min_n_zero_failures(terms.t, terms.alpha_pass)
    except StatisticsError:
        return None


def _base(terms: Terms, entry: JsonObject, context: Context) -> Assessed:
    validity = context.validity
    n, calls = count_of(entry, "n"), max(1, count_of(entry, "calls"))
    f_breach = count_of(entry, "failures") + count_of(entry, "failures_vendor")
    unknown = count_of(entry, "unresolved") + count_of(entry, "open")
    observations = count_of(entry, "x") + f_breach + unknown
    clusters = _clusters(terms, entry)
    subjects = n if clusters is None else clusters
    provenance = _provenance(validity.provenance, subjects, required_subjects(terms))
    stage = next((stage for stage in terms.stages if stage.n >= n), None)
    facts = Facts(
        run_valid=validity.valid and entry.get("missing", 0) == 0 and observations == n * calls,
        judge_drift=validity.judge_drift and entry.get("judged") is not None,
        n=n,
        observations=observations,
        unresolved=count_of(entry, "unresolved"),
        unresolved_max=context.unresolved_max,
        guard=Reason.JUDGE_UNSTABLE if _unstable(terms, entry, validity) else None,
        clusters=clusters,
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
        clusters=clusters,
    )


def _unstable(terms: Terms, entry: JsonObject, validity: RunValidity) -> bool:
    """Tell whether the judge flips too often on what this metric counts: its criterion, or the rubric as a whole."""
    if entry.get("judged") is None:
        return False
    counted = () if terms.count is None else terms.count.get("criteria", ())
    names = {str(pair).partition(":")[0] for pair in counted}
    return None in validity.judge_unstable or bool(names & validity.judge_unstable)


def _clusters(terms: Terms, entry: JsonObject) -> int | None:
    """Return the number of clusters, null for independent items."""
    if not terms.clustered:
        return None
    units = entry.get("units")
    rows = rows_of(entry, "clusters") if terms.sampled else units if isinstance(units, list | tuple) else None
    return len(rows or ())


def _provenance(run: str, subjects: int, required: int | None) -> str:
    if run == "measured" and required is not None and subjects < required:
        return "insufficient"
    return run


def _measured(base: Assessed, context: Context) -> Assessed:
    terms = base.terms
    judged = base.entry.get("judged") is not None
    if not terms.sampled:
        # The error of a judge on a mean has no measure here: without the parties' word it decides nothing.
        if judged and not context.naive:
            return not_measured(base, Reason.JUDGE_UNCALIBRATED)
        return by_bets(replace(base, assumptions=_TAKEN_AS_TRUTH) if judged else base)
    if judged:
        calibration = context.calibrations.get(terms.id)
        if calibration is not None:
            return by_calibration(base, calibration, context.min_per_class)
        if not context.naive:
            return by_rules_alone(base, Reason.JUDGE_UNCALIBRATED)
        base = replace(base, assumptions=_TAKEN_AS_TRUTH)
    if terms.clustered:
        base = replace(base, assumptions=(*base.assumptions, "clusters_exchangeable"))
    if terms.clustered or terms.calls > 1 or terms.weights is not None:
        return by_beta(base)
    return by_integers(base)
