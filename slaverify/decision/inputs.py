"""Count: from score records to `statistics/inputs.json`.

1. Keep the records of the current engine; those of repetitions beyond the pinned ones serve dispersion alone.
2. Group records that no metric can tell apart (a profile), so that each rule is asked once a profile.
3. For each metric: the records among which it is taken, the fate of each call, then of each item.
4. Totals, and the same by stratum, cluster, outcome, verdict and reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import Contract, Outcome, matches
from slaverify.decision.missing import NOBODYS, Fate, fate_of
from slaverify.decision.terms import Terms, excluded_up_to, terms_of
from slaverify.decision.units import unit_rows

INPUTS_TYPE = "slaverify/inputs/1"

_ALWAYS = ("outcome", "run_outcome", "verdict", "bounds", "flags", "stratum")
_SUCCESS_FIRST = (Fate.FAILURE, Fate.VENDOR, Fate.OPEN, Fate.UNRESOLVED)


def inputs(contract: Contract, records: Sequence[JsonObject]) -> JsonObject:
    """Return the counts of every metric over the score records of a run (`slaverify/score/1` objects).

    Malformed records are counted as missing, never skipped in silence. Raises nothing.
    """
    terms = terms_of(contract)
    rows = _Rows.read(contract, terms, records)
    limits = excluded_up_to(contract)
    return {"type": INPUTS_TYPE, "metrics": [_entry(metric, rows, limits) for metric in terms]}


@dataclass(frozen=True, slots=True)
class Call:
    """One record among the items of a metric, with its fate."""

    item: str
    stratum: str
    cluster: str | None
    record: JsonObject
    fate: Fate


@dataclass(frozen=True, slots=True)
class _Rows:
    """The records of the run in the order of (item, repetition), and the profile number of each."""

    records: list[JsonObject]
    profiles: list[int]
    examples: list[JsonObject]
    surplus: int

    @classmethod
    def read(cls, contract: Contract, terms: Iterable[Terms], records: Sequence[JsonObject]) -> _Rows:
        current = [record for record in records if record.get("side") == "current"]
        kept = [record for record in current if _repetition(record) < contract.repetitions.per_item]
        extra = len(current) - len(kept)
        surplus = 0 if contract.repetitions.dispersion_sample is not None else extra
        kept.sort(key=lambda record: (str(record.get("item_id")), _repetition(record)))
        keys = sorted({*_ALWAYS, *_named(terms)})
        numbers: dict[Hashable, int] = {}
        examples: list[JsonObject] = []
        profiles: list[int] = []
        for record in kept:
            profile = tuple(_hashable(record.get(key)) for key in keys)
            number = numbers.setdefault(profile, len(examples))
            if number == len(examples):
                examples.append(record)
            profiles.append(number)
        return cls(kept, profiles, examples, surplus)


def _named(terms: Iterable[Terms]) -> Iterable[str]:
    for metric in terms:
        yield from metric.among
        yield from metric.count or ()
        if metric.cut is not None:
            yield metric.value
        if metric.limit_ms is not None:
            yield "latency_ms"


def _entry(terms: Terms, rows: _Rows, limits: Mapping[Outcome, int]) -> JsonObject:
    calls = _calls(terms, rows, limits)
    items = _items(terms, calls)
    missing, n = _missing(terms, calls, rows.surplus), _denominator(terms, items)
    counted = calls if terms.calls > 1 else items
    fates = Counter(call.fate for call in counted)
    inside = [call.record for call in calls if call.fate is not Fate.EXCLUDED]
    return {
        "id": terms.id,
        "kind": terms.kind,
        "pinned": terms.pinned,
        "n": n,
        "calls": terms.calls,
        "missing": missing,
        **{fate.value: fates[fate] for fate in Fate},
        "by_outcome": _tally(record.get("outcome") for record in inside),
        "by_verdict": _tally(record.get("verdict") for record in inside),
        "by_reason": _tally(_reason(call.record) for call in counted if call.fate is Fate.FAILURE),
        "judged": _judged(counted),
        "clusters": _clusters(counted) if terms.clustered and terms.sampled else None,
        "units": None if terms.sampled else unit_rows(terms, inside),
        "repeats": _repeats(terms, calls),
        "events": _events(inside),
        "strata": _strata(terms, counted),
    }


def _calls(terms: Terms, rows: _Rows, limits: Mapping[Outcome, int]) -> list[Call]:
    among = [matches(terms.among, record) for record in rows.examples]
    fates = [
        fate_of(terms, record) if inside else Fate.EXCLUDED for record, inside in zip(rows.examples, among, strict=True)
    ]
    calls = [
        Call(str(record.get("item_id")), str(record.get("stratum")), _cluster(record), record, fates[profile])
        for record, profile in zip(rows.records, rows.profiles, strict=True)
        if among[profile]
    ]
    return _exclude(calls, limits) if terms.per_item == 1 and limits else calls


def _exclude(calls: list[Call], limits: Mapping[Outcome, int]) -> list[Call]:
    """Take the first records of each excusable outcome out, by item id, up to what the contract allows."""
    left = {outcome.value: limit for outcome, limit in limits.items() if outcome in NOBODYS}
    out = []
    for call in calls:
        outcome = call.record.get("outcome")
        if call.fate is Fate.UNRESOLVED and isinstance(outcome, str) and left.get(outcome, 0) > 0:
            left[outcome] -= 1
            call = Call(call.item, call.stratum, call.cluster, call.record, Fate.EXCLUDED)
        out.append(call)
    return out


def _items(terms: Terms, calls: list[Call]) -> list[Call]:
    """Return one call per item: the item's own, or under `all_of_k` the worst of its calls."""
    if terms.per_item == 1:
        return calls
    groups: dict[str, list[Call]] = {}
    for call in calls:
        groups.setdefault(call.item, []).append(call)
    return [_worst(group) for group in groups.values()]


def _worst(group: list[Call]) -> Call:
    found = {call.fate: call for call in reversed(group)}
    for fate in _SUCCESS_FIRST:
        if fate in found:
            return found[fate]
    return found.get(Fate.EXCLUDED, group[0])


def _missing(terms: Terms, calls: list[Call], surplus: int) -> int:
    """Count what departs from the plan: items without all of their calls, and calls or items beyond it."""
    per_item: dict[str, set[int]] = {}
    for call in calls:
        per_item.setdefault(call.item, set()).add(_repetition(call.record))
    doubled = len(calls) - sum(map(len, per_item.values()))
    short = sum(terms.per_item - len(found) for found in per_item.values())
    if terms.pinned is None:
        return surplus + doubled + short
    stages = {terms.pinned, *(stage.n for stage in terms.stages)}
    away = min(abs(len(per_item) - n) for n in stages)
    return surplus + doubled + short + away


def _denominator(terms: Terms, items: list[Call]) -> int:
    excluded = sum(call.fate is Fate.EXCLUDED for call in items)
    found = len(items)
    if terms.pinned is None:
        return found - excluded
    pinned = terms.pinned
    if any(stage.n == found for stage in terms.stages):
        pinned = found
    return max(0, pinned - excluded)


def _judged(calls: Sequence[Call]) -> JsonObject | None:
    fates = Counter(call.fate for call in calls if call.record.get("decided_by") == "judge")
    if not fates:
        return None
    return {
        "x": fates[Fate.SUCCESS],
        "failures": fates[Fate.FAILURE] + fates[Fate.VENDOR],
        "unknown": fates[Fate.UNRESOLVED] + fates[Fate.OPEN],
    }


def _clusters(calls: Sequence[Call]) -> list[JsonValue]:
    """Return [x, unknown, size] per cluster; an item without a cluster is one by itself."""
    groups: dict[tuple[int, str], list[int]] = {}
    for call in calls:
        if call.fate is Fate.EXCLUDED:
            continue
        key = (1, call.item) if call.cluster is None else (0, call.cluster)
        row = groups.setdefault(key, [0, 0, 0])
        row[0] += call.fate is Fate.SUCCESS
        row[1] += call.fate in (Fate.UNRESOLVED, Fate.OPEN)
        row[2] += 1
    return [list(groups[key]) for key in sorted(groups)]


def _repeats(terms: Terms, calls: Sequence[Call]) -> JsonObject | None:
    """Return how many items had how many successes among their calls; null with one call per item."""
    if terms.per_item == 1 or not terms.sampled:
        return None
    per_item: Counter[str] = Counter()
    for call in calls:
        per_item[call.item] += call.fate is Fate.SUCCESS
    histogram = Counter(per_item.values())
    return {"calls": terms.per_item, "histogram": {str(count): histogram[count] for count in sorted(histogram)}}


def _events(records: Iterable[JsonObject]) -> JsonObject:
    confirmed = 0
    patterns: Counter[str] = Counter()
    for record in records:
        events = record.get("events")
        found = [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []
        confirmed += any(e.get("level") == "manipulation" and e.get("confirmed") is True for e in found)
        patterns.update({str(e.get("code")) for e in found if e.get("level") in ("pattern", "identity")})
    return {"confirmed": confirmed, "patterns": dict(sorted(patterns.items()))}


def _strata(terms: Terms, calls: Sequence[Call]) -> JsonObject:
    found = Counter((call.stratum, call.fate) for call in calls)
    names = sorted({*terms.strata, *(call.stratum for call in calls)})
    return {
        name: {
            "n": sum(found[name, fate] for fate in Fate if fate is not Fate.EXCLUDED),
            **{fate.value: found[name, fate] for fate in Fate if fate is not Fate.EXCLUDED},
        }
        for name in names
    }


def _tally(values: Iterable[JsonValue]) -> dict[str, JsonValue]:
    counts = Counter("none" if value is None else str(value) for value in values)
    return dict(sorted(counts.items()))


def _reason(record: JsonObject) -> str | None:
    """Return the reason of the first rule that did not find the answer correct."""
    rules = record.get("rules")
    for rule in rules if isinstance(rules, list) else ():
        if isinstance(rule, dict) and rule.get("status") == "decided" and rule.get("correctness") != "correct":
            return str(rule.get("reason"))
    return None


def _cluster(record: JsonObject) -> str | None:
    cluster = record.get("cluster")
    return cluster if isinstance(cluster, str) else None


def _repetition(record: JsonObject) -> int:
    repetition = record.get("repetition")
    return repetition if isinstance(repetition, int) and not isinstance(repetition, bool) else 0


def _hashable(value: JsonValue) -> Hashable:
    if isinstance(value, Mapping):
        return tuple((key, _hashable(member)) for key, member in sorted(value.items()))
    if isinstance(value, list | tuple):
        return tuple(_hashable(member) for member in value)
    # True == 1 and 1 == "1" must not share a profile.
    return type(value).__name__, value
