"""Give one metric its state: the evaluation order, and the numbers of each rule, in integers where they exist.

Order of the lines: docs/spec/decision.md section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.decision.terms import Terms
from slaverify.decision.words import Reason, State
from slaverify.statistics import (
    Numbers,
    acceptance_numbers,
    bank_tails,
    finite_bank_acceptance_numbers,
)

FEW_CLUSTERS = 5
"""Fewer clusters than this are at most INCONCLUSIVE."""

_GUARDS = frozenset(
    {
        Reason.CALIBRATION_TOO_SMALL,
        Reason.CALIBRATION_INCONSISTENT,
        Reason.JUDGE_NOT_INFORMATIVE,
        Reason.JUDGE_UNCALIBRATED,
        Reason.DATA_ABSENT,
        Reason.RULE_UNDEFINED,
        Reason.SCORE_OFF_SCALE,
    }
)
_PROVENANCES = {
    "declared": Reason.PROVENANCE_DECLARED,
    "insufficient": Reason.PROVENANCE_INSUFFICIENT,
    "not_measured": Reason.PROVENANCE_NOT_MEASURED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the state of one metric depends on.

    `n` items and `observations` calls (counts); `unresolved` calls; `unresolved_max` a share; `judge_drift` only if
    the metric has judged items; `guard` a reason that makes it NOT_MEASURED; `clusters` their number or null;
    `passes` and `breaches` what the numbers or tails say, both bounds applied.
    """

    run_valid: bool
    judge_drift: bool
    n: int
    observations: int
    unresolved: int
    unresolved_max: Decimal
    guard: Reason | None
    clusters: int | None
    provenance: str
    passes: bool
    breaches: bool


@dataclass(frozen=True, slots=True)
class Ruling:
    """A state and its reason."""

    state: State
    reason: Reason | None = None


def prior_state(facts: Facts) -> Ruling | None:
    """Return the state that holds whatever was counted (lines 1 to 3), null if the count decides."""
    if not facts.run_valid:
        return Ruling(State.INVALID_RUN, Reason.RUN_INVALID)
    if facts.judge_drift:
        return Ruling(State.INVALID_RUN, Reason.JUDGE_DRIFT)
    if Fraction(facts.unresolved) > Fraction(facts.unresolved_max) * facts.observations:
        return Ruling(State.INVALID_RUN, Reason.UNRESOLVED_ABOVE_LIMIT)
    if facts.n <= 0 or facts.observations <= 0:
        return Ruling(State.NOT_MEASURED, Reason.NO_OBSERVATIONS)
    if facts.clusters is not None and facts.clusters < 2:
        return Ruling(State.NOT_MEASURED, Reason.ONE_CLUSTER)
    if facts.guard is not None:
        return Ruling(State.NOT_MEASURED, facts.guard)
    if facts.provenance not in ("measured", "derived"):
        return Ruling(State.NOT_MEASURED, _PROVENANCES.get(facts.provenance, Reason.PROVENANCE_NOT_MEASURED))
    if facts.clusters is not None and facts.clusters < FEW_CLUSTERS:
        return Ruling(State.INCONCLUSIVE, Reason.FEW_CLUSTERS)
    return None


def metric_state(facts: Facts) -> Ruling:
    """Return the state of one metric: the first line that applies."""
    prior = prior_state(facts)
    if prior is not None:
        return prior
    if facts.passes and not facts.breaches:
        return Ruling(State.PASS)
    if facts.breaches:
        return Ruling(State.BREACH)
    return Ruling(State.INCONCLUSIVE)


def guard_of(word: str) -> Reason:
    """Return the guard of that name; a word that is none of them still measures nothing."""
    guard = next((reason for reason in _GUARDS if reason.value == word), None)
    return Reason.DATA_ABSENT if guard is None else guard


def numbers_of(terms: Terms, n: int, alpha_pass: Fraction, alpha_breach: Fraction) -> Numbers:
    """Return the integers of the metric's rule at n items and these levels.

    Raises: StatisticsError where the rule has no numbers for these terms.
    """
    finite = terms.estimand == "bank" and terms.rule in ("guarded", "guarded_rejection")
    if not finite:
        return acceptance_numbers(terms.t, n, alpha_pass, alpha_breach, rule=terms.rule, two_point=terms.two_point)
    numbers = finite_bank_acceptance_numbers(terms.bank_size, n, terms.t, alpha_pass, alpha_breach).numbers
    if terms.rule == "guarded":
        return numbers
    reject = numbers.breach_min_failures
    return Numbers(
        None if reject is None else reject - 1,
        reject,
        Fraction(0) if reject is None else bank_tails(reject - 1, reject, n, terms.bank_size, terms.t).p_greater,
        numbers.risk_false_breach,
    )
