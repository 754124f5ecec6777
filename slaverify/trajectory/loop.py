"""The turn loop: what an engine asked for is executed here, told to it, and asked again until it answers.

Fed with what came, it says what goes next; it has no client, no clock and no memory, so that a run that was killed,
scored or verified walks the same turns from the same bytes. It serves the port `Conversation` of room `run` by shape.

Source: docs/spec/trajectory.md, section "Loop".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from slaverify.canonical import JsonObject, JsonValue, jcs, jsonl, sha256_hex
from slaverify.contract import Contract
from slaverify.contract.words import Outcome
from slaverify.engine import Reading
from slaverify.trajectory.answers import answer_schema, read_track_answer
from slaverify.trajectory.dialects import AskedCall, Dialect, dialect_of
from slaverify.trajectory.packages import Answered, Offer, package
from slaverify.trajectory.public_view import PublicView, view_tree
from slaverify.trajectory.question import Track
from slaverify.trajectory.runtime import CONTEXT_CHARS, FETCH, SEARCH, SUBMIT, Tools, packed
from slaverify.trajectory.state_contract import StateContract
from slaverify.trajectory.state_model import Budget, Policy, Role, Subsystem
from slaverify.trajectory.trace import Binding, TraceWriter, Wire

MALFORMED_IN_A_ROW = 2


class CallKey(Protocol):
    """Which planned exchange a conversation is of."""

    @property
    def item_id(self) -> str:
        """Return the sealed id of the item."""

    @property
    def repetition(self) -> int:
        """Return the repetition, from 0."""

    @property
    def side(self) -> str:
        """Return `current` or `candidate`."""


class ReplyFacts(Protocol):
    """What came in one turn."""

    @property
    def turn(self) -> int:
        """Return the turn, from 0."""

    @property
    def reading(self) -> Reading:
        """Return what its last attempt meant."""

    @property
    def at(self) -> str:
        """Return when it ended, UTC."""

    @property
    def request_sha256(self) -> str:
        """Return the digest of the request, hex."""

    @property
    def response_sha256(self) -> str:
        """Return the digest of the response, hex."""


@dataclass(frozen=True, slots=True)
class LoopTerms:
    """What every trace of a run says, and how the engine is asked."""

    run_id: str
    engine_digest: str
    version: str
    profile: str = "slaverify-1"
    mode: str = "tool"
    context_chars: int = CONTEXT_CHARS


@dataclass(frozen=True, slots=True)
class Conclusion:
    """How a conversation ended."""

    outcome: Outcome
    trace: bytes = field(repr=False)
    trace_sha256: str


class TrajectoryConversation:
    """The conversations of one run: `views` by sealed item id."""

    def __init__(
        self, contract: StateContract, views: Mapping[str, PublicView], dialect: Dialect, terms: LoopTerms
    ) -> None:
        self.contract, self.views, self.dialect, self.terms = contract, views, dialect, terms

    def package(self, call: CallKey, replies: Sequence[ReplyFacts]) -> JsonObject | None:
        """Return the query package of the next turn, None where the conversation is over."""
        walk = self._walked(call, replies)
        if walk.over:
            return None
        context = [seen.document for seen in walk.packed] if self.terms.mode == "context" else None
        return package(walk.view.tree, walk.steps, walk.offer(), context)

    def conclude(self, call: CallKey, replies: Sequence[ReplyFacts]) -> Conclusion:
        """Return how the conversation ended, and its trace."""
        walk = self._walked(call, replies)
        # A conversation that could go on was broken off by our own stop.
        outcome, reason = walk.ending if walk.over else (Outcome.AUDITOR_FAILURE, "unfinished")
        walk.writer.end(replies[-1].at if replies else "", reason)
        return Conclusion(outcome, jsonl(walk.writer.lines), walk.writer.last_hash)

    def _walked(self, call: CallKey, replies: Sequence[ReplyFacts]) -> _Walk:
        view = self.views[call.item_id]
        binding = Binding(
            run_id=self.terms.run_id,
            item_id=call.item_id,
            repetition=call.repetition,
            side=call.side,
            public_id=view.public_id,
            state_contract_digest=self.contract.digest,
            profile=self.terms.profile,
            engine_digest=self.terms.engine_digest,
            version=self.terms.version,
        )
        walk = _Walk(self.contract, view, binding, self.terms)
        walk.writer.start(replies[0].at if replies else "", self.terms.mode, (one.id for one in walk.packed))
        for reply in replies:
            walk.take(reply, self.dialect)
        return walk


class _Walk:
    """One conversation as far as it came."""

    def __init__(self, contract: StateContract, view: PublicView, binding: Binding, terms: LoopTerms) -> None:
        budget = view.budget
        if terms.mode == "context":
            budget = budget.model_copy(update={"max_turns": 1})
        self.view, self.budget = view, budget
        self.tools = Tools(contract.corpus, view.actor, view.role, view.as_of, budget)
        self.packed = packed(self.tools, terms.context_chars) if terms.mode == "context" else ()
        self.context = terms.mode == "context"
        self.writer = TraceWriter(binding)
        self.steps: list[tuple[Answered, ...]] = []
        self.malformed = 0
        self.ending: tuple[Outcome, str] = (Outcome.EMPTY, "no_answer")
        self.over = False

    def offer(self) -> Offer:
        """Return what is left to the engine in the next turn."""
        turns = self.budget.max_turns - len(self.steps)
        calls = max(0, self.budget.max_calls - self.tools.used)
        return Offer(turns, calls, turns <= 1 or calls == 0)

    def take(self, reply: ReplyFacts, dialect: Dialect) -> None:
        """Carry out what one reply asks for."""
        turn = reply.reading.turn
        if turn is None:
            self._end(reply.reading.outcome, f"broken_off: {reply.reading.outcome.value}")
            return
        last = self.offer().last
        content = dialect(turn)
        if content is None or (content.calls and self.context):
            self.malformed += 1
            self.steps.append(())
            if self.malformed >= MALFORMED_IN_A_ROW or self.context:
                self._end(Outcome.MALFORMED, "malformed_turns")
            elif last:
                self._end(Outcome.EMPTY, "no_answer")
            return
        self.malformed = 0
        wire = Wire(reply.turn, reply.at, reply.request_sha256, reply.response_sha256)
        answer: JsonValue = content.answer
        answered = content.answer is not None
        done: list[Answered] = []
        for asked in content.calls:
            if asked.tool == SUBMIT:
                answer, answered = asked.arguments, True
                break
            executed = self.tools.execute(asked.tool, asked.arguments)
            self.writer.call(wire, executed)
            done.append(Answered(asked, executed))
        self.steps.append(tuple(done))
        if answered:
            # An answer outside its schema is none: what it was stands in the recorded bytes.
            fits = read_track_answer(self.view.track, answer) is not None
            self.writer.answer(wire, answer if fits else None)
            self._end(Outcome.ANSWERED, "answered")
        elif last:
            self._end(Outcome.EMPTY, "no_answer")

    def _end(self, outcome: Outcome, reason: str) -> None:
        self.ending, self.over = (outcome, reason), True


class ProbeConversation:
    """Asks the public probe with tools on offer, or with an empty context; nothing of a bank is in it."""

    def __init__(self, dialect: Dialect, *, context: bool = False) -> None:
        self.dialect, self.context = dialect, context

    def package(self, query: str) -> JsonObject:
        """Return the query package of the probe."""
        policy = Policy(
            schema_="slaverify.trajectory.policy/1",
            subsystems={"docs": Subsystem(id_prefix="DOC-", description="public example")},
            roles={"public": Role(subsystems=("docs",))},
            actors={"public": "public"},
        )
        public_id = sha256_hex(query.encode("utf-8"))[:16]
        schema = answer_schema(Track.SILENCE)
        as_of = "2026-01-01T00:00:00+00:00"
        view = view_tree(public_id, query, schema, "public", "public", as_of, policy, Budget(), "es")
        left = Offer(1, 0, last=True) if self.context else Offer(Budget().max_turns, Budget().max_calls, last=False)
        return package(view, (), left, () if self.context else None)

    def called(self, reading: Reading) -> bool:
        """Say whether a reply holds a call that the tools could carry out; where none are offered, none is due."""
        if self.context:
            return True
        content = None if reading.turn is None else self.dialect(reading.turn)
        return content is not None and any(_usable(call) for call in content.calls)


def _usable(call: AskedCall) -> bool:
    keys = set(call.arguments) if isinstance(call.arguments, dict) else set()
    return (call.tool == SEARCH and "query" in keys) or (call.tool == FETCH and "artifact_id" in keys)


def has_tools(contract: Contract) -> bool:
    """Say whether a contract is about an engine with tools."""
    return contract.method.profile.partition("@")[0] == "trajectory"


def tool_probe(contract: Contract) -> ProbeConversation | None:
    """Return how the public probe of an engine with tools is asked; None for an engine without any."""
    agreed = contract.method.trajectory
    if agreed is None or not has_tools(contract):
        return None
    return ProbeConversation(dialect_of(contract.endpoint.adapter), context=agreed.mode == "context")


def loop_terms(contract: Contract, run_id: str, version: str) -> LoopTerms:
    """Return what the traces of a run say; `version` is that of the product which prepared the run."""
    agreed = contract.method.trajectory
    assert agreed is not None  # noqa: S101 - the loader asks for it under this profile
    engine = {"name": contract.engine.name, "version": contract.engine.version}
    return LoopTerms(
        run_id=run_id,
        engine_digest="sha256:" + sha256_hex(jcs(engine)),
        version=version,
        profile=agreed.profile,
        mode=agreed.mode,
        context_chars=agreed.context_chars,
    )
