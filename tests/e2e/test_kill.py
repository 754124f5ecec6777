"""Kills: at random moments and after each durable act. Nothing is lost, asked twice, or opened a second time."""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slaverify.canonical import loads_canonical, loads_jsonl
from slaverify.cli.demo.servers import serve
from slaverify.custody import read_ledger
from tests.e2e.conftest import ENGINE
from tests.e2e.line import Place, audit_arguments, environment, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items

SMALL = {**ENGINE, "report.languages": ["es"], "endpoint.call.concurrency": 4}
KILLER = """
import os, signal, sys
import slaverify.audit.session as session
import slaverify.custody.files as files
import slaverify.custody.ledger_file as ledger
acts = [int(sys.argv[1])]
def counted(function):
    def wrapper(*arguments, **options):
        result = function(*arguments, **options)
        acts[0] -= 1
        if acts[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return wrapper
os.replace = counted(os.replace)
os.fsync = counted(os.fsync)
from slaverify.cli import run
sys.exit(run(sys.argv[2:]))
"""


def errs(left: int, right: int) -> bool:
    return left % 11 == 0


def state_of(place: Place) -> tuple[str, list[tuple[str, object]]]:
    decision = loads_canonical((place.run / "decision/decision.json").read_bytes())
    metrics = [(metric["id"], metric["failures"]) for metric in decision["metrics"]]
    return decision["state"], metrics


def check_whole(place: Place, kills: int, workers: int = 4) -> None:
    """Every item one outcome, none answered twice, ledger intact, one run."""
    plan = loads_canonical((place.run / "run/plan.json").read_bytes())
    lines = loads_jsonl((place.run / "run/outcomes.jsonl").read_bytes())
    ended = [line["item_id"] for line in lines if line["outcome"] is not None]
    assert sorted(ended) == sorted(entry["item_id"] for entry in plan["exchanges"])
    interrupted = [line for line in lines if line["fault"] == "interrupted"]
    assert len(interrupted) <= workers * kills
    answered = [line["item_id"] for line in lines if line["fault"] is None]
    assert len(answered) == len(set(answered))
    view = read_ledger((place.bank / "ledger.jsonl").read_bytes())
    assert [entry.type for entry in view].count("run_opened") == 1
    assert [entry.type for entry in view].count("run_started") == 1
    assert [entry.type for entry in view].count("run_ended") == 1
    assert [entry.type for entry in view].count("scored") == 1


def run_is_open(place: Place) -> bool:
    """Say whether the ledger has a run to go on with; before that the same line again opens it."""
    return any(entry.type == "run_opened" for entry in read_ledger(whole_lines(place.bank / "ledger.jsonl")))


def undisturbed(folder: Path, calculator: Calculator) -> tuple[str, list[tuple[str, object]]]:
    place = make_place(folder, items(60))
    with serve(calculator.respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, SMALL)
        assert slaverify(place, *audit_arguments(place)).returncode in (0, 1, 3)
    return state_of(place)


def test_killed_at_random_moments_the_audit_ends_as_an_undisturbed_one(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    wanted = request.config.getoption("--kills")
    expected = undisturbed(tmp_path / "calm", Calculator(errs))
    dice = random.Random(20261130)
    kills = round_number = 0
    while kills < wanted:
        round_number += 1
        place = make_place(tmp_path / f"round-{round_number}", items(60))
        here = 0
        with serve(Calculator(errs, delay_s=0.08).respond) as vendor, tsa(place.authority) as authority:
            write_contract(place, f"{vendor}/q", authority, SMALL)
            while True:
                resume = ["--resume"] if run_is_open(place) else []
                process = subprocess.Popen(
                    [sys.executable, "-m", "slaverify", *audit_arguments(place, *resume)],
                    env=environment(place),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                )
                try:
                    # After five kills of one audit the last start is left alone.
                    process.wait(dice.uniform(0.3, 6.0) if here < 5 and kills < wanted else 240)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    kills += 1
                    here += 1
                    continue
                assert process.returncode in (0, 1, 3), process.stderr.read().decode()
                break
        assert state_of(place) == expected
        check_whole(place, here)


def killed_after(place: Place, act: int) -> bool:
    """Run the audit and kill it after its `act`-th durable act; say whether it lived that long."""
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(act), *audit_arguments(place)],
        env=environment(place),
        capture_output=True,
        check=False,
    )
    return done.returncode == -signal.SIGKILL


def line_to_type(stderr: str) -> list[str]:
    match = re.search(r"slaverify audit .*--resume", stderr)
    assert match, stderr
    return shlex.split(match.group())[1:]


@pytest.mark.parametrize("act", [*range(3, 60, 12), pytest.param(0, marks=pytest.mark.nightly)])
def test_a_kill_between_two_steps_opens_no_second_run(tmp_path: Path, act: int) -> None:
    acts = [act] if act else list(range(1, 120))
    for number in acts:
        place = make_place(tmp_path / f"act-{number}", items(40))
        with serve(Calculator(errs).respond) as vendor, tsa(place.authority) as authority:
            write_contract(place, f"{vendor}/q", authority, SMALL)
            if not killed_after(place, number):
                assert not act or act > 30, "the audit ended before the kill"
                return
            ledger = read_ledger(whole_lines(place.bank / "ledger.jsonl"))
            opened = any(entry.type == "run_opened" for entry in ledger)
            reported = any(entry.type == "report_issued" for entry in ledger)
            again = slaverify(place, *audit_arguments(place))
            if opened and not reported:
                assert again.returncode == 2, again.stderr
                assert "SLV-A020" in again.stderr
                again = slaverify(place, *line_to_type(again.stderr))
            elif opened:
                # The run is reported: a second one would need a budget that the contract does not have.
                assert again.returncode == 5
                assert "SLV-K041" in again.stderr
                again = slaverify(place, *audit_arguments(place, "--resume"))
            assert again.returncode in (0, 1, 3), again.stderr
            check_whole(place, 1)
            files = [str(place.pdf()), str(place.bundle())]
            verified = slaverify(place, "verify", *files, "--contract", str(place.contract))
            assert verified.returncode == 0, verified.stdout


def whole_lines(path: Path) -> bytes:
    data = path.read_bytes()
    return data[: data.rfind(b"\n") + 1]


def test_an_interrupt_says_how_to_go_on_and_loses_nothing(tmp_path: Path) -> None:
    place = make_place(tmp_path, items(60))
    with serve(Calculator(delay_s=0.2).respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, SMALL)
        process = subprocess.Popen(
            [sys.executable, "-m", "slaverify", *audit_arguments(place)],
            env=environment(place),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not list(place.out.glob("*/*.journal-wal")):
            time.sleep(0.1)
        time.sleep(1.0)
        os.kill(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == 130, stderr
        resumed = slaverify(place, *line_to_type(stderr))
        assert resumed.returncode == 0, resumed.stderr
    check_whole(place, 1)
