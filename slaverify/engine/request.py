"""Builds the body of a request from the contract's template and one item's query package.

Values are put into the JSON tree and the tree is serialised once, so item text can break out of nothing.
What a template may name is a closed list: neither reference, stratum, id nor position can be asked for.

Source: docs/spec/run.md, section "Request".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.errors import ContractError, EndpointError, Text

NAMES = ("query", "messages", "attachments", "nonce", "request_id", "tools", "turn")
"""What a template may name; `tools` and `turn` in the profile `trajectory@1` alone."""

FORBIDDEN = ("reference", "stratum", "id", "item_id", "position", "expected", "official_text", "twin", "repetition")
"""Names that would tell the vendor what it must not know."""

_PLACE = re.compile(r"\$\$\{|\$\{([^{}]*)\}|\$\{")


@dataclass(frozen=True, slots=True)
class RequestIds:
    """The random values of one exchange (128 bits as hex); all its attempts send the same."""

    nonce: str
    request_id: str


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """A checked template; `names` are the places that it uses."""

    tree: JsonValue
    names: frozenset[str]

    def render(self, query: JsonObject, ids: RequestIds) -> bytes:
        """Return the body for one query package (`query` or `messages`, `attachments`, `tools`, `turn`).

        Raises: EndpointError SLV-N010 if the item lacks what the template asks for.
        """
        values = _values(query, ids)
        self._fit(values)
        return _serialise(_fill(self.tree, values))

    def check(self, query: JsonObject) -> None:
        """Refuse an item that lacks what the template asks for. Raises: EndpointError SLV-N010."""
        self._fit(_values(query, RequestIds("", "")))

    def asked(self, body: bytes) -> tuple[str, ...]:
        """Return the texts of a body of this template in which the question stands; empty where it is not of it."""
        try:
            tree: JsonValue = json.loads(body)
        except (ValueError, RecursionError):
            return ()
        return tuple(_texts_asked(self.tree, tree))

    def _fit(self, values: dict[str, JsonValue]) -> None:
        if not self.names <= values.keys():
            raise _unfit(min(self.names - values.keys()))


def compile_template(tree: JsonValue, *, where: str = "endpoint.request", trajectory: bool = False) -> RequestTemplate:
    """Check a template and return it.

    Raises: ContractError SLV-C060 (unknown name), SLV-C061 (forbidden name), SLV-C062 (a name where none may
    stand), SLV-C063 (no place for the question).
    """
    names: set[str] = set()
    _check(tree, where, names, trajectory)
    if not names & {"query", "messages", "turn"}:
        raise ContractError(
            "SLV-C063",
            Text("la plantilla no envía la pregunta", "the template does not send the question"),
            fix=Text("use ${query} o ${messages}", "use ${query} or ${messages}"),
            where=where,
        )
    return RequestTemplate(tree, frozenset(names))


def _check(node: JsonValue, where: str, names: set[str], trajectory: bool) -> None:
    if isinstance(node, dict):
        for key, member in node.items():
            if _PLACE.search(key):
                raise _misplaced(f"{where}.{key}")
            _check(member, f"{where}.{key}", names, trajectory)
    elif isinstance(node, list):
        for index, member in enumerate(node):
            _check(member, f"{where}[{index}]", names, trajectory)
    elif isinstance(node, str):
        for match in _PLACE.finditer(node):
            if match.group() != "$${":
                names.add(_checked_name(match, node, where, trajectory))


def _checked_name(match: re.Match[str], text: str, where: str, trajectory: bool) -> str:
    name = match.group(1)
    if name is None:
        raise _unknown("${", where)
    if name in FORBIDDEN:
        raise ContractError(
            "SLV-C061",
            Text(f"la plantilla no puede enviar ${{{name}}}", f"the template may not send ${{{name}}}"),
            why=Text("el proveedor sabría lo que no debe saber", "the vendor would learn what it must not know"),
            fix=Text("quítelo", "remove it"),
            where=where,
        )
    if name not in NAMES or (name in ("tools", "turn") and not trajectory):
        raise _unknown(f"${{{name}}}", where)
    if name != "query" and match.group() != text:
        raise _misplaced(where)
    return name


def _unknown(name: str, where: str) -> ContractError:
    return ContractError(
        "SLV-C060",
        Text(f"nombre desconocido en la plantilla: {name}", f"unknown name in the template: {name}"),
        fix=Text(
            "valen ${query}, ${messages}, ${attachments}, ${nonce} y ${request_id}; un «${» literal se escribe «$${»",
            "${query}, ${messages}, ${attachments}, ${nonce} and ${request_id} exist; write a literal '${' as '$${'",
        ),
        where=where,
    )


def _misplaced(where: str) -> ContractError:
    return ContractError(
        "SLV-C062",
        Text("un nombre de la plantilla está donde no puede", "a name of the template stands where it may not"),
        fix=Text(
            "solo ${query} cabe dentro de un texto más largo; los demás van solos y nunca en una clave",
            "only ${query} fits inside a longer text; the others stand alone, and none in a key",
        ),
        where=where,
    )


def _unfit(name: str) -> EndpointError:
    return EndpointError(
        "SLV-N010",
        Text(f"el ítem no trae lo que pide la plantilla: {name}", f"the item lacks what the template asks for: {name}"),
        fix=Text("ajuste endpoint.request al banco", "fit endpoint.request to the bank"),
        exit_code=5,
    )


def _values(query: JsonObject, ids: RequestIds) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {"nonce": ids.nonce, "request_id": ids.request_id}
    text = query.get("query")
    messages = query.get("messages")
    if isinstance(text, str):
        values["query"] = text
        values["messages"] = [{"role": "user", "content": text}]
    if messages is not None:
        values["messages"] = messages
    values["attachments"] = query.get("attachments") or []
    for name in ("tools", "turn"):
        if query.get(name) is not None:
            values[name] = query[name]
    return values


def _fill(node: JsonValue, values: dict[str, JsonValue]) -> JsonValue:
    if isinstance(node, dict):
        return {key: _fill(member, values) for key, member in node.items()}
    if isinstance(node, list):
        return [_fill(member, values) for member in node]
    if not isinstance(node, str) or "${" not in node:
        return node
    whole = _PLACE.fullmatch(node)
    if whole is not None and whole.group(1) is not None:
        return values[whole.group(1)]
    # Only ${query}, a string, can stand here; what was put in is not read again.
    return _PLACE.sub(lambda match: "${" if match.group(1) is None else str(values["query"]), node)


def _texts_asked(node: JsonValue, sent: JsonValue) -> Iterator[str]:
    if isinstance(node, dict) and isinstance(sent, dict):
        for key, member in node.items():
            yield from _texts_asked(member, sent.get(key))
    elif isinstance(node, list) and isinstance(sent, list):
        for member, one in zip(node, sent, strict=False):
            yield from _texts_asked(member, one)
    elif node == "${messages}" and isinstance(sent, list):
        yield from (text for message in sent for text in _contents(message))
    elif isinstance(node, str) and "${query}" in node and isinstance(sent, str):
        yield sent


def _contents(message: JsonValue) -> Iterator[str]:
    """Yield the texts of one message: its content, or those of the parts of its content."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and isinstance(text := part.get("text"), str):
            yield text


# Made once: an encoder costs more than a body.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _serialise(tree: JsonValue) -> bytes:
    return _ENCODER.encode(tree).encode("utf-8")
