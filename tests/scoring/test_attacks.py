"""Answers that no reader would take for the right one, however they are dressed, and right ones beside them.

`attacks.jsonl`: `never` correct (a rule may say wrong or leave it open) or `correct`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scoring.helpers import scored

LINES = [json.loads(line) for line in (Path(__file__).parent / "attacks.jsonl").read_text("utf-8").splitlines() if line]


@pytest.mark.parametrize("due", ["never", "correct"])
def test_attacks_and_their_benign_twins(due: str) -> None:
    wrong = []
    asked = [line for line in LINES if line["due"] == due]
    for line in asked:
        got = scored(line["reference"], line["answer"], query=line["question"], locale=line["locale"])
        if (got.record.correctness == "correct") != (due == "correct"):
            wrong.append((line["answer"], got.record.correctness.value))
    assert wrong == []
    assert len(asked) >= 50
