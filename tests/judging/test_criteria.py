"""Criteria and rubrics: what a digest covers, what a value is worth, what no rubric may ask."""

from __future__ import annotations

from decimal import Decimal

import pytest

from slaverify.contract.model.judge import CarveOut, Criterion, Probe, Scale, ScalePoint
from slaverify.errors import JudgeError
from slaverify.judging import (
    RUBRICS,
    criterion_digest,
    fraction_of,
    meets,
    probes_digest,
    rubric,
    same_versions,
    whole_text,
)
from slaverify.judging.rubrics import FORBIDDEN_FIELDS
from slaverify.scoring import applies

ORDINAL = Scale(
    kind="ordinal",
    points=tuple(ScalePoint(value=v, fraction=Decimal(v) / 4, anchor=f"nivel {v}") for v in range(5)),
)


def criterion(**changes: object) -> Criterion:
    base = Criterion(
        id="tono",
        version=1,
        tier="quality",
        text="La respuesta es serena.",
        carve_outs=(CarveOut(id="critico", text="«Crítico» como prioridad de un caso está permitido."),),
        scale=ORDINAL,
        threshold=Decimal("0.7"),
        probes=(Probe(answer="Con gusto.", met=True),),
    )
    return base.model_copy(update=changes)


def test_the_text_that_is_read_holds_its_exceptions() -> None:
    assert whole_text(criterion()) == "La respuesta es serena. «Crítico» como prioridad de un caso está permitido."


def test_a_changed_letter_changes_the_digest_and_a_changed_probe_does_not() -> None:
    other = criterion(text="La respuesta es serena!")
    probed = criterion(probes=(Probe(answer="No.", met=False),))
    assert criterion_digest(other) != criterion_digest(criterion())
    assert criterion_digest(probed) == criterion_digest(criterion())
    assert probes_digest(probed) != probes_digest(criterion())


def test_one_id_and_version_with_two_texts_is_refused() -> None:
    with pytest.raises(JudgeError, match="SLV-J003"):
        same_versions([criterion(), criterion(text="Otra cosa.")])
    same_versions([criterion(), criterion(version=2, text="Otra cosa.")])


def test_the_fraction_is_read_from_the_table_and_compared_as_a_decimal() -> None:
    assert fraction_of(criterion(), 3) == Decimal("0.75")
    assert meets(criterion(), 3)
    assert not meets(criterion(), 2)
    assert meets(criterion(threshold=Decimal("0.750")), 3)
    for off in (5, -1, "3", True):
        with pytest.raises(KeyError):
            fraction_of(criterion(), off)


def test_a_scenario_criterion_applies_to_its_items_alone() -> None:
    scenario = criterion(applies_when={"stratum": ("quejas",), "tags": ("vip", "prensa")})
    assert applies(scenario, {"stratum": "quejas", "tags": ["vip"]})
    assert not applies(scenario, {"stratum": "quejas", "tags": []})
    assert not applies(scenario, {"stratum": "faq", "tags": ["vip"]})
    assert applies(criterion(), {})


def test_the_table_of_reglab_maps_all_its_cells() -> None:
    found = rubric("reglab@1")
    cells = [found.table[row][column] for row in found.scales["correctness"] for column in found.scales["grounding"]]
    assert len(cells) == 16
    assert cells.count(None) == 5
    assert found.table["correct"]["grounded"] == "accurate"
    assert found.table["no_answer"]["not_applicable"] == "incomplete"
    assert {found.table["incorrect"][column] for column in found.scales["grounding"]} == {"incorrect"}


def test_no_rubric_asks_for_a_threshold_a_weight_or_a_mark_and_each_value_has_its_anchor() -> None:
    for found in RUBRICS.values():
        assert not FORBIDDEN_FIELDS & set(found.asks)
        for language in ("es", "en"):
            assert found.text[language]
            for field, values in found.scales.items():
                if field != "score":
                    assert set(found.anchors[language][field]) == set(values)


def test_an_unknown_rubric_is_refused() -> None:
    with pytest.raises(JudgeError, match="SLV-J007"):
        rubric("reglab@9")
