"""Whether another attempt follows a failed one, and after how long. Pure: chance is handed in.

Source: docs/spec/run.md, section "Retries"; RFC 9110 10.2.3 (Retry-After) and 5.6.7 (dates).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from slaverify.engine.faults import Fault, Retry, retry_class
from slaverify.engine.spec import CallRules

_SECONDS = re.compile(r"[0-9]{1,6}")
_DATE = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), ([0-9]{2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) ([0-9]{4}) "
    r"([0-9]{2}):([0-9]{2}):([0-9]{2}) GMT"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WITH_HEADER = frozenset({Fault.RATE_LIMITED, Fault.UNAVAILABLE})


class Move(StrEnum):
    """What follows an attempt."""

    DONE = "done"
    WAIT = "wait"
    PARK = "park"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Step:
    """What follows an attempt; `wait_s` seconds before the next one (WAIT), or until it may be sent at all (PARK)."""

    move: Move
    wait_s: float = 0.0
    from_header: bool = False


def next_step(
    call: CallRules, faults: Sequence[Fault | None], status: int | None, headers: Mapping[str, str], jitter: float
) -> Step:
    """Return what follows the last of `faults`, the faults of the vendor's attempts of one exchange in order.

    `jitter` in [0, 1) is the share of the random part of the wait.
    """
    fault = faults[-1]
    kind = retry_class(fault)
    if kind is Retry.STOP:
        return Step(Move.STOP)
    spent = len(faults)
    once = sum(1 for earlier in faults if retry_class(earlier) is Retry.ONCE)
    if kind is Retry.NEVER or spent >= call.attempts or (kind is Retry.ONCE and once > 1):
        return Step(Move.DONE)
    if fault in _WITH_HEADER and (status in (429, 503)):
        asked = retry_after_s(headers)
        if asked is not None:
            over = asked > call.retry_after_max_s
            return Step(Move.PARK if over else Move.WAIT, float(asked), from_header=True)
    return Step(Move.WAIT, backoff_s(call, spent, jitter))


def backoff_s(call: CallRules, spent: int, jitter: float) -> float:
    """Return the wait after `spent` attempts: base × 2^(spent-1) plus the random part, at most the cap. Seconds."""
    grown = float(call.base_s) * 2.0 ** min(spent - 1, 32)
    return min(grown + float(call.jitter_s) * jitter, float(call.cap_s))


def retry_after_s(headers: Mapping[str, str]) -> int | None:
    """Return the seconds that `Retry-After` asks for, None where it is absent or not well formed.

    A date counts from the response's own `Date`, never from our clock.
    """
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        return int(text)
    until, sent = http_date(text), http_date(headers.get("date", "").strip())
    if until is None or sent is None:
        return None
    return max(0, int((until - sent).total_seconds()))


def http_date(text: str) -> datetime | None:
    """Return the moment of an IMF-fixdate, None for any other text. Source: RFC 9110 5.6.7."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    day, month, year, hour, minute, second = match.groups()
    try:
        return datetime(
            int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), min(int(second), 59), tzinfo=UTC
        )
    except ValueError:
        return None
