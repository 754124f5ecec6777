"""Data of the room: the rubrics and their texts, style and script of the label page. Read once, at import."""

from __future__ import annotations

from importlib import resources

from slaverify.canonical import JsonObject, loads_object


def load(name: str) -> JsonObject:
    """Return the JSON object of the data file `name`; called at import only, the pure half reads no file."""
    return loads_object(resources.files(__name__).joinpath(name).read_bytes())


def read_text(name: str) -> str:
    """Return a text file of the room; called at import only."""
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
