"""Measure a metric with judged items: corrected by what people said, or bounded by what rules alone prove.

The designs of the contract: `random_audit`, `stratified_audit`, `external`. Items that a rule decided need no
correction; the two parts are put together as squared distances of their limits (`mixed_interval`).
Without a usable calibration a judge's rate drives nothing: only failures found by rules can prove BREACH, and only
successes found by rules can prove PASS.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from slaverify.canonical import JsonObject
from slaverify.decision.assessed import count_of
from slaverify.decision.terms import Terms
from slaverify.decision.words import Reason
from slaverify.statistics import (
    AuditedRate,
    Cell,
    Confusion,
    corrected_limits,
    human_audit,
    judge_corrected,
    limits_at,
    stratified_audit,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCalibration:
    """What people said of the judged items of one metric, in the metric's own sense of success.

    `design` a word of `judge.calibration.design`. `external`: `confusion`. `stratified_audit`: `cells` over the judged
    items. `random_audit`: `pairs` = audited items by (human, pipeline) verdict: both right, human alone right,
    pipeline alone right, both wrong; drawn from all items of the metric. `guard`: why it may not be used, or null.
    """

    design: str
    confusion: Confusion | None = None
    cells: tuple[Cell, ...] = ()
    pairs: tuple[int, int, int, int] | None = None
    guard: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Counts of a metric in successes: those of the judge, and all others, where unknown items are at one end."""

    x_rule: float
    n_rule: float
    x_judged: float
    n_judged: float


@dataclass(frozen=True, slots=True)
class Corrected:
    """The limits of a corrected rate as a function of z, its centre, and its method; or the guard that forbids it."""

    limits: Callable[[float], tuple[float, float]] | None
    estimate: float | None
    method: str
    guard: Reason | None = None


def corrected(
    terms: Terms, counts: Judged, calibration: MetricCalibration, deff: float, min_per_class: int
) -> Corrected:
    """Return the corrected rate of one end of the counts. `deff` >= 1 divides both parts' sizes."""
    if calibration.guard is not None:
        return Corrected(None, None, calibration.design, reason_of(calibration.guard))
    if calibration.design == "external" and calibration.confusion is not None:
        return _external(terms, counts, calibration.confusion, deff, min_per_class)
    if calibration.design == "random_audit" and calibration.pairs is not None:
        return _random(counts, calibration.pairs, deff)
    if calibration.design == "stratified_audit":
        return _audited(counts, stratified_audit(calibration.cells), deff)
    return Corrected(None, None, calibration.design, Reason.DATA_ABSENT)


def _external(terms: Terms, counts: Judged, confusion: Confusion, deff: float, min_per_class: int) -> Corrected:
    n = counts.n_judged / deff
    k = counts.x_judged / deff
    found = judge_corrected(k, n, confusion, terms.confidence, min_per_class)
    method = "mixed" if counts.n_rule else "judge_corrected"
    if found.guard is not None or found.theta is None:
        return Corrected(None, None, method, reason_of(found.guard or "judge_not_informative"))

    def judged(z: float) -> tuple[float, float, float]:
        low, high = corrected_limits(k, n, confusion, z) or (0.0, 1.0)
        return (low + high) / 2.0, low, high

    return Corrected(_mixed(counts, deff, judged), _shared(counts, found.theta), method)


def _random(counts: Judged, pairs: tuple[int, int, int, int], deff: float) -> Corrected:
    both, human_alone, pipeline_alone, none = pairs
    audited = sum(pairs)
    x, n = counts.x_rule + counts.x_judged, counts.n_rule + counts.n_judged
    rest, rest_right = round(n) - audited, round(x) - both - pipeline_alone
    if audited < 2 or rest < 0 or not 0 <= rest_right <= rest:
        return Corrected(None, None, "human_audit", Reason.CALIBRATION_TOO_SMALL)
    human = [1.0] * (both + human_alone) + [0.0] * (pipeline_alone + none)
    pipeline = [1.0] * both + [0.0] * human_alone + [1.0] * pipeline_alone + [0.0] * none
    found = human_audit(human, pipeline, [1.0] * rest_right + [0.0] * (rest - rest_right), 0.95)
    n_eff = found.n_eff / deff
    return Corrected(lambda z: _exact(found.estimate * n_eff, n_eff, z), found.estimate, "human_audit")


def _audited(counts: Judged, found: AuditedRate, deff: float) -> Corrected:
    if found.theta is None or found.n_eff is None:
        return Corrected(None, None, "stratified_audit", Reason.CALIBRATION_TOO_SMALL)
    theta, n_eff = found.theta, found.n_eff / deff

    def judged(z: float) -> tuple[float, float, float]:
        return (theta, *_exact(theta * n_eff, n_eff, z))

    return Corrected(_mixed(counts, deff, judged), _shared(counts, theta), "stratified_audit")


def _mixed(
    counts: Judged, deff: float, judged: Callable[[float], tuple[float, float, float]]
) -> Callable[[float], tuple[float, float]]:
    """Return the limits of rules and judge together as a function of z: distances of the parts added as squares."""
    if counts.n_rule <= 0:
        return lambda z: judged(z)[1:]
    share = counts.n_rule / (counts.n_rule + counts.n_judged)
    p = counts.x_rule / counts.n_rule

    def limits(z: float) -> tuple[float, float]:
        centre, low, high = judged(z)
        rule_low, rule_high = _exact(counts.x_rule / deff, counts.n_rule / deff, z)
        middle = share * p + (1.0 - share) * centre
        below = math.hypot(share * (p - rule_low), (1.0 - share) * (centre - low))
        above = math.hypot(share * (rule_high - p), (1.0 - share) * (high - centre))
        return middle - below, middle + above

    return limits


def _shared(counts: Judged, theta: float) -> float:
    return (counts.x_rule + counts.n_judged * theta) / (counts.n_rule + counts.n_judged)


def _exact(x: float, n: float, z: float) -> tuple[float, float]:
    from scipy.special import ndtr

    found = limits_at(min(x, n), n, float(ndtr(-z)))
    return found.low, found.high


def reason_of(word: str) -> Reason:
    """Return the reason that a guard names; a word that is none means that nothing was calibrated."""
    return next((reason for reason in Reason if reason.value == word), Reason.JUDGE_UNCALIBRATED)


def counts_of(entry: JsonObject, *, with_unknown: bool) -> Judged | None:
    """Return the split of an inputs entry, unknown items as successes or as failures; null without judged items."""
    judged = entry.get("judged")
    if not isinstance(judged, dict):
        return None
    known = {key: count_of(judged, key) for key in ("x", "failures")}
    unknown = count_of(entry, "unresolved") + count_of(entry, "open")
    x = count_of(entry, "x")
    total = x + count_of(entry, "failures") + count_of(entry, "failures_vendor") + unknown
    n_judged = sum(known.values())
    # What nobody knows has no error of a judge to correct: it stays at its end, beside what rules decided.
    return Judged(
        x_rule=x - known["x"] + with_unknown * unknown,
        n_rule=total - n_judged,
        x_judged=known["x"],
        n_judged=n_judged,
    )
