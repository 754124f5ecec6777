"""What is promised and what follows from the numbers: `metrics`, `failed_calls`, `verdict`."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from slaverify.contract.model.scalars import (
    Block,
    Count,
    Day,
    Dec,
    Line,
    Magnitude,
    MetricId,
    NameVersion,
    Positive,
    Seconds,
    Share,
    StratumName,
    Time,
    Words,
)

Filter = dict[str, tuple[str | int | bool, ...]]
"""Field of a score record: accepted values. Values of one key are alternatives; keys must all hold."""


class Cluster(Block):
    """What makes items dependent."""

    by: Line = Field(description="What items share", examples=["norm"])
    icc_floor: Share = Field(description="Least intra-cluster correlation assumed", examples=["0.2"])


class DecisionRule(Block):
    """From counts to a state, with its risks."""

    rule: Literal["guarded", "guarded_rejection", "simple", "two_point", "zero_observed"] = Field(
        default="guarded", description="Rule"
    )
    alpha_pass: Share = Field(default=Decimal("0.025"), description="Risk of a false PASS at the threshold, one-sided")
    alpha_breach: Share = Field(
        default=Decimal("0.025"), description="Risk of a false BREACH, one-sided, over the family"
    )
    confidence: Share = Field(default=Decimal("0.95"), description="Confidence of the interval shown, two-sided")
    f0: Share | None = Field(default=None, description="two_point: failure rate of good quality")
    r0: Share | None = Field(default=None, description="two_point: risk of rejecting good quality")
    f1: Share | None = Field(default=None, description="two_point: failure rate of bad quality")
    r1: Share | None = Field(default=None, description="two_point: risk of accepting bad quality")


class Stage(Block):
    """Numbers of one stage of a sequential design."""

    n: Positive = Field(description="Items up to this stage")
    pass_max_failures: Count | None = Field(default=None, description="Acceptance number")
    breach_min_failures: Count | None = Field(default=None, description="Rejection number")


class Derived(Block):
    """Numbers written by freeze and computed again at each load."""

    n: Positive = Field(description="Items of the metric")
    pass_max_failures: Count | None = Field(default=None, description="Acceptance number; null: none exists")
    breach_min_failures: Count | None = Field(default=None, description="Rejection number; null: none exists")
    stages: tuple[Stage, ...] = Field(default=(), description="Stages, with extend")


class Predicts(Block):
    """The outcome in use that the rate is held to foretell."""

    observable: Line = Field(description="What is observed in use", examples=["Reclamos por 1.000 consultas"])
    direction: Literal["increases", "decreases"] = Field(description="How it moves when the rate rises")
    evidence: Line = Field(description="Study that says so")
    as_of: Day = Field(description="Day of the evidence")


class Metric(Block):
    """One promise."""

    id: MetricId = Field(description="Name", examples=["accuracy"])
    name: Words = Field(description="Name for people")
    library: NameVersion | None = Field(
        default=None, description="Ready metric that fills kind to direction", examples=["accuracy@1"]
    )
    severity: Literal["binding", "reported"] = Field(default="binding", description="Does it move the verdict?")
    unit: Line | None = Field(default=None, description="What is counted; default by profile", examples=["item"])
    kind: Literal["rate", "mean", "corpus_rate", "quantile"] = Field(description="Kind", examples=["rate"])
    count: Filter | None = Field(
        default=None, description="Numerator: a filter over score records", examples=[{"verdict": ["accurate"]}]
    )
    among: Filter = Field(description="Denominator: strata of the sample", examples=[{"stratum": ["direct"]}])
    direction: Literal["at_least", "at_most"] = Field(description="Sense of the promise", examples=["at_least"])
    threshold: Dec = Field(description="What is promised; q of a quantile", examples=["0.90"])
    value: Line | None = Field(default=None, description="Score field of a mean", examples=["value"])
    scale: Annotated[tuple[Dec, ...], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="Scale of a mean", examples=[["0", "1"]]
    )
    w_max: Positive | None = Field(default=None, description="Longest unit of a corpus rate")
    r_max: Magnitude | None = Field(default=None, description="Largest error ratio of a corpus rate")
    limit_s: Seconds | None = Field(default=None, description="Limit of a quantile, seconds")
    cut: Dec | None = Field(default=None, description="Score from which an item counts")
    estimand: Literal["population", "bank"] | None = Field(default=None, description="Default: that of the set")
    aggregate: Literal["each_call", "all_of_k"] | None = Field(default=None, description="Default: that of repetitions")
    cluster: Cluster | None = Field(default=None, description="What makes items dependent")
    min_subjects: Positive | None = Field(default=None, description="Below it the figure is insufficient")
    predicts: Predicts | None = Field(default=None, description="Outcome in use that the rate foretells")
    decision: DecisionRule = Field(description="Rule and risks")
    margin: Share | None = Field(
        default=None, description="Distance from the threshold at which power is reported; default half of 1 - T"
    )
    derived: Derived | None = Field(default=None, description="Written by freeze")


class ExcludedUpTo(Block):
    """A number of exchanges that may leave the denominator."""

    excluded_up_to: Count = Field(description="Exchanges")


def _word_or_map(value: object) -> str:
    return "<map>" if isinstance(value, dict | Block) else "<word>"


CountsAs = Annotated[
    Annotated[Literal["incorrect", "bounds"], Tag("<word>")] | Annotated[ExcludedUpTo, Tag("<map>")],
    Discriminator(_word_or_map),
]


class Counting(Block):
    """What an outcome counts as."""

    counts_as: CountsAs = Field(description="What it counts as", examples=["incorrect"])


class Interval(Block):
    """A stretch of time."""

    from_: Time = Field(alias="from", description="Start")
    to: Time = Field(description="End")


_INCORRECT = Counting(counts_as="incorrect")
_BOUNDS = Counting(counts_as="bounds")


class FailedCalls(Block):
    """Block `failed_calls`: nobody gains by failing."""

    refused: Counting = Field(default=_INCORRECT, description="Refusal where an answer exists")
    truncated: Counting = Field(default=_INCORRECT, description="Cut answer")
    empty: Counting = Field(default=_INCORRECT, description="Blank answer")
    malformed: Counting = Field(default=_INCORRECT, description="Unreadable answer")
    vendor_failure: Counting = Field(default=_INCORRECT, description="Fault of the vendor")
    auditor_failure: Counting = Field(default=_BOUNDS, description="Fault of the auditor's side")
    unresolved: Counting = Field(default=_BOUNDS, description="Fault of nobody known")
    not_sent: Counting = Field(default=_BOUNDS, description="Exchange that was not sent")
    unresolved_max: Share = Field(default=Decimal("0.01"), description="Share of n above which a metric is INVALID_RUN")
    missing_cap: Share = Field(
        default=Decimal("0.05"), description="Share above which the test of missingness is printed"
    )
    maintenance: tuple[Interval, ...] = Field(default=(), description="Announced maintenance")
    maintenance_notice_hours: Count = Field(default=72, description="Notice of maintenance, hours")


class ExtendTerms(Block):
    """A second stage in the same run."""

    per_stratum: dict[StratumName, Positive] = Field(description="Items of stage 2 per stratum")
    spending: tuple[Share, Share] = Field(description="Alpha of each stage", examples=[["0.005", "0.0225"]])


class Extend(Block):
    """More items of the same draw."""

    extend: ExtendTerms = Field(description="Second stage")


class RetestTerms(Block):
    """Terms of a new audit."""

    fresh: Literal[True] = Field(description="With fresh items")


class Retest(Block):
    """A new contract version with its own run 1."""

    retest: RetestTerms = Field(description="New audit")


def _inconclusive(value: object) -> str:
    if isinstance(value, Retest) or (isinstance(value, dict) and "retest" in value):
        return "<retest>"
    return "<extend>" if isinstance(value, dict | Extend) else "<word>"


Inconclusive = Annotated[
    Annotated[Literal["no_consequence", "withhold"], Tag("<word>")]
    | Annotated[Extend, Tag("<extend>")]
    | Annotated[Retest, Tag("<retest>")],
    Discriminator(_inconclusive),
]


class EarlyStop(Block):
    """Prior of the e-processes."""

    a: Magnitude = Field(description="a", examples=["19"])
    b: Magnitude = Field(description="b", examples=["1"])


class Integrity(Block):
    """What integrity events do."""

    manipulation_cap: Count = Field(default=0, description="Most confirmed manipulations")
    effect: Literal["inconclusive", "breach"] = Field(default="inconclusive", description="Above the cap")
    binding_patterns: tuple[Line, ...] = Field(default=(), description="Patterns that block PASS")
    latency_ceiling_s: Seconds | None = Field(default=None, description="Ceiling of latency, seconds")


class VerdictRules(Block):
    """Block `verdict`: from several states to one."""

    combine: Literal["all_binding"] = Field(default="all_binding", description="PASS needs all binding metrics")
    multiplicity: Literal["holm", "none"] = Field(default="holm", description="Correction of the family for BREACH")
    inconclusive: Inconclusive = Field(description="What follows when nothing was demonstrated", examples=["withhold"])
    early_stop: EarlyStop | None = Field(default=None, description="Early stop")
    integrity: Integrity = Field(default=Integrity(), description="What integrity events do")
