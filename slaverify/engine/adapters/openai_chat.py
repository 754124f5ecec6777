"""Adapter `openai_chat@1`: chat completions, one choice; text parts are joined in order.

Source: the public description of the chat completions response (unverified beyond the vectors of this project).
"""

from __future__ import annotations

from slaverify.canonical import JsonValue
from slaverify.engine.adapters import AdapterFacts
from slaverify.engine.adapters.json_http import FINISH_REASONS, JsonHttp
from slaverify.engine.faults import Fault

FIELDS = {
    "answer": "$.choices[0].message.content",
    "refusal": "$.choices[0].message.refusal",
    "finish_reason": "$.choices[0].finish_reason",
    "error": "$.error",
    "version": "$.model",
    "fingerprint": "$.system_fingerprint",
    "input_tokens": "$.usage.prompt_tokens",
    "output_tokens": "$.usage.completion_tokens",
    "tool_calls": "$.choices[0].message.tool_calls",
    "response_id": "$.id",
}
"""The protocol's own mapping; what the contract maps replaces it, field by field."""

FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})

_FACTS = AdapterFacts(
    name="openai_chat@1",
    fields=FIELDS,
    finish_reasons={**FINISH_REASONS, "function_call": "tool_calls"},
    filter_codes=FILTER_CODES,
)


class OpenAiChat(JsonHttp):
    """One chat completion per response."""

    @property
    def facts(self) -> AdapterFacts:
        """Return what is fixed for the protocol."""
        return _FACTS

    def shape(self, tree: JsonValue) -> Fault | None:
        """Name an envelope of nulls and an empty list of choices."""
        if isinstance(tree, dict) and tree.get("choices") == []:
            return Fault.NO_CHOICES
        return super().shape(tree)

    def odd_turn(self, tree: JsonValue) -> bool:
        """Say whether a reply has several choices, or calls a function in the way before tools."""
        choices = tree.get("choices") if isinstance(tree, dict) else None
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, dict) else None
        several = isinstance(choices, list) and len(choices) > 1
        return several or not isinstance(message, dict) or message.get("function_call") is not None
