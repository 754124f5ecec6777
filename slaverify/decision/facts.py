"""What the limitations are decided on: plain facts, each derivable from the files of a bundle."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue, real9
from slaverify.decision.assessed import count_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationFacts:
    """What people said of the judge on this run; reals are strings with nine places, null where not computed.

    `design` is a word of `judge.calibration.design`; `labels` a count; `disagreement` the share of double-read rows
    on which the people differed; `equivalent_labels` how many perfect labels the judged items are worth.
    """

    design: str
    labels: int
    annotators: int
    sensitivity: str | None = None
    specificity: str | None = None
    kappa: str | None = None
    kappa_low: str | None = None
    disagreement: str | None = None
    equivalent_labels: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFacts:
    """What the limitations read of one metric of `statistics/results.json`. Rates in the contract's own sense."""

    id: str
    n: int
    clusters: int | None
    unresolved: int
    open: int
    rate_low: str | None
    rate_high: str | None
    margin: str | None
    power_pass: str | None
    power_breach: str | None
    shortfall: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DispersionFacts:
    """The dispersion sample: items, calls of each, and the lowest correlation within a question (nine places)."""

    items: int
    repeats: int
    icc: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitationFacts:
    """The facts behind L01-L28 that the contract itself does not hold.

    Counts are integers from 0; null means that the bundle does not say.

    judge: `judged_items` score records with `decided_by` = `judge`; `judge_votes` lines of
    `judging/judgements.jsonl`; `without_one` rows of `panel_states`;
    `calibration` from `judging/calibration.json`, null without it;
    `judge_family_items` items whose question, reference or criteria a model of a judge's family wrote.
    answers: `abstentions` records of class `abstention`; `abstentions_reviewed` of them read by a person;
    `answers` outcomes `answered`; `echoes` of them whose response declared a version; `attested` of them whose
    version a proof of `engine.attestation` carried; `icc` of repeats, nine places, the lowest of the metrics;
    `dispersion` of the dispersion sample, null where there is none.
    numbers: `metrics` from `metric_facts(results)`; `strata` sample size by stratum.
    references: `references_unreviewed` without a second annotator; `disputed` items; `dispute_states` the overall
    state with all of them for the vendor, then against.
    custody: `reused_items` of the sample sent before; `fresh_left` items of state `unused`; `audits_left`;
    `leaks` what the leak tests say together (null: there were none);
    `witnesses` distinct cosigners of the last checkpoint; `timestamps` checkpoints with a token; `beacon` of the draw.
    run: `retries` attempts beyond the first of each exchange; `excluded` items taken out of a denominator;
    `deviations` sorted words (events of the ledger and journal that departed from the plan).
    papers: `signatures` roles whose party signature of the contract verifies; `demo` keys or authority of the
    demonstration; `self_signed` the auditor's certificate, null before it is known.
    """

    judged_items: int = 0
    judge_votes: int = 0
    without_one: tuple[JsonObject, ...] = ()
    calibration: CalibrationFacts | None = None
    judge_family_items: int = 0
    abstentions: int = 0
    abstentions_reviewed: int = 0
    answers: int = 0
    echoes: int = 0
    attested: int = 0
    icc: str | None = None
    dispersion: DispersionFacts | None = None
    metrics: tuple[MetricFacts, ...] = ()
    strata: tuple[tuple[str, int], ...] = ()
    references_unreviewed: int | None = None
    disputed: int = 0
    dispute_states: tuple[str, str] | None = None
    reused_items: int = 0
    fresh_left: int | None = None
    audits_left: int | None = None
    leaks: str | None = None
    witnesses: int = 0
    timestamps: int = 0
    beacon: bool = False
    retries: int = 0
    excluded: int = 0
    deviations: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    demo: bool = False
    self_signed: bool | None = None


def metric_facts(results: JsonObject) -> tuple[MetricFacts, ...]:
    """Return the facts of each metric of a `slaverify/results/1` document. What is malformed reads as null or 0."""
    metrics = results.get("metrics")
    rows = metrics if isinstance(metrics, list | tuple) else ()
    return tuple(_metric(row) for row in rows if isinstance(row, dict))


def _metric(row: JsonObject) -> MetricFacts:
    low, high = _both_bounds(row)
    return MetricFacts(
        id=str(row.get("id")),
        n=count_of(row, "n"),
        clusters=count_of(row, "clusters") if row.get("clusters") is not None else None,
        unresolved=count_of(row, "unresolved"),
        open=count_of(row, "open"),
        rate_low=low,
        rate_high=high,
        margin=_text(row.get("margin")),
        power_pass=_text(row.get("power_at_margin")),
        power_breach=_text(row.get("power_breach_at_margin")),
        shortfall=_text(row.get("shortfall")),
    )


def _both_bounds(row: JsonObject) -> tuple[str | None, str | None]:
    """Return the rate with every unknown item one way and the other, in the contract's own sense."""
    observations = count_of(row, "observations")
    at_least = row.get("direction") == "at_least"
    counted = count_of(row, "x") if at_least else count_of(row, "failures") + count_of(row, "failures_vendor")
    unknown = count_of(row, "unresolved") + count_of(row, "open")
    if observations <= 0 or counted + unknown > observations:
        return None, None
    return real9(Fraction(counted, observations)), real9(Fraction(counted + unknown, observations))


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
