"""Adapter `openai_chat_stream@1`: chat completions as server-sent events, folded into one completion.

Comment lines, empty data and pings are skipped; any other data must be strict JSON. The stream is complete
only with its terminal marker; an error event anywhere makes the attempt a failed one.

Source: WHATWG HTML, server-sent events (event stream interpretation).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from slaverify.canonical import JsonObject, JsonValue, NumberText
from slaverify.engine.adapters import AdapterFacts
from slaverify.engine.adapters.openai_chat import FIELDS, FILTER_CODES, OpenAiChat
from slaverify.engine.body import Parsed, parse_json
from slaverify.engine.faults import Fault
from slaverify.engine.mapping import is_text

_LINE = re.compile(r"\r\n|\n|\r")
_FACTS = AdapterFacts(
    name="openai_chat_stream@1",
    accept="text/event-stream",
    fields=FIELDS,
    finish_reasons=OpenAiChat().facts.finish_reasons,
    filter_codes=FILTER_CODES,
)


class OpenAiChatStream(OpenAiChat):
    """One streamed chat completion per response."""

    @property
    def facts(self) -> AdapterFacts:
        """Return what is fixed for the protocol."""
        return _FACTS

    def type_allowed(self, kind: str) -> bool:
        """Say whether a media type is an event stream."""
        return kind == "text/event-stream"

    def parse(self, body: bytes) -> Parsed:
        """Fold a complete stream into one completion."""
        return _fold(body)

    def partial(self, body: bytes) -> JsonValue:
        """Return the completion as far as the stream went."""
        cut = body[: max(body.rfind(b"\n\n"), body.rfind(b"\r\r"), body.rfind(b"\r\n\r\n")) + 2]
        return _fold(cut + b"\n\ndata: [DONE]\n\n").tree


def _fold(body: bytes) -> Parsed:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return Parsed(None, Fault.ENCODING)
    fold = _Fold()
    flags: set[str] = set()
    for kind, data in _events(text.removeprefix("\ufeff")):
        if fold.done:
            return Parsed(None, Fault.TRAILING)
        if kind == "ping" or not data.strip():
            continue
        if data.strip() == "[DONE]":
            fold.done = True
            continue
        parsed = parse_json(data.encode("utf-8"))
        if parsed.fault is not None or not isinstance(parsed.tree, dict):
            return Parsed(fold.tree(), parsed.fault or Fault.SYNTAX, tuple(sorted(flags)))
        flags.update(parsed.flags)
        if parsed.tree.get("type") == "ping":
            continue
        if kind == "error" or parsed.tree.get("type") == "error" or parsed.tree.get("error") is not None:
            fold.error = parsed.tree.get("error") or parsed.tree
            return Parsed(fold.tree(), None, tuple(sorted(flags)))
        fold.add(parsed.tree)
    if not fold.done:
        return Parsed(fold.tree(), Fault.STREAM_CUT, tuple(sorted(flags)))
    return Parsed(fold.tree(), None, tuple(sorted(flags)))


def _events(text: str) -> Iterator[tuple[str, str]]:
    kind = ""
    data: list[str] = []
    for line in _LINE.split(text):
        if not line:
            if data:
                yield kind, "\n".join(data)
            kind, data = "", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            kind = value
    # An event that the end of the stream cut is not dispatched.


@dataclass
class _Call:
    """One call of a tool as its parts make it."""

    said: dict[str, JsonValue] = field(default_factory=dict)
    function: dict[str, JsonValue] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)

    def tree(self) -> JsonValue:
        """Return the call as a completion that came whole has it."""
        written: JsonObject = {"arguments": "".join(self.arguments)} if self.arguments else {}
        return {**self.said, "function": {**self.function, **written}}


class _Fold:
    """The completion that the events make."""

    def __init__(self) -> None:
        self.done = False
        self.error: JsonValue = None
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._calls: dict[str, _Call] = {}
        self._odd_calls: list[JsonValue] = []
        self._function: JsonValue = None
        self._others: list[JsonValue] = []
        self._models: list[str] = []
        self._last: dict[str, JsonValue] = {}
        self._finish: JsonValue = None
        self._choice = False

    def add(self, event: dict[str, JsonValue]) -> None:
        model = event.get("model")
        if is_text(model) and model not in self._models:
            self._models.append(str(model))
        for key in ("id", "system_fingerprint", "usage"):
            if event.get(key) is not None:
                self._last[key] = event[key]
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict) and choice.get("index", "0") == "0":
                self._choice = True
                self._add_choice(choice)
            elif not self._others:
                self._others.append({"index": choice.get("index")} if isinstance(choice, dict) else None)

    def _add_choice(self, choice: dict[str, JsonValue]) -> None:
        delta = choice.get("delta")
        if isinstance(delta, dict):
            if is_text(delta.get("content")):
                self._texts.append(str(delta["content"]))
            if is_text(delta.get("refusal")):
                self._refusals.append(str(delta["refusal"]))
            calls = delta.get("tool_calls")
            for call in calls if isinstance(calls, list) else []:
                self._add_call(call)
            if delta.get("function_call") is not None:
                self._function = delta["function_call"]
        if choice.get("finish_reason") is not None:
            self._finish = choice["finish_reason"]

    def _add_call(self, part: JsonValue) -> None:
        """Join the parts of a call: its arguments grow, all else is said once. Another form of part is a null."""
        index = part.get("index") if isinstance(part, dict) else None
        function = part.get("function") if isinstance(part, dict) else None
        more = function.get("arguments") if isinstance(function, dict) else None
        fits = isinstance(index, NumberText) and (more is None or is_text(more))
        if not fits or not isinstance(part, dict) or not isinstance(function, dict):
            self._odd_calls.append(None)
            return
        call = self._calls.setdefault(str(index), _Call())
        for key in ("id", "type"):
            if part.get(key) is not None:
                call.said.setdefault(key, part[key])
        if function.get("name") is not None:
            call.function.setdefault("name", function["name"])
        if more is not None:
            call.arguments.append(str(more))

    def tree(self) -> JsonValue:
        """Return the folded completion; several models make a version that no echo accepts."""
        message: dict[str, JsonValue] = {"content": "".join(self._texts) if self._texts else None}
        if self._refusals:
            message["refusal"] = "".join(self._refusals)
        calls = [*(call.tree() for call in self._calls.values()), *self._odd_calls]
        if calls:
            message["tool_calls"] = calls
        if self._function is not None:
            message["function_call"] = self._function
        choice: JsonValue = {"index": 0, "message": message, "finish_reason": self._finish}
        tree: dict[str, JsonValue] = {
            **self._last,
            "model": ", ".join(self._models) if self._models else None,
            "choices": [choice, *self._others] if self._choice else [],
        }
        if self.error is not None:
            tree["error"] = self.error
        return tree
