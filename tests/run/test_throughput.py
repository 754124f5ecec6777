"""How fast a run is against 50 ms of latency: printed, not judged (the machine is shared)."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection

from slaverify.contract.words import Outcome
from tests.engine.answering_server import AnsweringServer, Reply, Seen, answer
from tests.engine.endpoints import endpoint_spec
from tests.run.world import World

ITEMS, WORKERS, LATENCY_S = 640, 64, 0.05


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
