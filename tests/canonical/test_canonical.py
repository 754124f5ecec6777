"""Canonical bytes and the strict reader: what two parsers could read in two ways is refused."""

from __future__ import annotations

import contextlib
import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.canonical import (
    MAX_INTEGER,
    NumberText,
    StrictJsonError,
    digest_of,
    jcs,
    jsonl,
    loads_canonical,
    loads_jsonl,
    loads_strict,
    real9,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_canonical_form_reads_back_to_the_same_value_and_bytes(value) -> None:
    data = jcs(value)
    assert loads_strict(data) == value
    assert jcs(loads_strict(data)) == data


@given(st.dictionaries(TEXT, VALUES, max_size=5))
def test_key_order_and_layout_do_not_move_the_digest(value) -> None:
    shuffled = json.dumps(dict(reversed(value.items())), ensure_ascii=True, indent=3).encode()
    assert digest_of(jcs(loads_strict(shuffled))) == digest_of(jcs(value))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"a":1,"a":2}', "duplicate_key"),
        (b'{"a":{"b":1,"b":1}}', "duplicate_key"),
        (b"[1.0]", "float"),
        (b"[1e3]", "float"),
        (b"[NaN]", "non_finite"),
        (b"[-Infinity]", "non_finite"),
        (b"[9007199254740992]", "integer"),
        (b"[" + b"9" * 5000 + b"]", "digits"),
        (b"\xef\xbb\xbf[]", "bom"),
        (b"[] []", "trailing"),
        (b"[]\x00", "trailing"),
        (b"[", "syntax"),
        (b"", "syntax"),
        (b"['a']", "syntax"),
        (b'["\xff"]', "encoding"),
        (b'["\\ud800"]', "surrogate"),
        (b'{"\\udfff":1}', "surrogate"),
        (b"[" * 65 + b"]" * 65, "depth"),
        (b"[" * 100_000, "depth"),
        ('["e\u0301"]'.encode("utf-16"), "encoding"),
    ],
)
def test_ambiguous_json_is_refused_and_named(data: bytes, kind: str) -> None:
    with pytest.raises(StrictJsonError) as caught:
        loads_strict(data)
    assert caught.value.kind == kind


def test_a_bracket_inside_a_string_is_no_depth() -> None:
    assert loads_strict(b'["' + b"[" * 500 + b'"]') == ["[" * 500]
    assert loads_strict(b'["\\"' + b"[" * 500 + b'"]') == ['"' + "[" * 500]


def test_decomposed_text_is_refused_where_nfc_is_asked() -> None:
    with pytest.raises(StrictJsonError) as caught:
        loads_strict('{"a":["n\u0303"]}'.encode(), nfc=True)
    assert caught.value.kind == "nfc"
    assert loads_strict('["ñ"]'.encode(), nfc=True) == ["ñ"]


def test_numbers_can_be_kept_as_the_text_that_was_sent() -> None:
    value = loads_strict(b'{"n":1.10,"m":[1e400,-0]}', numbers="text")
    assert value == {"n": "1.10", "m": ["1e400", "-0"]}
    assert isinstance(value["n"], NumberText)


def test_lone_surrogates_can_be_replaced_and_colliding_keys_are_still_refused() -> None:
    assert loads_strict(b'["a\\ud800"]', surrogates="replace") == ["a\ufffd"]
    with pytest.raises(StrictJsonError):
        loads_strict(b'{"\\ud800":1,"\\ud801":2}', surrogates="replace")


@given(st.binary(max_size=200))
def test_the_reader_raises_nothing_but_its_own_error(data: bytes) -> None:
    for options in ({}, {"numbers": "text", "surrogates": "replace", "bom": "skip"}):
        with contextlib.suppress(StrictJsonError):
            loads_strict(data, **options)


@given(st.lists(st.dictionaries(TEXT, st.integers(0, 9), max_size=3), max_size=5))
def test_json_lines_round_trip(rows) -> None:
    assert loads_jsonl(jsonl(rows)) == rows


@pytest.mark.parametrize("data", [b"{}", b"{}\n\n", b"{} \n", b'{"b":1,"a":1}\n', b"[]\n", b"{}\r\n"])
def test_json_lines_that_are_not_exactly_ours_are_refused(data: bytes) -> None:
    with pytest.raises(StrictJsonError):
        loads_jsonl(data)


@pytest.mark.parametrize("value", [1.5, {"a": float("nan")}, [2**53], {"a": "\ud800"}, (0.0,)])
def test_what_has_no_canonical_form_is_not_written(value) -> None:
    with pytest.raises(StrictJsonError):
        jcs(value)


def test_a_canonical_file_must_be_canonical_already() -> None:
    with pytest.raises(StrictJsonError) as caught:
        loads_canonical(b'{"a": 1}')
    assert caught.value.kind == "not_canonical"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, "0.500000000"),
        (-0.0, "0.000000000"),
        (Fraction(-1, 10**12), "0.000000000"),
        (Fraction(1, 3), "0.333333333"),
        (Decimal("0.0000000005"), "0.000000000"),
        (Decimal("0.0000000015"), "0.000000002"),
        (1e6, "1000000.000000000"),
        (Fraction(2, 3), "0.666666667"),
    ],
)
def test_reals_have_nine_places_half_even(value, expected: str) -> None:
    assert real9(value) == expected


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN")])
def test_what_is_no_number_is_never_written_as_one(value) -> None:
    with pytest.raises(ValueError):
        real9(value)
