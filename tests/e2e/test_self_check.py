"""The vendor's rehearsal: the parties' contract on the public practice set, with a gate, a baseline and a forecast."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as Xml
from fractions import Fraction
from math import comb
from pathlib import Path

import pytest

from slaverify.canonical import jcs
from slaverify.cli.demo.engine import VERSION, DemoEngine
from slaverify.cli.demo.servers import serve
from slaverify.contract import edited, freeze
from slaverify.contract.load import dump_yaml, load_contract, parse_contract
from slaverify.resources import resource

SET = resource("contratos", "practica", "preguntas_publicas.jsonl")


def contract_at(folder: Path, url: str) -> Path:
    """The demo contract and its catalogue, whose pins are placeholders: a vendor has the contract and nothing else."""
    draft = load_contract(resource("contratos", "demo-normativa-cl.yaml"))
    changes = {"endpoint.url": f"{url}/consulta", "engine.version": VERSION, "engine.accepted_echoes": [VERSION]}
    changes |= {"report.languages": ["es"]}
    path = folder / "contrato.yaml"
    catalogue = "demo-normativa-cl.catalogue.jsonl"
    (folder / catalogue).write_bytes(resource("contratos", catalogue).read_bytes())
    path.write_text(dump_yaml(freeze(parse_contract(jcs(edited(draft.tree, changes)), "draft").model)), "utf-8")
    return path


def self_check(folder: Path, kind: str, *more: str) -> subprocess.CompletedProcess[str]:
    with serve(DemoEngine(kind).respond) as url:
        given = [] if "--set" in more else ["--set", str(SET)]
        words = ["self-check", str(contract_at(folder, url)), *given, "--out", str(folder / "o")]
        return subprocess.run(
            [sys.executable, "-m", "slaverify", *words, *more],
            env={**os.environ, "SLAVERIFY_LANG": "en"},
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )


def test_a_rehearsal_decides_forecasts_and_marks_every_page(tmp_path: Path) -> None:
    done = self_check(
        tmp_path, "honest", "--json", "--junit", str(tmp_path / "j.xml"), "--summary", str(tmp_path / "s.md")
    )
    assert done.returncode == 0, done.stderr + done.stdout
    told = json.loads(done.stdout)
    assert (told["contractual_value"], told["met"]) == (False, True)
    # Twenty questions decide nothing, and that stops no pipeline.
    assert told["state"] in ("INCONCLUSIVE", "NOT_MEASURED")
    (accuracy,) = [one for one in told["metrics"] if one["id"] == "accuracy"]
    (metric,) = [one for one in load_contract(tmp_path / "contrato.yaml").model.metrics if one.id == "accuracy"]
    numbers = metric.derived
    assert numbers is not None and numbers.pass_max_failures is not None
    assert (accuracy["chance"]["n"], accuracy["chance"]["pass_max_failures"]) == (numbers.n, numbers.pass_max_failures)
    wrong = Fraction(accuracy["decision"]["failures"], accuracy["decision"]["n"])
    accepted = range(numbers.pass_max_failures + 1)
    due = sum(comb(numbers.n, k) * wrong**k * (1 - wrong) ** (numbers.n - k) for k in accepted)
    chance = {name: float(accuracy["chance"][name]) for name in ("low", "observed", "high")}
    assert chance["observed"] == pytest.approx(float(due), abs=1e-8)
    assert chance["low"] <= chance["observed"] <= chance["high"]
    suite = Xml.parse(tmp_path / "j.xml").getroot()
    assert (suite.get("failures"), int(suite.get("tests") or 0)) == ("0", len(told["metrics"]))
    assert "contractual value" in (tmp_path / "s.md").read_text("utf-8")
    for page in told["pages"]:
        data = Path(page).read_bytes()
        assert data.startswith(b"%PDF") and b"/AcroForm" not in data
    said = json.loads((Path(told["folder"]) / "decision" / "limitations.json").read_bytes())
    assert "L26" in {item["code"] for item in said["items"]}
    assert b"report_issued" not in (Path(told["folder"]) / "custody" / "ledger.jsonl").read_bytes()


def test_the_gate_and_the_baseline(tmp_path: Path) -> None:
    first = self_check(tmp_path, "honest", "--json")
    assert first.returncode == 0, first.stderr
    baseline = json.loads(first.stdout)["folder"]
    second = self_check(tmp_path, "weak", "--json", "--baseline", baseline, "--fail-on", "worse")
    told = json.loads(second.stdout)
    (accuracy,) = [one for one in told["metrics"] if one["id"] == "accuracy"]
    # Same twenty items, paired: the weak engine gets every third new question wrong.
    assert accuracy["change"]["b"] > accuracy["change"]["c"]
    assert (second.returncode, accuracy["worse"], told["met"]) == (1, True, False)
    strict = self_check(tmp_path, "honest", "--fail-on", "not-pass", "--junit", str(tmp_path / "j.xml"))
    assert strict.returncode == 1
    assert int(Xml.parse(tmp_path / "j.xml").getroot().get("failures") or 0) >= 1
    assert "PASS in the audit (n" in strict.stdout
    assert "the method is the contract's" in strict.stdout
    other = tmp_path / "otro.jsonl"
    other.write_bytes(b"".join(SET.read_bytes().splitlines(keepends=True)[:18]))
    done = self_check(tmp_path, "honest", "--set", str(other))
    assert (done.returncode, "SLV-A031" in done.stderr) == (2, True), done.stderr


def test_a_loss_has_to_be_named_against_something(tmp_path: Path) -> None:
    assert self_check(tmp_path, "honest", "--fail-on", "worse").returncode == 2
