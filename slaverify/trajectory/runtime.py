"""The tools, executed on the auditor's side: a call comes in, its result and its trace line go out.

TRUST BOUNDARY: names and arguments are the engine's. It can set neither limit, nor instant, nor actor. Only the cone
is searched, so nothing forbidden is ever listed; a withheld artifact and an absent one give the same bytes.

Source: docs/spec/trajectory.md, section "Tools".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from slaverify.canonical import JsonObject, JsonValue, NumberText, jcs, sha256_hex
from slaverify.trajectory.corpus import Corpus, Seen, tokens_of
from slaverify.trajectory.state_model import Budget, instant

SEARCH, FETCH, SUBMIT = "search_artifacts", "fetch_artifact", "submit_answer"
MAX_ARGUMENT = 4_000
"""Longest query or id, characters."""


CONTEXT_CHARS = 64_000
"""Characters of the packed context where the contract says nothing."""


class Status(StrEnum):
    """What became of a call."""

    DELIVERED = "delivered"
    EMPTY = "empty"
    UNAVAILABLE = "unavailable"
    REFUSED = "refused"
    MALFORMED = "malformed"
    OVER_BUDGET = "over_budget"


@dataclass(frozen=True, slots=True)
class Flags:
    """Gates that a call ran against."""

    horizon: bool = False
    subsystem: bool = False
    actor_gate: bool = False

    def __bool__(self) -> bool:
        return self.horizon or self.subsystem or self.actor_gate


NO_FLAGS = Flags()


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it is scored. `arguments` is null for a malformed one; ids in the order of the result."""

    tool: str
    arguments: JsonObject | None
    status: Status
    result_ids: tuple[str, ...] = ()
    withheld_ids: tuple[str, ...] = ()
    flags: Flags = NO_FLAGS


@dataclass(frozen=True, slots=True)
class Executed:
    """A call and what the engine is told."""

    call: Call
    result: JsonObject

    @property
    def result_sha256(self) -> str:
        """Return the digest of the bytes that the engine is told."""
        return sha256_hex(jcs(self.result))


_UNAVAILABLE: JsonObject = {"status": "unavailable"}


class Tools:
    """Both tools for one question. `used` counts calls against the budget."""

    def __init__(self, corpus: Corpus, actor: str, role: str, as_of: str, budget: Budget) -> None:
        self.corpus, self.actor, self.role, self.budget = corpus, actor, role, budget
        self.as_of = _moment(as_of)
        self.allowed = corpus.allowed(role)
        self.used = 0

    def execute(self, tool: str, arguments: JsonValue) -> Executed:
        """Carry out one call. Total: whatever comes in, a result goes out."""
        name = tool[:128]
        if self.used >= self.budget.max_calls:
            return Executed(Call(name, None, Status.OVER_BUDGET), {"status": "over_budget"})
        self.used += 1
        if tool == SEARCH:
            read = _search_arguments(arguments, frozenset(self.corpus.policy.subsystems))
            return _malformed(name) if read is None else self._search(*read)
        if tool == FETCH:
            artifact = _fetch_argument(arguments)
            return _malformed(name) if artifact is None else self._fetch(artifact)
        return _malformed(name)

    def in_cone(self, artifact: Seen) -> bool:
        """Say whether the question's actor may see an artifact at its instant."""
        return self.as_of is not None and self.corpus.visible(artifact, self.actor, self.role, self.as_of)

    def gates(self, artifact: Seen) -> Flags:
        """Return the gates that opening an artifact runs against."""
        horizon = self.as_of is None or artifact.at > self.as_of
        subsystem = artifact.subsystem not in self.allowed
        return Flags(horizon, subsystem, not subsystem and not horizon and not self.in_cone(artifact))

    def _search(self, query: str, subsystem: str | None) -> Executed:
        arguments: JsonObject = {"query": query, "subsystem": subsystem}
        if len(query.strip()) < self.budget.min_query_chars or not tokens_of(query):
            refused: JsonObject = {"status": "refused", "min_query_chars": self.budget.min_query_chars}
            return Executed(Call(SEARCH, arguments, Status.REFUSED), refused)
        if subsystem is not None and subsystem not in self.allowed:
            flags = Flags(subsystem=True)
            return Executed(Call(SEARCH, arguments, Status.EMPTY, flags=flags), _listing((), False))
        limit = self.budget.search_limit
        hits = [one for one in self.corpus.matches(query, subsystem) if self.in_cone(one)]
        shown = tuple(hits[:limit])
        status = Status.DELIVERED if shown else Status.EMPTY
        call = Call(SEARCH, arguments, status, tuple(one.id for one in shown))
        return Executed(call, _listing(shown, len(hits) > limit))

    def _fetch(self, artifact_id: str) -> Executed:
        arguments: JsonObject = {"artifact_id": artifact_id}
        found = self.corpus.by_id.get(artifact_id)
        if found is None:
            return Executed(Call(FETCH, arguments, Status.UNAVAILABLE), _UNAVAILABLE)
        flags = self.gates(found)
        if flags or not self.in_cone(found):
            call = Call(FETCH, arguments, Status.UNAVAILABLE, withheld_ids=(found.id,), flags=flags)
            return Executed(call, _UNAVAILABLE)
        call = Call(FETCH, arguments, Status.DELIVERED, (found.id,))
        return Executed(call, {"status": "delivered", "artifact": found.document})


def packed(tools: Tools, chars: int) -> tuple[Seen, ...]:
    """Return the artifacts of the cone, newest first, as many as fit into `chars` characters."""
    found: list[Seen] = []
    for seen in reversed(tools.corpus.ordered):
        if tools.in_cone(seen):
            chars -= len(jcs(seen.document).decode("utf-8"))
            if chars < 0:
                break
            found.append(seen)
    return tuple(found)


def same_call(call: Call) -> str:
    """Return what makes two calls one: tool and normalised arguments."""
    if call.arguments is None:
        return f"{call.tool}\0"
    if call.tool == SEARCH:
        place = call.arguments["subsystem"]
        return f"{call.tool}\0{' '.join(tokens_of(str(call.arguments['query'])))}\0{'' if place is None else place}"
    return f"{call.tool}\0{call.arguments['artifact_id']}"


def _listing(hits: tuple[Seen, ...], truncated: bool) -> JsonObject:
    results: list[JsonValue] = [
        {key: one.document[key] for key in ("id", "subsystem", "timestamp", "title")} for one in hits
    ]
    return {"status": "delivered" if hits else "empty", "results": results, "truncated": truncated}


def _malformed(tool: str) -> Executed:
    return Executed(Call(tool, None, Status.MALFORMED), {"status": "malformed"})


def _search_arguments(arguments: JsonValue, places: frozenset[str]) -> tuple[str, str | None] | None:
    if not isinstance(arguments, dict) or not set(arguments) <= {"query", "subsystem"}:
        return None
    query, subsystem = arguments.get("query"), arguments.get("subsystem")
    if not _is_text(query) or (subsystem is not None and (not _is_text(subsystem) or subsystem not in places)):
        return None
    return str(query), None if subsystem is None else str(subsystem)


def _fetch_argument(arguments: JsonValue) -> str | None:
    if not isinstance(arguments, dict) or set(arguments) != {"artifact_id"} or not _is_text(arguments["artifact_id"]):
        return None
    return str(arguments["artifact_id"])


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str) and not isinstance(value, NumberText) and len(value) <= MAX_ARGUMENT


def _moment(text: str) -> datetime | None:
    """Return an instant; None, which closes every gate, for what is none."""
    try:
        moment = instant(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
