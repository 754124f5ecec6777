"""Adapters: how a protocol's bytes become the tree that the mapping reads. Bytes and trees only.

Source: docs/spec/run.md, section "Response mapping and adapters".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from slaverify.canonical import JsonValue
from slaverify.engine.body import Parsed
from slaverify.engine.faults import Fault


class Adapter(Protocol):
    """What a protocol has to say of its bytes."""

    @property
    def facts(self) -> AdapterFacts:
        """Return what is fixed for the protocol."""

    def type_allowed(self, kind: str) -> bool:
        """Say whether a media type may hold an answer."""

    def parse(self, body: bytes) -> Parsed:
        """Read a complete body into a tree."""

    def shape(self, tree: JsonValue) -> Fault | None:
        """Name a shape of the tree that has an outcome of its own."""

    def partial(self, body: bytes) -> JsonValue:
        """Return the tree of a cut body as far as it goes, null where nothing can be read."""

    def odd_turn(self, tree: JsonValue) -> bool:
        """Say whether a reply of a tool loop has a shape that no turn may have."""


@dataclass(frozen=True, slots=True)
class AdapterFacts:
    """What is fixed for a protocol: name, `Accept`, its own mapping and meanings, codes of a content filter."""

    name: str
    accept: str = "application/json"
    fields: Mapping[str, str] = field(default_factory=dict)
    finish_reasons: Mapping[str, str] = field(default_factory=dict)
    filter_codes: frozenset[str] = frozenset()


def adapter_named(name: str) -> Adapter | None:
    """Return the adapter `name@version`, None if the product has none of that name."""
    from slaverify.engine.adapters.json_http import JsonHttp
    from slaverify.engine.adapters.openai_chat import OpenAiChat
    from slaverify.engine.adapters.openai_chat_stream import OpenAiChatStream

    adapters: tuple[Adapter, ...] = (JsonHttp(), OpenAiChat(), OpenAiChatStream())
    return next((adapter for adapter in adapters if adapter.facts.name == name), None)
