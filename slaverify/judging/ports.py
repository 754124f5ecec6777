"""The port to a judge: who carries a prompt out and brings back what came. Implemented by `judging.adapters`.

Source: docs/spec/judging.md section 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from slaverify.canonical import JsonObject
from slaverify.judging.prompt import Prompt


class Stop(StrEnum):
    """Why no further call may be made before a person acts."""

    CREDENTIAL = "credential"
    QUOTA = "quota"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What one attempt brought back; `stop_all` where going on would be useless. Other fields as `JudgementRecord`.

    `detail`: the server's own words on a request that it rejects, printable and short; for people, kept nowhere.
    """

    request_digest: str
    raw: bytes | None = None
    stop: str | None = None
    refused: bool = False
    echo: str | None = None
    fingerprint: str | None = None
    usage: tuple[int | None, int | None] = (None, None)
    fault: str | None = None
    stop_all: Stop | None = None
    detail: str = ""


class JudgePort(Protocol):
    """One panel, reachable."""

    async def ask(self, member: str, prompt: Prompt, schema: JsonObject) -> Received:
        """Ask one member once; a fault is a value, never an exception."""
