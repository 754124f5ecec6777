"""Write `decision/decision.json`: the state of the whole, that of each metric, and what a breach costs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import Contract
from slaverify.decision.combine import Member, combine_states
from slaverify.decision.remedies import remedies
from slaverify.decision.words import RunValidity, State

DECISION_TYPE = "slaverify/decision/1"

_KEYS = (
    "id",
    "state",
    "reason",
    "rule",
    "n",
    "failures",
    "failures_vendor",
    "unresolved",
    "open",
    "pass_max_failures",
    "breach_min_failures",
    "p_pass",
    "p_breach",
    "p_breach_adjusted",
    "binding",
)


def decide(contract: Contract, results_json: JsonObject, run_validity: RunValidity) -> JsonObject:
    """Return the decision over a `slaverify/results/1` document. Raises nothing.

    A metric of the contract that the results lack is NOT_MEASURED; nothing becomes PASS by default.
    """
    found = _entries(results_json)
    binds = contract.contract.purpose != "pilot"
    metrics = [
        _metric(found.get(metric.id), metric.id, binds and metric.severity == "binding") for metric in contract.metrics
    ]
    state = _whole(metrics, run_validity)
    return {
        "type": DECISION_TYPE,
        "state": state.value,
        "metrics": metrics,
        "remedies": remedies(contract, state, [found.get(metric.id) or {} for metric in contract.metrics]),
    }


def _whole(metrics: list[JsonObject], run_validity: RunValidity) -> State:
    # The family was looked at when each metric got its state: what is in breach is in breach.
    members = [
        Member(state=_state(metric.get("state")), p_breach=None, binding=metric.get("binding") is True, tested=False)
        for metric in metrics
    ]
    return combine_states(members, Fraction(0), run_valid=run_validity.valid).state


def _metric(entry: JsonObject | None, name: str, binding: bool) -> JsonObject:
    if entry is None:
        missing: dict[str, JsonValue] = dict.fromkeys(_KEYS)
        reason = "no_observations"
        return {**missing, "id": name, "state": State.NOT_MEASURED.value, "reason": reason, "binding": binding}
    return {**{key: entry.get(key) for key in _KEYS}, "binding": binding}


def _state(word: JsonValue) -> State:
    return State(word) if isinstance(word, str) and word in State.__members__ else State.NOT_MEASURED


def _entries(results_json: JsonObject) -> Mapping[str, JsonObject]:
    metrics = results_json.get("metrics")
    rows = metrics if isinstance(metrics, list | tuple) else ()
    return {str(row["id"]): row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)}
