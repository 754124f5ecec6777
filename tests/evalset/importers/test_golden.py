"""Each file of people: what is proposed, the exact report that a person sees, and every item, or the refusal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slaverify.evalset import ImportOptions, import_any
from tests.evalset.importers.cases import CASES, GOLDEN, MADE, PUBLIC, golden_made, golden_public


def pinned(name: str) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return tree


def test_every_made_file_has_a_case() -> None:
    assert {path.name for path in MADE.iterdir()} == set(CASES)
    assert len(CASES) == 13


@pytest.mark.parametrize("name", sorted(CASES))
def test_made_file(name: str) -> None:
    assert golden_made(name) == pinned(name)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_file(name: str, public_data: Path) -> None:
    assert golden_public(public_data, name) == pinned(name)


def test_one_set_in_six_encodings_gives_the_same_bytes() -> None:
    names = [name for name in CASES if name.endswith((".csv", ".txt")) and "ragas" not in name and "facts" not in name]
    assert len(names) == 6
    digests = {import_any((MADE / name).read_bytes(), name, CASES[name][1]).report.canonical_digest for name in names}
    assert len(digests) == 1


@pytest.mark.parametrize("name", sorted(CASES))
def test_nothing_is_guessed(name: str) -> None:
    proposals = pinned(name)["proposals"]
    assert proposals, "a file that nobody described is never imported"
    options = {option for option, *_ in proposals}
    assert ("--encoding" in options) == (name in ("latin1_puntoycoma.csv", "sep_excel.csv"))


def test_the_public_tables_hold_every_row_and_character(public_data: Path) -> None:
    for name, options in PUBLIC.items():
        if not name.startswith("legalbench"):
            continue
        data = (public_data / name).read_bytes()
        lines = [line.split("\t") for line in data.decode("utf-8").rstrip("\n").split("\n")]
        heading = lines[0]
        imported = import_any(data, name, options)
        by_id = {item.id: item for item in imported.items}
        assert len(by_id) == len(lines) - 1
        for line in lines[1:]:
            row = dict(zip(heading, (cell.strip('"').replace('""', '"') for cell in line), strict=True))
            item = by_id[row["index"]]
            assert item.query is not None and row["text"] in item.query
            assert getattr(item.reference, "value", None) == row["answer"]


def test_a_locale_is_never_invented() -> None:
    imported = import_any(
        (MADE / "ragas_testset.jsonl").read_bytes(), "r", ImportOptions(format="ragas", ids="r", stratum="x")
    )
    assert imported.items[0].locale is None and imported.report.locale is None
