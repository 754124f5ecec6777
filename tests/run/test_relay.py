"""The wire in a process of its own: what the run does meanwhile costs the vendor nothing, nothing is lost with it."""

from __future__ import annotations

import asyncio
import json
import marshal
import os
import signal
import ssl
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.contract.words import Outcome
from slaverify.engine import Fault, WireRequest
from slaverify.engine.wire import HttpWire, Secrets
from slaverify.errors import EndpointError
from slaverify.run import export, runner
from slaverify.run.relay import Relay, _Frames
from slaverify.run.runner import RunState, carry_out_run
from tests.engine.answering_server import AnsweringServer, Reply, Seen, answer
from tests.engine.endpoints import endpoint_spec
from tests.run.world import World


def children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()}


def relay_to(url: str, **call: object) -> Relay:
    spec = endpoint_spec(url, call={"concurrency": 8, **call})

    @asynccontextmanager
    async def made():
        async with HttpWire(spec, Secrets({})) as wire:
            yield wire

    return Relay(made)


def slow(seconds: float):
    def behaviour(seen: Seen) -> Reply:
        reply = answer("15 días")
        reply.delay_s = seconds
        return reply

    return behaviour


def body(text: str) -> bytes:
    return json.dumps({"q": text}).encode()


def test_what_the_run_does_meanwhile_is_no_latency_of_the_vendor():
    async def work(relay):
        async with relay as wire:
            tasks = [asyncio.create_task(wire.send(WireRequest(body(f"¿{n}?")))) for n in range(8)]
            await asyncio.sleep(0.05)
            time.sleep(1.0)  # the run is busy and looks at nothing
            return await asyncio.gather(*tasks)

    with AnsweringServer(slow(0.1)) as server, relay_to(server.url) as relay:
        results = asyncio.run(work(relay))
    assert all(result.status == 200 and json.loads(result.body)["answer"] == "15 días" for result in results)
    assert all(100 <= result.latency_ms < 600 for result in results)


def test_a_result_is_the_one_that_the_wire_gives_here():
    """Also a fault, a body of the largest size, and headers that no text of ASCII holds."""

    def behaviour(seen: Seen) -> Reply:
        kind = seen.body["q"]
        if kind == "large":
            return answer("x" * 4_000_000)
        return Reply({"a": 1}, headers=(("X-Odd", "\u00f1"),)) if kind == "odd" else Reply(drop=True)

    async def by(wire, kinds):
        async with wire as opened:
            return [await opened.send(WireRequest(body(kind), (("X-Key", "k"),))) for kind in kinds]

    def lasting(result):
        names = (
            "status",
            "headers",
            "body",
            "wire_bytes",
            "framing",
            "fault",
            "detail",
            "spki",
            "tls_version",
            "marks",
        )
        return {name: getattr(result, name) for name in names}

    kinds = ("large", "odd", "dropped")
    with AnsweringServer(behaviour) as server:
        call = {"max_response_bytes": 4_194_304}
        with relay_to(server.url, **call) as relay:
            there = asyncio.run(by(relay, kinds))
        here = asyncio.run(by(HttpWire(endpoint_spec(server.url, call=call), Secrets({})), kinds))
    assert [lasting(one) for one in there] == [lasting(one) for one in here]
    assert there[2].fault is Fault.RESET
    assert len(there[0].body) > 4_000_000


def test_a_request_that_nobody_waits_for_any_more_is_withdrawn():
    async def work(relay):
        async with relay as wire:
            task = asyncio.create_task(wire.send(WireRequest(body("¿?"))))
            await asyncio.sleep(0.3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # The pool has one connection: the next one gets it at once, not when the first would have ended.
            return await wire.send(WireRequest(body("now")))

    def behaviour(seen: Seen) -> Reply:
        return answer("x") if seen.body["q"] == "now" else slow(30.0)(seen)

    with AnsweringServer(behaviour) as server, relay_to(server.url, concurrency=1) as relay:
        began = time.monotonic()
        assert asyncio.run(work(relay)).status == 200
    assert time.monotonic() - began < 10


def test_a_process_that_ends_loses_nothing_and_costs_the_vendor_nothing(tmp_path):
    """Killed in the middle: the run stops with a reason, goes on, and what was under way is the auditor's."""

    def behaviour(seen: Seen) -> Reply:
        if len(server.seen) == 20:
            for pid in children() - before:
                os.kill(pid, signal.SIGKILL)
        return slow(0.02)(seen)

    before = children()
    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url, call={"concurrency": 4}), count=60)
        with world.open() as journal, pytest.raises(EndpointError) as caught:
            carry_out_run(journal, world.inputs())
        with world.open() as journal:
            left = journal.summary()
        again = world.run()
    assert (caught.value.code, caught.value.exit_code) == ("SLV-N038", 6)
    assert left.outcomes == {Outcome.ANSWERED: left.done}
    assert 1 <= left.in_doubt <= 4
    assert again.state is RunState.COMPLETE
    assert again.counts[Outcome.ANSWERED] == 60
    broken = [json.loads(line) for line in world.file("outcomes.jsonl").splitlines()]
    broken = [line for line in broken if line["fault"] is not None]
    assert {line["fault"] for line in broken} == {"interrupted"}
    assert {one.attempts for one in world.derived().exchanges} == {1}
    assert len(broken) == left.in_doubt
    assert children() == before


def test_a_wire_that_raises_ends_the_process_and_not_the_wait():
    class Broken:
        async def send(self, request):
            raise ValueError("no wire does that")

    @asynccontextmanager
    async def made():
        yield Broken()

    async def work(relay):
        async with relay as wire:
            with pytest.raises(EndpointError) as first:
                await wire.send(WireRequest(b"{}"))
            with pytest.raises(EndpointError) as second:
                await wire.send(WireRequest(b"{}"))
        return first.value.code, second.value.code

    with Relay(made) as relay:
        assert asyncio.run(work(relay)) == ("SLV-N038", "SLV-N038")


def test_a_signal_to_all_processes_lets_what_is_under_way_finish(tmp_path):
    """The keyboard interrupts the whole group: the answers that were asked for are still taken in."""

    def behaviour(seen: Seen) -> Reply:
        if len(server.seen) == 10:
            for pid in (*(children() - before), os.getpid()):
                os.kill(pid, signal.SIGINT)
        return slow(0.3)(seen)

    before = children()
    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url, call={"concurrency": 4}), count=40)
        result = world.run(signals=True)
    assert (result.state, result.reason) == (RunState.INTERRUPTED, "signal")
    assert result.counts[Outcome.ANSWERED] == len(server.seen)
    assert children() == before


def test_the_process_holds_no_file_of_the_run(tmp_path):
    """Its open files are the standard ones, the pair of sockets, and what it opened itself: no journal, no lock."""
    held: list[str] = []

    def behaviour(seen: Seen) -> Reply:
        for pid in children() - before:
            held.extend(os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if int(link.name) > 2)
        return slow(0.05)(seen)

    before = children()
    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=2)
        world.run()
    assert held
    assert not [name for name in held if name.startswith("/")]


def test_what_is_wrong_with_a_wire_is_told_before_there_is_a_process(tmp_path):
    before = children()
    world = World(tmp_path / "r", endpoint_spec("https://example.org/v1"), roots="no certificate")
    with world.open() as journal, pytest.raises(ssl.SSLError):
        carry_out_run(journal, world.inputs())
    assert children() == before


def test_where_the_system_clears_ended_processes_away_the_run_ends_all_the_same(tmp_path, monkeypatch):
    """Whoever began the run may have it ignore its children: it cannot wait for them then."""
    monkeypatch.setattr(export, "SIZE", 3)
    before, usual = children(), signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with AnsweringServer(slow(0.0)) as server:
            world = World(tmp_path / "r", endpoint_spec(server.url), count=20)
            result = world.run()
    finally:
        signal.signal(signal.SIGCHLD, usual)
    assert (result.state, result.counts[Outcome.ANSWERED]) == (RunState.COMPLETE, 20)
    assert children() == before


def test_where_a_system_has_no_such_process_the_run_is_the_same(tmp_path, monkeypatch):
    outcomes = []
    for name, can in (("with", True), ("without", False)):
        begun: set[int] = set()
        before = children()

        def behaviour(seen: Seen, begun: set[int] = begun, before: set[int] = before) -> Reply:
            begun.update(children() - before)
            return answer("20 días") if "3" in seen.body["q"] else Reply({"error": "x"}, status=503)

        monkeypatch.setattr(runner, "can_fork", lambda can=can: can)
        with AnsweringServer(behaviour) as server:
            world = World(tmp_path / name, endpoint_spec(server.url, call={"concurrency": 3}), count=20)
            world.run()
        assert bool(begun) is can
        outcomes.append([(one.planned.item_id, one.outcome, one.attempts) for one in world.derived().exchanges])
    assert outcomes[0] == outcomes[1]


FRAME = st.lists(
    st.one_of(
        st.none(), st.integers(0, 2**63), st.binary(max_size=40), st.text(st.characters(exclude_categories=["Cs"]))
    ),
    max_size=5,
).map(tuple)


@given(st.lists(FRAME, max_size=8), st.lists(st.integers(1, 30), min_size=1, max_size=12))
def test_frames_come_whole_however_their_bytes_are_cut(frames, cuts):
    data = b"".join(len(one).to_bytes(4, "big") + one for one in map(marshal.dumps, frames))
    found: list[tuple[object, ...]] = []
    reader = _Frames(found.append, lambda: None)
    place = 0
    while place < len(data):
        for size in cuts:
            reader.data_received(data[place : place + size])
            place += size
    assert found == frames
