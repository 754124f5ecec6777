"""From a judge's bytes to a judgement or a failure. Stands on the edge to the judge; nothing else reads its words.

The checks run in this order, and the first that fails names the result:

1 `transport` 2 `identity_mismatch` 3 `refusal` 4 `incomplete_output` (then, with `verdict-json-unwrap@1`, one think
block and one fence are removed) 5 `empty` 6 `bad_encoding` 7 `limits` 8 `not_json` 9 `trailing_data`
10 `duplicate_key` 11 `non_finite` 12 `not_object` 13 `nonce_mismatch` 14 `schema` 15 `off_scale` 16 `inconsistent`.

Nothing is trimmed, folded, translated, clamped, searched for or guessed: what is not exactly the agreed object is a
failure of the judge, never a mark.

Source: docs/spec/judging.md section 5.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from slaverify.canonical import JsonValue
from slaverify.judging.records import FailureKind, JudgeFailure, Judgement, ParseResult

STRICT = "verdict-json@1"
UNWRAP = "verdict-json-unwrap@1"
PARSERS = (STRICT, UNWRAP)

MAX_BYTES = 16_384
MAX_DEPTH = 8
MAX_NUMBER = 20
MAX_REASON = 2_000
NONCE_ALARM = "judge_nonce"

_SPACE = " \t\n\r"
_TOKEN = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.)*+)"?|(?P<open>[\[{])|(?P<close>[\]}])|(?P<number>[0-9][0-9.eE+-]*+)', re.S
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.S)
_THINK = re.compile(rb"[ \t\n\r]*<think>(.*?)</think>", re.S)
_FENCE = re.compile(rb"[ \t\n\r]*```(?:json)?[ \t]*\r?\n(.*?)\r?\n```[ \t\n\r]*", re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back from one call: the judge's words as bytes, and what its interface said of them.

    `stop` is `complete` for the normal end; `refused`: the interface's own refusal field; `fault`: no reply at all.
    """

    raw: bytes | None
    stop: str | None
    refused: bool = False
    echo: str | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a reply must be an answer to.

    `scales`: admitted values by asked field, all texts or all integers; `sentences`: how many are numbered, for the
    field of that name; `table`: correctness → grounding → verdict, null a contradiction; `given`: the half that code
    settled; `echo`: the model name that must be declared, null where it is not compared.
    """

    nonce: str
    scales: Mapping[str, tuple[str | int, ...]]
    parser: str = STRICT
    criterion: str | None = None
    sentences: int | None = None
    table: Mapping[str, Mapping[str, str | None]] | None = None
    given: Mapping[str, str] | None = None
    echo: str | None = None


class _Number(str):
    """A number as it was written."""

    __slots__ = ()


class _Real(_Number):
    """A number with a fraction or an exponent."""

    __slots__ = ()


def parse(reply: Reply, asked: Asked) -> ParseResult:
    """Return what the reply says, or the first check that it fails. Never raises for any bytes."""
    # 1 transport, 2 identity, 3 refusal, 4 normal end
    early = _interface(reply, asked)
    if early is not None:
        return JudgeFailure(early)
    raw = reply.raw or b""
    if asked.parser == UNWRAP:
        raw = _unwrapped(raw)
    # 5 empty
    if not raw.strip(_SPACE.encode()):
        return JudgeFailure(FailureKind.EMPTY)
    # 6 encoding, 7 limits: lexical
    text = _decoded(raw)
    if text is None or _hidden_nul_or_surrogate(text):
        return JudgeFailure(FailureKind.BAD_ENCODING)
    if len(raw) > MAX_BYTES or _beyond_limits(text):
        return JudgeFailure(FailureKind.LIMITS)
    # 8 to 12
    found = _object(text)
    if isinstance(found, FailureKind):
        return JudgeFailure(found)
    # 13 nonce
    nonce = found.get("nonce")
    if type(nonce) is not str or nonce != asked.nonce:
        return JudgeFailure(FailureKind.NONCE_MISMATCH, NONCE_ALARM)
    return _judgement(found, asked)


def _interface(reply: Reply, asked: Asked) -> FailureKind | None:
    if reply.fault is not None:
        return FailureKind.TRANSPORT
    # A filter in front of the model refuses without naming it: nothing is then known of another model.
    filtered = reply.refused and reply.echo is None
    if asked.echo is not None and reply.echo != asked.echo and not filtered:
        return FailureKind.IDENTITY_MISMATCH
    if reply.refused or reply.stop in ("content_filter", "refusal"):
        return FailureKind.REFUSAL
    return None if reply.stop == "complete" else FailureKind.INCOMPLETE_OUTPUT


def _unwrapped(raw: bytes) -> bytes:
    """Remove one leading think block, then one fence that holds all the rest; anything else is left as it is."""
    thought = _THINK.match(raw)
    if thought is not None and raw.count(b"<think>") == 1 and raw.count(b"</think>") == 1:
        raw = raw[thought.end() :]
    fence = _FENCE.fullmatch(raw)
    # A second fence inside means that there is more than one: no JSON string holds a line break.
    if fence is not None and b"\n```" not in b"\n" + fence.group(1):
        return fence.group(1)
    return raw


def _decoded(raw: bytes) -> str | None:
    if raw.startswith(b"\xef\xbb\xbf") or b"\x00" in raw:
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _hidden_nul_or_surrogate(text: str) -> bool:
    if "\\u" not in text:
        return False
    return any(_bad_escapes(match.group("text")) for match in _TOKEN.finditer(text) if match.group("text"))


def _bad_escapes(inside: str) -> bool:
    high_ends = -1
    waiting = False
    for match in _ESCAPE.finditer(inside):
        if match.group(1) is None:
            continue
        unit = int(match.group(1), 16)
        if unit == 0:
            return True
        if waiting:
            if not 0xDC00 <= unit <= 0xDFFF or match.start() != high_ends:
                return True
            waiting = False
        elif 0xDC00 <= unit <= 0xDFFF:
            return True
        elif 0xD800 <= unit <= 0xDBFF:
            waiting, high_ends = True, match.end()
    return waiting


def _beyond_limits(text: str) -> bool:
    depth = 0
    for match in _TOKEN.finditer(text):
        if match.group("open"):
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif match.group("close"):
            depth -= 1
        elif (number := match.group("number")) is not None:
            signed = match.start() > 0 and text[match.start() - 1] == "-"
            if len(number) + signed > MAX_NUMBER:
                return True
    return False


@dataclass(slots=True)
class _Seen:
    duplicate: bool = False
    non_finite: bool = False


def _object(text: str) -> dict[str, JsonValue] | FailureKind:
    seen = _Seen()
    body = text.lstrip(_SPACE)
    try:
        value, end = _decoder(seen).raw_decode(body)
    except (ValueError, RecursionError):
        return FailureKind.NOT_JSON
    if body[end:].strip(_SPACE):
        return FailureKind.TRAILING_DATA
    if seen.duplicate:
        return FailureKind.DUPLICATE_KEY
    if seen.non_finite:
        return FailureKind.NON_FINITE
    return value if isinstance(value, dict) else FailureKind.NOT_OBJECT


def _decoder(seen: _Seen) -> json.JSONDecoder:
    def pairs(found: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        out = dict(found)
        seen.duplicate |= len(out) != len(found)
        return out

    def constant(token: str) -> _Real:
        seen.non_finite = True
        return _Real(token)

    def real(token: str) -> _Real:
        seen.non_finite |= not math.isfinite(float(token))
        return _Real(token)

    return json.JSONDecoder(object_pairs_hook=pairs, parse_int=_Number, parse_float=real, parse_constant=constant)


def _judgement(found: dict[str, JsonValue], asked: Asked) -> ParseResult:
    # 14 schema
    due = {"nonce", "reason", *asked.scales} | ({"criterion"} if asked.criterion is not None else set())
    reason = found.get("reason")
    if set(found) != due or type(reason) is not str or not 1 <= len(reason) <= MAX_REASON:
        return JudgeFailure(FailureKind.SCHEMA)
    if asked.criterion is not None and (type(found["criterion"]) is not str or found["criterion"] != asked.criterion):
        return JudgeFailure(FailureKind.SCHEMA)
    if not all(_typed(field, found[field], scale) for field, scale in asked.scales.items()):
        return JudgeFailure(FailureKind.SCHEMA)
    # 15 off the scale
    values = {field: _on_scale(found[field], scale) for field, scale in asked.scales.items()}
    if any(value is None for value in values.values()):
        return JudgeFailure(FailureKind.OFF_SCALE)
    # 16 inconsistent
    if not _consistent(values, asked):
        return JudgeFailure(FailureKind.INCONSISTENT)
    flags = ("non_answer_seen_by_judge",) if values.get("correctness") == "no_answer" else ()
    return Judgement(tuple(sorted(values.items())), reason, flags)


def _typed(field: str, value: JsonValue, scale: tuple[str | int, ...]) -> bool:
    if field == "sentences":
        return type(value) is list and all(type(label) is str for label in value)
    if isinstance(scale[0], int):
        return type(value) is _Number
    return type(value) is str


def _on_scale(value: JsonValue, scale: tuple[str | int, ...]) -> JsonValue:
    """Return the declared value that was written, byte for byte, or null."""
    if isinstance(value, list):
        return list(value) if all(label in scale for label in value) else None
    return next((one for one in scale if str(one) == value), None)


def _consistent(values: Mapping[str, JsonValue], asked: Asked) -> bool:
    labels = values.get("sentences")
    if isinstance(labels, list) and asked.sentences is not None and len(labels) != asked.sentences:
        return False
    halves = {**(asked.given or {}), **values}
    correctness, grounding = halves.get("correctness"), halves.get("grounding")
    if asked.table is None or not isinstance(correctness, str) or not isinstance(grounding, str):
        return True
    return asked.table[correctness][grounding] is not None
