"""Turn what the models refuse into findings: one sentence in each language, the mend, the nearest known key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from slaverify.canonical import JsonValue
from slaverify.contract.findings import Finding, Path, dotted, short
from slaverify.contract.hints import decimal_hint, pattern_hint, share_hint
from slaverify.contract.shape import field_at, known_keys, nearest
from slaverify.errors import NOTHING, Text

MAX_FINDINGS = 500
"""Most faults of fields that are reported at once."""

_SECRET_KEYS = ("secret", "token", "password", "key")
_TYPES = {
    "string_type": Text("un texto", "a text"),
    "int_type": Text("un entero", "a whole number"),
    "bool_type": Text("`true` o `false`", "`true` or `false`"),
    "dict_type": Text("un mapa de claves y valores", "a map of keys and values"),
    "model_type": Text("un bloque de claves y valores", "a block of keys and values"),
    "model_attributes_type": Text("un bloque de claves y valores", "a block of keys and values"),
    "tuple_type": Text("una lista", "a list"),
    "decimal_type": Text("un decimal entre comillas", "a decimal in quotes"),
}
_REASON = Text(
    "sin ella el veredicto no se puede defender: nada que lo mueva se decide después",
    "without it the verdict cannot be defended: nothing that moves it is decided later",
)
_LENGTHS = ("too_short", "too_long", "string_too_short", "string_too_long")
_BOUNDS = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
_TIMES = {
    "time_offset": Text(
        "agregue el desfase horario: `2026-01-01T00:00:00-03:00` o `…Z`",
        "add the offset: `2026-01-01T00:00:00-03:00` or `…Z`",
    ),
    "time_form": Text(
        "RFC 3339, por ejemplo `2026-01-01T00:00:00-03:00`", "RFC 3339, e.g. `2026-01-01T00:00:00-03:00`"
    ),
    "day_form": Text(
        "fecha ISO 8601 que exista, por ejemplo `2026-01-31`", "an ISO 8601 date that exists, e.g. `2026-01-31`"
    ),
}


def field_findings(error: ValidationError, tree: JsonValue, prefix: Path = ()) -> list[Finding]:
    """Return a finding for each fault that the models found in `tree`; `prefix` is where the tree hangs.

    The first `MAX_FINDINGS` alone: nobody reads more, and looking for the nearest key takes time.
    """
    return [_finding(details, tree, prefix) for details in error.errors(include_url=False)[:MAX_FINDINGS]]


def _finding(details: ErrorDetails, tree: JsonValue, prefix: Path) -> Finding:
    path = prefix + tuple(part for part in details["loc"] if not _is_tag(part))
    kind, name = details["type"], dotted(path)
    found = _value_at(tree, path[len(prefix) :])
    if kind == "missing":
        return _missing(path)
    if kind == "extra_forbidden":
        return _unknown(path)
    if details["loc"] and details["loc"][-1] == "[key]":
        what = Text(f"`{name}`: clave mal escrita", f"`{name}`: badly written key")
        return Finding("SLV-C016", path, what, pattern_hint(_context(details, "pattern")), at_key=True)
    if kind in ("decimal_form", "decimal_unquoted", "share_range", "negative", "timeout_range"):
        return _decimal(kind, path, found)
    if kind in _TYPES or kind in ("union_tag_invalid", "union_tag_not_found"):
        return _wrong_type(kind, path, found)
    if kind == "literal_error":
        return _not_listed(path, found, _choices(details))
    if kind in _TIMES:
        what = Text(f"`{name}`: {short(found)!r} no sirve", f"`{name}`: {short(found)!r} will not do")
        return Finding("SLV-C016", path, what, _TIMES[kind])
    if kind == "string_pattern_mismatch":
        return _malformed(path, found, _context(details, "pattern"))
    if kind in _LENGTHS or kind in _BOUNDS:
        return _out_of_bounds(path, details, found)
    return Finding("SLV-C012", path, Text(f"`{name}`: {details['msg']}", f"`{name}`: {details['msg']}"))


def _missing(path: Path) -> Finding:
    key = path[-1]
    field = field_at(path)
    example = field.examples[0] if field is not None and field.examples else None
    shown = f": `{key}: {short(_yaml(example))}`" if example is not None else ""
    return Finding(
        "SLV-C010",
        path[:-1],
        Text(f"falta `{dotted(path)}`", f"`{dotted(path)}` is missing"),
        Text(f"agregue la clave `{key}`{shown}", f"add the key `{key}`{shown}"),
        _REASON,
        at_key=True,
    )


def _unknown(path: Path) -> Finding:
    key, siblings = str(path[-1]), known_keys(path[:-1])
    near = nearest(key, siblings)
    where = f"`{dotted(path[:-1])}`" if path[:-1] else "la raíz"
    where_en = f"`{dotted(path[:-1])}`" if path[:-1] else "the root"
    if near is not None:
        fix = Text(f"¿quiso decir `{near}`?", f"did you mean `{near}`?")
    elif path[:-1] == ("failed_calls",) and key == "engine_mismatch":
        fix = Text("eso lo decide `engine.on_mismatch`", "`engine.on_mismatch` decides that")
    else:
        listed = ", ".join(siblings[:12]) + (", …" if len(siblings) > 12 else "")
        fix = Text(f"las claves de {where} son: {listed}", f"the keys of {where_en} are: {listed}")
    return Finding(
        "SLV-C011",
        path,
        Text(f"clave desconocida `{dotted(path)}`", f"unknown key `{dotted(path)}`"),
        fix,
        at_key=True,
    )


def _decimal(kind: str, path: Path, found: JsonValue) -> Finding:
    name, text = dotted(path), str(found)
    if kind == "decimal_unquoted":
        what = Text(f"`{name}`: número sin comillas: {short(text)}", f"`{name}`: unquoted number: {short(text)}")
        return Finding("SLV-C013", path, what, Text(f'póngalo entre comillas: "{text}"', f'quote it: "{text}"'))
    if kind == "share_range":
        what = Text(f"`{name}`: {short(text)} no es una proporción", f"`{name}`: {short(text)} is no share")
        return Finding("SLV-C015", path, what, share_hint(text))
    if kind == "negative":
        what = Text(f"`{name}`: {short(text)} es negativo", f"`{name}`: {short(text)} is negative")
        return Finding("SLV-C018", path, what, Text('"0" o más', '"0" or more'))
    if kind == "timeout_range":
        what = Text(f"`{name}` fuera de rango: {short(text)}", f"`{name}` out of range: {short(text)}")
        return Finding("SLV-C018", path, what, Text('más de "0" y hasta "600"', 'above "0" and at most "600"'))
    what = Text(f"`{name}`: {short(text)!r} no es un decimal", f"`{name}`: {short(text)!r} is no decimal")
    return Finding("SLV-C014", path, what, decimal_hint(text))


def _wrong_type(kind: str, path: Path, found: JsonValue) -> Finding:
    name = dotted(path)
    if found is None:
        what = Text(f"`{name}` está vacío", f"`{name}` is empty")
        return Finding(
            "SLV-C010", path, what, Text("dele un valor o borre la clave", "give it a value or delete the key")
        )
    if kind == "string_type" and isinstance(found, bool | int):
        text = str(found).lower()
        what = Text(f"`{name}`: {text} sin comillas no es un texto", f"`{name}`: unquoted {text} is no text")
        return Finding("SLV-C013", path, what, Text(f'póngalo entre comillas: "{text}"', f'quote it: "{text}"'))
    due = _TYPES.get(kind, Text("otro tipo de valor", "another type of value"))
    fix = NOTHING
    if kind == "int_type" and isinstance(found, str) and found.isascii() and found.isdigit():
        fix = Text(f"quite las comillas: {found}", f"drop the quotes: {found}")
    elif kind == "tuple_type":
        fix = Text("ponga cada valor en su línea, con guion", "put each value on its line, with a hyphen")
    return Finding("SLV-C012", path, Text(f"`{name}`: se esperaba {due.es}", f"`{name}`: {due.en} was expected"), fix)


def _not_listed(path: Path, found: JsonValue, choices: tuple[str, ...]) -> Finding:
    name, listed = dotted(path), ", ".join(choices)
    near = nearest(str(found), choices)
    es, en = f"use uno de: {listed}", f"use one of: {listed}"
    if near is not None:
        es, en = f"¿quiso decir `{near}`? ({es})", f"did you mean `{near}`? ({en})"
    what = Text(f"`{name}`: {short(found)!r} no está permitido", f"`{name}`: {short(found)!r} is not allowed")
    return Finding("SLV-C012", path, what, Text(es, en))


def _malformed(path: Path, found: JsonValue, pattern: str) -> Finding:
    name = dotted(path)
    if "keyring:" in pattern or str(path[-1]).lower() in _SECRET_KEYS:
        # The value may be the secret itself: it is never repeated.
        what = Text(f"`{name}`: no es una referencia a un secreto", f"`{name}`: no reference to a secret")
        return Finding("SLV-C029", path, what, pattern_hint("keyring:"))
    what = Text(f"`{name}`: {short(found)!r} está mal escrito", f"`{name}`: {short(found)!r} is badly written")
    return Finding("SLV-C016", path, what, pattern_hint(pattern))


def _out_of_bounds(path: Path, details: ErrorDetails, found: JsonValue) -> Finding:
    name = dotted(path)
    limits = {
        "greater_than": ("gt", "mayor que", "above"),
        "greater_than_equal": ("ge", "desde", "at least"),
        "less_than": ("lt", "menor que", "below"),
        "less_than_equal": ("le", "hasta", "at most"),
        "too_short": ("min_length", "con al menos", "with at least"),
        "too_long": ("max_length", "con a lo más", "with at most"),
    }
    key, es, en = limits[details["type"].removeprefix("string_")]
    limit = _context(details, key)
    unit = ("", "") if details["type"] in _BOUNDS else (" elementos", " elements")
    if details["type"].startswith("string_"):
        unit = (" caracteres", " characters")
    shown = short(found) if isinstance(found, str | int) and details["type"] in _BOUNDS else ""
    what = Text(f"`{name}` fuera de rango {shown}".rstrip(), f"`{name}` out of range {shown}".rstrip())
    return Finding("SLV-C018", path, what, Text(f"{es} {limit}{unit[0]}", f"{en} {limit}{unit[1]}"))


def _choices(details: ErrorDetails) -> tuple[str, ...]:
    expected = _context(details, "expected")
    return tuple(part.strip().strip("'") for part in expected.replace(" or ", ", ").split(",") if part.strip())


def _context(details: ErrorDetails, key: str) -> str:
    context: Mapping[str, object] = details.get("ctx") or {}
    return str(context.get(key, ""))


def _is_tag(part: str | int) -> bool:
    return isinstance(part, str) and (part == "[key]" or (part.startswith("<") and part.endswith(">")))


def _value_at(tree: JsonValue, path: Path) -> JsonValue:
    for part in path:
        if isinstance(tree, Mapping) and isinstance(part, str):
            tree = tree.get(part)
        elif isinstance(tree, Sequence) and not isinstance(tree, str) and isinstance(part, int) and part < len(tree):
            tree = tree[part]
        else:
            return None
    return tree


def _yaml(example: object) -> str:
    return "{…}" if isinstance(example, dict | BaseModel) else str(example).replace("'", '"')
