"""TRUST BOUNDARY: the text of a contract in YAML 1.2, read event by event so that each scalar keeps its source text.

The core schema of YAML 1.2 is narrowed: plain `true`, `false` and `null` are themselves, plain JSON integers are
integers, everything else that looks like a number is refused with "quote it", and the rest is text (`no`, `on` and
`12:30` among it). Anchors, aliases, merge keys, tags, directives and further documents are refused.

Source: YAML 1.2.2 chapter 10; docs/spec/contract.md section 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from slaverify.canonical import MAX_INTEGER, JsonValue
from slaverify.contract.findings import Path, short
from slaverify.contract.source import MAX_DEPTH, MAX_LINE, MAX_NODES, Mark, Source, Unreadable, too_deep, too_large
from slaverify.errors import Text

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER_LIKE = re.compile(
    r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
_NULLS = ("", "~", "null", "Null", "NULL")
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_BREAKERS = (YAMLError, ValueError, IndexError, AttributeError, TypeError, OverflowError, AssertionError, KeyError)


def read_yaml(text: str, name: str) -> Source:
    """Return the tree of a YAML document with the place of each value.

    Raises: Unreadable for a syntax error, a second document, a directive, too many levels or an empty document.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE:
            raise too_large((number, 1))
    source = Source(name)
    builder = _Builder(source, _events(text))
    builder.document()
    return source


def _events(text: str) -> Iterator[Event]:
    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
        raise _syntax(str(error.problem or error.context or "?"), place) from error
    except _BREAKERS as error:
        # The scanner has no single family of errors for hostile text; none of them may leave this module.
        raise _syntax(short(error), (1, 1)) from error


class _Builder:
    """Consumes the events of one document; recursion is bounded by the depth cap."""

    def __init__(self, source: Source, events: Iterator[Event]) -> None:
        self._source = source
        self._events = events
        self._nodes = 0

    def document(self) -> None:
        start = next(self._events)
        while isinstance(start, StreamStartEvent):
            start = next(self._events)
        if isinstance(start, StreamEndEvent):
            raise Unreadable("SLV-C009", Text("el archivo está vacío", "the file is empty"))
        if isinstance(start, DocumentStartEvent) and (start.version or start.tags):
            raise Unreadable(
                "SLV-C005",
                Text("directiva de YAML no permitida", "YAML directive not allowed"),
                Text("borre la línea que empieza con %", "delete the line that begins with %"),
                _mark(start),
            )
        self._source.tree = self._node(next(self._events), (), 1)
        for event in self._events:
            if not isinstance(event, DocumentEndEvent | StreamEndEvent):
                raise Unreadable(
                    "SLV-C006",
                    Text("más de un documento en el archivo", "more than one document in the file"),
                    Text("deje un solo documento, sin `---` en medio", "keep one document, without `---` inside"),
                    _mark(event),
                )

    def _node(self, event: Event, path: Path, depth: int) -> JsonValue:
        self._source.values[path] = _mark(event)
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise too_large(_mark(event))
        if isinstance(event, AliasEvent):
            self._refuse_alias(path)
            return None
        if isinstance(event, NodeEvent) and event.anchor:
            self._refuse_alias(path)
        if isinstance(event, ScalarEvent):
            self._refuse_tag(event, path)
            return self._scalar(event, path)
        if depth > MAX_DEPTH:
            raise too_deep(_mark(event))
        self._refuse_tag(event, path)
        if isinstance(event, MappingStartEvent):
            return self._mapping(path, depth)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(path, depth)
        raise Unreadable("SLV-C009", Text("el archivo está vacío", "the file is empty"), mark=_mark(event))

    def _sequence(self, path: Path, depth: int) -> list[JsonValue]:
        out: list[JsonValue] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            out.append(self._node(event, (*path, len(out)), depth + 1))
        return out

    def _mapping(self, path: Path, depth: int) -> dict[str, JsonValue]:
        out: dict[str, JsonValue] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            key = self._key(event, path)
            place = (*path, key)
            known = place in self._source.keys
            kept = self._source.keys.get(place), self._source.values.get(place)
            self._source.keys[place] = _mark(event)
            if known:
                self._source.duplicate(place)
            value = self._node(next(self._events), place, depth + 1)
            if not known:
                out[key] = value
            elif kept[1] is not None:
                self._source.values[place] = kept[1]
        return out

    def _key(self, event: Event, path: Path) -> str:
        if not isinstance(event, ScalarEvent) or event.anchor:
            raise Unreadable(
                "SLV-C002" if not isinstance(event, AliasEvent | ScalarEvent) else "SLV-C004",
                Text("una clave tiene que ser un texto", "a key has to be a text"),
                mark=_mark(event),
            )
        key = self._source.clean(event.value, path)
        if event.style is None and key == "<<":
            self._refuse_alias((*path, key))
        self._refuse_tag(event, (*path, key))
        plain = event.style is None
        if plain and (key in _NULLS or key in _BOOLEANS or _NUMBER_LIKE.fullmatch(key)):
            self._source.keys[(*path, key)] = _mark(event)
            self._source.problem(
                "SLV-C013",
                (*path, key),
                Text(f"la clave {key!r} no es un texto", f"the key {key!r} is no text"),
                Text(f'póngala entre comillas: "{key}"', f'quote it: "{key}"'),
                at_key=True,
            )
            del self._source.keys[(*path, key)]
        return key

    def _scalar(self, event: ScalarEvent, path: Path) -> JsonValue:
        text: str = event.value
        if event.style is not None:
            return self._source.clean(text, path)
        if text in _NULLS:
            return None
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        if _INTEGER.fullmatch(text) and len(text) <= 17 and abs(int(text)) <= MAX_INTEGER and text != "-0":
            return int(text)
        if _NUMBER_LIKE.fullmatch(text):
            self._source.unquoted(path, text)
        return self._source.clean(text, path)

    def _refuse_alias(self, path: Path) -> None:
        self._source.problem(
            "SLV-C004",
            path,
            Text("anclas, alias y `<<` no se permiten", "anchors, aliases and `<<` are not allowed"),
            Text("escriba el valor completo", "write the value in full"),
        )

    def _refuse_tag(self, event: Event, path: Path) -> None:
        tag = getattr(event, "tag", None)
        if tag:
            self._source.problem(
                "SLV-C005",
                path,
                Text(f"etiqueta de YAML no permitida: {short(tag)}", f"YAML tag not allowed: {short(tag)}"),
                Text("quítela; use comillas si el valor es un texto", "drop it; use quotes if the value is a text"),
            )


def _mark(event: Event) -> Mark:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1)


def _syntax(detail: str, mark: Mark) -> Unreadable:
    return Unreadable(
        "SLV-C002",
        Text(f"no es YAML válido: {short(detail)}", f"not valid YAML: {short(detail)}"),
        Text(
            "revise sangría, comillas y dos puntos de esa línea",
            "check indentation, quotes and colons of that line",
        ),
        mark,
    )
