"""What a verifier finds when an auditor changes a trace and signs again; a run that is killed and resumed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from slaverify.canonical import jsonl, loads_jsonl
from slaverify.cli.demo.agent import Agent
from slaverify.cli.demo.servers import serve
from slaverify.contract.load import parse_contract
from slaverify.errors import SlaverifyError
from slaverify.evidence.read import open_folder
from slaverify.verify.checks import Part
from slaverify.verify.replay import replay_parts
from tests.e2e.agents import make_agent_place, write_agent_contract
from tests.e2e.line import Place, audit_arguments, environment, slaverify, tsa

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return an audit of the honest agent that stopped after its decision."""
    place = make_agent_place(tmp_path_factory.mktemp("scored"))
    with serve(Agent("honest").respond) as vendor, tsa(place.authority) as authority:
        write_agent_contract(place, f"{vendor}/q", authority)
        words = audit_arguments(place)
        words[0] = "run"
        assert slaverify(place, *words).returncode == 0
        for verb in ("score", "decide"):
            assert slaverify(place, verb, str(place.run)).returncode == 0
    return place


def found(run: Path) -> list[str]:
    """Return what the first half of V19 says of a run folder, with its plain annex."""
    plain = run / "private" / "annex"
    annex = {path.relative_to(plain).as_posix(): path.read_bytes() for path in plain.rglob("*.jsonl")}
    contract = parse_contract((run / "contract" / "contract.json").read_bytes(), "contract.json")
    parts: list[Part] = []
    try:
        parts.extend(replay_parts(open_folder(run), contract, annex))
    except (SlaverifyError, ValueError) as error:
        return [str(error)]
    return [f"{part.reason.en} {part.expected} {part.found}" for part in parts if part.result == "failed"]


def spoil(scored: Place, tmp_path: Path, change) -> list[str]:
    run = tmp_path / scored.run.name
    shutil.copytree(scored.run, run)
    path = run / "trajectory" / "traces.jsonl"
    lines = [dict(line) for line in loads_jsonl(path.read_bytes())]
    change(lines)
    path.write_bytes(jsonl(lines))
    return found(run)


def test_untouched_evidence_follows_to_the_byte(scored: Place) -> None:
    assert found(scored.run) == []


def test_a_changed_trace_is_found_with_its_seq(scored: Place, tmp_path: Path) -> None:
    def edit(lines):
        line = next(one for one in lines[1:] if one["entry"]["type"] == "call" and one["entry"]["seq"] == 2)
        line["entry"] = {**line["entry"], "horizon_violation": True}

    assert any("seq 2" in one for one in spoil(scored, tmp_path, edit))


def test_swapped_and_dropped_lines_are_found(scored: Place, tmp_path: Path) -> None:
    def swap(lines):
        lines[2], lines[3] = lines[3], lines[2]

    def drop(lines):
        del lines[next(n for n, one in enumerate(lines[1:], 1) if one["entry"]["type"] == "end")]

    assert any("seq 1" in one for one in spoil(scored, tmp_path / "a", swap))
    assert any("the trace breaks at seq" in one for one in spoil(scored, tmp_path / "b", drop))


def test_another_state_contract_is_found(scored: Place, tmp_path: Path) -> None:
    run = tmp_path / scored.run.name
    shutil.copytree(scored.run, run)
    path = run / "private" / "annex" / "trajectory" / "state_contract.jsonl"
    path.write_bytes(path.read_bytes().replace("solución".encode(), b"respuesta", 1))
    assert found(run) == ["state_contract_digest"]


def test_a_killed_run_goes_on_to_the_same_scores(tmp_path: Path) -> None:
    """Killed in the middle of a question, twice: the loop walks the recorded turns again and goes on."""
    agent, left = Agent("honest"), [31, 29]
    lock, victim = threading.Lock(), []

    def respond(body: bytes) -> tuple[int, str, bytes]:
        with lock:
            if left and victim:
                left[0] -= 1
                if left[0] <= 0:
                    left.pop(0)
                    os.kill(victim[-1].pid, signal.SIGKILL)
        return agent.respond(body)

    place = make_agent_place(tmp_path / "fresh")
    with serve(respond) as vendor, tsa(place.authority) as authority:
        write_agent_contract(place, f"{vendor}/q", authority)
        words = audit_arguments(place)
        words[0] = "run"
        for attempt in range(4):
            more = ["--resume"] if attempt else []
            process = subprocess.Popen([sys.executable, "-m", "slaverify", *words, *more], env=environment(place))
            victim.append(process)
            if process.wait(timeout=240) == 0:
                break
        assert len(victim) == 3
        for verb in ("score", "decide"):
            assert slaverify(place, verb, str(place.run)).returncode == 0
    lines = loads_jsonl((place.run / "trajectory" / "scores.jsonl").read_bytes())
    assert len(lines) == 40 and {line["state"] for line in lines} == {"VALID_STATE"}
    assert found(place.run) == []
