"""The independent judge: block `judge`. Absent, no item may reach a judge.

Source: docs/spec/contract.md; the meaning of each key stands in the judging specification.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import Field

from slaverify.contract.model.scalars import (
    Block,
    Count,
    Dec,
    Digest,
    HeaderName,
    LanguageTag,
    Line,
    LongText,
    Magnitude,
    MetricId,
    NameVersion,
    Positive,
    Seconds,
    SecretRef,
    Share,
    Url,
)


class JudgeAuth(Block):
    """How a judge is authorised."""

    header: HeaderName = Field(default="Authorization", description="Header")
    scheme: str = Field(default="Bearer", pattern=r"^[A-Za-z0-9-]{0,32}$", description="Scheme before the secret")
    secret: SecretRef = Field(description="Where the secret is", examples=["env:JUDGE_API_KEY"])


class JudgeEndpoint(Block):
    """Where a judge is."""

    url: Url = Field(description="Address")
    auth: JudgeAuth | None = Field(default=None, description="Authorisation")


class JudgeParameters(Block):
    """What is asked of the model; requested, never proven."""

    temperature: Magnitude = Field(default=Decimal("0"), description="Temperature")
    top_p: Share = Field(default=Decimal("1"), description="Nucleus")
    seed: Count | None = Field(default=None, description="Seed")
    max_output_tokens: Positive = Field(default=1024, description="Longest output, tokens")


class JudgeMember(Block):
    """One judge of the panel."""

    id: MetricId = Field(description="Name in the panel")
    provider: Line = Field(description="Who runs the model")
    family: Line = Field(description="Model family")
    snapshot: Line = Field(description="Pinned snapshot: a date or the digest of the weights")
    endpoint: JudgeEndpoint = Field(description="Where it is")
    adapter: NameVersion = Field(description="Protocol", examples=["openai_chat@1"])
    api_version: Line | None = Field(default=None, description="Version of the interface")
    expected_model_echo: Line = Field(description="Model name that each response must declare")
    parameters: JudgeParameters = Field(default=JudgeParameters(), description="Parameters")
    response_format: Literal["json_schema", "none"] = Field(default="none", description="Structured output")
    context_tokens: Positive = Field(description="Context, tokens")


class CarveOut(Block):
    """An exception inside the text that the judge reads."""

    id: MetricId = Field(description="Name")
    text: LongText = Field(description="Sentence")


class ScalePoint(Block):
    """A value of a scale, with the fraction that it is worth."""

    value: str | int = Field(description="Value, as the judge writes it")
    fraction: Share = Field(description="Fraction of the requirement met")
    anchor: LongText = Field(description="When this value applies")


class Scale(Block):
    """A declared scale; no number is ever rescaled."""

    kind: Literal["binary", "labels", "ordinal"] = Field(description="Kind")
    points: tuple[ScalePoint, ...] = Field(min_length=2, max_length=12, description="Points")


class Probe(Block):
    """A made answer whose mark is known."""

    carve_out: MetricId | None = Field(default=None, description="Carve-out that it tests")
    question: LongText | None = Field(default=None, description="Question")
    answer: LongText = Field(description="Answer")
    met: bool = Field(description="Does it meet the criterion?")


class Check(Block):
    """What code can say of a criterion by itself; all that is given has to hold."""

    contains: tuple[Line, ...] = Field(default=(), max_length=50, description="Words that stand in the answer")
    pattern: str | None = Field(default=None, description="Expression that the whole answer matches, anchored")
    min_chars: Count | None = Field(default=None, description="Least characters")
    max_chars: Positive | None = Field(default=None, description="Most characters")


class Criterion(Block):
    """One requirement, in positive terms."""

    id: MetricId = Field(description="Name")
    version: Positive = Field(description="Version")
    tier: Literal["compliance", "quality"] = Field(description="Tier")
    text: LongText = Field(description="What is required")
    steps: tuple[LongText, ...] = Field(default=(), max_length=8, description="Order of evaluation")
    carve_outs: tuple[CarveOut, ...] = Field(default=(), description="Exceptions")
    applies_when: dict[Line, tuple[Line, ...]] | None = Field(default=None, description="Items to which it applies")
    scale: Scale = Field(description="Scale")
    threshold: Share = Field(description="Least fraction at which one answer meets it")
    check: Check | None = Field(default=None, description="Decided by code with this; absent: by the judge")
    points: int | None = Field(
        default=None, ge=-1000, le=1000, description="Weight in weighted@1; negative: a penalty where it is present"
    )
    probes: tuple[Probe, ...] = Field(default=(), description="Made answers")


class Rubric(Block):
    """A named rubric, pinned by digest."""

    name: NameVersion = Field(description="Name", examples=["reglab@1"])
    digest: Digest = Field(description="Digest of the rubric")


class Facts(Block):
    """Settings of facts@1."""

    eligibility_rule: Literal["all_eligible", "majority", "any_eligible"] = Field(
        description="Rule of the panel; no default"
    )
    require_supported: bool = Field(default=True, description="At least one supported sentence")


class Budget(Block):
    """What the judge may cost."""

    calls: Positive = Field(description="Calls")
    amount: Magnitude | None = Field(default=None, description="Amount")
    price_per_call: Magnitude | None = Field(default=None, description="Price of a call")


class JudgeRetries(Block):
    """Retries of a judge call."""

    content: Count = Field(default=1, description="After a faulty content")
    transport: Count = Field(default=3, description="After a fault of transport")
    call_deadline_s: Seconds = Field(default=Decimal("120"), description="Deadline of a call, seconds")
    run_deadline_s: Seconds = Field(default=Decimal("86400"), description="Deadline of all calls, seconds")


class FlipRates(Block):
    """Largest share of answers whose mark changes between repeats."""

    compliance: Share = Field(default=Decimal("0.05"), description="Tier compliance")
    quality: Share = Field(default=Decimal("0.10"), description="Tier quality")


class JudgeRepeats(Block):
    """Repeats that show how stable the judge is."""

    per_item: Positive = Field(default=3, description="Calls per item")
    sample: Positive | None = Field(default=None, description="Items; default min(60, n)")
    max_flip_rate: FlipRates = Field(default=FlipRates(), description="Largest flip rates")


class Sentinels(Block):
    """Known answers among the calls."""

    digest: Digest = Field(description="Digest of the sentinel set")
    every: Positive = Field(default=25, description="Calls between sentinels")
    max_wrong: Count = Field(default=0, description="Most wrong sentinels")
    max_drift: Count | None = Field(default=None, description="Most drifted sentinels; derived by freeze")


class Differential(Block):
    """Differential judging."""

    random_share: Share = Field(default=Decimal("0.10"), description="Share judged again at random")
    counterfactual_share: Share = Field(default=Decimal("0.05"), description="Share judged with a false reference")


class Calibration(Block):
    """Comparison of the judge with people."""

    design: Literal["stratified_audit", "random_audit", "external"] = Field(
        default="stratified_audit", description="Design"
    )
    min_labels: Positive = Field(default=200, description="Least labels")
    min_sensitivity: Share = Field(default=Decimal("0"), description="Least sensitivity")
    min_specificity: Share = Field(default=Decimal("0"), description="Least specificity")
    min_per_class: int = Field(default=30, ge=30, description="Least labels per class")
    min_kappa: Dec | None = Field(default=None, description="Printed beside kappa; gates nothing")
    max_age_days: Positive = Field(default=365, description="Oldest calibration, days")
    labels_digest: Digest | None = Field(default=None, description="Digest of the labels")
    annotators: Literal[1, 2] = Field(default=2, description="People per label")


class Judge(Block):
    """Block `judge`."""

    panel: tuple[JudgeMember, ...] = Field(min_length=1, max_length=5, description="Members, 1 to 5")
    rubric: Rubric | None = Field(default=None, description="Named rubric; this or criteria")
    criteria: tuple[Criterion, ...] = Field(default=(), description="Own criteria; these or a rubric")
    facts: Facts | None = Field(default=None, description="Settings of facts@1")
    parser: NameVersion = Field(default="verdict-json@1", description="Parser")
    aggregation: Literal["single", "unanimous", "majority", "median", "mean"] = Field(
        description="From members to one mark"
    )
    votes: Literal[1, 3, 5] = Field(default=1, description="Votes of a member")
    language: LanguageTag | None = Field(default=None, description="Language of the reason")
    allow_ordinal_compliance: bool = Field(default=False, description="May compliance be ordinal?")
    budget: Budget | None = Field(default=None, description="What it may cost")
    retries: JudgeRetries = Field(default=JudgeRetries(), description="Retries")
    repeats: JudgeRepeats = Field(default=JudgeRepeats(), description="Repeats")
    sentinels: Sentinels = Field(description="Known answers")
    differential: Differential = Field(default=Differential(), description="Differential judging")
    calibration: Calibration = Field(default=Calibration(), description="Comparison with people")
    on_uncalibrated: Literal["not_measured", "declared_limitation"] = Field(
        default="not_measured", description="Without calibration"
    )
