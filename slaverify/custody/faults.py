"""The refusals of this room: one place that knows which exit code belongs to which SLV-K number.

Source: docs/spec/ledger.md and docs/spec/bank.md (table of errors).
"""

from __future__ import annotations

from slaverify.errors import NOTHING, CustodyError, Text

_EXIT = {
    **dict.fromkeys(range(1, 6), 2),
    **dict.fromkeys((10, 11, 12, 13, 14, 15, 18, 50, 70, 71), 5),
    **dict.fromkeys((16, 17), 4),
    **dict.fromkeys((20, 21, 22, 23, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34), 4),
    **dict.fromkeys((24, 44), 3),
    **dict.fromkeys((40, 41, 42, 43, 45, 51, 52, 53, 54, 55, 60, 61), 4),
    72: 6,
}
_WHEN_ACTING = {"SLV-K040", "SLV-K041", "SLV-K045"}


def fault(number: int, es: str, en: str, *, where: str = "", why: Text = NOTHING, fix: Text = NOTHING) -> CustodyError:
    """Return the refusal SLV-K<number> with the exit code that the table of errors gives it."""
    return CustodyError(f"SLV-K{number:03d}", Text(es, en), where=where, why=why, fix=fix, exit_code=_EXIT[number])


def acting(error: CustodyError) -> CustodyError:
    """Give a refusal met while acting (not while reading evidence) its exit code: K040, K041 and K045 end in 5."""
    if error.code in _WHEN_ACTING:
        error.exit_code = 5
    return error
