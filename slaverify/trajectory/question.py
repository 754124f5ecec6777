"""A question contract: what is asked, what is true, and which path has to be walked. It never leaves the auditor.

Source: docs/spec/trajectory.md, section "Questions".
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, replace
from enum import StrEnum

from slaverify.canonical import JsonObject, JsonValue, jcs, sha256_hex
from slaverify.errors import Text, TrajectoryError


class Track(StrEnum):
    """What is asked for: what an actor could know, what caused what, what never happened."""

    PERSPECTIVE = "perspective"
    COUNTERFACTUAL = "counterfactual"
    SILENCE = "silence"


class Kind(StrEnum):
    """How a question came about; each track has its own."""

    NEGATIVE_PARTICIPATION = "negative_participation"
    NEGATIVE_TEMPORAL = "negative_temporal"
    NEGATIVE_PERMISSION = "negative_permission"
    POSITIVE = "positive"
    LINKED = "linked"
    ADJACENT_UNLINKED = "adjacent_unlinked"
    PRESENT = "present"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class SearchPlace:
    """A subsystem that has to be searched with one of the terms."""

    subsystem: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its truth. `need` is `any` or `all` of `places`; ids are "" until they are given.

    `boolean` is the truth of the track's yes or no; `evidence`, `blocked`, `actors` are sorted ids; `cause_artifacts`
    and `effect_artifacts` are those of both events (counterfactual alone).
    """

    track: Track
    kind: Kind
    root_event_id: str
    text: str
    actor: str
    role: str
    as_of: str
    boolean: bool
    evidence: tuple[str, ...]
    blocked: tuple[str, ...] = ()
    mechanism: str = ""
    aliases: tuple[str, ...] = ()
    cause_event_id: str | None = None
    effect_event_id: str | None = None
    direction: str = ""
    actors: tuple[str, ...] = ()
    cause_artifacts: tuple[str, ...] = ()
    effect_artifacts: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    need: str = "any"
    places: tuple[SearchPlace, ...] = ()
    baseline_term: str = ""
    question_id: str = ""
    public_id: str = ""

    def truth(self) -> JsonObject:
        """Return the truth in the form of the track's answer."""
        evidence = list(self.evidence)
        if self.track is Track.PERSPECTIVE:
            blocked = list(self.blocked)
            return {
                "could_actor_have_known": self.boolean,
                "evidence_artifacts": evidence,
                "blocked_subsystems": blocked,
            }
        if self.track is Track.SILENCE:
            return {"exists": self.boolean, "evidence_artifacts": evidence}
        return {
            "outcome_changed": self.boolean,
            "causal_mechanism": self.mechanism,
            "cause_event_id": self.cause_event_id,
            "effect_event_id": self.effect_event_id,
            "mechanism_direction": self.direction,
            "actors": list(self.actors),
            "evidence_artifacts": evidence,
        }

    def to_json(self) -> JsonObject:
        """Return the question contract as it is sealed."""
        return {**self._content(), "question_id": self.question_id, "public_id": self.public_id}

    def _content(self) -> dict[str, JsonValue]:
        return {
            "track": self.track.value,
            "kind": self.kind.value,
            "root_event_id": self.root_event_id,
            "text": self.text,
            "actor": self.actor,
            "role": self.role,
            "as_of": self.as_of,
            "truth": self.truth(),
            "mechanism_aliases": list(self.aliases),
            "cause_artifacts": list(self.cause_artifacts),
            "effect_artifacts": list(self.effect_artifacts),
            "required_artifacts": list(self.required),
            "search_requirements": {
                "need": self.need,
                "places": [{"subsystem": one.subsystem, "terms": list(one.terms)} for one in self.places],
            },
            "baseline_term": self.baseline_term,
            "answer_schema": f"{self.track.value}@1",
        }

    def named(self, nonce: bytes) -> Question:
        """Return the question with both ids; `nonce` is the set's (32 bytes), and ids betray nothing without it."""
        question_id = sha256_hex(jcs(self._content()))
        public_id = hmac.digest(nonce, question_id.encode("ascii"), "sha256").hex()[:16]
        return replace(self, question_id=question_id, public_id=public_id)


def read_question(tree: JsonObject, *, where: str = "") -> Question:
    """Read a question contract strictly. Raises: TrajectoryError SLV-T002."""
    try:
        question = _read(tree)
    except (KeyError, TypeError, ValueError) as error:
        raise _malformed(where, repr(error)) from error
    if question.to_json() != tree or question.question_id != sha256_hex(jcs(question._content())):
        raise _malformed(where, "keys")
    return question


def _read(tree: JsonObject) -> Question:
    track, truth = Track(_text(tree["track"])), _object(tree["truth"])
    search = _object(tree["search_requirements"])
    boolean = {Track.PERSPECTIVE: "could_actor_have_known", Track.SILENCE: "exists"}.get(track, "outcome_changed")
    causal = track is Track.COUNTERFACTUAL
    if not isinstance(truth[boolean], bool):
        raise TypeError(boolean)
    return Question(
        track=track,
        kind=Kind(_text(tree["kind"])),
        root_event_id=_text(tree["root_event_id"]),
        text=_text(tree["text"]),
        actor=_text(tree["actor"]),
        role=_text(tree["role"]),
        as_of=_text(tree["as_of"]),
        boolean=truth[boolean] is True,
        evidence=_texts(truth["evidence_artifacts"]),
        blocked=_texts(truth["blocked_subsystems"]) if track is Track.PERSPECTIVE else (),
        mechanism=_text(truth["causal_mechanism"]) if causal else "",
        aliases=_texts(tree["mechanism_aliases"]),
        cause_event_id=_text_or_none(truth["cause_event_id"]) if causal else None,
        effect_event_id=_text_or_none(truth["effect_event_id"]) if causal else None,
        direction=_text(truth["mechanism_direction"]) if causal else "",
        actors=_texts(truth["actors"]) if causal else (),
        cause_artifacts=_texts(tree["cause_artifacts"]),
        effect_artifacts=_texts(tree["effect_artifacts"]),
        required=_texts(tree["required_artifacts"]),
        need=_text(search["need"]),
        places=tuple(
            SearchPlace(_text(one["subsystem"]), _texts(one["terms"])) for one in map(_object, _list(search["places"]))
        ),
        baseline_term=_text(tree["baseline_term"]),
        question_id=_text(tree["question_id"]),
        public_id=_text(tree["public_id"]),
    )


def _malformed(where: str, detail: str) -> TrajectoryError:
    return TrajectoryError(
        "SLV-T002",
        Text(f"contrato de pregunta mal formado: {detail}", f"malformed question contract: {detail}"),
        fix=Text("vuelva a generar las preguntas", "generate the questions again"),
        where=where,
    )


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError("text expected")
    return value


def _text_or_none(value: JsonValue) -> str | None:
    return None if value is None else _text(value)


def _object(value: JsonValue) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError("object expected")
    return value


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise TypeError("list expected")
    return value


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(_text(one) for one in _list(value))
