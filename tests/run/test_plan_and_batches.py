"""The order that nobody chose, and the digests that anybody can recompute."""

from __future__ import annotations

import hashlib
import hmac
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.canonical import jcs
from slaverify.contract.model.bank import DispersionSample
from slaverify.custody import inclusion_proof, leaf_hash, verify_inclusion
from slaverify.errors import EvidenceError
from slaverify.run import again_of, batch_root, batches_of, build_plan, plan_bytes, plan_sha256, read_plan
from tests.engine.answering_server import AnsweringServer, answer
from tests.engine.endpoints import endpoint_spec
from tests.run.world import RUN_ID, SEED, World

SAMPLE = {"direct": [f"d-{n}" for n in range(40)], "trap": [f"t-{n}" for n in range(20)]}


def test_the_order_is_pinned():
    # Whoever has seed, run id and sample gets this order: here with the standard library alone.
    key = hashlib.sha256(b"slaverify/plan/v1\0" + RUN_ID.encode() + b"\0" + SEED).digest()

    def ticket(item: str, repetition: int) -> bytes:
        return hmac.new(key, item.encode() + b"\0" + struct.pack(">I", repetition), "sha256").digest()

    expected = [(item, rep) for rep in (0, 1) for item in sorted("xyz", key=lambda item: ticket(item, rep))]
    plan = build_plan(RUN_ID, {"a": ["x", "y", "z"]}, 2, SEED)
    assert [(one.item_id, one.repetition) for one in plan.exchanges] == expected
    assert expected == [("y", 0), ("z", 0), ("x", 0), ("y", 1), ("x", 1), ("z", 1)]


@given(st.binary(min_size=32, max_size=32), st.integers(1, 3))
def test_a_plan_is_a_permutation_of_its_sample(seed, repetitions):
    plan = build_plan(RUN_ID, SAMPLE, repetitions, seed)
    calls = [(one.item_id, one.repetition) for one in plan.exchanges]
    assert sorted(calls) == sorted(
        (item, rep) for items in SAMPLE.values() for item in items for rep in range(repetitions)
    )
    assert [one.position for one in plan.exchanges] == list(range(len(calls)))
    assert read_plan(plan_bytes(plan)) == plan


def test_what_is_asked_again_follows_in_rounds_of_its_own_and_nobody_chose_it():
    agreed = DispersionSample(items=7, repeats=3)
    again = again_of(RUN_ID, SAMPLE, SEED, agreed)
    key = hashlib.sha256(b"slaverify/dispersion/v1\0" + RUN_ID.encode() + b"\0" + SEED).digest()
    everything = [item for items in SAMPLE.values() for item in items]
    tickets = {item: hmac.new(key, item.encode() + b"\0\0\0\0\0", "sha256").digest() for item in everything}
    assert again.items == tuple(sorted(everything, key=tickets.__getitem__)[:7])
    assert again_of(RUN_ID, SAMPLE, SEED, None) is None
    whole, plain = (build_plan(RUN_ID, SAMPLE, 2, SEED, again=one) for one in (again, None))
    assert list(whole.exchanges[: len(plain.exchanges)]) == list(plain.exchanges), "what counts is asked as ever"
    more = list(whole.exchanges)[len(plain.exchanges) :]
    assert [one.repetition for one in more] == [2] * 7 + [3] * 7 + [4] * 7
    rounds = [[one.item_id for one in more[at : at + 7]] for at in (0, 7, 14)]
    assert all(sorted(one) == sorted(again.items) for one in rounds) and rounds[0] != rounds[1]
    assert [one.position for one in whole.exchanges] == list(range(120 + 21))
    assert read_plan(plan_bytes(whole)) == whole
    assert whole.exchanges[-1] == more[-1] and whole.exchanges[119:121] == (whole.exchanges[119], more[0])


def test_the_order_depends_on_seed_and_run_and_mixes_strata():
    orders = [
        [one.item_id for one in build_plan(run, SAMPLE, 1, seed).exchanges]
        for run, seed in ((RUN_ID, SEED), (RUN_ID[:-1] + "2", SEED), (RUN_ID, SEED[::-1]))
    ]
    assert orders[0] != orders[1] != orders[2] != orders[0]
    assert len({item[0] for item in orders[0][:12]}) == 2
    # The order in which the sample names its items says nothing.
    reversed_sample = {stratum: items[::-1] for stratum, items in SAMPLE.items()}
    assert [one.item_id for one in build_plan(RUN_ID, reversed_sample, 1, SEED).exchanges] == orders[0]


def test_a_plan_file_is_read_strictly():
    good = json.loads(plan_bytes(build_plan(RUN_ID, SAMPLE, 1, SEED)))
    for change in (
        {"type": "slaverify/plan/2"},
        {"extra": 1},
        {"exchanges": good["exchanges"][1:]},
        {"exchanges": [{**good["exchanges"][0], "side": "other"}]},
        {"exchanges": [{**good["exchanges"][0], "stage": 0}]},
        {"exchanges": [{**good["exchanges"][0], "repetition": True}]},
    ):
        with pytest.raises(EvidenceError):
            read_plan(jcs({**good, **change}))
    with pytest.raises(EvidenceError):
        read_plan(json.dumps(good).encode())


def test_batches_hold_everything_once_and_prove_each_line(tmp_path):
    def behaviour(seen):
        reply = answer("x " + seen.body["q"])
        reply.delay_s = 0.002
        return reply

    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url, call={"concurrency": 8}), count=83)
        world.run()
    batches = tuple(world.ledger.batches)
    assert batches == batches_of(world.plan, world.file("outcomes.jsonl"))
    assert [batch.number for batch in batches] == list(range(1, len(batches) + 1))
    assert all(len(batch.items) <= 25 for batch in batches)
    assert sorted(item for batch in batches for item in batch.items) == sorted(world.items)
    lines = world.file("outcomes.jsonl").splitlines()
    for batch in batches:
        held = [line for line in lines if json.loads(line)["batch"] == batch.number]
        hashes = [leaf_hash(line) for line in held]
        root = bytes.fromhex(batch.root)
        assert batch_root(held) == batch.root
        assert all(
            verify_inclusion(leaf, n, len(held), inclusion_proof(hashes, n), root) for n, leaf in enumerate(hashes)
        )
    assert plan_sha256(world.plan) == world.header.plan_sha256
    assert world.file("plan.json") == plan_bytes(world.plan)


def test_a_line_moved_to_another_batch_is_seen(tmp_path):
    with AnsweringServer(lambda seen: answer("x")) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=30)
        world.run()
    lines = [json.loads(line) for line in world.file("outcomes.jsonl").splitlines()]
    lines[0]["batch"] = 3 - lines[0]["batch"]
    moved = b"".join(jcs(line) + b"\n" for line in lines)
    assert {batch.root for batch in batches_of(world.plan, moved)}.isdisjoint({b.root for b in world.ledger.batches})
    stray = {**lines[0], "item_id": "i-99999"}
    with pytest.raises(EvidenceError):
        batches_of(world.plan, b"".join(jcs(line) + b"\n" for line in [*lines, stray]))
