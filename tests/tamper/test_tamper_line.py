"""Every named tampering of a whole audit has the outcome, the failed rules and the exit code that it must have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tamper.custody_fixtures import FIXTURES as of_custody
from tests.tamper.line_fixtures import FIXTURES as of_evidence
from tests.verify.checking import check, failures, said

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text())["lines"]
FIXTURES = {**of_evidence, **of_custody}


@pytest.mark.parametrize("name", sorted(FIXTURES))
def test_each_tampering_is_found_by_its_rule(name: str) -> None:
    attempt, expected = FIXTURES[name](), EXPECTED[name]
    found = check(attempt.made, attempt.files, **attempt.asked)
    assert (found.outcome.value, found.exit_code) == (expected["outcome"], expected["exit"]), failures(found)
    assert set(expected["rules"]) <= failures(found), failures(found)
    for rule, words in expected.get("says", {}).items():
        assert words in said(found, rule)


def test_every_fixture_has_its_expectation() -> None:
    assert set(EXPECTED) == set(FIXTURES)


def test_b16_b17_without_a_name_the_comparison_is_said_not_to_have_been_made() -> None:
    attempt = FIXTURES["b17_replayed_report"]()
    paper = attempt.asked["pdf"]
    reason = check(attempt.made, attempt.files, pdf=paper).check("V16").reason.en
    assert "no run was named" in reason
    assert "no report was named" in reason


def test_b37_what_is_left_out_is_listed_as_withheld() -> None:
    attempt = FIXTURES["b37_public_edition"]()
    withheld = {one.path for one in check(attempt.made, attempt.files).withheld}
    assert withheld == {"run/exchanges.jsonl", "sealed/annex.age"}


def test_b40_demonstration_keys_exit_zero_only_where_asked_for() -> None:
    attempt = FIXTURES["b40_demo_keys"]()
    assert check(attempt.made, attempt.files, **attempt.asked, allow_demo=True).exit_code == 0
