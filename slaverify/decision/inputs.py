"""Count: from score records to `statistics/inputs.json`.

For each metric: the records among which it is taken, the fate of each call, then of each item; totals, and the same
by stratum, cluster, outcome, verdict and reason. The grouping that makes it fast stands in `rows`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import Contract, Outcome, matches
from slaverify.decision.missing import Fate, fate_of
from slaverify.decision.rows import ClusterKey, Rows, Signature, reason_of, rows_of_run
from slaverify.decision.terms import Terms, excluded_up_to, terms_of
from slaverify.decision.units import unit_rows

INPUTS_TYPE = "slaverify/inputs/1"

_WORST_FIRST = (Fate.FAILURE, Fate.VENDOR, Fate.OPEN, Fate.UNRESOLVED, Fate.SUCCESS, Fate.EXCLUDED)
_INSIDE = tuple(fate for fate in Fate if fate is not Fate.EXCLUDED)

Counted = Counter[tuple[int, Fate]]
"""How many calls (or items, by their first profile) have each profile and fate."""


def inputs(contract: Contract, records: Sequence[JsonObject], rulings: Mapping[str, str] | None = None) -> JsonObject:
    """Return the counts of every metric over the score records of a run (`slaverify/score/1` objects).

    `rulings` says by item id what a dispute makes of it: `for` the vendor, `against`, or `upheld` (it leaves the
    denominator). Malformed records are counted as missing or unresolved, never skipped in silence. Raises nothing.
    """
    terms = terms_of(contract)
    rows = rows_of_run(contract, terms, records, rulings or {})
    limits = excluded_up_to(contract)
    return {"type": INPUTS_TYPE, "metrics": [_entry(metric, rows, limits) for metric in terms]}


@dataclass(frozen=True, slots=True)
class _View:
    """What one metric makes of the rows: which profiles are inside, and the fate of each."""

    terms: Terms
    rows: Rows
    inside: tuple[bool, ...]
    fates: tuple[Fate, ...]

    def item(self, signature: Signature) -> tuple[int, Fate] | None:
        """Return (profile, fate) of an item: its worst call; null if no call is inside."""
        calls = [(profile, self.fates[profile]) for profile in signature.profiles if self.inside[profile]]
        return min(calls, key=lambda call: _WORST_FIRST.index(call[1])) if calls else None

    def calls(self, signature: Signature) -> list[tuple[int, Fate]]:
        """Return (profile, fate) of what is counted of an item: each call, or the item as a whole."""
        if self.terms.calls > 1:
            return [(profile, self.fates[profile]) for profile in signature.profiles if self.inside[profile]]
        item = self.item(signature)
        return [] if item is None else [item]


def _entry(terms: Terms, rows: Rows, limits: Mapping[Outcome, int]) -> JsonObject:
    view = _view(terms, rows)
    excused = _excused(view, limits)
    counted = _counted(view) if not excused else _counted_by_row(view, excused)
    found = sum(count for signature, count in rows.signatures.items() if view.item(signature) is not None)
    totals: Counter[Fate] = Counter()
    for (_, fate), count in counted.items():
        totals[fate] += count
    return {
        "id": terms.id,
        "kind": terms.kind,
        "pinned": terms.pinned,
        "n": _denominator(terms, found, totals[Fate.EXCLUDED] // terms.calls),
        "calls": terms.calls,
        "missing": _missing(view, found),
        **{fate.value: totals[fate] for fate in Fate},
        **_tallies(view, counted),
        "judged": _judged(view, counted),
        "clusters": _clusters(view, excused) if terms.clustered and terms.sampled else None,
        "units": None if terms.sampled else unit_rows(terms, _records(view)),
        "repeats": _repeats(view),
        "events": _events(view, counted),
        "strata": _strata(view, counted),
    }


def _view(terms: Terms, rows: Rows) -> _View:
    inside = tuple(matches(terms.among, record) for record in rows.examples)
    fates = tuple(
        _ruled(ruling) or fate_of(terms, record) if within else Fate.EXCLUDED
        for record, within, ruling in zip(rows.examples, inside, rows.rulings, strict=True)
    )
    return _View(terms, rows, inside, fates)


def _ruled(ruling: str | None) -> Fate | None:
    return {"for": Fate.SUCCESS, "against": Fate.FAILURE, "upheld": Fate.EXCLUDED}.get(ruling or "")


def _counted(view: _View) -> Counted:
    counted: Counted = Counter()
    for signature, count in view.rows.signatures.items():
        for call in view.calls(signature):
            counted[call] += count
    return counted


def _excused(view: _View, limits: Mapping[Outcome, int]) -> frozenset[int]:
    """Return the rows that leave the denominator: the first of each excusable outcome, by item id.

    With several calls per item nothing leaves: a call cannot be taken out of its item.
    """
    if view.terms.per_item > 1 or not limits:
        return frozenset()
    left = {outcome.value: limit for outcome, limit in limits.items()}
    out = set()
    for index, profile in enumerate(view.rows.profiles):
        outcome = view.rows.examples[profile].get("outcome")
        excusable = view.fates[profile] is Fate.UNRESOLVED and isinstance(outcome, str) and view.inside[profile]
        if excusable and left.get(str(outcome), 0) > 0:
            left[str(outcome)] -= 1
            out.add(index)
    return frozenset(out)


def _counted_by_row(view: _View, excused: frozenset[int]) -> Counted:
    counted: Counted = Counter()
    for index, profile in enumerate(view.rows.profiles):
        if view.inside[profile]:
            counted[profile, Fate.EXCLUDED if index in excused else view.fates[profile]] += 1
    return counted


def _missing(view: _View, found: int) -> int:
    """Count what departs from the plan: items without all of their calls, and calls or items beyond it."""
    terms, rows = view.terms, view.rows
    flaws = sum(
        signature.flaw * count for signature, count in rows.signatures.items() if view.item(signature) is not None
    )
    if terms.pinned is None:
        return rows.surplus + flaws
    stages = {terms.pinned, *(stage.n for stage in terms.stages)}
    return rows.surplus + flaws + min(abs(found - n) for n in stages)


def _denominator(terms: Terms, found: int, excluded: int) -> int:
    pinned = terms.pinned
    if pinned is None or any(stage.n == found for stage in terms.stages):
        pinned = found
    return max(0, pinned - excluded)


def _tallies(view: _View, counted: Counted) -> dict[str, JsonValue]:
    outcomes: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for (profile, fate), count in counted.items():
        if fate is Fate.EXCLUDED:
            continue
        record = view.rows.examples[profile]
        outcomes[_word(record.get("outcome"))] += count
        verdicts[_word(record.get("verdict"))] += count
        if fate is Fate.FAILURE:
            reasons[_word(reason_of(record))] += count
    return {"by_outcome": _sorted(outcomes), "by_verdict": _sorted(verdicts), "by_reason": _sorted(reasons)}


def _judged(view: _View, counted: Counted) -> JsonObject | None:
    if not view.terms.rests_on_judge:
        return None
    fates: Counter[Fate] = Counter()
    for (profile, fate), count in counted.items():
        if fate is not Fate.EXCLUDED and view.rows.examples[profile].get("decided_by") == "judge":
            fates[fate] += count
    if not fates:
        return None
    return {
        "x": fates[Fate.SUCCESS],
        "failures": fates[Fate.FAILURE] + fates[Fate.VENDOR],
        "unknown": fates[Fate.UNRESOLVED] + fates[Fate.OPEN],
    }


def _clusters(view: _View, excused: frozenset[int]) -> list[JsonValue]:
    """Return [x, unknown, size] per cluster; an item without a cluster is one by itself."""
    groups: dict[ClusterKey, list[int]] = {}
    for (key, signature), count in view.rows.items.items():
        for _, fate in view.calls(signature):
            if fate is not Fate.EXCLUDED:
                row = groups.setdefault(key, [0, 0, 0])
                row[0] += count * (fate is Fate.SUCCESS)
                row[1] += count * (fate in (Fate.UNRESOLVED, Fate.OPEN))
                row[2] += count
    for index in excused:
        record = view.rows.records[index]
        cluster = record.get("cluster")
        row = groups[(0, cluster) if isinstance(cluster, str) else (1, str(record.get("item_id")))]
        row[1] -= 1
        row[2] -= 1
    return [list(groups[key]) for key in sorted(groups) if groups[key][2] > 0]


def _records(view: _View) -> Iterable[JsonObject]:
    return (
        record
        for record, profile in zip(view.rows.records, view.rows.profiles, strict=True)
        if view.fates[profile] is not Fate.EXCLUDED
    )


def _repeats(view: _View) -> JsonObject | None:
    """Return how many items had how many successes among their calls; null with one call per item."""
    if view.terms.per_item == 1 or not view.terms.sampled:
        return None
    histogram: Counter[int] = Counter()
    for signature, count in view.rows.signatures.items():
        if view.item(signature) is not None:
            histogram[sum(view.fates[profile] is Fate.SUCCESS for profile in signature.profiles)] += count
    return {"calls": view.terms.per_item, "histogram": {str(key): histogram[key] for key in sorted(histogram)}}


def _events(view: _View, counted: Counted) -> JsonObject:
    confirmed = 0
    patterns: Counter[str] = Counter()
    for (profile, fate), count in counted.items():
        events = view.rows.examples[profile].get("events")
        if fate is Fate.EXCLUDED or not isinstance(events, list | tuple):
            continue
        found = [event for event in events if isinstance(event, dict)]
        shown = any(event.get("level") == "manipulation" and event.get("confirmed") is True for event in found)
        confirmed += count * shown
        for code in {_word(event.get("code")) for event in found if event.get("level") in ("pattern", "identity")}:
            patterns[code] += count
    return {"confirmed": confirmed, "patterns": _sorted(patterns)}


def _strata(view: _View, counted: Counted) -> JsonObject:
    found: Counter[tuple[str, Fate]] = Counter()
    for (profile, fate), count in counted.items():
        found[_word(view.rows.examples[profile].get("stratum")), fate] += count
    names = sorted({*view.terms.strata, *(name for name, _ in found)})
    return {
        name: {
            "n": sum(found[name, fate] for fate in _INSIDE),
            **{fate.value: found[name, fate] for fate in _INSIDE},
        }
        for name in names
    }


def _word(value: JsonValue) -> str:
    return "none" if value is None else str(value)


def _sorted(counts: Counter[str]) -> dict[str, JsonValue]:
    return dict(sorted(counts.items()))
