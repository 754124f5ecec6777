"""The spot check: items that the counterparty's nonce chooses are opened to both sides before the contract is signed.

Source: docs/spec/ledger.md (spot check).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from slaverify.custody.commitments import Leaf
from slaverify.custody.entries import Entry
from slaverify.custody.faults import fault
from slaverify.custody.index import Index
from slaverify.custody.seeds import NO_CONTRACT, draw_seed, ticket
from slaverify.custody.shapes import integers
from slaverify.custody.view import LedgerView


def spot_items(index: Index, role: str, nonce: bytes, k: int) -> tuple[Leaf, ...]:
    """Return the first `k` leaves of the whole index by ticket, in ticket order.

    Raises: CustodyError SLV-K050 if the bank has fewer.
    """
    if not 0 < k <= len(index.leaves):
        raise fault(50, f"el banco tiene {len(index.leaves)} ítems", f"the bank has {len(index.leaves)} items")
    seed = draw_seed(index.root, NO_CONTRACT, 0, {role: nonce})
    return tuple(sorted(index.leaves, key=lambda leaf: (ticket(seed, "spot_check", leaf.id), leaf.id))[:k])


def check_spot_checks(index: Index, view: LedgerView) -> None:
    """Refuse a spot check whose items are not those that its nonce chooses. Raises: CustodyError SLV-K053."""
    for entry in view.find_all("spot_check"):
        if chosen_by(entry) is None:
            continue
        role, nonce = chosen_by(entry) or ("", b"")
        items = integers(entry.data, "items")
        if sorted(leaf.i for leaf in spot_items(index, role, nonce, len(items))) != list(items):
            raise fault(
                53,
                "la inspección no abrió los ítems que el número elige",
                "the spot check did not open the items that the nonce chooses",
                where=f"ledger.jsonl:{entry.seq + 1}",
            )


def chosen_by(entry: Entry) -> tuple[str, bytes] | None:
    """Return role and nonce of a spot check, or None if it does not say who chose."""
    role, nonce = entry.data.get("role"), entry.data.get("nonce")
    if not isinstance(role, str) or not isinstance(nonce, str) or len(nonce) != 64:
        return None
    try:
        return role, bytes.fromhex(nonce)
    except ValueError:
        return None


def bad_rate_bound(bank_size: int, opened: int, findings: int) -> Fraction:
    """Return the largest share of bad items of the bank that `findings` in `opened` do not exclude at 95 %, one-sided.

    Exact hypergeometric. Raises: ValueError for counts outside their range.
    """
    if not 0 <= findings <= opened <= bank_size or opened == 0:
        raise ValueError("counts out of range")
    low, high = findings, bank_size - (opened - findings)
    while low < high:
        middle = (low + high + 1) // 2
        if _at_most(bank_size, middle, opened, findings) > Fraction(5, 100):
            low = middle
        else:
            high = middle - 1
    return Fraction(low, bank_size)


def _at_most(bank_size: int, bad: int, opened: int, findings: int) -> Fraction:
    ways = sum(comb(bad, x) * comb(bank_size - bad, opened - x) for x in range(findings + 1))
    return Fraction(ways, comb(bank_size, opened))
