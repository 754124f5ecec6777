"""Canonical bytes of a bank, rules over the whole of it, and the cut in two for the seal."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.canonical import jcs
from slaverify.errors import ProblemsError
from slaverify.evalset import (
    MAX_ITEM_BYTES,
    QUERY_FIELDS,
    REFERENCE_FIELDS,
    Item,
    item_schema,
    item_schema_sha256,
    join,
    parse_item,
    read_bank,
    split,
    write_bank,
)
from tests.evalset.test_item import BASE, FULL, KINDS
from tests.tools import build_item_schema

WORDS = st.text(min_size=1, max_size=30).filter(lambda text: bool(text.strip()))


def bank(*ids: str, **changes: Any) -> list[Item]:
    return [parse_item({**BASE, "id": name, **changes}) for name in ids]


def codes(data: bytes) -> list[tuple[str, str]]:
    with pytest.raises(ProblemsError) as caught:
        read_bank(data, "b.jsonl")
    return [(problem.code, problem.where) for problem in caught.value.problems]


def test_the_order_of_the_items_does_not_matter() -> None:
    items = bank(*(f"p-{number}" for number in range(30)))
    shuffled = items[:]
    random.Random(7).shuffle(shuffled)
    assert write_bank(items) == write_bank(shuffled)
    assert [item.id for item in read_bank(write_bank(shuffled), "b")] == sorted(item.id for item in items)


def test_what_is_not_canonical_is_refused_with_its_line() -> None:
    good = write_bank(bank("a", "b"))
    first, second, _ = good.split(b"\n")
    assert codes(second + b"\n" + first + b"\n") == [("SLV-I001", "b.jsonl")]
    assert codes(good.replace(b'"id":"b"', b'"id": "b"')) == [("SLV-I001", "b.jsonl:2")]
    assert codes(good[:-1])[0] == ("SLV-I001", "b.jsonl")
    assert codes(b"\xef\xbb\xbf" + good)[0] == ("SLV-I001", "b.jsonl:1")
    assert codes(good.replace(b"\n", b"\r\n"))[0] == ("SLV-I001", "b.jsonl:1")
    assert codes(b"")[0][0] == "SLV-I010"
    assert codes(jcs({**BASE, "query": "a\u0301"}) + b"\n")[0] == ("SLV-I001", "b.jsonl:1")
    assert codes(b'{"a":"' + b"x" * MAX_ITEM_BYTES + b'"}\n')[0] == ("SLV-I005", "b.jsonl:1")


def test_ids_that_stand_twice_name_both_lines() -> None:
    with pytest.raises(ProblemsError) as caught:
        read_bank(write_bank(bank("a", "a", "b")), "b.jsonl")
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("SLV-I006", "b.jsonl:2")
    assert "b.jsonl:1" in problem.what.es


@pytest.mark.parametrize(
    "twin",
    [
        {"twin_of": "zz"},
        {"twin_of": "c"},
        {"twin_of": "a", "stratum": "applied"},
        {"twin_of": "a", "cluster": "otro"},
    ],
)
def test_twins(twin: dict[str, Any]) -> None:
    items = bank("a") + bank("b", twin_relation="paraphrase", **twin)
    items += bank("c", twin_of="a", twin_relation="paraphrase")
    assert [code for code, _ in codes(write_bank(items))] == ["SLV-I009"]


def test_the_parts_have_exactly_their_fields() -> None:
    item = parse_item(FULL)
    query, reference = split(item)
    assert set(query) == {"schema", "locale", "query", "attachments"} <= set(QUERY_FIELDS)
    assert set(reference) <= set(REFERENCE_FIELDS)
    assert set(query) & set(reference) == {"schema"}
    assert not {"id", "stratum", "twin_of"} & (set(query) | set(reference))
    assert set(FULL) - {"id", "stratum", "twin_of"} == set(query) | set(reference)
    assert reference["source_id"] == "orig-1"
    assert split(parse_item(BASE)).reference["source_id"] == "p-1"


@pytest.mark.parametrize("reference", KINDS, ids=lambda reference: str(reference["kind"]))
def test_what_was_cut_joins_again(reference: dict[str, Any]) -> None:
    item = parse_item({**BASE, "reference": reference})
    query, rest = split(item)
    joined = join(query, rest, "it-0123456789ab", item.stratum)
    assert joined.to_json() == {**item.to_json(), "id": "it-0123456789ab", "source_id": "p-1"}
    assert split(joined) == (query, rest)


def test_twins_join_by_their_sealed_ids() -> None:
    item = parse_item(FULL)
    query, reference = split(item)
    assert join(query, reference, "it-b", "direct", "it-a").twin_of == "it-a"
    with pytest.raises(ProblemsError):
        join(query, reference, "it-b", "direct")


@pytest.mark.parametrize("stray", ["id", "stratum", "reference", "cluster", "nada"])
def test_a_field_in_the_wrong_part_is_refused(stray: str) -> None:
    query, reference = split(parse_item(BASE))
    with pytest.raises(ProblemsError) as caught:
        join({**query, stray: "x"}, reference, "it-a", "direct")
    assert caught.value.problems[0].code == "SLV-I011"


@given(query=WORDS, value=WORDS, cluster=WORDS, note=st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_survives(query: str, value: str, cluster: str, note: str) -> None:
    import unicodedata

    nfc = [unicodedata.normalize("NFC", text) for text in (query, value, cluster, note)]
    tree = {**BASE, "query": nfc[0], "cluster": nfc[2], "ext": {"nota": nfc[3]}}
    item = parse_item({**tree, "reference": {"kind": "text", "value": nfc[1]}})
    data = write_bank([item])
    assert read_bank(data, "b") == (item,)
    query_part, reference_part = split(item)
    assert join(query_part, reference_part, "it-a", "direct").query == nfc[0]


@given(data=st.binary(max_size=400))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        read_bank(data, "b")
    except ProblemsError as error:
        assert all(problem.code.startswith("SLV-I") for problem in error.problems)


def _sorted_words(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: sorted(value) if key == "enum" else _sorted_words(value) for key, value in tree.items()}
    return [_sorted_words(member) for member in tree] if isinstance(tree, list) else tree


def test_the_schema_is_the_one_of_the_models() -> None:
    # `typing` keeps one object for literals of the same words, in the order in which a process first saw them
    pinned, built = json.loads(build_item_schema.TARGET.read_bytes()), json.loads(build_item_schema.build())
    assert _sorted_words(pinned) == _sorted_words(built)
    assert item_schema()["$id"] == "urn:slaverify:item:1"


def test_the_digest_of_the_schema_is_pinned() -> None:
    """Sealed banks name it: a change here is a new version of the format, or a mistake."""
    assert item_schema_sha256() == "7d23714cc322326255fc6c578eae575ef07c60108faa359241177d94e8784274"
