"""Two runs on the same items are compared pair by pair; other ground is refused; vectors qualify an installation."""

from __future__ import annotations

import io
import json
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from slaverify.cli import run as command
from slaverify.cli.demo.servers import serve
from slaverify.contract.load import load_draft
from tests.e2e.conftest import ENGINE
from tests.e2e.line import Place, audit_arguments, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, list[Path]]:
    place = make_place(tmp_path_factory.mktemp("compare"), items(40))
    runs = []
    with tsa(place.authority) as authority:
        for number, errs in enumerate((lambda left, right: left % 11 == 0, lambda left, right: left % 5 == 0), 1):
            with serve(Calculator(errs).respond) as vendor:
                changes = {"contract.id": f"version-{number}", "evaluation_set.exposure": "reuse"}
                write_contract(place, f"{vendor}/q", authority, {**ENGINE, "report.languages": ["es"], **changes})
                words = audit_arguments(place)
                words[0] = "run"
                done = slaverify(place, *words, "--json")
                assert done.returncode == 0, done.stderr
                run = Path(json.loads(done.stdout)["folder"])
                assert slaverify(place, "decide", str(run), "--json").returncode in (0, 1, 3)
                runs.append(run)
    return place, runs


def test_runs_on_the_same_items_are_compared_pair_by_pair(two_runs: tuple[Place, list[Path]]) -> None:
    place, (first, second) = two_runs
    done = slaverify(place, "compare", str(first), str(second), "--json")
    assert done.returncode == 0, done.stderr
    found = {metric["id"]: metric for metric in json.loads(done.stdout)["metrics"]}
    wrong = [{100 + 7 * number for number in range(40) if (100 + 7 * number) % divisor == 0} for divisor in (11, 5)]
    accuracy = found["accuracy"]
    assert accuracy["b"] == len(wrong[1] - wrong[0])
    assert accuracy["c"] == len(wrong[0] - wrong[1])
    assert accuracy["n"] == 40
    steps = {(step["from"], step["to"]): step["n"] for step in accuracy["transitions"]}
    assert steps["accurate", "incorrect"] == accuracy["b"]
    assert "no conformity" in slaverify(place, "compare", str(first), str(second)).stdout


def test_a_run_against_itself_claims_no_equality(two_runs: tuple[Place, list[Path]]) -> None:
    place, (first, _) = two_runs
    done = slaverify(place, "compare", str(first), str(first))
    assert done.returncode == 0
    assert "no discordant pairs" in done.stdout


def test_c01_another_bank_is_no_ground_for_a_comparison(two_runs: tuple[Place, list[Path]], finished: Place) -> None:
    place, (first, _) = two_runs
    done = slaverify(place, "compare", str(first), str(finished.run))
    assert done.returncode == 5
    assert "SLV-A018" in done.stderr


def test_c02_an_item_that_one_side_lacks_is_no_ground_either(
    two_runs: tuple[Place, list[Path]], tmp_path: Path
) -> None:
    place, (first, second) = two_runs
    short = tmp_path / second.name
    shutil.copytree(second, short)
    scores = short / "scoring" / "scores.jsonl"
    scores.write_bytes(b"".join(scores.read_bytes().splitlines(keepends=True)[1:]))
    done = slaverify(place, "compare", str(first), str(short))
    assert done.returncode == 5
    assert "SLV-A018" in done.stderr
    assert "item set" in done.stderr


def test_another_draw_is_compared_unpaired_and_called_so(two_runs: tuple[Place, list[Path]], tmp_path: Path) -> None:
    """Half of the questions on each side: none is paired, those that both asked do not count."""
    place, runs = two_runs
    halves = []
    for number, run in enumerate(runs):
        halves.append(tmp_path / str(number) / run.name)
        shutil.copytree(run, halves[-1])
        scores = halves[-1] / "scoring" / "scores.jsonl"
        rows = scores.read_bytes().splitlines(keepends=True)
        scores.write_bytes(b"".join(rows[:25] if number == 0 else rows[15:]))
    words = ["compare", *map(str, halves), "--unpaired"]
    done = slaverify(place, *words, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    accuracy = next(one for one in found["metrics"] if one["id"] == "accuracy")
    assert (found["shared"], accuracy["old"]["n"], accuracy["new"]["n"]) == (10, 15, 15)
    low, high = (float(accuracy["interval"][end]) for end in ("low", "high"))
    assert low < accuracy["new"]["x"] / 15 - accuracy["old"]["x"] / 15 < high
    assert "not paired" in slaverify(place, *words).stdout
    same = slaverify(place, "compare", str(runs[0]), str(runs[1]), "--unpaired")
    assert same.returncode == 3, same.stdout
    assert "not evaluable" in same.stdout


@pytest.mark.parametrize(("name", "least"), [("statistics.json", 300), ("custody.json", 150)])
def test_vectors_qualify_the_installation(
    vectors_dir: Path, capsys: pytest.CaptureFixture[str], name: str, least: int
) -> None:
    assert command(["conformance", str(vectors_dir / name), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["passed"] >= least
    assert told["counts"].get("failed", 0) == 0


def test_vectors_of_scoring_qualify_the_installation(
    vectors_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = vectors_dir / "scoring.jsonl"
    assert command(["conformance", str(path)]) == 0
    told = capsys.readouterr().out
    assert "0 fallan" in told
    assert "0 no se corren" in told
    wrong = json.loads(path.read_text("utf-8").splitlines()[0])
    wrong["expected"] = {"correctness": "correct"}
    bad = tmp_path / "vectors.jsonl"
    bad.write_text(json.dumps(wrong), "utf-8")
    assert command(["conformance", str(bad)]) == 4
    assert f"FAILED vectors.jsonl {wrong['id']}" in capsys.readouterr().out
    bad.write_text('{"id": "x"}', "utf-8")
    assert command(["conformance", str(bad)]) == 2


def test_a_vector_that_does_not_hold_is_named(
    vectors_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads((vectors_dir / "statistics.json").read_text("utf-8"))
    document[0]["expected"] = dict.fromkeys(document[0]["expected"], 0.123)
    document[1]["method"] = "magic"
    path = tmp_path / "statistics.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert command(["conformance", str(path)]) == 4
    said = capsys.readouterr().out
    assert document[0]["id"] in said
    assert document[1]["id"] in said


def test_what_a_measured_run_showed_answers_the_seventh_question(
    two_runs: tuple[Place, list[Path]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`contract new --from-pilot` takes the measured share of wrong answers in place of a guess."""
    _, (run, _) = two_runs
    rate = json.loads((run / "statistics" / "results.json").read_bytes())["metrics"][0]["rate"]
    words = ["Servicio", "Comprador", "Consultas", "Público", "1", "30", "0", "1", "", "6"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(words) + "\n"))
    draft = tmp_path / "d.yaml"
    assert command(["contract", "new", "--from-pilot", str(run), "--out", str(draft)]) == 0
    assert f"{1 - Decimal(rate):.4f}" in capsys.readouterr().err
    assert load_draft(draft).problems == ()
    assert command(["contract", "new", "--from-pilot", str(tmp_path), "--out", str(tmp_path / "x.yaml")]) == 2
    assert "results.json" in capsys.readouterr().err
