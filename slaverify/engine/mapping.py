"""Reads the fields of a response at the paths of the contract. No fallback: a field is where it was agreed.

Source: docs/spec/run.md, section "Response mapping"; RFC 9535.
"""

from __future__ import annotations

from collections.abc import Mapping as AbstractMapping
from dataclasses import dataclass

from slaverify.canonical import JsonValue, NumberText
from slaverify.engine.paths import Path
from slaverify.evalset.answer import ClaimedCitation

MAX_TOKENS_FIELD = 15
"""Longest token count that is read, in digits."""


class MappingError(ValueError):
    """A field breaks its cardinality or its type; the message names the field."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a field is: a path of the body or a header, and what its values mean (empty: as they are)."""

    path: Path | None = None
    header: str | None = None
    meanings: AbstractMapping[str, str] | None = None

    def nodes(self, tree: JsonValue, headers: AbstractMapping[str, str]) -> list[JsonValue]:
        """Return what stands there."""
        if self.header is not None:
            return [headers[self.header]] if self.header in headers else []
        return [] if self.path is None or tree is None else self.path.select(tree)


@dataclass(frozen=True, slots=True)
class CitationSource:
    """Where the citations are: a path to the list or to its elements, and the parts of one element."""

    path: Path
    norm: Path | None = None
    article: Path | None = None
    id: Path | None = None
    text: Path | None = None
    verified: Path | None = None


@dataclass(frozen=True, slots=True)
class FieldMap:
    """The compiled mapping; a field without source is not mapped."""

    answer: Source
    citations: CitationSource | None = None
    confidence: Source | None = None
    refusal: Source | None = None
    finish_reason: Source | None = None
    error: Source | None = None
    version: Source | None = None
    fingerprint: Source | None = None
    input_tokens: Source | None = None
    output_tokens: Source | None = None
    tool_calls: Source | None = None
    response_id: Source | None = None


@dataclass(frozen=True, slots=True)
class AnswerField:
    """The answer as found: absent, or its text (None where the vendor said null or sent no text part)."""

    present: bool
    text: str | None = None


def single(source: Source | None, tree: JsonValue, headers: AbstractMapping[str, str], name: str) -> JsonValue:
    """Return the one node of a field, None where it is absent. Raises: MappingError for several nodes."""
    if source is None:
        return None
    nodes = source.nodes(tree, headers)
    if len(nodes) > 1:
        raise MappingError(f"{name}: {len(nodes)} nodes")
    return nodes[0] if nodes else None


def is_text(value: JsonValue) -> bool:
    """Say whether a value is a JSON string (a number that is kept as text is none)."""
    return isinstance(value, str) and not isinstance(value, NumberText)


def read_answer(source: Source, tree: JsonValue, headers: AbstractMapping[str, str]) -> AnswerField:
    """Return the answer: one string, null, or a list of typed parts whose text parts are joined in order.

    Raises: MappingError for several nodes or another type.
    """
    nodes = source.nodes(tree, headers)
    if len(nodes) > 1:
        raise MappingError(f"answer: {len(nodes)} nodes")
    if not nodes:
        return AnswerField(False)
    node = nodes[0]
    if node is None or is_text(node):
        return AnswerField(True, None if node is None else str(node))
    if isinstance(node, list):
        return AnswerField(True, _joined(node))
    raise MappingError("answer: neither text nor parts")


def _joined(parts: list[JsonValue]) -> str | None:
    texts: list[str] = []
    for part in parts:
        if not isinstance(part, dict) or not is_text(part.get("type")):
            raise MappingError("answer: a part without type")
        if part["type"] in ("text", "output_text"):
            if not is_text(part.get("text")):
                raise MappingError("answer: a text part without text")
            texts.append(str(part["text"]))
    return "".join(texts) if texts else None


def read_citations(source: CitationSource | None, tree: JsonValue) -> tuple[ClaimedCitation, ...]:
    """Return the citations in order.

    Raises: MappingError if an element is no object where parts are mapped, a part is no text, or a mark is no boolean.
    """
    if source is None:
        return ()
    nodes = source.path.select(tree)
    # `$.citations` names the list, `$.citations[*]` its elements: both are one path to the list.
    elements = nodes[0] if len(nodes) == 1 and isinstance(nodes[0], list) else nodes
    return tuple(_citation(source, element) for element in elements if element is not None)


def _citation(source: CitationSource, element: JsonValue) -> ClaimedCitation:
    verified = _part(source.verified, element, "verified")
    if verified is not None and not isinstance(verified, bool):
        raise MappingError("citations.verified: not a boolean")
    for path in (source.id, source.text):
        value = _part(path, element, "id or text")
        if value is not None:
            return ClaimedCitation(_as_text(value), verified)
    parts = [_part(path, element, "norm or article") for path in (source.norm, source.article)]
    norm, article = (None if part is None else _as_text(part) for part in parts)
    joined = " ".join(part for part in (norm, article) if part is not None)
    if not joined:
        raise MappingError("citations: an element without any mapped part")
    return ClaimedCitation(joined, verified, norm, article)


def _part(path: Path | None, element: JsonValue, name: str) -> JsonValue:
    if path is None:
        return None
    nodes = path.select(element)
    if len(nodes) > 1:
        raise MappingError(f"citations: {name}: {len(nodes)} nodes")
    return nodes[0] if nodes else None


def _as_text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise MappingError("citations: a part is no text")
    return str(value)


def read_word(source: Source | None, tree: JsonValue, headers: AbstractMapping[str, str], name: str) -> str | None:
    """Return a word (text, number or boolean as text), None where absent or null. Raises: MappingError."""
    node = single(source, tree, headers, name)
    if node is None:
        return None
    if isinstance(node, bool):
        return "true" if node else "false"
    if isinstance(node, str):
        return str(node)
    raise MappingError(f"{name}: neither text nor number")


def read_count(source: Source | None, tree: JsonValue, headers: AbstractMapping[str, str]) -> int | None:
    """Return a token count, None where absent or no count (it is descriptive and decides nothing)."""
    if source is None:
        return None
    nodes = source.nodes(tree, headers)
    if len(nodes) == 1 and isinstance(nodes[0], NumberText) and nodes[0].isascii() and nodes[0].isdigit():
        return int(nodes[0]) if len(nodes[0]) <= MAX_TOKENS_FIELD else None
    return None


def read_versions(source: Source | None, tree: JsonValue, headers: AbstractMapping[str, str]) -> tuple[str, ...]:
    """Return every version declared at the agreed place, each once; null counts as not declared."""
    if source is None:
        return ()
    found: list[str] = []
    for node in source.nodes(tree, headers):
        text = None if node is None else str(node) if isinstance(node, str) else "<not text>"
        if text is not None and text.strip() and text not in found:
            found.append(text)
    return tuple(found)
