"""A trace is a chain: what is changed, moved or left out shows at its place, and the calls replay to the same bytes."""

from __future__ import annotations

import copy

import pytest

from slaverify.canonical import jcs, sha256_hex
from slaverify.errors import TrajectoryError
from slaverify.trajectory import (
    Binding,
    PathRules,
    Tools,
    TraceWriter,
    Wire,
    public_view,
    read_state_contract,
    read_trace,
    read_view,
    replay,
    score_path,
)
from slaverify.trajectory.state_files import read_state_files
from tests.trajectory.state import crm, files, of_kind, questions
from tests.trajectory.test_state_contract import artifact
from tests.trajectory.walks import PLENTY, Walker, honest, right

QUESTION = of_kind("linked")
WIRE = Wire(0, "2026-04-01T00:00:00.000Z", "0" * 64, "1" * 64)


def binding(**changes: object) -> Binding:
    given = {
        "run_id": "0123456789ab-0001",
        "item_id": "item-1",
        "repetition": 0,
        "side": "current",
        "public_id": QUESTION.public_id,
        "state_contract_digest": crm().digest,
        "profile": "slaverify-1",
        "engine_digest": "sha256:" + "0" * 64,
        "version": "1",
    }
    return Binding(**{**given, **changes})


def tools_of(question=QUESTION, contract=None) -> Tools:
    corpus = (contract or crm()).corpus
    return Tools(corpus, question.actor, question.role, question.as_of, PLENTY)


def written() -> list[dict]:
    writer, tools = TraceWriter(binding()), tools_of()
    writer.start(WIRE.at, "tool", ())
    writer.call(WIRE, tools.execute("search_artifacts", {"query": "T-2006", "subsystem": "tickets"}))
    for one in QUESTION.required:
        writer.call(WIRE, tools.execute("fetch_artifact", {"artifact_id": one}))
    writer.call(WIRE, tools.execute("fetch_artifact", {"artifact_id": 7}))
    writer.answer(WIRE, {**QUESTION.truth(), "reasoning": ""})
    writer.end(WIRE.at, "answered")
    return [dict(line) for line in writer.lines]


def seq_of(entries: list[dict]) -> str:
    with pytest.raises(TrajectoryError) as caught:
        trace = read_trace(entries, binding().digest())
        replay(trace, tools_of())
    assert caught.value.exit_code == 4
    return caught.value.where


def test_a_trace_replays_to_the_same_scores() -> None:
    trace = read_trace(written(), binding().digest())
    replay(trace, tools_of())
    view = read_view(public_view(QUESTION, crm(), "es-CL"))
    again = score_path(QUESTION, crm().corpus, PLENTY, trace.walk(view), PathRules())
    assert (again.adjusted, again.state, trace.origin) == (1, "VALID_STATE", "auditor")
    assert again.adjusted == honest(QUESTION).score(right(QUESTION)).adjusted


def test_a_changed_byte_is_found_at_its_line() -> None:
    for seq in range(len(written())):
        for key in written()[seq]:
            changed = copy.deepcopy(written())
            value = changed[seq][key]
            changed[seq][key] = (not value) if isinstance(value, bool) else value + 1 if isinstance(value, int) else "x"
            assert seq_of(changed) == f"seq {seq}", key


def test_swapped_dropped_and_added_lines_are_found() -> None:
    lines = written()
    assert seq_of([lines[0], lines[2], lines[1], *lines[3:]]) == "seq 1"
    assert seq_of(lines[:-1]) == f"seq {len(lines) - 2}"
    assert seq_of([*lines[:2], *lines[3:]]) == "seq 2"
    assert seq_of([*lines, lines[-1]]) == f"seq {len(lines) - 1}"
    assert seq_of(lines[:1]) == "seq 0"
    assert seq_of([]) == "seq 0"


def test_a_trace_of_something_else_is_refused() -> None:
    for change in ({"run_id": "other"}, {"repetition": 1}, {"item_id": "item-2"}, {"version": "2"}):
        with pytest.raises(TrajectoryError, match="SLV-T020"):
            read_trace(written(), binding(**change).digest())


def rehashed(entries: list[dict]) -> list[dict]:
    previous = binding().digest()
    for entry in entries:
        entry["prev"] = previous
        entry["hash"] = previous = sha256_hex(jcs({key: value for key, value in entry.items() if key != "hash"}))
    return entries


def test_a_forged_chain_does_not_replay() -> None:
    """Whoever hashes everything again still has to invent what the tools said."""
    changed = copy.deepcopy(written())
    changed[1]["result_ids"] = ["TCK-999"]
    assert seq_of(rehashed(changed)) == "seq 1"
    changed = copy.deepcopy(written())
    changed[2]["status"] = "unavailable"
    assert seq_of(rehashed(changed)) == "seq 2"


def test_another_state_contract_does_not_replay() -> None:
    one = crm().corpus.by_id[QUESTION.required[-1]]
    changed = artifact(f"artifacts/{one.subsystem}/{one.id}.json", body="otra cosa")
    trace = read_trace(written(), binding().digest())
    with pytest.raises(TrajectoryError, match=r"SLV-T021.*seq \d"):
        replay(trace, tools_of(contract=read_state_files(changed)[0]))


def test_results_are_copies_of_an_unchanged_corpus() -> None:
    """A search leaves the documents whole: a fetch after it gives the body."""
    tools = tools_of()
    tools.execute("search_artifacts", {"query": QUESTION.required[0], "subsystem": None})
    done = tools.execute("fetch_artifact", {"artifact_id": QUESTION.required[0]})
    assert done.result["artifact"]["body"]
    assert read_state_contract(crm().content).digest == crm().digest


def test_absent_and_withheld_are_the_same_bytes() -> None:
    question = of_kind("negative_permission")
    tools = tools_of(question)
    withheld = next(one.id for one in crm().corpus.ordered if not tools.in_cone(one))
    blocked, absent = (tools.execute("fetch_artifact", {"artifact_id": one}) for one in (withheld, "TCK-000"))
    assert jcs(blocked.result) == jcs(absent.result) and blocked.call.withheld_ids and not absent.call.withheld_ids


def test_only_the_cone_is_searched() -> None:
    for question in questions():
        walk = Walker(question)
        walk.search("a").search("cuenta").search("R-501", None)
        assert all(walk.tools.in_cone(walk.tools.corpus.by_id[one]) for call in walk.calls for one in call.result_ids)
        assert not any(call.flags for call in walk.calls)


@pytest.mark.parametrize(
    ("tool", "arguments", "status"),
    [
        ("search_artifacts", {"query": "  "}, "refused"),
        ("search_artifacts", {"query": "ab"}, "refused"),
        ("search_artifacts", {"query": "R-501", "limit": 500}, "malformed"),
        ("search_artifacts", {"query": "R-501", "subsystem": "nada"}, "malformed"),
        ("search_artifacts", ["R-501"], "malformed"),
        ("search_artifacts", None, "malformed"),
        ("fetch_artifact", {"artifact_id": "TCK-101", "as_of": "2030-01-01"}, "malformed"),
        ("fetch_artifact", {}, "malformed"),
        ("delete_artifact", {}, "malformed"),
        ("fetch_artifact", {"artifact_id": "../secret"}, "unavailable"),
    ],
)
def test_hostile_calls(tool: str, arguments: object, status: str) -> None:
    done = tools_of().execute(tool, arguments)
    assert done.call.status == status and not done.call.flags and done.result["status"] == status


def test_the_budget_is_the_auditor_s() -> None:
    tools = Tools(crm().corpus, QUESTION.actor, QUESTION.role, QUESTION.as_of, crm().evaluation.budget)
    for number in range(crm().evaluation.budget.max_calls):
        tools.execute("search_artifacts", {"query": f"zzqx{number}"})
    assert tools.execute("fetch_artifact", {"artifact_id": QUESTION.required[0]}).call.status == "over_budget"


@pytest.mark.parametrize(
    ("actor", "role", "as_of"),
    [
        ("nadie", "revision", None),
        ("revisor", "nadie", None),
        ("revisor", "revision", "ayer"),
        ("marta", "revision", None),
    ],
)
def test_what_is_unknown_is_closed(actor: str, role: str, as_of: str | None) -> None:
    tools = Tools(crm().corpus, actor, role, as_of or QUESTION.as_of, PLENTY)
    assert tools.execute("search_artifacts", {"query": "R-501"}).call.status == "empty"
    for one in crm().corpus.ordered:
        assert tools.execute("fetch_artifact", {"artifact_id": one.id}).call.status == "unavailable"


def test_files_are_those_of_the_folder() -> None:
    assert len([name for name in files() if name.startswith("artifacts/")]) == 64
