"""Say before a run what a contract can decide: numbers, probabilities of each state, the n that power needs."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue, decimal_text, real9
from slaverify.contract import Contract, sample_sizes
from slaverify.decision.rules import numbers_of
from slaverify.decision.terms import Terms, terms_of
from slaverify.errors import StatisticsError
from slaverify.statistics import Numbers, equivalent_labels, min_n_power, state_probability

PLAN_TYPE = "slaverify/decision-plan/1"
POWERS = (Decimal("0.8"), Decimal("0.9"))


def plan(contract: Contract) -> JsonObject:
    """Return, for each metric of a contract, what its sample can show. Raises nothing.

    Probabilities of PASS, INCONCLUSIVE and BREACH at a true rate short of, at and beyond the threshold by the margin;
    the n at which each side has power 0.8 and 0.9 (independent items, before clusters and judge).
    """
    metrics: list[JsonValue] = [_metric(terms) for terms in terms_of(contract)]
    items = sum(sample_sizes(contract).values())
    per_item = contract.repetitions.per_item
    return {"type": PLAN_TYPE, "items": items, "per_item": per_item, "calls": items * per_item, "metrics": metrics}


def _metric(terms: Terms) -> JsonObject:
    n = terms.pinned
    level_pass, level_breach = Fraction(terms.alpha_pass), Fraction(terms.alpha_breach) / terms.family
    base: dict[str, JsonValue] = {
        "id": terms.id,
        "n": n,
        "threshold": decimal_text(terms.threshold),
        "direction": terms.direction,
        "rule": terms.rule,
        "binding": terms.binding,
        "family": terms.family,
        "integers": False,
        "pass_max_failures": None,
        "breach_min_failures": None,
        "points": [],
        "needed": [],
    }
    if not terms.sampled or n is None or terms.t <= 0:
        return base
    base["needed"] = _needed(terms, level_pass, level_breach)
    if terms.clustered or terms.weights is not None or terms.calls > 1:
        return base
    try:
        numbers = numbers_of(terms, n, level_pass, level_breach)
    except StatisticsError:
        return base
    return {
        **base,
        "integers": True,
        "pass_max_failures": numbers.pass_max_failures,
        "breach_min_failures": numbers.breach_min_failures,
        "points": _points(terms, n, numbers),
    }


def _points(terms: Terms, n: int, numbers: Numbers) -> list[JsonValue]:
    out: list[JsonValue] = []
    for place, rate in (("short", terms.t - terms.margin), ("at", terms.t), ("beyond", terms.t + terms.margin)):
        true = float(min(Fraction(1), max(Fraction(0), rate)))
        accept, reject = numbers.pass_max_failures, numbers.breach_min_failures
        passes = state_probability(n, accept, reject, true, "pass")
        breaches = state_probability(n, accept, reject, true, "breach")
        shown = true if terms.direction == "at_least" else 1.0 - true
        out.append(
            {
                "place": place,
                "rate": real9(shown),
                "pass": real9(passes),
                "inconclusive": real9(max(0.0, 1.0 - passes - breaches)),
                "breach": real9(breaches),
            }
        )
    return out


def _needed(terms: Terms, level_pass: Fraction, level_breach: Fraction) -> list[JsonValue]:
    if not terms.tested or terms.margin <= 0 or terms.t >= 1:
        return []
    above, below = min(Fraction(1), terms.t + terms.margin), max(Fraction(0), terms.t - terms.margin)
    return [
        {
            "power": decimal_text(power),
            "pass": min_n_power(terms.t, above, level_pass, power, "pass"),
            "breach": min_n_power(terms.t, below, level_breach, power, "breach"),
        }
        for power in POWERS
    ]


def worth_of_judged(items: int, sensitivity: Decimal, specificity: Decimal, true_rate: Decimal) -> str | None:
    """Return how many perfect labels judged items are worth at these rates, nine places; null if none."""
    labels = equivalent_labels(items, float(sensitivity), float(specificity), float(true_rate))
    return None if labels is None else real9(labels)
