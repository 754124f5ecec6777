"""Versioned data of the rules: cues, number symbols, profiles. Read once, when the room is imported."""

from __future__ import annotations

from importlib import resources

from slaverify.canonical import JsonObject, loads_object


def load(name: str) -> JsonObject:
    """Return the JSON object of the data file `name`; called at import only, the rules read no file."""
    return loads_object(resources.files(__name__).joinpath(name).read_bytes())


def word_list(name: str, key: str) -> frozenset[str]:
    """Return the words of the list `key` of the data file `name`; called at import only."""
    rows = load(name)[key]
    if not isinstance(rows, list):
        raise TypeError(key)
    return frozenset(str(row) for row in rows)
