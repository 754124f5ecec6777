"""Every vector of the custody file, whoever wrote it; an unknown kind fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slaverify.errors import CustodyError
from tests.custody.vector_kinds import KINDS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "vector" in metafunc.fixturenames:
        path: Path = metafunc.config.getoption("--vectors-dir") / "custody.json"
        cases = json.loads(path.read_text("utf-8"))["cases"] if path.is_file() else []
        metafunc.parametrize("vector", cases, ids=[case["id"] for case in cases])


def test_vector(vector: dict) -> None:
    run = KINDS.get(vector["kind"])
    assert run is not None, f"unknown kind {vector['kind']}"
    expected, allowed = vector["expected"], vector.get("tolerance", 0)
    try:
        found = run(vector["input"])
    except CustodyError as error:
        if expected.get("valid") is False:
            return
        assert error.code == expected.get("error"), error.lines("en")
        assert expected.get("exit", error.exit_code) == error.exit_code
        return
    assert "error" not in expected, f"accepted: {found}"
    for key, value in expected.items():
        if isinstance(value, float):
            assert abs(found[key] - value) <= allowed
        else:
            assert found[key] == value


def test_the_file_is_ours(vectors_dir: Path) -> None:
    head = json.loads((vectors_dir / "custody.json").read_text("utf-8"))
    assert (head["format"], head["v"], head["room"]) == ("slaverify/vectors", 1, "custody")
    assert len(head["cases"]) > 100
    assert {case["kind"] for case in head["cases"]} <= set(KINDS)
