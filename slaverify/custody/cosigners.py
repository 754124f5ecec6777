"""Who signed a checkpoint besides its log: the witnesses that a contract names, each key once.

Boundary: cosignatures were judged with the note (SLV-K029); SSH signatures lie beside it and are judged here
(SLV-K030). An SSH signature tells no time.

Source: docs/spec/ledger.md (checkpoints and anchors).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from slaverify.custody.note import VerifiedCheckpoint, parse_vkey, slug
from slaverify.custody.sshsig import ssh_public_key, verify_sshsig
from slaverify.custody.terms import Terms, Witness

COSIGNATURE, SSHSIG = "cosignature", "sshsig"
UNTIMED = datetime(9000, 1, 1, tzinfo=UTC)
"""The `now` of a derivation without a clock: no cosignature is ahead of it. Whoever verifies gives the present."""
KEEPERS = ("custodian", "auditor", "author")
"""Witnesses of these roles oppose nobody."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A witness of the contract that signed: name and role as the contract writes them, how, and when (Unix s)."""

    name: str
    role: str
    kind: str
    at: int | None


def signers(proven: VerifiedCheckpoint, terms: Terms, ssh_signatures: Mapping[str, str]) -> tuple[Signer, ...]:
    """Return the witnesses whose signature of `proven` holds, in the contract's order; one key counts once.

    `ssh_signatures` are armoured texts by the witness's name, or by its slug as in file names.
    Raises: CustodyError SLV-K030 for an SSH signature that does not hold.
    """
    found: dict[bytes, Signer] = {}
    for witness in terms.witnesses:
        for key, one in _of(witness, proven, ssh_signatures):
            # A time is worth more than none: a cosignature takes the place of an SSH signature by the same key.
            if key not in found or (found[key].at is None and one.at is not None):
                found[key] = one
    return tuple(found.values())


def _of(witness: Witness, proven: VerifiedCheckpoint, ssh_signatures: Mapping[str, str]) -> list[tuple[bytes, Signer]]:
    found = []
    signature = ssh_signatures.get(witness.name, ssh_signatures.get(slug(witness.name)))
    if witness.ssh is not None and signature is not None:
        verify_sshsig(proven.body, witness.ssh, signature)
        found.append((ssh_public_key(witness.ssh), Signer(witness.name, witness.role, SSHSIG, None)))
    if witness.vkey is not None:
        key = parse_vkey(witness.vkey)
        at = proven.cosigned_at.get(key.name)
        if at is not None:
            found.append((key.public, Signer(witness.name, witness.role, COSIGNATURE, at)))
    return found
