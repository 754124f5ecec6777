"""The six examples: decidable, frozen, explained, pinned; and the schema beside them is the current one."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slaverify.canonical import jcs
from slaverify.contract import LIBRARY, contract_digest, freeze
from slaverify.contract.explain import every_key, explain
from slaverify.contract.load import dump_yaml, load_contract, parse_contract
from slaverify.contract.schema import json_schema, schema_text
from slaverify.readiness import examine, refuse_undecidable
from slaverify.resources import resource
from tests.readiness.test_example_mutations import EXAMPLES

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GOLDEN = Path(__file__).parent / "digests.json"


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_decides_and_freezes(name: str) -> None:
    loaded = load_contract(resource("contratos", f"{name}.yaml"))
    seen = examine(loaded, NOW)
    assert not seen.refused
    for metric in seen.metrics:
        assert metric.can_pass or not metric.binding
        assert metric.better.p_pass >= 0.8 or not metric.binding, metric
        assert metric.worse.p_breach >= 0.79 or not metric.binding, metric
    assert seen.whole.false_pass <= 0.026
    assert seen.whole.false_breach <= 0.051
    tree = freeze(loaded.model)
    frozen = parse_contract(dump_yaml(tree).encode(), "f.yaml")
    refuse_undecidable(frozen, NOW)
    assert frozen.tree == tree
    assert frozen.digest == contract_digest(tree)
    assert parse_contract(jcs(tree), "f.json").digest == frozen.digest
    assert json.loads(GOLDEN.read_text("utf-8"))[name] == frozen.digest


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("language", ["es", "en"])
def test_an_example_explains_itself(name: str, language: str) -> None:
    loaded = load_contract(resource("contratos", f"{name}.yaml"))
    page = explain(loaded.model, loaded.digest, language)
    text = " ".join(word for section in page.sections for word in section.paragraphs)
    cells = " ".join(cell for section in page.sections for row in section.table for cell in row.cells)
    for metric in loaded.model.metrics:
        assert (metric.name.es if language == "es" else metric.name.en) in text
        if metric.severity == "binding" and metric.derived.pass_max_failures is not None:
            assert str(metric.derived.pass_max_failures) in cells
            assert str(metric.derived.breach_min_failures) in cells
    assert len(text) < 6000  # two pages at the most
    head = Path(loaded.source).read_text("utf-8").split("slaverify: contract/1")[0]
    assert "Qué estaba mal" in head


def test_every_key_is_in_the_whole_explanation() -> None:
    loaded = load_contract(Path(__file__).parents[1] / "contract" / "data" / "full.yaml")
    lines = "\n".join(every_key(loaded.tree))

    def leaves(node: object, path: str = "") -> list[str]:
        if isinstance(node, dict) and node:
            return [leaf for key, value in node.items() for leaf in leaves(value, f"{path}.{key}" if path else key)]
        if isinstance(node, list) and node:
            return [leaf for index, value in enumerate(node) for leaf in leaves(value, f"{path}[{index}]")]
        return [path]

    missing = [leaf for leaf in leaves(loaded.tree) if f"{leaf}: " not in lines]
    assert missing == []


def _enums_sorted(node: dict) -> dict:
    return {key: sorted(value) if key == "enum" else value for key, value in node.items()}


def test_the_schema_file_is_current() -> None:
    installed = resource("contratos", "contract.schema.json").read_text("utf-8")
    # `Literal` keeps one object per set of words in a process, so another import may change the order of an enum.
    found, due = (json.loads(text, object_hook=_enums_sorted) for text in (installed, schema_text()))
    assert found == due, "run: slaverify contract schema --out contratos/contract.schema.json"


def test_every_key_of_the_schema_has_description_example_and_debt() -> None:
    schema = json_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for name, block in [("", schema), *schema["$defs"].items()]:
        if name == "Pending":
            continue
        for key, field in block.get("properties", {}).items():
            assert field["description"], (name, key)
            assert field["examples"], (name, key)
            assert {"$ref": "#/$defs/Pending"} in field["anyOf"], (name, key)
            if key.endswith("_s"):
                assert "seconds" in field["description"], (name, key)
            if key.endswith("_days"):
                assert "days" in field["description"].lower(), (name, key)


def test_the_library_has_a_definition_a_source_and_an_example_each() -> None:
    assert len(LIBRARY) >= 22
    for name, ready in LIBRARY.items():
        for text in (ready.definition, ready.example):
            assert text.es and text.en, name
        assert ready.source, name
