"""When a run may send: the window and the announced maintenance of the contract. Pure.

Source: docs/spec/contract.md section 2 (`schedule.window`, `failed_calls.maintenance`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from slaverify.contract import Contract
from slaverify.run.conversation import Conversation

SPREAD_SHARE = 0.95
"""Share of its time over which the first attempts of a run are spread (convention)."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, `until` excluded."""

    start: datetime
    until: datetime

    def holds(self, moment: datetime) -> bool:
        """Say whether `moment` lies inside."""
        return self.start <= moment < self.until


@dataclass(frozen=True, slots=True)
class RunRules:
    """Limits of a run in time, and who carries its exchanges on.

    `deadline` is the longest that a run may stay open after its start; `conversation` is null where an exchange has
    one turn; `ceiling_ms` the latency above which an answer counts for the pattern `latency_ceiling`, milliseconds.
    """

    window: Span | None = None
    maintenance: tuple[Span, ...] = ()
    deadline: timedelta = timedelta(hours=72)
    on_mismatch: str = "invalid_run"
    spread: bool = False
    ceiling_ms: int | None = None
    conversation: Conversation | None = field(default=None, repr=False, compare=False)

    def due(self, started: datetime, share: float) -> datetime | None:
        """Return the moment of a share (0 to 1) of the time of a run that is spread; None where it is not.

        That time ends where the run does: with the window, or after `deadline`. Its last twentieth is left to retries.
        """
        if not self.spread:
            return None
        first = started if self.window is None else max(started, self.window.start)
        return first + share * SPREAD_SHARE * max(timedelta(0), self.ends(started) - first)

    def ends(self, started: datetime) -> datetime:
        """Return the moment from which nothing is sent."""
        last = started + self.deadline
        return last if self.window is None else min(last, self.window.until)

    def outside(self, started_at: str, ended_at: str | None) -> bool:
        """Say whether an attempt lay outside the window, in whole or in part."""
        if self.window is None:
            return False
        times = [moment(started_at), *([] if ended_at is None else [moment(ended_at)])]
        return any(not self.window.holds(time) for time in times)


def rules_of(contract: Contract) -> RunRules:
    """Return the limits in time of a contract's runs."""
    window, ceiling = contract.schedule.window, contract.verdict.integrity.latency_ceiling_s
    return RunRules(
        window=None if window is None else Span(moment(window.from_), moment(window.to)),
        maintenance=tuple(Span(moment(span.from_), moment(span.to)) for span in contract.failed_calls.maintenance),
        deadline=timedelta(hours=contract.ledger.deadline_hours),
        on_mismatch=contract.engine.on_mismatch,
        spread=contract.schedule.spread,
        ceiling_ms=None if ceiling is None else int(ceiling * 1000),
    )


def moment(text: str) -> datetime:
    """Return the aware UTC moment of an RFC 3339 text with offset. Raises: ValueError."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError("a time without offset")
    return value.astimezone(UTC)


def stamp(value: datetime) -> str:
    """Return a moment as attempts write it: UTC with milliseconds."""
    inside = value if value.tzinfo is UTC else value.astimezone(UTC)
    return inside.isoformat(timespec="milliseconds")[:-6] + "Z"
