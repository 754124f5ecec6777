"""What follows in time and money: blocks `schedule`, `remedies`, `disputes`, `confidentiality`."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import Field

from slaverify.contract.model.identity import RoleName
from slaverify.contract.model.metrics import Interval
from slaverify.contract.model.scalars import (
    Block,
    Count,
    Currency,
    Dec,
    Line,
    Magnitude,
    MetricId,
    Period,
    Positive,
    Share,
)


class ChangeCheck(Block):
    """Old and new version on the same fresh draw; never SLA conformity."""

    max_loss: Share = Field(description="Largest loss")
    alpha: Share = Field(default=Decimal("0.025"), description="Risk, one-sided")
    metrics: tuple[MetricId, ...] = Field(min_length=1, description="Metrics")


class Schedule(Block):
    """Block `schedule`."""

    window: Interval | None = Field(default=None, description="When runs may take place")
    spread: bool = Field(default=False, description="Spread the exchanges over the window")
    cadence: Period | None = Field(default=None, description="Time between audits", examples=["P3M"])
    triggers: tuple[Literal["engine_change", "corpus_change", "complaint"], ...] = Field(
        default=(), description="What asks for an audit"
    )
    notice_days: Count = Field(default=0, description="Notice, days")
    freeze: bool = Field(default=False, description="No change of engine during the window")
    shadow_share: Share = Field(default=Decimal("0"), description="Share of public items mixed in, never scored")
    paired_before_change: bool = Field(default=False, description="A change check before each change")
    change_check: ChangeCheck | None = Field(default=None, description="Change check")


class Credit(Block):
    """A step of a service credit."""

    metric: MetricId = Field(description="Metric")
    below: Dec | None = Field(default=None, description="Applies below this rate")
    above: Dec | None = Field(default=None, description="Applies above this rate")
    share: Share = Field(description="Share of the base")


class EarnBack(Block):
    """Credits earned back."""

    expected: Dec = Field(description="Expected rate")
    target: Dec = Field(description="Target rate")
    periods: Positive = Field(description="Periods")


class Termination(Block):
    """When the buyer may leave."""

    breaches: Positive = Field(description="Breaches", examples=[2])
    periods: Positive = Field(description="Within so many audits", examples=[4])


class Remedies(Block):
    """Block `remedies`: computed and printed, never executed."""

    currency: Currency | None = Field(default=None, description="ISO 4217", examples=["CLP"])
    base_amount: Magnitude | None = Field(default=None, description="Base of the credits", examples=["2500000"])
    at_risk: Share | None = Field(default=None, description="Share of the base at risk")
    cap: Share | None = Field(default=None, description="Most credits, share of the base")
    allocation: dict[MetricId, Share] | None = Field(default=None, description="Share at risk per metric; sum 1")
    credits: tuple[Credit, ...] = Field(default=(), description="Steps, which do not overlap")
    earn_back: EarnBack | None = Field(default=None, description="Credits earned back")
    cure_days: Count | None = Field(default=None, description="Days to cure")
    retest: bool = Field(default=False, description="A new audit after the cure")
    termination: Termination | None = Field(default=None, description="When the buyer may leave")
    payer: RoleName = Field(default="vendor", description="Who pays the credits")


class Disclosure(Block):
    """Who sees an opened part in a dispute."""

    part: Literal["query", "reference"] = Field(description="Part")
    to: RoleName = Field(description="Role")


class Adjudicator(Block):
    """Who decides a dispute."""

    name: Line = Field(description="Name")
    key_id: Line | None = Field(default=None, description="Key")


class Disputes(Block):
    """Block `disputes`."""

    window_days: Count = Field(default=15, description="Days to open a dispute")
    disclosure: tuple[Disclosure, ...] = Field(default=(), description="Who sees what")
    adjudicator: Adjudicator | None = Field(default=None, description="Who decides")
    retention_days: Count = Field(default=1825, description="How long the evidence is kept, days")
    max_upheld: Share = Field(
        default=Decimal("0.05"), description="Share of the sample above which the run is INVALID_RUN"
    )


class Confidentiality(Block):
    """Block `confidentiality`."""

    items: Line | None = Field(default=None, description="Duties on the items")
    answers: Line | None = Field(default=None, description="Duties on the answers")
    personal_data: Line | None = Field(default=None, description="Personal data")
    no_training: Line | None = Field(default=None, description="No training with the items")
    publication: Literal["none", "summary", "report"] = Field(default="none", description="What may be published")
