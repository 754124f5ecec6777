"""The chain-of-custody checklist: what a reader may demand of whoever kept the evidence, and which entries answer it.

A demand that no entry answers is `absent`: it makes no claim. Wording of the demands: the report's catalogues and
docs/spec/ledger.md; paraphrased from ISO/IEC 27037, RFC 3227, SP 800-86, FRE 902(14) and UNE 71505 (*unverified*).

Source: docs/spec/ledger.md (checklist).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slaverify.canonical import loads_object
from slaverify.custody.blind import revealed
from slaverify.custody.entries import Entry
from slaverify.custody.holders import check_holders
from slaverify.custody.view import LedgerView
from slaverify.errors import CustodyError

DEMANDS: Mapping[str, tuple[str, ...]] = {
    "identifier": ("bank_sealed", "run_opened"),
    "access": ("deposit", "delivery", "item_opened", "spot_check", "exposure"),
    "authority": ("delivery", "custody_transfer"),
    "transfers": ("bank_sealed", "custody_transfer"),
    "changes": ("incident", "item_voided", "run_aborted", "draw_defaulted"),
    "everything": ("genesis",),
    "clock": (),
    "digests": ("bank_sealed", "deposit", "delivery", "custody_transfer"),
    "tools": ("run_started",),
    "complete": ("run_opened", "run_ended", "run_aborted"),
    "handlers": ("key_added",),
    "contemporaneous": ("run_started", "batch"),
    "disputes": ("dispute", "dispute_resolved"),
    "recovery": ("drill",),
    "retention": ("destruction",),
}
"""Each demand and the types of entry that answer it; `clock` is answered by entries whose offset was measured."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One demand: whether the ledger answers it, and with which entries."""

    name: str
    state: str
    """`met`, `absent` (no entry, no claim) or `broken` (the entries contradict it)."""
    evidence: tuple[int, ...]


def checklist(view: LedgerView) -> tuple[Demand, ...]:
    """Return every demand in the order of `DEMANDS`."""
    return tuple(_demand(view, name, kinds) for name, kinds in DEMANDS.items())


def _demand(view: LedgerView, name: str, kinds: tuple[str, ...]) -> Demand:
    found = [entry for entry in view if (_measured(entry) if name == "clock" else _kind(view, entry) in kinds)]
    seqs = tuple(entry.seq for entry in found)
    if name == "transfers" and not _held(view):
        return Demand(name, "broken", seqs)
    return Demand(name, "met" if seqs else "absent", seqs)


def _kind(view: LedgerView, entry: Entry) -> str:
    # A blind entry that was opened counts as what it hid.
    started = revealed(view.entries, entry) if entry.type == "unblind" else None
    return entry.type if started is None else started.type


def _measured(entry: Entry) -> bool:
    return loads_object(entry.line).get("clock_offset_ms") is not None


def _held(view: LedgerView) -> bool:
    try:
        check_holders(view)
    except CustodyError:
        return False
    return True
