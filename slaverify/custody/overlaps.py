"""Who may not be who: the vendor is neither custodian nor auditor, unless it checks itself.

Source: docs/spec/ledger.md (keys and roles).
"""

from __future__ import annotations

from collections.abc import Iterable

from slaverify.custody.faults import fault
from slaverify.custody.register import RegisteredKey
from slaverify.custody.terms import Terms

_KEEPERS = ("custodian", "auditor")


def same_organisation(one: str, other: str) -> bool:
    """Tell whether two names are of one organisation, but for case and spaces."""
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def check_overlaps(terms: Terms, keys: Iterable[RegisteredKey]) -> None:
    """Refuse a contract whose vendor is its custodian or auditor, by organisation or by key.

    Raises: CustodyError SLV-K005. A self-check passes.
    """
    if terms.self_check:
        return
    vendor = terms.parties.get("vendor", "")
    held = list(keys)
    names = [terms.parties.get(role, "") for role in _KEEPERS]
    names += [key.organisation for key in held if set(key.roles) & set(_KEEPERS)]
    both = [key for key in held if "vendor" in key.roles and set(key.roles) & set(_KEEPERS)]
    if both or any(same_organisation(vendor, name) for name in names if name):
        raise fault(
            5,
            f"{vendor} es proveedor y también custodio o auditor",
            f"{vendor} is the vendor and also custodian or auditor",
            where="parties",
        )
