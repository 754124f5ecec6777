"""What happens next, for each state: on page 1, and always something that a person can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report import figures, runfacts
from slaverify.report.facts import Facts, at, text
from slaverify.report.words import Node, code, day, say, share, span

ACTORS: Mapping[str, str] = {
    "engine_version": "vendor",
    "engine_mismatch": "vendor",
    "bank_digest": "custodian",
    "ledger": "custodian",
    "clock": "auditor",
    "run_aborted": "auditor",
    "run_not_ended": "auditor",
    "judge_drift": "judge_operator",
    "judge_uncalibrated": "judge_operator",
    "judge_not_informative": "judge_operator",
    "judge_below_minimum": "judge_operator",
    "judge_unstable": "judge_operator",
    "unresolved_above_limit": "auditor",
    "disputes": "parties",
    "no_binding_metric": "parties",
}
"""Who must act, by the reason of the decision; the auditor where nothing else is known."""


def next_steps(facts: Facts) -> list[Node]:
    """Return the next steps of the verdict's state."""
    steps = {
        "PASS": _pass,
        "BREACH": _breach,
        "INCONCLUSIVE": _inconclusive,
        "NOT_MEASURED": _no_verdict,
        "INVALID_RUN": _no_verdict,
    }
    return list(steps[facts.state](facts))


def _pass(facts: Facts) -> Iterator[Node]:
    version = figures.code_or(facts.agreed("engine.version"), "word.unnamed")
    expires = facts.agreed("contract.expires")
    if isinstance(expires, str):
        yield say("next.valid_until", version=version, day=day(expires))
    else:
        yield say("next.valid", version=version)
    cadence = facts.agreed("schedule.cadence")
    yield say("next.cadence", every=span(cadence)) if isinstance(cadence, str) else say("next.no_cadence")
    yield _items_left(facts)


def _breach(facts: Facts) -> Iterator[Node]:
    yield say("next.remedies")
    yield _amount(facts)
    cure = facts.agreed("remedies.cure_days")
    yield say("next.cure", n=cure) if isinstance(cure, int) else say("next.no_cure")
    yield _dispute(facts)


def _amount(facts: Facts) -> Node:
    """Say the computed amount; where none was computed, why not."""
    remedies = facts.decision.get("remedies")
    amount = at(remedies, "due") if isinstance(remedies, Mapping) else None
    currency = facts.agreed("remedies.currency")
    if isinstance(amount, str) and isinstance(currency, str):
        return say("next.amount", amount={"real": amount, "digits": 0, "against": None}, currency=code(currency))
    if facts.agreed("remedies.base_amount") is None:
        return say("next.no_base")
    return say("next.no_amount")


def _dispute(facts: Facts) -> Node:
    window = facts.agreed("disputes.window_days")
    return say("next.dispute", n=window) if isinstance(window, int) else say("next.no_dispute")


def _inconclusive(facts: Facts) -> Iterator[Node]:
    yield say(f"next.consequence.{_consequence(facts)}")
    metric = figures.deciding(facts)
    if any(one.reason == "leak_signal" for one in facts.metrics):
        # More items of a set that is known would decide nothing.
        yield say("next.leak")
    elif any(one.reason == "binding_pattern" for one in facts.metrics):
        # Nor would more items undo a pattern that was seen.
        yield say("next.pattern")
    elif metric is not None:
        yield _settle(metric.result)
    yield _items_left(facts)
    expires = facts.agreed("contract.expires")
    yield say("next.deadline", day=day(expires)) if isinstance(expires, str) else say("next.no_deadline")


def _consequence(facts: Facts) -> str:
    agreed = facts.agreed("verdict.inconclusive")
    word = agreed if isinstance(agreed, str) else next(iter(agreed), "") if isinstance(agreed, Mapping) else ""
    return word if word in ("no_consequence", "withhold", "extend", "retest") else "unknown"


def _settle(entry: JsonObject) -> Node:
    settle = entry.get("settle")
    if not isinstance(settle, Mapping):
        rate = entry.get("rate")
        if isinstance(rate, str) and Decimal(rate) == Decimal(text(entry, "threshold")):
            return say("next.settle_never")
        return say("next.settle_unknown")
    total, more = settle.get("n"), settle.get("additional")
    if not isinstance(total, int) or not isinstance(more, int):
        return say("next.settle_unknown")
    return say(
        f"next.settle.{settle.get('direction')}",
        n=more,
        total=total,
        power=share(str(settle.get("power")), "exact"),
        rate=_rate(settle.get("at_rate"), text(entry, "threshold")),
    )


def _rate(value: JsonValue, threshold: str) -> Node:
    if not isinstance(value, str) or not 0 < Decimal(value) < 1:
        return say("figure.none")
    return share(value, "near", threshold)


def _items_left(facts: Facts) -> Node:
    left = None if facts.exposure is None else facts.exposure.get("remaining_audits")
    if not isinstance(left, int) or facts.exposure is None:
        return say("next.items_unknown")
    eligible = facts.exposure.get("eligible")
    fresh = sum(count for count in eligible.values() if isinstance(count, int)) if isinstance(eligible, Mapping) else 0
    return say("next.items_left", n=left, fresh=fresh)


def _no_verdict(facts: Facts) -> Iterator[Node]:
    metric = figures.deciding(facts)
    word = "no_binding_metric" if metric is None else metric.reason or "none"
    yield say("next.reason", reason=figures.reason(word), code=code(word))
    yield say(f"next.actor.{ACTORS.get(word, 'auditor')}")
    budget, used = facts.agreed("ledger.run_budget"), runfacts.runs_opened(facts)
    if facts.ledger is None or not isinstance(budget, int):
        yield say("next.budget_unknown")
    else:
        yield say("next.budget", n=max(budget - used, 0), used=used, budget=budget)
    yield _items_left(facts)
