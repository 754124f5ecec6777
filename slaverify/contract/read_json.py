"""TRUST BOUNDARY: a contract as JSON. Values come from the strict reader, places from a scan of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from slaverify.canonical import MAX_INTEGER, JsonValue, NumberText, StrictJsonError, loads_strict
from slaverify.contract.findings import Path, short
from slaverify.contract.source import MAX_DEPTH, MAX_NODES, Mark, Source, Unreadable, too_deep, too_large
from slaverify.errors import Text

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_CODES = {"duplicate_key": "SLV-C003", "depth": "SLV-C007", "encoding": "SLV-C001", "bom": "SLV-C001"}
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,15})")


def read_json(text: str, name: str) -> Source:
    """Return the tree of a JSON text with the place of each value.

    Raises: Unreadable for what the strict reader refuses (syntax, duplicate keys, depth, surrogates).
    """
    source = Source(name)
    try:
        value = loads_strict(text.encode("utf-8", "surrogatepass"), max_depth=MAX_DEPTH, numbers="text")
    except StrictJsonError as error:
        if error.kind == "depth":
            raise too_deep((1, 1)) from error
        raise Unreadable(
            _CODES.get(error.kind, "SLV-C002"),
            Text(f"no es JSON estricto: {short(error)}", f"not strict JSON: {short(error)}"),
            Text(
                "claves sin repetir, comillas dobles, sin comentarios ni comas finales",
                "no repeated keys, double quotes, no comments, no final commas",
            ),
            _error_mark(text, error),
        ) from error
    _Places(source, text).scan()
    if len(source.values) > MAX_NODES:
        raise too_large((1, 1))
    source.tree = _plain(value, (), source)
    return source


def _plain(value: JsonValue, path: Path, source: Source) -> JsonValue:
    if isinstance(value, NumberText):
        if _WHOLE.fullmatch(value) and abs(int(value)) <= MAX_INTEGER and value != "-0":
            return int(value)
        source.unquoted(path, value)
        return str(value)
    if isinstance(value, str):
        return source.clean(value, path)
    if isinstance(value, dict):
        out: dict[str, JsonValue] = {}
        for key, member in value.items():
            clean = source.clean(key, (*path, key), at_key=True)
            if clean in out:
                source.duplicate((*path, clean))
            else:
                out[clean] = _plain(member, (*path, clean), source)
        return out
    if isinstance(value, list):
        return [_plain(member, (*path, index), source) for index, member in enumerate(value)]
    return value


class _Places:
    """Walks the tokens of a text that is known to be JSON and notes where keys and values stand."""

    def __init__(self, source: Source, text: str) -> None:
        self._source = source
        self._tokens = self._scan(text)

    def scan(self) -> None:
        self._value(next(self._tokens), ())

    @staticmethod
    def _scan(text: str) -> Iterator[tuple[str, Mark]]:
        line, start, position = 1, 0, 0
        for match in _TOKEN.finditer(text):
            newlines = text.count("\n", position, match.start())
            if newlines:
                line += newlines
                start = text.rfind("\n", position, match.start()) + 1
            position = match.start()
            yield match.group(), (line, match.start() - start + 1)

    def _value(self, token: tuple[str, Mark], path: Path) -> None:
        text, mark = token
        self._source.values[path] = mark
        if text == "[":
            index = 0
            while (token := next(self._tokens))[0] != "]":
                if token[0] != ",":
                    self._value(token, (*path, index))
                    index += 1
        elif text == "{":
            while (token := next(self._tokens))[0] != "}":
                if token[0] == ",":
                    continue
                place = (*path, _key(token[0], self._source))
                self._source.keys.setdefault(place, token[1])
                next(self._tokens)
                self._value(next(self._tokens), place)


def _key(token: str, source: Source) -> str:
    quiet = Source(source.name)
    return quiet.clean(str(json.loads(token)), ())


def _error_mark(text: str, error: StrictJsonError) -> Mark:
    at = re.fullmatch(r"character ([0-9]+)", error.detail)
    if at is None and error.kind == "duplicate_key":
        second = [match.start() for match in re.finditer(re.escape(error.detail.strip("'")), text)][1:2]
        offset = second[0] - 1 if second else 0
    else:
        offset = int(at[1]) if at else 0
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1
