"""Ed25519: the one place that asks the library.

Source: RFC 8032.
"""

from __future__ import annotations

from typing import Protocol

from slaverify.canonical import sha256_hex


class SigningKey(Protocol):
    """Whoever holds an Ed25519 private key."""

    @property
    def public(self) -> bytes:
        """The raw public key, 32 bytes."""

    def sign(self, data: bytes) -> bytes:
        """Return the signature, 64 bytes."""


def verifies(public: bytes, signature: bytes, data: bytes) -> bool:
    """Tell whether `signature` is one of `data` under the raw public key."""
    if len(public) != 32 or len(signature) != 64:
        return False
    # Only here: a run that writes its journal makes no signature, and the library weighs 6 MB.
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def key_id(public: bytes) -> str:
    """Return the id of a key in the ledger: SHA-256 of the raw public key, hex."""
    return sha256_hex(public)
