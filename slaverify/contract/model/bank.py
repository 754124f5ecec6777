"""What is asked and how it is scored: blocks `evaluation_set`, `method`, `repetitions`."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from slaverify.contract.model.identity import DatedDigest
from slaverify.contract.model.scalars import (
    Block,
    Count,
    Digest,
    LanguageTag,
    Line,
    Magnitude,
    NameVersion,
    PluginName,
    Positive,
    Share,
    StratumName,
)


class Arms(Block):
    """Items outside the metrics that are sent with the sample."""

    anchor: Count = Field(default=0, description="Items that the group has seen")
    twin: Count = Field(default=0, description="Twins of items that the group has seen")
    probe: Count = Field(default=0, description="Honeytokens")


class Sample(Block):
    """How the items of a run are drawn."""

    method: Literal["full", "seeded", "commit_reveal"] = Field(description="Draw", examples=["seeded"])
    per_stratum: dict[StratumName, Positive] | None = Field(
        default=None, description="Items drawn per stratum; absent if full"
    )
    reserve: Count = Field(default=0, description="Reserve per stratum")
    release: Literal["after_run", "at_start"] = Field(
        default="after_run", description="When the references are delivered"
    )
    arms: Arms = Field(default=Arms(), description="Items outside the metrics")


class Inspection(Block):
    """Items opened to both sides before signature."""

    items: Count = Field(description="Number of items", examples=[30])


class Frame(Block):
    """What "questions like these" means."""

    population: Line = Field(
        description="The questions that the rate speaks of", examples=["Consultas de funcionarios"]
    )
    source: Literal["real_traffic", "written", "generated"] = Field(description="Where the items come from")
    period: Line | None = Field(default=None, description="Period of the traffic", examples=["2025-01 a 2025-12"])
    selection: Line = Field(description="How the items were chosen, and whether an engine was asked while choosing")


class EvaluationSet(Block):
    """Block `evaluation_set`."""

    bank_digest: Digest = Field(description="Digest of the bank's manifest.json")
    size: Positive = Field(description="Items of the bank, probes left out", examples=[300])
    strata: dict[StratumName, Positive] = Field(
        min_length=1, description="Items per stratum; sum = size", examples=[{"direct": 240}]
    )
    sample: Sample = Field(description="Draw")
    weights: dict[StratumName, Share] | None = Field(
        default=None, description="Weight per stratum; absent = proportional"
    )
    estimand: Literal["population", "bank"] = Field(default="population", description="What a rate speaks of")
    exposure: Literal["fresh", "reuse"] = Field(default="fresh", description="May used items be asked again?")
    rotation: Line | None = Field(default=None, description="How the bank is renewed")
    inspection: Inspection | None = Field(default=None, description="Items opened before signature")
    practice_digest: Digest | None = Field(default=None, description="Digest of the public practice set")
    frame: Frame | None = Field(default=None, description="Population; required if the estimand is population")


class Policies(Block):
    """Choices of the rules; absent ones are those of the profile."""

    percent_equivalence: bool | None = Field(default=None, description="Is 0.35 the same as 35 %?")
    range_expansion: Annotated[str, Field(pattern=r"^(none|up_to:[1-9][0-9]?)$")] | None = Field(
        default=None, description="Does a range of articles hit?"
    )
    ordering: Literal["sequence", "multiset", "set"] | None = Field(default=None, description="Order of a list")
    fold_accents: bool | None = Field(default=None, description="Are accents ignored?")
    granularity: Literal["norm", "article", "paragraph", "letter"] | None = Field(
        default=None, description="Depth of a citation"
    )
    json_: Literal["strict", "fenced_allowed"] | None = Field(
        default=None, alias="json", description="Form of JSON answers"
    )
    tolerance: Magnitude | None = Field(default=None, description="Absolute tolerance of numbers")
    number_words: bool | None = Field(default=None, description="Are number words read?")
    scale_words: bool | None = Field(default=None, description="Are scale words read?")
    accounting_brackets: bool | None = Field(default=None, description="Are brackets a minus sign?")
    unit_in_query: bool | None = Field(default=None, description="May the query give the unit?")
    year_pivot: Annotated[int, Field(ge=0, le=99)] | None = Field(default=None, description="Pivot of two-digit years")


class JudgeStage(Block):
    """What code may leave open to the judge."""

    strata: tuple[StratumName, ...] = Field(default=(), description="Strata")
    ask: tuple[Literal["correctness", "grounding", "criteria", "eligibility"], ...] = Field(
        default=(), description="Questions"
    )


class AnswerLimits(Block):
    """Limits of an answer."""

    max_chars: Positive = Field(default=20_000, description="Longest answer, characters")
    language: LanguageTag | None = Field(default=None, description="Language; default that of the locale")
    citations_max: Positive = Field(default=50, description="Most citations")


class Plugin(Block):
    """Code of others, pinned by digest."""

    name: PluginName = Field(description="Name")
    version: Line = Field(description="Version", examples=["1.2.0"])
    package_digest: Digest = Field(description="Digest of the package")


class Trajectory(Block):
    """Settings of profile trajectory@1."""

    state_contract_digest: Digest = Field(description="Digest of the state contract")
    profile: Annotated[str, Field(pattern=r"^[a-z][a-z0-9@-]{0,63}$")] = Field(
        default="slaverify-1", description="Path profile"
    )
    mode: Literal["tool", "context"] = Field(default="tool", description="Tools or context")
    context_chars: Positive = Field(default=64_000, description="Context, characters")
    path_floor: Share = Field(default=Decimal("0.7"), description="Least path score")
    required_quorum: Literal["any", "all"] = Field(default="any", description="Required artefacts")


def _name_or_table(value: object) -> str:
    return "<table>" if isinstance(value, dict) else "<name>"


VerdictTable = Annotated[
    Annotated[NameVersion, Tag("<name>")] | Annotated[dict[Line, dict[Line, Line]], Tag("<table>")],
    Discriminator(_name_or_table),
]
"""A named table, or correctness: grounding: verdict in 16 cells."""


class Method(Block):
    """Block `method`: how an answer is scored. What is absent is that of the profile."""

    profile: NameVersion = Field(description="Profile", examples=["qa@1"])
    rules: dict[StratumName, tuple[NameVersion, ...]] | None = Field(default=None, description="Rules per stratum")
    normaliser: NameVersion | None = Field(default=None, description="Normaliser", examples=["es-legal@1"])
    abstention: tuple[NameVersion, ...] | None = Field(
        default=None, description="Abstention detectors", examples=[["abstain-es@1"]]
    )
    citation_grammar: NameVersion | None = Field(default=None, description="Citation grammar", examples=["cl.norm@1"])
    verdict_table: VerdictTable | None = Field(default=None, description="From correctness and grounding to a verdict")
    policies: Policies = Field(default=Policies(), description="Choices of the rules")
    null_tokens: tuple[Line, ...] | None = Field(default=None, description="Answers that mean nothing was found")
    critical_fields: tuple[Line, ...] | None = Field(default=None, description="Fields that make a document right")
    judge_stage: JudgeStage = Field(default=JudgeStage(), description="What code may leave open")
    answer: AnswerLimits = Field(default=AnswerLimits(), description="Limits of an answer")
    rate_table: DatedDigest | None = Field(default=None, description="Dated table of units")
    plugins: tuple[Plugin, ...] = Field(default=(), description="Code of others")
    trajectory: Trajectory | None = Field(default=None, description="Settings of trajectory@1")


class DispersionSample(Block):
    """Repeats of a part of the sample, reported only."""

    items: Positive = Field(description="Items", examples=[30])
    repeats: Positive = Field(description="Calls per item", examples=[8])


class Repetitions(Block):
    """Block `repetitions`."""

    per_item: Positive = Field(default=1, description="Calls per item")
    aggregate: Literal["each_call", "all_of_k"] = Field(default="each_call", description="How calls make an item")
    dispersion_sample: DispersionSample | None = Field(default=None, description="Repeats, reported only")
