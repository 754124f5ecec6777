"""When a run that the vendor blocks may be closed before its deadline. Pure.

One refusal may be an accident of either side, so it proves nothing: the vendor has to have turned the run away again
and again, over a time in which somebody could have opened the door.

Source: docs/spec/run.md, section "Close".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from slaverify.canonical import JsonObject
from slaverify.contract.words import Outcome
from slaverify.engine import STOPPING, EndpointSpec, Fault, fault_outcome
from slaverify.run.rules import moment

STOPS = 3
"""How often in a row the vendor has to have stopped the run (convention)."""
SPAN = timedelta(hours=1)
"""Shortest time between the first and the last of them (convention)."""


@dataclass(frozen=True, slots=True)
class Block:
    """How often in a row, over which time, and by which fault a run was last stopped by the vendor."""

    stops: int
    span: timedelta
    fault: str

    @property
    def stands(self) -> bool:
        """Say whether this is enough to close the run."""
        return self.stops >= STOPS and self.span >= SPAN


def block_of(spec: EndpointSpec, stops: Sequence[tuple[str, JsonObject]]) -> Block:
    """Return the block that a journal tells of; `stops` are (time, detail) of its events `stop`, in order."""
    last: list[str] = []
    fault = ""
    for at, detail in stops:
        reason = str(detail.get("reason"))
        if _vendors(spec, reason):
            last.append(at)
            fault = reason
        else:
            last.clear()
    span = moment(last[-1]) - moment(last[0]) if last else timedelta(0)
    return Block(len(last), span, fault if last else "")


def _vendors(spec: EndpointSpec, reason: str) -> bool:
    if reason not in {fault.value for fault in STOPPING}:
        return False
    return fault_outcome(spec, Fault(reason)) is Outcome.VENDOR_FAILURE
