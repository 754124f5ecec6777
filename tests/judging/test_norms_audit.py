"""`reglab@1` over norms: code says what was cited and whether it exists, the judge whether its text carries it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from slaverify.canonical import JsonValue, digest_of, loads_jsonl
from slaverify.cli.demo.servers import serve
from slaverify.evalset import Item, parse_item
from slaverify.resources import resource
from tests.e2e.line import audit_arguments, make_place, tsa, write_contract
from tests.judging.calibration.test_audit import Desk, until_people
from tests.judging.line import judge_block
from tests.simulator.judges import JudgeServer, official, perfect, sentinel_lines, word

pytestmark = pytest.mark.nightly  # a whole audit; its parts are tried in the ordinary run

CATALOGUE = resource("contratos", "demo-normativa-cl.catalogue.jsonl").read_bytes()
NORM = "Reglamento de Transporte Lacustre"
OPEN, PLAIN = 40, 20
"""Offices whose question expects no citation, so that only a judge can say what it rests on; and those with one."""
OTHER = {7, 17, 27}
"""Offices whose answer cites the article of another office."""
WRONG = {3, 33}
PHANTOM = {11}


def items() -> list[Item]:
    trees: list[dict[str, Any]] = []
    for office in range(OPEN + PLAIN):
        article = office % PLAIN + 1
        tree: dict[str, Any] = {
            "id": f"norma-{office:03d}",
            "query": f"¿Qué papel exige la oficina {office} para navegar?",
            "official_text": official(office),
            "source": {"title": NORM, "locator": f"artículo {article}"},
            "reference": {"kind": "text", "value": f"permiso {word(office)}"},
            "cluster": f"oficina-{office}",
        }
        if office >= OPEN:
            tree["expected_citations"] = [{"id": f"cl:reglamento-lacustre:1:art:{article}"}]
        trees.append(tree)
    return [
        parse_item({"schema": "item/1", "locale": "es-CL", "stratum": "direct", **tree}, where=tree["id"])
        for tree in trees
    ]


def vendor(body: bytes) -> tuple[int, str, bytes]:
    found = re.search(r"oficina (\d+)", str(json.loads(body)["query"]))
    office = int(found[1]) if found is not None else 0
    named = word(office + 500) if office in WRONG else word(office)
    article = 93 if office in PHANTOM else (office + (office in OTHER)) % PLAIN + 1
    tree = {
        "answer": f"Para salir al lago hay que llevar siempre el permiso {named}.",
        "citations": [{"norm": NORM, "article": str(article), "verified": True}],
        "engine": {"version": "4.2.1"},
    }
    return 200, "application/json", json.dumps(tree).encode()


class Reader(JudgeServer):
    """Grounded if the text of a cited article is about the office of the question; texts are of the last 20 offices."""

    def _fields(self, data: Mapping[str, Any]) -> dict[str, Any]:
        said: dict[str, Any] = {"correctness": perfect(data)}
        office = int(re.search(r"oficina (\d+)", data["question"])[1])  # type: ignore[index]
        due = f"oficina {OPEN + office % PLAIN} "
        if self.asks_grounding(office):
            said["grounding"] = "grounded" if any(due in text for text in data["cited_texts"]) else "misgrounded"
        return said

    @staticmethod
    def asks_grounding(office: int) -> bool:
        return office < OPEN


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    place = make_place(tmp_path_factory.mktemp("norms"), items())
    reader = Reader(perfect)
    with (
        pytest.MonkeyPatch.context() as patch,
        serve(vendor) as engine,
        serve(reader.respond) as panel,
        tsa(place.authority) as authority,
    ):
        changes: dict[str, JsonValue] = {
            "endpoint.auth": None,
            "endpoint.control_urls": [],
            "engine.family": "familia-v",
            "engine.base_families": [],
            "evaluation_set.sample.reserve": 0,
            "judge": judge_block(f"{panel}/v1/chat/completions", sentinel_lines(), on_uncalibrated="not_measured"),
            "method.judge_stage": {"strata": ["direct"], "ask": ["correctness", "grounding"]},
            "metrics": [
                {
                    "id": "accuracy",
                    "library": "accuracy@1",
                    "name": {"es": "Exactitud", "en": "Accuracy"},
                    "among": {"stratum": ["direct"]},
                    "threshold": "0.60",
                    "decision": {"rule": "guarded", "alpha_pass": "0.025", "alpha_breach": "0.05"},
                }
            ],
            "remedies.credits": [{"metric": "accuracy", "below": "0.60", "share": "0.05"}],
            "parties.auditor.legal_id": "76.000.102-3",
            "parties.custodian.legal_id": "76.000.102-3",
            "parties.custodian.keys": [],
            "repetitions.dispersion_sample": None,
            "scope.catalogue": {"digest": digest_of(CATALOGUE), "as_of": "2026-11-30"},
            "verdict.inconclusive": "no_consequence",
        }
        write_contract(place, f"{engine}/v1", authority, changes, "asistente-normativo-cl.yaml")
        (place.folder / "prueba-lineal.sentinels.jsonl").write_bytes(sentinel_lines())
        place.contract.with_name("prueba-lineal.catalogue.jsonl").write_bytes(CATALOGUE)
        yield until_people(place, patch)


def test_each_half_is_said_by_whom_it_belongs_to(desk: Desk) -> None:
    found = desk.by_office()
    assert {office: found[office]["verdict"] for office in (0, 7, 3, 11, 45)} == {
        0: "accurate",
        7: "misgrounded",  # right, and it rests on the article of another office
        3: "incorrect",
        11: "phantom_citation",  # code alone: no judge is asked
        45: "accurate",
    }
    assert (found[45]["grounding"], found[11]["decided_by"]) == ("grounded", "rule")
    votes = [dict(line) for line in loads_jsonl((desk.place.run / "judging/judgements.jsonl").read_bytes())]
    asked = {vote["subject"]: tuple(vote["asked"]) for vote in votes if vote["purpose"] == "item"}
    assert asked[found[0]["item_id"]] == ("correctness", "grounding")
    assert asked[found[45]["item_id"]] == ("correctness",), "the expected article was cited: code's half"
    assert found[11]["item_id"] not in asked


def person(row: dict[str, str]) -> dict[str, str]:
    """Reads both halves; which article was cited people look up in the norm, here by the office."""
    office = int(re.search(r"oficina (\d+)", row["question"])[1])  # type: ignore[index]
    right = word(office) in row["answer"]
    return {
        "class": "answer",
        "correctness": "correct" if right else "incorrect",
        "grounding": "misgrounded" if office in OTHER else "grounded",
    }


def test_the_audit_is_calibrated_decided_and_verified(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("ana", "berta"):
        sheet = desk.sheet(name, person)
        assert desk.type("label", "import", desk.run, str(sheet), "--annotator", name) == 0
    capsys.readouterr()
    code = desk.type("calibrate", desk.run)
    assert code == 0, capsys.readouterr().out
    (subject,) = desk.read("judging/calibration.json")["subjects"]
    assert subject["matrix"]["counts"] == {
        "positive_positive": OPEN + PLAIN - len(OTHER | WRONG | PHANTOM),
        "positive_negative": 0,
        "negative_positive": 0,
        "negative_negative": len(OTHER | WRONG),
    }
    assert desk.type(*audit_arguments(desk.place, "--resume")) == 0
    bundle, pdf = str(desk.place.bundle()), str(desk.place.pdf())
    words = ["verify", pdf, "--bundle", bundle, "--contract", str(desk.place.contract)]
    assert desk.type(*words, "--identity", str(desk.place.keys / "arbitro.age")) == 0
