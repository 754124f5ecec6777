"""Read values out of strict JSON trees that nobody has checked yet.

Boundary: `report.json` and the record files come from outside. A value of another kind is `MalformedError`, which
fails the check that asked for it; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slaverify.canonical import JsonObject, JsonValue


class MalformedError(ValueError):
    """A key that is missing or of another kind; the message is the key."""


def text(tree: JsonObject, key: str) -> str:
    """Return a string member. Raises: MalformedError."""
    value = tree.get(key)
    if not isinstance(value, str):
        raise MalformedError(key)
    return value


def text_or_none(tree: JsonObject, key: str) -> str | None:
    """Return a string member, None where it is null or absent. Raises: MalformedError."""
    return None if tree.get(key) is None else text(tree, key)


def count(tree: JsonObject, key: str) -> int:
    """Return a member that is an integer from 0. Raises: MalformedError."""
    value = tree.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise MalformedError(key)
    return value


def count_or_none(tree: JsonObject, key: str) -> int | None:
    """Return a member that is an integer from 0, None where it is null or absent. Raises: MalformedError."""
    return None if tree.get(key) is None else count(tree, key)


def obj(tree: JsonObject, key: str) -> JsonObject:
    """Return a member that is an object. Raises: MalformedError."""
    value = tree.get(key)
    if not isinstance(value, Mapping):
        raise MalformedError(key)
    return value


def objects(tree: JsonObject, key: str) -> list[JsonObject]:
    """Return a member that is a list of objects. Raises: MalformedError."""
    value = tree.get(key)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise MalformedError(key)
    out = []
    for member in value:
        if not isinstance(member, Mapping):
            raise MalformedError(key)
        out.append(member)
    return out


def counts(tree: JsonObject, key: str) -> dict[str, int]:
    """Return a member that maps names to integers from 0. Raises: MalformedError."""
    return {name: count(obj(tree, key), name) for name in obj(tree, key)}


def integers(tree: JsonObject, key: str) -> list[int]:
    """Return a member that is a list of integers, empty where it is absent. Raises: MalformedError."""
    value = tree.get(key, [])
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise MalformedError(key)
    return [count({key: member}, key) for member in value]


def first_difference(stored: JsonValue, computed: JsonValue, path: str = "") -> tuple[str, str, str] | None:
    """Return where two trees first differ: path, stored value, computed value; None where they are equal."""
    if isinstance(stored, Mapping) and isinstance(computed, Mapping):
        for key in sorted({*stored, *computed}):
            if key not in stored or key not in computed:
                side = ("–", short(computed[key])) if key not in stored else (short(stored[key]), "–")
                return (f"{path}.{key}".lstrip("."), *side)
            found = first_difference(stored[key], computed[key], f"{path}.{key}".lstrip("."))
            if found is not None:
                return found
        return None
    if _is_list(stored) and _is_list(computed):
        return _first_in_lists(stored, computed, path)
    same = type(stored) is type(computed) and stored == computed
    return None if same else (path, short(stored), short(computed))


def short(value: JsonValue) -> str:
    """Return a value for a sentence, at most 80 characters."""
    shown = str(value)
    return shown if len(shown) <= 80 else shown[:77] + "…"


def _is_list(value: JsonValue) -> bool:
    return isinstance(value, list | tuple)


def _first_in_lists(stored: JsonValue, computed: JsonValue, path: str) -> tuple[str, str, str] | None:
    left = list(stored) if isinstance(stored, list | tuple) else []
    right = list(computed) if isinstance(computed, list | tuple) else []
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        found = first_difference(one, other, f"{path}[{index}]")
        if found is not None:
            return found
    if len(left) != len(right):
        return f"{path}: length", str(len(left)), str(len(right))
    return None
