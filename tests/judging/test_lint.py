"""What makes a judge unusable is refused before anybody signs; what reads in two ways is warned of."""

from __future__ import annotations

from pathlib import Path

import pytest

from slaverify.canonical import JsonValue, jcs
from slaverify.contract import edited
from slaverify.contract.load import load_contract, parse_contract
from slaverify.judging import lint
from slaverify.resources import resource

DRAFT = "atencion-clientes.yaml"


def found(changes: dict[str, JsonValue], kind: str = "refused", draft: str = DRAFT) -> list[str]:
    tree = edited(load_contract(resource("contratos", draft)).tree, changes)
    return [finding.code for finding in getattr(lint, kind)(parse_contract(jcs(tree), "asked").model)]


def test_the_shipped_contracts_have_nothing_refused() -> None:
    for path in sorted(Path(str(resource("contratos"))).glob("*.yaml")):
        assert list(lint.refused(load_contract(path).model)) == []


LABELS: JsonValue = [
    {"value": "si", "fraction": "1", "anchor": "a"},
    {"value": "si", "fraction": "0", "anchor": "b"},
]
GAP: JsonValue = [
    {"value": 1, "fraction": "0", "anchor": "a"},
    {"value": 3, "fraction": "1", "anchor": "b"},
]
FLAT: JsonValue = [
    {"value": 1, "fraction": "0.5", "anchor": "a"},
    {"value": 2, "fraction": "0.5", "anchor": "b"},
]
RISING: JsonValue = [
    {"value": 1, "fraction": "0", "anchor": "a"},
    {"value": 2, "fraction": "1", "anchor": "b"},
]
TURNED: JsonValue = [
    {"value": "met", "fraction": "0", "anchor": "a"},
    {"value": "not_met", "fraction": "1", "anchor": "b"},
]


BARE: dict[str, JsonValue] = {"judge.criteria.0.carve_outs": [], "judge.criteria.0.probes": []}
TRIED: dict[str, JsonValue] = {
    "judge.criteria.0.carve_outs": [],
    "judge.criteria.0.probes": [
        {"answer": "Son 10 días, con su Boleta.", "met": True},
        {"answer": "Son 10 días, con sus boletas.", "met": False},
    ],
}


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"judge.criteria.0.probes": []}, ["SLV-J010"]),
        ({"judge.criteria.0.check": {}}, ["SLV-J018", "SLV-J018", "SLV-J018"]),
        ({**BARE, "judge.criteria.0.check": {}}, ["SLV-J018"]),
        ({**BARE, "judge.criteria.0.check": {"pattern": "días"}}, ["SLV-J018"]),
        ({**BARE, "judge.criteria.0.check": {"contains": ["boleta"], "max_chars": 300}}, []),
        ({**TRIED, "judge.criteria.0.check": {"contains": ["boleta"]}}, []),
        ({**TRIED, "judge.criteria.0.check": {"contains": ["BOLETA", "día"]}}, ["SLV-J018"]),
        ({"judge.criteria.0.probes.0.met": False}, ["SLV-J010"]),
        ({"judge.criteria.0.probes.1.answer": "El cambio es dentro de 10 días  con boleta."}, ["SLV-J011"]),
        ({"judge.criteria.0.applies_when": {"stratum": ["nadie"]}}, ["SLV-J012"]),
        ({"judge.criteria.0.scale.points": TURNED}, ["SLV-J013"]),
        ({"judge.criteria.2.scale": {"kind": "labels", "points": LABELS}}, ["SLV-J013"]),
        ({"judge.criteria.2.scale": {"kind": "ordinal", "points": GAP}}, ["SLV-J013"]),
        ({"judge.criteria.2.scale": {"kind": "ordinal", "points": FLAT}}, ["SLV-J013"]),
        ({"judge.criteria.2.scale": {"kind": "ordinal", "points": RISING}}, []),
        ({"judge.criteria.0.scale": {"kind": "ordinal", "points": RISING}}, ["SLV-J016"]),
        (
            {"judge.criteria.0.scale": {"kind": "ordinal", "points": RISING}, "judge.allow_ordinal_compliance": True},
            [],
        ),
        ({"judge.aggregation": "median"}, ["SLV-J014"]),
        ({"judge.aggregation": "mean"}, ["SLV-J014"]),
        ({"judge.criteria.0.points": 3}, ["SLV-J006"]),
        ({f"judge.criteria.{index}.points": -1 for index in range(3)}, ["SLV-J006"]),
        ({f"judge.criteria.{index}.points": 2 - index or -1 for index in range(3)}, []),
    ],
)
def test_what_a_criteria_contract_may_not_say(changes: dict[str, JsonValue], codes: list[str]) -> None:
    assert found(changes) == codes


def test_two_texts_of_one_version_are_refused() -> None:
    first = load_contract(resource("contratos", DRAFT)).tree
    criteria = first["judge"]["criteria"]  # type: ignore[call-overload, index]
    twin = {**criteria[0], "text": "Otra exigencia."}
    assert found({"judge.criteria": [*criteria, twin]}) == ["SLV-J003"]


def test_a_frozen_contract_pins_the_rubric_of_this_version() -> None:
    other: dict[str, JsonValue] = {"judge.rubric.digest": "sha256:" + "0" * 64}
    assert found(other, draft="asistente-normativo-cl.yaml") == []
    assert found({**other, "judge.rubric.name": "reglab@7"}, draft="asistente-normativo-cl.yaml") == ["SLV-J007"]


def test_wordings_and_samples_that_say_nothing_are_warned_of() -> None:
    assert "SLV-J015" in found({"judge.criteria.0.text": "Responde adecuadamente."}, "warned")
    assert "SLV-J015" in found({"judge.criteria.0.text": "criterios/tono.md"}, "warned")
    assert "SLV-J017" in found({"judge.repeats": {"sample": 30}}, "warned")
    assert "SLV-J017" not in found({}, "warned")
