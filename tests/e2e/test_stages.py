"""Two stages in one run: the second is sent where the first leaves the doubt, and nowhere else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue, loads_canonical
from slaverify.cli.demo.servers import serve
from slaverify.custody import read_ledger
from tests.e2e.conftest import ENGINE
from tests.e2e.line import Place, audit_arguments, environment, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items

STAGED: dict[str, JsonValue] = {
    **ENGINE,
    "report.languages": ["es"],
    "evaluation_set.sample.method": "seeded",
    "evaluation_set.sample.per_stratum": {"direct": 60, "out_of_corpus": 30},
    "evaluation_set.sample.reserve": 2,
    "evaluation_set.sample.release": "at_start",
    "verdict.inconclusive": {"extend": {"per_stratum": {"direct": 60}, "spending": ["0.005", "0.0225"]}},
    "metrics.0.threshold": "0.80",
}
"""Frozen: 4 failures of 60 pass the first stage, 15 of 120 both."""


def first(count: int) -> Callable[[int, int], bool]:
    """Return what errs in the first `count` sums that it is asked."""
    seen: list[int] = []

    def errs(left: int, right: int) -> bool:
        if len(seen) < count:
            seen.append(left)
            return True
        return False

    return errs


DISHONEST = """
import sys
import slaverify.audit.scoring as scoring
from slaverify.cli import main
scoring.leaves_doubt = lambda *_: {due}
sys.argv = ["slaverify", *sys.argv[1:]]
sys.exit(main())
"""


def carry_out(place: Place, vendor: Calculator, start: list[str]) -> tuple[int, str]:
    with serve(vendor.respond) as url, tsa(place.authority) as authority:
        write_contract(place, f"{url}/q", authority, STAGED)
        words = [sys.executable, *start, *audit_arguments(place)]
        done = subprocess.run(words, env=environment(place), capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def audited(folder: Path, errs: int) -> tuple[Place, Calculator, dict]:
    place, vendor = make_place(folder, items(125, 32)), Calculator(first(errs))
    code, told = carry_out(place, vendor, ["-m", "slaverify"])
    assert code == 0, told
    return place, vendor, json.loads((place.run / "decision" / "decision.json").read_text("utf-8"))


def questions(vendor: Calculator) -> int:
    """Return how many of the bank's questions were asked (the public probes are others)."""
    known = {str(item.query) for item in items(125, 32)}
    return sum(question in known for question in vendor.asked)


def verified(place: Place) -> tuple[int, str]:
    words = ["verify", str(place.pdf()), "--bundle", str(place.bundle()), "--contract", str(place.contract)]
    told = slaverify(place, *words, "--identity", str(place.keys / "arbitro.age"), "--rerender")
    return told.returncode, told.stdout + told.stderr


def resumptions(place: Place) -> list[str]:
    view = read_ledger((place.bank / "ledger.jsonl").read_bytes())
    return [str(entry.data["reason"]) for entry in view if entry.type == "run_resumed"]


def settled(place: Place, vendor: Calculator) -> None:
    """Check a run whose first stage has 6 failures: too many to pass, too few for a breach."""
    decision = json.loads((place.run / "decision" / "decision.json").read_text("utf-8"))
    accuracy = decision["metrics"][0]
    assert (decision["state"], accuracy["n"], accuracy["failures"]) == ("PASS", 120, 6)
    assert accuracy["pass_max_failures"] == 15
    assert questions(vendor) == 150
    assert resumptions(place) == ["second_stage"]
    drawn = json.loads((place.run / "custody" / "draw.json").read_text("utf-8"))
    assert {name: len(ids) for name, ids in drawn["extension"].items()} == {"direct": 60}
    assert not set(drawn["extension"]["direct"]) & {*drawn["sample"]["direct"], *drawn["reserve"]["direct"]}


def test_a_doubt_is_settled_by_the_second_stage(tmp_path: Path) -> None:
    place, vendor = make_place(tmp_path, items(125, 32)), Calculator(first(6))
    with serve(vendor.respond) as url, tsa(place.authority) as authority:
        write_contract(place, f"{url}/q", authority, STAGED)
        assert slaverify(place, "run", *audit_arguments(place)[1:]).returncode == 0
        assert slaverify(place, "decide", str(place.run)).returncode == 0
    settled(place, vendor)


@pytest.mark.nightly
def test_both_stages_are_verified_again(tmp_path: Path) -> None:
    place, vendor, _ = audited(tmp_path, 6)
    settled(place, vendor)
    assert verified(place)[0] == 0, verified(place)[1]


@pytest.mark.nightly
def test_no_second_stage_where_the_first_decides(tmp_path: Path) -> None:
    place, vendor, decision = audited(tmp_path, 0)
    assert (decision["state"], decision["metrics"][0]["n"]) == ("PASS", 60)
    assert questions(vendor) == 90
    assert resumptions(place) == []
    assert verified(place)[0] == 0, verified(place)[1]
    # What was planned and not sent is neither scored nor used up.
    scores = [loads_canonical(line) for line in (place.run / "scoring" / "scores.jsonl").read_bytes().splitlines()]
    assert len(scores) == 90
    exposure = json.loads((place.run / "custody" / "exposure.json").read_text("utf-8"))
    assert exposure["states"]["sent"] == 90


@pytest.mark.nightly
@pytest.mark.parametrize(("errs", "due"), [(0, True), (6, False)])
def test_an_auditor_cannot_choose_the_stage(tmp_path: Path, errs: int, due: bool) -> None:
    """A second stage sent where the first decided, or left out where it was due, is refused by any verification."""
    place = make_place(tmp_path, items(125, 32))
    code, told = carry_out(place, Calculator(first(errs)), ["-c", DISHONEST.format(due=due)])
    assert code == 4, told
    assert "second stage" in told


KILLED = """
import os, sys
import slaverify.audit.exchanging as exchanging
from slaverify.cli import main
real, calls = exchanging._send, []
def send(*given):
    calls.append(given)
    if len(calls) == 2:
        os._exit(9)
    return real(*given)
exchanging._send = send
sys.argv = ["slaverify", *sys.argv[1:]]
sys.exit(main())
"""


@pytest.mark.nightly
def test_a_kill_between_the_stages_repeats_neither(tmp_path: Path) -> None:
    place, vendor = make_place(tmp_path, items(125, 32)), Calculator(first(6))
    with serve(vendor.respond) as url, tsa(place.authority) as authority:
        write_contract(place, f"{url}/q", authority, STAGED)
        words = [sys.executable, "-c", KILLED, *audit_arguments(place)]
        assert subprocess.run(words, env=environment(place), capture_output=True, check=False).returncode == 9
        assert (questions(vendor), resumptions(place)) == (90, ["second_stage"])
        assert slaverify(place, *audit_arguments(place, "--resume")).returncode == 0
    assert questions(vendor) == 150
    assert all(vendor.asked[str(item.query)] <= 1 for item in items(125, 32))
    assert resumptions(place) == ["second_stage"]
    assert verified(place)[0] == 0, verified(place)[1]
