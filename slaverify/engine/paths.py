"""JSON paths of the contract: RFC 9535 limited to names, indexes, slices and wildcards.

A path is parsed once by jsonpath-rfc9535, checked, and then walked as plain selectors: an answer costs
microseconds. Descendants (`..`) and filters are refused, for they would let the vendor choose the node.

Source: RFC 9535.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import jsonpath_rfc9535
from jsonpath_rfc9535 import JSONPathError, JSONPathQuery
from jsonpath_rfc9535.segments import JSONPathChildSegment
from jsonpath_rfc9535.selectors import IndexSelector, NameSelector, SliceSelector, WildcardSelector

from slaverify.canonical import JsonValue

MAX_PATH = 512
"""Longest path accepted, in characters (convention)."""

Selector = str | int | slice | None
"""A name, an index, a slice, or None for the wildcard."""


class PathError(ValueError):
    """The path is no RFC 9535 path of the allowed part; the message names the fault."""


@dataclass(frozen=True, slots=True)
class Path:
    """A compiled path: its text and, per segment, its selectors; `steps` where each is one name or index."""

    text: str
    segments: tuple[tuple[Selector, ...], ...]
    steps: tuple[str | int, ...] | None = None

    def select(self, tree: JsonValue) -> list[JsonValue]:
        """Return the nodes that the path finds in `tree`, in order."""
        if self.steps is not None:
            return _walk(tree, self.steps)
        nodes = [tree]
        for segment in self.segments:
            found: list[JsonValue] = []
            for node in nodes:
                for selector in segment:
                    _children(node, selector, found)
            nodes = found
            if not nodes:
                break
        return nodes


def _walk(node: JsonValue, steps: tuple[str | int, ...]) -> list[JsonValue]:
    for step in steps:
        if isinstance(step, str):
            if not isinstance(node, dict) or step not in node:
                return []
            node = node[step]
        else:
            if not isinstance(node, list) or not -len(node) <= step < len(node):
                return []
            node = node[step]
    return [node]


def _children(node: JsonValue, selector: Selector, found: list[JsonValue]) -> None:
    if isinstance(node, dict):
        if isinstance(selector, str):
            if selector in node:
                found.append(node[selector])
        elif selector is None:
            found.extend(node.values())
    elif isinstance(node, list):
        if isinstance(selector, int):
            if -len(node) <= selector < len(node):
                found.append(node[selector])
        elif isinstance(selector, slice):
            if selector.step != 0:
                found.extend(node[selector])
        elif selector is None:
            found.extend(node)


@lru_cache(maxsize=512)
def compile_path(text: str) -> Path:
    """Compile a path. Raises: PathError. Source: RFC 9535, sections 2.3 and 2.5."""
    if len(text) > MAX_PATH:
        raise PathError("longer than 512 characters")
    try:
        query: JSONPathQuery = jsonpath_rfc9535.compile(text)
    except (JSONPathError, ValueError, RecursionError) as error:
        raise PathError(f"no RFC 9535 path: {error}") from error
    segments: list[tuple[Selector, ...]] = []
    for segment in query.segments:
        if not isinstance(segment, JSONPathChildSegment):
            raise PathError("'..' is not allowed")
        segments.append(tuple(_selector(selector) for selector in segment.selectors))
    return Path(text, tuple(segments), _steps(segments))


def _steps(segments: list[tuple[Selector, ...]]) -> tuple[str | int, ...] | None:
    steps: list[str | int] = []
    for segment in segments:
        if len(segment) != 1 or not isinstance(segment[0], str | int):
            return None
        steps.append(segment[0])
    return tuple(steps)


def _selector(selector: object) -> Selector:
    if isinstance(selector, NameSelector):
        return selector.name
    if isinstance(selector, IndexSelector):
        return selector.index
    if isinstance(selector, SliceSelector):
        return selector.slice
    if isinstance(selector, WildcardSelector):
        return None
    raise PathError("filters are not allowed")
