"""The JSON Schema of `contract/1`, generated from the models: what an editor completes and checks while people type.

Each key has a description, its unit where it has one, and an example. A draft may say `{pending: <party>}` in place
of any value. What only the loader can check (sums, references, decidability) is not in it.

Source: JSON Schema 2020-12; docs/spec/contract.md.
"""

from __future__ import annotations

import json
from typing import TypeAlias

from pydantic import BaseModel

from slaverify.canonical import JsonValue
from slaverify.contract.library import FILLED, LIBRARY
from slaverify.contract.model.root import Contract
from slaverify.contract.words import Role

Node: TypeAlias = dict[str, JsonValue]

_PENDING = {"$ref": "#/$defs/Pending"}
_UNITS = (
    ("_s", "seconds"),
    ("_days", "days"),
    ("_hours", "hours"),
    ("_bytes", "bytes"),
    ("_tokens", "tokens"),
    ("_chars", "characters"),
)
_EXAMPLES: dict[str, JsonValue] = {"string": "texto", "integer": 1, "boolean": False, "array": [], "object": {}}


def json_schema() -> Node:
    """Return the schema, JSON Schema 2020-12."""
    made: dict[str, JsonValue] = json.loads(json.dumps(Contract.model_json_schema(by_alias=True), default=_plain))
    definitions = made.get("$defs")
    blocks = definitions if isinstance(definitions, dict) else {}
    for block in [made, *blocks.values()]:
        if isinstance(block, dict):
            _finish(block, blocks)
    metric, parties = blocks.get("Metric"), blocks.get("Parties")
    if isinstance(metric, dict):
        _relax(metric)
    if isinstance(parties, dict):
        _allow_word(parties)
    blocks["Pending"] = {
        "description": "Owed by a party; a draft alone may say so",
        "type": "object",
        "additionalProperties": False,
        "required": ["pending"],
        "properties": {"pending": {"enum": [role.value for role in Role], "description": "Who owes the value"}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:slaverify:schema:contract:1",
        **{key: value for key, value in made.items() if key != "$defs"},
        "title": "slaverify contract/1",
        "$defs": dict(sorted(blocks.items())),
    }


def schema_text() -> str:
    """Return the schema as the file `contract.schema.json` holds it."""
    return json.dumps(json_schema(), ensure_ascii=False, indent=1) + "\n"


def _finish(block: Node, blocks: Node) -> None:
    properties = block.get("properties")
    if not isinstance(properties, dict):
        return
    for key, field in properties.items():
        if not isinstance(field, dict):
            continue
        unit = next((word for suffix, word in _UNITS if key.endswith(suffix)), None)
        kept = {name: field[name] for name in ("description", "default", "examples", "title") if name in field}
        inner = {name: value for name, value in field.items() if name not in kept and name != "unit"}
        description = str(kept.get("description", key))
        if unit is not None and unit not in description:
            description = f"{description}, {unit}"
        kept.pop("title", None)
        if "examples" not in kept:
            default = kept.get("default")
            kept["examples"] = [_example(inner, blocks) if default is None else default]
        properties[key] = {**kept, "description": description, "anyOf": [inner, _PENDING]}


def _example(field: Node, blocks: Node) -> JsonValue:
    """Return a value of the form that the field asks for; of a choice, that of its first form."""
    if "const" in field:
        constant: JsonValue = field["const"]
        return constant
    enum = field.get("enum")
    if isinstance(enum, list) and enum:
        first: JsonValue = enum[0]
        return first
    options = field.get("anyOf") or field.get("oneOf")
    if isinstance(options, list) and options and isinstance(options[0], dict):
        return _example(options[0], blocks)
    reference = field.get("$ref")
    if isinstance(reference, str):
        target = blocks.get(reference.rsplit("/", 1)[-1])
        return {} if isinstance(target, dict) else None
    if "quotes" in str(field.get("description", "")) or field.get("pattern") == r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$":
        return "0.05"
    return _EXAMPLES.get(str(field.get("type")), "…")


def _relax(metric: Node) -> None:
    """What a ready metric fills is not required of the file."""
    required = metric.get("required")
    if isinstance(required, list):
        metric["required"] = [key for key in required if key not in FILLED]
        metric["anyOf"] = [{"required": ["library"]}, {"required": [key for key in required if key in FILLED]}]
    properties = metric.get("properties")
    library = properties.get("library") if isinstance(properties, dict) else None
    if isinstance(library, dict):
        library["examples"] = list(LIBRARY)


def _allow_word(parties: Node) -> None:
    properties = parties.get("properties")
    for role in properties.values() if isinstance(properties, dict) else ():
        if isinstance(role, dict) and isinstance(role.get("anyOf"), list):
            role["anyOf"] = [*role["anyOf"], {"const": "pending"}]


def _plain(value: object) -> JsonValue:
    if isinstance(value, BaseModel):
        dumped: JsonValue = value.model_dump(mode="json", by_alias=True)
        return dumped
    return str(value)
