"""How fast a run is against 50 ms of latency: printed; judged at night, and the time only on a quiet machine."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection

import pytest

from slaverify.contract.words import Outcome
from tests.bench import throughput as bench
from tests.engine.answering_server import AnsweringServer, Reply, Seen, answer
from tests.engine.endpoints import endpoint_spec
from tests.run.world import World

ITEMS, WORKERS, LATENCY_S = 640, 64, 0.05
CPU_RATIO = 10
"""Most CPU of a whole run beside that of the bare loop in the same minute; 7.6 to 9.4 were measured
(docs/validation/throughput.md)."""
QUIET_S = {64: 8.5, 256: 4.2}
"""Time of the bare loop over 10,000 items on the quiet machine of that document, by connections."""


def slow(seen: Seen) -> Reply:
    reply = answer("El plazo es de 15 días.")
    reply.delay_s = LATENCY_S
    return reply


def serve(pipe: Connection) -> None:
    with AnsweringServer(slow) as server:
        pipe.send(server.url)
        pipe.recv()


def test_throughput(tmp_path, capsys):
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(there,), daemon=True)
    process.start()
    world = World(tmp_path / "r", endpoint_spec(here.recv(), call={"concurrency": WORKERS}), count=ITEMS)
    began, cpu = time.monotonic(), time.process_time()
    result = world.run()
    wall, cpu = time.monotonic() - began, time.process_time() - cpu
    here.send(None)
    process.join(10)
    ideal = ITEMS / WORKERS * LATENCY_S
    with capsys.disabled():
        print(
            f"\n{ITEMS} exchanges, {WORKERS} workers: {wall / ideal:.2f} x ideal, {1000 * cpu / ITEMS:.2f} ms CPU each"
        )
    assert result.counts[Outcome.ANSWERED] == ITEMS


@pytest.mark.nightly
def test_ten_thousand_items_from_contract_to_scores(capsys):
    with bench.stub() as url:
        for connections, most in ((64, 2.0), (256, 6.0)):
            bare = bench.loop(url, 10_000, connections)
            told = bench.ours(url, 10_000, connections)
            ideal = 10_000 / connections * bench.DELAY_S
            with capsys.disabled():
                print(f"\n{bench.row('bare loop', 10_000, connections, bare)}")
                print(f"{bench.row('whole run', 10_000, connections, told)} (limit {most} x on a quiet machine)")
            assert told["accurate"] == bare["accurate"] == 9_500
            # A busy core takes more CPU time for the same work: the bare loop tells how much, in this minute.
            assert told["cpu_s"] / bare["cpu_s"] <= CPU_RATIO
            assert told["rss_mb"] <= 120
            # Who needs more of a busy core waits more: time is judged beside a loop that waited little.
            if bare["wall_s"] <= 1.2 * QUIET_S[connections]:
                assert 1000 * told["cpu_s"] / 10_000 <= 2.0
                assert told["wall_s"] / bare["wall_s"] <= most * ideal / QUIET_S[connections]


@pytest.mark.nightly
def test_a_journal_of_two_hundred_thousand_goes_on_at_once(capsys):
    with bench.stub() as url:
        told = bench.resumed(url, 200_000)
    with capsys.disabled():
        print(f"\nfirst request after {told['first_request_s']:.2f} s, {told['rss_mb']:.0f} MB")
    assert told["first_request_s"] <= 3.0
    assert told["rss_mb"] <= 120
    small = resumed_small()
    assert told["rss_mb"] - small["rss_mb"] <= 20


def resumed_small() -> bench.Told:
    with bench.stub() as url:
        return bench.resumed(url, 2_000)
