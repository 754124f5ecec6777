"""`openai_chat@1`: POST …/chat/completions, one choice, structured output where the contract pins it.

Source: OpenAI API reference, chat completions (*unverified* beyond the fields read here).
"""

from __future__ import annotations

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.model.judge import JudgeMember
from slaverify.judging.adapters.bodies import (
    UnreadableError,
    body_bytes,
    member_count,
    member_text,
    model_of,
    number,
    read_object,
    words,
)
from slaverify.judging.ports import Received
from slaverify.judging.prompt import Prompt

_STOPS = {"stop": "complete"}


def request(member: JudgeMember, prompt: Prompt, schema: JsonObject) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """Return the body and the headers of one request."""
    parameters = member.parameters
    tree: dict[str, object] = {
        "model": model_of(member),
        "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
        "n": 1,
        "temperature": number(parameters.temperature),
        "top_p": number(parameters.top_p),
        "max_tokens": parameters.max_output_tokens,
    }
    if parameters.seed is not None:
        tree["seed"] = parameters.seed
    if member.response_format == "json_schema":
        tree["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "judgement", "strict": True, "schema": schema},
        }
    return body_bytes(tree), ()


def read(body: bytes, digest: str) -> Received:
    """Return what a response of status 200 says. Raises: UnreadableError."""
    tree = read_object(body)
    choice = _only(tree.get("choices"))
    message = choice.get("message")
    if not isinstance(message, dict):
        raise UnreadableError("message")
    content, refusal = message.get("content"), member_text(message, "refusal")
    reason = member_text(choice, "finish_reason")
    # Parts, tool calls and other shapes are no whole output of ours.
    whole = content is None or isinstance(content, str)
    return Received(
        request_digest=digest,
        raw=words(content) if isinstance(content, str) else None,
        stop=_STOPS.get(reason or "", reason) if whole and not message.get("tool_calls") else "other_content",
        refused=bool(refusal),
        echo=member_text(tree, "model"),
        fingerprint=member_text(tree, "system_fingerprint"),
        usage=(
            member_count(tree.get("usage"), "prompt_tokens"),
            member_count(tree.get("usage"), "completion_tokens"),
        ),
    )


def _only(choices: JsonValue) -> JsonObject:
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise UnreadableError("choices")
    return choices[0]
