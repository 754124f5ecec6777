"""`anthropic_messages@1`: POST …/v1/messages with `anthropic-version`, exactly one text block.

Source: Anthropic API reference, messages (*unverified* beyond the fields read here).
"""

from __future__ import annotations

from slaverify.canonical import JsonObject
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

_STOPS = {"end_turn": "complete", "max_tokens": "length"}


def request(member: JudgeMember, prompt: Prompt, _: JsonObject) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """Return the body and the headers of one request."""
    tree: dict[str, object] = {
        "model": model_of(member),
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.user}],
        "temperature": number(member.parameters.temperature),
        "max_tokens": member.parameters.max_output_tokens,
    }
    # The interface takes one of the two; 1 is its default.
    if member.parameters.top_p != 1:
        tree["top_p"] = number(member.parameters.top_p)
    return body_bytes(tree), (("anthropic-version", member.api_version or ""),)


def read(body: bytes, digest: str) -> Received:
    """Return what a response of status 200 says. Raises: UnreadableError."""
    tree = read_object(body)
    blocks = tree.get("content")
    if not isinstance(blocks, list):
        raise UnreadableError("content")
    texts = [member_text(block, "text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    only = texts[0] if len(texts) == 1 and len(blocks) == 1 else None
    reason = member_text(tree, "stop_reason")
    return Received(
        request_digest=digest,
        raw=None if only is None else words(only),
        stop=_STOPS.get(reason or "", reason) if only is not None or reason == "refusal" else "other_content",
        refused=reason == "refusal",
        echo=member_text(tree, "model"),
        usage=(
            member_count(tree.get("usage"), "input_tokens"),
            member_count(tree.get("usage"), "output_tokens"),
        ),
    )
