"""A second stage stands in the plan from the start, and is no part of the run until something of it is sent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slaverify.errors import EndpointError
from slaverify.run import build_plan, in_stages, plan_bytes, plan_sha256, read_plan, recorded_run
from slaverify.run.journal import Journal
from slaverify.run.runner import RunState
from tests.engine.answering_server import AnsweringServer, answer
from tests.engine.endpoints import endpoint_spec
from tests.run.world import RUN_ID, SEED, World

FIRST, SECOND = [f"i-{n:05d}" for n in range(6)], [f"i-{n:05d}" for n in range(6, 10)]


def world_of(folder: Path, url: str) -> World:
    """Return a run of ten items, of which the last four are a second stage."""
    world = World(folder, endpoint_spec(url), count=10)
    plans = [build_plan(RUN_ID, {"direct": ids}, 1, SEED) for ids in (FIRST, SECOND)]
    world.plan = in_stages(*plans)
    world.header = replace(world.header, plan_sha256=plan_sha256(world.plan))
    return world


def test_a_plan_in_stages_keeps_the_order_of_each(tmp_path: Path) -> None:
    first, second = (build_plan(RUN_ID, {"direct": ids}, 2, SEED) for ids in (FIRST, SECOND))
    plan = in_stages(first, second)
    assert [one.position for one in plan.exchanges] == list(range(20))
    assert [one.stage for one in plan.exchanges] == [1] * 12 + [2] * 8
    assert [one.item_id for one in plan.exchanges] == [one.item_id for one in (*first.exchanges, *second.exchanges)]
    assert read_plan(plan_bytes(plan)) == plan


def test_nothing_of_a_second_stage_is_sent_until_it_is_opened(tmp_path: Path) -> None:
    asked: list[str] = []

    def behaviour(seen: object) -> object:
        asked.append(str(seen.body["q"]))
        return answer("x")

    with AnsweringServer(behaviour) as server:
        world = world_of(tmp_path / "r", server.url)
        result = world.run()
        assert (result.state, result.reason, sum(result.counts.values())) == (RunState.COMPLETE, "done", 6)
        assert len(asked) == 6
        derived = world.derived()
        assert {one.planned.item_id for one in derived.exchanges} == set(FIRST)
        assert recorded_run(world.plan, world.file("outcomes.jsonl")).counts == derived.counts
        # A resume is no opening.
        world.run()
        assert len(asked) == 6
        with world.open() as journal:
            assert journal.open_stage(world.plan, 2)
            assert not journal.open_stage(world.plan, 2)
        result = world.run()
        assert (result.state, sum(result.counts.values())) == (RunState.COMPLETE, 10)
        assert len(asked) == 10
    assert [one.planned.item_id for one in world.derived().exchanges] == [one.item_id for one in world.plan.exchanges]
    roots = [batch.items for batch in world.ledger.batches]
    assert sorted(item for items in roots for item in items) == sorted(FIRST + SECOND)


def test_a_stage_of_another_plan_is_refused(tmp_path: Path) -> None:
    world = world_of(tmp_path / "r", "http://127.0.0.1:9")
    other = in_stages(*(build_plan(RUN_ID, {"direct": ids}, 1, bytes(32)) for ids in (FIRST, SECOND)))
    with world.open() as journal, pytest.raises(EndpointError) as caught:
        journal.open_stage(other, 2)
    assert caught.value.code == "SLV-N030"
    with Journal.open(world.path, expected=world.header) as journal:
        assert journal.summary().planned == 6
