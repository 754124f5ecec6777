"""The JSON Schema of `item/1`, packaged: its digest stands in each sealed bank."""

from __future__ import annotations

from importlib import resources

from slaverify.canonical import JsonObject, jcs, loads_object, sha256_hex

_DATA = resources.files("slaverify.evalset").joinpath("item.schema.json").read_bytes()


def item_schema() -> JsonObject:
    """Return the JSON Schema (2020-12) of an item."""
    return loads_object(_DATA)


def item_schema_sha256() -> str:
    """Return the SHA-256 of the schema's RFC 8785 bytes, bare hex."""
    return sha256_hex(jcs(item_schema()))
