"""Commitments, seed and tickets of a draw.

Source: docs/spec/ledger.md (draw).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

ARMS = ("fresh", "anchor", "twin", "probe", "spot_check")
"""The arms of a sample; only `fresh` feeds metrics."""
NO_CONTRACT = "sha256:" + "00" * 32
"""What a spot check before signature puts in the contract's place, with run 0."""


def digest_bytes(digest: str) -> bytes:
    """Return the 32 bytes of `sha256:<hex>`. Raises: ValueError."""
    kind, _, value = digest.partition(":")
    raw = bytes.fromhex(value)
    if kind != "sha256" or len(raw) != 32:
        raise ValueError("not a digest")
    return raw


def draw_commitment(role: str, contract_digest: str, run: int, nonce: bytes) -> bytes:
    """Return what a party commits to before anybody reveals (32 bytes)."""
    return hashlib.sha256(
        b"slaverify/draw-commit/v1\x00" + role.encode() + b"\x00" + digest_bytes(contract_digest) + _u64(run) + nonce
    ).digest()


def draw_seed(
    root: bytes, contract_digest: str, run: int, nonces: Mapping[str, bytes], beacon: bytes | None = None
) -> bytes:
    """Return the seed (32 bytes): of the bank, the contract, the run, the revealed nonces and the beacon."""
    told = b"".join(
        bytes([len(role.encode())]) + role.encode() + nonce
        for role, nonce in sorted(nonces.items(), key=lambda pair: pair[0].encode())
    )
    light = b"\x00" if beacon is None else b"\x01" + beacon
    return hashlib.sha256(
        b"slaverify/draw/v1\x00"
        + root
        + digest_bytes(contract_digest)
        + _u64(run)
        + bytes([len(nonces)])
        + told
        + light
    ).digest()


def ticket(seed: bytes, arm: str, item_id: str) -> bytes:
    """Return the ticket (32 bytes) by which an item is sorted in an arm."""
    return hmac.digest(seed, arm.encode() + b"\x00" + item_id.encode(), "sha256")


def _u64(number: int) -> bytes:
    return number.to_bytes(8, "big")
