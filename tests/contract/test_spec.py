"""The specification says what the models say, and every code that the room can give stands in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import slaverify.contract
from slaverify.contract import Contract
from slaverify.contract.profiles import PROFILES, default_policies
from tests.contract.spec_table import END, SPEC, START, key_table

ROOM = Path(slaverify.contract.__file__).parent
LINT = ROOM.parent / "readiness"
COMMANDS = ROOM.parent / "cli" / "commands"


@pytest.fixture(scope="module")
def spec() -> str:
    return SPEC.read_text("utf-8")


def test_the_table_of_keys_is_that_of_the_models(spec: str) -> None:
    assert spec.split(START)[1].split(END)[0] == key_table(), "run python -m tests.contract.spec_table"


def test_every_code_is_listed_and_every_listed_code_exists(spec: str) -> None:
    table = spec.split("## 6. Errors")[1]
    listed = set(re.findall(r"\b([CKJS][0-9]{3})\b", table))
    source = "".join(path.read_text("utf-8") for path in ROOM.rglob("*.py"))
    given = set(re.findall(r'"SLV-([CKJS][0-9]{3})"', source))
    commands = "".join(path.read_text("utf-8") for path in COMMANDS.glob("contract_*.py"))
    assert listed == given | set(re.findall(r'"SLV-(C[0-9]{3})"', commands))


def test_every_code_of_the_lint_is_listed(spec: str) -> None:
    section = spec.split("### 4.1 Decidability")[1].split("## 5.")[0]
    listed = set(re.findall(r"\b([CKJS][0-9]{3})\b", section))
    source = "".join(path.read_text("utf-8") for path in LINT.rglob("*.py"))
    assert listed == set(re.findall(r'"SLV-([CKJS][0-9]{3})"', source))


def test_profiles_and_policies_are_written_down(spec: str) -> None:
    section = spec.split("## 3. Profiles")[1].split("## 4.")[0].replace("\n", " ")
    for name, profile in PROFILES.items():
        assert name in section, name
        for word in (profile.unit, profile.verdict_table, *profile.normaliser.values()):
            assert word in section, (name, word)
    for name, value in default_policies("qa@1").model_dump(mode="json", by_alias=True).items():
        shown = f'"{value}"' if name == "tolerance" else str(value).lower()
        assert f"{name}: {shown}" in section, name


def test_the_schema_can_be_generated_with_a_description_of_each_key() -> None:
    schema = Contract.model_json_schema(by_alias=True)
    for block in [schema, *schema["$defs"].values()]:
        assert block["additionalProperties"] is False
        assert block["description"]
        assert all(field.get("description") for field in block["properties"].values()), block["title"]
