"""Write a tree as YAML that people read and that loads back to the same tree: every decimal in quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from slaverify.canonical import JsonObject, JsonValue

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@-]*")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_BLOCK = re.compile(r"[!-~][ -~]*(\n[!-~][ -~]*)+\n?")


def dump_yaml(tree: JsonObject, *, heading: str = "") -> str:
    """Return `tree` as YAML 1.2. `heading` becomes comment lines at the top.

    Words stand plain, other texts in double quotes, certificates as blocks; keys keep their order.
    """
    lines = [f"# {line}".rstrip() for line in heading.splitlines()]
    lines.extend(_map(tree, 0))
    return "\n".join(lines) + "\n"


def _map(node: JsonObject, indent: int) -> Iterator[str]:
    for key, value in node.items():
        name = key if _KEY.fullmatch(key) and key.lower() not in _RESERVED else _quoted(key)
        yield from _entry(" " * indent + f"{name}:", value, indent + 2)


def _list(node: list[JsonValue], indent: int) -> Iterator[str]:
    for member in node:
        if isinstance(member, dict) and member:
            lines = list(_map(member, indent + 2))
            yield " " * indent + "- " + lines[0][indent + 2 :]
            yield from lines[1:]
        else:
            yield from _entry(" " * indent + "-", member, indent + 2)


def _entry(start: str, value: JsonValue, indent: int) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield start
        yield from _map(value, indent)
    elif isinstance(value, list | tuple) and value:
        yield start
        yield from _list(list(value), indent)
    elif isinstance(value, str) and _BLOCK.fullmatch(value):
        yield start + (" |" if value.endswith("\n") else " |-")
        yield from (" " * indent + line for line in value.removesuffix("\n").split("\n"))
    else:
        yield f"{start} {_scalar(value)}"


def _scalar(value: JsonValue) -> str:
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED else _quoted(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    return "{}" if isinstance(value, dict) else "[]"


def _quoted(text: str) -> str:
    # A JSON string is a YAML double-quoted scalar; DEL and the separators of lines are not printable in YAML.
    out = json.dumps(text, ensure_ascii=False)
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff]", lambda match: f"\\u{ord(match[0]):04x}", out)
