"""Calls of tools in a stream: joined from their parts they are those of a completion that came whole."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.engine import Received, read_response
from slaverify.trajectory.dialects import openai_tool_calls
from tests.engine.endpoints import endpoint_spec

CALLS = [
    ("call_1", "search", '{"query":"plazo ñ"}'),
    ("call_2", "fetch", '{"artifact_id":"a-1"}'),
    ("c3", "x", ""),
]


def spec(adapter: str):
    request = {"model": "m", "messages": "${messages}"}
    return replace(endpoint_spec(adapter=adapter, response={}, request=request), turns=True)


def event(delta: object, finish: str | None = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "r", "model": "engine-x@1", "choices": [choice], **more}).encode() + b"\n\n"


def stream(*events: bytes) -> bytes:
    return b"".join((*events, event({}, "tool_calls"), b"data: [DONE]\n\n"))


def turn_of(body: bytes, adapter: str = "openai_chat_stream@1"):
    kind = "text/event-stream" if "stream" in adapter else "application/json"
    return read_response(spec(adapter), Received(200, {"content-type": kind}, body)).turn


def part(index: int, **said: object) -> dict[str, object]:
    return {"tool_calls": [{"index": index, **said}]}


def parts_of(pieces: list[int]) -> list[bytes]:
    found: list[bytes] = []
    for index, (name, tool, written) in enumerate(CALLS):
        found.append(event(part(index, id=name, type="function", function={"name": tool, "arguments": ""})))
        step = max(1, pieces[index])
        found += [
            event(part(index, function={"arguments": written[at : at + step]})) for at in range(0, len(written), step)
        ]
    return found


@given(st.lists(st.integers(1, 30), min_size=3, max_size=3))
def test_joined_parts_are_the_calls_of_a_whole_completion(pieces):
    calls = [
        {"id": name, "type": "function", "function": {"name": tool, "arguments": written}}
        for name, tool, written in CALLS
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    whole = json.dumps({"id": "r", "model": "engine-x@1", "choices": [choice]}).encode()
    streamed = openai_tool_calls(turn_of(stream(*parts_of(pieces))))
    assert streamed is not None
    assert streamed == openai_tool_calls(turn_of(whole, "openai_chat@1"))
    assert [call.tool for call in streamed.calls] == ["search", "fetch", "x"]


@pytest.mark.parametrize(
    "odd",
    [
        {"tool_calls": [7]},
        {"tool_calls": [{"id": "a", "type": "function", "function": {"name": "x", "arguments": "{}"}}]},
        part(0, id="a", type="function"),
        part(0, id="a", type="function", function={"name": "x", "arguments": {"query": "x"}}),
        part(0, id="a", type="function", function={"name": 3, "arguments": "{}"}),
        part(0, type="function", function={"name": "x", "arguments": "{}"}),
        {"function_call": {"name": "x", "arguments": "{}"}},
    ],
)
def test_a_part_of_another_form_makes_the_turn_unreadable(odd):
    good = event(part(1, id="b", type="function", function={"name": "y", "arguments": "{}"}))
    assert openai_tool_calls(turn_of(stream(event(odd), good))) is None
    assert openai_tool_calls(turn_of(stream(good))) is not None


def test_a_second_choice_makes_the_turn_unreadable():
    good = event(part(0, id="b", type="function", function={"name": "y", "arguments": "{}"}))
    other = {"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": None}]}
    assert openai_tool_calls(turn_of(stream(good, b"data: " + json.dumps(other).encode() + b"\n\n"))) is None


def test_a_stream_that_breaks_off_gives_no_turn():
    body = b"".join(parts_of([3, 3, 3]))
    assert turn_of(body) is None
