"""Every vector of the custody file, whoever wrote it; an unknown kind fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slaverify.custody.vector_kinds import KINDS, NotPerformedError
from slaverify.custody.vectors import conformance, vector_differences


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "vector" in metafunc.fixturenames:
        path: Path = metafunc.config.getoption("--vectors-dir") / "custody.json"
        cases = json.loads(path.read_text("utf-8"))["cases"] if path.is_file() else []
        metafunc.parametrize("vector", cases, ids=[case["id"] for case in cases])


def test_vector(vector: dict) -> None:
    try:
        assert vector_differences(vector) == []
    except NotPerformedError as reason:
        pytest.skip(str(reason))


def test_the_file_is_ours(vectors_dir: Path) -> None:
    head = json.loads((vectors_dir / "custody.json").read_text("utf-8"))
    assert (head["format"], head["v"], head["room"]) == ("slaverify/vectors", 1, "custody")
    assert len(head["cases"]) > 100
    assert {case["kind"] for case in head["cases"]} <= set(KINDS)


def test_a_vector_that_does_not_hold_fails(vectors_dir: Path) -> None:
    cases = json.loads((vectors_dir / "custody.json").read_text("utf-8"))["cases"]
    kinds = {case["kind"]: case for case in cases if "error" not in case["expected"]}
    for case in kinds.values():
        # A refusal expected where there is none, and one wrong output, must both show.
        (refused,) = conformance([case | {"expected": {"error": "SLV-K999"}}])
        (wrong,) = conformance([case | {"expected": dict.fromkeys(case["expected"], "x"), "tolerance": 0}])
        assert {refused.result, wrong.result} <= {"failed", "not_performed"}, case["id"]
    assert [one.result for one in conformance([{"id": "x", "kind": "no_such"}, {"id": "y"}, 7])] == ["failed"] * 3
