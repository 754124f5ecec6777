"""The published JSON Schema against a validator that is not ours: what loads is valid, a wrong shape is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from slaverify.contract.load import load_contract
from slaverify.resources import resource
from tests.contract.support import FULL, raw_tree, set_at
from tests.contract.test_mutations import MUTATIONS, TREE

SCHEMA = json.loads(resource("contratos", "contract.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
EXAMPLES = sorted(Path(str(resource("contratos"))).glob("*.yaml"))
SHAPE = ("SLV-C010", "SLV-C011", "SLV-C012", "SLV-C013", "SLV-C014")
"""Missing, unknown or doubled keys, other types and words: what a schema can say of a document by itself."""


def test_it_is_a_schema_of_its_dialect() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == Draft202012Validator.META_SCHEMA["$schema"]


@pytest.mark.parametrize("path", [*EXAMPLES, FULL], ids=lambda path: path.stem)
def test_what_loads_is_valid_as_written_and_as_filled_in(path: Path) -> None:
    for tree in (raw_tree(path), load_contract(path).tree):
        assert [error.message for error in VALIDATOR.iter_errors(tree)] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [(path, value) for path, value, code in MUTATIONS if code in SHAPE],
    ids=lambda part: str(part)[:40],
)
def test_a_fault_of_shape_is_seen_by_any_validator(path: str, value: object) -> None:
    assert not VALIDATOR.is_valid(set_at(TREE, path, value))
