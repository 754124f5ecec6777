"""Conversations without a network: an agent's bytes are read by the real engine room and walked by the real loop."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slaverify.canonical import loads_jsonl, sha256_hex
from slaverify.contract.model.bank import Method
from slaverify.contract.model.engine import Endpoint, Engine
from slaverify.engine import EndpointSpec, Reading, Received, RequestIds, compile_endpoint, read_response
from slaverify.evalset import Answer
from slaverify.trajectory import PathRules, Question, public_view, read_view
from slaverify.trajectory.dialects import dialect_of
from slaverify.trajectory.items import question_items
from slaverify.trajectory.loop import Conclusion, LoopTerms, TrajectoryConversation
from slaverify.trajectory.record import Ground, ScoredPath, score_item
from tests.engine.endpoints import _tuples
from tests.trajectory.state import NONCE, crm, questions

Respond = Callable[[bytes], tuple[int, str, bytes]]
PLAIN = {
    "adapter": "json_http@1",
    "request": "${turn}",
    "response": {"answer": "$.answer", "tool_calls": "$.calls", "version": "$.engine.version"},
}
CHAT = {
    "adapter": "openai_chat@1",
    "request": {"model": "agent", "messages": "${messages}", "tools": "${tools}", "tool_choice": "auto"},
    "response": {},
}
DIALECTS = {"plain": PLAIN, "chat": CHAT}


@dataclass(frozen=True)
class Contract:
    engine: Engine
    endpoint: Endpoint
    method: Method


def spec_of(dialect: Mapping[str, Any]) -> EndpointSpec:
    block = {"name": "A", "version": "1", "accepted_echoes": [{"regex": "^.*$"}], "on_missing": "limitation"}
    tree = {"url": "http://127.0.0.1:9/", "public_probe": {"query": "¿Qué hay?"}, "call": {}, **dialect}
    method = {"profile": "trajectory@1", "trajectory": {"state_contract_digest": crm().digest}}
    return compile_endpoint(
        Contract(
            Engine.model_validate(_tuples(block)),
            Endpoint.model_validate(_tuples(tree, keep=("request",))),
            Method.model_validate(method),
        )
    )


@dataclass(frozen=True)
class Reply:
    turn: int
    reading: Reading
    at: str
    request_sha256: str
    response_sha256: str


@dataclass(frozen=True)
class Call:
    item_id: str
    repetition: int = 0
    side: str = "current"


def terms(mode: str = "tool") -> LoopTerms:
    return LoopTerms("0123456789ab-0001", "sha256:" + "0" * 64, "1", mode=mode)


def conversation(dialect: str = "plain", mode: str = "tool") -> TrajectoryConversation:
    views = {one.public_id: read_view(public_view(one, crm(), "es-CL")) for one in questions()}
    return TrajectoryConversation(crm(), views, dialect_of(DIALECTS[dialect]["adapter"]), terms(mode))


@dataclass(frozen=True)
class Talk:
    """One finished conversation: what was sent, what came, how it ended."""

    question: Question
    sent: list[Any]
    replies: list[Reply]
    conclusion: Conclusion

    @property
    def trace(self) -> list[dict[str, Any]]:
        return [dict(line) for line in loads_jsonl(self.conclusion.trace)]

    def scored(self, mode: str = "tool") -> ScoredPath:
        answer = Answer(self.conclusion.trace.decode())
        return score_item(item_of(self.question), answer, self.conclusion.outcome, ground(mode))


def ground(mode: str = "tool") -> Ground:
    return Ground(crm(), terms(mode), PathRules(mode=mode))


def item_of(question: Question):
    (item,) = question_items(crm(), [question], "es-CL", NONCE, lambda: question.public_id)
    return item


def talk(respond: Respond, question: Question, dialect: str = "plain", mode: str = "tool") -> Talk:
    """Let an engine and the loop talk to their end."""
    loop, spec, call = conversation(dialect, mode), spec_of(DIALECTS[dialect]), Call(question.public_id)
    sent, replies = [], []
    while (package := loop.package(call, replies)) is not None:
        body = spec.template.render(package, RequestIds("n", "r"))
        sent.append(json.loads(body))
        status, kind, data = respond(body)
        reading = read_response(spec, Received(status, {"content-type": kind}, data))
        at = f"2026-04-01T00:00:{len(replies):02d}.000Z"
        replies.append(Reply(len(replies), reading, at, sha256_hex(body), sha256_hex(data)))
        assert len(replies) < 99
    return Talk(question, sent, replies, loop.conclude(call, replies))
