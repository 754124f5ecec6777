"""Compute what the contract's remedies come to. Arithmetic only: nothing is executed, nobody is charged.

1. Credits arise only from a metric in BREACH under an overall BREACH: no money without a demonstrated breach.
2. Of the steps of one metric that its rate satisfies, the one with the largest share counts.
3. amount = base x weight x share, weight = at_risk x the metric's part of the allocation (1 where absent).
4. due = the sum, or the cap (base x cap) if that is lower.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, InvalidOperation

from slaverify.canonical import JsonObject, JsonValue, decimal_text
from slaverify.contract import Contract
from slaverify.decision.words import State

_EXACT = Context(prec=100)
"""Wide enough for exact products of the contract's decimals (40 digits each)."""


def remedies(contract: Contract, state: State, metrics: Sequence[JsonObject]) -> JsonObject | None:
    """Return the remedies of a decision with their arithmetic, null if the contract agrees none.

    `metrics` are entries of `slaverify/results/1`, in the contract's order. Amounts in the contract's currency.
    """
    terms = contract.remedies
    nothing = terms.base_amount is None and terms.cure_days is None and terms.termination is None
    if nothing and not terms.credits and not terms.retest:
        return None
    lines = [line for entry in metrics if (line := _line(contract, state, entry)) is not None]
    total = _total(lines)
    cap = None if terms.base_amount is None or terms.cap is None else _times(terms.base_amount, terms.cap)
    due = total if total is None or cap is None else min(total, cap)
    rows: list[JsonValue] = [*lines]
    return {
        "currency": terms.currency,
        "base_amount": _text(terms.base_amount),
        "payer": terms.payer,
        "lines": rows,
        "total": _text(total),
        "cap": _text(cap),
        "due": _text(due),
        "cure_days": terms.cure_days,
        "retest": terms.retest,
        "executed": False,
    }


def _line(contract: Contract, state: State, entry: JsonObject) -> JsonObject | None:
    if state is not State.BREACH or entry.get("state") != State.BREACH.value:
        return None
    name, rate = str(entry.get("id")), _decimal(entry.get("rate"))
    if rate is None:
        return None
    steps = [
        step
        for step in contract.remedies.credits
        if step.metric == name
        and (step.below is None or rate < step.below)
        and (step.above is None or rate > step.above)
    ]
    if not steps:
        return None
    step = max(steps, key=lambda one: one.share)
    weight = _weight(contract, name)
    base = contract.remedies.base_amount
    return {
        "metric": name,
        "rate": entry.get("rate"),
        "below": _text(step.below),
        "above": _text(step.above),
        "share": decimal_text(step.share),
        "weight": decimal_text(weight),
        "amount": None if base is None else decimal_text(_times(base, weight, step.share)),
    }


def _weight(contract: Contract, name: str) -> Decimal:
    terms = contract.remedies
    at_risk = Decimal(1) if terms.at_risk is None else terms.at_risk
    part = Decimal(1) if terms.allocation is None else terms.allocation.get(name, Decimal(0))
    return _times(at_risk, part)


def _total(lines: Sequence[JsonObject]) -> Decimal | None:
    total = Decimal(0)
    for line in lines:
        amount = _decimal(line.get("amount"))
        if amount is None:
            return None
        total = _EXACT.add(total, amount)
    return total


def _times(*factors: Decimal) -> Decimal:
    product = Decimal(1)
    for factor in factors:
        product = _EXACT.multiply(product, factor)
    return product


def _decimal(value: JsonValue) -> Decimal | None:
    try:
        number = Decimal(value) if isinstance(value, str) else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() else None


def _text(value: Decimal | None) -> str | None:
    return None if value is None else decimal_text(value)
