"""Disputes: what the ledger says of them, and what becomes of a verdict while items are disputed.

Boundary: anybody with a registered key can write entries; what was not disputed cannot be resolved, nothing is
resolved twice, and where the contract pins an adjudicator's key no other decides.

Source: docs/spec/ledger.md (disputes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from slaverify.custody.entries import Entry
from slaverify.custody.faults import fault
from slaverify.custody.runs import RunRecord
from slaverify.custody.shapes import optional_text, text

OPEN, UPHELD, REJECTED = "open", "upheld", "rejected"


@dataclass(frozen=True, slots=True)
class Dispute:
    """One disputed item: who disputes it, the digest of the claim, since when, and its state."""

    item: str
    part: str
    role: str
    claim: str
    time: str
    seq: int
    state: str = OPEN
    resolved: int | None = None
    """The entry that resolved it."""


def disputes_of(record: RunRecord, adjudicator: str | None = None) -> tuple[Dispute, ...]:
    """Return the disputes of a run in order; `adjudicator` is the key id that alone may decide, if one is pinned.

    An item that both sides dispute is one dispute: what is decided of it holds for both.
    Raises: CustodyError SLV-K023 (resolved by another key), SLV-K040 (resolved without a dispute, or twice).
    """
    found: dict[str, Dispute] = {}
    entries = sorted((*record.all("dispute"), *record.all("dispute_resolved")), key=lambda entry: entry.seq)
    for entry in entries:
        item = text(entry.data, "item")
        if entry.type == "dispute":
            found.setdefault(item, _opened(entry, item))
            continue
        known = found.get(item)
        if known is None or known.state != OPEN:
            raise fault(
                40,
                f"se resuelve una disputa de {item} que no está abierta",
                f"a dispute over {item} is resolved that is not open",
                where=f"ledger.jsonl:{entry.seq + 1}",
            )
        if adjudicator is not None and entry.actor != adjudicator:
            raise fault(
                23,
                "no resolvió quien el contrato nombra",
                "not resolved by whom the contract names",
                where=f"ledger.jsonl:{entry.seq + 1}",
            )
        found[item] = replace(known, state=text(entry.data, "outcome"), resolved=entry.seq)
    return tuple(found.values())


def _opened(entry: Entry, item: str) -> Dispute:
    return Dispute(
        item=item,
        part=text(entry.data, "part"),
        role=optional_text(entry.data, "role") or "",
        claim=optional_text(entry.data, "claim") or "",
        time=entry.time,
        seq=entry.seq,
    )


def rulings(disputes: Sequence[Dispute]) -> dict[str, str]:
    """Return by item what the decision makes of the disputes: those that were upheld leave the count."""
    return {one.item: UPHELD for one in disputes if one.state == UPHELD}


def dispute_state(as_scored: str, all_for_vendor: str, all_against_vendor: str) -> tuple[str, str | None]:
    """Return (state, reason): the state as scored if no dispute could move it, else INCONCLUSIVE.

    Each argument is a state of the decision: as scored, with all disputed items for the vendor, with all against.
    """
    if as_scored == all_for_vendor == all_against_vendor:
        return as_scored, None
    return "INCONCLUSIVE", "dispute_sensitive"
