"""What comparing an answer part by part finds."""

from __future__ import annotations

from dataclasses import dataclass

from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.result import RuleTrace, decided


@dataclass(frozen=True, slots=True)
class Parts:
    """The whole answer's correctness, one result a part, and how many parts are wrong (>= 0)."""

    correctness: Correctness
    traces: tuple[RuleTrace, ...]
    errors: int
    flags: tuple[str, ...] = ()


def part(
    rule: str, correctness: Correctness, reason: Reason, name: str, *, got: str | None = None, due: str | None = None
) -> RuleTrace:
    """Return the result of one part; its name goes to the trace alone, which is not public."""
    return RuleTrace(
        rule=rule,
        status=decided(correctness),
        correctness=correctness,
        reason=reason,
        extracted=got,
        canonical_reference=due,
        part=name,
    )
