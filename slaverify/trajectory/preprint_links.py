"""Derivation of the profile `groundeval-preprint`: causal links and silences, where a join may be absent.

Source: docs/spec/trajectory.md, section "groundeval-preprint".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from slaverify.trajectory.event_paths import resolve
from slaverify.trajectory.score_preprint import Tree, as_set

_HOLE = re.compile(r"\{([^{}]+)\}")


def preprint_links(events: Sequence[Tree], spec: Tree) -> list[dict[str, object]]:
    """Return, for each cause event, the link to the first later effect event for which every join holds."""
    found: list[dict[str, object]] = []
    for cause in _of_type(events, spec.get("cause_event_type"), spec):
        effect = _first_later(cause, _of_type(events, spec.get("effect_event_type")), spec, ("cause", "effect"))
        if effect is not None:
            found.append(_link(cause, effect, spec))
    return found


def preprint_silences(events: Sequence[Tree], spec: Tree) -> dict[str, object]:
    """Return the triggers that nothing answered, each with its expected search space, and the responses found."""
    absences: list[dict[str, object]] = []
    confirmed: list[str] = []
    for trigger in _of_type(events, spec.get("trigger_event_type"), spec):
        sides = ("trigger", "response")
        response = _first_later(trigger, _of_type(events, spec.get("response_event_type")), spec, sides)
        if response is None:
            absences.append({"trigger": trigger.get("id"), "expected_search_space": _space(trigger, spec)})
        elif str(response.get("id")) not in confirmed:
            confirmed.append(str(response.get("id")))
    return {"absences": absences, "confirmed": confirmed}


def _of_type(events: Sequence[Tree], kind: object, spec: Tree | None = None) -> list[Tree]:
    chosen = [event for event in events if event.get("type") == kind]
    field = None if spec is None else spec.get("match_field")
    if spec is not None and isinstance(field, str):
        chosen = [event for event in chosen if resolve(event, field) == spec.get("match_value")]
    return sorted(chosen, key=lambda event: str(event.get("timestamp")))


def _first_later(first: Tree, later: Sequence[Tree], spec: Tree, sides: tuple[str, str]) -> Tree | None:
    start, gap = _moment(first), spec.get("max_gap_days")
    for event in later:
        distance = _moment(event) - start
        if distance <= timedelta(0) or (gap is not None and distance > timedelta(days=float(Decimal(str(gap))))):
            continue
        if _joined(first, event, spec, sides):
            return event
    return None


def _joined(first: Tree, second: Tree, spec: Tree, sides: tuple[str, str]) -> bool:
    joins = spec.get("join")
    for join in joins if isinstance(joins, list) else []:
        here = join.get(sides[0], join.get("cause"))
        there = join.get(sides[1], join.get("effect"))
        if not _values(resolve(first, str(here))) & _values(resolve(second, str(there))):
            return False
    return True


def _values(value: object) -> frozenset[str]:
    if value is None:
        return frozenset()
    return as_set(value) if isinstance(value, list) else frozenset((str(value),))


def _link(cause: Tree, effect: Tree, spec: Tree) -> dict[str, object]:
    before, after = _artifacts(cause), _artifacts(effect)
    return {
        "link_type": spec.get("name"),
        "cause_event_id": cause.get("id"),
        "cause_event_type": cause.get("type"),
        "cause_timestamp": cause.get("timestamp"),
        "effect_event_id": effect.get("id"),
        "effect_event_type": effect.get("type"),
        "effect_timestamp": effect.get("timestamp"),
        "actors": sorted(as_set(cause.get("actors")) | as_set(effect.get("actors"))),
        "counterfactual_premise": _rendered(spec.get("premise_template"), {"cause": cause, "effect": effect}),
        "counterfactual_outcome": _rendered(spec.get("outcome_template"), {"cause": cause, "effect": effect}),
        "outcome_changed": True,
        "evidence_artifact_ids": sorted(before | after),
        "cause_artifact_ids": sorted(before),
        "effect_artifact_ids": sorted(after),
        "mechanism_aliases": spec.get("mechanism_aliases") or [],
    }


def _space(trigger: Tree, spec: Tree) -> list[str]:
    found = set(_artifacts(trigger))
    places = spec.get("search_space")
    for place in places if isinstance(places, list) else []:
        if "id_template" in place:
            found.add(_rendered(place["id_template"], trigger))
        if "query_template" in place:
            found.add(f"[{place.get('subsystem')}] {_rendered(place['query_template'], trigger)}")
    return sorted(found)


def _artifacts(event: Tree) -> frozenset[str]:
    named = event.get("artifact_ids")
    found: set[str] = set()
    for value in named.values() if isinstance(named, Mapping) else ():
        found |= {value} if isinstance(value, str) else as_set(value)
    return frozenset(found)


def _rendered(template: object, tree: Tree) -> str:
    """Fill a template as the preprint does: a list stands as its Python text, an absent path as nothing."""

    def value(match: re.Match[str]) -> str:
        found = resolve(tree, match.group(1))
        return "" if found is None else str(found)

    return _HOLE.sub(value, template) if isinstance(template, str) else ""


def _moment(event: Tree) -> datetime:
    return datetime.fromisoformat(str(event.get("timestamp")))
