"""Cases of our own for each kind of rule, adversarial and benign, as vector lines; each says why its result is due."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slaverify.scoring.vectors import conformance

CASES = sorted((Path(__file__).parent / "cases").glob("*.jsonl"))


def _lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases(path: Path) -> None:
    lines = _lines(path)
    why = {line["id"]: line["why"] for line in lines}
    found = conformance(lines)
    assert {one.result for one in found} <= {"passed"}, [
        (one.id, why[one.id], one.differences) for one in found if one.result != "passed"
    ]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_there_are_enough_and_both_kinds(path: Path) -> None:
    lines = _lines(path)
    assert len(lines) >= 20
    assert len({line["id"] for line in lines}) == len(lines)
    assert all(line["why"] for line in lines)
    # a rule that always says the same would pass neither
    results = {json.dumps(line["expected"], sort_keys=True) for line in lines}
    assert len(results) >= 2


def test_every_kind_has_its_file() -> None:
    due = {
        "number",
        "amount",
        "percent",
        "date",
        "set",
        "choice",
        "entity",
        "text",
        "json",
        "none",
        "abstention",
        "outcome",
    }
    assert due <= {path.stem for path in CASES}
