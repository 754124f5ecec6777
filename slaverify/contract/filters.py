"""Filters over score records: closed lists, no expressions, no code.

A filter maps a field of the record to its accepted values. Values of one key are alternatives; all keys must
hold. Only the fields of `FIELDS` may be named (those marked F in the score record's specification).

Source: docs/spec/contract.md section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.words import Outcome


@dataclass(frozen=True, slots=True)
class FilterField:
    """A field that a filter may name: its closed values (None: words of another room) and how it is read.

    `shape` is `plain` (the value itself), `reasons` (any rule has that reason), `counts` (that count is above
    zero), `pairs` (`id:met` over a map) or `codes` (any event or flag has that code).
    """

    shape: str
    values: tuple[str | int, ...] | None = None


_OUTCOMES = tuple(outcome.value for outcome in Outcome)

FIELDS: Mapping[str, FilterField] = {
    "stratum": FilterField("plain"),
    "cluster": FilterField("plain"),
    "run_outcome": FilterField("plain", _OUTCOMES),
    "outcome": FilterField("plain", _OUTCOMES),
    "class": FilterField("plain", ("answer", "abstention", "non_answer", "undetermined")),
    "abstention": FilterField("plain", ("necessary", "unnecessary")),
    "correctness": FilterField("plain", ("correct", "partial", "incorrect", "no_answer", "undetermined")),
    "grounding": FilterField("plain", ("grounded", "misgrounded", "ungrounded", "not_applicable", "undetermined")),
    "verdict": FilterField(
        "plain",
        ("accurate", "incomplete", "misgrounded", "incorrect", "abstention", "phantom_citation", "fabrication"),
    ),
    "rules": FilterField("reasons"),
    "citations": FilterField("counts", ("phantom", "expected_hit", "claimed")),
    "criteria": FilterField("pairs"),
    "state": FilterField("plain", ("VALID_STATE", "INVALID_STATE")),
    "flags": FilterField("codes"),
    "events": FilterField("codes"),
    "decided_by": FilterField("plain", ("rule", "judge", "person")),
    "attempts": FilterField("plain", (1, 2, 3, 4, 5)),
}
"""The fields that a filter may name."""

Filter = Mapping[str, Sequence[str | int | bool]]


def matches(filter_: Filter, record: JsonObject) -> bool:
    """Return whether the JSON form of a score record satisfies every key of `filter_`.

    An empty filter matches every record. A field that is null matches nothing.
    Raises: KeyError for a field that no filter may name (a loaded contract has none).
    """
    return all(_holds(FIELDS[key].shape, record.get(key), accepted) for key, accepted in filter_.items())


def _holds(shape: str, found: JsonValue, accepted: Sequence[str | int | bool]) -> bool:
    if found is None:
        return False
    if shape == "plain":
        return any(_same(found, value) for value in accepted)
    if shape == "counts":
        return isinstance(found, Mapping) and any(_above_zero(found.get(str(name))) for name in accepted)
    if shape == "pairs":
        return isinstance(found, Mapping) and any(f"{key}:{value}" in accepted for key, value in found.items())
    key = "reason" if shape == "reasons" else "code"
    return any(word in accepted for word in _words(found, key))


def _same(found: JsonValue, value: str | int | bool) -> bool:
    # True == 1 in Python: a filter must not take one for the other.
    return type(found) is type(value) and found == value


def _above_zero(count: JsonValue) -> bool:
    return isinstance(count, int) and not isinstance(count, bool) and count > 0


def _words(found: JsonValue, key: str) -> list[JsonValue]:
    if isinstance(found, str) or not isinstance(found, Sequence):
        return []
    return [member.get(key) if isinstance(member, Mapping) else member for member in found]
