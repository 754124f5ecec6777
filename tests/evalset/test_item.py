"""`item/1`: every field, every refusal with its code and place."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from slaverify.errors import ProblemsError
from slaverify.evalset import Item, parse_item

BASE: dict[str, Any] = {
    "schema": "item/1",
    "id": "p-1",
    "stratum": "direct",
    "query": "¿Cuál es el plazo?",
    "reference": {"kind": "number", "value": "15"},
}
FULL: dict[str, Any] = {
    **BASE,
    "locale": "es-CL",
    "attachments": [{"name": "a.pdf", "media_type": "application/pdf", "digest": "sha256:" + "0" * 64, "size": 10}],
    "expected_citations": [{"id": "cl:ley:19886:art:12", "match": "any", "granularity": "norm"}],
    "official_text": "El plazo es de 15 días.",
    "source": {"title": "Ley", "publisher": "BCN", "locator": "art. 12"},
    "consulted_on": "2026-01-02",
    "as_of": "2026-01-01",
    "cluster": "ley-19886",
    "twin_of": "p-0",
    "twin_relation": "near_miss",
    "settings": {"tolerance": "0.5", "json": "fenced_allowed"},
    "criteria": ["names_the_article"],
    "authors": [{"kind": "person", "role": "redactor"}, {"kind": "model", "family": "x"}],
    "annotations": [{"annotator": "b", "value": "15"}],
    "ext": {"nota": ["libre", 1, None]},
    "source_id": "orig-1",
}

KINDS: list[dict[str, Any]] = [
    {"kind": "number", "value": "-4.20", "unit": "%", "tolerance": {"kind": "absolute", "value": "0.05"}},
    {"kind": "amount", "value": "15", "unit": "día", "day_kind": "hábiles"},
    {"kind": "amount", "min": "5", "max": "10", "unit": "UTM"},
    {"kind": "date", "value": "2025-03"},
    {"kind": "date", "value": "2025-03-03", "order": "dmy"},
    {"kind": "entity", "value": "X", "aliases": ["Y"], "identifier": "cl.rut"},
    {"kind": "set", "value": [{"kind": "entity", "value": "a"}], "set_rule": "f1", "ordering": "sequence"},
    {"kind": "choice", "value": "A", "options": {"A": "uno", "B": "dos"}},
    {"kind": "text", "value": "x", "aliases": ["y"], "normaliser": "strict@1"},
    {"kind": "citation", "value": "cl:ley:19886:art:12-bis", "granularity": "paragraph"},
    {"kind": "json", "value": {"a": [1, True, None]}, "schema": {"type": "object"}, "ignore": ["$.a"]},
    {"kind": "trajectory", "value": {"track": "perspective"}},
    {"kind": "none", "because": "not_in_document"},
    {"kind": "entity", "value": "X", "accepted": [{"kind": "number", "value": "1"}]},
]


def problems(tree: Any) -> list[tuple[str, str]]:
    with pytest.raises(ProblemsError) as caught:
        parse_item(tree, where="f.jsonl:3")
    return [(problem.code, problem.where) for problem in caught.value.problems]


def test_every_field_is_read_and_written_back() -> None:
    assert parse_item(FULL).to_json() == FULL
    assert parse_item(BASE).to_json() == BASE


def test_defaults_are_left_out_of_the_canonical_form() -> None:
    spelled = {**BASE, "honeytoken": False, "criteria": [], "locale": None, "settings": {}, "ext": None}
    spelled["reference"] = {"kind": "number", "value": "15", "unit": "none", "accepted": [], "tolerance": None}
    assert parse_item(spelled).to_json() == BASE


@pytest.mark.parametrize("reference", KINDS, ids=lambda reference: str(reference["kind"]))
def test_every_kind_of_reference_is_read(reference: dict[str, Any]) -> None:
    assert parse_item({**BASE, "reference": reference}).to_json()["reference"] == reference


def test_messages_stand_for_a_query() -> None:
    messages = [{"role": "system", "content": "Eres útil."}, {"role": "user", "content": "¿Cuál?"}]
    tree = {key: value for key, value in BASE.items() if key != "query"} | {"messages": messages}
    assert parse_item(tree).query_text() == "¿Cuál?"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"qury": "x"}, [("SLV-I002", "f.jsonl:3: qury")]),
        ({"id": "con espacio"}, [("SLV-I004", "f.jsonl:3: id")]),
        ({"id": 7}, [("SLV-I004", "f.jsonl:3: id")]),
        ({"schema": "item/2"}, [("SLV-I004", "f.jsonl:3: schema")]),
        ({"query": "   "}, [("SLV-I004", "f.jsonl:3: query")]),
        ({"query": "x" * 65_537}, [("SLV-I005", "f.jsonl:3: query")]),
        ({"query": None}, [("SLV-I008", "f.jsonl:3")]),
        ({"messages": [{"role": "user", "content": "x"}]}, [("SLV-I008", "f.jsonl:3")]),
        ({"reference": {"kind": "number", "value": "1,5"}}, [("SLV-I004", "f.jsonl:3: reference.number.value")]),
        ({"reference": {"kind": "number", "value": 15}}, [("SLV-I004", "f.jsonl:3: reference.number.value")]),
        ({"reference": {"kind": "number", "value": "1" * 41}}, [("SLV-I004", "f.jsonl:3: reference.number.value")]),
        ({"reference": {"kind": "nmber"}}, [("SLV-I007", "f.jsonl:3: reference")]),
        ({"reference": {"kind": "date", "value": "2025-02-31"}}, [("SLV-I004", "f.jsonl:3: reference.date.value")]),
        (
            {"reference": {"kind": "choice", "value": "C", "options": {"A": "x", "B": "y"}}},
            [("SLV-I007", "f.jsonl:3: reference.choice")],
        ),
        ({"reference": {"kind": "amount", "unit": "UF"}}, [("SLV-I007", "f.jsonl:3: reference.amount")]),
        (
            {"reference": {"kind": "none", "because": "out_of_corpus", "accepted": [{"kind": "text", "value": "x"}]}},
            [("SLV-I007", "f.jsonl:3: reference.none")],
        ),
        ({"stratum": "trap"}, [("SLV-I008", "f.jsonl:3")]),
        ({"honeytoken": True}, [("SLV-I008", "f.jsonl:3")]),
        ({"twin_of": "p-0"}, [("SLV-I008", "f.jsonl:3")]),
        ({"expected_citations": [{"id": "cl:ley:1"}]}, [("SLV-I008", "f.jsonl:3")]),
        ({"settings": {"tolerancia": "1"}}, [("SLV-I002", "f.jsonl:3: settings.tolerancia")]),
        ({"locale": "español"}, [("SLV-I004", "f.jsonl:3: locale")]),
        ({"ext": {"x": 1.5}}, [("SLV-I004", "f.jsonl:3: ext")]),
    ],
)
def test_refusals(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert problems({**BASE, **changes}) == expected


def test_everything_wrong_is_said_at_once() -> None:
    found = problems({"schema": "item/1", "id": "a b", "qury": "x", "reference": {"kind": "number"}})
    assert {code for code, _ in found} == {"SLV-I002", "SLV-I003", "SLV-I004"}
    assert len(found) == 4


def test_a_misspelt_field_gets_the_nearest_one() -> None:
    with pytest.raises(ProblemsError) as caught:
        parse_item({**BASE, "refernce": {}})
    assert caught.value.problems[0].fix.es == "¿quiso decir reference?"


def test_an_item_stays_as_it_was_read() -> None:
    item = parse_item(FULL)
    with pytest.raises(ValidationError):
        item.query = "otra"  # type: ignore[misc]
    assert isinstance(item, Item) and isinstance(item.authors, tuple)


def test_hostile_strata() -> None:
    none = {"kind": "none", "because": "out_of_corpus"}
    assert parse_item({**BASE, "stratum": "out_of_corpus", "reference": none}).hostile
    assert parse_item({**BASE, "reference": none}).hostile
    assert not parse_item(BASE).hostile
