"""The quick encoder writes what the reference encoder of RFC 8785 writes, over the whole domain, or is not used."""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import NamedTuple

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify import canonical
from slaverify.canonical import MAX_INTEGER, NumberText, StrictJsonError, jcs


class Word(StrEnum):
    ONE = "uno"


class Number(IntEnum):
    ONE = 1


class Pair(NamedTuple):
    left: object
    right: object


class OddText(str):
    def isascii(self) -> bool:
        return True

    def __str__(self) -> str:
        return "other"


class OddNumber(int):
    def __repr__(self) -> str:
        return "7"


ANY_TEXT = st.text(max_size=12) | st.text('\x00\x08\t\n\x0c\r\x1f\x7f\x80"\\/\u2028\ue000\uffff\U00010000é', max_size=6)
SURROGATE = st.text(st.characters(categories=["Cs", "Ll"]), max_size=3)
TEXT = ANY_TEXT | SURROGATE | ANY_TEXT.map(NumberText) | ANY_TEXT.map(OddText) | st.just(Word.ONE)
INTEGERS = (
    st.integers()
    | st.integers(MAX_INTEGER - 2, MAX_INTEGER + 2)
    | st.integers(-MAX_INTEGER - 2, -MAX_INTEGER + 2)
    | st.integers(0, 9).map(OddNumber)
    | st.just(Number.ONE)
)
KEYS = TEXT | st.text('abcXYZ_09\x00\x1f"\\', max_size=3) | st.integers(0, 3) | st.none() | st.booleans()
LEAVES = (
    st.none() | st.booleans() | INTEGERS | TEXT | st.floats() | st.binary(max_size=2) | st.sampled_from([set(), object])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.tuples(inner, inner).map(lambda both: Pair(*both))
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=2).map(OrderedDict)
        | st.dictionaries(KEYS, inner, max_size=2).map(MappingProxyType)
    ),
    max_leaves=15,
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner),
    max_leaves=20,
)


def reference(value) -> bytes:
    """The reference encoder with our refusals, and no quick path."""
    try:
        canonical._refuse_floats(value)
        return rfc8785.dumps(value)
    except rfc8785.IntegerDomainError as error:
        raise StrictJsonError("integer", str(error)) from error
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise StrictJsonError("surrogate", str(error)) from error


def said(function, value) -> tuple[str, object]:
    try:
        return "bytes", function(value)
    except StrictJsonError as error:
        return "refused", error.kind


@settings(max_examples=2000, deadline=None)
@given(VALUES)
def test_any_value_gives_the_same_bytes_or_the_same_refusal(value) -> None:
    assert said(jcs, value) == said(reference, value)


@settings(max_examples=1000, deadline=None)
@given(PLAIN)
def test_plain_values_take_the_quick_path_and_give_the_same_bytes(value) -> None:
    assert canonical._is_plain(value)
    assert jcs(value) == rfc8785.dumps(value)


def test_every_character_is_written_alike() -> None:
    for start in range(0, sys.maxunicode + 1, 4096):
        characters = [chr(point) for point in range(start, start + 4096) if not 0xD800 <= point <= 0xDFFF]
        assert jcs(["".join(characters)]) == rfc8785.dumps(["".join(characters)])
    for point in range(0xD800, 0xE000):
        with pytest.raises(StrictJsonError, match="surrogate"):
            jcs([chr(point)])


def test_keys_are_in_the_order_of_utf_16() -> None:
    keys = ["\U00010000", "\ue000", "a", "B", "", "\x7f", "é", '"', "\\", "aa", "a\x00"]
    for count in range(1, len(keys) + 1):
        value = {key: index for index, key in enumerate(keys[:count])}
        assert jcs(value) == rfc8785.dumps(value)
    ascii_keys = {chr(point): point for point in reversed(range(128))}
    assert canonical._is_plain(ascii_keys)
    assert jcs(ascii_keys) == rfc8785.dumps(ascii_keys)


def test_what_is_not_of_an_exact_type_takes_the_reference_path() -> None:
    for odd in (OddText("x"), OddNumber(3), Word.ONE, Number.ONE, NumberText("1"), OrderedDict(), Pair(1, 2)):
        assert not canonical._is_plain([odd]) or type(odd) is str
        assert said(jcs, [odd]) == said(reference, [odd])
    for key in (1, None, True, OddText("k")):
        assert not canonical._is_plain({key: 1})
        assert said(jcs, {key: 1}) == said(reference, {key: 1})


def test_a_library_without_its_compiled_encoder_writes_the_same(monkeypatch) -> None:
    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    value = {"b": ['"\\\x00\x1f\x7f/\u2028', 1, None, True], "a": {}, "c": []}
    assert jcs(value) == rfc8785.dumps(value)


def read_slowly(data: bytes, **options: object):
    """The reader with each check carried out whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical, "_check_depth", check_depth_slowly)
        value = canonical.loads_strict(data, **options)
    return canonical._check_strings(value, str(options.get("surrogates", "refuse")), bool(options.get("nfc", False)))


def check_depth_slowly(data: bytes, most: int) -> None:
    depth = 0
    for match in canonical._TOKENS.finditer(data):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(match.group(), 0)
        if depth > most:
            raise StrictJsonError("depth")


def understood(function, data: bytes, options: dict[str, object]) -> tuple[str, object]:
    try:
        value = function(data, **options)
    except StrictJsonError as error:
        return "refused", error.kind
    return "value", (value, repr(value))


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "[",
            "]",
            "{",
            "}",
            '"',
            ":",
            ",",
            "\\",
            "\\u",
            "d800",
            "dc00",
            "0041",
            "e\u0301",
            "é",
            "a",
            "1",
            "null",
            '"a":',
            " ",
        ]
    ),
    max_size=14,
).map("".join)


@settings(max_examples=1500, deadline=None)
@given(
    FRAGMENTS.map(str.encode)
    | PLAIN.map(lambda value: json.dumps(value).encode())
    | PLAIN.map(jcs)
    | st.binary(max_size=20),
    st.fixed_dictionaries(
        {
            "max_depth": st.integers(0, 4),
            "surrogates": st.sampled_from(["refuse", "replace"]),
            "nfc": st.booleans(),
            "numbers": st.sampled_from(["integers", "text"]),
        }
    ),
)
def test_the_reader_without_needless_checks_reads_the_same(data: bytes, options: dict[str, object]) -> None:
    assert understood(canonical.loads_strict, data, options) == understood(read_slowly, data, options)


def read_canonical_slowly(data: bytes, **options: object):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical, "_canonical_object", lambda data, max_depth: None)
        return canonical.loads_canonical(data, **options)


HOSTILE_OBJECTS = st.lists(
    st.sampled_from(
        [
            '"a":',
            '"b":',
            '"\U00010000":',
            '"\ue000":',
            '"\\u0061":',
            "1",
            "-0",
            "1.0",
            "1e2",
            "NaN",
            "Infinity",
            "9" * 15,
            "9007199254740991",
            "9007199254740992",
            "1" * 65,
            '"x"',
            '"\\/"',
            '"\\ud800"',
            '"\U0001f600"',
            '"9007199254740993"',
            *"[]{}, \n\ufeff",
            "null",
            "true",
        ]
    ),
    max_size=10,
).map("".join)


@settings(max_examples=500, deadline=None)
@given(
    HOSTILE_OBJECTS.map(lambda inner: f"{{{inner}}}".encode())
    | HOSTILE_OBJECTS.map(str.encode)
    | st.dictionaries(ANY_TEXT, PLAIN, max_size=4).map(jcs)
    | st.dictionaries(ANY_TEXT, PLAIN, max_size=4).map(lambda value: json.dumps(value).encode()),
    st.integers(0, 5),
)
def test_the_quick_reader_of_canonical_objects_reads_and_refuses_the_same(data: bytes, depth: int) -> None:
    options: dict[str, object] = {"max_depth": depth}
    assert understood(canonical.loads_canonical, data, options) == understood(read_canonical_slowly, data, options)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":1}',
        b'{"b":1,"a":1}',
        b'{"a":1.0}',
        b'{"a":1e3}',
        b'{"a":NaN}',
        b'{"a":-0}',
        b'{"a":9007199254740992}',
        b'{"a": 1}',
        b'{"a":1} ',
        b'\xef\xbb\xbf{"a":1}',
        b'{"a":"\\u0061"}',
        b'{"a":"\\ud800"}',
        '{"\ue000":1,"\U00010000":1}'.encode(),
        b"[1]",
        b'"a"',
        b"",
        b'{"a":"\xff"}',
    ],
)
def test_what_is_not_canonical_is_refused_by_the_slow_reader_alone(data: bytes) -> None:
    assert canonical._canonical_object(data, 20) is None
    with pytest.raises(StrictJsonError):
        canonical.loads_canonical(data)


def test_the_line_of_a_score_takes_the_quick_way() -> None:
    line = jcs(
        {"item_id": "it-0014c597217c", "mac": "3a" * 32, "n": 10**15 - 1, "es": "año «9»", "rules": [{"a": None}]}
    )
    assert canonical._canonical_object(line, 20) == json.loads(line)
