"""A disk that fills up and a journal that another program holds: the run stops, nothing is lost, it goes on."""

from __future__ import annotations

import multiprocessing
import resource
import sqlite3
import threading
from collections import Counter

import pytest

from slaverify.contract.words import Outcome
from slaverify.errors import EndpointError
from slaverify.run.runner import RunState, carry_out_run, export_run
from tests.engine.answering_server import AnsweringServer, Reply, Seen, answer
from tests.run import killed

ITEMS, WORKERS = 120, 4
NO_ROOM, EXIT = 6, 200


def behaviour(seen: Seen) -> Reply:
    """Answers of 4 kB, so that a small disk is soon full."""
    number = int("".join(filter(str.isdigit, seen.body["q"])))
    reply = answer(f"El plazo es de {number} días." + " Así lo dice la norma." * 180)
    reply.delay_s = 0.01
    return reply


def run_with_little_room(folder: str, url: str, room: int) -> None:
    """The limit of the size of a file stands for the end of the disk: a write beyond it fails in the same way."""
    made = killed.world(folder, url, ITEMS, WORKERS)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    try:
        made.run()
    except EndpointError as error:
        raise SystemExit(EXIT + error.exit_code if error.code == "SLV-N032" else 1) from error


def finish(world: killed.World, server: AnsweringServer) -> Counter[str]:
    """Go on with room enough; check the whole, and return how often each question was asked."""
    with world.open() as journal:
        before = journal.summary()
        durable = {
            row[0] for row in journal.connection.execute("SELECT item_id FROM exchange WHERE state = 'done'").fetchall()
        }
        already = Counter(seen.body["q"] for seen in server.seen)
        result = carry_out_run(journal, world.inputs())
        export_run(journal, world.spec, world.rules, world.plan, world.folder)
        interrupted = journal.connection.execute("SELECT COUNT(*) FROM attempt WHERE fault = 'interrupted'").fetchone()
    assert before.done == len(durable) < ITEMS
    assert result.state is RunState.COMPLETE
    derived = world.derived()
    assert derived.mismatches == ()
    assert derived.counts[Outcome.ANSWERED] == ITEMS
    asked = Counter(seen.body["q"] for seen in server.seen)
    # What was durable was not asked again; what was not is recorded as interrupted.
    assert all(asked[world.texts[item]] == already[world.texts[item]] == 1 for item in durable)
    assert sum(asked.values()) - ITEMS <= interrupted[0] <= WORKERS
    return asked


@pytest.mark.parametrize("room", [200_000, 330_000])
def test_a_full_disk_stops_the_run_and_loses_nothing(tmp_path, room):
    context = multiprocessing.get_context("spawn")
    with AnsweringServer(behaviour) as server:
        folder = str(tmp_path / "r")
        world = killed.world(folder, server.url, ITEMS, WORKERS)
        process = context.Process(target=run_with_little_room, args=(folder, server.url, room))
        process.start()
        process.join(60)
        assert process.exitcode == EXIT + NO_ROOM
        finish(world, server)


def test_a_locked_journal_stops_the_run_and_loses_nothing(tmp_path):
    with AnsweringServer(behaviour) as server:
        world = killed.world(str(tmp_path / "r"), server.url, ITEMS, WORKERS)
        with world.open() as journal:
            journal.connection.execute("PRAGMA busy_timeout = 200")
            intruder = sqlite3.connect(world.path, isolation_level=None, check_same_thread=False)
            later = threading.Timer(0.3, intruder.execute, ("BEGIN IMMEDIATE",))
            later.start()
            with pytest.raises(EndpointError) as stopped:
                carry_out_run(journal, world.inputs())
            later.join()
            intruder.rollback()
            intruder.close()
        assert (stopped.value.code, stopped.value.exit_code) == ("SLV-N037", 6)
        finish(world, server)


def test_a_journal_that_is_locked_for_a_moment_is_waited_for(tmp_path):
    with AnsweringServer(behaviour) as server:
        world = killed.world(str(tmp_path / "r"), server.url, ITEMS, WORKERS)
        world.open().close()
        intruder = sqlite3.connect(world.path, isolation_level=None, check_same_thread=False)
        begins = threading.Timer(0.2, intruder.execute, ("BEGIN IMMEDIATE",))
        ends = threading.Timer(0.9, intruder.rollback)
        begins.start()
        ends.start()
        result = world.run()
        ends.join()
        intruder.close()
        assert result.state is RunState.COMPLETE
        assert len(server.seen) == ITEMS
