"""Signals of a run, from the vendor to the report and its verification: whole audits over real HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue, loads_jsonl, loads_object
from tests.e2e.conftest import ENGINE
from tests.e2e.line import Place, audit_arguments, environment, make_place, slaverify, tsa, write_contract
from tests.engine.answering_server import AnsweringServer, Reply, Seen
from tests.simulator.arithmetic import VERSION, Calculator, items

OTHER = "aritmetica-1.0.1"
CUT = b'HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"answer":"La suma es'
TERMS: dict[str, JsonValue] = {
    **ENGINE,
    "engine.accepted_echoes": [VERSION, OTHER],
    "endpoint.call.concurrency": 1,
    "report.languages": ["es"],
}


def sly(seen: Seen, calculator: Calculator) -> Reply:
    """Right in everything; once a cut body, and from the fortieth question on another accepted version."""
    question = str(seen.body["query"])
    if " 107 y 4" in question and seen.again == 0:
        return Reply(raw=CUT)
    calculator.version = OTHER if sum(calculator.asked.values()) >= 40 else VERSION
    return Reply(json.loads(calculator.respond(json.dumps(seen.body).encode())[2]))


def audited(
    place: Place, behaviour: Callable[[Seen, Calculator], Reply], changes: dict[str, JsonValue], start: list[str]
) -> tuple[int, str]:
    calculator = Calculator()
    with AnsweringServer(lambda seen: behaviour(seen, calculator)) as vendor, tsa(place.authority) as authority:
        write_contract(place, vendor.url, authority, {**TERMS, **changes})
        words = [sys.executable, *start, *audit_arguments(place, "--json")]
        done = subprocess.run(words, env=environment(place), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def signals(place: Place) -> dict[str, dict]:
    return {one["code"]: one for one in loads_object((place.run / "run" / "signals.json").read_bytes())["signals"]}


def verified(place: Place, edition: str, *more: str) -> tuple[int, str]:
    words = ["verify", str(place.bundle(edition)), "--contract", str(place.contract), *more]
    done = slaverify(place, *words)
    return done.returncode, done.stdout + done.stderr


def report(place: Place, language: str) -> str:
    (found,) = (place.run / "report").glob(f"*.{language}.json")
    return found.read_text("utf-8")


@pytest.mark.nightly
def test_a_pattern_that_the_contract_binds_takes_pass_away(tmp_path: Path) -> None:
    place = make_place(tmp_path, items(60, 20))
    bound: dict[str, JsonValue] = {"verdict.integrity.binding_patterns": ["partial_body", "latency_ceiling"]}
    code, told = audited(place, sly, {**bound, "verdict.integrity.latency_ceiling_s": "50"}, ["-m", "slaverify"])
    assert code == 3, told
    metrics = {one["id"]: one for one in json.loads((place.run / "decision" / "decision.json").read_bytes())["metrics"]}
    assert [one["reason"] for one in metrics.values()] == ["binding_pattern", "binding_pattern"]
    found = signals(place)
    assert set(found) == {"partial_body", "drift_echo", "constant_output", "identical_answers"}
    assert found["partial_body"]["items"] == 1
    places = found["drift_echo"]["positions"]
    assert 30 < places[0] <= 40 and places == list(range(places[0], 80)), "public probes are asked too"
    # Twenty questions outside the corpus get one sentence: said, and no event of an answer that asserts nothing.
    assert found["constant_output"]["items"] == 20
    events = [event for line in loads_jsonl((place.run / "scoring" / "scores.jsonl").read_bytes())
              for event in line["events"]]  # fmt: skip
    assert events == [{"code": "partial_body", "level": "pattern", "confirmed": True}]
    page = report(place, "es")
    assert all(f"signal.word.{word}" in page for word in found) and "signal.binds" in page
    inside = ("--identity", str(place.keys / "arbitro.age"))
    for edition, more in (("parties", inside), ("parties", ()), ("public", ())):
        code, said = verified(place, edition, *more)
        assert code == 0, said


def test_an_honest_audit_says_what_its_answers_have_in_common(finished: Place) -> None:
    """Twenty questions outside the corpus have one sentence: a signal, and no event of an answer."""
    found = signals(finished)
    assert set(found) == {"constant_output", "identical_answers"}
    assert {one["items"] for one in found.values()} == {20}
    scores = loads_jsonl((finished.run / "scoring" / "scores.jsonl").read_bytes())
    assert not any(line["events"] for line in scores)
    for language in ("es", "en"):
        page = report(finished, language)
        assert "signal.word.constant_output" in page and "signal.told" in page and "event.none" in page


BLIND = """
import sys
import slaverify.run.export as export
from slaverify.cli import main
export.signals_of = lambda *_: ()
sys.argv = ["slaverify", *sys.argv[1:]]
sys.exit(main())
"""


@pytest.mark.nightly
def test_an_auditor_who_leaves_signals_out_gets_no_report(tmp_path: Path) -> None:
    """The report is verified before it is written; tests/verify shows it for bundles that were signed all the same."""
    place = make_place(tmp_path, items(60, 20))
    bound: dict[str, JsonValue] = {"verdict.integrity.binding_patterns": ["partial_body"]}
    code, told = audited(place, sly, bound, ["-c", BLIND])
    assert code == 4 and "run/signals.json" in told
    assert not list((place.run / "report").glob("*.pdf"))


@pytest.mark.nightly
def test_the_same_vendor_passes_where_nothing_binds(tmp_path: Path) -> None:
    place = make_place(tmp_path, items(60, 20))
    code, told = audited(place, sly, {}, ["-m", "slaverify"])
    assert code == 0, told
    assert "signal.told" in report(place, "es") and "signal.binds" not in report(place, "es")


@pytest.mark.nightly
def test_answers_above_the_ceiling_of_latency_take_pass_away(tmp_path: Path) -> None:
    def slow(seen: Seen, calculator: Calculator) -> Reply:
        reply = Reply(json.loads(calculator.respond(json.dumps(seen.body).encode())[2]))
        reply.delay_s = 0.8 if " 107 y 4" in str(seen.body["query"]) else 0.0
        return reply

    place = make_place(tmp_path, items(60, 20))
    bound: dict[str, JsonValue] = {
        "verdict.integrity.binding_patterns": ["latency_ceiling"],
        "verdict.integrity.latency_ceiling_s": "0.7",
    }
    code, told = audited(place, slow, bound, ["-m", "slaverify"])
    assert code == 3, told
    assert signals(place)["latency_ceiling"]["items"] >= 1
    assert verified(place, "public")[0] == 0
