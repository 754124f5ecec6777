"""Before anything private leaves: the public probe, three times, and what its answers say of the endpoint.

A failure here uses up no run number and no item. The record waits in memory and is the first event of the journal.

Source: docs/spec/run.md, section "Preflight".
"""

from __future__ import annotations

import asyncio
import random
import secrets as randomness
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.words import Outcome
from slaverify.engine import (
    IDENTITY,
    EndpointSpec,
    Fault,
    Reading,
    Received,
    RequestIds,
    RequestTemplate,
    Wire,
    WireRequest,
    WireResult,
    kept_headers,
    next_step,
    read_response,
)
from slaverify.engine.retry import Move, http_date
from slaverify.errors import EndpointError, Text
from slaverify.run.conversation import ToolProbe
from slaverify.run.rules import stamp

PROBES = 3
"""How often the public probe is sent (convention)."""
MAX_SKEW_S = 120
"""Largest difference between our clock and the response's `Date` that is not printed as a limitation, seconds."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What one probe gave; `skew_ms` is the response's `Date` minus our clock, null without `Date`."""

    status: int | None
    outcome: Outcome
    fault: Fault | None
    version: str | None
    fingerprint: str | None
    latency_ms: int | None
    skew_ms: int | None
    spki: str | None
    tls_version: str | None
    peer: str | None
    title: str

    def to_json(self) -> JsonObject:
        """Return the probe as the journal holds it."""
        return {
            "status": self.status,
            "outcome": self.outcome.value,
            "fault": None if self.fault is None else self.fault.value,
            "version": self.version,
            "fingerprint": self.fingerprint,
            "latency_ms": self.latency_ms,
            "skew_ms": self.skew_ms,
            "spki": self.spki,
            "tls_version": self.tls_version,
            "peer": self.peer,
        }


@dataclass(frozen=True, slots=True)
class PreflightRecord:
    """A preflight that went well: time, probes, and limitations (`clock_skew`, `version_missing`, …)."""

    at: str
    probes: tuple[ProbeResult, ...]
    limitations: tuple[str, ...]

    def to_json(self) -> JsonObject:
        """Return the detail of the journal's first event."""
        probes: list[JsonValue] = [probe.to_json() for probe in self.probes]
        return {"at": self.at, "probes": probes, "limitations": list(self.limitations)}


async def preflight(
    spec: EndpointSpec, wire: Wire, clock: Callable[[], datetime], tools: ToolProbe | None = None
) -> PreflightRecord:
    """Send the public probe three times and check identity, mapping, clock and tools. Nothing private is sent.

    Raises: EndpointError SLV-N040 (no usable answer, exit 6), SLV-N041 (another engine, exit 5), SLV-N042 (a made-up
    model name was answered, exit 5), SLV-N043 (tools were offered and never called, exit 6).
    """
    began = stamp(clock())
    probes: list[ProbeResult] = []
    missing = called = False
    asked = _Asked(spec, wire, clock, tools)
    for _ in range(PROBES):
        probe, reading = await _probe(asked)
        _check(probe, reading)
        called = called or (tools is not None and tools.called(reading))
        missing = missing or "version_missing" in reading.flags
        probes.append(probe)
    if tools is not None and not called:
        raise _no_tools(asked.body.decode("utf-8"))
    limitations: list[str] = ["version_missing"] if missing else []
    skews = [abs(probe.skew_ms) for probe in probes if probe.skew_ms is not None]
    if not skews:
        limitations.append("clock_not_compared")
    elif min(skews) > MAX_SKEW_S * 1000:
        limitations.append("clock_skew")
    if spec.probe_unknown_model:
        limitations.extend(await _unknown_model(asked))
    return PreflightRecord(began, tuple(probes), tuple(limitations))


async def send_probe(
    spec: EndpointSpec, wire: Wire, clock: Callable[[], datetime], tools: ToolProbe | None = None
) -> ProbeResult:
    """Send the public probe once, in the middle of a run."""
    return (await _once(_Asked(spec, wire, clock, tools), spec.template))[0]


@dataclass
class _Asked:
    """Whom the probe asks and how; `body` is what was sent last."""

    spec: EndpointSpec
    wire: Wire
    clock: Callable[[], datetime]
    tools: ToolProbe | None
    body: bytes = b""


async def _probe(asked: _Asked) -> tuple[ProbeResult, Reading]:
    faults: list[Fault | None] = []
    while True:
        probe, reading, headers = await _once(asked, asked.spec.template)
        faults.append(probe.fault)
        step = next_step(asked.spec.call, faults, probe.status, headers, random.random())  # noqa: S311 - jitter
        if step.move is not Move.WAIT:
            return probe, reading
        await asyncio.sleep(step.wait_s)


async def _once(asked: _Asked, template: RequestTemplate) -> tuple[ProbeResult, Reading, dict[str, str]]:
    spec = asked.spec
    ids = RequestIds(randomness.token_hex(16), randomness.token_hex(16))
    query: JsonObject = {"query": spec.probe_query}
    asked.body = template.render(query if asked.tools is None else asked.tools.package(spec.probe_query), ids)
    result = await asked.wire.send(WireRequest(asked.body))
    headers = kept_headers(result.headers, spec.kept_headers)
    latency = None if result.fault is not None else result.latency_ms
    reading = read_response(spec, Received(result.status, headers, result.body, result.fault, latency))
    return _summary(result, reading, headers, asked.clock()), reading, headers


def _summary(result: WireResult, reading: Reading, headers: dict[str, str], now: datetime) -> ProbeResult:
    date = http_date(headers.get("date", ""))
    return ProbeResult(
        status=result.status,
        outcome=reading.outcome,
        fault=reading.fault,
        version=reading.version,
        fingerprint=reading.fingerprint,
        latency_ms=result.latency_ms,
        skew_ms=None if date is None else int((date - now).total_seconds() * 1000),
        spki=result.spki,
        tls_version=result.tls_version,
        peer=result.peer,
        title=reading.title,
    )


def _check(probe: ProbeResult, reading: Reading) -> None:
    if reading.fault in IDENTITY:
        shown = repr(reading.version) if reading.version is not None else reading.fault.value
        raise EndpointError(
            "SLV-N041",
            Text(f"no es el motor del contrato: {shown}", f"not the engine of the contract: {shown}"),
            why=Text("no se envió ningún ítem privado", "no private item was sent"),
            fix=Text(
                "compare engine.accepted_echoes y endpoint.url con lo que responde el proveedor",
                "compare engine.accepted_echoes and endpoint.url with what the vendor answers",
            ),
            where="endpoint",
            exit_code=5,
        )
    if reading.outcome is Outcome.ANSWERED:
        return
    detail = reading.title or (f"HTTP {probe.status}" if probe.status not in (None, 200) else "")
    word = reading.fault.value if reading.fault is not None else reading.outcome.value
    shown = f"{word} ({detail})" if detail else word
    raise EndpointError(
        "SLV-N040",
        Text(
            f"la pregunta pública no obtuvo respuesta útil: {shown}", f"the public probe got no usable answer: {shown}"
        ),
        why=Text("no se envió ningún ítem privado ni se abrió corrida", "no private item was sent and no run opened"),
        fix=_mend(reading),
        where="endpoint",
        exit_code=6,
    )


def _mend(reading: Reading) -> Text:
    if reading.fault is Fault.UNAUTHORISED:
        return Text("renueve el secreto de endpoint.auth", "refresh the secret of endpoint.auth")
    if reading.fault in (Fault.MAPPING, Fault.CONTENT_TYPE, Fault.HTML):
        return Text("revise endpoint.url y endpoint.response", "check endpoint.url and endpoint.response")
    return Text("pruebe más tarde o revise endpoint.url", "try later or check endpoint.url")


def _no_tools(sent: str) -> EndpointError:
    return EndpointError(
        "SLV-N043",
        Text(
            f"en {PROBES} preguntas públicas el motor no llamó a ninguna herramienta",
            f"in {PROBES} public probes the engine called no tool",
        ),
        why=Text(
            f"se mediría la conexión y no el motor; no se envió nada privado. Se pidió: {sent[:2000]}",
            f"the mapping would be measured, not the engine; nothing private was sent. Sent: {sent[:2000]}",
        ),
        fix=Text(
            "endpoint.request debe llevar ${tools} o ${turn}, y endpoint.response.tool_calls ser su lugar",
            "endpoint.request has to carry ${tools} or ${turn}, endpoint.response.tool_calls to be their place",
        ),
        where="endpoint.request",
        exit_code=6,
    )


async def _unknown_model(asked: _Asked) -> list[str]:
    spec = asked.spec
    tree = spec.template.tree
    if not isinstance(tree, dict) or not isinstance(tree.get("model"), str):
        return ["unknown_model_not_asked"]
    made_up = replace(spec.template, tree={**tree, "model": f"unknown-{randomness.token_hex(6)}"})
    probe, reading, _ = await _once(asked, made_up)
    if probe.status == 200 and reading.outcome in (Outcome.ANSWERED, Outcome.TRUNCATED, Outcome.EMPTY):
        raise EndpointError(
            "SLV-N042",
            Text(
                "el proveedor respondió a un modelo que no existe: sustituye uno por omisión",
                "the vendor answered for a model that does not exist: it substitutes a default",
            ),
            why=Text("no se sabría qué motor respondió", "it would not be known which engine answered"),
            fix=Text("pida al proveedor que rechace nombres desconocidos", "ask the vendor to refuse unknown names"),
            where="endpoint",
            exit_code=5,
        )
    return []
