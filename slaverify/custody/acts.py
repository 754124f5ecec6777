"""What a custodian does outside a run, one function each: deposit, transfer, rotation, drill, destruction, disputes.

Each function may be called again: where the same entry stands already it is returned and nothing is written.

Not pure: a second door.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import file_digest

from slaverify.canonical import JsonValue
from slaverify.custody.entries import Entry
from slaverify.custody.faults import fault
from slaverify.custody.keys import PartyKey
from slaverify.custody.ledger_file import LedgerFile
from slaverify.custody.levels import DRILL_PASSED
from slaverify.custody.manifest import Bank
from slaverify.custody.shapes import time_text


def record_deposit(ledger: LedgerFile, custodian: PartyKey, bank: Bank, *, place: str, medium: str) -> Entry:
    """Record where a copy of the bank lies, after measuring the ciphertext again.

    Raises: CustodyError SLV-K011 if it is not the sealed file.
    """
    data: dict[str, JsonValue] = {"place": place, "medium": medium, "ciphertext_sha256": measured(ledger, bank)}
    return ledger.append("deposit", data, [custodian])


def measured(ledger: LedgerFile, bank: Bank) -> str:
    """Return the SHA-256 (hex) of `bank.age` as it lies now. Raises: CustodyError SLV-K011."""
    path = ledger.folder / "bank.age"
    with path.open("rb") as stream:
        found = file_digest(stream, "sha256").hexdigest()
    if found != bank.manifest.ciphertext_sha256:
        raise fault(11, "bank.age no es el archivo sellado", "bank.age is not the sealed file", where=str(path))
    return found


def record_transfer(
    ledger: LedgerFile, giver: PartyKey, receiver: PartyKey, bank: Bank, *, purpose: str, clause: str
) -> Entry:
    """Record that the bank changed hands, signed by both, with the digest measured at that moment."""
    data: dict[str, JsonValue] = {"file_sha256": measured(ledger, bank), "purpose": purpose, "clause": clause}
    return ledger.append("custody_transfer", data, [giver, receiver])


def record_rotation(ledger: LedgerFile, custodian: PartyKey, *, old: str, new: str) -> Entry:
    """Record that a new bank takes the place of an old one; the old digest stays good for old reports."""
    return ledger.append("bank_rotated", {"old_digest": old, "new_digest": new}, [custodian])


def record_drill(ledger: LedgerFile, custodian: PartyKey, *, what: str, now: datetime) -> Entry:
    """Record a recovery drill that opened its envelope; each drill is an entry of its own."""
    data = {"what": f"{what}, {time_text(now)}", "result": DRILL_PASSED}
    return ledger.append("drill", data, [custodian])


def record_destruction(ledger: LedgerFile, custodian: PartyKey, *, what: str, method: str, clause: str) -> Entry:
    """Record that identities and shares were destroyed; manifest, index and ledger stay."""
    return ledger.append("destruction", {"what": what, "method": method, "clause": clause}, [custodian])


def record_spot_check(
    ledger: LedgerFile,
    custodian: PartyKey,
    *,
    items: Sequence[int],
    role: str,
    nonce: bytes,
    findings: int | None = None,
) -> Entry:
    """Record the leaf numbers opened before signature, and the nonce that chose them: anybody can choose again."""
    data: dict[str, JsonValue] = {"items": sorted(set(items)), "role": role, "nonce": nonce.hex()}
    if findings is not None:
        data["findings"] = findings
    return ledger.append("spot_check", data, [custodian])


def record_dispute(
    ledger: LedgerFile, party: PartyKey, contract_digest: str, run: int, *, item: str, part: str, role: str, claim: str
) -> Entry:
    """Record that a party disputes an item. Of the claim only what the party lets everybody read."""
    data: dict[str, JsonValue] = {
        "contract_digest": contract_digest,
        "run": run,
        "item": item,
        "part": part,
        "role": role,
        "claim": claim,
    }
    return ledger.append("dispute", data, [party])


def record_resolution(
    ledger: LedgerFile, adjudicator: PartyKey, contract_digest: str, run: int, *, item: str, outcome: str, reason: str
) -> Entry:
    """Record what the adjudicator made of a dispute: `upheld` or `rejected`."""
    data: dict[str, JsonValue] = {
        "contract_digest": contract_digest,
        "run": run,
        "item": item,
        "outcome": outcome,
        "reason": reason,
    }
    return ledger.append("dispute_resolved", data, [adjudicator])
