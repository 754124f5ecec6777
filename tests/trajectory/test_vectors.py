"""Every vector of the path profiles, carried out from its own inputs; nothing is known by its id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slaverify.cli import run as command
from slaverify.trajectory import conformance
from tests.trajectory.documents import document

VECTORS = "trajectory.json"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "outcome" in metafunc.fixturenames:
        found = conformance(document(metafunc.config.getoption("--vectors-dir") / VECTORS))
        metafunc.parametrize("outcome", found, ids=[one.id for one in found])


def test_vector(outcome) -> None:
    assert outcome.differences == ()


def test_every_case_of_the_file_is_run(vectors_dir: Path) -> None:
    whole = document(vectors_dir / VECTORS)
    assert len(conformance(whole)) == sum(len(value) for key, value in whole.items() if key.endswith("_cases")) > 0


def test_a_changed_expectation_fails(vectors_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = document(vectors_dir / VECTORS)
    whole["scoring_cases"][0]["expected"]["trajectory_score"] += 1e-6
    trace = whole["runtime_cases"][0]["expected"]["trace"]
    trace[0]["subsystem_violation"] = not trace[0]["subsystem_violation"]
    changed = tmp_path / VECTORS
    changed.write_text(json.dumps(whole), "utf-8")
    assert command(["conformance", str(changed)]) == 4
    shown = capsys.readouterr().out
    for key in ("scoring_cases", "runtime_cases"):
        assert f"FAILED {VECTORS} {whole[key][0]['id']}" in shown


def test_the_installation_is_qualified(vectors_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["conformance", str(vectors_dir / VECTORS), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {
        "passed": len(conformance(document(vectors_dir / VECTORS)))
    }


def test_a_malformed_case_has_failed() -> None:
    found = conformance({"scoring_cases": [7, {"id": "X"}, {"id": "Y", "contract": {"track": "other"}, "trace": {}}]})
    assert [one.result for one in found] == ["failed"] * 3
