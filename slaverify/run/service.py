"""Availability and latency of a run, counted from its public lines. Pure; nothing here decides.

Source: docs/spec/run.md, section "Service".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from slaverify.canonical import JsonObject
from slaverify.contract.words import Outcome
from slaverify.engine import OURS, TRANSPORT, Fault
from slaverify.statistics import quantile_ranks

AVAILABLE = frozenset({Outcome.ANSWERED, Outcome.REFUSED, Outcome.TRUNCATED, Outcome.EMPTY})
"""Outcomes of an exchange in which the service was there."""
OUTSIDE = frozenset({Outcome.AUDITOR_FAILURE, Outcome.ENGINE_MISMATCH, Outcome.NOT_SENT})
"""Outcomes that say nothing of the service."""
QUANTILES = (Fraction(1, 2), Fraction(95, 100), Fraction(99, 100))
CONFIDENCE = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Available:
    """Of `asked` exchanges or attempts: how many found the service, and of how many nobody knows."""

    asked: int = 0
    available: int = 0
    unresolved: int = 0

    def plus(self, *, available: bool, unresolved: bool) -> Available:
        """Return the count with one more."""
        return Available(self.asked + 1, self.available + available, self.unresolved + unresolved)

    def joined(self, other: Available) -> Available:
        """Return both counts together."""
        return Available(self.asked + other.asked, self.available + other.available, self.unresolved + other.unresolved)


@dataclass(frozen=True, slots=True)
class Quantile:
    """One quantile of the latency, milliseconds; null: at or beyond the deadline, or too few answers for that end."""

    q: Fraction
    value: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Service:
    """What the lines say of the service: availability of exchanges and of attempts, by stratum and by hour (UTC)."""

    exchanges: Available
    attempts: Available
    by_stratum: Mapping[str, Available]
    by_hour: Mapping[str, Available]
    timed: int
    censored: int
    last_byte: tuple[Quantile, ...]
    first_byte: tuple[Quantile, ...]


def service_of(lines: Iterable[JsonObject], strata: Mapping[str, str]) -> Service:
    """Count the lines of `run/outcomes.jsonl`; `strata` names the stratum of each item.

    An exchange is counted at the hour in which its last attempt began. An attempt that another one followed was none
    in which the service was there; a transport fault of such a one was attributed to nobody. A line whose words are
    unknown is counted as unresolved. Raises nothing.
    """
    exchanges, attempts = Available(), Available()
    by_stratum: dict[str, Available] = {}
    by_hour: dict[str, Available] = {}
    last: list[int | None] = []
    first: list[int | None] = []
    for line in lines:
        if line.get("side") == "candidate":
            # What a change check asks of a new version says nothing of the service agreed on.
            continue
        outcome, fault = _outcome(line.get("outcome")), _fault(line.get("fault"))
        ended = line.get("outcome") is not None
        if fault in OURS or (ended and outcome in OUTSIDE):
            continue
        there = outcome in AVAILABLE
        unknown = outcome in (None, Outcome.UNRESOLVED) if ended else fault is None or fault in TRANSPORT
        attempts = attempts.plus(available=there, unresolved=unknown)
        if not ended:
            continue
        exchanges = exchanges.plus(available=there, unresolved=unknown)
        for groups, name in ((by_stratum, strata.get(str(line.get("item_id")), "")), (by_hour, _hour(line))):
            groups[name] = groups.get(name, Available()).plus(available=there, unresolved=unknown)
        if there or fault in (Fault.DEADLINE, Fault.ANSWER_DEADLINE):
            met = fault is Fault.DEADLINE
            last.append(None if met else _milliseconds(line.get("last_byte_ms")))
            first.append(None if met else _milliseconds(line.get("first_byte_ms")))
    return Service(
        exchanges,
        attempts,
        dict(sorted(by_stratum.items())),
        dict(sorted(by_hour.items())),
        timed=len(last),
        censored=last.count(None),
        last_byte=_quantiles(last),
        first_byte=_quantiles(first),
    )


def _quantiles(values: Sequence[int | None]) -> tuple[Quantile, ...]:
    """Return the quantiles; what met the deadline stands after every answer, since it took longer than that."""
    if not values:
        return ()
    ordered: list[int | None] = [*sorted(value for value in values if value is not None)]
    ordered += [None] * (len(values) - len(ordered))
    found: list[Quantile] = []
    for q in QUANTILES:
        ranks = quantile_ranks(len(ordered), q, CONFIDENCE)
        low, high = (None if rank is None else ordered[rank - 1] for rank in (ranks.low, ranks.high))
        found.append(Quantile(q, ordered[ranks.value - 1], low, high))
    return tuple(found)


def _outcome(value: object) -> Outcome | None:
    return Outcome(value) if isinstance(value, str) and value in set(Outcome) else None


def _fault(value: object) -> Fault | None:
    return Fault(value) if isinstance(value, str) and value in set(Fault) else None


def _hour(line: JsonObject) -> str:
    return str(line.get("started_at"))[:13]


def _milliseconds(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
