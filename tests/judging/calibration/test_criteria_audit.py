"""A criteria contract calibrated end to end: one row per answer and criterion, a matrix and a gate per criterion."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from slaverify.canonical import JsonValue, jcs, loads_strict
from slaverify.cli.demo.servers import serve
from slaverify.contract.load import parse_contract
from slaverify.errors import SlaverifyError
from slaverify.evidence import Bundle, MemorySource, calibration_committed, record_again, unfounded_rulings
from slaverify.evidence.read import open_folder
from tests.e2e.line import audit_arguments, make_place, tsa, write_contract
from tests.judging.calibration.people import POINTS
from tests.judging.calibration.test_audit import Desk, until_people
from tests.judging.line import judge_block
from tests.simulator.arithmetic import items as sums
from tests.simulator.judges import VERSION, Clerk, JudgeServer, official, text_items, word

BLAME = " Usted debió preguntar antes."
TEXTS = {
    "exacta": ("La respuesta nombra el permiso que exige el texto oficial.", "Puede decirlo con otras palabras."),
    "trato": ("La respuesta no culpa a quien pregunta.", "Puede decir que falta un trámite."),
}
GOOD = {"exacta": "Se pide el permiso {right}.", "trato": "Se pide el permiso {right}; falta un trámite."}
BAD = {"exacta": "Se pide el permiso {wrong}.", "trato": "Se pide el permiso {right}." + BLAME}


def criterion(name: str) -> dict[str, JsonValue]:
    text, carve_out = TEXTS[name]
    right = {"right": word(5000), "wrong": word(5001)}
    question = "¿Qué papel exige la oficina 5000 para navegar?"
    return {
        "id": name,
        "version": 1,
        "tier": "compliance",
        "text": text,
        "carve_outs": [{"id": "salvedad", "text": carve_out}],
        "scale": {"kind": "binary", "points": POINTS},
        "threshold": "0.9",
        "probes": [
            {"carve_out": "salvedad", "question": question, "answer": GOOD[name].format(**right), "met": True},
            {"carve_out": "salvedad", "question": question, "answer": BAD[name].format(**right), "met": False},
        ],
    }


def sentinels() -> bytes:
    lines = []
    for name in TEXTS:
        for at in range(15):
            number = 1000 + at
            words = {"right": word(number), "wrong": word(number + 1)}
            for kind, texts, marks in (("known_right", GOOD, ["met"]), ("known_wrong", BAD, ["not_met"])):
                lines.append(
                    {
                        "type": "slaverify/sentinel/1",
                        "id": f"{name}-{kind[6:]}-{at:03d}",
                        "kind": kind,
                        "rubric": "criteria@1",
                        "criterion": name,
                        "question": f"¿Qué papel exige la oficina {number} para navegar?",
                        "official_text": official(number),
                        "answer": texts[name].format(**words),
                        "expected": {"score": marks},
                    }
                )
    return b"".join(jcs(line) + b"\n" for line in sorted(lines, key=lambda line: str(line["id"])))


class Blaming(Clerk):
    """Names another permit in one of five answers, and blames who asks in one of three."""

    def answer(self, question: str) -> str:
        found = re.search(r"oficina (\d+)", question)
        return super().answer(question) + (BLAME if found and int(found[1]) % 3 == 0 else "")


def mark(data: Mapping[str, Any]) -> str:
    """Knows permits; of manners it knows only the examples, and guesses the rest, always alike."""
    number = int(re.search(r"oficina (\d+)", data["question"])[1])  # type: ignore[index]
    if data["criterion"]["id"] == "exacta":
        return "correct" if word(number) in data["answer"] else "incorrect"
    if number >= 1000:
        return "incorrect" if BLAME in data["answer"] else "correct"
    return "correct" if hashlib.sha256(data["answer"].encode()).digest()[0] % 2 else "incorrect"


def metric(name: str) -> dict[str, JsonValue]:
    return {
        "id": name,
        "library": "criterion_pass_rate@1",
        "name": {"es": name, "en": name},
        "kind": "rate",
        "count": {"criteria": [f"{name}:met"]},
        "among": {"stratum": ["direct"]},
        "direction": "at_least",
        "threshold": "0.60",
        "decision": {"rule": "guarded", "alpha_pass": "0.025", "alpha_breach": "0.025"},
    }


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    place = make_place(tmp_path_factory.mktemp("criteria"), [*text_items(60), *sums(0, 20)])
    judge = JudgeServer(mark)
    with (
        pytest.MonkeyPatch.context() as patch,
        serve(Blaming(lambda number: number % 5 == 0).respond) as engine,
        serve(judge.respond) as panel,
        tsa(place.authority) as authority,
    ):
        block = judge_block(
            f"{panel}/v1/chat/completions", sentinels(), on_uncalibrated="not_measured", repeats={"sample": 120}
        )
        changes: dict[str, JsonValue] = {
            "engine.version": VERSION,
            "engine.accepted_echoes": [VERSION],
            "engine.family": "familia-v",
            "engine.base_families": [],
            "method.judge_stage": {"strata": ["direct"], "ask": ["criteria"]},
            "judge": {**block, "rubric": None, "criteria": [criterion(name) for name in TEXTS]},
            "metrics": [metric(name) for name in TEXTS],
            "remedies.credits": [{"metric": "exacta", "below": "0.60", "share": "0.05"}],
        }
        write_contract(place, f"{engine}/q", authority, changes)
        (place.folder / "prueba-lineal.sentinels.jsonl").write_bytes(sentinels())
        yield until_people(place, patch)


def person(row: dict[str, str]) -> dict[str, str]:
    """Reads the criterion of the row; one abstention of ten is taken for an answer."""
    if "permiso" not in row["answer"]:
        return {"class": "answer" if row["row"] < "b" else "abstention"}
    if row["criterion"].startswith(TEXTS["exacta"][0]):
        met = row["official text"].split("«")[1].split("»")[0] in row["answer"]
    else:
        met = BLAME not in row["answer"]
    return {"class": "answer", "met": "yes" if met else "no"}


def test_sheet_matrix_gate_and_verdict_per_criterion(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("ana", "berta"):
        sheet = desk.sheet(name, person if name == "ana" else sure)
        assert desk.type("label", "import", desk.run, str(sheet), "--annotator", name) == 0
    text = sheet.read_text(encoding="utf-8-sig")
    for requirement, carve_out in TEXTS.values():
        assert f"{requirement} {carve_out}" in text
    assert len([line for line in text.splitlines() if ",abstention," in line]) == 20
    if desk.type("calibrate", desk.run) == 6:
        carla = desk.sheet("carla", sure)
        assert desk.type("label", "import", desk.run, str(carla), "--annotator", "carla") == 0
    with pytest.MonkeyPatch.context() as patch:
        # A cut between the record and the ledger: the same line goes on with the record that stands.
        patch.setattr("slaverify.audit.calibrating.record_calibration", interrupted)
        assert desk.type("calibrate", desk.run) == 130
    before = (desk.place.run / "judging/calibration.json").read_bytes()
    capsys.readouterr()
    code = desk.type("calibrate", desk.run)
    assert (desk.place.run / "judging/calibration.json").read_bytes() == before
    shown = capsys.readouterr().out
    assert code == 3, "one criterion of two is not usable"
    assert "usable: exacta" in shown
    assert "not usable: trato: it does not tell right from wrong" in shown
    record = desk.read("judging/calibration.json")
    exact, manners = record["subjects"]
    assert exact["matrix"]["counts"] == {
        "positive_positive": 48,
        "positive_negative": 0,
        "negative_positive": 0,
        "negative_negative": 12,
    }
    assert exact["gate"]["met"] is True
    assert (manners["gate"]["met"], manners["gate"]["reason"]) == (False, "judge_not_informative")
    assert sum(manners["matrix"]["counts"].values()) == 60
    assert desk.type(*audit_arguments(desk.place, "--resume")) == 3
    decision = desk.read("decision/decision.json")
    assert [(one["id"], one["state"], one["reason"]) for one in decision["metrics"]] == [
        ("exacta", "PASS", None),
        ("trato", "NOT_MEASURED", "judge_not_informative"),
    ]
    bundle, pdf = str(desk.place.bundle()), str(desk.place.pdf())
    assert desk.type("verify", pdf, "--bundle", bundle, "--contract", str(desk.place.contract)) == 0


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def sure(row: dict[str, str]) -> dict[str, str]:
    said = person(row)
    return {"class": "abstention"} if "met" not in said else said


@pytest.fixture
def decided(desk: Desk, capsys: pytest.CaptureFixture[str]) -> Desk:
    """The audit after people, whichever test of this file another process took."""
    if not (desk.place.run / "decision/decision.json").exists():
        test_sheet_matrix_gate_and_verdict_per_criterion(desk, capsys)
    return desk


def test_no_edited_label_draw_or_ruling_passes_as_what_the_evidence_gives(decided: Desk) -> None:
    folder = open_folder(decided.place.run)
    files = {path: folder.read(path, 1 << 30) for path in folder.paths()}
    contract = parse_contract(files["contract/contract.json"], "contract")
    path = "judging/calibration.json"

    def problems(**changed: bytes | None) -> list[str]:
        places = {"record": path, "scores": "scoring/scores.jsonl"}
        own = {**files, **{places[name]: data for name, data in changed.items()}}
        bundle = Bundle(MemorySource({name: data for name, data in own.items() if data is not None}), None)
        try:
            again = record_again(bundle, contract)
            found = [] if again is None or jcs(again) == own[path] else ["record"]
            found += [] if again is None else [word for word in [calibration_committed(bundle, contract)] if word]
            return found + sorted(unfounded_rulings(bundle, contract))
        except SlaverifyError as error:
            return [error.code]

    assert problems() == []
    record = loads_strict(files[path])
    row = next(one for one in record["rows"] if one["subject"] == "trato" and one["labels"])
    flipped = "not_met" if row["labels"][0]["values"]["met"] == "met" else "met"
    for label in row["labels"]:
        label["values"]["met"] = flipped
    assert problems(record=jcs(record)) == ["record", "digest"]
    record = loads_strict(files[path])
    record["subjects"][1]["gate"] = {**record["subjects"][1]["gate"], "met": True, "reason": None}
    assert problems(record=jcs(record)) == ["record", "digest"]
    record = loads_strict(files[path])
    record["rows"] = record["rows"][1:]
    assert problems(record=jcs(record)) == ["record", "digest"]
    record["rows"][0]["labels"] = [{"by": 4}]
    assert problems(record=jcs(record)) == ["SLV-J069"]
    lines = [json.loads(line) for line in files["scoring/scores.jsonl"].splitlines()]
    lines[0]["decided_by"] = "person"
    forged = b"".join(jcs(line) + b"\n" for line in lines)
    assert lines[0]["item_id"] in problems(scores=forged)
