"""Walk the evaluation order over all metrics: measure each, look at the family, give each its state.

1. Each metric is measured against its own terms (`assess`).
2. The binding metrics with a test form the family; Holm says which are in breach (`combine`).
3. A metric's state: what held before the count; breach; PASS; otherwise INCONCLUSIVE.
4. Integrity events that the contract binds, and a leak signal, take PASS away.
No scipy is loaded as long as every rule is a comparison of integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import Contract
from slaverify.decision.assess import Context, assess
from slaverify.decision.assessed import Assessed, count_of
from slaverify.decision.calibrated import MetricCalibration
from slaverify.decision.combine import Combined, Member, combine_states
from slaverify.decision.rules import Ruling
from slaverify.decision.terms import terms_of
from slaverify.decision.words import Reason, RunValidity, State
from slaverify.statistics import MIN_PER_CLASS

_BLOCKING_IDENTITY = frozenset({"change_point", "shadow_divergence", "fresh_seen_gap"})
"""Statistical signs of another engine: they always block PASS."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Every metric measured, its ruling, and the whole.

    `others` counts, for each metric, the others of the family that are in breach whatever this one shows: its own
    rejection number is then that at alpha / (k - others).
    """

    assessed: tuple[Assessed, ...]
    rulings: tuple[Ruling, ...]
    combined: Combined
    others: tuple[int, ...]


def states(
    contract: Contract,
    inputs_json: JsonObject,
    run_validity: RunValidity,
    calibrations: Mapping[str, MetricCalibration] | None = None,
) -> JsonObject:
    """Return {state, metrics: [{id, state, reason}]}: the verdict alone, without the numbers that are only shown."""
    judged = judge(contract, inputs_json, run_validity, calibrations)
    metrics: list[JsonValue] = [
        {"id": one.terms.id, "state": ruling.state.value, "reason": ruling.reason and ruling.reason.value}
        for one, ruling in zip(judged.assessed, judged.rulings, strict=True)
    ]
    return {"state": judged.combined.state.value, "metrics": metrics}


def judge(
    contract: Contract,
    inputs_json: JsonObject,
    run_validity: RunValidity,
    calibrations: Mapping[str, MetricCalibration] | None = None,
) -> Judged:
    """Return every metric of the contract measured and ruled. A metric absent from the inputs has no observations."""
    entries = _entries(inputs_json)
    stage = contract.judge
    context = Context(
        validity=run_validity,
        unresolved_max=contract.failed_calls.unresolved_max,
        calibrations=calibrations or {},
        naive=stage is not None and stage.on_uncalibrated == "declared_limitation",
        min_per_class=MIN_PER_CLASS if stage is None else stage.calibration.min_per_class,
    )
    assessed = tuple(assess(terms, entries.get(terms.id, {}), context) for terms in terms_of(contract))
    return rule(contract, assessed, run_validity)


def rule(contract: Contract, assessed: Sequence[Assessed], run_validity: RunValidity) -> Judged:
    """Return the rulings over metrics already measured."""
    integrity = [_integrity(contract, one, run_validity) for one in assessed]
    members = [
        Member(
            state=_before_family(one, effect),
            p_breach=None if one.prior is not None else one.p_breach,
            binding=one.terms.binding,
            tested=one.terms.tested,
            forced=_forced(one, effect),
        )
        for one, effect in zip(assessed, integrity, strict=True)
    ]
    level, holm = _family_level(assessed), contract.verdict.multiplicity == "holm"
    combined = combine_states(members, level, run_valid=run_validity.valid, holm=holm)
    rulings = tuple(
        _ruling(one, index in combined.breaching, effect)
        for index, (one, effect) in enumerate(zip(assessed, integrity, strict=True))
    )
    others = tuple(_others(members, index, level) if holm else 0 for index in range(len(members)))
    return Judged(tuple(assessed), rulings, combined, others)


def _others(members: Sequence[Member], index: int, level: Fraction) -> int:
    """Count the other tested metrics in breach if this one had shown nothing."""
    mine = members[index]
    if not mine.binding or not mine.tested:
        return 0
    silent = replace(mine, p_breach=None, forced=False)
    found = combine_states([*members[:index], silent, *members[index + 1 :]], level).breaching
    return sum(members[other].tested and other != index for other in found)


def _family_level(assessed: Sequence[Assessed]) -> Fraction:
    """Return the risk of the family: the strictest of its members'."""
    levels = [one.level_breach for one in assessed if one.terms.binding and one.terms.tested]
    return min(levels, default=Fraction(0))


def _before_family(one: Assessed, effect: Ruling | None) -> State:
    if one.prior is not None:
        return one.prior.state
    if not one.terms.tested and one.breaches_alone:
        return State.BREACH
    return State.PASS if one.passes and effect is None else State.INCONCLUSIVE


def _forced(one: Assessed, effect: Ruling | None) -> bool:
    """Tell whether an integrity rule makes the metric a breach: another engine answered, or manipulation was shown."""
    if effect is None or effect.state is not State.BREACH:
        return False
    if effect.reason is Reason.ENGINE_MISMATCH:
        # The run stops at the first such answer, so that what was not sent must not turn it into an invalid run.
        return one.prior is None or one.prior.reason is not Reason.RUN_INVALID
    return one.prior is None


def _ruling(one: Assessed, breaching: bool, effect: Ruling | None) -> Ruling:
    if effect is not None and _forced(one, effect):
        return effect
    if one.prior is not None:
        return one.prior
    if breaching or (one.breaches_alone and not one.terms.binding):
        return Ruling(State.BREACH)
    if not one.passes:
        return Ruling(State.INCONCLUSIVE)
    return Ruling(State.PASS) if effect is None else effect


def _integrity(contract: Contract, one: Assessed, run_validity: RunValidity) -> Ruling | None:
    """Return what the integrity events among a metric's items, or a leak signal, do to it; null if nothing."""
    outcomes = one.entry.get("by_outcome")
    mismatch = isinstance(outcomes, dict) and count_of(outcomes, "engine_mismatch") > 0
    if mismatch and contract.engine.on_mismatch == "breach":
        return Ruling(State.BREACH, Reason.ENGINE_MISMATCH)
    leaked = Ruling(State.INCONCLUSIVE, Reason.LEAK_SIGNAL) if run_validity.leak_signal else None
    events = one.entry.get("events")
    if not isinstance(events, dict):
        return leaked
    rules = contract.verdict.integrity
    if count_of(events, "confirmed") > rules.manipulation_cap:
        state = State.BREACH if rules.effect == "breach" else State.INCONCLUSIVE
        return Ruling(state, Reason.MANIPULATION_CONFIRMED)
    patterns = events.get("patterns")
    found = set(patterns) if isinstance(patterns, dict) else set()
    if found & (_BLOCKING_IDENTITY | set(rules.binding_patterns)):
        return Ruling(State.INCONCLUSIVE, Reason.BINDING_PATTERN)
    return leaked


def _entries(inputs_json: JsonObject) -> dict[str, JsonObject]:
    metrics = inputs_json.get("metrics")
    found: dict[str, JsonObject] = {}
    for entry in metrics if isinstance(metrics, list | tuple) else ():
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            found[str(entry["id"])] = entry
    return found
