"""Ask timestamp authorities through a transport, one after another, until one gives the token that was asked for.

The transport (one request, one reply) is handed in: this room opens no connection.

Source: RFC 3161.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

from slaverify.custody import TokenTime
from slaverify.errors import EvidenceError, SlaverifyError, Text
from slaverify.evidence.layout import MAX_ENVELOPE
from slaverify.evidence.problems import no_timestamp
from slaverify.evidence.signature_facts import token_problems

Transport: TypeAlias = Callable[[bytes], bytes]
"""Sends a request (DER) to one authority and returns its reply (DER); raises whatever went wrong."""


@dataclass(frozen=True)
class Authority:
    """One timestamp authority: its URL (for messages) and the transport that reaches it."""

    url: str
    transport: Transport


class Stamper:
    """Gets tokens from the first authority of a list that answers well. Custody's port `Timestamper`.

    `roots`: PEM roots of the contract. A token that they do not support is as good as none, so the next
    authority is asked. `attempts`: tries per authority; the transport waits between them, if anybody does.
    """

    def __init__(self, authorities: Sequence[Authority], roots: tuple[str, ...], attempts: int = 1) -> None:
        self._authorities = tuple(authorities)
        self._roots = roots
        self._attempts = attempts

    def stamp(self, data: bytes) -> bytes:
        """Return the reply (`.tsr`) over SHA-256(`data`): granted, the token, nothing else.

        Raises: ReportError SLV-R020 (exit 6) if no authority gives one.
        """
        return self.stamp_digest(sha256(data).digest())

    def stamp_digest(self, digest: bytes) -> bytes:
        """Return the reply over a SHA-256 digest (32 bytes). Raises: ReportError SLV-R020."""
        failures: list[str] = []
        for authority in self._authorities:
            for _ in range(self._attempts):
                try:
                    return self._ask(authority, digest)
                except Exception as error:  # noqa: BLE001 - an authority may fail in any way; the next one is asked
                    failures.append(f"{authority.url}: {_reason(error)}")
        detail = "; ".join(failures) or "tsa_urls"
        raise no_timestamp(", ".join(authority.url for authority in self._authorities), Text(detail, detail))

    def _ask(self, authority: Authority, digest: bytes) -> bytes:
        from slaverify.evidence.pades import tokens

        nonce = secrets.randbits(63) | 1 << 63
        reply = authority.transport(tokens.build_request(digest, nonce))
        if len(reply) > MAX_ENVELOPE:
            raise ValueError("reply too long")
        kept = tokens.normal_reply(reply, digest, nonce)
        if self._roots and (problems := token_problems(tokens.reply_facts(kept, digest, self._roots), ())):
            raise ValueError(", ".join(problems))
        return kept


class TokenReader:
    """Reads the time of a stored reply. Custody's port `TimestampVerifier`."""

    def time(self, data: bytes, tsr: bytes, roots_pem: Sequence[str]) -> TokenTime:
        """Return the time of `tsr`, a valid reply over SHA-256(`data`) by an authority under one of the roots.

        Raises: EvidenceError SLV-E014.
        """
        from slaverify.evidence.pades import tokens

        try:
            facts = tokens.reply_facts(tsr, sha256(data).digest(), tuple(roots_pem))
            problem = ", ".join(token_problems(facts, ()))
        except Exception as error:  # noqa: BLE001 - bytes from anybody; whatever the parsers raise means the same
            problem = f"{type(error).__name__}: {error}"[:200]
        if problem:
            raise EvidenceError(
                "SLV-E014",
                Text("el sello de tiempo no es válido", "the timestamp is not valid"),
                why=Text(problem, problem),
            )
        return TokenTime(facts.at, facts.accuracy_ms or 0)


def _reason(error: Exception) -> str:
    text = error.what.en if isinstance(error, SlaverifyError) else str(error)
    return f"{type(error).__name__} {text}"[:200].strip()
