"""Canonical bytes, digests and the strict reading of JSON.

Everything that is signed or hashed is written here (RFC 8785) and everything hostile that is JSON is
read here. The reader refuses what two parsers could read in two ways: duplicate keys, NaN, a byte order
mark, bytes after the value, lone surrogates, depth beyond a cap.

Source: RFC 8785 (JCS), RFC 8259 (JSON), RFC 7493 (I-JSON).
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import NoReturn, TypeAlias

import rfc8785

JsonValue: TypeAlias = "Mapping[str, JsonValue] | Sequence[JsonValue] | str | int | bool | None"
JsonObject: TypeAlias = Mapping[str, JsonValue]

MAX_INTEGER = 2**53 - 1
"""Largest magnitude of an integer in any file of ours (I-JSON)."""

_NUMBER_TOKEN = 64
# Possessive, and the closing quote optional: on hostile bytes an unterminated string must not be scanned again
# from each of its quotes (40 kB took 3.5 s).
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_NINE_PLACES = Decimal("1e-9")


class StrictJsonError(ValueError):
    """What the strict reader refused. `kind` is one word of a closed list; `detail` names the place."""

    KINDS = (
        "encoding",
        "bom",
        "syntax",
        "trailing",
        "duplicate_key",
        "float",
        "non_finite",
        "integer",
        "digits",
        "depth",
        "surrogate",
        "nfc",
        "not_canonical",
        "not_object",
    )

    def __init__(self, kind: str, detail: str = "") -> None:
        if kind not in self.KINDS:
            raise AssertionError(kind)
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.detail = detail


class NumberText(str):
    """The text of a JSON number, kept as it was written (up to 64 characters)."""

    __slots__ = ()


def jcs(value: JsonValue) -> bytes:
    """Return the RFC 8785 bytes of `value`.

    Raises: StrictJsonError for a float, an integer beyond ±(2^53-1), a lone surrogate or a key that is no string.
    Source: RFC 8785.
    """
    try:
        if _is_plain(value):
            return _PLAIN.encode(value).encode("utf-8")
        _refuse_floats(value)
        return rfc8785.dumps(value)
    except rfc8785.IntegerDomainError as error:
        raise StrictJsonError("integer", str(error)) from error
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise StrictJsonError("surrogate", str(error)) from error


# The library's own encoder is 15 times faster than the reference one and writes the same bytes where keys are
# ASCII (their order is then that of UTF-16) and every value is of exactly a type below; a test compares both.
_PLAIN = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))


_SAFE = frozenset({str, bool, type(None)})

_SHAPE = bytes(0x30 if 0x30 <= byte <= 0x39 else 0xFF if byte >= 0xF0 else byte for byte in range(256))
"""Digits become one digit, first bytes of characters beyond U+FFFF become 0xFF."""
_SIXTEEN_DIGITS = b"0" * 16


def _is_plain(value: object) -> bool:
    """Say whether `_PLAIN` writes the RFC 8785 bytes of `value`: exact types, ASCII keys, integers in range."""
    kind = type(value)
    if kind in _SAFE:
        return True
    if isinstance(value, int):
        return kind is int and -MAX_INTEGER <= value <= MAX_INTEGER
    if isinstance(value, dict):
        for key, member in value.items():
            if type(key) is not str or not key.isascii() or not (type(member) in _SAFE or _is_plain(member)):
                return False
        return kind is dict
    return (kind is list or kind is tuple) and isinstance(value, list | tuple) and all(map(_is_plain, value))


def _refuse_floats(value: object) -> None:
    if isinstance(value, float):
        raise StrictJsonError("float", "write reals as decimal strings")
    if isinstance(value, Mapping):
        for member in value.values():
            _refuse_floats(member)
    elif isinstance(value, list | tuple):
        for member in value:
            _refuse_floats(member)


def loads_strict(
    data: bytes,
    *,
    max_depth: int = 64,
    numbers: str = "integers",
    surrogates: str = "refuse",
    nfc: bool = False,
    bom: str = "refuse",
) -> JsonValue:
    """Read one JSON value from `data`, or refuse.

    `numbers`: `integers` refuses fractions, exponents and integers beyond ±(2^53-1); `text` keeps each
    number as a `NumberText` of at most 64 characters. `surrogates`: `refuse` or `replace` (U+FFFD).
    `nfc`: every string and key must be in NFC. `bom`: `refuse` or `skip` (one, at the start).

    Raises: StrictJsonError, whose `kind` says which rule was broken. No other exception leaves.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        if bom != "skip":
            raise StrictJsonError("bom", "byte 0")
        data = data[3:]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError("encoding", f"byte {error.start}") from error
    _check_depth(data, max_depth)
    try:
        value: JsonValue = (_TEXTS if numbers == "text" else _INTEGERS).decode(text)
    except StrictJsonError:
        raise
    except json.JSONDecodeError as error:
        kind = "trailing" if error.msg == "Extra data" else "syntax"
        raise StrictJsonError(kind, f"character {error.pos}") from error
    except (ValueError, RecursionError) as error:
        raise StrictJsonError("syntax", type(error).__name__) from error
    # Strict UTF-8 gives a surrogate by an escape alone, and ASCII without escapes is in NFC.
    escaped = b"\\u" in data
    surrogate = escaped and (b"\\ud" in data or b"\\uD" in data)
    if not surrogate and (not nfc or (not escaped and data.isascii())):
        return value
    return _check_strings(value, surrogates, nfc)


def loads_object(data: bytes, *, max_depth: int = 64, nfc: bool = False) -> JsonObject:
    """Read one JSON object strictly (integers only). Raises: StrictJsonError."""
    value = loads_strict(data, max_depth=max_depth, nfc=nfc)
    if not isinstance(value, dict):
        raise StrictJsonError("not_object")
    return value


def loads_canonical(data: bytes, *, max_depth: int = 64) -> JsonObject:
    """Read one JSON object whose bytes must already be its RFC 8785 form. Raises: StrictJsonError."""
    quick = _canonical_object(data, max_depth)
    if quick is not None:
        return quick
    value = loads_object(data, max_depth=max_depth)
    if jcs(value) != data:
        raise StrictJsonError("not_canonical")
    return value


def _canonical_object(data: bytes, max_depth: int) -> JsonObject | None:
    """Return the object of which `data` are the RFC 8785 bytes; None where only the slow way can say (or refuses).

    What the library's parser read is written again and must give the same bytes: with that, no key stands twice, no
    space, escape, order or number is another, and nothing stands before or after. Left to the slow way is what this
    cannot tell: digits in a row that might be an integer beyond 2^53, characters beyond U+FFFF (their order in UTF-16
    is another), depth, fractions.
    """
    shape = data.translate(_SHAPE)
    if _SIXTEEN_DIGITS in shape or b"\xff" in shape or data.count(b"[") + data.count(b"{") > max_depth:
        return None
    try:
        text = data.decode("utf-8")
        value, end = _QUICK.raw_decode(text)
        same = type(value) is dict and end == len(text) and _PLAIN.encode(value) == text
    except (ValueError, RecursionError):
        return None
    return value if same else None


def jsonl(values: Iterable[JsonValue]) -> bytes:
    """Return JSON Lines: the RFC 8785 form of each value, LF after each."""
    return b"".join(jcs(value) + b"\n" for value in values)


def loads_jsonl(data: bytes, *, max_depth: int = 20, max_line: int = 8 * 1024 * 1024) -> list[JsonObject]:
    """Read JSON Lines in which each line is canonical and the last one ends in LF. Raises: StrictJsonError."""
    if not data:
        return []
    if not data.endswith(b"\n"):
        raise StrictJsonError("syntax", "last line without LF")
    out: list[JsonObject] = []
    for number, line in enumerate(data[:-1].split(b"\n"), 1):
        if len(line) > max_line:
            raise StrictJsonError("syntax", f"line {number} too long")
        try:
            out.append(loads_canonical(line, max_depth=max_depth))
        except StrictJsonError as error:
            raise StrictJsonError(error.kind, f"line {number}: {error.detail}") from error
    return out


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of `data` as `sha256:<hex>`, the form of contract, bank, method and bundle digests."""
    return "sha256:" + sha256_hex(data)


def real9(value: float | Fraction | Decimal) -> str:
    """Return a real number as a decimal string with 9 places, rounded half to even.

    So written, a recomputation gives the same bytes. Raises: ValueError for NaN and infinity.
    """
    if isinstance(value, Fraction):
        exact = Context(prec=60).divide(Decimal(value.numerator), Decimal(value.denominator))
    else:
        exact = Decimal(value)
    if not exact.is_finite():
        raise ValueError("not a finite number")
    rounded = exact.quantize(_NINE_PLACES, rounding=ROUND_HALF_EVEN, context=Context(prec=60))
    return format(abs(rounded) if rounded.is_zero() else rounded, "f")


def decimal_text(value: Decimal) -> str:
    """Return a decimal as it is written in our files: digits and a point, never an exponent."""
    return format(value, "f")


def _check_depth(data: bytes, max_depth: int) -> None:
    # Before parsing: the parser itself would recurse. A lone quote ends the scan; the parser then reports it.
    if data.count(b"[") + data.count(b"{") <= max_depth:
        return
    depth = 0
    for match in _TOKENS.finditer(data):
        token = match.group()
        if token in (b"[", b"{"):
            depth += 1
            if depth > max_depth:
                raise StrictJsonError("depth", f"more than {max_depth}")
        elif token in (b"]", b"}"):
            depth -= 1


def _no_duplicates(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    out = dict(pairs)
    if len(out) == len(pairs):
        return out
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise StrictJsonError("duplicate_key", repr(key)[:80])
        seen.add(key)
    raise AssertionError("fewer keys than pairs")


def _integer(token: str) -> int:
    if len(token) > _NUMBER_TOKEN:
        raise StrictJsonError("digits")
    value = int(token)
    if abs(value) > MAX_INTEGER:
        raise StrictJsonError("integer", token)
    return value


def _number_text(token: str) -> NumberText:
    if len(token) > _NUMBER_TOKEN:
        raise StrictJsonError("digits")
    return NumberText(token)


def _no_float(token: str) -> NoReturn:
    raise StrictJsonError("float", token[:_NUMBER_TOKEN])


def _no_constant(token: str) -> NoReturn:
    raise StrictJsonError("non_finite", token)


# Made once: a decoder costs as much as the reading of a short line.
_INTEGERS = json.JSONDecoder(
    object_pairs_hook=_no_duplicates, parse_int=_integer, parse_float=_no_float, parse_constant=_no_constant
)
_TEXTS = json.JSONDecoder(
    object_pairs_hook=_no_duplicates, parse_int=_number_text, parse_float=_number_text, parse_constant=_no_constant
)
_QUICK = json.JSONDecoder(parse_float=_no_float, parse_constant=_no_constant)


def _check_strings(value: JsonValue, surrogates: str, nfc: bool) -> JsonValue:
    if isinstance(value, NumberText):
        return value
    if isinstance(value, str):
        return _check_string(value, surrogates, nfc)
    if isinstance(value, dict):
        out: dict[str, JsonValue] = {}
        for key, member in value.items():
            clean = _check_string(key, surrogates, nfc)
            if clean in out:
                raise StrictJsonError("duplicate_key", repr(clean)[:80])
            out[clean] = _check_strings(member, surrogates, nfc)
        return out
    if isinstance(value, list):
        return [_check_strings(member, surrogates, nfc) for member in value]
    return value


def _check_string(text: str, surrogates: str, nfc: bool) -> str:
    if not text.isascii():
        if any("\ud800" <= character <= "\udfff" for character in text):
            if surrogates != "replace":
                raise StrictJsonError("surrogate")
            text = re.sub("[\ud800-\udfff]", "\ufffd", text)
        if nfc and not unicodedata.is_normalized("NFC", text):
            raise StrictJsonError("nfc", repr(text)[:80])
    return text
