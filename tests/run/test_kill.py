"""kill -9 at random instants: every exchange one outcome, none answered twice, nothing batched twice."""

from __future__ import annotations

import multiprocessing
import random
from collections import Counter

import pytest

from slaverify.contract.words import Outcome
from slaverify.run import batches_of
from tests.engine.answering_server import AnsweringServer, Reply, Seen, answer
from tests.run import killed

ITEMS, WORKERS = 60, 4


def behaviour(seen: Seen) -> Reply:
    """Deterministic: some questions fail once, some always; each answer follows from the question."""
    number = int("".join(filter(str.isdigit, seen.body["q"])))
    if number % 29 == 5:
        return Reply({"error": "x"}, status=503, delay_s=0.005)
    if number % 17 == 3 and seen.again == 0:
        return Reply({"error": "x"}, status=503, delay_s=0.005)
    reply = answer(f"El plazo es de {number} días.")
    reply.delay_s = 0.02
    return reply


@pytest.fixture(scope="module")
def processes():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.run.killed", "slaverify.run.runner"])
    warm = context.Process(target=print)
    warm.start()
    warm.join()
    return context


def test_kill_nine(tmp_path, processes, request):
    kill_and_check(tmp_path, processes, request.config.getoption("--kills"), seed=20261130)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [1, 2])
def test_kill_nine_a_hundred_times(tmp_path, processes, seed):
    kill_and_check(tmp_path, processes, 100, seed)


def kill_and_check(tmp_path, processes, wanted: int, seed: int) -> None:
    kills, lives, chance = 0, 0, random.Random(seed)
    while kills < wanted:
        lives += 1
        with AnsweringServer(behaviour) as server:
            folder = str(tmp_path / f"life-{lives}")
            arguments = (folder, server.url, ITEMS, WORKERS)
            killed_here = 0
            while True:
                process = processes.Process(target=killed.run_once, args=arguments)
                process.start()
                process.join(chance.uniform(0.05, 0.45) if kills + killed_here < wanted else 60)
                if not process.is_alive():
                    assert process.exitcode == 0
                    break
                process.kill()
                process.join()
                killed_here += 1
            kills += killed_here
            check(killed.world(*arguments), server, killed_here)


def check(world, server: AnsweringServer, kills: int) -> None:
    derived = world.derived()
    assert derived.mismatches == ()
    expected = {Outcome.ANSWERED: ITEMS - 2, Outcome.VENDOR_FAILURE: 2}
    assert {outcome: count for outcome, count in derived.counts.items() if count} == expected
    for one in derived.exchanges:
        if one.answer is not None:
            number = int(one.planned.item_id[-5:])
            assert one.answer.text == f"El plazo es de {number} días."
    batches = tuple(world.ledger.batches())
    assert batches == batches_of(world.plan, world.file("outcomes.jsonl"))
    assert sum(len(batch.items) for batch in batches) == ITEMS
    with world.open() as journal:
        attempts = Counter(
            item
            for (item,) in journal.connection.execute("SELECT item_id FROM attempt JOIN exchange USING (exchange_id)")
        )
        whole = journal.connection.execute(
            "SELECT COUNT(*) FROM attempt WHERE fault IS NULL GROUP BY exchange_id HAVING COUNT(*) > 1"
        ).fetchall()
        interrupted = journal.connection.execute("SELECT COUNT(*) FROM attempt WHERE fault = 'interrupted'").fetchone()[
            0
        ]
        assert journal.summary().in_doubt == 0
    assert whole == []
    assert interrupted <= WORKERS * kills
    seen = Counter(f"i-{int(''.join(filter(str.isdigit, one.body['q']))):05d}" for one in server.seen)
    # The server saw nothing that the journal does not hold; an intent may have died before its bytes left.
    assert all(seen[item] <= attempts[item] for item in seen)
    assert sum(attempts.values()) - sum(seen.values()) <= interrupted
