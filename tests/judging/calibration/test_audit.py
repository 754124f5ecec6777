"""A judged audit with people: the line stops for them, blind sheets go and come back, and the whole is verified."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from slaverify.canonical import loads_jsonl
from slaverify.cli import run as typed
from slaverify.custody import read_ledger
from tests.e2e.line import ORGANISATION, Place, audit_arguments
from tests.judging.line import judged_audit
from tests.simulator.judges import Clerk, JudgeServer, perfect, word


def wrong(number: int) -> bool:
    return number % 5 == 0


def truth(row: dict[str, str]) -> str:
    """What a careful person says of a row, from what the sheet shows."""
    required = row["official text"].split("«")[1].split("»")[0] if "«" in row["official text"] else ""
    return "correct" if required and required in row["answer"] else "incorrect"


Reads = Callable[[dict[str, str]], dict[str, str]]


def careful(row: dict[str, str]) -> dict[str, str]:
    if "permiso" not in row["answer"]:
        return {"class": "abstention"}
    return {"class": "answer", "correctness": truth(row)}


def fill(path: Path, reads: Reads) -> None:
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    for row in rows[1:]:
        for column, value in reads(dict(zip(rows[0], row, strict=True))).items():
            row[rows[0].index(column)] = value
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    path.write_text(out.getvalue(), encoding="utf-8-sig")


@dataclass
class Desk:
    """One audit and its commands, in this process."""

    place: Place
    capture: pytest.CaptureFixture[str] | None = None

    @property
    def run(self) -> str:
        return str(self.place.run)

    def type(self, *words: str) -> int:
        return typed(list(words))

    def sheet(self, name: str, reads: Reads, *more: str) -> Path:
        path = self.place.folder / f"{name}.csv"
        path.unlink(missing_ok=True)
        assert (
            self.type("label", "export", self.run, "--annotator", name, "--format", "csv", "--out", str(path), *more)
            == 0
        )
        fill(path, reads)
        return path

    def read(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.place.run / path).read_bytes())
        return found

    def scores(self) -> list[dict[str, Any]]:
        return [dict(line) for line in loads_jsonl((self.place.run / "scoring/scores.jsonl").read_bytes())]

    def by_office(self) -> dict[int, dict[str, Any]]:
        """The score records by the office that was asked about, where one was; item ids tell nothing."""
        scores = {str(one["item_id"]): one for one in self.scores()}
        lines = loads_jsonl((self.place.run / "private/annex/index.jsonl").read_bytes())[1:]
        found = {str(one["id"]): re.search(r"oficina (\d+)", str(one["query"])) for one in lines}
        return {int(match[1]): scores[name] for name, match in found.items() if match is not None}


def until_people(place: Place, patch: pytest.MonkeyPatch) -> Desk:
    """Audit until the line stops for people."""
    patch.setattr("slaverify.audit.asking.FIRST_WAIT_S", 0.01)
    patch.setenv("SLAVERIFY_KEYS", str(place.keys))
    patch.setenv("SLAVERIFY_LANG", "en")
    desk = Desk(place)
    assert desk.type(*audit_arguments(place)) == 6
    return desk


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """An audit that waits for people: 60 judged answers, 12 of them wrong, 20 abstentions; `not_measured`."""
    folder = tmp_path_factory.mktemp("people")
    with (
        pytest.MonkeyPatch.context() as patch,
        judged_audit(folder, JudgeServer(perfect), Clerk(wrong), on_uncalibrated="not_measured") as place,
    ):
        yield until_people(place, patch)


def test_the_line_stops_for_people_and_says_what_to_type(waiting: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert waiting.type(*audit_arguments(waiting.place, "--resume")) == 6
    told = capsys.readouterr().err
    assert "SLV-J068" in told
    assert f"slaverify label status {waiting.run}" in told
    assert waiting.type("status", waiting.run) == 0
    shown = capsys.readouterr().out
    assert "waits for the people who label" in shown
    assert not (waiting.place.run / "decision/decision.json").is_file()
    view = read_ledger((waiting.place.bank / "ledger.jsonl").read_bytes())
    assert not [entry for entry in view if entry.type == "scored"]


def test_nobody_of_the_vendor_labels(waiting: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    from slaverify.contract.load import load_contract

    vendor = load_contract(waiting.place.contract).model.parties.vendor.name
    assert waiting.type("label", "export", waiting.run, "--annotator", "Eva", "--org", vendor.upper()) == 2
    assert "SLV-J021" in capsys.readouterr().err


def test_people_label_differ_and_settle_and_the_audit_ends_with_the_measured_error(
    waiting: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    run = waiting.run
    ana = waiting.sheet("ana", careful)
    assert waiting.type("label", "import", run, str(ana), "--annotator", "ana") == 0
    # The same sheet for another person, a person without a sheet, and nothing to settle yet.
    assert waiting.type("label", "import", run, str(ana), "--annotator", "berta") == 2
    assert (
        waiting.type("label", "export", run, "--annotator", "ana", "--out", str(waiting.place.folder / "again.xlsx"))
        == 0
    )
    berta = waiting.sheet("berta", lambda row: {} if "oficina 7 " in row["question"] else careless(row))
    assert waiting.type("label", "import", run, str(ana), "--annotator", "berta") == 2
    told = capsys.readouterr().err
    assert "row" in told
    assert "is of ana's sheet" in told
    assert waiting.type("label", "export", run, "--annotator", "carla") == 2
    assert waiting.type("label", "import", run, str(berta), "--annotator", "berta") == 0
    assert "1 rows are left" in capsys.readouterr().out
    assert waiting.type("calibrate", run) == 6
    fill(berta, careless)
    assert waiting.type("label", "import", run, str(berta), "--annotator", "berta") == 0
    capsys.readouterr()
    assert waiting.type("label", "status", run) == 0
    shown = capsys.readouterr().out
    assert "differences: 3, settled 0" in shown
    assert "somebody has to settle" in shown
    carla = waiting.sheet("carla", careful)
    assert len(carla.read_text(encoding="utf-8-sig").splitlines()) == 4
    assert waiting.type("label", "import", run, str(carla), "--annotator", "carla") == 0
    assert waiting.type("label", "export", run, "--annotator", "diana") == 2
    capsys.readouterr()
    assert waiting.type("calibrate", run) == 0
    assert "usable: whole answer" in capsys.readouterr().out
    assert waiting.type("label", "import", run, str(ana), "--annotator", "ana") == 2, "closed"
    assert waiting.type(*audit_arguments(waiting.place, "--resume")) in (0, 1, 3)
    _check_evidence(waiting)
    pdf = str(waiting.place.pdf())
    bundle = str(waiting.place.bundle())
    assert waiting.type("verify", pdf, "--bundle", bundle, "--contract", str(waiting.place.contract)) == 0
    assert waiting.type("calibrate", run) == 0, "again, and nothing moves"
    _check_amendment(waiting, pdf)


def _check_amendment(desk: Desk, pdf: str) -> None:
    """What people read decides the amended report too, and stands in the history of both."""
    words = ["report", desk.run, "--amends", pdf, "--reason", "Errata en la portada", "--authorized-by", ORGANISATION]
    assert desk.type(*words) in (0, 1, 3)
    (place,) = (desk.place.run / "amended" / "1").glob("*/statistics/results.json")
    assert json.loads(place.read_bytes()) == desk.read("statistics/results.json")
    (history,) = (desk.place.run.parent / "history").glob("*.jsonl")
    first, second = (json.loads(row)["judge"] for row in history.read_bytes().splitlines())
    assert first == second
    assert (first["labels"], first["sensitivity"], first["specificity"]) == (60, "1.000000000", "1.000000000")
    assert first["digest"].startswith("sha256:")


def careless(row: dict[str, str]) -> dict[str, str]:
    """Misses three wrong answers."""
    missed = any(f"oficina {number} " in row["question"] for number in (10, 20, 30))
    said = careful(row)
    return {**said, "correctness": "correct"} if missed and "correctness" in said else said


def _check_evidence(desk: Desk) -> None:
    record = desk.read("judging/calibration.json")
    (subject,) = record["subjects"]
    assert subject["matrix"]["counts"] == {
        "positive_positive": 48,
        "positive_negative": 0,
        "negative_positive": 0,
        "negative_negative": 12,
    }
    assert record["people"]["differences"] == record["people"]["adjudicated"] == 3
    assert record["detector"]["recall"]["value"] == "1.000000000"
    assert [sheet["labels"] for sheet in record["sheets"]] == [80, 80, 3]
    results = desk.read("statistics/results.json")
    metric = next(one for one in results["metrics"] if one["id"] == "accuracy")
    assert metric["method"] in ("stratified_audit", "mixed")
    assert float(metric["exact"]["low"]) < 48 / 60 < float(metric["exact"]["high"])
    limits = desk.read("decision/limitations.json")["items"]
    judge = next(item["args"] for item in limits if item["code"] == "L01")
    assert (judge["calibrated"], judge["labels"], judge["annotators"]) == (True, 60, 2)
    abstentions = next(item["args"] for item in limits if item["code"] == "L05")
    assert abstentions["reviewed"] == 20
    view = read_ledger((desk.place.bank / "ledger.jsonl").read_bytes())
    order = [entry.type for entry in view if entry.type in ("run_ended", "calibration", "scored", "report_issued")]
    assert order[:3] == ["run_ended", "calibration", "scored"]
    public = (desk.place.run / "judging/calibration.json").read_text(encoding="utf-8")
    for secret in ("ana", "berta", "permiso", word(3), "oficina"):
        assert f'"{secret}' not in public
