"""An engine with tools from end to end: the honest agent complies, and its evidence is walked again by the verifier."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue, loads_jsonl, loads_object
from slaverify.cli.demo.agent import Agent
from slaverify.cli.demo.servers import serve
from tests.e2e.agents import CHAT, make_agent_place, write_agent_contract
from tests.e2e.line import Place, audit_arguments, slaverify, tsa


def audited(folder: Path, respond, changes: dict[str, JsonValue] | None = None) -> tuple[Place, object]:
    place = make_agent_place(folder)
    with serve(respond) as vendor, tsa(place.authority) as authority:
        write_agent_contract(place, f"{vendor}/q", authority, changes)
        return place, slaverify(place, *audit_arguments(place))


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place, done = audited(tmp_path_factory.mktemp("agent"), Agent("honest").respond)
    assert done.returncode == 0, done.stderr + done.stdout
    return place


def verified(place: Place, bundle: Path, *more: str):
    arguments = [str(place.pdf()), "--bundle", str(bundle), "--contract", str(place.contract)]
    return slaverify(place, "verify", *arguments, "--identity", str(place.keys / "arbitro.age"), "--json", *more)


def test_the_honest_agent_complies_and_is_verified(honest: Place) -> None:
    decision = loads_object((honest.run / "decision" / "decision.json").read_bytes())
    assert decision["state"] == "PASS"
    summary = loads_object((honest.run / "trajectory" / "summary.json").read_bytes())
    assert summary["table"] == {"correct_valid": 40, "correct_invalid": 0, "wrong_valid": 0, "wrong_invalid": 0}
    assert {one["name"]: one["valid"] for one in summary["baselines"]}["oracle"] == "1.000000"
    done = verified(honest, honest.bundle())
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["outcome"] == "VERIFIED", done.stdout
    assert all(one["result"] == "passed" for one in found["checks"] if one["id"] == "V19")


def test_public_files_hold_no_text_of_questions_or_records(honest: Place) -> None:
    traces = (honest.run / "trajectory" / "traces.jsonl").read_bytes()
    queries = {
        str(line["entry"]["arguments"]["query"])
        for line in loads_jsonl(traces)[1:]
        if line["entry"]["type"] == "call" and "query" in (line["entry"]["arguments"] or {})
    }
    assert queries
    for name in ("trajectory/scores.jsonl", "trajectory/summary.json", "scoring/scores.jsonl", "run/outcomes.jsonl"):
        text = (honest.run / name).read_text("utf-8")
        assert not [query for query in queries if query in text], name


def test_hidden_tools_stop_the_audit_before_anything_private(tmp_path: Path) -> None:
    """The mapping forgets the tools: the honest agent is amputated, and the preflight says so with what it sent."""
    seen: list[bytes] = []
    agent = Agent("honest")

    def respond(body: bytes) -> tuple[int, str, bytes]:
        seen.append(body)
        return agent.respond(body)

    blind: dict[str, JsonValue] = {
        **CHAT,
        "endpoint.request": {"model": "agente-crm-demo-1.0.0", "messages": "${messages}"},
    }
    place, done = audited(tmp_path, respond, blind)
    assert done.returncode == 6 and "SLV-N043" in done.stderr and "messages" in done.stderr
    assert len(seen) == 3 and not place.out.exists()
    assert all("público" in body.decode() for body in seen)


@pytest.mark.nightly
def test_an_agent_that_streams_its_calls_complies_and_is_verified(tmp_path: Path) -> None:
    """Every reply comes as a stream in which each call arrives in pieces of three characters."""
    agent = Agent("honest")

    def event(delta: JsonValue, whole: dict[str, JsonValue], finish: JsonValue = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return b"data: " + json.dumps({**whole, "choices": [choice]}).encode() + b"\n\n"

    def respond(body: bytes) -> tuple[int, str, bytes]:
        status, _, data = agent.respond(body)
        whole = json.loads(data)
        (choice,) = whole.pop("choices")
        message = choice["message"]
        events = [event({"role": "assistant", "content": message.get("content")}, whole)]
        for index, call in enumerate(message.get("tool_calls") or ()):
            function, written = call["function"], call["function"]["arguments"]
            head = {"index": index, "id": call["id"], "type": call["type"], "function": {"name": function["name"]}}
            events.append(event({"tool_calls": [head]}, whole))
            for at in range(0, len(written), 3):
                piece = {"index": index, "function": {"arguments": written[at : at + 3]}}
                events.append(event({"tool_calls": [piece]}, whole))
        events.append(event({}, whole, choice["finish_reason"]))
        return status, "text/event-stream", b"".join(events) + b"data: [DONE]\n\n"

    streamed: dict[str, JsonValue] = {
        **CHAT,
        "endpoint.adapter": "openai_chat_stream@1",
        "endpoint.request": {**CHAT["endpoint.request"], "stream": True},
    }
    place, done = audited(tmp_path, respond, streamed)
    assert done.returncode == 0, done.stderr + done.stdout
    summary = loads_object((place.run / "trajectory" / "summary.json").read_bytes())
    assert summary["table"] == {"correct_valid": 40, "correct_invalid": 0, "wrong_valid": 0, "wrong_invalid": 0}
    checked = verified(place, place.bundle())
    assert checked.returncode == 0 and json.loads(checked.stdout)["outcome"] == "VERIFIED", checked.stdout


def test_another_state_contract_is_refused(tmp_path: Path) -> None:
    other = {"method.trajectory.state_contract_digest": "sha256:" + "7" * 64}
    _, done = audited(tmp_path, Agent("honest").respond, other)
    assert done.returncode == 5 and "SLV-T005" in done.stderr
