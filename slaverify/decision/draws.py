"""Two draws of one bank, not paired: rates side by side with Newcombe's interval of their difference.

Weaker than the comparison over equal items, and named so: part of a difference is that the questions are others. Items
that both draws asked leave both, so that the two samples are independent; answers that cannot be decided leave too.

Source: docs/spec/decision.md (comparison of draws); Newcombe 1998, method 10 (*unverified*).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from slaverify.canonical import JsonObject, JsonValue, real9
from slaverify.contract import Contract, matches
from slaverify.decision.compare import alike, success
from slaverify.decision.terms import Terms, terms_of
from slaverify.statistics import independent_difference

TYPE = "slaverify/draws/1"


def compare_draws(
    old_contract: Contract, old: Sequence[JsonObject], new_contract: Contract, new: Sequence[JsonObject]
) -> JsonObject:
    """Return both rates and the interval of their difference, for each rate that both contracts define alike.

    `old` and `new` are score records. `shared`: items that both asked. Raises: StatisticsError.
    """
    shared = _items(old) & _items(new)
    before = {terms.id: terms for terms in terms_of(old_contract)}
    metrics: list[JsonValue] = [
        _metric(terms, old, new, shared)
        for terms in terms_of(new_contract)
        if terms.id in before and alike(before[terms.id], terms) and terms.sampled and terms.kind == "rate"
    ]
    return {"type": TYPE, "method": "newcombe", "shared": len(shared), "metrics": metrics}


def _metric(terms: Terms, old: Sequence[JsonObject], new: Sequence[JsonObject], shared: set[str]) -> JsonObject:
    (x1, n1), (x2, n2) = _counts(terms, old, shared), _counts(terms, new, shared)
    row: dict[str, JsonValue] = {"id": terms.id, "old": {"x": x1, "n": n1}, "new": {"x": x2, "n": n2}}
    if not n1 or not n2:
        return {**row, "n": 0, "difference": None, "interval": None}
    found = independent_difference(x2, n2, x1, n1, terms.confidence)
    interval: dict[str, JsonValue] = {"low": real9(found.low), "high": real9(found.high)}
    return {**row, "n": n1 + n2, "difference": real9(x2 / n2 - x1 / n1), "interval": interval}


def _counts(terms: Terms, records: Iterable[JsonObject], shared: set[str]) -> tuple[int, int]:
    known = [
        value
        for record in records
        if record.get("side") == "current" and str(record.get("item_id")) not in shared and matches(terms.among, record)
        if (value := success(terms, record)) is not None
    ]
    return sum(known), len(known)


def _items(records: Iterable[JsonObject]) -> set[str]:
    return {str(record.get("item_id")) for record in records}
