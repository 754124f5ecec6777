"""Turn what the models refuse into errors of this product: code, file and line, field, mend, in both languages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from slaverify.canonical import JsonObject, StrictJsonError
from slaverify.errors import NOTHING, ProblemsError, SetError, Text
from slaverify.evalset.item import Item

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_EXPECTED = {
    "string_type": Text("se espera un texto entre comillas", "a quoted text is expected"),
    "int_type": Text("se espera un entero", "an integer is expected"),
    "bool_type": Text("se espera true o false", "true or false is expected"),
    "tuple_type": Text("se espera una lista", "a list is expected"),
    "dict_type": Text("se espera un objeto", "an object is expected"),
    "model_type": Text("se espera un objeto", "an object is expected"),
    "string_too_short": Text("el texto está vacío", "the text is empty"),
    "string_too_long": Text("el texto es demasiado largo", "the text is too long"),
    "too_short": Text("faltan elementos", "too few elements"),
    "too_long": Text("sobran elementos", "too many elements"),
    "none_required": Text("se espera null", "null is expected"),
}

_JSON = {
    "bom": Text("el archivo trae una marca BOM", "the file has a byte order mark"),
    "duplicate_key": Text("una clave está repetida", "a key stands twice"),
    "float": Text("un número con decimales: escríbalo entre comillas", "a number with decimals: quote it"),
    "integer": Text("un entero demasiado grande: escríbalo entre comillas", "an integer too large: quote it"),
    "non_finite": Text("NaN o infinito", "NaN or infinity"),
    "encoding": Text("bytes que no son UTF-8", "bytes that are not UTF-8"),
    "depth": Text("demasiados niveles", "too many levels"),
    "surrogate": Text("un sustituto suelto (\\ud800 a \\udfff)", "a lone surrogate (\\ud800 to \\udfff)"),
    "not_object": Text("se espera un objeto por línea", "one object a line is expected"),
    "not_canonical": Text("la línea no está en forma canónica (RFC 8785)", "the line is not canonical (RFC 8785)"),
    "trailing": Text("hay algo después del valor", "something follows the value"),
}

_MEND = Text("corrija la línea y repita", "mend the line and repeat")


def problem(code: str, what: Text, where: str, fix: Text = NOTHING) -> SetError:
    """Return an error of the set, with its place."""
    return SetError(code, what, fix=fix, where=where)


def json_problem(error: StrictJsonError, where: str) -> SetError:
    """Say what the strict reader refused."""
    what = _JSON.get(error.kind, Text("JSON mal formado", "malformed JSON"))
    detail = f" ({error.detail})" if error.detail else ""
    return problem("SLV-I001", Text(what.es + detail, what.en + detail), where, _MEND)


def parse_item(tree: JsonObject, *, where: str = "") -> Item:
    """Read one item strictly. Raises: ProblemsError with everything that is wrong with it."""
    item, problems = read_item(tree, where)
    if item is None:
        raise ProblemsError(problems)
    return item


def read_item(tree: JsonObject, where: str) -> tuple[Item | None, list[SetError]]:
    """Read one item; return it, or everything that is wrong with it (`where` is `file:line`)."""
    try:
        return Item.model_validate(tree), []
    except ValidationError as error:
        return None, [_one(detail, where) for detail in error.errors(include_url=False, include_input=True)]


def _one(detail: ErrorDetails, where: str) -> SetError:
    place = f"{where}: {_path(detail['loc'])}" if detail["loc"] else where
    kind = detail["type"]
    context: Mapping[str, object] = detail.get("ctx", {})
    if kind == "slaverify":
        return problem(str(context["code"]), Text(str(context["es"]), str(context["en"])), place)
    name = str(detail["loc"][-1]) if detail["loc"] else ""
    if kind == "missing":
        return problem("SLV-I003", Text(f"falta el campo {name}", f"field {name} is missing"), place)
    if kind == "extra_forbidden":
        return problem("SLV-I002", Text(f"campo desconocido: {name}", f"unknown field: {name}"), place, _nearest(name))
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        tags = str(context.get("expected_tags", "")) or "number, choice, entity, text, none…"
        return problem("SLV-I007", Text(f"clase de referencia; se espera {tags}", f"kind of reference; {tags}"), place)
    return problem("SLV-I004", _expected(kind, context), place)


def _expected(kind: str, context: Mapping[str, object]) -> Text:
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "literal_error":
        words = str(context.get("expected", "")).replace(" or ", ", ")
        return Text(f"se espera uno de: {words}", f"one of these is expected: {words}")
    if kind == "string_pattern_mismatch":
        pattern = str(context.get("pattern", ""))
        return Text(f"el texto no tiene la forma {pattern}", f"the text has not the form {pattern}")
    return Text(f"valor no admitido ({kind})", f"value not allowed ({kind})")


def _path(parts: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in parts)


def _nearest(name: str) -> Text:
    close = difflib.get_close_matches(name, _known_keys(), 1, 0.6)
    if not close:
        return Text("quite el campo, o póngalo dentro de ext", "remove the field, or put it inside ext")
    return Text(f"¿quiso decir {close[0]}?", f"did you mean {close[0]}?")


def _known_keys() -> Iterable[str]:
    return sorted(_keys_of(Item) | {"value", "kind", "unit", "tolerance", "aliases", "options", "accepted", "because"})


def _keys_of(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}
