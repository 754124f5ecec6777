"""Compare two versions on the same items: discordant pairs, transitions, the change check. Never SLA conformity.

Runs of different banks are refused: their rates are not comparable, whatever the numbers look like.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue, decimal_text, real9
from slaverify.contract import Contract, matches
from slaverify.decision.missing import Fate, fate_of
from slaverify.decision.terms import Terms, terms_of
from slaverify.errors import StatisticsError, Text
from slaverify.statistics import change_check, mcnemar_exact, mcnemar_midp

COMPARISON_TYPE = "slaverify/comparison/1"


@dataclass(frozen=True, slots=True)
class Pair:
    """One item before and after: 1 success, 0 failure, null unknown."""

    old: int | None
    new: int | None
    cluster: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """Counts over the items that both sides answered for: `b` passed and then failed, `c` the reverse."""

    n: int
    both_pass: int
    b: int
    c: int
    both_fail: int
    unknown: int


def compare_runs(
    old_contract: Contract, old: Sequence[JsonObject], new_contract: Contract, new: Sequence[JsonObject]
) -> JsonObject:
    """Return the comparison of two runs, metric by metric (those that both contracts define alike).

    `old` and `new` are score records; items are matched by id and repetition. Raises: StatisticsError SLV-S013 for
    runs of different banks.
    """
    banks = [one.evaluation_set.bank_digest for one in (old_contract, new_contract)]
    if banks[0] != banks[1]:
        raise StatisticsError(
            "SLV-S013",
            Text("las corridas son de bancos distintos", "the runs are of different banks"),
            why=Text("sus tasas no son comparables", "their rates are not comparable"),
            fix=Text("compare corridas del mismo banco", "compare runs of one bank"),
            where=f"{banks[0]} / {banks[1]}",
        )
    before = {terms.id: terms for terms in terms_of(old_contract)}
    metrics: list[JsonValue] = [
        _metric(terms, _side(old, "current"), _side(new, "current"), None)
        for terms in terms_of(new_contract)
        if terms.id in before and alike(before[terms.id], terms) and terms.sampled
    ]
    return {"type": COMPARISON_TYPE, "metrics": metrics, "state": None, **_strangers(old, new)}


def compare_versions(contract: Contract, records: Sequence[JsonObject]) -> JsonObject:
    """Return the change check of one run in which both versions answered the same items (sides of the records).

    `state` is `accepted` only if every listed metric is; null where the contract lists none.
    """
    check = contract.schedule.change_check
    listed = () if check is None else check.metrics
    margins = None if check is None else (check.max_loss, check.alpha)
    old, new = _side(records, "current"), _side(records, "candidate")
    metrics: list[JsonValue] = []
    states = []
    for terms in terms_of(contract):
        if not terms.sampled:
            continue
        found = _metric(terms, old, new, margins if terms.id in listed else None)
        metrics.append(found)
        outcome = found.get("change_check")
        if isinstance(outcome, dict):
            states.append(outcome.get("state"))
    complete = len(states) == len(listed)
    state = None if check is None else "accepted" if complete and set(states) == {"accepted"} else "not_accepted"
    return {"type": COMPARISON_TYPE, "metrics": metrics, "state": state, **_strangers(old.values(), new.values())}


def _metric(
    terms: Terms,
    old: Mapping[tuple[str, int], JsonObject],
    new: Mapping[tuple[str, int], JsonObject],
    margins: tuple[Decimal, Decimal] | None,
) -> JsonObject:
    keys = [key for key in sorted(old.keys() & new.keys()) if matches(terms.among, new[key])]
    pairs = [
        Pair(success(terms, old[key]), success(terms, new[key]), str(new[key].get("cluster") or key[0])) for key in keys
    ]
    counts = _count(pairs)
    exact, midp = mcnemar_exact(counts.b, counts.c), mcnemar_midp(counts.b, counts.c)
    known = counts.n - counts.unknown
    difference = Fraction(counts.c - counts.b, known) if known else None
    return {
        "id": terms.id,
        "n": counts.n,
        "both_pass": counts.both_pass,
        "b": counts.b,
        "c": counts.c,
        "both_fail": counts.both_fail,
        "unknown": counts.unknown,
        "difference": None if difference is None else real9(difference),
        "mcnemar_exact": real9(exact.p),
        "mcnemar_midp": real9(midp.p),
        "note": exact.note,
        "transitions": _transitions([(old[key], new[key]) for key in keys]),
        "change_check": None if margins is None else _checked(terms, pairs, counts, *margins),
    }


def _checked(terms: Terms, pairs: Sequence[Pair], counts: Pairs, max_loss: Decimal, alpha: Decimal) -> JsonObject:
    """Decide the change of one metric: unknown items count as losses for acceptance and as gains for reversal."""
    deff = _deff(terms, pairs)
    base: dict[str, JsonValue] = {"max_loss": decimal_text(max_loss), "alpha": decimal_text(alpha), "deff": real9(deff)}
    if counts.n == 0:
        return {**base, "z": None, "state": "not_shown"}
    worst = change_check((counts.b + counts.unknown) / deff, counts.c / deff, counts.n / deff, max_loss, alpha)
    best = change_check(counts.b / deff, (counts.c + counts.unknown) / deff, counts.n / deff, max_loss, alpha)
    state = worst.state if worst.state == "accepted" else "reverted" if best.state == "reverted" else "not_shown"
    return {**base, "z": real9(worst.z), "state": state}


def _deff(terms: Terms, pairs: Sequence[Pair]) -> float:
    """Return the design effect of the differences over clusters, the declared floor included; 1 without clusters."""
    if not terms.clustered or terms.icc_floor is None or len(pairs) < 2:
        return 1.0
    differences = [0 if one.old is None or one.new is None else one.new - one.old for one in pairs]
    n, mean = len(pairs), math.fsum(differences) / len(pairs)
    sums: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for one, difference in zip(pairs, differences, strict=True):
        sums[one.cluster] += difference
        sizes[one.cluster] += 1
    spread = math.fsum((difference - mean) ** 2 for difference in differences) / n / (n - 1)
    observed = 1.0
    if len(sizes) > 1 and spread > 0.0:
        between = math.fsum((sums[key] - mean * size) ** 2 for key, size in sizes.items())
        observed = len(sizes) / (len(sizes) - 1) * between / n**2 / spread
    floor = 1.0 + (math.fsum(size**2 for size in sizes.values()) / n - 1.0) * float(terms.icc_floor)
    return max(observed, floor)


def _count(pairs: Sequence[Pair]) -> Pairs:
    kinds = Counter((one.old, one.new) for one in pairs)
    unknown = sum(count for (old, new), count in kinds.items() if old is None or new is None)
    return Pairs(len(pairs), kinds[1, 1], kinds[1, 0], kinds[0, 1], kinds[0, 0], unknown)


def success(terms: Terms, record: JsonObject) -> int | None:
    """Return 1 for an answer that fulfils the metric, 0 for one that does not, None where nobody can say."""
    fate = fate_of(terms, record)
    if fate in (Fate.UNRESOLVED, Fate.OPEN, Fate.EXCLUDED):
        return None
    return int(fate is Fate.SUCCESS)


def _transitions(pairs: Sequence[tuple[JsonObject, JsonObject]]) -> list[JsonValue]:
    """Return how many items went from which verdict to which, sorted; an answer without verdict is its outcome."""
    counts = Counter((_verdict(old), _verdict(new)) for old, new in pairs)
    return [{"from": old, "to": new, "n": count} for (old, new), count in sorted(counts.items())]


def _verdict(record: JsonObject) -> str:
    verdict = record.get("verdict")
    return str(record.get("outcome")) if verdict is None else str(verdict)


def _side(records: Sequence[JsonObject], side: str) -> dict[tuple[str, int], JsonObject]:
    return {_key(record): record for record in records if record.get("side") == side}


def _key(record: JsonObject) -> tuple[str, int]:
    repetition = record.get("repetition")
    return str(record.get("item_id")), repetition if isinstance(repetition, int) else 0


def _strangers(old: Iterable[JsonObject], new: Iterable[JsonObject]) -> dict[str, JsonValue]:
    """Return how many items only one side has: they are in no pair."""
    before, after = {_key(record) for record in old}, {_key(record) for record in new}
    return {"only_old": len(before - after), "only_new": len(after - before)}


def alike(old: Terms, new: Terms) -> bool:
    """Tell whether two contracts define a metric alike."""
    return (old.kind, old.direction, dict(old.among)) == (new.kind, new.direction, dict(new.among)) and (
        old.count,
        old.cut,
        old.limit_ms,
    ) == (new.count, new.cut, new.limit_ms)
