"""The artifacts of a state contract, searchable, and who may see each of them when.

The visible set of an actor at an instant is its cone; every gate asks here, and what is unknown is closed.

Source: docs/spec/trajectory.md, sections "Cone" and "Search".
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from slaverify.canonical import JsonObject
from slaverify.trajectory.state_model import Artifact, Event, Policy, instant, plain

_CACHED_SEARCHES = 4_096


def normalised(text: str) -> str:
    """Return text as searches compare it: NFKD, case folded, combining marks dropped."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(one for one in folded if not unicodedata.combining(one))


def tokens_of(query: str) -> tuple[str, ...]:
    """Return the tokens of a query, each once, sorted."""
    return tuple(sorted(set(normalised(query).split())))


@dataclass(frozen=True, slots=True)
class Seen:
    """One artifact as the gates see it: when it came to be, and which events name it (instant, actors, type)."""

    id: str
    subsystem: str
    at: datetime
    naming: tuple[tuple[datetime, frozenset[str], str], ...]
    document: JsonObject
    text: str


class Corpus:
    """All artifacts, in the order (timestamp, id), and the policy over them. Documents are never changed."""

    def __init__(self, artifacts: Iterable[Artifact], events: Iterable[Event], policy: Policy) -> None:
        naming: dict[str, list[tuple[datetime, frozenset[str], str]]] = {}
        for event in events:
            entry = (instant(event.timestamp), frozenset(event.actors), event.type)
            for one in event.artifacts():
                naming.setdefault(one, []).append(entry)
        seen = [_seen(artifact, naming.get(artifact.id, ())) for artifact in artifacts]
        self.policy = policy
        self.ordered: tuple[Seen, ...] = tuple(sorted(seen, key=lambda one: (one.at, one.id)))
        self.by_id: Mapping[str, Seen] = {one.id: one for one in self.ordered}
        self._restricted = frozenset(policy.restricted_subsystems)
        self._hits: dict[tuple[str, ...], tuple[Seen, ...]] = {}

    def allowed(self, role: str) -> frozenset[str]:
        """Return the subsystems of a role; none for a role that nobody knows."""
        known = self.policy.roles.get(role)
        return frozenset() if known is None else frozenset(known.subsystems)

    def visible(self, artifact: Seen, actor: str, role: str, as_of: datetime) -> bool:
        """Say whether an artifact lies in the cone of an actor at an instant. Unknown actor or role: no."""
        rules = self.policy.roles.get(role)
        if rules is None or self.policy.actors.get(actor) != role:
            return False
        if artifact.at > as_of or artifact.subsystem not in rules.subsystems:
            return False
        if artifact.subsystem not in self._restricted or rules.unrestricted:
            return True
        return any(
            at <= as_of and (actor in actors or kind in rules.broadcast_event_types)
            for at, actors, kind in artifact.naming
        )

    def matches(self, query: str, subsystem: str | None = None) -> Sequence[Seen]:
        """Return every artifact that holds each token of a query, gates apart; none for a blank query."""
        tokens = tokens_of(query)
        if not tokens:
            return ()
        found = self._hits.get(tokens)
        if found is None:
            found = tuple(one for one in self.ordered if all(token in one.text for token in tokens))
            if len(self._hits) >= _CACHED_SEARCHES:
                self._hits.clear()
            self._hits[tokens] = found
        return found if subsystem is None else tuple(one for one in found if one.subsystem == subsystem)


def _seen(artifact: Artifact, naming: Iterable[tuple[datetime, frozenset[str], str]]) -> Seen:
    document = plain(artifact)
    text = normalised(json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")))
    return Seen(
        id=artifact.id,
        subsystem=artifact.subsystem,
        at=instant(artifact.timestamp),
        naming=tuple(sorted(naming, key=lambda one: one[0])),
        document=document,
        text=text,
    )
