"""A contract that asks for what this version cannot do is refused at its place before anything leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from slaverify.audit.supported import check_supported
from slaverify.canonical import JsonValue, jcs
from slaverify.contract import edited
from slaverify.contract.load import load_contract, parse_contract
from slaverify.errors import ProblemsError
from slaverify.resources import resource

FULL: JsonValue = {"method": "full", "arms": {"anchor": 0, "twin": 4, "probe": 4}}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("scope.catalogue", None),
        ("schedule.shadow_share", "0.10"),
        ("contract.purpose", "pilot"),
        ("report.signature.tsa_urls", []),
    ],
)
def test_what_cannot_be_carried_out_is_refused(path: str, value: JsonValue) -> None:
    draft = load_contract(resource("contratos", "demo-normativa-cl.yaml"))
    check_supported(draft.model)
    asked = parse_contract(jcs(edited(draft.tree, {path: value})), "asked")
    with pytest.raises(ProblemsError) as caught:
        check_supported(asked.model)
    assert [problem.code for problem in caught.value.problems] == ["SLV-A030"]
    assert path.startswith(caught.value.problems[0].where)


def test_arms_need_a_sample_of_unsent_items() -> None:
    draft = load_contract(resource("contratos", "demo-normativa-cl.yaml"))
    arms = {"evaluation_set.sample.arms": {"anchor": 0, "twin": 4, "probe": 4}}
    check_supported(parse_contract(jcs(edited(draft.tree, arms)), "asked").model)
    for more in ({"evaluation_set.exposure": "reuse"}, {"evaluation_set.sample": FULL}):
        asked = parse_contract(jcs(edited(draft.tree, {**arms, **more})), "asked")
        with pytest.raises(ProblemsError) as caught:
            check_supported(asked.model)
        assert [problem.where for problem in caught.value.problems] == ["evaluation_set.sample.arms"]


def test_a_second_stage_is_carried_out_on_what_code_decides() -> None:
    draft = load_contract(resource("contratos", "demo-normativa-cl.yaml"))
    staged = {
        "verdict.inconclusive": {"extend": {"per_stratum": {"direct": 10}, "spending": ["0.005", "0.0225"]}},
        "evaluation_set.sample.release": "at_start",
    }
    check_supported(parse_contract(jcs(edited(draft.tree, staged)), "asked").model)
    whole = {**staged, "evaluation_set.sample.method": "full", "evaluation_set.sample.per_stratum": None}
    with pytest.raises(ProblemsError) as caught:
        check_supported(parse_contract(jcs(edited(draft.tree, whole)), "asked").model)
    assert {problem.where for problem in caught.value.problems} == {"verdict.inconclusive"}


def test_the_dispersion_sample_is_what_code_alone_decides() -> None:
    draft = load_contract(resource("contratos", "demo-normativa-cl.yaml"))
    again = {"repetitions.dispersion_sample": {"items": 30, "repeats": 8}}
    check_supported(parse_contract(jcs(edited(draft.tree, again)), "asked").model)
    staged = {
        "verdict.inconclusive": {"extend": {"per_stratum": {"direct": 10}, "spending": ["0.005", "0.0225"]}},
        "evaluation_set.sample.release": "at_start",
    }
    with pytest.raises(ProblemsError) as caught:
        check_supported(parse_contract(jcs(edited(draft.tree, {**again, **staged})), "asked").model)
    assert [problem.where for problem in caught.value.problems] == ["repetitions.dispersion_sample"]
    judged = load_contract(resource("contratos", "asistente-normativo-cl.yaml"))
    with pytest.raises(ProblemsError) as caught:
        check_supported(judged.model)
    assert "repetitions.dispersion_sample" in [problem.where for problem in caught.value.problems]


def test_the_resources_are_those_of_the_repository() -> None:
    assert resource("contratos", "demo-normativa-cl.yaml") == Path(__file__).resolve().parents[2].joinpath(
        "contratos", "demo-normativa-cl.yaml"
    )
