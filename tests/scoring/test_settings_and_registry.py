"""What the contract fixes for a stratum; the registries refuse what this version does not have."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from slaverify.contract.load import load_contract
from slaverify.errors import SetError
from slaverify.evalset import Policies
from slaverify.scoring import (
    PROFILES,
    RULES,
    PolicySet,
    Registry,
    default_settings,
    normaliser,
    profile,
    read_policies,
    settings_for,
)
from slaverify.scoring.cues import cues
from tests.tools import build_number_symbols

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def contract():
    return load_contract(ROOT / "contratos" / "demo-normativa-cl.yaml").model


def _changed(contract, **method):
    return contract.model_copy(update={"method": contract.method.model_copy(update=method)})


def test_defaults_are_the_profiles(contract) -> None:
    got = settings_for(contract, "direct")
    assert (got.locale, got.language, got.profile) == ("es-CL", "es", "regulatory@1")
    assert (got.verdict_table, got.citation_field) == ("reglab@1", True)
    assert got.policies == PolicySet() and got.max_chars == 20_000 and not got.judged
    bare = settings_for(_changed(contract, normaliser=None, abstention=None), "direct")
    assert (bare.normaliser, bare.abstention) == ("es-legal@1", ("abstain-es@1", "abstain-en@1"))


def test_the_contract_overrides_the_profile_and_the_item_the_contract(contract) -> None:
    policies = contract.method.policies.model_copy(update={"fold_accents": True})
    got = settings_for(_changed(contract, policies=policies, null_tokens=("N/A",)), "direct")
    assert got.policies.fold_accents and got.null_tokens == ("N/A",)
    from tests.scoring.helpers import item, number

    own = got.for_item(item(number("1"), settings={"fold_accents": False, "tolerance": "0.5"}, locale="es-MX"))
    assert not own.policies.fold_accents and str(own.policies.tolerance) == "0.5" and own.locale == "es-MX"


def test_the_judge_stage_is_per_stratum(contract) -> None:
    strata = ("direct", "trap")
    stage = contract.method.judge_stage.model_copy(update={"strata": strata, "ask": ("correctness",)})
    changed = _changed(contract, judge_stage=stage)
    assert settings_for(changed, "direct").judged and not settings_for(changed, "out_of_corpus").judged
    assert not settings_for(changed, "direct").judged_grounding
    # over norms a hostile question never goes to a judge
    assert not settings_for(changed, "trap").judged


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: profile("regulatory@9"), "SLV-I031"),
        (lambda: normaliser("nfkc@1"), "SLV-I030"),
        (lambda: read_policies({"toleranze": "1"}), "SLV-I032"),
        (lambda: read_policies({"fold_accents": "yes"}), "SLV-I032"),
        (lambda: cues(("abstain-fr@1",)), "SLV-I035"),
        (lambda: RULES.get("number@2"), "SLV-I037"),
    ],
)
def test_unknown_names_are_refused_with_their_mend(call, code: str) -> None:
    with pytest.raises(SetError) as caught:
        call()
    assert caught.value.code == code
    assert caught.value.fix.es and caught.value.fix.en


def test_two_rules_of_one_name_are_refused() -> None:
    registry = Registry()
    rule = RULES.get("number@1")
    registry.add(rule)
    registry.add(rule)
    with pytest.raises(SetError) as caught:
        registry.add(replace(rule, policies=()))
    assert caught.value.code == "SLV-I036"


def test_every_rule_of_a_profile_exists_or_is_none() -> None:
    for table in PROFILES.values():
        named = set(table.rules.values()) - {"none@1"}
        assert named <= set(RULES.names())
        assert set(table.policies) == {name for name in Policies.model_fields if name != "json_"} | {"json"}


def test_choice_profile_leaves_other_kinds_open() -> None:
    from slaverify.contract.words import Outcome
    from slaverify.evalset import Answer
    from slaverify.scoring import score
    from tests.scoring.helpers import item, number

    record = score(item(number("15")), Answer("15"), Outcome.ANSWERED, default_settings("choice@1", "es-CL")).record
    assert record.verdict is None and record.rules[0].reason == "no_rule"


def test_number_symbols_are_those_of_cldr() -> None:
    assert build_number_symbols.TARGET.read_bytes() == build_number_symbols.build()
    rows = json.loads(build_number_symbols.TARGET.read_bytes())["locales"]
    assert (rows["es-CL"]["decimal"], rows["es-MX"]["decimal"], rows["en-US"]["decimal"]) == (",", ".", ".")
