"""What the engine is sent in one turn: the question, the whole transcript, the tools on offer, what is left.

Each request carries everything, so that an engine without memory can answer. The package has every form; the
contract's template takes the one that the engine understands.

Source: docs/spec/trajectory.md, section "Loop".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue, jcs
from slaverify.trajectory.dialects import AskedCall
from slaverify.trajectory.runtime import FETCH, SEARCH, SUBMIT, Executed, Status

TURN_SCHEMA = "slaverify.trajectory.turn/1"
UNREAD = '{"status":"malformed_turn"}'
"""What an engine is told after a turn that could not be read."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One call of the transcript, with its result."""

    call: AskedCall
    executed: Executed


@dataclass(frozen=True, slots=True)
class Offer:
    """What is left to an engine: turns and calls; `last`: only an answer may follow."""

    turns: int
    calls: int
    last: bool


def package(
    view: JsonObject, steps: Sequence[Sequence[Answered]], offer: Offer, context: Sequence[JsonObject] | None = None
) -> JsonObject:
    """Return the query package of a turn. A step without calls is a turn that could not be read."""
    question = view if context is None else {**view, "context": list(context)}
    text = jcs(question).decode("utf-8")
    messages: list[JsonValue] = [{"role": "user", "content": text}]
    transcript: list[JsonValue] = []
    for step in steps:
        if not step:
            messages.append({"role": "user", "content": UNREAD})
            continue
        messages.append({"role": "assistant", "content": None, "tool_calls": [_asked(one.call) for one in step]})
        messages += [
            {"role": "tool", "tool_call_id": one.call.id, "content": jcs(one.executed.result).decode("utf-8")}
            for one in step
        ]
        transcript += [{"call": _told(one), "result": one.executed.result} for one in step]
    return {
        "query": text,
        "messages": messages,
        "tools": [] if context is not None else tools_offered(view, offer),
        "turn": {
            "schema": TURN_SCHEMA,
            "question": question,
            "transcript": transcript,
            "remaining": {"turns": offer.turns, "calls": offer.calls},
        },
    }


def tools_offered(view: JsonObject, offer: Offer) -> list[JsonValue]:
    """Return the function schemas on offer, strict."""
    text: JsonObject = {"type": "string"}
    place: JsonObject = {"type": ["string", "null"]}
    schema = view["answer_schema"]
    parameters = {key: value for key, value in schema.items() if key != "$schema"} if isinstance(schema, dict) else {}
    submit = _function(SUBMIT, "The answer; ends the question.", parameters)
    if offer.last:
        return [submit]
    return [
        _function(SEARCH, "Artifacts that hold every word of the query.", _object(query=text, subsystem=place)),
        _function(FETCH, "One whole artifact.", _object(artifact_id=text)),
        submit,
    ]


def _function(name: str, description: str, parameters: JsonObject) -> JsonObject:
    function: JsonObject = {"name": name, "description": description, "parameters": parameters, "strict": True}
    return {"type": "function", "function": function}


def _object(**properties: JsonValue) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _asked(call: AskedCall) -> JsonObject:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.tool, "arguments": call.written or _json(call)},
    }


def _json(call: AskedCall) -> str:
    return jcs(call.arguments if isinstance(call.arguments, dict) else {}).decode("utf-8")


def _told(one: Answered) -> JsonObject:
    # Arguments of a malformed call are not repeated: they may be anything.
    arguments = None if one.executed.call.status is Status.MALFORMED else one.executed.call.arguments
    return {"id": one.call.id, "tool": one.executed.call.tool, "arguments": arguments}
