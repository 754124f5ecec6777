"""The drafting bench: a judge on loopback, probes, a development set, and a wording that mends or breaks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from slaverify.cli import run as typed
from slaverify.cli.demo.servers import serve
from slaverify.contract import edited
from slaverify.contract.load import dump_yaml, load_contract
from slaverify.errors import JudgeError, ProblemsError
from slaverify.judging.calibration import read_development, refuse_shared
from slaverify.resources import resource
from tests.judging.calibration.people import POINTS, contract
from tests.simulator.judges import MODEL, JudgeServer

OLD = "La respuesta no dice «bloqueado»."
NEW = "La respuesta no llama bloqueado al cliente; un envío puede estarlo."


def criterion(text: str, version: int) -> dict[str, Any]:
    return {
        "id": "palabra",
        "version": version,
        "tier": "compliance",
        "text": text,
        "carve_outs": [{"id": "envio", "text": "Un envío puede estar bloqueado."}],
        "scale": {"kind": "binary", "points": POINTS},
        "threshold": "0.9",
        "probes": [
            {"carve_out": "envio", "answer": "Su envío está bloqueado en aduana.", "met": True},
            {"carve_out": "envio", "answer": "Usted está bloqueado en la tienda.", "met": False},
        ],
    }


def literal(data: Mapping[str, Any]) -> str:
    """Reads the criterion: under the old text any `bloqueado` fails, under the new one only that of a person."""
    answer = data["answer"]
    if data["criterion"]["text"].startswith(OLD):
        return "incorrect" if "bloqueado" in answer else "correct"
    return "incorrect" if "Usted está bloqueado" in answer else "correct"


def draft(folder: Path, url: str, text: str, version: int) -> Path:
    tree = edited(
        load_contract(resource("contratos", "atencion-clientes.yaml")).tree,
        {
            "judge.panel.0.endpoint": {"url": url},
            "judge.panel.0.snapshot": MODEL,
            "judge.panel.0.expected_model_echo": MODEL,
            "judge.panel.0.response_format": "json_schema",
            "judge.criteria": [criterion(text, version)],
            "metrics.0.count": {"criteria": ["palabra:met"]},
            "metrics.1.count": {"criteria": ["palabra:met"]},
        },
    )
    path = folder / f"v{version}.yaml"
    path.write_text(dump_yaml(tree), encoding="utf-8")
    return path


ROWS = [
    ("a", "Su envío quedó bloqueado por la dirección.", True),
    ("b", "Usted está bloqueado hasta pagar.", False),
    ("c", "Puede pagar con tarjeta.", True),
    ("d", "Lamentamos la demora.", False),
]


def development(folder: Path) -> Path:
    path = folder / "desarrollo.jsonl"
    lines = [
        {
            "id": name,
            "criterion": "palabra",
            "question": f"¿Qué pasó con mi pedido {name}?",
            "official_text": "Base de conocimiento.",
            "answer": answer,
            "met": met,
        }
        for name, answer, met in ROWS
    ]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, dict[str, Any], JudgeServer]]:
    monkeypatch.setattr("slaverify.audit.asking.FIRST_WAIT_S", 0.01)
    monkeypatch.setenv("SLAVERIFY_LANG", "en")

    def run(server: JudgeServer, capsys: pytest.CaptureFixture[str], *, against: bool = True) -> Any:
        with serve(server.respond) as url:
            new = draft(tmp_path, f"{url}/v1", NEW, 2)
            words = ["criteria", "try", str(new), "--labels", str(development(tmp_path))]
            words += ["--keep", str(tmp_path / "kept"), "--json"]
            if against:
                words += ["--against", str(draft(tmp_path, f"{url}/v1", OLD, 1))]
            code = typed(words)
        shown = capsys.readouterr()
        return code, (json.loads(shown.out) if shown.out else {"error": shown.err}), server

    return run


def test_what_a_new_wording_mended_and_what_people_still_see_otherwise(
    bench: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    code, trial, server = bench(JudgeServer(literal), capsys)
    assert code == 0, trial
    (found,) = trial["criteria"]
    assert found["probes"] == {"asked": 2, "failed": []}
    assert (found["people"]["rows"], found["people"]["agreed"]) == (4, 3)
    assert [(row["id"], row["people"], row["judge"]) for row in found["disagreements"]] == [("d", "not_met", "met")]
    assert found["disagreements"][0]["reason"] == "Comparado con el texto oficial."
    assert found["flips"]["flipped"] == 0
    assert found["flips"]["rows"] == 6
    # The probe and row `a` speak of a shipment: the old text failed both.
    assert found["against"]["broken"] == []
    assert found["against"]["mended"] == ["probe:palabra:1", "a"]
    assert found["against"]["agreed_now"] - found["against"]["agreed_before"] == 2
    asked = server.calls
    again = bench(server, capsys)
    assert again[1] == trial
    assert server.calls == asked, "what was answered is not asked again"


def test_a_probe_that_comes_out_otherwise_is_named_and_a_judge_that_wavers_shows(
    bench: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    server = JudgeServer(lambda data: "correct")
    code, trial, _ = bench(server, capsys, against=False)
    (found,) = trial["criteria"]
    assert code == 3
    assert [row["id"] for row in found["probes"]["failed"]] == ["probe:palabra:2"]
    assert found["against"] is None
    assert found["people"]["kappa"] == "0.000000000"


def test_flips_are_counted(bench: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    turns: dict[str, int] = {}

    def wavering(data: Mapping[str, Any]) -> str:
        turns[data["answer"]] = turns.get(data["answer"], 0) + 1
        sways = "demora" in data["answer"] and turns[data["answer"]] % 2 == 0
        return "incorrect" if sways else literal(data)

    _, trial, _ = bench(JudgeServer(wavering), capsys, against=False)
    flips = trial["criteria"][0]["flips"]
    assert (flips["flipped"], flips["rows"]) == (1, 6)
    assert float(flips["upper"]) > 1 / 6


def test_another_model_stops_the_trial(bench: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, _ = bench(JudgeServer(literal, model="otro-2026-01-15"), capsys, against=False)
    assert code == 6
    assert "SLV-J073" in shown["error"]


CRITERIA = contract(criteria=True).judge.criteria
HEAD = "criterion,question,official_text,answer,met\n"


@pytest.mark.parametrize(
    "text,place",
    [
        ("", "d.csv:1"),
        ("criterion,question,answer,met\nx,y,z,sí\n", "d.csv:1"),
        (HEAD, "d.csv"),
        (HEAD + "otro,q,o,a,sí\n", "d.csv:2, criterion"),
        (HEAD + "correcta,q,o,a,quizás\n", "d.csv:2, met"),
        (HEAD + "correcta,q,o,,sí\n", "d.csv:2, answer"),
        (HEAD + "correcta,q,o,a,sí\ncorrecta,q,o,a,no\n", "d.csv:3"),
    ],
)
def test_a_bad_development_set_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        read_development(text.encode(), "d.csv", CRITERIA)
    assert [(one.code, one.where) for one in caught.value.problems] == [("SLV-J071", place)]


def test_a_development_set_is_read_from_csv_in_either_language() -> None:
    text = "criterio;pregunta;texto oficial;respuesta;cumple\ncorrecta;q;o;a;Sí\ntrato;q;o;a;no\n"
    found = read_development(text.encode("utf-8-sig"), "d.csv", CRITERIA)
    assert [(one.criterion, one.met) for one in found] == [("correcta", True), ("trato", False)]


def test_a_question_of_the_development_set_may_not_be_labelled_for_a_calibration() -> None:
    refuse_shared(["¿Qué plazo hay?"], [("i-1", "¿Qué plazo rige?")])
    with pytest.raises(JudgeError) as caught:
        refuse_shared(["¿Qué  plazo\nHAY?"], [("i-1", "¿Qué plazo hay?"), ("i-2", "otra")])
    assert caught.value.code == "SLV-J020"
    assert "i-1" in caught.value.what.es
