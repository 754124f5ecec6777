"""Endpoints for tests: real contract blocks, compiled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from slaverify.contract.model.engine import Endpoint, Engine
from slaverify.engine import EndpointSpec, compile_endpoint

MAPPING = {"answer": "$.answer", "version": "$.version", "error": "$.error", "response_id": "$.id"}


def endpoint_spec(
    url: str = "http://127.0.0.1:9/", *, engine: dict[str, Any] | None = None, **endpoint: Any
) -> EndpointSpec:
    """Compile an endpoint; keyword arguments are keys of the block `endpoint`."""
    call = {
        "total_timeout_s": "10",
        "concurrency": 1,
        "backoff": {"base_s": "0.01", "jitter_s": "0.01", "cap_s": "1"},
        **endpoint.pop("call", {}),
    }
    tree = {
        "adapter": "json_http@1",
        "url": url,
        "request": {"q": "${query}"},
        "response": MAPPING,
        "public_probe": {"query": "¿En qué idioma responde?"},
        "call": call,
        **endpoint,
    }
    block = {
        "name": "X",
        "version": "1",
        "accepted_echoes": ["engine-x@1"],
        "on_missing": "limitation",
        **(engine or {}),
    }
    contract = SimpleNamespace(
        engine=Engine.model_validate(_tuples(block)), endpoint=Endpoint.model_validate(_tuples(tree, keep=("request",)))
    )
    return compile_endpoint(contract)


def _tuples(tree: Any, keep: tuple[str, ...] = ()) -> Any:
    """Strict models take tuples for lists."""
    if isinstance(tree, dict):
        return {key: member if key in keep else _tuples(member) for key, member in tree.items()}
    return tuple(_tuples(member) for member in tree) if isinstance(tree, list) else tree
