"""Every vector of the statistics file, dispatched by method; a method that nobody knows fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slaverify.decision.vectors import METHODS
from slaverify.statistics.vectors import ORACLES as ORACLE_NAMES
from slaverify.statistics.vectors import differences, run
from tests.statistics.oracles import ORACLES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "vector" in metafunc.fixturenames:
        path = Path(metafunc.config.getoption("--vectors-dir")) / "statistics.json"
        vectors = json.loads(path.read_text("utf-8"))
        metafunc.parametrize("vector", vectors, ids=[vector["id"] for vector in vectors])


def test_vector(vector: dict) -> None:
    assert run({**METHODS, **ORACLES}, vector) == []


def test_the_file_is_there(vectors_dir: Path) -> None:
    assert len(json.loads((vectors_dir / "statistics.json").read_text("utf-8"))) > 0


def test_an_unknown_method_is_a_failure() -> None:
    vector = {"id": "x-1", "method": "magic", "inputs": {}, "expected": {}, "tolerance": 0}
    assert run(METHODS, vector) == ["unknown method: 'magic'"]


def test_oracles_are_no_part_of_the_product() -> None:
    assert set(ORACLES) == set(ORACLE_NAMES)
    assert not set(METHODS) & set(ORACLE_NAMES)


@pytest.mark.parametrize(
    ("expected", "got", "tolerance", "passes"),
    [
        (1, 1, 0, True),
        (1, 1.0000001, 0, False),
        (None, 0.0, 1e9, False),
        (None, None, 0, True),
        (0.5, 0.5000001, 1e-6, True),
        (0.5, float("nan"), 1.0, False),
        ("PASS", "PASS", 0, True),
        (True, 1, 0, False),
        ([1, None], [1, None], 0, True),
        ([1], [1, 2], 0, False),
    ],
)
def test_comparison(expected: object, got: object, tolerance: float, passes: bool) -> None:
    assert (differences({"k": expected}, {"k": got}, tolerance) == []) is passes


def test_a_missing_key_is_a_difference() -> None:
    assert differences({"k": None}, {}, 0)
