"""Tools of the profile `groundeval-preprint`, with the gates as the preprint has them: some leak and some fail open.

No engine of an audit ever meets these tools: they reproduce published traces. Timestamps compare as text, a search
strips the stored document, and an empty cone or role switches its gate off.

Source: docs/spec/trajectory.md, section "groundeval-preprint".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slaverify.trajectory.score_preprint import PreprintCall, Tree, as_set

SEARCH_LIMIT = 10
_METADATA = ("id", "subsystem", "timestamp", "title")


@dataclass(frozen=True, slots=True)
class PreprintEntry:
    """One line of a preprint trace; `arguments` as the tool received them."""

    tool: str
    arguments: Tree
    call: PreprintCall
    timestamp_applied: str | None


@dataclass
class PreprintTools:
    """Both tools over one corpus for one question; a search harms the documents, as the preprint's does."""

    track: str
    as_of: str | None
    cone: frozenset[str]
    role: frozenset[str]
    documents: dict[str, dict[str, object]]
    trace: list[PreprintEntry] = field(default_factory=list)

    @property
    def _horizon(self) -> str | None:
        return None if self.track == "silence" else self.as_of

    def fetch(self, artifact_id: str) -> Mapping[str, object] | None:
        """Return a document or None, and note the call."""
        document = self.documents.get(artifact_id)
        horizon = actor = subsystem = False
        if document is not None:
            horizon = self._beyond(document)
            if not horizon and self.track == "perspective":
                actor, subsystem = self._outside(artifact_id, document)
        shown = None if horizon or actor or subsystem else document
        ids = () if shown is None else (artifact_id,)
        self._note("fetch_artifact", {"artifact_id": artifact_id}, ids, horizon, actor, subsystem)
        return shown

    def search(self, query: str, kind: str | None = None, limit: int = SEARCH_LIMIT) -> list[Mapping[str, object]]:
        """Return the metadata of the documents that hold `query`, and note the call."""
        gated = self.track == "perspective"
        actor = False
        subsystem = gated and kind is not None and bool(self.role) and kind not in self.role
        hits: list[dict[str, object]] = []
        if not subsystem:
            for document in self.documents.values():
                inside = kind is None or document.get("subsystem") == kind
                text = json.dumps(document, ensure_ascii=False, default=str)
                if inside and query in text and not self._beyond(document):
                    hits.append(document)
            hits = hits[:limit]
            for document in hits:
                if gated:
                    out_of_cone, out_of_role = self._outside(str(document["id"]), document)
                    actor, subsystem = actor or out_of_cone, subsystem or out_of_role
                for key in [key for key in document if key not in _METADATA]:
                    del document[key]
        ids = tuple(str(document["id"]) for document in hits)
        arguments = {"query": query, "artifact_type": kind, "limit": limit}
        self._note("search_artifacts", arguments, ids, False, actor, subsystem)
        return list(hits)

    def _beyond(self, document: Tree) -> bool:
        horizon = self._horizon
        return horizon is not None and str(document.get("timestamp", "")) > horizon

    def _outside(self, artifact_id: str, document: Tree) -> tuple[bool, bool]:
        out_of_cone = bool(self.cone) and artifact_id not in self.cone
        return out_of_cone, bool(self.role) and document.get("subsystem") not in self.role

    def _note(
        self, tool: str, arguments: Tree, ids: tuple[str, ...], horizon: bool, actor: bool, subsystem: bool
    ) -> None:
        call = PreprintCall(ids, horizon, actor, subsystem, not ids)
        self.trace.append(PreprintEntry(tool, arguments, call, self._horizon))


def documents_of(artifacts: Tree) -> dict[str, dict[str, object]]:
    """Return own copies of the artifacts by id; their subsystem is the folder of their key."""
    found: dict[str, dict[str, object]] = {}
    for key in sorted(artifacts):
        value = artifacts[key]
        if isinstance(value, Mapping):
            folder, _, stem = key.rpartition("/")
            found[str(value.get("id", stem))] = {"subsystem": folder, **value}
    return found


def preprint_cone(fixture: Tree, policy: str, contract: Tree) -> list[str] | None:
    """Return the visible artifacts of a question as the preprint computes them; None outside the perspective track."""
    if contract.get("track") != "perspective":
        return None
    role = role_of(fixture, contract)
    documents = documents_of(_mapping(fixture.get("artifacts")))
    if policy == "role":
        return sorted(one for one, document in documents.items() if _allowed(document, role))
    rules = _mapping(_mapping(_mapping(fixture.get("policy")).get("roles")).get(str(contract.get("role"))))
    broadcast = as_set(rules.get("broadcast_event_types"))
    actor, as_of = contract.get("actor"), str(contract.get("as_of", ""))
    visible = []
    for one, document in documents.items():
        naming = [event for event in _events(fixture) if one in _named(event)]
        takes_part = any(actor in as_set(event.get("actors")) for event in naming)
        # The last event that names an artifact overwrites its type: an earlier broadcast is lost.
        spread = bool(naming) and str(naming[-1].get("type")) in broadcast
        if str(document.get("timestamp", "")) <= as_of and (takes_part or spread or _allowed(document, role)):
            visible.append(one)
    return sorted(visible)


def role_of(fixture: Tree, contract: Tree) -> frozenset[str]:
    """Return the subsystems of the question's role; none for a role that nobody knows."""
    roles = _mapping(_mapping(fixture.get("policy")).get("roles"))
    return as_set(_mapping(roles.get(str(contract.get("role")))).get("subsystems"))


def _allowed(document: Tree, role: frozenset[str]) -> bool:
    return not document.get("subsystem") or document.get("subsystem") in role


def _events(fixture: Tree) -> Sequence[Tree]:
    events = fixture.get("events")
    return [event for event in events if isinstance(event, Mapping)] if isinstance(events, list) else []


def _named(event: Tree) -> frozenset[str]:
    found: set[str] = set()
    for value in _mapping(event.get("artifact_ids")).values():
        found |= {value} if isinstance(value, str) else as_set(value)
    return frozenset(found)


def _mapping(value: object) -> Tree:
    return value if isinstance(value, Mapping) else {}
