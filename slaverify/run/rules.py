"""When a run may send: the window and the announced maintenance of the contract. Pure.

Source: docs/spec/contract.md section 2 (`schedule.window`, `failed_calls.maintenance`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from slaverify.contract import Contract


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
    """Limits of a run in time; `deadline` is the longest that a run may stay open after its start."""

    window: Span | None = None
    maintenance: tuple[Span, ...] = ()
    deadline: timedelta = timedelta(hours=72)
    on_mismatch: str = "invalid_run"

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
    window = contract.schedule.window
    return RunRules(
        window=None if window is None else Span(moment(window.from_), moment(window.to)),
        maintenance=tuple(Span(moment(span.from_), moment(span.to)) for span in contract.failed_calls.maintenance),
        deadline=timedelta(hours=contract.ledger.deadline_hours),
        on_mismatch=contract.engine.on_mismatch,
    )


def moment(text: str) -> datetime:
    """Return the aware UTC moment of an RFC 3339 text with offset. Raises: ValueError."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError("a time without offset")
    return value.astimezone(UTC)


def stamp(value: datetime) -> str:
    """Return a moment as attempts write it: UTC with milliseconds."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03d}Z"
