"""The answer of each track: its JSON Schema as it is sent, and its strict reading.

Every property is required and nothing more is allowed; a boolean is a JSON boolean, an id a JSON string.

Source: docs/spec/trajectory.md, section "Answers"; JSON Schema 2020-12.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue, NumberText
from slaverify.trajectory.question import Track

MAX_TEXT, MAX_LIST = 4_000, 200
DIRECTIONS = ("cause_to_effect", "effect_to_cause", "no_causal_link")
BOOLEANS = {
    Track.PERSPECTIVE: "could_actor_have_known",
    Track.COUNTERFACTUAL: "outcome_changed",
    Track.SILENCE: "exists",
}
_TEXT: JsonObject = {"type": "string", "maxLength": MAX_TEXT}
_TEXTS: JsonObject = {"type": "array", "items": _TEXT, "maxItems": MAX_LIST, "uniqueItems": True}
_EVENT: JsonObject = {"type": ["string", "null"], "maxLength": MAX_TEXT}


@dataclass(frozen=True, slots=True)
class TrackAnswer:
    """An answer that fits its schema; what a track does not ask for is empty. `reasoning` is kept, never scored."""

    boolean: bool
    evidence: frozenset[str]
    blocked: frozenset[str] = frozenset()
    mechanism: str = ""
    cause_event_id: str | None = None
    effect_event_id: str | None = None
    direction: str = ""
    actors: frozenset[str] = frozenset()


def answer_schema(track: Track, mechanisms: Sequence[str] = ()) -> JsonObject:
    """Return the schema of a track's answer; `mechanisms` are all names of the set, told with every question."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": _properties(track, mechanisms),
        "required": list(_properties(track, mechanisms)),
        "additionalProperties": False,
    }


def _properties(track: Track, mechanisms: Sequence[str]) -> dict[str, JsonValue]:
    shared: dict[str, JsonValue] = {BOOLEANS[track]: {"type": "boolean"}, "evidence_artifacts": _TEXTS}
    if track is Track.PERSPECTIVE:
        shared["blocked_subsystems"] = _TEXTS
    if track is Track.COUNTERFACTUAL:
        names = ", ".join((*sorted(mechanisms), "none"))
        shared |= {
            "causal_mechanism": {**_TEXT, "description": names},
            "cause_event_id": _EVENT,
            "effect_event_id": _EVENT,
            "mechanism_direction": {"type": "string", "enum": list(DIRECTIONS)},
            "actors": _TEXTS,
        }
    shared["reasoning"] = _TEXT
    return shared


def read_track_answer(track: Track, tree: JsonValue) -> TrackAnswer | None:
    """Return the answer, None if it breaks its schema in any way."""
    if not isinstance(tree, dict) or set(tree) != set(_properties(track, ())):
        return None
    boolean, evidence = tree[BOOLEANS[track]], _texts(tree["evidence_artifacts"])
    if not isinstance(boolean, bool) or evidence is None or not _is_text(tree["reasoning"]):
        return None
    if track is Track.SILENCE:
        return TrackAnswer(boolean, evidence)
    if track is Track.PERSPECTIVE:
        blocked = _texts(tree["blocked_subsystems"])
        return None if blocked is None else TrackAnswer(boolean, evidence, blocked)
    actors, events = _texts(tree["actors"]), (tree["cause_event_id"], tree["effect_event_id"])
    words = (tree["causal_mechanism"], tree["mechanism_direction"])
    if actors is None or not all(map(_is_text, words)) or words[1] not in DIRECTIONS:
        return None
    if not all(event is None or _is_text(event) for event in events):
        return None
    cause, effect = (None if event is None else str(event) for event in events)
    return TrackAnswer(boolean, evidence, frozenset(), str(words[0]), cause, effect, str(words[1]), actors)


def _is_text(value: JsonValue) -> bool:
    # A number that is kept as text is none.
    return isinstance(value, str) and not isinstance(value, NumberText) and len(value) <= MAX_TEXT


def _texts(value: JsonValue) -> frozenset[str] | None:
    if not isinstance(value, list) or len(value) > MAX_LIST or not all(map(_is_text, value)):
        return None
    members = frozenset(str(member) for member in value)
    return members if len(members) == len(value) else None
