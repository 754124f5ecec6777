"""What a reply of an engine says, in either form of the tool loop: calls, or an answer, or neither.

TRUST BOUNDARY: a reply was read within bounds by room `engine`; what is in it is whatever an engine wrote. A turn that
breaks its form is malformed as a whole; a call with arguments that are no object is malformed alone.

Source: docs/spec/trajectory.md, section "Loop".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue, NumberText, StrictJsonError, loads_strict
from slaverify.engine import Turn

MAX_CALLS_A_TURN = 16
MAX_ID = 256
_DEPTH = 32


@dataclass(frozen=True, slots=True)
class AskedCall:
    """One call as it was asked for. `written`: the arguments as text, to be repeated in the transcript."""

    id: str
    tool: str
    arguments: JsonValue
    written: str


@dataclass(frozen=True, slots=True)
class TurnContent:
    """What a turn says: calls in order, or an answer object."""

    calls: tuple[AskedCall, ...] = ()
    answer: JsonObject | None = None


Dialect = Callable[[Turn], TurnContent | None]
"""Reads a turn; None for one that is malformed."""


def dialect_of(adapter: str) -> Dialect:
    """Return the dialect of an adapter `name@version`."""
    return openai_tool_calls if adapter.startswith("openai_chat") else plain_json


def openai_tool_calls(turn: Turn) -> TurnContent | None:
    """Read `tool_calls` of a chat completion, or a content that is exactly one JSON object. Calls win."""
    if turn.odd:
        return None
    if turn.calls is not None and turn.calls != []:
        return _calls(turn.calls, _openai_call)
    if not isinstance(turn.answer, str):
        return None
    answer = _parsed(turn.answer)
    return TurnContent(answer=answer) if isinstance(answer, dict) else None


def plain_json(turn: Turn) -> TurnContent | None:
    """Read `{"calls": […]}` or `{"answer": {…}}`: exactly one of them."""
    if turn.odd or (turn.calls is None) == (turn.answer is None):
        return None
    if turn.calls is not None:
        return _calls(turn.calls, _plain_call)
    return TurnContent(answer=turn.answer) if isinstance(turn.answer, dict) else None


def _calls(node: JsonValue, read: Callable[[JsonValue], AskedCall | None]) -> TurnContent | None:
    if not isinstance(node, list) or not 1 <= len(node) <= MAX_CALLS_A_TURN:
        return None
    calls = [call for call in map(read, node) if call is not None]
    if len(calls) != len(node) or len({call.id for call in calls}) != len(calls):
        return None
    return TurnContent(tuple(calls))


def _openai_call(node: JsonValue) -> AskedCall | None:
    if not isinstance(node, dict) or node.get("type") != "function" or not _is_text(node.get("id")):
        return None
    function = node.get("function")
    if not isinstance(function, dict) or not _is_text(function.get("name")):
        return None
    written = function.get("arguments")
    if not isinstance(written, str) or isinstance(written, NumberText):
        return None
    return AskedCall(str(node["id"]), str(function["name"]), _parsed(written), str(written))


def _plain_call(node: JsonValue) -> AskedCall | None:
    if not isinstance(node, dict) or set(node) != {"id", "tool", "arguments"}:
        return None
    if not _is_text(node["id"]) or not _is_text(node["tool"]):
        return None
    return AskedCall(str(node["id"]), str(node["tool"]), node["arguments"], "")


def _parsed(text: str) -> JsonValue:
    """Return the JSON value of a text, None where it is none."""
    try:
        return loads_strict(
            text.encode("utf-8", "replace"), max_depth=_DEPTH, numbers="text", surrogates="replace", bom="refuse"
        )
    except StrictJsonError:
        return None


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str) and not isinstance(value, NumberText) and 1 <= len(value) <= MAX_ID
