"""The turn loop: both forms of it, budgets, turns that cannot be read, and what a request may carry."""

from __future__ import annotations

import json

import pytest

from slaverify.cli.demo.agent import Agent
from slaverify.contract import Outcome
from slaverify.engine import Reading
from slaverify.trajectory.dialects import plain_json
from slaverify.trajectory.loop import ProbeConversation
from slaverify.trajectory.runtime import packed
from tests.trajectory.state import crm, of_kind, questions
from tests.trajectory.talks import DIALECTS, item_of, talk
from tests.trajectory.walks import Walker

CHAT_ANSWER = {"role": "assistant", "content": '{"exists": false, "evidence_artifacts": [], "reasoning": ""}'}


def plain(*replies: dict):
    """Return an engine that says these things in turn, the last one for ever."""
    said = list(replies)

    def respond(_: bytes) -> tuple[int, str, bytes]:
        reply = said.pop(0) if len(said) > 1 else said[0]
        return 200, "application/json", json.dumps(reply).encode()

    return respond


def chat(*messages: dict):
    return plain(*({"model": "m", "choices": [{"message": one, "finish_reason": "stop"}]} for one in messages))


def call(tool: str, number: int = 0, **arguments: object) -> dict:
    return {"id": f"c{number}", "tool": tool, "arguments": arguments}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_honest_agent_walks_forty_questions(dialect: str) -> None:
    for question in questions():
        scored = talk(Agent("honest").respond, question, dialect).scored()
        assert scored.record.state == "VALID_STATE" and scored.score.correct, question.text


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_private_leaves(dialect: str) -> None:
    for question in questions():
        sent = json.dumps(talk(Agent("honest").respond, question, dialect).sent, ensure_ascii=False)
        assert question.question_id not in sent and item_of(question).id not in sent.replace(question.public_id, "")
        for word in ("search_requirements", "required_artifacts", "ground_truth", "slaverify-1", "set_nonce"):
            assert word not in sent


def test_the_last_turn_offers_the_answer_alone() -> None:
    looking = plain({"calls": [call("search_artifacts", query="zzqx", subsystem=None)]})
    done = talk(looking, of_kind("absent"))
    budget = crm().evaluation.budget
    assert len(done.sent) == budget.max_turns
    assert done.sent[-1]["remaining"]["turns"] == 1
    assert (done.conclusion.outcome, done.trace[-1]["reason"]) == ("empty", "no_answer")
    tools = talk(
        chat({"role": "assistant", "tool_calls": [_function("search_artifacts", '{"query":"zzqx"}')]}),
        of_kind("absent"),
        "chat",
    ).sent
    assert [one["function"]["name"] for one in tools[-1]["tools"]] == ["submit_answer"]
    assert len(tools[0]["tools"]) == 3


def _function(name: str, arguments: object, number: str = "a") -> dict:
    return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_beyond_the_budget_nothing_is_executed() -> None:
    many = [call("search_artifacts", number, query=f"zzqx{number}", subsystem=None) for number in range(16)]
    done = talk(plain({"calls": many}, {"calls": [call("fetch_artifact", artifact_id="TCK-101")]}), of_kind("absent"))
    assert done.trace[-2]["status"] == "over_budget"
    assert done.sent[1]["remaining"]["calls"] == 0 and done.conclusion.outcome == "empty"


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"calls": []},
        {"calls": [call("search_artifacts", query="R-501")] * 2},
        {"calls": [call("search_artifacts", n, query="R-501") for n in range(17)]},
        {"calls": [call("search_artifacts", query="R-501")], "answer": {"exists": False}},
        {"calls": {"id": "c"}},
        {"calls": [{"id": 7, "tool": "search_artifacts", "arguments": {}}]},
        {"answer": "no"},
    ],
)
def test_two_unreadable_turns_end_it(reply: dict) -> None:
    done = talk(plain(reply), of_kind("absent"))
    assert (done.conclusion.outcome, len(done.replies)) == ("malformed", 2)
    assert done.scored().score.adjusted == 0


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "tool_calls": [_function("search_artifacts", {"query": "R-501"})]},
        {"role": "assistant", "content": None, "tool_calls": [_function("x", "{}"), _function("y", "{}")]},
        {"role": "assistant", "content": None, "function_call": {"name": "search_artifacts", "arguments": "{}"}},
        {"role": "assistant", "content": "creo que no"},
        {"role": "assistant", "content": '{"exists": false} y nada más'},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "code", "function": {}}]},
    ],
)
def test_odd_completions_are_unreadable_turns(message: dict) -> None:
    assert talk(chat(message), of_kind("absent"), "chat").conclusion.outcome == "malformed"


def test_several_choices_are_an_unreadable_turn() -> None:
    choice = {"message": CHAT_ANSWER, "finish_reason": "stop"}
    done = talk(plain({"model": "m", "choices": [choice, choice]}), of_kind("absent"), "chat")
    assert done.conclusion.outcome == "malformed"


def test_one_unreadable_turn_is_forgiven() -> None:
    good = {"answer": {"exists": False, "evidence_artifacts": [], "reasoning": ""}}
    done = talk(plain({}, good), of_kind("absent"))
    assert done.conclusion.outcome == "answered" and done.scored().score.correct


def test_calls_win_over_content() -> None:
    both = {**CHAT_ANSWER, "tool_calls": [_function("search_artifacts", '{"query":"zzqx","subsystem":null}')]}
    done = talk(chat(both, CHAT_ANSWER), of_kind("absent"), "chat")
    assert [line["type"] for line in done.trace] == ["start", "call", "answer", "end"]
    assert done.sent[1]["messages"][1]["content"] is None


def test_submit_answer_ends_the_question() -> None:
    answer = {"exists": False, "evidence_artifacts": [], "reasoning": ""}
    calls = [
        call("search_artifacts", 0, query="zzqx"),
        call("submit_answer", 1, **answer),
        call("fetch_artifact", 2, artifact_id="TCK-101"),
    ]
    done = talk(plain({"calls": calls}), of_kind("absent"))
    assert [line["type"] for line in done.trace] == ["start", "call", "answer", "end"]
    assert done.conclusion.outcome == "answered"


@pytest.mark.parametrize(
    "answer",
    [
        {"exists": "false", "evidence_artifacts": [], "reasoning": ""},
        {"exists": 0, "evidence_artifacts": [], "reasoning": ""},
        {"exists": False, "evidence_artifacts": "TCK-101", "reasoning": ""},
        {"exists": False, "evidence_artifacts": ["TCK-101", "TCK-101"], "reasoning": ""},
        {"exists": False, "evidence_artifacts": [7], "reasoning": ""},
        {"exists": False, "evidence_artifacts": []},
        {"exists": False, "answer": "yes", "evidence_artifacts": [], "reasoning": ""},
        {"exists": False, "evidence_artifacts": ["x" * 4001], "reasoning": ""},
        {"exists": False, "evidence_artifacts": [str(n) for n in range(201)], "reasoning": ""},
        {"exists": False, "evidence_artifacts": [], "reasoning": 5},
    ],
)
def test_an_answer_outside_its_schema_is_no_answer(answer: dict) -> None:
    done = talk(plain({"answer": answer}), of_kind("absent"))
    scored = done.scored()
    assert done.conclusion.outcome == "answered" and scored.score.reasons[0] == "ANSWER_SCHEMA"
    assert (scored.record.correctness, scored.record.verdict, scored.score.adjusted) == ("no_answer", None, 0)


def test_a_cut_or_refused_turn_ends_it() -> None:
    for reason, outcome in (("length", "truncated"), ("content_filter", "refused")):
        body = {"model": "m", "choices": [{"message": CHAT_ANSWER, "finish_reason": reason}]}
        done = talk(plain(body), of_kind("absent"), "chat")
        assert done.conclusion.outcome == outcome and done.trace[-1]["reason"] == f"broken_off: {outcome}"


def test_context_mode_packs_the_cone_and_asks_once() -> None:
    question = of_kind("positive")
    answer = {**question.truth(), "reasoning": ""}
    done = talk(plain({"answer": answer}), question, mode="context")
    shown = {one["id"] for one in done.sent[0]["question"]["context"]}
    room = packed(Walker(question).tools, 64_000)
    assert shown == {one.id for one in room} and len(done.sent) == 1
    scored = done.scored("context")
    assert scored.record.state == "VALID_STATE" and scored.score.adjusted == 1


def test_turns_walk_again_to_the_same_bytes() -> None:
    """Same bytes, same turns: what was sent after a kill, scored or verified is what was sent the first time."""
    for kind in ("honest", "leaking", "fishing"):
        first, second = (talk(Agent(kind).respond, of_kind("linked")) for _ in range(2))
        assert first.conclusion == second.conclusion and first.sent == second.sent


def test_instructions_inside_a_document_are_data() -> None:
    """A reply that repeats what a document says moves no gate: ids outside the cone stay closed."""
    question = of_kind("negative_permission")
    tools = Walker(question).tools
    hidden = next(one.id for one in crm().corpus.ordered if not tools.in_cone(one))
    done = talk(plain({"calls": [call("fetch_artifact", artifact_id=hidden)]}), question)
    assert {line["status"] for line in done.trace if line["type"] == "call"} == {"unavailable"}
    assert hidden not in json.dumps([one["transcript"] for one in done.sent]).replace(f'"artifact_id": "{hidden}"', "")


def test_the_probe_of_context_mode_offers_nothing_and_asks_for_no_call() -> None:
    probe = ProbeConversation(plain_json, context=True)
    package = probe.package("¿Qué hay?")
    assert package["tools"] == [] and package["turn"]["question"]["context"] == []
    assert probe.called(Reading(Outcome.ANSWERED))
    assert not ProbeConversation(plain_json).called(Reading(Outcome.ANSWERED))
