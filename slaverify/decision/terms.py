"""Read of a contract what the decision needs: one `Terms` per metric, with everything inherited filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.contract import (
    JUDGE_FIELDS,
    Contract,
    Metric,
    Outcome,
    family_size,
    metric_strata,
    rests_on_judge,
    sample_sizes,
    unequal_weights,
)
from slaverify.statistics import TwoPoint, success_threshold

TESTED_RULES = ("guarded", "guarded_rejection")
"""Rules with a test, which share the family of Holm; the others breach by their own numbers."""

_PLAN_FIELDS = frozenset({"stratum"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The items of a metric up to a stage, and the levels spent there (before the family)."""

    n: int
    alpha_pass: Fraction
    alpha_breach: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of one metric.

    `threshold` is as written; `t` the success rate it promises (of a mean, the share of its scale;
    of a corpus rate, as written); `pinned` the items of the sample (null if the denominator depends on
    the answers); `rests_on_judge`: a judge's word can move the figure; `calls` counted per item; `family`
    the k of Holm (1 outside of it); `weights` a share per stratum or null where the draw is proportional;
    `stages` empty or two.
    """

    id: str
    kind: str
    unit: str
    direction: str
    threshold: Decimal
    t: Fraction
    rule: str
    two_point: TwoPoint | None
    alpha_pass: Decimal
    alpha_breach: Decimal
    confidence: Decimal
    estimand: str
    binding: bool
    count: Mapping[str, tuple[str | int | bool, ...]] | None
    among: Mapping[str, tuple[str | int | bool, ...]]
    strata: tuple[str, ...]
    pinned: int | None
    bank_size: int
    per_item: int
    aggregate: str
    rests_on_judge: bool
    clustered: bool
    icc_floor: Decimal | None
    value: str
    scale: tuple[Decimal, Decimal] | None
    cut: Decimal | None
    w_max: int | None
    r_max: Decimal | None
    limit_ms: Fraction | None
    min_subjects: int | None
    margin: Fraction
    family: int
    weights: Mapping[str, Fraction] | None
    stages: tuple[Stage, ...]

    @property
    def calls(self) -> int:
        """Calls of one item that are counted apart."""
        return self.per_item if self.aggregate == "each_call" else 1

    @property
    def tested(self) -> bool:
        """Tell whether the rule has a test, and so a p of its own."""
        return self.rule in TESTED_RULES

    @property
    def names_outcome(self) -> bool:
        """Tell whether the numerator speaks of outcomes (availability), so that a failed call is judged by it alone."""
        return self.count is not None and not {"outcome", "run_outcome"}.isdisjoint(self.count)

    @property
    def names_attempts(self) -> bool:
        """Tell whether the numerator speaks of how many attempts an exchange took."""
        return self.count is not None and "attempts" in self.count

    @property
    def judged_among(self) -> bool:
        """Tell whether a judge's word puts an item inside or outside of the metric."""
        return not JUDGE_FIELDS.isdisjoint(self.among)

    @property
    def sampled(self) -> bool:
        """Tell whether each item is a yes or a no."""
        return self.kind in ("rate", "quantile") or self.cut is not None


def terms_of(contract: Contract) -> tuple[Terms, ...]:
    """Return the terms of each metric, in the contract's order."""
    family = family_size(contract) if contract.verdict.multiplicity == "holm" else 1
    return tuple(_terms(contract, metric, family) for metric in contract.metrics)


def excluded_up_to(contract: Contract) -> dict[Outcome, int]:
    """Return how many exchanges of each outcome may leave a denominator. A vendor's outcome never may."""
    calls = contract.failed_calls
    table = (
        (Outcome.AUDITOR_FAILURE, calls.auditor_failure),
        (Outcome.UNRESOLVED, calls.unresolved),
        (Outcome.NOT_SENT, calls.not_sent),
    )
    return {
        outcome: counting.counts_as.excluded_up_to
        for outcome, counting in table
        if not isinstance(counting.counts_as, str)
    }


def _terms(contract: Contract, metric: Metric, family: int) -> Terms:
    sizes = sample_sizes(contract)
    strata = metric_strata(contract, metric)
    decision = metric.decision
    # A quantile is the rate of answers within the limit, whatever the drafter wrote as its sense.
    direction = "at_least" if metric.kind == "quantile" else metric.direction
    t = _promised(metric, direction)
    # A pilot measures and binds nothing.
    binding = metric.severity == "binding" and contract.contract.purpose != "pilot"
    tested = decision.rule in TESTED_RULES
    by_sample = set(metric.among) <= _PLAN_FIELDS
    return Terms(
        id=metric.id,
        kind=metric.kind,
        unit=metric.unit or "item",
        direction=direction,
        threshold=metric.threshold,
        t=t,
        rule=decision.rule,
        two_point=_two_point(decision.f0, decision.r0, decision.f1, decision.r1),
        alpha_pass=decision.alpha_pass,
        alpha_breach=decision.alpha_breach,
        confidence=decision.confidence,
        estimand=metric.estimand or contract.evaluation_set.estimand,
        binding=binding,
        count=metric.count,
        among=metric.among,
        strata=strata,
        pinned=sum(sizes[s] for s in strata) if by_sample else None,
        bank_size=sum(contract.evaluation_set.strata.get(s, 0) for s in strata),
        per_item=contract.repetitions.per_item,
        aggregate=metric.aggregate or contract.repetitions.aggregate,
        rests_on_judge=rests_on_judge(contract, metric),
        clustered=metric.cluster is not None,
        icc_floor=None if metric.cluster is None else metric.cluster.icc_floor,
        value=metric.value or "value",
        scale=None if metric.scale is None else (metric.scale[0], metric.scale[1]),
        cut=metric.cut,
        w_max=metric.w_max,
        r_max=metric.r_max,
        limit_ms=None if metric.limit_s is None else Fraction(metric.limit_s) * 1000,
        min_subjects=metric.min_subjects,
        margin=(1 - t) / 2 if metric.margin is None else Fraction(metric.margin),
        family=family if binding and tested else 1,
        weights=unequal_weights(contract, metric),
        stages=_stages(contract, strata, sizes, decision.alpha_pass, decision.alpha_breach),
    )


def _promised(metric: Metric, direction: str) -> Fraction:
    """Return the success rate promised; of a mean the share of its scale, of a corpus rate errors per weight."""
    if metric.cut is None and metric.kind == "mean" and metric.scale is not None:
        low, high = (Fraction(limit) for limit in metric.scale)
        share = (Fraction(metric.threshold) - low) / (high - low) if high > low else Fraction(0)
        return share if direction == "at_least" else 1 - share
    if metric.kind == "corpus_rate":
        return Fraction(metric.threshold)
    return success_threshold(metric.threshold, direction, closed=True)


def _two_point(f0: Decimal | None, r0: Decimal | None, f1: Decimal | None, r1: Decimal | None) -> TwoPoint | None:
    if f0 is None or r0 is None or f1 is None or r1 is None:
        return None
    return TwoPoint(f0, r0, f1, r1)


def _stages(
    contract: Contract, strata: tuple[str, ...], sizes: Mapping[str, int], alpha_pass: Decimal, alpha_breach: Decimal
) -> tuple[Stage, ...]:
    extend = getattr(contract.verdict.inconclusive, "extend", None)
    if extend is None:
        return ()
    first = sum(sizes[s] for s in strata)
    more = sum(extend.per_stratum.get(s, 0) for s in strata)
    if not more:
        # Nothing is added to this metric: it is looked at once, at its own levels.
        return ()
    both = first + more
    # The spending is written for 0.025 per side and scaled to the levels of the metric.
    scale_pass, scale_breach = Fraction(alpha_pass) / Fraction("0.025"), Fraction(alpha_breach) / Fraction("0.025")
    return tuple(
        Stage(n=n, alpha_pass=Fraction(spent) * scale_pass, alpha_breach=Fraction(spent) * scale_breach)
        for n, spent in zip((first, both), extend.spending, strict=True)
    )
