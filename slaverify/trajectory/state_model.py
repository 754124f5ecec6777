"""Records of a state contract: what happened, what is on record, who may see what, and what is asked about it.

Source: docs/spec/trajectory.md, section "State contract".
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from slaverify.canonical import JsonObject, JsonValue
from slaverify.evalset.fields import Strict, Tree, refuse

MAX_ARTIFACT_BYTES = 256 * 1024
"""Bytes of one artifact file."""
MAX_ARTIFACTS, MAX_EVENTS = 10_000, 100_000
SCHEMAS = {
    "contract": "slaverify.trajectory.state_contract/1",
    "policy": "slaverify.trajectory.policy/1",
    "evaluation": "slaverify.trajectory.evaluation/1",
}


def _listed(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _artifact_ids(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {key: (member,) if isinstance(member, str) else _listed(member) for key, member in value.items()}


def _instant(value: str) -> str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or "T" not in value.upper():
        raise refuse(
            "SLV-T010",
            f"STATE_TIMESTAMP: hora sin desfase o ilegible: {value[:40]}",
            f"STATE_TIMESTAMP: time without offset or unreadable: {value[:40]}",
        )
    return value


Name = Annotated[str, StringConstraints(pattern=r"^[^\s/\\]{1,128}$")]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
Snake = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,127}$")]
Words = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
Instant = Annotated[str, AfterValidator(_instant)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_listed)]
Texts = Annotated[tuple[Words, ...], BeforeValidator(_listed)]
Share = Annotated[str, StringConstraints(pattern=r"^(0(\.[0-9]{1,9})?|1(\.0{1,9})?)$")]
Days = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,5}(\.[0-9]{1,6})?$")]
EventPath = Annotated[str, StringConstraints(pattern=r"^[^{}\s]{1,256}$")]


def instant(text: str) -> datetime:
    """Return an RFC 3339 time; two of them compare as instants, whatever their offsets."""
    return datetime.fromisoformat(text)


class Event(Strict):
    """Something that happened; `artifact_ids` maps a subsystem to the artifacts that record it."""

    id: Name
    type: Snake
    timestamp: Instant
    actors: Names
    artifact_ids: Annotated[dict[Name, Names], BeforeValidator(_artifact_ids)]
    facts: Tree

    def artifacts(self) -> tuple[str, ...]:
        """Return the ids of its artifacts, each once, sorted."""
        return tuple(sorted({one for ids in self.artifact_ids.values() for one in ids}))


class Artifact(Strict):
    """A record that an engine may find; `recorded_events` are exactly the events that name it."""

    id: Name
    subsystem: Name
    timestamp: Instant
    title: str
    body: str
    participants: Texts
    recorded_events: Names
    fields: Tree


class Subsystem(Strict):
    """A place where artifacts lie; every id in it begins with `id_prefix`."""

    id_prefix: Annotated[str, StringConstraints(min_length=1, max_length=32)]
    description: Words


class Role(Strict):
    """What a role may see. `unrestricted` opens the restricted ones among its subsystems."""

    subsystems: Names
    broadcast_event_types: Annotated[tuple[Snake, ...], BeforeValidator(_listed)] = ()
    unrestricted: bool = False


class Policy(Strict):
    """Who may see what."""

    schema_: Annotated[Literal["slaverify.trajectory.policy/1"], Field(alias="schema")]
    subsystems: Annotated[dict[Slug, Subsystem], Field(min_length=1)]
    restricted_subsystems: Names = ()
    roles: Annotated[dict[Slug, Role], Field(min_length=1)]
    actors: Annotated[dict[Name, Slug], Field(min_length=1)]


class Budget(Strict):
    """What an engine may spend on one question: turns, calls, hits of a search, least characters of a query."""

    max_turns: Annotated[int, Field(ge=1, le=64)] = 8
    max_calls: Annotated[int, Field(ge=1, le=256)] = 12
    search_limit: Annotated[int, Field(ge=1, le=100)] = 10
    min_query_chars: Annotated[int, Field(ge=1, le=32)] = 3


class Quota(Strict):
    """Questions due by track."""

    perspective: Annotated[int, Field(ge=0)] = 0
    counterfactual: Annotated[int, Field(ge=0)] = 0
    silence: Annotated[int, Field(ge=0)] = 0


class Mix(Strict):
    """Shares of the kinds of perspective questions; they sum to 1."""

    positive: Share = "0"
    negative_permission: Share = "0"
    negative_temporal: Share = "0"
    negative_participation: Share = "0"


class Target(Strict):
    """An event type that perspective questions are about; templates over the event."""

    event_type: Snake
    text: Words
    terms: Annotated[Texts, Field(min_length=1)]


class Perspective(Strict):
    """What perspective questions are made of."""

    actors: Names
    mix: Mix
    targets: Annotated[tuple[Target, ...], BeforeValidator(_listed)]


class Join(Strict):
    """Two paths whose values have to meet: without it two events are merely adjacent."""

    cause: EventPath
    effect: EventPath


Joins = Annotated[tuple[Join, ...], BeforeValidator(_listed)]


class CausalLink(Strict):
    """One mechanism: which events cause which, within how many days."""

    name: Snake
    aliases: Texts = ()
    cause_event_type: Snake
    effect_event_type: Snake
    join: Joins = ()
    max_gap_days: Days
    cause_text: Words
    effect_text: Words


class Counterfactual(Strict):
    """What counterfactual questions are made of; `baseline_term` is a path over the cause event."""

    decoy_share: Share
    baseline_term: EventPath
    causal_links: Annotated[tuple[CausalLink, ...], BeforeValidator(_listed)]


class Place(Strict):
    """Where an answer has to be looked for, and with which terms."""

    subsystem: Name
    any_terms: Annotated[Texts, Field(min_length=1)]


class SilencePair(Strict):
    """A trigger that some response should have followed within `max_gap_days`."""

    name: Snake
    trigger_event_type: Snake
    response_event_type: Snake
    join: Joins = ()
    max_gap_days: Days
    text: Words
    search_space: Annotated[tuple[Place, ...], BeforeValidator(_listed), Field(min_length=1)]


class Silence(Strict):
    """What silence questions are made of."""

    pairs: Annotated[tuple[SilencePair, ...], BeforeValidator(_listed)]


class Evaluation(Strict):
    """How questions are derived; `reviewer` is the actor of the tracks that have none of their own."""

    schema_: Annotated[Literal["slaverify.trajectory.evaluation/1"], Field(alias="schema")]
    profile: Literal["slaverify-1", "groundeval-preprint"] = "slaverify-1"
    mode: Literal["tool", "context"] = "tool"
    seed: Words
    reviewer: Name
    budget: Budget = Budget()
    quota: Quota
    perspective: Perspective | None = None
    counterfactual: Counterfactual | None = None
    silence: Silence | None = None


Plain: TypeAlias = dict[str, JsonValue]


def plain(record: Strict) -> JsonObject:
    """Return a record as JSON, every key written."""
    tree: Plain = record.model_dump(mode="json", by_alias=True)
    return tree
