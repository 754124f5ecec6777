"""A run carried out in parts by several processes: journals merge by key into what one process would have written."""

from __future__ import annotations

import multiprocessing
import shutil
from collections import Counter

import pytest

from slaverify.contract.words import Outcome
from slaverify.errors import EndpointError
from slaverify.run import batches_of
from slaverify.run.journal import Journal
from slaverify.run.runner import Part, RunState, carry_out_run, copy_journal, export_run, merge_journals
from tests.engine.answering_server import AnsweringServer, Reply, Seen, answer
from tests.run import killed

ITEMS, WORKERS = 60, 4


def behaviour(seen: Seen) -> Reply:
    """One question in 17 fails at first; each answer follows from the question."""
    number = int("".join(filter(str.isdigit, seen.body["q"])))
    if number % 17 == 3 and seen.again == 0:
        return Reply({"error": "x"}, status=503)
    reply = answer(f"El plazo es de {number} días.")
    reply.delay_s = 0.02
    return reply


def carry_out_part(folder: str, url: str, path: str, index: int, count: int) -> None:
    world = killed.world(folder, url, ITEMS, WORKERS)
    with Journal.open(world.path.parent / path, expected=None) as journal:
        result = carry_out_run(journal, world.inputs(part=Part(index, count)))
    assert (result.state, result.reason) == (RunState.STOPPED, "part")


@pytest.fixture
def split(tmp_path):
    """A world whose journal was copied into two parts before anything was sent."""
    with AnsweringServer(behaviour) as server:
        world = killed.world(str(tmp_path / "r"), server.url, ITEMS, WORKERS)
        with world.open() as journal:
            parts = [world.folder / f"part-{index}.journal" for index in range(2)]
            for part in parts:
                copy_journal(journal, part)
        yield world, parts, server


def test_two_processes_do_half_each(split):
    world, parts, server = split
    context = multiprocessing.get_context("spawn")
    arguments = (str(world.folder), server.url)
    jobs = [
        context.Process(target=carry_out_part, args=(*arguments, part.name, index, 2))
        for index, part in enumerate(parts)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(60)
        assert job.exitcode == 0
    # Every question reached the vendor once, those that failed twice: the parts did not overlap.
    asked = Counter(seen.body["q"] for seen in server.seen)
    assert len(asked) == ITEMS and sorted(asked.values())[-5:] == [1, 2, 2, 2, 2]
    sent = len(server.seen)
    with world.open() as journal:
        assert journal.summary().done == 0
        assert merge_journals(journal, parts) == ITEMS
        # Again: nothing changes.
        assert merge_journals(journal, parts) == ITEMS
        assert len(journal.events("start")) == 2
        result = carry_out_run(journal, world.inputs())
        export_run(journal, world.spec, world.rules, world.plan, world.folder)
    assert (result.state, len(server.seen)) == (RunState.COMPLETE, sent)
    derived = world.derived()
    assert derived.mismatches == ()
    assert derived.counts[Outcome.ANSWERED] == ITEMS
    assert all(one.answer.text == f"El plazo es de {int(one.planned.item_id[-5:])} días." for one in derived.exchanges)
    assert tuple(world.ledger.batches()) == batches_of(world.plan, world.file("outcomes.jsonl"))


def test_what_two_parts_asked_is_refused(split):
    world, parts, server = split
    for part in parts:
        carry_out_part(str(world.folder), server.url, part.name, 0, 2)
    with world.open() as journal:
        with pytest.raises(EndpointError, match="SLV-N030") as refused:
            merge_journals(journal, parts)
        assert refused.value.exit_code == 5
        # The first part was taken whole, the second not at all.
        assert journal.summary().done == ITEMS // 2


def test_a_journal_of_another_run_is_refused(split, tmp_path):
    world, parts, server = split
    other = killed.world(str(tmp_path / "other"), server.url, ITEMS, WORKERS)
    other.open().close()
    shutil.copy(other.path, parts[0])
    with world.open() as journal, pytest.raises(EndpointError, match="SLV-N030"):
        merge_journals(journal, parts)


def test_a_journal_that_sent_something_is_not_copied(split):
    world, parts, server = split
    carry_out_part(str(world.folder), server.url, parts[0].name, 0, 2)
    with Journal.open(parts[0]) as journal, pytest.raises(EndpointError, match="SLV-N030"):
        copy_journal(journal, world.folder / "again.journal")
    with Journal.open(parts[1]) as journal, pytest.raises(EndpointError, match="SLV-N030"):
        copy_journal(journal, parts[0])


def test_a_part_goes_on_after_a_stop(split):
    world, parts, _ = split
    with Journal.open(parts[0]) as journal:
        first = carry_out_run(journal, world.inputs(part=Part(0, 4)))
        second = carry_out_run(journal, world.inputs(part=Part(0, 2)))
        assert journal.batches() == []
    assert first.started_exchanges == ITEMS // 4
    assert second.started_exchanges == ITEMS // 4
