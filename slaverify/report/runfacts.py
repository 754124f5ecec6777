"""Count over the lines of a run what the document tells about it: versions seen, dates, outcomes, retries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report.facts import Facts, integer, text
from slaverify.report.words import Node, clock, code, day, instant, listing, say


def versions(facts: Facts) -> Node:
    """Say which engine versions the responses declared, and how often."""
    if facts.outcomes is None:
        return say("absent.outcomes")
    seen = Counter(str(line["engine_version"]) for line in facts.outcomes if line.get("engine_version") is not None)
    if not seen:
        return say("engine.no_echo")
    if len(seen) == 1:
        return code(next(iter(seen)))
    return listing([say("engine.echo", version=code(name), count=times) for name, times in sorted(seen.items())])


def period(facts: Facts, *, exact: bool) -> Node:
    """Say when the exchanges took place: days, or first and last second."""
    if facts.outcomes is None:
        return say("absent.outcomes")
    starts = sorted(text(line, "started_at") for line in facts.outcomes if line.get("started_at") is not None)
    ends = sorted(text(line, "ended_at") for line in facts.outcomes if line.get("ended_at") is not None)
    if not starts:
        return say("period.none")
    first, last = starts[0], (ends or starts)[-1]
    same_day = first[:10] == last[:10]
    if exact and same_day:
        return say("period.hours", day=day(first), start=clock(first), end=clock(last))
    if exact:
        return say("period.exact", start=instant(first), end=instant(last))
    if same_day:
        return say("period.day", day=day(first))
    return say("period.days", start=day(first), end=day(last))


def final_outcomes(facts: Facts) -> list[tuple[str, str, int]]:
    """Return (outcome, whose, count) of every planned exchange that has a line, most frequent first."""
    seen = Counter(
        (text(line, "outcome"), str(line.get("attribution") or "none"))
        for line in facts.outcomes or ()
        if line.get("outcome") is not None
    )
    return [(outcome, whose, times) for (outcome, whose), times in sorted(seen.items(), key=_by_count)]


def retries(facts: Facts) -> int:
    """Return how many attempts were followed by another one."""
    return sum(1 for line in facts.outcomes or () if line.get("outcome") is None)


def tally(lines: Iterable[JsonObject], key: str) -> list[tuple[str, int]]:
    """Return how often each value of `key` occurs among score records, most frequent first; null is `none`."""
    seen = Counter("none" if line.get(key) is None else str(line[key]) for line in lines)
    return sorted(seen.items(), key=lambda pair: (-pair[1], pair[0]))


def entries(facts: Facts, *kinds: str) -> list[JsonObject]:
    """Return the ledger entries of the given types, in order."""
    return [entry for entry in facts.ledger or () if entry.get("type") in kinds]


def seq(entry: JsonObject) -> int:
    """Return the number of a ledger entry."""
    return integer(entry, "seq")


def runs_opened(facts: Facts) -> int:
    """Return how many runs the ledger shows as opened under this contract's digest."""
    return len(of_contract(facts, "run_opened"))


def of_contract(facts: Facts, *kinds: str) -> list[JsonObject]:
    """Return the ledger entries of the given types that are of this contract: a ledger may serve others too."""
    digest = facts.manifest.get("contract_digest")
    return [entry for entry in entries(facts, *kinds) if _data(entry, "contract_digest") in (None, digest)]


def data(entry: JsonObject, key: str) -> JsonValue:
    """Return a member of the entry's data, or None."""
    return _data(entry, key)


def _data(entry: JsonObject, key: str) -> JsonValue:
    held = entry.get("data")
    return held.get(key) if isinstance(held, dict) else None


def _by_count(pair: tuple[tuple[str, str], int]) -> tuple[int, tuple[str, str]]:
    return -pair[1], pair[0]
