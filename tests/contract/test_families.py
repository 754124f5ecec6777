"""Which family a model's name gives away, and that no other declared name hides it."""

from __future__ import annotations

import pytest

from slaverify.canonical import JsonValue, jcs
from slaverify.contract import edited
from slaverify.contract.checks.families import called, families_called, family_of_name
from slaverify.contract.load import load_contract, parse_contract
from slaverify.errors import ProblemsError
from slaverify.resources import resource


def test_a_name_gives_its_family_away_or_says_nothing() -> None:
    assert family_of_name("anthropic/claude-x-2026-01-01") == "claude"
    assert family_of_name("GPT-5-2026-01-01") == "gpt"
    assert family_of_name("modelo-j-2026-03-01") is None
    assert family_of_name("phillips-2026-01-01") is None
    assert called("claude", "Anthropic Claude 5") and not called("claude", "familia-j")
    assert families_called("OpenAI GPT-5") == {"gpt"}


def codes(changes: dict[str, JsonValue]) -> list[str]:
    tree = edited(load_contract(resource("contratos", "atencion-clientes.yaml")).tree, changes)
    try:
        parse_contract(jcs(tree), "asked")
    except ProblemsError as error:
        return [problem.code for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"judge.panel.0.snapshot": "claude-x-2026-03-01", "judge.panel.0.family": "Claude"}, False),
        ({"judge.panel.0.snapshot": "claude-x-2026-03-01", "judge.panel.0.family": "familia-j"}, True),
        # The same family under another name, on either side.
        ({"judge.panel.0.family": "Claude", "engine.version": "claude-x-2026-01-01"}, True),
        (
            {
                "judge.panel.0.snapshot": "claude-x-2026-03-01",
                "judge.panel.0.family": "Anthropic",
                "engine.base_families": ["Claude 4"],
            },
            True,
        ),
        ({"judge.panel.0.family": "Claude", "engine.base_families": ["GPT"]}, False),
    ],
)
def test_a_judge_of_the_engines_family_is_refused_under_any_name(changes: dict[str, JsonValue], refused: bool) -> None:
    assert ("SLV-J001" in codes(changes)) is refused
