"""The endpoint of a contract, compiled once: template, paths, patterns, addresses, limits.

Everything that can be wrong in `engine` and `endpoint` of a contract is refused here, before anything runs.

Source: docs/spec/contract.md section 2, docs/spec/run.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Protocol

from slaverify.contract.model.bank import Method
from slaverify.contract.model.engine import Endpoint, Engine, MappedField, Pattern
from slaverify.engine.adapters import Adapter, Guarded, Pin, adapter_named
from slaverify.engine.address import Address, IpNetwork, parse_address, parse_networks
from slaverify.engine.mapping import CitationSource, FieldMap, Source
from slaverify.engine.paths import Path, PathError, compile_path
from slaverify.engine.request import RequestTemplate, compile_template
from slaverify.errors import ContractError, Text

MAX_MATCHED = 4096
"""Longest text that is held against a pattern, in characters: a longer one matches none."""

_FIXED_HEADERS = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "accept-encoding",
        "cookie",
        "te",
        "expect",
        "upgrade",
    }
)


class HasEndpoint(Protocol):
    """A contract, as far as this room reads it."""

    @property
    def engine(self) -> Engine:
        """Return the block `engine`."""

    @property
    def endpoint(self) -> Endpoint:
        """Return the block `endpoint`."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Exact texts and anchored regular expressions."""

    exact: frozenset[str]
    regexes: tuple[re.Pattern[str], ...]

    def match(self, text: str) -> bool:
        """Say whether `text` is one of them, whole."""
        if text in self.exact:
            return True
        if not self.regexes or len(text) > MAX_MATCHED:
            return False
        return any(regex.fullmatch(text) for regex in self.regexes)

    def ends(self, text: str) -> bool:
        """Say whether `text` ends in one of the exact texts or matches an expression whole."""
        return text.endswith(tuple(self.exact)) or self.match(text)


@dataclass(frozen=True, slots=True)
class AuthRule:
    """How a request is authorised; `secret` is a reference, never the secret."""

    header: str
    scheme: str
    secret: str
    owner: str


@dataclass(frozen=True, slots=True)
class CallRules:
    """Limits of one exchange. Times in seconds, sizes in bytes."""

    total_timeout_s: Decimal
    max_response_bytes: int
    attempts: int
    base_s: Decimal
    jitter_s: Decimal
    cap_s: Decimal
    retry_after_max_s: Decimal
    concurrency: int
    rate_per_s: Decimal | None
    paid_by: str
    answer_deadline_s: Decimal | None
    agreed_latency_s: Decimal | None


@dataclass(frozen=True, slots=True)
class EndpointSpec:
    """Everything that a run and its verification need of `engine` and `endpoint`."""

    address: Address
    networks: tuple[IpNetwork, ...]
    method: str
    headers: tuple[tuple[str, str], ...]
    user_agent: str
    auth: AuthRule | None
    proxy: str | None
    idempotency_header: str | None
    spki_pins: frozenset[str]
    template: RequestTemplate
    adapter: Adapter
    fields: FieldMap
    echoes: Patterns
    on_missing: str
    on_mismatch: str
    error_texts: Patterns
    cut_markers: Patterns
    quota_codes: frozenset[str]
    model_codes: frozenset[str]
    call: CallRules
    probe_query: str
    probe_unknown_model: bool
    control_urls: tuple[str, ...]
    kept_headers: frozenset[str]
    turns: bool = False
    """Profile `trajectory@1`: a reply may ask for tools, and an answer is an object."""
    candidate: EndpointSpec | None = None
    """The new version of a change check: another address, template and version, all else alike."""

    def of(self, side: str) -> EndpointSpec:
        """Return what asks and reads a side: `current`, or `candidate` (itself where there is none)."""
        return self.candidate or self if side == "candidate" else self


def compile_endpoint(contract: HasEndpoint) -> EndpointSpec:
    """Compile the endpoint of a contract.

    Raises: ContractError SLV-C060 to C067 (template and addresses), SLV-C068 (path), SLV-C069 (pattern),
    SLV-C070 (adapter), SLV-C071 (header that the contract may not set), SLV-C072 (field that must be mapped).
    """
    engine, endpoint = contract.engine, contract.endpoint
    adapter = adapter_of(contract)
    if adapter is None:
        raise ContractError(
            "SLV-C070",
            Text(f"adaptador desconocido: {endpoint.adapter}", f"unknown adapter: {endpoint.adapter}"),
            fix=Text(
                "use json_http@1, openai_chat@1, openai_chat_stream@1 o el de un complemento de method.plugins",
                "use json_http@1, openai_chat@1, openai_chat_stream@1 or that of a plug-in in method.plugins",
            ),
            where="endpoint.adapter",
        )
    networks = parse_networks(endpoint.allow_private)
    fields = _fields(endpoint, adapter)
    auth = endpoint.auth
    spec = EndpointSpec(
        address=parse_address(endpoint.url, where="endpoint.url", networks=networks),
        networks=networks,
        method=endpoint.method,
        headers=_headers(endpoint.headers),
        user_agent=endpoint.user_agent,
        auth=None if auth is None else AuthRule(auth.header, auth.scheme, auth.secret, auth.owner),
        proxy=endpoint.proxy,
        idempotency_header=endpoint.idempotency_header,
        spki_pins=frozenset(endpoint.tls.spki_pins),
        template=compile_template(endpoint.request, trajectory=_has_turns(contract)),
        adapter=adapter,
        fields=fields,
        echoes=_patterns(engine.accepted_echoes, "engine.accepted_echoes"),
        on_missing=engine.on_missing,
        on_mismatch=engine.on_mismatch,
        error_texts=_patterns(endpoint.error_texts, "endpoint.error_texts"),
        cut_markers=_patterns(endpoint.cut_markers, "endpoint.cut_markers"),
        quota_codes=frozenset(endpoint.quota_codes),
        model_codes=frozenset(endpoint.model_codes),
        call=_call(endpoint),
        probe_query=endpoint.public_probe.query,
        probe_unknown_model=endpoint.probe_unknown_model,
        control_urls=_control_urls(endpoint.control_urls),
        kept_headers=_KEPT
        | {source.header for source in (fields.version, fields.fingerprint) if source and source.header},
        turns=_has_turns(contract),
    )
    new = endpoint.candidate
    if new is None:
        return spec
    candidate = replace(
        spec,
        address=parse_address(new.url, where="endpoint.candidate.url", networks=networks),
        template=compile_template(new.request, trajectory=spec.turns),
        echoes=_patterns(new.accepted_echoes, "endpoint.candidate.accepted_echoes"),
    )
    return replace(spec, candidate=candidate)


def adapter_of(contract: HasEndpoint) -> Adapter | None:
    """Return the adapter of a contract; None where it is neither the product's nor that of a loaded pinned plug-in."""
    method = getattr(contract, "method", None)
    plugins = method.plugins if isinstance(method, Method) else ()
    pins = [Pin(one.name, one.version, one.package_digest) for one in plugins]
    return adapter_named(contract.endpoint.adapter, pins)


def is_plugged(contract: HasEndpoint) -> bool:
    """Say whether the adapter of a contract is that of a pinned plug-in."""
    return isinstance(adapter_of(contract), Guarded)


def _has_turns(contract: HasEndpoint) -> bool:
    # An endpoint may be compiled without the rest of its contract: then it has one turn.
    method = getattr(contract, "method", None)
    return isinstance(method, Method) and method.profile.partition("@")[0] == "trajectory"


_KEPT = frozenset(
    {
        "content-type",
        "content-length",
        "content-encoding",
        "transfer-encoding",
        "date",
        "retry-after",
        "location",
        "server",
        "age",
        "x-cache",
        "cf-cache-status",
    }
)
"""Response headers that the record keeps; those of the identity are added."""


def _control_urls(urls: Iterable[str]) -> tuple[str, ...]:
    checked = tuple(parse_address(url, where=f"endpoint.control_urls[{index}]") for index, url in enumerate(urls))
    # Two URLs of one host would fail together: they could not tell our outage from theirs.
    if len(checked) == 1 or len({(url.host, url.port) for url in checked}) != len(checked):
        raise ContractError(
            "SLV-C073",
            Text(
                "hacen falta dos URL de control de servidores distintos", "two control URLs of different hosts are due"
            ),
            fix=Text("nombre dos, o ninguna", "name two, or none"),
            where="endpoint.control_urls",
        )
    return tuple(url.url for url in checked)


def _headers(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    for name in headers:
        if name.lower() in _FIXED_HEADERS:
            raise ContractError(
                "SLV-C071",
                Text(f"el contrato no puede fijar la cabecera {name}", f"the contract may not set the header {name}"),
                fix=Text("quítela", "remove it"),
                where=f"endpoint.headers.{name}",
            )
    return tuple(headers.items())


def _patterns(patterns: Iterable[Pattern], where: str) -> Patterns:
    exact: set[str] = set()
    regexes: list[re.Pattern[str]] = []
    for index, pattern in enumerate(patterns):
        if isinstance(pattern, str):
            exact.add(pattern)
            continue
        text = pattern.regex
        anchored = text.startswith(("^", "\\A")) and text.endswith(("$", "\\Z")) and not text.endswith("\\$")
        try:
            compiled = re.compile(text)
        except re.error:
            anchored = False
        if not anchored:
            raise ContractError(
                "SLV-C069",
                Text(
                    f"la expresión no está anclada o no es válida: {text}",
                    f"expression not anchored or not valid: {text}",
                ),
                fix=Text("escríbala como ^…$", "write it as ^…$"),
                where=f"{where}[{index}]",
            )
        regexes.append(compiled)
    return Patterns(frozenset(exact), tuple(regexes))


def _call(endpoint: Endpoint) -> CallRules:
    call = endpoint.call
    return CallRules(
        total_timeout_s=call.total_timeout_s,
        max_response_bytes=call.max_response_bytes,
        attempts=call.attempts,
        base_s=call.backoff.base_s,
        jitter_s=call.backoff.jitter_s,
        cap_s=call.backoff.cap_s,
        retry_after_max_s=call.retry_after_max_s,
        concurrency=call.concurrency,
        rate_per_s=call.rate_per_s or None,
        paid_by=call.paid_by,
        answer_deadline_s=call.answer_deadline_s,
        agreed_latency_s=call.agreed_latency_s,
    )


def _fields(endpoint: Endpoint, adapter: Adapter) -> FieldMap:
    response, own = endpoint.response, adapter.facts.fields

    def source(name: str) -> Source | None:
        given = getattr(response, name)
        where = f"endpoint.response.{name}"
        if given is None:
            return Source(path=_path(own[name], where)) if name in own else None
        if isinstance(given, MappedField):
            return Source(path=_path(given.path, where), meanings=given.values)
        if given.startswith("header:"):
            if name not in ("version", "fingerprint"):
                raise _no_path(where, "header:")
            return Source(header=given.removeprefix("header:").strip().lower())
        return Source(path=_path(given, where))

    answer = source("answer")
    if answer is None:
        raise ContractError(
            "SLV-C072",
            Text("falta la ruta de la respuesta", "the path of the answer is missing"),
            fix=Text('escriba, por ejemplo, answer: "$.answer"', 'write, for example, answer: "$.answer"'),
            where="endpoint.response.answer",
        )
    return FieldMap(
        answer=answer,
        citations=_citations(endpoint),
        confidence=source("confidence"),
        refusal=source("refusal"),
        finish_reason=source("finish_reason"),
        error=source("error"),
        version=source("version"),
        fingerprint=source("fingerprint"),
        input_tokens=source("input_tokens"),
        output_tokens=source("output_tokens"),
        tool_calls=source("tool_calls"),
        response_id=source("response_id"),
    )


def _citations(endpoint: Endpoint) -> CitationSource | None:
    given = endpoint.response.citations
    if given is None:
        return None
    where = "endpoint.response.citations"

    def part(name: str) -> Path | None:
        text = getattr(given.fields, name)
        return None if text is None else _path(_relative(text), f"{where}.fields.{name}")

    return CitationSource(
        path=_path(given.path, f"{where}.path"),
        norm=part("norm"),
        article=part("article"),
        id=part("id"),
        text=part("text"),
        verified=part("verified"),
    )


def _relative(text: str) -> str:
    # Relative to an element: `norm`, `@.norm` and `$.norm` say the same.
    if text.startswith("@"):
        return "$" + text[1:]
    return text if text.startswith("$") else f"$.{text}"


def _path(text: str, where: str) -> Path:
    try:
        return compile_path(text)
    except PathError as error:
        raise _no_path(where, str(error)) from error


def _no_path(where: str, detail: str) -> ContractError:
    return ContractError(
        "SLV-C068",
        Text(f"ruta no admitida: {detail}", f"path not allowed: {detail}"),
        fix=Text(
            "use nombres, índices, tramos y comodines, por ejemplo $.choices[0].text",
            "use names, indexes, slices and wildcards, for example $.choices[0].text",
        ),
        where=where,
    )
