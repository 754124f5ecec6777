"""Blind entries: a commitment in the ledger whose content is told later, so that cosigning warns nobody.

Source: docs/spec/ledger.md (blind starts).
"""

from __future__ import annotations

import hmac

from slaverify.custody.faults import fault
from slaverify.custody.shapes import integer
from slaverify.custody.view import LedgerView


def blind_commitment(salt: bytes, content: bytes) -> bytes:
    """Return the commitment (32 bytes) to `content`, the JCS of {type, data}."""
    return hmac.digest(salt, b"slaverify/blind/v1\x00" + content, "sha256")


def check_blinds_opened(view: LedgerView) -> None:
    """Refuse a ledger that holds a blind entry nobody opened. Raises: CustodyError SLV-K042."""
    opened = {integer(entry.data, "seq") for entry in view.find_all("unblind")}
    closed = [entry.seq for entry in view.find_all("blind") if entry.seq not in opened]
    if closed:
        raise fault(
            42,
            f"entradas ciegas sin abrir: {', '.join(map(str, closed))}",
            f"blind entries not opened: {', '.join(map(str, closed))}",
            where=f"ledger.jsonl:{closed[0] + 1}",
        )
