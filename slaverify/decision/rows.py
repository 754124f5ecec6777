"""Group the score records of a run, so that each question is asked once for all records that give one answer.

1. Keep the records of the current engine and of the pinned repetitions.
2. Two records that no metric can tell apart share a profile: the fields that the contract's filters name, and what
   the counts show (outcome, verdict, reason, who decided, events).
3. Two items whose calls have the same profiles share a signature. Counting then runs over signatures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import Contract, sample_sizes
from slaverify.decision.missing import reaches, within
from slaverify.decision.terms import Terms

_ALWAYS = (
    "outcome",
    "run_outcome",
    "verdict",
    "bounds",
    "flags",
    "stratum",
    "correctness",
    "grounding",
    "class",
    "decided_by",
    "events",
)

_SIDES = ("current", "candidate")
_HONEYTOKENS = "probe"
"""The stratum that no metric counts and no sample names."""

ClusterKey = tuple[int, str]
"""(0, cluster id), or (1, item id) for an item that stands alone."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The profiles of one item's calls, and how far it departs from the plan (calls too few or too many)."""

    profiles: tuple[int, ...]
    flaw: int


@dataclass(frozen=True, slots=True)
class Rows:
    """The records of a run by profile and signature.

    `examples` one record a profile and `rulings` what a dispute made of its items (`for`, `against`, `upheld`, null);
    `items` how many items of each cluster have each signature; `records` in the order of (item, repetition) with their
    `profiles`; `surplus` records of repetitions or strata that nobody pinned.
    """

    records: tuple[JsonObject, ...]
    profiles: tuple[int, ...]
    examples: tuple[JsonObject, ...]
    rulings: tuple[str | None, ...]
    items: Mapping[tuple[ClusterKey, Signature], int]
    signatures: Mapping[Signature, int]
    surplus: int


def rows_of_run(
    contract: Contract,
    terms: Sequence[Terms],
    records: Sequence[JsonObject],
    rulings: Mapping[str, str],
) -> Rows:
    """Return the records of the current engine, grouped. Records without an item id are one malformed item."""
    current = [record for record in records if record.get("side") == "current"]
    per_item = contract.repetitions.per_item
    kept = [record for record in current if 0 <= repetition_of(record) < per_item]
    surplus = 0 if contract.repetitions.dispersion_sample is not None else len(current) - len(kept)
    drawn = {*sample_sizes(contract), _HONEYTOKENS}
    surplus += sum(str(record.get("stratum")) not in drawn for record in kept)
    surplus += sum(record.get("side") not in _SIDES for record in records)
    kept.sort(key=lambda record: (str(record.get("item_id")), repetition_of(record)))
    profiles, examples = _profiles(terms, kept, rulings)
    ruled = tuple(rulings.get(str(record.get("item_id"))) for record in examples)
    by_item: dict[str, list[int]] = {}
    for index, record in enumerate(kept):
        by_item.setdefault(str(record.get("item_id")), []).append(index)
    items: Counter[tuple[ClusterKey, Signature]] = Counter()
    for item, indices in by_item.items():
        found = {repetition_of(kept[index]) for index in indices}
        flaw = len(indices) - len(found) + abs(per_item - len(found))
        signature = Signature(tuple(profiles[index] for index in indices), flaw)
        items[_cluster_key(kept[indices[0]], item), signature] += 1
    signatures: Counter[Signature] = Counter()
    for (_, signature), count in items.items():
        signatures[signature] += count
    return Rows(tuple(kept), tuple(profiles), tuple(examples), ruled, items, signatures, surplus)


def repetition_of(record: JsonObject) -> int:
    """Return the repetition of a record, -1 where it is no integer."""
    repetition = record.get("repetition")
    return repetition if isinstance(repetition, int) and not isinstance(repetition, bool) else -1


def reason_of(record: JsonObject) -> str | None:
    """Return the reason of the first rule that did not find the answer correct."""
    rules = record.get("rules")
    for rule in rules if isinstance(rules, list | tuple) else ():
        if isinstance(rule, dict) and rule.get("status") == "decided" and rule.get("correctness") != "correct":
            return str(rule.get("reason"))
    return None


def _profiles(
    terms: Sequence[Terms], records: Iterable[JsonObject], rulings: Mapping[str, str]
) -> tuple[list[int], list[JsonObject]]:
    keys = tuple(sorted({*_ALWAYS, *_named(terms)}))
    limits = [metric.limit_ms for metric in terms if metric.limit_ms is not None]
    cuts = [(metric.value, metric.cut) for metric in terms if metric.cut is not None]
    numbers: dict[Hashable, int] = {}
    examples: list[JsonObject] = []
    profiles: list[int] = []
    for record in records:
        get = record.get
        profile = (
            *[value if type(value := get(key)) is str or value is None else _hashable(value) for key in keys],
            reason_of(record),
            rulings.get(str(get("item_id"))) if rulings else None,
            *[within(get("latency_ms"), limit) for limit in limits],
            *[reaches(get(field), cut) for field, cut in cuts],
        )
        number = numbers.setdefault(profile, len(examples))
        if number == len(examples):
            examples.append(record)
        profiles.append(number)
    return profiles, examples


def _named(terms: Iterable[Terms]) -> Iterable[str]:
    for metric in terms:
        yield from metric.among
        yield from metric.count or ()


def _cluster_key(record: JsonObject, item: str) -> ClusterKey:
    cluster = record.get("cluster")
    return (0, cluster) if isinstance(cluster, str) else (1, item)


def _hashable(value: JsonValue) -> Hashable:
    if isinstance(value, Mapping):
        return tuple((key, _hashable(member)) for key, member in sorted(value.items()))
    if isinstance(value, list | tuple):
        return tuple(_hashable(member) for member in value)
    # True == 1 and 1 == "1" must not share a profile.
    return type(value).__name__, value
