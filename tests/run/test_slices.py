"""Work over a journal by several processes: the same results in the same order, whatever happens to a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from slaverify.contract.words import Outcome
from slaverify.run import export, slices
from slaverify.run.runner import close_run, journal_run
from tests.engine.answering_server import AnsweringServer, Reply, answer
from tests.engine.endpoints import endpoint_spec
from tests.run.world import World

ROOT = Path(__file__).resolve().parents[2]


def numbered(index: int) -> tuple[bytes, bytes]:
    return str(index).encode(), b"x" * (index * 20_000)


def children() -> set[str]:
    """The processes that this one began and that still are, ended or not; other tests may have left some."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split())


def test_the_results_come_in_order_and_no_process_is_left():
    before = children()
    for processes in (1, 2, 3, 7):
        assert [tuple(one) for one in slices.carried_out(numbered, 9, processes)] == [numbered(n) for n in range(9)]
    assert list(slices.carried_out(numbered, 0)) == []
    assert children() == before


def test_all_but_the_first_slice_is_done_by_others_who_have_what_it_loaded():
    here = str(os.getpid()).encode()
    loaded: list[int] = []

    def work(index: int) -> tuple[bytes, ...]:
        known = bytes(loaded)
        loaded.append(index)
        return (str(os.getpid()).encode(), known[:1])

    first, *others = slices.carried_out(work, 9, 2)
    assert tuple(first) == (here, b"")
    assert len({one[0] for one in others} - {here}) == len({one[0] for one in others}) == 2
    assert {one[1] for one in others} == {b"\0"}


def test_a_process_that_is_killed_changes_nothing():
    here = os.getpid()

    def work(index: int) -> tuple[bytes, ...]:
        if index in (3, 4) and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return numbered(index)

    assert [tuple(one) for one in slices.carried_out(work, 9, 2)] == [numbered(n) for n in range(9)]


def test_an_error_is_raised_here_as_if_one_process_did_it_all():
    before = children()

    def work(index: int) -> tuple[bytes, ...]:
        if index == 5:
            raise ValueError("slice 5")
        return numbered(index)

    with pytest.raises(ValueError, match="slice 5"):
        list(slices.carried_out(work, 9, 2))
    given_up = slices.carried_out(numbered, 9, 2)
    assert [tuple(next(given_up)) for _ in range(2)] == [numbered(0), numbered(1)]
    given_up.close()
    assert children() == before


def test_a_parent_that_is_killed_leaves_no_process(tmp_path):
    code = """
        import os, sys, time
        from pathlib import Path
        from slaverify.run.slices import carried_out
        def work(index):
            if index == 0:
                return ()
            Path(sys.argv[1], str(os.getpid())).touch()
            time.sleep(600)
        list(carried_out(work, 9, 2))
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], cwd=ROOT)
    until = time.monotonic() + 30
    while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    children = [int(path.name) for path in tmp_path.iterdir()]
    assert len(children) == 2
    parent.kill()
    parent.wait()
    while any(lives(pid) for pid in children) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(lives(pid) for pid in children)


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_files_are_the_same_whoever_writes_them(tmp_path, monkeypatch):
    """Slices of one item, two processes, retried attempts and a journal whose last rows are in its log only."""

    def behaviour(seen):
        return answer("x") if seen.body["q"][-2:] != "7?" else answer("")

    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=11, repetitions=2)
        world.run()
    alone = {name: world.file(name) for name in ("outcomes.jsonl", "exchanges.jsonl", "plan.json")}
    monkeypatch.setattr(export, "SIZE", 3)
    with world.open() as journal:
        assert len(journal.slices(3)) >= slices.FEWEST
        export.export_run(journal, world.spec, world.rules, world.plan, world.folder)
        found = [one.planned.item_id for one in export.stream_run(journal, world.spec, world.rules, journal.mac_key)]
        by_slice = [
            one.planned.item_id
            for part in journal.slices(3)
            for one in export.stream_run(journal, world.spec, world.rules, journal.mac_key, part)
        ]
    assert {name: world.file(name) for name in alone} == alone
    assert by_slice == found == [item for item in sorted(world.items) for _ in range(2)]


def test_slices_of_a_journal_are_read_by_several_processes(tmp_path, monkeypatch):
    """A slice that a fork could not read would be done here without a word, and take twice the time."""
    with AnsweringServer(lambda seen: answer("x")) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=24)
        world.run()
    monkeypatch.setattr(export, "SIZE", 3)
    monkeypatch.setattr(export, "FIRST", 1)
    monkeypatch.setattr(slices, "_cores", lambda: 2)
    with world.open() as journal:

        def work(rows, part):
            return (str(os.getpid()).encode(), str(sum(1 for _ in rows.records_of(part))).encode())

        (here, first), *others = export.over_slices(journal, work)
    assert (here, first) == (str(os.getpid()).encode(), b"1")
    assert here not in {pid for pid, _ in others}
    assert [count for _, count in others] == [b"2"] + 7 * [b"3"]


def test_slices_derive_what_the_whole_run_does(tmp_path):
    """A vendor that turns the run away: what was never sent is the vendor's in every slice."""

    def behaviour(seen):
        return answer("x") if int(seen.body["q"].rstrip("?").split()[-1]) % 3 else Reply(status=401, body={})

    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=30, repetitions=2)
        world.run()
    with world.open() as journal:
        close_run(journal, world.spec, world.rules)
        whole = journal_run(journal, world.spec, world.rules, world.plan)
        run = export.PlannedRun.of(journal, world.spec, world.rules, world.plan)
        found = [one for part in journal.slices(7) for one in run.of_slice(journal, part)]
    assert any(one.outcome is Outcome.NOT_SENT and "vendor_stop" in one.flags for one in found)
    key = lambda one: (one.planned.item_id, one.planned.repetition, one.planned.side)  # noqa: E731
    assert found == sorted(whole.exchanges, key=key)
