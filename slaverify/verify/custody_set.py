"""What the steps of V18 share once the ledger itself holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slaverify.contract import LoadedContract
from slaverify.custody import Bank, Draw, LedgerView, RunRecord, Terms
from slaverify.evidence import Bundle, Header


@dataclass(frozen=True)
class CustodySet:
    """A verified ledger with the terms it was verified by, and what later steps proved of bank and draw."""

    bundle: Bundle
    header: Header
    contract: LoadedContract
    terms: Terms
    view: LedgerView
    run: RunRecord
    bank: Bank | None = None
    draw: Draw | None = None

    def with_bank(self, bank: Bank) -> CustodySet:
        """Return the set with its bank."""
        return replace(self, bank=bank)

    @property
    def known_bank(self) -> Bank:
        """The bank. Raises: ValueError before it was checked."""
        if self.bank is None:
            raise ValueError("the bank was not checked")
        return self.bank

    @property
    def known_draw(self) -> Draw:
        """The draw. Raises: ValueError before it was computed."""
        if self.draw is None:
            raise ValueError("the draw was not computed")
        return self.draw
