"""Second door of the room: the judges of a contract over the network. Imported by `audit` alone.

An adapter is two pure functions: the body of a request, and what a response says. The one client is that of
`engine.wire`: TLS, caps, deadlines, no redirects.

Source: docs/spec/judging.md section 9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from slaverify.canonical import JsonObject
from slaverify.contract.model.judge import JudgeMember
from slaverify.errors import JudgeError, Text
from slaverify.judging.adapters import anthropic_messages, openai_chat
from slaverify.judging.ports import Received
from slaverify.judging.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Adapter:
    """One protocol: `request` gives body and headers, `read` what a body of status 200 says."""

    request: Callable[[JudgeMember, Prompt, JsonObject], tuple[bytes, tuple[tuple[str, str], ...]]]
    read: Callable[[bytes, str], Received]


ADAPTERS: Mapping[str, Adapter] = {
    "openai_chat@1": Adapter(openai_chat.request, openai_chat.read),
    "anthropic_messages@1": Adapter(anthropic_messages.request, anthropic_messages.read),
}
"""All adapters of judges, by `name@version`."""


def adapter_of(member: JudgeMember) -> Adapter:
    """Return the adapter of a member. Raises: JudgeError SLV-J043 (unknown), SLV-J044 (asks what it cannot)."""
    found = ADAPTERS.get(member.adapter)
    if found is None:
        known = ", ".join(ADAPTERS)
        raise JudgeError(
            "SLV-J043",
            Text(f"no existe el adaptador de juez {member.adapter}", f"there is no judge adapter {member.adapter}"),
            fix=Text(f"use uno de: {known}", f"use one of: {known}"),
            where="judge.panel.adapter",
        )
    if member.adapter.startswith("anthropic") and (member.response_format != "none" or member.api_version is None):
        raise JudgeError(
            "SLV-J044",
            Text(
                "anthropic_messages@1 necesita api_version y response_format none",
                "anthropic_messages@1 needs api_version, and response_format none",
            ),
            where="judge.panel",
        )
    return found


__all__ = ["ADAPTERS", "Adapter", "adapter_of"]
