"""The signature ports of the room: what a party signs is the JCS bytes of a frozen contract.

Implemented elsewhere (CMS and SSH signatures) and handed in; nothing here reads a file or a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from slaverify.contract.words import Role

SIGNATURE_NAMESPACE = "slaverify-contract"
"""Namespace of `ssh-keygen -Y sign -n` for a contract."""


@dataclass(frozen=True, slots=True)
class PartySignature:
    """A detached signature as it stands beside the contract: bytes of the file, kind, and token if any."""

    role: Role
    kind: Literal["cms", "sshsig"]
    signature: bytes
    token: bytes | None = None


@dataclass(frozen=True, slots=True)
class SignatureFinding:
    """What a verifier found: the key that signed, when (by the token), and why it is refused, if it is."""

    role: Role
    valid: bool
    key: str
    signed_at: datetime | None
    reason: str | None


class SignatureVerifier(Protocol):
    """Checks a party's detached signature against the keys that the contract pins."""

    def verify(self, data: bytes, signature: PartySignature, pinned: tuple[str, ...]) -> SignatureFinding:
        """Return what was found for `data`; bytes that are no signature are a finding, never an exception.

        `pinned` holds SPKI digests (hex) or SSH public keys.
        """
        ...


class Signer(Protocol):
    """Makes a party's detached signature."""

    def sign(self, data: bytes, role: Role) -> PartySignature:
        """Return the detached signature of `role` over `data`. Raises: SlaverifyError if the key cannot be used."""
        ...
