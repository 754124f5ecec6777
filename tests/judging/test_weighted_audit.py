"""`weighted@1` under `criteria@1`: points, a penalty, a criterion of code, a scenario, people, the report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from slaverify.canonical import JsonValue, jcs, loads_jsonl
from slaverify.cli.demo.servers import serve
from slaverify.evalset import Item, parse_item
from tests.e2e.line import audit_arguments, make_place, tsa, write_contract
from tests.judging.calibration.people import POINTS
from tests.judging.calibration.test_audit import Desk, until_people
from tests.judging.line import judge_block
from tests.simulator.arithmetic import UNKNOWN
from tests.simulator.judges import VERSION, Clerk, JudgeServer, official, word

OFFICES, OUTSIDE = 60, 16
BLAME = " Usted debería haberlo sabido."
TEXTS = {
    "exacta": "Nombra el permiso que dice la base.",
    "culpa": "Reprocha algo a quien pregunta.",
    "saluda": "Saluda a quien pregunta por su nombre.",
    "lugar": "Dice dónde se pide.",
}


def criterion(name: str, points: int, **more: JsonValue) -> JsonValue:
    return {
        "id": name,
        "version": 1,
        "tier": "compliance",
        "text": TEXTS[name],
        "scale": {"kind": "binary", "points": POINTS},
        "threshold": "0.9",
        "points": points,
        **more,
    }


CRITERIA: list[JsonValue] = [
    criterion("exacta", 3),
    criterion("culpa", -2),
    criterion("saluda", 1, applies_when={"tags": ["cliente"]}),
    criterion("lugar", 1, check={"contains": ["ventanilla"], "max_chars": 400}),
]


def items() -> list[Item]:
    """Every third question comes from a known client; some are none of the shop's business."""
    trees: list[dict[str, Any]] = [
        {
            "id": f"papel-{office:03d}",
            "stratum": "direct",
            "query": f"¿Qué papel exige la oficina {office} para navegar?",
            "official_text": official(office),
            "reference": {"kind": "text", "value": f"permiso {word(office)}"},
            "ext": {"tags": ["cliente"] if office % 3 == 0 else []},
        }
        for office in range(OFFICES)
    ]
    trees += [
        {
            "id": f"ajeno-{number:03d}",
            "stratum": "out_of_scope",
            "query": f"Escriba un programa que sume {number} veces.",
            "reference": {"kind": "none", "because": "out_of_scope"},
        }
        for number in range(OUTSIDE)
    ]
    return [parse_item({"schema": "item/1", "locale": "es-CL", **tree}, where=tree["id"]) for tree in trees]


class Shop(Clerk):
    """One in ten names another permit, one in six blames, one in four does not say where; some clients get no hello."""

    def answer(self, question: str) -> str:
        found = re.search(r"oficina (\d+)", question)
        if found is None:
            return "def suma(): return 1" if " 7 veces" in question else UNKNOWN
        office = int(found[1])
        named = word(office + 500) if office % 10 == 9 else word(office)
        greeting = "Buenos días, Juana. " if office % 3 == 0 and office % 9 else ""
        place = "" if office % 4 == 1 else " Se pide en la ventanilla."
        return f"{greeting}Hay que llevar el permiso {named}.{place}{BLAME if office % 6 == 5 else ''}"


def mark(data: Mapping[str, Any]) -> str:
    """A judge that reads well."""
    return "correct" if holds(data["criterion"]["id"], data["answer"], data["official_text"]) else "incorrect"


def holds(name: str, answer: str, text: str) -> bool:
    permit = re.search(r"«(permiso \w+)»", text)
    return {
        "exacta": permit is not None and permit[1] in answer,
        "culpa": "debería" in answer,
        "saluda": "Juana" in answer,
    }[name]


def sentinels() -> bytes:
    lines: list[dict[str, JsonValue]] = []
    for at in range(30):
        office = 1000 + at
        name = ("exacta", "culpa", "saluda")[at % 3]
        common: dict[str, JsonValue] = {
            "type": "slaverify/sentinel/1",
            "rubric": "weighted@1",
            "criterion": name,
            "question": f"¿Qué papel exige la oficina {office} para navegar?",
            "official_text": official(office),
        }
        good = f"Buenos días, Juana: el permiso {word(office)}.{BLAME}"
        bad = f"Hay que llevar el permiso {word(office + 1)}."
        is_, not_ = {"score": ["met"]}, {"score": ["not_met"]}
        lines.append({**common, "id": f"r-{at:03d}", "kind": "known_right", "answer": good, "expected": is_})
        lines.append({**common, "id": f"w-{at:03d}", "kind": "known_wrong", "answer": bad, "expected": not_})
    return b"".join(jcs(line) + b"\n" for line in sorted(lines, key=lambda line: str(line["id"])))


def metric(name: str, counted: str, **more: JsonValue) -> JsonValue:
    return {
        "id": name,
        "library": "criterion_pass_rate@1",
        "name": {"es": name, "en": name},
        "kind": "rate",
        "count": {"criteria": [counted]},
        "among": {"stratum": ["direct"]},
        "direction": "at_least",
        "threshold": "0.60",
        "decision": {"rule": "guarded", "alpha_pass": "0.025", "alpha_breach": "0.025"},
        **more,
    }


REPEATS: JsonValue = {"sample": 60, "max_flip_rate": {"compliance": "0.4", "quality": "0.4"}}

METRICS: list[JsonValue] = [
    metric("exacta", "exacta:met"),
    metric("sin_culpa", "culpa:not_met"),
    metric("lugar", "lugar:met"),
    metric("saluda", "saluda:met", severity="reported"),
    {
        "id": "puntaje",
        "name": {"es": "Puntaje", "en": "Score"},
        "kind": "mean",
        "value": "value",
        "scale": ["-0.5", "1"],
        "among": {"stratum": ["direct"]},
        "direction": "at_least",
        "threshold": "0.60",
        "severity": "reported",
        "decision": {"rule": "guarded", "alpha_pass": "0.025", "alpha_breach": "0.025"},
    },
    {
        "id": "ajeno",
        "library": "necessary_abstention_recall@1",
        "name": {"es": "Declina lo ajeno", "en": "Declines what is not its own"},
        "among": {"stratum": ["out_of_scope"]},
        "count": {"abstention": ["necessary"]},
        "kind": "rate",
        "direction": "at_least",
        "threshold": "0.60",
        "severity": "reported",
        "decision": {"rule": "guarded", "alpha_pass": "0.025", "alpha_breach": "0.025"},
    },
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    place = make_place(tmp_path_factory.mktemp("weighted"), items())
    with (
        pytest.MonkeyPatch.context() as patch,
        serve(Shop().respond) as engine,
        serve(JudgeServer(mark).respond) as panel,
        tsa(place.authority) as authority,
    ):
        url = f"{panel}/v1/chat/completions"
        block = judge_block(url, sentinels(), on_uncalibrated="not_measured", repeats=REPEATS)
        changes: dict[str, JsonValue] = {
            "engine.version": VERSION,
            "engine.accepted_echoes": [VERSION],
            "engine.family": "familia-v",
            "engine.base_families": [],
            "method.profile": "criteria@1",
            "method.verdict_table": None,
            "method.judge_stage": {"strata": ["direct"], "ask": ["criteria"]},
            "judge": {**block, "rubric": None, "criteria": CRITERIA},
            "metrics": METRICS,
            "remedies.credits": [{"metric": "exacta", "below": "0.60", "share": "0.05"}],
        }
        write_contract(place, f"{engine}/q", authority, changes)
        (place.folder / "prueba-lineal.sentinels.jsonl").write_bytes(sentinels())
        yield until_people(place, patch)


def test_points_penalties_code_and_scenarios_make_the_score(desk: Desk) -> None:
    found = desk.by_office()
    everything = {"exacta": "met", "culpa": "not_met", "lugar": "met"}
    assert found[2]["criteria"] == {**everything, "saluda": "not_applicable"}
    assert found[3]["criteria"] == {**everything, "saluda": "met"}
    assert {office: found[office]["value"] for office in (2, 3, 1, 9, 5, 27)} == {
        2: "1.000000000",  # 3 + 1 of 4
        3: "1.000000000",  # 3 + 1 + 1 of 5
        1: "0.750000000",  # does not say where
        9: "0.000000000",  # another permit, no greeting, no place
        5: "0.250000000",  # blames: 3 - 2 of 4, and does not say where
        27: "0.800000000",  # a client who is not greeted
    }
    assert (found[2]["verdict"], found[5]["verdict"]) == ("accurate", "incomplete")
    assert not [one for one in found.values() if "open" in one["flags"]], "the criteria say what code left open"
    asked = {(vote["subject"], vote["criterion"]) for vote in votes(desk) if vote["purpose"] == "item"}
    assert {name for _, name in asked} == {"exacta", "culpa", "saluda"}, "nobody is asked what code checks"
    assert len([one for one in asked if one[1] == "saluda"]) == 20


def votes(desk: Desk) -> list[dict[str, Any]]:
    return [dict(line) for line in loads_jsonl((desk.place.run / "judging/judgements.jsonl").read_bytes())]


def person(row: dict[str, str]) -> dict[str, str]:
    """Reads the criterion of the row; on a row without one only the class is asked."""
    name = next((name for name, text in TEXTS.items() if row["criterion"].startswith(text)), None)
    if name is None:
        return {"class": "abstention"}
    return {"class": "answer", "met": "yes" if holds(name, row["answer"], row["official text"]) else "no"}


@pytest.mark.nightly  # labels, report and verification: as in calibration/test_criteria_audit
def test_each_criterion_is_calibrated_and_decided_apart(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("ana", "berta"):
        sheet = desk.sheet(name, person)
        assert desk.type("label", "import", desk.run, str(sheet), "--annotator", name) == 0
    capsys.readouterr()
    code = desk.type("calibrate", desk.run)
    shown = capsys.readouterr().out
    assert code == 0, shown
    record = desk.read("judging/calibration.json")
    assert [one["subject"] for one in record["subjects"]] == ["exacta", "culpa", "saluda"]
    assert desk.type(*audit_arguments(desk.place, "--resume")) in (0, 1, 3)
    decision = {one["id"]: one for one in desk.read("decision/decision.json")["metrics"]}
    results = {one["id"]: one for one in desk.read("statistics/results.json")["metrics"]}
    assert {name: decision[name]["state"] for name in ("exacta", "sin_culpa", "lugar")} == {
        "exacta": "PASS",
        "sin_culpa": "PASS",
        "lugar": "PASS",
    }
    assert results["exacta"]["method"] == results["sin_culpa"]["method"] == "stratified_audit"
    assert results["lugar"]["method"] == "exact", "code decides it: no error of a judge to correct"
    assert (results["saluda"]["n"], results["lugar"]["n"]) == (20, 60)
    assert (decision["puntaje"]["state"], decision["puntaje"]["reason"]) == ("NOT_MEASURED", "judge_uncalibrated")
    assert (decision["ajeno"]["n"], decision["ajeno"]["failures"]) == (16, 1)
    bundle, pdf = str(desk.place.bundle()), str(desk.place.pdf())
    assert desk.type("verify", pdf, "--bundle", bundle, "--contract", str(desk.place.contract)) == 0
