"""Traces that a vendor hands in are read, replayed and shown as declared; they support neither PASS nor BREACH."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slaverify.canonical import jcs, jsonl, sha256_hex
from slaverify.cli import run as command
from slaverify.cli.demo.agent import Agent
from slaverify.contract import edited
from slaverify.contract.load import dump_yaml, load_contract
from slaverify.evalset import write_bank
from slaverify.resources import resource
from tests.trajectory.state import crm, questions
from tests.trajectory.talks import item_of, talk


def vendor_traces() -> list[list[dict]]:
    """Return perfect traces, hashed from the vendor's own first line on."""
    found = []
    for question in questions():
        previous, lines = "0" * 64, []
        for entry in talk(Agent("honest").respond, question).trace:
            entry = {**entry, "prev": previous}
            if entry["type"] == "start":
                entry["origin"] = "vendor"
            entry["hash"] = previous = sha256_hex(jcs({key: value for key, value in entry.items() if key != "hash"}))
            lines.append(entry)
        found.append(lines)
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    items = sorted((item_of(one) for one in questions()), key=lambda item: item.id)
    (tmp_path / "items.jsonl").write_bytes(write_bank(items))
    (tmp_path / "state_contract.json").write_bytes(crm().content)
    draft = load_contract(resource("contratos", "demo-agente-crm.yaml"))
    tree = edited(draft.tree, {"method.trajectory.state_contract_digest": crm().digest})
    (tmp_path / "contract.yaml").write_text(dump_yaml(tree), "utf-8")
    return tmp_path


def said(place: Path, capsys: pytest.CaptureFixture[str], traces: list[list[dict]]) -> dict:
    (place / "traces.jsonl").write_bytes(jsonl(line for lines in traces for line in lines))
    words = ["import-traces", str(place / "traces.jsonl"), "--contract", str(place / "contract.yaml"), "--json"]
    words += ["--set", str(place / "items.jsonl"), "--state", str(place / "state_contract.json")]
    assert command(words) == 3
    return json.loads(capsys.readouterr().out)


def test_perfect_declared_traces_decide_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(place, capsys, vendor_traces())
    assert found["provenance"] == "declared" and found["decision"]["state"] == "NOT_MEASURED"
    assert {one["state"] for one in found["decision"]["metrics"]} == {"NOT_MEASURED"}
    assert found["summary"]["table"]["correct_valid"] == 40 and not found["insufficient"]


def test_a_trace_that_breaks_is_insufficient(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = vendor_traces()
    index = next(number for number, lines in enumerate(traces) if lines[1]["type"] == "call")
    traces[index][1]["status"] = "empty" if traces[index][1]["status"] != "empty" else "delivered"
    found = said(place, capsys, traces[:-1] if index != len(traces) - 1 else traces[1:])
    public_id = traces[index][1]["public_id"]
    assert found["insufficient"] == {public_id: "SLV-T020 seq 1"}
    assert len(found["missing"]) == 1 and found["summary"]["void"] == 2


def test_an_invented_result_does_not_replay(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hashed again after the fact, a trace still has to be what the agreed records give."""
    traces = vendor_traces()
    index = next(number for number, lines in enumerate(traces) if lines[1]["type"] == "call")
    lines, previous = traces[index], traces[index][0]["hash"]
    lines[1]["result_ids"] = ["TCK-999"]
    for number, entry in enumerate(lines[1:], 1):
        entry = {**entry, "prev": previous}
        entry["hash"] = previous = sha256_hex(jcs({key: value for key, value in entry.items() if key != "hash"}))
        lines[number] = entry
    assert list(said(place, capsys, traces)["insufficient"].values()) == ["SLV-T021 seq 1"]


def test_ours_are_not_mistaken_for_theirs() -> None:
    """The loop says who it is: an auditor's trace carries the origin in its first, bound line."""
    trace = talk(Agent("honest").respond, questions()[0]).trace
    assert trace[0]["origin"] == "auditor"
