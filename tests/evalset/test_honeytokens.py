"""Which variant of a honeytoken is sealed: drawn at the seal, gone from the item, and nothing else is touched."""

from __future__ import annotations

import pytest

from slaverify.canonical import jcs
from slaverify.errors import ProblemsError
from slaverify.evalset import Item, parse_item, split, with_variant

VARIANTS = [str(7000 + number) for number in range(16)]


def token(**changes: object) -> Item:
    tree = {
        "schema": "item/1",
        "id": "plante-1",
        "stratum": "probe",
        "query": "¿Qué folio lleva el expediente ficticio 1?",
        "reference": {"kind": "number", "value": "7000"},
        "honeytoken": True,
        "ext": {"variants": VARIANTS, "note": "x"},
    }
    return parse_item({**tree, **changes})


@pytest.mark.parametrize("number", [0, 7, 15])
def test_one_variant_is_sealed_and_the_others_leave_no_trace(number: int) -> None:
    asked: list[int] = []
    sealed = with_variant(token(), lambda n: asked.append(n) or number)
    assert asked == [16] and sealed.reference.value == VARIANTS[number]
    assert sealed.ext == {"variant_of": 16, "note": "x"} and sealed.query == token().query
    parts = split(sealed)
    others = {one.encode() for one in VARIANTS if one != VARIANTS[number]}
    assert not any(one in jcs(part) for one in others for part in parts)


def test_an_item_that_lists_none_is_left_as_it_is() -> None:
    plain = token(ext=None)
    assert with_variant(plain, lambda n: 1 // 0) is plain


@pytest.mark.parametrize(
    "changes",
    [
        {"ext": {"variants": VARIANTS[:15]}},
        {"ext": {"variants": [*VARIANTS[:15], VARIANTS[0]]}},
        {"ext": {"variants": [*VARIANTS[:15], 7]}},
        {"ext": {"variants": "7000"}},
        {"stratum": "direct", "honeytoken": False},
        {"reference": {"kind": "amount", "min": "1", "max": "2", "unit": "UF"}},
    ],
)
def test_a_list_that_is_none_is_refused(changes: dict) -> None:
    with pytest.raises(ProblemsError) as caught:
        with_variant(token(**changes), lambda n: 0)
    assert [problem.code for problem in caught.value.problems] == ["SLV-I008"]
