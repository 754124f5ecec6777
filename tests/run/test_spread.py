"""A run that is spread over its window: committed order, moments that nobody chose, and no hurry."""

from __future__ import annotations

import hashlib
import json
import time
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from slaverify.contract.words import Outcome
from slaverify.run import RunRules, Span, moment
from slaverify.run.plan import slot
from tests.engine.answering_server import AnsweringServer, answer
from tests.engine.endpoints import endpoint_spec
from tests.run.world import World, now

DIGESTS = st.binary(min_size=32, max_size=32).map(bytes.hex)


@given(DIGESTS, st.integers(1, 10**6), st.data())
def test_slots_keep_the_order_and_lie_inside(digest, planned, data):
    position = data.draw(st.integers(0, planned - 1))
    here = slot(digest, position, planned)
    assert position / planned <= here < (position + 1) / planned <= 1
    if position + 1 < planned:
        assert here < slot(digest, position + 1, planned)


def test_the_moment_follows_from_the_plan_alone():
    assert slot("ab" * 32, 7, 100) == slot("ab" * 32, 7, 100) != slot("cd" * 32, 7, 100)
    block = hashlib.sha256(b"slaverify/slot/v1\x00" + bytes(32) + bytes(4)).digest()
    assert slot("00" * 32, 0, 1) == int(block[:6].hex(), 16) / 2**48


def test_without_spread_nothing_waits():
    start = now()
    assert RunRules().due(start, 0.5) is None
    assert RunRules(window=Span(start, start + timedelta(hours=1))).due(start, 0.5) is None


def test_the_time_ends_with_the_window_or_the_deadline_whichever_comes_first():
    start = now()
    hours = timedelta(hours=1)
    assert RunRules(spread=True, deadline=40 * hours).due(start, 0.5) == start + 19 * hours
    window = Span(start - hours, start + 20 * hours)
    assert RunRules(window, spread=True, deadline=40 * hours).due(start, 0.5) == start + 9.5 * hours
    assert RunRules(window, spread=True, deadline=10 * hours).due(start, 0.5) == start + 4.75 * hours
    later = Span(start + 2 * hours, start + 12 * hours)
    assert RunRules(later, spread=True, deadline=40 * hours).due(start, 0.0) == start + 2 * hours
    # A window that opens after the deadline leaves no time at all; nothing is then sent before it opens.
    assert RunRules(later, spread=True, deadline=hours).due(start, 0.9) == start + 2 * hours


def test_a_run_without_a_window_is_spread_over_its_deadline(tmp_path):
    with AnsweringServer(lambda seen: answer("Sí.")) as server:
        spec = endpoint_spec(server.url, call={"concurrency": 4})
        rules = RunRules(spread=True, deadline=timedelta(seconds=5))
        began = time.monotonic()
        result = World(tmp_path / "r", spec, count=8, rules=rules).run()
    assert result.counts[Outcome.ANSWERED] == 8
    assert time.monotonic() - began > 2.5


def test_exchanges_are_sent_when_they_are_due(tmp_path):
    times: dict[str, float] = {}

    def behaviour(seen):
        times[seen.body["q"]] = time.time()
        return answer("Sí.")

    with AnsweringServer(behaviour) as server:
        spec = endpoint_spec(server.url, call={"concurrency": 4})
        begins = now() - timedelta(hours=1)
        rules = RunRules(window=Span(begins, now() + timedelta(seconds=6)), spread=True)
        world = World(tmp_path / "r", spec, count=12, rules=rules)
        result = world.run()
    assert result.counts[Outcome.ANSWERED] == 12
    started = moment(world.header.started_at)
    plan = json.loads(world.file("plan.json"))["exchanges"]
    due = [rules.due(started, slot(world.header.plan_sha256, one["position"], len(plan))).timestamp() for one in plan]
    sent = [times[world.texts[one["item_id"]]] for one in plan]
    # Never early, and late by no more than a shared machine makes it.
    assert all(0 <= there - here < 1.5 for here, there in zip(due, sent, strict=True))
    assert sent[-1] - sent[0] > 3.0


def test_a_run_that_is_behind_catches_up(tmp_path):
    with AnsweringServer(lambda seen: answer("Sí.")) as server:
        spec = endpoint_spec(server.url, call={"concurrency": 4})
        rules = RunRules(window=Span(now() - timedelta(hours=1), now() + timedelta(seconds=20)), spread=True)
        world = World(tmp_path / "r", spec, count=12, rules=rules)
        object.__setattr__(world.header, "started_at", (now() - timedelta(minutes=30)).strftime("%Y-%m-%dT%H:%M:%SZ"))
        began = time.monotonic()
        world.run()
    assert time.monotonic() - began < 15
