"""Run the custody vectors against the installed version: `{format, v, room, cases: [{id, kind, input, expected}]}`.

`expected` holds outputs, or `{valid}`, or `{error, exit?}`. A vector that is malformed, of a kind that nobody knows,
or that breaks the room in any way but a refusal of its own, has failed.

Source: docs/spec/ledger.md (vectors) and the vector file itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slaverify.custody.vector_kinds import KINDS, NotPerformedError
from slaverify.errors import CustodyError
from slaverify.statistics.vectors import VectorOutcome, differences

_HEAD = ("slaverify/vectors", 1, "custody")


def is_custody(document: object) -> bool:
    """Tell whether a document is a file of custody vectors."""
    return isinstance(document, dict) and tuple(document.get(key) for key in ("format", "v", "room")) == _HEAD


def conformance(cases: Sequence[object]) -> tuple[VectorOutcome, ...]:
    """Run every case. Raises nothing."""
    return tuple(_outcome(case, number) for number, case in enumerate(cases))


def _outcome(case: object, number: int) -> VectorOutcome:
    if not isinstance(case, dict) or not isinstance(case.get("id"), str):
        return VectorOutcome(f"#{number}", "failed", ("not a vector",))
    name = str(case["id"])
    try:
        found = tuple(vector_differences(case))
    except NotPerformedError as reason:
        return VectorOutcome(name, "not_performed", (str(reason),))
    except Exception as error:  # noqa: BLE001 - a vector that breaks the room has failed, whatever broke
        found = (f"{type(error).__name__}: {error}"[:200],)
    return VectorOutcome(name, "failed" if found else "passed", found)


def vector_differences(case: Mapping[str, object]) -> list[str]:
    """Return one line per key that a vector expects and does not get; none if it passes.

    Raises: NotPerformedError, ValueError for a malformed vector.
    """
    kind, given, expected = case.get("kind"), case.get("input"), case.get("expected")
    run = KINDS.get(kind) if isinstance(kind, str) else None
    if run is None or not isinstance(given, dict) or not isinstance(expected, dict) or not expected:
        raise ValueError(f"not a vector of a known kind: {kind}")
    tolerance = case.get("tolerance", 0)
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float):
        raise ValueError("tolerance: a number is due")
    try:
        found = run(given)
    except CustodyError as error:
        return _refusal(expected, error)
    if "error" in expected:
        return [f"error: expected {expected['error']}, got {dict(found)!r}"[:300]]
    return differences(expected, found, float(tolerance))


def _refusal(expected: Mapping[str, object], error: CustodyError) -> list[str]:
    if expected.get("valid") is False:
        return []
    due = {"error": expected.get("error"), "exit": expected.get("exit", error.exit_code)}
    got = {"error": error.code, "exit": error.exit_code}
    return [f"{key}: expected {value}, got {got[key]}" for key, value in due.items() if value != got[key]]
