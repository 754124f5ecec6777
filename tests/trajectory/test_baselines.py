"""Trivial engines do not pass the example set; a set that they pass is named weak."""

from __future__ import annotations

from fractions import Fraction

import pytest

from slaverify.trajectory import PathRules, balance, best_baseline, generate, run_baselines
from slaverify.trajectory.state_files import read_state_files
from tests.trajectory.state import NONCE, crm, questions
from tests.trajectory.test_state_contract import EVALUATION, edit


@pytest.fixture(scope="module")
def results():
    return {one.name: one for one in run_baselines(crm(), questions(), PathRules())}


def test_only_the_oracle_reaches_everything(results) -> None:
    assert (results["oracle"].valid, results["oracle"].adjusted) == (1, 1)
    assert not [one for one in results.values() if one.weak]
    assert best_baseline(list(results.values())).valid == Fraction(35, 100)


def test_silence_and_blind_answers_are_worth_nothing_valid(results) -> None:
    assert (results["empty"].valid, results["empty"].adjusted) == (0, 0)
    assert results["yes_blind"].adjusted == 0
    assert results["no_blind"].valid == 0 and results["no_blind"].adjusted <= Fraction(13, 100)


def test_padding_changes_no_digit(results) -> None:
    assert (results["padding"].valid, results["padding"].adjusted) == (
        results["no_blind"].valid,
        results["no_blind"].adjusted,
    )


def test_catching_all_and_citing_everything(results) -> None:
    for name, one in results.items():
        if "catch_all" in name:
            assert one.valid <= Fraction(36, 100) and one.adjusted <= Fraction(72, 100), name
        if name.endswith("cite_everything"):
            assert one.valid == 0


def test_a_lopsided_set_is_weak() -> None:
    """Silences alone, nearly all absent: who always says no after one search a place gets them."""
    changed = edit(EVALUATION, "quota: {perspective: 16, counterfactual: 12, silence: 12}", "quota: {silence: 12}")
    contract, locale = read_state_files(changed)
    chosen = [one for one in generate(contract, locale, NONCE) if not one.boolean]
    found = {one.name: one for one in run_baselines(contract, chosen, PathRules(), ["no_catch_all", "oracle"])}
    assert found["no_catch_all"].weak and set(found["no_catch_all"].gave) <= {one.public_id for one in chosen}
    assert not found["oracle"].weak
    assert balance(chosen) == ("silence: true 0.00",)
    assert balance(questions()) == ()
