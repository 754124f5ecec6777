"""Adapter `json_http@1`: any JSON over POST, read at the paths of the contract."""

from __future__ import annotations

from slaverify.canonical import JsonValue
from slaverify.engine.adapters import AdapterFacts
from slaverify.engine.body import Parsed, complete_prefix, is_json_type, parse_json
from slaverify.engine.faults import Fault

FINISH_REASONS = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
}
"""Finish reasons that mean what they say where the contract maps none."""

_FACTS = AdapterFacts(name="json_http@1", finish_reasons=FINISH_REASONS, filter_codes=frozenset({"content_filter"}))


class JsonHttp:
    """One JSON document per response."""

    @property
    def facts(self) -> AdapterFacts:
        """Return what is fixed for the protocol."""
        return _FACTS

    def type_allowed(self, kind: str) -> bool:
        """Say whether a media type is JSON."""
        return is_json_type(kind)

    def parse(self, body: bytes) -> Parsed:
        """Read a complete body."""
        return parse_json(body)

    def shape(self, tree: JsonValue) -> Fault | None:
        """Name an envelope of nulls: an object of several members, all null (one alone is a null answer)."""
        if isinstance(tree, dict) and len(tree) > 1 and all(member is None for member in tree.values()):
            return Fault.NULL_ENVELOPE
        return None

    def odd_turn(self, tree: JsonValue) -> bool:
        """Say whether a reply of a tool loop has a shape that no turn may have: none is known here."""
        return False

    def partial(self, body: bytes) -> JsonValue:
        """Return the tree of a cut body as far as it goes."""
        completed = complete_prefix(body)
        return None if completed is None else parse_json(completed).tree
