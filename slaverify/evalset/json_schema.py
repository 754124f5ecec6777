"""JSON Schema 2020-12 of a reference: checked once when the item is read, applied to answers by the rule.

Nothing is ever fetched: a reference that does not stay inside the schema is refused.

Source: JSON Schema 2020-12, package jsonschema 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from slaverify.canonical import NumberText
from slaverify.evalset.fields import refuse

_REFERENCES = ("$ref", "$dynamicRef")
_LARGEST = 64
"""Digits before the point that a number of an answer may stand for; an exponent could ask for a gigabyte."""


def check_schema(schema: object) -> None:
    """Refuse a schema that is none, or that points outside of itself. Raises: ValueError SLV-I007."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types of its own
    from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]  # as above

    if any(not target.startswith("#") for target in _targets(schema)):
        raise refuse("SLV-I007", "$ref fuera del propio esquema", "$ref outside of the schema itself")
    try:
        Draft202012Validator.check_schema(_plain(schema))
    except SchemaError as error:
        where = error.json_path
        raise refuse("SLV-I007", f"esquema JSON inválido en {where}", f"invalid JSON schema at {where}") from error


def satisfies(value: object, schema: object) -> bool:
    """Tell whether `value` meets `schema`, which `check_schema` accepted; nothing meets a broken reference."""
    from jsonschema import Draft202012Validator
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        return bool(Draft202012Validator(_plain(schema), registry=Registry()).is_valid(_plain(value)))
    except (Unresolvable, RecursionError):
        return False


def _targets(tree: object) -> list[str]:
    if isinstance(tree, Mapping):
        own = [str(tree[key]) for key in _REFERENCES if isinstance(tree.get(key), str)]
        return own + [target for value in tree.values() for target in _targets(value)]
    if isinstance(tree, Sequence) and not isinstance(tree, str):
        return [target for value in tree for target in _targets(value)]
    return []


def _plain(value: object) -> object:
    # frozen trees and numbers as text become what jsonschema knows
    if isinstance(value, NumberText):
        number = Decimal(str(value))
        if abs(number.adjusted()) > _LARGEST:
            return str(value)
        return int(number) if number == number.to_integral_value() else number
    if isinstance(value, Mapping):
        return {str(key): _plain(member) for key, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(member) for member in value]
    return value
