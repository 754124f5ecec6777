"""The table of faults is the one of the specification, and no fault is without its row."""

from __future__ import annotations

import re
from pathlib import Path

from slaverify.contract.words import Outcome
from slaverify.engine import Fault, Retry
from slaverify.engine.faults import WAYS

SPEC = Path(__file__).resolve().parents[2] / "docs" / "spec" / "run.md"
RETRY = {"backoff": Retry.BACKOFF, "once": Retry.ONCE, "never": Retry.NEVER, "stop": Retry.STOP}
AGAIN = {Fault.INTERRUPTED, Fault.INTERNAL}
"""`again, not counted`: the auditor's own, sent again by the runner and not by the class of the fault."""


def rows() -> dict[Fault, tuple[str, str]]:
    """Return (another attempt, outcome) of each fault as the specification writes them."""
    section = SPEC.read_text(encoding="utf-8").split("## Faults")[1].split("\n## ")[0]
    found: dict[Fault, tuple[str, str]] = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or not cells[0].startswith("`"):
            continue
        words = [word for part in re.findall(r"`([a-z_ ]+)`", cells[0]) for word in part.split()]
        outcomes = re.findall(r"`([a-z_]+)`", cells[2])
        for place, word in enumerate(words):
            outcome = outcomes[min(place, len(outcomes) - 1)] if outcomes else cells[2]
            assert Fault(word) not in found, word
            found[Fault(word)] = (cells[1], outcome)
    return found


def test_the_table_is_that_of_the_specification():
    said = rows()
    assert set(said) == set(Fault) == set(WAYS)
    for fault, (retry, outcome) in said.items():
        way = WAYS[fault]
        if fault not in AGAIN:
            assert way.retry is RETRY[re.split(r"[ ,]", retry)[0]], fault
        if outcome == "by the control probe":
            assert way.outcome is Outcome.UNRESOLVED, fault
        elif not outcome.startswith("of whoever"):
            assert way.outcome.value == outcome, fault


def test_each_fault_stands_once():
    from slaverify.engine.faults import _ROWS

    named = [fault for _, _, faults in _ROWS for fault in faults]
    assert sorted(named) == sorted(Fault)
