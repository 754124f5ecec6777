"""Reads the bytes of a response strictly: media type, charset, UTF-8, JSON. Stands on the edge to the vendor.

Nothing here guesses: no charset detection, no replacement, no last-key-wins, no text after the value.

Source: docs/spec/run.md, section "Wire reader"; RFC 8259, RFC 7493, RFC 9110 8.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from slaverify.canonical import JsonValue, StrictJsonError, loads_strict
from slaverify.engine.faults import Fault

MAX_DEPTH = 32
"""Deepest nesting of a response (convention)."""

_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}|\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_TITLE = re.compile(rb"<title[^>]{0,200}>([^<]{0,200})", re.IGNORECASE)
_HTML = re.compile(rb"\s{0,64}(?:<!doctype\s+html|<html[\s>])", re.IGNORECASE)

_FAULT_OF_KIND = {
    "encoding": Fault.ENCODING,
    "bom": Fault.SYNTAX,
    "trailing": Fault.TRAILING,
    "duplicate_key": Fault.DUPLICATE_KEY,
    "non_finite": Fault.NON_FINITE,
    "digits": Fault.DIGITS,
    "depth": Fault.DEPTH,
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A body as read: the tree, or the fault that stopped the reading; `flags` of the bytes."""

    tree: JsonValue = None
    fault: Fault | None = None
    flags: tuple[str, ...] = ()


def media_type(headers: Mapping[str, str]) -> str:
    """Return the media type in lower case, without parameters; empty where the header is absent."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def charset_allowed(headers: Mapping[str, str]) -> bool:
    """Say whether the charset parameter, if any, is UTF-8."""
    for parameter in headers.get("content-type", "").split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset" and value.strip().strip('"').lower() not in ("utf-8", "utf8"):
            return False
    return True


def is_json_type(kind: str) -> bool:
    """Say whether a media type is JSON. Source: RFC 8259 11, RFC 6839 3.1."""
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def is_html(headers: Mapping[str, str], body: bytes) -> bool:
    """Say whether a response is a page for people, by its type or by how it begins."""
    return media_type(headers) in ("text/html", "application/xhtml+xml") or _HTML.match(body[:256]) is not None


def html_title(body: bytes) -> str:
    """Return the title of a page for the record, at most 200 characters."""
    match = _TITLE.search(body[:65536])
    return "" if match is None else match.group(1).decode("utf-8", "replace").strip()


def framing(headers: Mapping[str, str]) -> str:
    """Return how the end of the body was told: `chunked`, `length` or `close`. Source: RFC 9112 6.3."""
    if "transfer-encoding" in headers:
        return "chunked"
    return "length" if "content-length" in headers else "close"


def parse_json(data: bytes) -> Parsed:
    """Read a JSON body. Numbers stay text; lone surrogates become U+FFFD with a flag. Never raises."""
    flags = ["bom"] if data.startswith(_BOM) else []
    try:
        tree = loads_strict(data, max_depth=MAX_DEPTH, numbers="text", surrogates="replace", bom="skip")
    except StrictJsonError as error:
        return Parsed(None, _FAULT_OF_KIND.get(error.kind, Fault.SYNTAX), tuple(flags))
    if _SURROGATE.search(data) is not None and _has_lone_surrogate(data):
        flags.append("lone_surrogate")
    return Parsed(tree, None, tuple(flags))


def _has_lone_surrogate(data: bytes) -> bool:
    try:
        loads_strict(data, max_depth=MAX_DEPTH, numbers="text", bom="skip")
    except StrictJsonError as error:
        return error.kind == "surrogate"
    return False


def complete_prefix(data: bytes) -> bytes | None:
    """Close what a cut JSON body left open, to see whether answer text had arrived; None if it cannot be.

    The result serves the flag `cut_body` alone: it is never an answer.
    """
    text = data.decode("utf-8", "ignore")
    scan = _PrefixScan()
    for index, character in enumerate(text):
        if not scan.step(index, character):
            return None
    if scan.key_start is not None:
        text = text[: scan.key_start]
    elif scan.in_string:
        text = _CUT_ESCAPE.sub("", text[:-1] if scan.escaped else text) + '"'
    else:
        text = _CUT_LITERAL.sub("", text)
    text = text.rstrip()
    text = text + "null" if text.endswith(":") else text.rstrip(", ")
    return (text + "".join(reversed(scan.closers))).encode("utf-8")


_CUT_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{0,3}$")
_CUT_LITERAL = re.compile(r"[-+.\w]{1,64}$")


class _PrefixScan:
    """What is open after each character of a cut body."""

    def __init__(self) -> None:
        self.closers: list[str] = []
        self.in_string = self.escaped = False
        self.key_start: int | None = None
        self._before = ""

    def step(self, index: int, character: str) -> bool:
        """Take one character; False if the text cannot be JSON."""
        if self.in_string:
            if self.escaped:
                self.escaped = False
            elif character == "\\":
                self.escaped = True
            elif character == '"':
                self.in_string = False
            return True
        if character == '"':
            self.in_string = True
            if self.closers and self.closers[-1] == "}" and self._before in ("{", ","):
                self.key_start = index
        elif character in "{[":
            self.closers.append("}" if character == "{" else "]")
        elif character in "}]":
            if not self.closers or self.closers.pop() != character:
                return False
        elif character == ":":
            self.key_start = None
        if not character.isspace():
            self._before = character
        return len(self.closers) <= MAX_DEPTH
