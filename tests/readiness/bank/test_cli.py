"""The commands, as they are typed: exit codes, one JSON document, and the command to repeat."""

from __future__ import annotations

import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from slaverify.cli import run
from slaverify.evalset import import_any
from slaverify.evalset.importers.options import ImportOptions

ROOT = Path(__file__).resolve().parents[3]
MADE = ROOT / "tests" / "data" / "made"
DEMO = ROOT / "custodia" / "demo" / "preguntas.jsonl"


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setenv("SLAVERIFY_LANG", "es")


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Any]:
    code = run([*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_without_a_terminal_nothing_is_accepted_and_the_command_is_said(tmp_path: Path, capsys: Any) -> None:
    source, target = MADE / "utf8_bom_puntoycoma.csv", tmp_path / "b.jsonl"
    code, found = call(capsys, "bank", "import", source, "--out", target, "--locale", "es-CL", "--yes")
    assert code == 2 and found["type"] == "slaverify/import-open/1" and not target.exists()
    words = shlex.split(found["command"])
    assert words[:3] == ["slaverify", "bank", "import"]
    code, refused = call(capsys, *words[1:])
    assert code == 2 and refused["duplicates"].keys() == {"P-004"} and not target.exists()
    code, kept = call(capsys, *words[1:], "--exclude", "7")
    assert code == 0 and kept["rows_kept"] == 5 and target.is_file()


def test_export_and_back(tmp_path: Path, capsys: Any) -> None:
    code, _ = call(capsys, "bank", "export", DEMO, "--out", tmp_path / "e.csv")
    assert code == 0
    assert call(capsys, "bank", "import", tmp_path / "e.csv", "--out", tmp_path / "b.jsonl")[0] == 0
    assert (tmp_path / "b.jsonl").read_bytes() == DEMO.read_bytes()


def test_template_and_back(tmp_path: Path, capsys: Any) -> None:
    for form in ("xlsx", "csv"):
        sheet = tmp_path / f"t.{form}"
        assert call(capsys, "bank", "template", "--out", sheet, "--format", form, "--profile", "qa@1")[0] == 0
        assert call(capsys, "bank", "import", sheet, "--out", tmp_path / f"{form}.jsonl")[0] == 0
    assert (tmp_path / "xlsx.jsonl").read_bytes() == (tmp_path / "csv.jsonl").read_bytes()


def test_catalogue_and_its_holes(tmp_path: Path, capsys: Any) -> None:
    source = tmp_path / "ley.txt"
    source.write_text("Artículo 56.- x\nArtículo 58.- y\n", encoding="utf-8")
    code, found = call(capsys, "bank", "catalogue", source, "--norm", "cl:ley:1", "--out", tmp_path / "c.jsonl")
    assert code == 0 and found["articles"] == {"cl:ley:1": 2}
    assert {"norm": "cl:ley:1", "after": 56, "before": 58} in found["holes"]


def test_suggested_kinds_are_reviewed_and_applied(tmp_path: Path, capsys: Any) -> None:
    source = tmp_path / "s.csv"
    source.write_text("id,q,a\n1,¿Plazo?,30 días hábiles\n2,¿Quién?,Ana\n", encoding="utf-8")
    given = ["bank", "import", source, "--out", tmp_path / "b.jsonl", "--format", "csv", "--delimiter", ","]
    given += ["--header", 1, "--map", "id=id", "--map", "q=query", "--map", "a=reference", "--stratum", "direct"]
    given += ["--locale", "es-CL"]
    assert run([*map(str, given), "--suggest-kinds", str(tmp_path / "k.json")]) == 0
    assert not (tmp_path / "b.jsonl").exists()
    capsys.readouterr()
    assert call(capsys, *given, "--kinds", tmp_path / "k.json")[0] == 0
    kinds = [json.loads(line)["reference"]["kind"] for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert kinds == ["amount", "text"]


def test_check_refuses_and_annotates(tmp_path: Path, capsys: Any) -> None:
    lines = [
        {"schema": "item/1", "id": f"i{number}", "stratum": "direct", "query": f"¿Dato {number}?"}
        | {"reference": {"kind": "number", "value": "30"}}
        for number in range(5)
    ]
    bank = tmp_path / "b.jsonl"
    bank.write_text(
        "".join(json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n" for line in lines)
    )
    code, found = call(capsys, "bank", "check", bank, "--locale", "es-CL", "--annotate", tmp_path / "a.xlsx")
    assert code == 2 and found["refused"]
    assert any(one["code"] == "SLV-I026" and one["level"] == "E" for one in found["findings"])
    back = import_any((tmp_path / "a.xlsx").read_bytes(), "a.xlsx", ImportOptions())
    assert [item.id for item in back.items] == [f"i{number}" for number in range(5)]
    import python_calamine

    first = python_calamine.load_workbook(tmp_path / "a.xlsx").get_sheet_by_index(0).to_python()
    assert first[0][0] == "Hallazgos" and "SLV-I026" in str(first[1][0])


def test_check_of_the_demo_set(capsys: Any) -> None:
    code, found = call(
        capsys, "bank", "check", ROOT / "contratos/practica/preguntas_publicas.jsonl", "--locale", "es-CL"
    )
    assert code == 0 and found["gold"]["correct"] == found["gold"]["total"] and found["mutants"]["correct"] == 0


def test_only_personal_data_is_accepted(capsys: Any) -> None:
    assert run(["bank", "check", str(DEMO), "--accept", "SLV-I026:x=porque"]) == 2
