"""Write `statistics/results.json`: every number that the report shows of a metric, and its state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue, decimal_text, real9
from slaverify.contract import Contract, Metric
from slaverify.decision import shown
from slaverify.decision.assess import required_subjects
from slaverify.decision.assessed import Assessed, count_of
from slaverify.decision.calibrated import MetricCalibration
from slaverify.decision.rules import Ruling, numbers_of
from slaverify.decision.settle import settle, tipping
from slaverify.decision.states import judge
from slaverify.decision.terms import Terms
from slaverify.decision.words import RunValidity
from slaverify.errors import StatisticsError
from slaverify.statistics import Icc, fisher_exact, holm_adjust, icc_one_way, limits_at, wilson_interval

RESULTS_TYPE = "slaverify/results/1"
SMALL_STRATUM = 30
"""Items under which a stratum is descriptive only."""
FEW_CLUSTERS_LIMIT = 10
"""Clusters under which an interval may be too narrow."""
ENOUGH_POWER = Fraction("0.8")

_METRIC_ONLY = (
    "pass_max_failures",
    "breach_min_failures",
    "ladder",
    "risk_false_pass",
    "risk_false_breach",
    "clusters",
    "deff",
    "n_eff",
    "p_pass",
    "p_breach",
    "p_breach_adjusted",
    "rate",
    "exact",
    "wilson",
    "zero_bound",
    "conformance_probability",
    "margin",
    "power_at_margin",
    "power_breach_at_margin",
    "shortfall",
    "distinct_subjects",
    "required_subjects",
    "dispersion",
    "dispersion_reason",
    "state",
    "reason",
    "settle",
    "missingness",
)
_COUNTS = ("n", "x", "failures", "failures_vendor", "unresolved", "open")


def results(
    contract: Contract,
    inputs_json: JsonObject,
    run_validity: RunValidity,
    calibrations: Mapping[str, MetricCalibration] | None = None,
) -> JsonObject:
    """Return the numbers and the state of every metric, and the descriptive ones of every stratum. Raises nothing.

    `inputs_json` is a `slaverify/inputs/1` document; `calibrations` what people said of the judge, by metric id.
    """
    judged = judge(contract, inputs_json, run_validity, calibrations)
    metrics: list[JsonValue] = []
    strata: list[JsonValue] = []
    for index, (one, ruling) in enumerate(zip(judged.assessed, judged.rulings, strict=True)):
        beside = _Beside(judged.combined.adjusted[index], judged.others[index])
        metrics.append(_metric(contract.metrics[index], one, ruling, beside, contract.failed_calls.missing_cap))
        strata.extend(_stratum(one.terms, name, row) for name, row in _strata(one.entry))
    return {
        "type": RESULTS_TYPE,
        "run": {
            "valid": run_validity.valid,
            "reason": run_validity.reason,
            "judge_drift": run_validity.judge_drift,
            "provenance": run_validity.provenance,
        },
        "metrics": metrics,
        "strata": strata,
    }


@dataclass(frozen=True, slots=True)
class _Beside:
    """What the family adds to one metric: its adjusted p, and how many others are in breach without it."""

    adjusted: Fraction | float | None
    others: int


def _metric(metric: Metric, one: Assessed, ruling: Ruling, beside: _Beside, missing_cap: Decimal) -> JsonObject:
    ladder = _ladder(one)
    rejecting = ladder[min(beside.others, len(ladder) - 1)] if ladder else None
    entry: dict[str, JsonValue] = {
        **_terms_part(one.terms, None),
        **_counts_part(one),
        **_numbers_part(one, beside.adjusted, ladder),
        "rate": shown.rate(one),
        "exact": shown.exact(one),
        "wilson": shown.wilson(one),
        "method": one.method,
        "zero_bound": shown.zero_bound(one),
        "conformance_probability": shown.conformance(one),
        **shown.planned(one),
        **_measurement_part(one),
        "missingness": _missingness(one.entry, missing_cap),
        "state": ruling.state.value,
        "reason": None if ruling.reason is None else ruling.reason.value,
        "settle": settle(one, ruling),
        "tipping": tipping(one, ruling, rejecting),
    }
    entry["limitations"] = _limitations(metric, one, entry)
    return entry


def _terms_part(terms: Terms, stratum: str | None) -> dict[str, JsonValue]:
    return {
        "id": terms.id,
        "stratum": stratum,
        "kind": terms.kind,
        "unit": terms.unit,
        "direction": terms.direction,
        "threshold": decimal_text(terms.threshold),
        "rule": terms.rule,
        "alpha_pass": decimal_text(terms.alpha_pass),
        "alpha_breach": decimal_text(terms.alpha_breach),
        "confidence": decimal_text(terms.confidence),
        "estimand": terms.estimand,
        "binding": terms.binding,
    }


def _counts_part(one: Assessed) -> dict[str, JsonValue]:
    entry = one.entry
    return {
        **{key: count_of(entry, key) for key in _COUNTS},
        "excluded": count_of(entry, "excluded"),
        **{key: entry.get(key) or {} for key in ("by_outcome", "by_verdict", "by_reason")},
    }


def _numbers_part(
    one: Assessed, adjusted: Fraction | float | None, ladder: list[int | None] | None
) -> dict[str, JsonValue]:
    numbers, effective = one.numbers, one.effective
    return {
        "pass_max_failures": None if numbers is None else numbers.pass_max_failures,
        "breach_min_failures": None if numbers is None else numbers.breach_min_failures,
        "ladder": None if ladder is None else [*ladder],
        "risk_false_pass": None if numbers is None else real9(numbers.risk_false_pass),
        "risk_false_breach": None if numbers is None else real9(numbers.risk_false_breach),
        "clusters": one.clusters,
        "deff": None if effective is None else real9(effective.deff),
        "n_eff": None if effective is None else real9(effective.n_low),
        "p_pass": None if one.p_pass is None else real9(one.p_pass),
        "p_breach": None if one.p_breach is None else real9(one.p_breach),
        "p_breach_adjusted": None if adjusted is None else real9(adjusted),
    }


def _ladder(one: Assessed) -> list[int | None] | None:
    """Return the rejection numbers at alpha/k, alpha/(k-1), …, alpha: Holm without software."""
    if one.numbers is None or not one.terms.tested:
        return None
    return [
        numbers_of(one.terms, one.n, one.level_pass, one.level_breach / rank).breach_min_failures
        for rank in range(one.terms.family, 0, -1)
    ]


def _measurement_part(one: Assessed) -> dict[str, JsonValue]:
    terms = one.terms
    repeats = _icc(one.entry)
    dispersion = None if repeats is None else _icc_json(repeats)
    return {
        "provenance": one.provenance,
        "assumptions": [*one.assumptions],
        "observations": one.observations,
        "distinct_subjects": one.subjects,
        "required_subjects": required_subjects(terms),
        "dispersion": dispersion,
        "dispersion_reason": None if dispersion else "one_run_per_item" if repeats is None else "no_variation",
    }


def _icc(entry: JsonObject) -> Icc | None:
    """Return the intra-class correlation of repeated calls, null with one call per item."""
    repeats = entry.get("repeats")
    histogram = repeats.get("histogram") if isinstance(repeats, dict) else None
    if not isinstance(repeats, dict) or not isinstance(histogram, dict):
        return None
    calls = count_of(repeats, "calls")
    rows: list[list[float]] = []
    for right in sorted(histogram, key=int):
        rows.extend([[1.0] * int(right) + [0.0] * (calls - int(right))] * count_of(histogram, right))
    try:
        return icc_one_way(rows)
    except StatisticsError:
        return None


def _icc_json(icc: Icc) -> JsonValue:
    if icc.icc is None or icc.low is None or icc.high is None:
        return None
    return {"icc": real9(icc.icc), "low": real9(icc.low), "high": real9(icc.high)}


def _missingness(entry: JsonObject, cap: Decimal) -> JsonValue:
    """Return the share of calls without a scored answer and whether it depends on the stratum; null up to the cap.

    The p is exact (Fisher), the smallest over the strata against the rest after Holm; null with one stratum.
    """
    rows = [row for _, row in _strata(entry)]
    missing = [count_of(row, "failures_vendor") + count_of(row, "unresolved") for row in rows]
    sizes = [count_of(row, "n") for row in rows]
    lost, n = sum(missing), sum(sizes)
    if n == 0 or Fraction(lost, n) <= Fraction(cap):
        return None
    tests = [
        fisher_exact(here, size - here, lost - here, n - size - lost + here)
        for here, size in zip(missing, sizes, strict=True)
        if 0 < size < n
    ]
    return {"share": real9(Fraction(lost, n)), "p": real9(min(holm_adjust(tests))) if tests else None}


def _strata(entry: JsonObject) -> list[tuple[str, JsonObject]]:
    strata = entry.get("strata")
    rows = strata.items() if isinstance(strata, dict) else ()
    return [(name, row) for name, row in sorted(rows) if isinstance(row, dict)]


def _stratum(terms: Terms, name: str, row: JsonObject) -> JsonObject:
    """Return the descriptive entry of one stratum: counts, rate and intervals, no state."""
    unknown = count_of(row, "unresolved") + count_of(row, "open")
    x, n = count_of(row, "x"), count_of(row, "n")
    entry: dict[str, JsonValue] = {
        **dict.fromkeys(_METRIC_ONLY),
        **_terms_part(terms, name),
        **{key: count_of(row, key) for key in _COUNTS},
        "excluded": count_of(row, "excluded"),
        "method": "exact",
        "provenance": "measured" if n > 0 else "not_measured",
        "observations": n,
        "assumptions": [],
        "limitations": ["L10"] if n < SMALL_STRATUM else [],
        "tipping": {"to_pass": None, "to_breach": None, "to_change": None},
        **{key: {} for key in ("by_outcome", "by_verdict", "by_reason")},
    }
    if n > 0 and terms.sampled:
        tail, flip = float((1 - terms.confidence) / 2), terms.direction == "at_most"
        entry["rate"] = real9(Fraction(n - x - unknown if flip else x, n))
        entry["exact"] = _flipped(limits_at(x, n, tail).low, limits_at(x + unknown, n, tail).high, flip)
        low = wilson_interval(x, n, terms.confidence).low
        entry["wilson"] = _flipped(low, wilson_interval(x + unknown, n, terms.confidence).high, flip)
    return entry


def _flipped(low: float, high: float, flip: bool) -> JsonValue:
    low, high = (1.0 - high, 1.0 - low) if flip else (low, high)
    return {"low": real9(low), "high": real9(high)}


def _limitations(metric: Metric, one: Assessed, entry: Mapping[str, JsonValue]) -> list[JsonValue]:
    """Return the codes of the limitations that concern this metric's figure."""
    terms = one.terms
    small = any(0 < count_of(row, "n") < SMALL_STRATUM for _, row in _strata(one.entry))
    few = one.clusters is not None and (one.clusters < FEW_CLUSTERS_LIMIT or terms.icc_floor is None)
    powers = [entry.get("power_at_margin"), entry.get("power_breach_at_margin")]
    known = entry.get("margin") is not None
    weak = known and any(not isinstance(power, str) or Fraction(power) < ENOUGH_POWER for power in powers)
    conditions = {
        "L01": one.entry.get("judged") is not None,
        "L03": True,
        "L08": True,
        "L10": small,
        "L11": few,
        "L12": weak,
        "L18": one.f_pass > one.f_breach,
        "L27": metric.predicts is None,
    }
    return [code for code, holds in conditions.items() if holds]
