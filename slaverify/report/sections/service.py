"""Part of section 5: whether the service was there, by stratum and hour, and how long it took. Nothing here decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonValue
from slaverify.report.facts import Facts, text
from slaverify.report.words import Node, clock, code, column, day, heading, paragraph, say, share, table
from slaverify.run import Available, Quantile, service_of

MOST_HOURS = 24
"""Hours that are shown one by one; a longer run is shown by days."""


def service(facts: Facts) -> Iterator[Node]:
    """Yield availability and latency."""
    yield heading("item.service", 3)
    if facts.outcomes is None:
        yield paragraph("absent.outcomes")
        return
    strata = {text(line, "item_id"): text(line, "stratum") for line in facts.scores or ()}
    found = service_of(facts.outcomes, strata)
    if not found.exchanges.asked:
        yield paragraph("item.no_outcomes")
        return
    rows = [_row(say("service.exchanges"), found.exchanges), _row(say("service.attempts"), found.attempts)]
    rows += [_row(_stratum(name), one) for name, one in found.by_stratum.items()]
    rows += [_row(name, one) for name, one in _times(found.by_hour)]
    numbers = ("asked", "available", "unknown")
    columns = [column("group"), *(column(name, "right", 20) for name in numbers)]
    yield table(say("service.availability_table"), columns, rows, id="availability")
    yield paragraph("service.counted", style="note")
    if found.last_byte:
        heads = [column("quantile"), column("last_byte", "right", 36), column("first_byte", "right", 36)]
        pairs = zip(found.last_byte, found.first_byte, strict=True)
        rows = [[_share(last), _quantile(last), _quantile(first)] for last, first in pairs]
        yield table(say("service.latency_table"), heads, rows, id="latency")
        yield paragraph("service.timed", style="note", timed=found.timed, censored=found.censored)


def _row(name: JsonValue, one: Available) -> list[JsonValue]:
    return [name, one.asked, one.available, one.unresolved]


def _stratum(name: str) -> Node:
    return say("results.stratum", stratum=code(name)) if name else say("service.no_stratum")


def _times(by_hour: Mapping[str, Available]) -> Iterator[tuple[JsonValue, Available]]:
    if len(by_hour) <= MOST_HOURS:
        for hour, one in by_hour.items():
            yield say("service.hour", day=day(f"{hour}:00:00Z"), start=clock(f"{hour}:00:00Z")), one
        return
    days: dict[str, Available] = {}
    for hour, one in by_hour.items():
        days[hour[:10]] = days.get(hour[:10], Available()).joined(one)
    for date, one in days.items():
        yield day(f"{date}T00:00:00Z"), one


def _share(one: Quantile) -> Node:
    return share(f"{one.q.numerator / one.q.denominator:.2f}", "exact")


def _quantile(one: Quantile) -> Node:
    value = say("service.beyond") if one.value is None else say("service.ms", n=one.value)
    ends = {
        name: say("service.open") if end is None else say("service.ms", n=end)
        for name, end in (("low", one.low), ("high", one.high))
    }
    return say("service.quantile", value=value, **ends)
