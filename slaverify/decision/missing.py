"""Say what one score record is for one metric: met, failed, unknown, or outside.

The denominator is pinned before the first request; nothing that an engine does moves an item out of it.
Order of the rules: docs/spec/decision.md, "Fate of one record".
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import Outcome, matches
from slaverify.contract.words import UNATTRIBUTED_RETRY, VENDOR_STOP
from slaverify.decision.terms import Terms


class Fate(StrEnum):
    """What a record is for a metric."""

    SUCCESS = "x"
    FAILURE = "failures"
    VENDOR = "failures_vendor"
    UNRESOLVED = "unresolved"
    OPEN = "open"
    EXCLUDED = "excluded"


NOBODYS = frozenset(
    {Outcome.AUDITOR_FAILURE, Outcome.ENGINE_MISMATCH, Outcome.NOT_SENT, Outcome.UNRESOLVED},
)
"""Outcomes that never count against the vendor (but `not_sent` with the flag `vendor_stop`)."""

VENDORS = frozenset({Outcome.TRUNCATED, Outcome.EMPTY, Outcome.MALFORMED, Outcome.VENDOR_FAILURE})
"""Outcomes without a scored answer that are the vendor's."""

_AFTER_ALL = frozenset({Outcome.ANSWERED, Outcome.REFUSED, Outcome.TRUNCATED, Outcome.EMPTY})
"""Outcomes of an exchange that ended with a response."""

Filter: TypeAlias = Mapping[str, tuple[str | int | bool, ...]]

_UNDETERMINED = ("correctness", "grounding", "class")


def fate_of(terms: Terms, record: JsonObject) -> Fate:
    """Return the fate of one record that lies among the items of the metric (rates and quantiles)."""
    if _beside_the_point(terms, record):
        return Fate.EXCLUDED
    outcome = _outcome(record)
    if vendor_stopped(record) and not terms.names_outcome:
        return _failed_call(terms, record)
    if outcome is None or outcome in NOBODYS:
        # A word that is no outcome proves nothing against anybody.
        outside = terms.names_outcome and outcome not in (None, Outcome.UNRESOLVED)
        return Fate.EXCLUDED if outside else Fate.UNRESOLVED
    if terms.names_attempts and outcome in _AFTER_ALL and UNATTRIBUTED_RETRY in _words(record.get("flags")):
        # What broke off before was nobody's: without it this would have been the first attempt, or not.
        return Fate.UNRESOLVED
    if outcome in VENDORS:
        return _failed_call(terms, record)
    known = _meets(terms, record, outcome)
    if not terms.names_outcome and "cut_body" in _words(record.get("flags")) and known is not _failing(terms):
        # The second try that a cut body bought may lose, it never wins.
        return Fate.OPEN
    if known is None:
        return Fate.OPEN if "open" in _words(record.get("flags")) or _vague(record) else Fate.UNRESOLVED
    if terms.direction == "at_most":
        return Fate.FAILURE if known else Fate.SUCCESS
    if known:
        return Fate.SUCCESS
    return Fate.VENDOR if outcome == Outcome.REFUSED else Fate.FAILURE


def vendor_stopped(record: JsonObject) -> bool:
    """Tell whether a question was never asked because a fault of the vendor stopped the run."""
    return record.get("outcome") == Outcome.NOT_SENT and VENDOR_STOP in _words(record.get("flags"))


def _failing(terms: Terms) -> bool:
    return terms.direction == "at_most"


def _vague(record: JsonObject) -> bool:
    # The verdict is settled and only the class, or the grounding of what code refused, is in doubt: no later step will
    # say more.
    if record.get("verdict") is None:
        return False
    by_code = record.get("decided_by") == "rule"
    return record.get("class") == "undetermined" or (by_code and record.get("grounding") == "undetermined")


def _failed_call(terms: Terms, record: JsonObject) -> Fate:
    counted = terms.limit_ms is None and terms.cut is None and terms.count is not None and matches(terms.count, record)
    if terms.direction == "at_most":
        return Fate.VENDOR if counted else Fate.SUCCESS
    return Fate.SUCCESS if counted and terms.names_outcome else Fate.VENDOR


def _meets(terms: Terms, record: JsonObject, outcome: Outcome) -> bool | None:
    """Tell whether an answered or refused record matches what the metric counts; null if nobody can say yet."""
    known = True if terms.count is None else match_of(terms.count, record)
    if terms.cut is not None and known is not False:
        reached = reaches(record.get(terms.value), terms.cut)
        if reached is None and outcome != Outcome.ANSWERED:
            reached = False
        known = reached if known or reached is False else None
    if terms.limit_ms is not None and known is not False:
        in_time = within(record.get("latency_ms"), terms.limit_ms)
        known = in_time if known or in_time is False else None
    return known


def match_of(filter_: Filter, record: JsonObject) -> bool | None:
    """Return whether a record matches a filter, null where an unresolved part of it decides.

    `verdict` null is looked up with both ends of `bounds`; words `undetermined` and criteria `unresolved` could
    still become any other.
    """
    certain = True
    for key, accepted in filter_.items():
        worst, best = _ends(key, accepted, record)
        if not worst and not best:
            return False
        certain = certain and worst and best
    return True if certain else None


def _ends(key: str, accepted: tuple[str | int | bool, ...], record: JsonObject) -> tuple[bool, bool]:
    """Return whether the key matches under the two ends of what is still unknown (equal if nothing is)."""
    one = {key: accepted}
    if matches(one, record):
        certain = not (key in _UNDETERMINED and record.get(key) == "undetermined")
        return True, certain
    if key == "verdict" and record.get("verdict") is None:
        bounds = record.get("bounds")
        if isinstance(bounds, dict):
            ends = [matches(one, {**record, "verdict": bounds.get(end)}) for end in ("worst", "best")]
            return ends[0], ends[1]
        # No verdict although there was an answer: nobody may guess it.
        return False, _outcome(record) == Outcome.ANSWERED
    if key in _UNDETERMINED and record.get(key) == "undetermined":
        return False, True
    if key == "criteria" and _unresolved_criterion(accepted, record.get("criteria")):
        return False, True
    return False, False


def _beside_the_point(terms: Terms, record: JsonObject) -> bool:
    """Tell whether what is counted are criteria, none of which applies to the item; the item alone says so."""
    accepted = () if terms.count is None else terms.count.get("criteria", ())
    criteria = record.get("criteria")
    if not accepted or not isinstance(criteria, dict):
        return False
    return all(criteria.get(str(word).rpartition(":")[0]) == "not_applicable" for word in accepted)


def _unresolved_criterion(accepted: tuple[str | int | bool, ...], criteria: JsonValue) -> bool:
    if not isinstance(criteria, dict):
        return False
    names = {str(word).rpartition(":")[0] for word in accepted}
    return any(criteria.get(name) == "unresolved" for name in names)


def reaches(value: JsonValue, cut: Decimal) -> bool | None:
    """Tell whether a score reaches the cut, null without a score."""
    score = decimal_of(value)
    return None if score is None else score >= cut


def within(latency_ms: JsonValue, limit_ms: Fraction) -> bool | None:
    """Tell whether a latency lies within the limit, null without a latency."""
    if isinstance(latency_ms, bool) or not isinstance(latency_ms, int):
        return None
    return latency_ms <= limit_ms


def decimal_of(value: JsonValue) -> Decimal | None:
    """Return a finite decimal from its text, null for anything else."""
    if not isinstance(value, str):
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _outcome(record: JsonObject) -> Outcome | None:
    word = record.get("outcome")
    return Outcome(word) if isinstance(word, str) and word in _OUTCOMES else None


_OUTCOMES = frozenset(outcome.value for outcome in Outcome)


def _words(value: JsonValue) -> tuple[JsonValue, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()
