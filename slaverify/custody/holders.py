"""Who holds the bank, without a gap: every act that needs the package is by the holder of that moment.

Whoever sealed the bank holds it first; a `custody_transfer` signed by the holder and a receiver moves it. A delivery,
opening or spot check by somebody else, or a transfer by who does not hold it, means an interval that nobody accounts
for (SLV-K060). Keys of one organisation hold together.

Source: docs/spec/ledger.md (chain of custody).
"""

from __future__ import annotations

from slaverify.custody.entries import Entry
from slaverify.custody.faults import fault
from slaverify.custody.overlaps import same_organisation
from slaverify.custody.view import LedgerView

_ACTS = ("delivery", "item_opened", "spot_check", "deposit")


def check_holders(view: LedgerView) -> str:
    """Return the organisation that holds the bank now. Raises: CustodyError SLV-K060."""
    holder = ""
    for entry in view:
        if entry.type == "bank_sealed":
            holder = _organisation(view, entry, 0)
        elif entry.type == "custody_transfer":
            _require(view, entry, holder)
            holder = _organisation(view, entry, len(entry.sigs) - 1)
        elif entry.type in _ACTS:
            _require(view, entry, holder)
    return holder


def _organisation(view: LedgerView, entry: Entry, position: int) -> str:
    return view.keys[entry.sigs[position][0]].organisation


def _require(view: LedgerView, entry: Entry, holder: str) -> None:
    found = _organisation(view, entry, 0)
    if not same_organisation(found, holder):
        raise fault(
            60,
            f"{entry.type} de {found}, cuando el banco lo tenía {holder or 'nadie'}: falta una entrega de custodia",
            f"{entry.type} by {found} while {holder or 'nobody'} held the bank: a custody transfer is missing",
            where=f"ledger.jsonl:{entry.seq + 1}",
        )
