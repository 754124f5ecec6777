"""How much an engine varies when it is asked the same again: the dispersion sample, which decides nothing. Pure.

Source: docs/spec/decision.md, section 6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from slaverify.canonical import JsonObject, JsonValue, real9
from slaverify.contract import Contract, matches
from slaverify.decision.missing import Fate, fate_of
from slaverify.decision.terms import Terms, terms_of
from slaverify.statistics import icc_one_way

DISPERSION_TYPE = "slaverify/dispersion/1"
_RIGHT = {Fate.SUCCESS: True, Fate.FAILURE: False, Fate.VENDOR: False}


def dispersion(contract: Contract, records: Sequence[JsonObject]) -> JsonObject | None:
    """Return `slaverify/dispersion/1` over the score records of the calls beyond the agreed ones; None if none are.

    Raises nothing: what a record does not decide is counted as undecided.
    """
    agreed = contract.repetitions.dispersion_sample
    if agreed is None:
        return None
    metrics: list[JsonValue] = [_entry(terms, records, agreed.repeats) for terms in terms_of(contract)]
    return {"type": DISPERSION_TYPE, "items": agreed.items, "repeats": agreed.repeats, "metrics": metrics}


def _entry(terms: Terms, records: Sequence[JsonObject], repeats: int) -> JsonObject:
    entry: dict[str, JsonValue] = {
        "id": terms.id,
        "items": 0,
        "undecided": 0,
        "histogram": {},
        "icc": None,
        "low": None,
        "high": None,
        "reason": "not_counted",
    }
    if not terms.sampled:
        # A mean or a rate of errors has no success to count.
        return entry
    calls: dict[str, list[bool | None]] = {}
    for record in records:
        if matches(terms.among, record):
            calls.setdefault(str(record.get("item_id")), []).append(_RIGHT.get(fate_of(terms, record)))
    whole = [found for found in calls.values() if None not in found and len(found) == repeats]
    histogram = Counter(found.count(True) for found in whole)
    entry |= {
        "items": len(whole),
        "undecided": len(calls) - len(whole),
        "histogram": {str(right): histogram[right] for right in sorted(histogram)},
        "reason": "too_few_items",
    }
    if len(whole) >= 2:
        rows = [[1.0] * right + [0.0] * (repeats - right) for right in sorted(histogram.elements())]
        found = icc_one_way(rows)
        ends = {"icc": found.icc, "low": found.low, "high": found.high}
        entry |= {name: None if value is None else real9(value) for name, value in ends.items()}
        entry["reason"] = found.reason
    return entry
