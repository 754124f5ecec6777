"""Detached CMS signatures of a contract by its parties: the port `SignatureVerifier` for CMS, and `Signer`.

Trust is the pinned key itself; a token beside the signature is reported only where it can be read.

Source: RFC 5652; docs/spec/contract.md (party signatures).
"""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256

from slaverify.contract import PartySignature, Role, SignatureFinding
from slaverify.evidence.envelope import SigningKey, sign_manifest
from slaverify.evidence.layout import MAX_ENVELOPE
from slaverify.evidence.pades.shape import Kind, read_frame
from slaverify.evidence.pades.tokens import reply_facts
from slaverify.evidence.pades.validation import SIGNER_USAGE, judge


class PartyReader:
    """Checks a detached CMS against pinned digests: of public keys and, beside them, of whole certificates."""

    def verify(self, data: bytes, signature: PartySignature, pinned: tuple[str, ...]) -> SignatureFinding:
        """Return what was found; bytes that are no signature are a finding, never an exception."""
        try:
            if len(signature.signature) > MAX_ENVELOPE:
                raise ValueError("too long")
            frame = read_frame(signature.signature, Kind.ENVELOPE)
            digest = sha256(data).digest()
            cms = judge(
                signature.signature, frame, digest=digest, roots=(), moment=None, usage=SIGNER_USAGE, pinned=pinned
            )
        except Exception as error:  # noqa: BLE001 - bytes from anybody: whatever is raised, it is no signature
            return SignatureFinding(signature.role, False, "", None, f"{type(error).__name__}: {error}"[:200])
        key = cms.signer.spki_sha256
        checks = (
            ("not of this contract", cms.intact),
            ("not by that key", cms.valid),
            ("by a key that the contract does not name", key in pinned),
            (f"not as written: {', '.join(cms.shape)}", not cms.shape),
            # A certificate of an authority that is not here: its digest, pinned, covers its other bytes.
            ("certificate not covered: pin its certificate_sha256", cms.vouched),
        )
        reason = next((words for words, holds in checks if not holds), None)
        return SignatureFinding(signature.role, reason is None, key, _time(signature), reason)


class PartySigner:
    """Makes a party's detached CMS with its signing key."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key

    def sign(self, data: bytes, role: Role) -> PartySignature:
        """Return the detached signature of `role` over `data`."""
        return PartySignature(role, "cms", sign_manifest(data, self._key))


def _time(signature: PartySignature) -> datetime | None:
    if signature.token is None:
        return None
    try:
        facts = reply_facts(signature.token, sha256(signature.signature).digest(), ())
    except Exception:  # noqa: BLE001 - an unreadable token gives no time, and fails nothing: the signature stands alone
        return None
    return facts.at if facts.imprint_matches and facts.cms.intact and facts.cms.valid else None
