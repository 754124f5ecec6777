"""Read the envelope of a bundle, and a party's detached signature of a contract, into facts.

Source: RFC 5652, RFC 3161; docs/spec/bundle.md section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from typing import TypeVar

from slaverify.evidence.layout import MAX_ENVELOPE
from slaverify.evidence.pades.certificates import signer_roots
from slaverify.evidence.pades.shape import Kind, read_frame
from slaverify.evidence.pades.tokens import reply_facts
from slaverify.evidence.pades.validation import SIGNER_USAGE, judge
from slaverify.evidence.signature_facts import CmsFacts, EnvelopeFacts, Pins

_Fact = TypeVar("_Fact")


def envelope_facts(manifest: bytes, signature: bytes | None, reply: bytes | None, pins: Pins | None) -> EnvelopeFacts:
    """Read `manifest.p7s` over the exact bytes of the manifest, and `manifest.tsr` over that signature.

    Never raises for what the files hold. Without `pins` nothing is trusted.
    """
    broken: dict[str, str] = {}

    def serve(part: str, read: Callable[[], _Fact]) -> _Fact | None:
        try:
            return read()
        except Exception as error:  # noqa: BLE001 - bytes from anybody: whatever is raised, this part is not valid
            broken[part] = f"{type(error).__name__}: {error}"[:200]
            return None

    if signature is None or reply is None:
        missing = {name: "missing" for name, data in (("cms", signature), ("token", reply)) if data is None}
        broken.update(missing)
    signed, answered = signature or b"", reply or b""
    roots = () if pins is None else pins.tsa_roots
    token = serve("token", lambda: reply_facts(_short(answered), sha256(signed).digest(), roots)) if reply else None
    moment = None if token is None else token.at
    cms = serve("cms", lambda: detached_facts(manifest, _short(signed), pins, moment)) if signature else None
    return EnvelopeFacts(cms, token, broken)


def detached_facts(data: bytes, signature: bytes, pins: Pins | None, moment: datetime | None) -> CmsFacts:
    """Read a detached CMS over `data` as `sign_manifest` writes it. Raises whatever the parsers raise."""
    frame = read_frame(signature, Kind.ENVELOPE)
    return judge(
        signature,
        frame,
        digest=sha256(data).digest(),
        roots=signer_roots(frame.certificates, pins),
        moment=moment,
        usage=SIGNER_USAGE,
        pinned=() if pins is None else pins.auditor_certificates,
    )


def _short(data: bytes) -> bytes:
    if len(data) > MAX_ENVELOPE:
        raise ValueError("too long")
    return data
