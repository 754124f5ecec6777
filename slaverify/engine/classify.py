"""What one response is: its outcome, its answer, its version, and the fault if there is one. Pure.

`verify` calls this module on the recorded bytes, so nothing here may depend on time, chance or the network.

Source: docs/spec/run.md, sections "Outcomes" and "Retries".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from slaverify.canonical import JsonValue
from slaverify.contract.words import Attribution, Outcome
from slaverify.engine import body as reader
from slaverify.engine.faults import TRANSPORT, WAYS, Fault
from slaverify.engine.identity import Echo, check_echo
from slaverify.engine.mapping import (
    MappingError,
    read_answer,
    read_citations,
    read_count,
    read_versions,
    read_word,
    single,
)
from slaverify.engine.spec import EndpointSpec
from slaverify.evalset.answer import Answer

UNAVAILABLE = frozenset({408, 425, 500, 502, 503, 504, *range(520, 525)})
"""Statuses after which another attempt is made."""

_CUT = frozenset(
    {
        Fault.SHORT_BODY,
        Fault.CLOSE_CUT,
        Fault.RESET,
        Fault.DEADLINE,
        Fault.STREAM_CUT,
        Fault.BAD_HEAD,
        Fault.ERROR_OBJECT,
    }
)


@dataclass(frozen=True, slots=True)
class Received:
    """What came back in one attempt. `fault` is one of the wire (ATTESTED) or None; `body` raw and inflated.

    `headers` are the kept ones, names in lower case; `latency_ms` from the first request byte to the last byte.
    """

    status: int | None
    headers: Mapping[str, str]
    body: bytes
    fault: Fault | None = None
    latency_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """What a reply of a tool loop says: its answer (an object, a text or null) and its calls, as they came.

    `odd`: its shape is none that a turn may have.
    """

    answer: JsonValue
    calls: JsonValue
    odd: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """What an attempt means, were it the last of its exchange.

    `outcome` of a transport fault is `unresolved` until the control probe attributes it (`outcome_of`).
    """

    outcome: Outcome
    fault: Fault | None = None
    answer: Answer | None = None
    version: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    finish_reason: str | None = None
    confidence: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    codes: tuple[str, ...] = ()
    title: str = ""
    flags: tuple[str, ...] = ()
    turn: Turn | None = None


def read_response(spec: EndpointSpec, received: Received) -> Reading:
    """Return what an attempt means. Total: every input gives a reading, none raises."""
    if received.fault is not None:
        return _faulted(spec, received, received.fault)
    status = received.status or 0
    if 300 <= status <= 399:
        return Reading(Outcome.ENGINE_MISMATCH, Fault.REDIRECT)
    return _ok(spec, received) if status == 200 else _not_ok(spec, received, status)


def outcome_of(reading: Reading, probe: Attribution | None) -> Outcome:
    """Return the outcome of a reading, given what the control probe said of a transport fault (None: not asked)."""
    if reading.fault not in TRANSPORT:
        return reading.outcome
    if probe is Attribution.VENDOR:
        return Outcome.VENDOR_FAILURE
    return Outcome.AUDITOR_FAILURE if probe is Attribution.AUDITOR else Outcome.UNRESOLVED


def attribution_of(outcome: Outcome) -> Attribution:
    """Return whose an outcome of a sent exchange is."""
    if outcome is Outcome.UNRESOLVED:
        return Attribution.UNRESOLVED
    if outcome in (Outcome.AUDITOR_FAILURE, Outcome.NOT_SENT):
        return Attribution.AUDITOR
    return Attribution.VENDOR


def fault_outcome(spec: EndpointSpec, fault: Fault) -> Outcome:
    """Return the outcome that a fault has by itself."""
    vendor = True
    if fault is Fault.QUOTA:
        vendor = spec.call.paid_by == "vendor"
    elif fault is Fault.UNAUTHORISED:
        # Without an agreed credential there is none of the auditor's that could have expired.
        vendor = spec.auth is None or spec.auth.owner == "vendor"
    return WAYS[fault].outcome if vendor else Outcome.AUDITOR_FAILURE


def _faulted(spec: EndpointSpec, received: Received, fault: Fault, flags: tuple[str, ...] = ()) -> Reading:
    if fault in _CUT and received.status == 200 and received.body and _text_arrived(spec, received):
        flags = (*flags, "cut_body")
    title = reader.html_title(received.body) if fault is Fault.HTML else ""
    return Reading(fault_outcome(spec, fault), fault, title=title, flags=tuple(sorted(set(flags))))


def _text_arrived(spec: EndpointSpec, received: Received) -> bool:
    tree = spec.adapter.partial(received.body)
    try:
        text = read_answer(spec.fields.answer, tree, received.headers).text
    except MappingError:
        return False
    return text is not None and bool(text.strip())


def _not_ok(spec: EndpointSpec, received: Received, status: int) -> Reading:
    tree = reader.parse_json(received.body).tree if received.body else None
    versions = read_versions(spec.fields.version, tree, received.headers)
    version = versions[0] if versions else None
    if check_echo(spec, versions) is Echo.OTHER:
        return Reading(Outcome.ENGINE_MISMATCH, Fault.ECHO, version=", ".join(versions))
    codes = _error_codes(spec, tree, received.headers)
    title = reader.html_title(received.body) if reader.is_html(received.headers, received.body) else ""
    if status >= 400 and _filtered(spec, codes):
        return Reading(Outcome.REFUSED, version=version, codes=codes)
    fault = Fault.STATUS
    if status >= 400 and spec.quota_codes.intersection(codes):
        fault = Fault.QUOTA
    elif status in (401, 403):
        fault = Fault.UNAUTHORISED
    elif status == 429:
        fault = Fault.RATE_LIMITED
    elif status in UNAVAILABLE:
        fault = Fault.UNAVAILABLE
    elif 400 <= status <= 499 and spec.model_codes.intersection(codes):
        fault = Fault.MODEL
    return Reading(fault_outcome(spec, fault), fault, version=version, codes=codes, title=title)


def _ok(spec: EndpointSpec, received: Received) -> Reading:
    if reader.is_html(received.headers, received.body):
        return _faulted(spec, received, Fault.HTML)
    if not spec.adapter.type_allowed(reader.media_type(received.headers)):
        return _faulted(spec, received, Fault.CONTENT_TYPE)
    if not reader.charset_allowed(received.headers):
        return _faulted(spec, received, Fault.CHARSET)
    parsed = spec.adapter.parse(received.body)
    fault = parsed.fault
    if fault is not None:
        if fault in (Fault.SYNTAX, Fault.ENCODING, Fault.STREAM_CUT) and reader.framing(received.headers) == "close":
            fault = Fault.CLOSE_CUT
        return _faulted(spec, received, fault, parsed.flags)
    return _mapped(spec, received, parsed.tree, parsed.flags)


def _mapped(spec: EndpointSpec, received: Received, tree: JsonValue, flags: tuple[str, ...]) -> Reading:
    versions = read_versions(spec.fields.version, tree, received.headers)
    echo = check_echo(spec, versions)
    if echo is Echo.OTHER:
        return Reading(Outcome.ENGINE_MISMATCH, Fault.ECHO, version=", ".join(versions), flags=flags)
    if echo is Echo.MISSING:
        flags = (*flags, "version_missing")
    version = versions[0] if versions else None
    shape = spec.adapter.shape(tree)
    if shape is not None:
        return replace(_faulted(spec, received, shape, flags), version=version)
    codes = _error_codes(spec, tree, received.headers)
    if codes:
        reading = replace(_error(spec, received, codes, flags), codes=codes)
    elif echo is Echo.MISSING and spec.on_missing == "invalid_run":
        return Reading(Outcome.ENGINE_MISMATCH, Fault.ECHO_MISSING, flags=tuple(sorted(set(flags))))
    else:
        reading = (_turn if spec.turns else _answered)(spec, received, tree, flags)
    return _described(spec, received, tree, reading, version)


def _error(spec: EndpointSpec, received: Received, codes: tuple[str, ...], flags: tuple[str, ...]) -> Reading:
    if _filtered(spec, codes):
        return Reading(Outcome.REFUSED, flags=tuple(sorted(set(flags))))
    if spec.quota_codes.intersection(codes):
        return _faulted(spec, received, Fault.QUOTA, flags)
    if spec.model_codes.intersection(codes):
        return _faulted(spec, received, Fault.MODEL, flags)
    return _faulted(spec, received, Fault.ERROR_OBJECT, flags)


def _answered(spec: EndpointSpec, received: Received, tree: JsonValue, flags: tuple[str, ...]) -> Reading:
    headers, fields, marks = received.headers, spec.fields, set(flags)
    try:
        finish = _finish(spec, tree, headers, marks)
        refused = _refusal(spec, tree, headers) or finish in ("content_filter", "refusal", "refused")
        explained = refused or finish == "length"
        found = read_answer(fields.answer, tree, headers)
        citations = read_citations(fields.citations, tree)
        tools = single(fields.tool_calls, tree, headers, "tool_calls")
    except MappingError as fault:
        return Reading(Outcome.MALFORMED, Fault.MAPPING, title=str(fault), flags=tuple(sorted(marks)))
    if not found.present and not explained and not tools:
        return Reading(Outcome.MALFORMED, Fault.MAPPING, title="answer: absent", flags=tuple(sorted(marks)))
    text = found.text or ""
    late = _late(spec, received, marks)
    outcome = Outcome.ANSWERED
    if refused:
        outcome = Outcome.REFUSED
    elif finish == "length" or spec.cut_markers.ends(text.rstrip()):
        outcome = Outcome.TRUNCATED
    elif not text.strip():
        outcome = Outcome.EMPTY
    elif spec.error_texts.match(text.strip()):
        return _faulted(spec, received, Fault.ERROR_TEXT, tuple(marks))
    shown = tuple(sorted(marks))
    if late:
        return Reading(Outcome.VENDOR_FAILURE, Fault.ANSWER_DEADLINE, finish_reason=finish, flags=shown)
    answer = Answer(text, citations, shown) if found.present else None
    return Reading(outcome, None, answer, finish_reason=finish, flags=shown)


def _turn(spec: EndpointSpec, received: Received, tree: JsonValue, flags: tuple[str, ...]) -> Reading:
    """Read a reply of a tool loop: whether its content fits the dialect is the loop's business."""
    headers, fields, marks = received.headers, spec.fields, set(flags)
    try:
        finish = _finish(spec, tree, headers, marks)
        refused = _refusal(spec, tree, headers) or finish in ("content_filter", "refusal", "refused")
        node = single(fields.answer, tree, headers, "answer")
        answer = node if isinstance(node, dict) else read_answer(fields.answer, tree, headers).text
        calls = single(fields.tool_calls, tree, headers, "tool_calls")
    except MappingError as fault:
        return Reading(Outcome.MALFORMED, Fault.MAPPING, title=str(fault), flags=tuple(sorted(marks)))
    late = _late(spec, received, marks)
    shown = tuple(sorted(marks))
    if late:
        return Reading(Outcome.VENDOR_FAILURE, Fault.ANSWER_DEADLINE, finish_reason=finish, flags=shown)
    if refused or finish == "length":
        return Reading(Outcome.REFUSED if refused else Outcome.TRUNCATED, finish_reason=finish, flags=shown)
    if isinstance(answer, str) and answer.strip() and spec.error_texts.match(answer.strip()):
        return _faulted(spec, received, Fault.ERROR_TEXT, tuple(marks))
    turn = Turn(answer, calls, spec.adapter.odd_turn(tree))
    return Reading(Outcome.ANSWERED, finish_reason=finish, flags=shown, turn=turn)


def _late(spec: EndpointSpec, received: Received, marks: set[str]) -> bool:
    if received.latency_ms is None:
        return False
    agreed, deadline = spec.call.agreed_latency_s, spec.call.answer_deadline_s
    if agreed is not None and received.latency_ms > agreed * 1000:
        marks.add("late")
    return deadline is not None and received.latency_ms > deadline * 1000


def _finish(spec: EndpointSpec, tree: JsonValue, headers: Mapping[str, str], marks: set[str]) -> str | None:
    source = spec.fields.finish_reason
    word = read_word(source, tree, headers, "finish_reason")
    if word is None or source is None:
        return None
    meanings = spec.adapter.facts.finish_reasons if source.meanings is None else source.meanings
    if word not in meanings:
        marks.add("unknown_finish_reason")
        return None
    return meanings[word]


def _refusal(spec: EndpointSpec, tree: JsonValue, headers: Mapping[str, str]) -> bool:
    source = spec.fields.refusal
    node = single(source, tree, headers, "refusal")
    if source is not None and source.meanings is not None:
        word = read_word(source, tree, headers, "refusal")
        return word is not None and source.meanings.get(word) in ("refused", "refusal", "content_filter")
    if node is None or node is False:
        return False
    return not isinstance(node, str) or bool(node.strip())


def _error_codes(spec: EndpointSpec, tree: JsonValue, headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words by which an error is known, empty where there is none."""
    source = spec.fields.error
    if source is None:
        return ()
    found: list[str] = []
    for node in source.nodes(tree, headers):
        if node is None or node is False or node in ("", [], {}):
            continue
        found.append("")  # an error without any word is still one, and no code of the contract is empty
        _collect(node, found, 0)
    if source.meanings is None:
        return tuple(dict.fromkeys(found))
    meant = [source.meanings[word] for word in found if word in source.meanings]
    if "none" in meant:
        return ()
    return tuple(dict.fromkeys([*found, *meant]))


def _collect(node: JsonValue, found: list[str], depth: int) -> None:
    if isinstance(node, str):
        found.append(str(node)[:200])
    elif isinstance(node, dict) and depth < 3:
        words = (node.get(key) for key in ("code", "type", "status", "reason"))
        found.extend(word[:200] for word in words if isinstance(word, str))
        for key in ("innererror", "error", "details"):
            _collect(node.get(key), found, depth + 1)
    elif isinstance(node, list) and depth < 3:
        for member in node[:8]:
            _collect(member, found, depth + 1)


def _filtered(spec: EndpointSpec, codes: tuple[str, ...]) -> bool:
    return bool(spec.adapter.facts.filter_codes.intersection(codes))


def _described(
    spec: EndpointSpec, received: Received, tree: JsonValue, reading: Reading, version: str | None
) -> Reading:
    fields, headers = spec.fields, received.headers
    try:
        confidence = read_word(fields.confidence, tree, headers, "confidence")
        response_id = read_word(fields.response_id, tree, headers, "response_id")
        fingerprint = read_word(fields.fingerprint, tree, headers, "fingerprint")
    except MappingError:
        # Descriptive fields decide nothing: what is odd in them is left out.
        return replace(reading, version=version)
    return replace(
        reading,
        version=version,
        confidence=confidence,
        response_id=response_id,
        fingerprint=fingerprint,
        input_tokens=read_count(fields.input_tokens, tree, headers),
        output_tokens=read_count(fields.output_tokens, tree, headers),
    )
