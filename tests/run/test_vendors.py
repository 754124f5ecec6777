"""Vendors that play against the run: never PASS, and the report says what happened. Whole audits over real HTTP."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue, loads_jsonl
from slaverify.cli.demo.servers import serve
from slaverify.cli.wiring import now
from slaverify.run.rules import moment, stamp
from tests.e2e.line import Place, audit_arguments, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import VERSION, Calculator, items

Reply = tuple[int, str, bytes]
ENGINE: dict[str, JsonValue] = {"engine.version": VERSION, "engine.accepted_echoes": [VERSION]}
DEADLINE_S = 0.5


def number_of(body: bytes) -> int | None:
    """Which sum is asked (from 0); None for the public probe."""
    found = re.search(r"suman? (\d+) (?:y|más) (\d+)", str(json.loads(body)["query"]))
    number = None if found is None else int(found[2]) - 3
    return number if found is not None and number is not None and int(found[1]) == 100 + 7 * number else None


@contextmanager
def vendor(behaviour: Callable[[int | None, bytes], Reply]) -> Iterator[str]:
    """Serve a behaviour: from the number of the sum and the body to the reply."""
    with serve(lambda body: behaviour(number_of(body), body)) as url:
        yield f"{url}/q"


@contextmanager
def controls() -> Iterator[list[JsonValue]]:
    """Two control addresses that answer: our own network works."""
    with serve(lambda body: (200, "text/plain", b"ok")) as one, serve(lambda body: (200, "text/plain", b"ok")) as two:
        yield [f"{one}/", f"{two}/"]


def audited(folder: Path, count: int, url: str, more: dict[str, JsonValue]) -> tuple[Place, int, dict[str, JsonValue]]:
    """Audit a vendor on `count` sums; the place, the exit code, the document of the verdict."""
    place = make_place(folder, items(count))
    with tsa(place.authority) as authority:
        write_contract(place, url, authority, {**ENGINE, **more})
        done = slaverify(place, *audit_arguments(place, "--json"))
        assert done.returncode in (1, 3), done.stderr
    told = json.loads(done.stdout)
    assert told["state"] != "PASS"
    return place, done.returncode, told


def outcomes(place: Place) -> dict[str, int]:
    """Count how the exchanges of the run ended; what has no line was not sent."""
    found: dict[str, int] = {}
    for line in loads_jsonl((place.run / "run" / "outcomes.jsonl").read_bytes()):
        if line["outcome"] is not None:
            found[str(line["outcome"])] = found.get(str(line["outcome"]), 0) + 1
    return found


def report(place: Place) -> str:
    """Return the report as a program reads it."""
    (found,) = (place.run / "report").glob("*.es.json")
    return found.read_text("utf-8")


def test_a_vendor_that_times_out_where_it_would_be_wrong(tmp_path):
    calculator = Calculator()

    def behaviour(number: int | None, body: bytes) -> Reply:
        if number is not None and number % 3 == 0:
            time.sleep(DEADLINE_S + 0.3)
        return calculator.respond(body)

    with vendor(behaviour) as url, controls() as urls:
        call: dict[str, JsonValue] = {
            "endpoint.call.total_timeout_s": str(DEADLINE_S),
            "endpoint.control_urls": urls,
            "endpoint.call.attempts": 1,
        }
        place, code, told = audited(tmp_path, 40, url, call)
    counted = outcomes(place)
    assert counted["vendor_failure"] >= 14 and sum(counted.values()) == 40
    assert (code, told["state"]) == (1, "BREACH")
    assert "vendor_failure" in report(place)


def test_a_vendor_that_switches_its_model_on_the_way(tmp_path):
    calculator = Calculator()

    def behaviour(number: int | None, body: bytes) -> Reply:
        if sum(calculator.asked.values()) >= 200:
            calculator.version = "aritmetica-0.9.0"
        return calculator.respond(body)

    with vendor(behaviour) as url:
        place, code, told = audited(tmp_path, 210, url, {})
    assert (code, told["state"]) == (3, "INVALID_RUN")
    counted = outcomes(place)
    assert counted["engine_mismatch"] >= 1
    assert counted["answered"] < 200
    assert "engine_mismatch" in report(place)


def test_a_vendor_that_answers_only_every_other_item(tmp_path):
    calculator = Calculator()

    def behaviour(number: int | None, body: bytes) -> Reply:
        if number is not None and number % 2:
            return 500, "application/json", b'{"error":"internal"}'
        return calculator.respond(body)

    with vendor(behaviour) as url:
        place, code, told = audited(tmp_path, 40, url, {})
    assert (code, told["state"]) == (1, "BREACH")
    assert outcomes(place) == {"answered": 20, "vendor_failure": 20}
    assert "vendor_failure" in report(place)


def test_a_vendor_that_answers_no_more_after_fifty_requests(tmp_path):
    calculator = Calculator()

    def behaviour(number: int | None, body: bytes) -> Reply:
        if sum(calculator.asked.values()) >= 50:
            return 500, "application/json", b'{"error":"blocked"}'
        return calculator.respond(body)

    with vendor(behaviour) as url:
        place, code, told = audited(tmp_path, 80, url, {})
    assert (code, told["state"]) == (1, "BREACH")
    counted = outcomes(place)
    assert counted["answered"] < 50
    assert counted["answered"] + counted["vendor_failure"] == 80
    assert "vendor_failure" in report(place)


@pytest.mark.nightly
def test_a_vendor_that_answers_at_the_second_attempt_only_breaks_its_promise_of_the_first(tmp_path):
    """Every exchange ends answered and right; the metric over first attempts says what the retries hid."""
    calculator, seen = Calculator(), set[int]()

    def behaviour(number: int | None, body: bytes) -> Reply:
        if number is not None and number % 2 and number not in seen:
            seen.add(number)
            return 503, "application/json", b'{"error":"overloaded"}'
        return calculator.respond(body)

    first: dict[str, JsonValue] = {
        "id": "hallucination",
        "name": {"es": "Disponibilidad al primer intento", "en": "Availability at the first attempt"},
        "library": "attempt_availability@1",
        "threshold": "0.90",
        "estimand": "population",
        "decision": {"rule": "guarded", "alpha_pass": "0.025", "alpha_breach": "0.025"},
        "severity": "binding",
    }
    with vendor(behaviour) as url:
        place, code, told = audited(
            tmp_path,
            40,
            url,
            {"metrics.1": first, "remedies.credits.2": {"metric": "hallucination", "below": "0.90", "share": "0.05"}},
        )
    measured = json.loads((place.run / "statistics" / "results.json").read_bytes())["metrics"]
    accuracy, metric = (one["x"] for one in measured)
    assert (code, told["state"], accuracy, metric) == (1, "BREACH", 40, 20)
    assert outcomes(place) == {"answered": 40}
    assert "Disponibilidad al primer intento" in report(place)
    checked = slaverify(place, "verify", str(place.bundle()), "--contract", str(place.contract))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    explained = slaverify(place, "contract", "explain", str(place.contract), check=True)
    assert "first attempt" in explained.stdout


def test_a_run_that_the_vendor_blocks_is_closed_and_charged_to_it(tmp_path):
    calculator = Calculator()

    def behaviour(number: int | None, body: bytes) -> Reply:
        if sum(calculator.asked.values()) >= 20:
            return 403, "application/json", b'{"error":"forbidden"}'
        return calculator.respond(body)

    place = make_place(tmp_path, items(40))
    with vendor(behaviour) as url, tsa(place.authority) as authority:
        write_contract(place, url, authority, ENGINE)
        assert slaverify(place, *audit_arguments(place)).returncode == 6
        exported = slaverify(place, "run", str(place.run), "--export", "--json", check=True)
        check_export(place, json.loads(exported.stdout))
        once = slaverify(place, "run", str(place.run), "--close")
        assert once.returncode == 2 and "SLV-N052" in once.stderr
        for _ in range(2):
            assert slaverify(place, *audit_arguments(place, "--resume")).returncode == 6
        # Three times in a row, but within a minute: the door may open yet.
        soon = slaverify(place, "run", str(place.run), "--close")
        assert soon.returncode == 2 and "3 times in a row in 0 minutes" in soon.stderr
        age_first_stop(place, hours=1)
        closed = slaverify(place, "run", str(place.run), "--close")
        assert closed.returncode == 0, closed.stderr
        done = slaverify(place, *audit_arguments(place, "--resume", "--json"))
    told = json.loads(done.stdout)
    assert (done.returncode, told["state"]) == (1, "BREACH"), done.stderr
    assert outcomes(place)["answered"] < 20
    records = loads_jsonl((place.run / "scoring" / "scores.jsonl").read_bytes())
    unsent = [record for record in records if record["run_outcome"] == "not_sent"]
    assert len(unsent) + sum(outcomes(place).values()) == 40
    assert all("vendor_stop" in record["flags"] for record in unsent)
    metric = told["decision"]["metrics"][0]
    assert metric["unresolved"] == 0 and metric["failures_vendor"] >= len(unsent)
    assert '"item.vendor_stop"' in report(place)
    checked = slaverify(place, "verify", str(place.bundle()), "--contract", str(place.contract))
    assert checked.returncode == 0, checked.stdout + checked.stderr


def check_export(place: Place, told: dict[str, JsonValue]) -> None:
    """The rows of a journal as it stands: a run under way, every attempt a line, nothing taken from the journal."""
    assert told["state"] == "stopped"
    folder = Path(str(told["folder"]))
    assert folder == place.run / "private" / "export"
    lines = loads_jsonl((folder / "run" / "outcomes.jsonl").read_bytes())
    answered = [line for line in lines if line["outcome"] == "answered"]
    assert told["outcomes"] == {"answered": len(answered)}
    assert [line for line in lines if line["fault"] == "unauthorised"], "what is not done stands there too"
    (journal,) = place.run.glob("*.journal")
    with closing(sqlite3.connect(journal)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM attempt").fetchone() == (len(lines),)
    assert (folder / "run" / "plan.json").read_bytes() == (place.run / "run" / "plan.json").read_bytes()
    assert not (place.run / "run" / "outcomes.jsonl").exists(), "the evidence itself is written when the run ends"


def age_first_stop(place: Place, hours: int) -> None:
    """Date the first stop of the run's journal back: nobody waits an hour for a test."""
    (journal,) = place.run.glob("*.journal")
    with closing(sqlite3.connect(journal)) as connection, connection:
        seq, at = connection.execute("SELECT seq, at FROM event WHERE kind = 'stop' ORDER BY seq").fetchone()
        before = stamp(moment(at) - timedelta(hours=hours))
        connection.execute("UPDATE event SET at = ? WHERE seq = ?", (before, seq))


@pytest.mark.nightly
def test_a_vendor_that_locks_the_auditor_out_after_fifty_requests(tmp_path):
    calculator = Calculator()

    def behaviour(number: int | None, body: bytes) -> Reply:
        if sum(calculator.asked.values()) >= 50:
            return 403, "application/json", b'{"error":"forbidden"}'
        return calculator.respond(body)

    place = make_place(tmp_path, items(80))
    ends = now() + timedelta(seconds=15)
    window: JsonValue = {
        "from": (ends - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "to": ends.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    with vendor(behaviour) as url, tsa(place.authority) as authority:
        write_contract(place, url, authority, {**ENGINE, "schedule.window": window})
        stopped = slaverify(place, *audit_arguments(place))
        # Resumable: the vendor may open again. Nothing was decided, and nothing is lost.
        assert stopped.returncode == 6, stopped.stderr
        assert "unauthorised" in stopped.stderr and "--resume" in stopped.stderr
        assert not list((place.run / "decision").glob("*.json"))
        time.sleep(max(0.0, (ends - now()).total_seconds()) + 0.1)
        done = slaverify(place, *audit_arguments(place, "--resume", "--json"))
    assert done.returncode in (1, 3), done.stderr
    assert json.loads(done.stdout)["state"] != "PASS"
    counted = outcomes(place)
    assert counted["answered"] < 50
    assert "not_sent" in report(place)
