"""Disputes: what becomes of a verdict while items are disputed.

Source: docs/spec/ledger.md (disputes).
"""

from __future__ import annotations


def dispute_state(as_scored: str, all_for_vendor: str, all_against_vendor: str) -> tuple[str, str | None]:
    """Return (state, reason): the state as scored if no dispute could move it, else INCONCLUSIVE.

    Each argument is a state of the decision: as scored, with all disputed items for the vendor, with all against.
    """
    if as_scored == all_for_vendor == all_against_vendor:
        return as_scored, None
    return "INCONCLUSIVE", "dispute_sensitive"
