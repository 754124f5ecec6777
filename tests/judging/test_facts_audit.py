"""`facts@1` under the profile `grounding@1`: a panel of two, people, the report and its verification, all over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from slaverify.canonical import JsonValue, jcs, loads_jsonl
from slaverify.cli.demo.servers import serve
from slaverify.evalset import Item, parse_item
from slaverify.judging import RUBRICS
from tests.e2e.line import audit_arguments, make_place, tsa, write_contract
from tests.judging.calibration.test_audit import Desk, until_people
from tests.judging.line import judge_block
from tests.simulator.judges import MODEL, VERSION, Clerk, JudgeServer, word

ASKED, SLOTS = 60, 24
DOCUMENT = "Para navegar desde la oficina {0} se exige el «permiso {1}». El trámite tarda {2} días."


def document(office: int) -> str:
    return DOCUMENT.format(office, word(office), 10 + office)


def items() -> list[Item]:
    """Open questions on a document, and questions whose value code looks up before any judge."""
    trees: list[dict[str, Any]] = []
    for office in range(ASKED + SLOTS):
        open_ = office < ASKED
        value = {"kind": "text", "value": f"permiso {word(office)}"}
        days = {"kind": "amount", "value": str(10 + office), "unit": "days"}
        asked = f"¿Qué papel exige la oficina {office}?" if open_ else f"¿Cuántos días tarda la oficina {office}?"
        trees.append(
            {
                "schema": "item/1",
                "id": f"ficha-{office:03d}",
                "stratum": "direct",
                "locale": "es-CL",
                "query": asked,
                "official_text": document(office),
                "source": {"title": "Reglamento ficticio", "locator": f"artículo {office + 1}"},
                "reference": value if open_ else days,
            }
        )
    return [parse_item(tree, where=tree["id"]) for tree in trees]


class Office(Clerk):
    """Every tenth answer makes something up, every twelfth does not attend to the question; two slots are wrong."""

    def answer(self, question: str) -> str:
        found = re.search(r"oficina (\d+)", question)
        if found is None:
            return super().answer(question)
        office = int(found[1])
        if office >= ASKED:
            days = 10 + office + (office in (70, 71))
            return f"El trámite tarda {days} días." + (" Es gratis para estudiantes." if office == 80 else "")
        if office % 12 == 5:
            return "La navegación es una actividad antigua."
        made_up = " Además hay que pagar doce monedas." if office % 10 == 0 else ""
        return f"Con gusto. Se exige el permiso {word(office)}.{made_up}"


def fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a careful reader says: of sentences one by one, or of the whole."""
    if "sentences" not in data:
        attends = "permiso" in data["answer"] or "tarda" in data["answer"]
        return {"eligibility": "no_issues" if attends else "invalid"}
    return {"sentences": [label(one["text"], data["official_text"]) for one in data["sentences"]]}


def label(sentence: str, text: str) -> str:
    if sentence == "Con gusto.":
        return "no_claim"
    named = re.search(r"permiso (\w+)|(\d+) días", sentence)
    return "supported" if named is not None and named[0] in text else "unsupported"


class Reader(JudgeServer):
    """`lenient`: lets what is made up pass in every third office, as the careful one never does."""

    def __init__(self, model: str, *, lenient: bool = False) -> None:
        super().__init__(lambda _: "", model=model)
        self.lenient = lenient

    def _fields(self, data: Mapping[str, Any]) -> dict[str, Any]:
        said = fields(data)
        office = int(re.search(r"oficina (\d+)", data["question"])[1])  # type: ignore[index]
        if self.lenient and office < 1000 and office % 3 == 0 and "sentences" in said:
            return {"sentences": ["supported"] * len(said["sentences"])}
        return said


def sentinels() -> bytes:
    lines: list[dict[str, JsonValue]] = []
    for at in range(30):
        office = 1000 + at
        common: dict[str, JsonValue] = {
            "type": "slaverify/sentinel/1",
            "rubric": "facts@1",
            "criterion": None,
            "question": f"¿Qué papel exige la oficina {office}?",
            "official_text": document(office),
        }
        good, bad = f"Se exige el permiso {word(office)}.", f"Se exige el permiso {word(office + 1)}."
        off: JsonValue = {"eligibility": ["major_issues", "invalid"]}
        shown: list[tuple[str, str, str, JsonValue]] = (
            [
                (f"s-{at:03d}", "known_right", good, {"eligibility": ["no_issues", "minor_issues"]}),
                (f"x-{at:03d}", "known_wrong", "El lago es de todos.", off),
            ]
            if at % 2
            else [
                (f"r-{at:03d}", "known_right", good, {"sentences": ["supported"]}),
                (f"w-{at:03d}", "known_wrong", bad, {"sentences": ["unsupported", "contradictory"]}),
            ]
        )
        lines += [{**common, "id": i, "kind": k, "answer": a, "expected": e} for i, k, a, e in shown]
    return b"".join(jcs(line) + b"\n" for line in sorted(lines, key=lambda line: str(line["id"])))


def person(row: dict[str, str]) -> dict[str, str]:
    """Reads the numbered sentences of the sheet against the document."""
    sentences = re.findall(r"^\[(\d+)\] (.*)$", row["answer"], re.MULTILINE)
    attends = any("permiso" in text or "tarda" in text for _, text in sentences)
    bad = [number for number, text in sentences if label(text, row["official text"]) == "unsupported"]
    return {
        "class": "answer",
        "eligibility": "no issues" if attends else "invalid",
        "unsupported sentences": ", ".join(bad) or "0",
    }


def mean(name: str, **changes: JsonValue) -> dict[str, JsonValue]:
    return {
        "id": name,
        "library": "facts_grounding@1",
        "name": {"es": "Puntaje de sustento", "en": "Grounding score"},
        "kind": "mean",
        "value": "value",
        "scale": ["0", "1"],
        "among": {"stratum": ["direct"]},
        "direction": "at_least",
        "threshold": "0.60",
        "decision": {"rule": "guarded", "alpha_pass": "0.025", "alpha_breach": "0.025"},
        **changes,
    }


def metrics() -> list[JsonValue]:
    unadjusted: dict[str, JsonValue] = {
        **mean("unadjusted"),
        "library": "facts_grounding_unadjusted@1",
        "kind": "rate",
        "count": {"grounding": ["grounded"]},
        "severity": "reported",
    }
    for key in ("value", "scale"):
        del unadjusted[key]
    return [mean("adjusted", cut="1"), mean("score", severity="reported"), unadjusted]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    place = make_place(tmp_path_factory.mktemp("facts"), items())
    other = "juez-2026-02-20"
    careful, lenient = Reader(MODEL), Reader(other, lenient=True)
    with (
        pytest.MonkeyPatch.context() as patch,
        serve(Office().respond) as engine,
        serve(careful.respond) as first,
        serve(lenient.respond) as second,
        tsa(place.authority) as authority,
    ):
        block = judge_block(f"{first}/v1/chat/completions", sentinels(), on_uncalibrated="not_measured")
        (member,) = block["panel"]  # type: ignore[misc]
        peer: JsonValue = {
            **member,  # type: ignore[dict-item]
            "id": "dos",
            "family": "familia-k",
            "snapshot": other,
            "expected_model_echo": other,
            "endpoint": {"url": f"{second}/v1/chat/completions"},
        }
        rubric: JsonValue = {"name": "facts@1", "digest": RUBRICS["facts@1"].digest}
        changes: dict[str, JsonValue] = {
            "engine.version": VERSION,
            "engine.accepted_echoes": [VERSION],
            "engine.family": "familia-v",
            "engine.base_families": [],
            "method.profile": "grounding@1",
            "method.verdict_table": None,
            "method.judge_stage": {"strata": ["direct"], "ask": ["eligibility"]},
            "judge": {
                **block,
                "panel": [member, peer],
                "rubric": rubric,
                "facts": {"eligibility_rule": "all_eligible"},
                "aggregation": "mean",
            },
            "metrics": metrics(),
            "remedies.credits": [{"metric": "adjusted", "below": "0.60", "share": "0.05"}],
        }
        write_contract(place, f"{engine}/q", authority, changes)
        (place.folder / "prueba-lineal.sentinels.jsonl").write_bytes(sentinels())
        yield until_people(place, patch)


def test_code_settles_the_slot_and_the_panel_the_sentences(desk: Desk) -> None:
    found = desk.by_office()
    assert {office: found[office]["value"] for office in (1, 0, 10, 5, 72, 70, 80)} == {
        1: "1.000000000",
        0: "0.500000000",  # made up, and one of two lets it pass
        10: "0.000000000",  # made up, and both see it
        5: "0.000000000",  # does not attend to the question
        72: "1.000000000",
        70: "0.000000000",  # another number: code alone
        80: "0.000000000",  # the right number and something made up
    }
    assert (found[70]["decided_by"], found[70]["verdict"]) == ("rule", "incorrect")
    assert (found[80]["correctness"], found[80]["verdict"]) == ("correct", "misgrounded")
    assert (found[5]["verdict"], found[5]["correctness"]) == ("incomplete", "partial")
    asked = {tuple(vote["asked"]) for vote in votes(desk) if vote["subject"] == found[72]["item_id"]}
    assert asked == {("sentences",)}, "the eligibility of a slot is code's"


def votes(desk: Desk) -> list[dict[str, Any]]:
    return [dict(line) for line in loads_jsonl((desk.place.run / "judging/judgements.jsonl").read_bytes())]


@pytest.mark.nightly  # labels, report and verification: as in calibration/test_criteria_audit
def test_people_number_sentences_and_the_audit_ends_verified(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    wild = desk.sheet("ana", lambda row: {**person(row), "unsupported sentences": "1, 7"})
    capsys.readouterr()
    assert desk.type("label", "import", desk.run, str(wild), "--annotator", "ana") == 2
    assert "the answer has no sentence 7" in capsys.readouterr().err
    for name in ("ana", "berta"):
        sheet = desk.sheet(name, person)
        assert desk.type("label", "import", desk.run, str(sheet), "--annotator", name) == 0
    assert desk.type("calibrate", desk.run) == 0, capsys.readouterr().out
    record = desk.read("judging/calibration.json")
    (subject,) = record["subjects"]
    # 5 made up (3 of them seen by one of two: not accurate all the same), 5 beside the question, 1 slot.
    assert subject["matrix"]["counts"]["negative_positive"] == 0
    assert desk.type(*audit_arguments(desk.place, "--resume")) in (0, 1, 3)
    decision = {one["id"]: one for one in desk.read("decision/decision.json")["metrics"]}
    assert decision["adjusted"]["state"] == "PASS"
    assert (decision["score"]["state"], decision["score"]["reason"]) == ("NOT_MEASURED", "judge_uncalibrated")
    # Of the two slots that code refused nobody says whether their sentences stand on the document.
    unadjusted = next(one for one in desk.read("statistics/inputs.json")["metrics"] if one["id"] == "unadjusted")
    assert (unadjusted["failures"], unadjusted["open"], unadjusted["unresolved"]) == (12, 2, 0)
    (judge,) = [one["args"] for one in desk.read("decision/limitations.json")["items"] if one["code"] == "L01"]
    assert [(row["kind"], row["name"], row["changed"]) for row in judge["without_one"]] == [
        ("member", "uno", []),
        ("member", "dos", []),
    ]
    bundle, pdf = str(desk.place.bundle()), str(desk.place.pdf())
    assert desk.type("verify", pdf, "--bundle", bundle, "--contract", str(desk.place.contract)) == 0
