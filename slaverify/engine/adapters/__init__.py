"""Adapters: how a protocol's bytes become the tree that the mapping reads. Bytes and trees only.

Source: docs/spec/run.md, section "Response mapping and adapters".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


@dataclass(frozen=True, slots=True)
class Pin:
    """Which package an adapter of others comes from, as `method.plugins` pins it."""

    name: str
    version: str
    package_digest: str


@dataclass(frozen=True, slots=True)
class Guarded:
    """An adapter of others behind a guard: whatever it raises is a fault of the auditor's side, never an exception."""

    inner: Adapter

    @property
    def facts(self) -> AdapterFacts:
        """Return what is fixed for the protocol."""
        return self.inner.facts

    def type_allowed(self, kind: str) -> bool:
        """Say whether a media type may hold an answer."""
        try:
            return self.inner.type_allowed(kind) is True
        except Exception:  # noqa: BLE001 - code of others
            # Not the vendor's doing: let the reading itself fail.
            return True

    def parse(self, body: bytes) -> Parsed:
        """Read a complete body into a tree."""
        try:
            found: object = self.inner.parse(body)
        except Exception:  # noqa: BLE001 - code of others
            return Parsed(None, Fault.PLUGIN)
        return found if isinstance(found, Parsed) else Parsed(None, Fault.PLUGIN)

    def shape(self, tree: JsonValue) -> Fault | None:
        """Name a shape of the tree that has an outcome of its own."""
        try:
            found: object = self.inner.shape(tree)
        except Exception:  # noqa: BLE001 - code of others
            return Fault.PLUGIN
        return found if isinstance(found, Fault) else None

    def partial(self, body: bytes) -> JsonValue:
        """Return the tree of a cut body as far as it goes, null where nothing can be read."""
        try:
            return self.inner.partial(body)
        except Exception:  # noqa: BLE001 - code of others
            return None

    def odd_turn(self, tree: JsonValue) -> bool:
        """Say whether a reply of a tool loop has a shape that no turn may have."""
        try:
            return self.inner.odd_turn(tree) is True
        except Exception:  # noqa: BLE001 - code of others
            return False


_plugged: dict[tuple[str, Pin], Adapter] = {}


def plug_in(adapter: Adapter, pin: Pin) -> None:
    """Make an adapter of others known, under its pin alone. Called by `engine.plugins`, which checked the pin."""
    _plugged[adapter.facts.name, pin] = Guarded(adapter)


def adapter_named(name: str, pins: Iterable[Pin] = ()) -> Adapter | None:
    """Return the adapter `name@version`: the product's, else that of a pinned package; None if there is none."""
    from slaverify.engine.adapters.json_http import JsonHttp
    from slaverify.engine.adapters.openai_chat import OpenAiChat
    from slaverify.engine.adapters.openai_chat_stream import OpenAiChatStream

    adapters: tuple[Adapter, ...] = (JsonHttp(), OpenAiChat(), OpenAiChatStream())
    own = next((adapter for adapter in adapters if adapter.facts.name == name), None)
    return own or next((_plugged[name, pin] for pin in pins if (name, pin) in _plugged), None)
