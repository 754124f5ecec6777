"""Gather the scores of means and the errors of corpus rates, one row per independent unit.

A unit is an item (its mean over repeats), or a cluster where the contract declares them. A vendor's failed call has
the worst score of the scale, or all of its weight wrong; what nobody knows is counted as unknown, for both bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue, real9
from slaverify.contract import Outcome
from slaverify.decision.missing import NOBODYS, decimal_of, vendor_stopped
from slaverify.decision.terms import Terms

_NOBODYS = frozenset(outcome.value for outcome in NOBODYS)


def unit_rows(terms: Terms, records: Iterable[JsonObject]) -> list[JsonValue]:
    """Return [sum, unknown, size] per unit for a mean, [errors, weight, unknown, size] for a corpus rate.

    Sums are decimal strings with nine places, null where a score lies off the declared scale (never clipped); sizes
    count calls. Rows are in the order of the unit's id.
    """
    groups: dict[tuple[int, str], list[JsonObject]] = {}
    for record in records:
        cluster = record.get("cluster")
        by_cluster = terms.clustered and isinstance(cluster, str)
        key = (0, str(cluster)) if by_cluster else (1, str(record.get("item_id")))
        groups.setdefault(key, []).append(record)
    row = _errors if terms.kind == "corpus_rate" else _scores
    return [row(terms, groups[key]) for key in sorted(groups)]


def _scores(terms: Terms, records: list[JsonObject]) -> JsonValue:
    total, unknown, off_scale = Fraction(0), 0, terms.scale is None
    for record in records:
        score = decimal_of(record.get(terms.value))
        if score is not None and not _nobodys(record):
            total += Fraction(score)
            off_scale = off_scale or terms.scale is None or not terms.scale[0] <= score <= terms.scale[1]
        elif _nobodys(record) or record.get("outcome") == Outcome.ANSWERED.value:
            unknown += 1
        else:
            total += _worst_score(terms)
    return [None if off_scale else real9(total), unknown, len(records)]


def _errors(terms: Terms, records: list[JsonObject]) -> JsonValue:
    errors, weight, unknown, off_scale = Fraction(0), 0, 0, terms.w_max is None or terms.r_max is None
    ratio = Fraction(terms.r_max or 0)
    for record in records:
        wrong, words = _int(record.get("errors")), _int(record.get("weight"))
        if _nobodys(record) or words is None or (wrong is None and record.get("outcome") == Outcome.ANSWERED.value):
            unknown += 1
            continue
        # The cap on errors belongs to the metric's definition; a unit above w_max has no place on the scale. A unit of
        # no weight (a silence) may err once: what is said there counts, and nothing is divided by nothing.
        errors += min(Fraction(words if wrong is None else wrong), ratio * max(words, 1))
        weight += words
        off_scale = off_scale or words > (terms.w_max or 0)
    return [None if off_scale else real9(errors), weight, unknown, len(records)]


def _worst_score(terms: Terms) -> Fraction:
    if terms.scale is None:
        return Fraction(0)
    low, high = terms.scale
    return Fraction(low if terms.direction == "at_least" else high)


def _nobodys(record: JsonObject) -> bool:
    outcome = record.get("outcome")
    return not isinstance(outcome, str) or (outcome in _NOBODYS and not vendor_stopped(record))


def _int(value: JsonValue) -> int | None:
    return None if isinstance(value, bool) or not isinstance(value, int) or value < 0 else value
