"""Pairs lie apart in the order of a run, whatever the seed; the rest of the order stays as the seed gave it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slaverify.run import build_plan
from slaverify.run.spacing import GAP

RUN_ID = "0123456789ab-0001"
SAMPLE = {"direct": [f"d{n:03}" for n in range(60)], "trap": [f"t{n:03}" for n in range(20)]}
BESIDE = [f"a{n:02}" for n in range(8)] + [f"{kind}{n}" for n in range(6) for kind in ("o", "w")]
PAIRS = [(f"o{n}", f"w{n}") for n in range(6)]


@given(st.binary(min_size=32, max_size=32), st.integers(1, 3))
def test_a_pair_is_never_nearer_than_twenty_positions(seed: bytes, repetitions: int) -> None:
    plan = build_plan(RUN_ID, SAMPLE, repetitions, seed, beside=BESIDE, apart=PAIRS)
    loose = build_plan(RUN_ID, SAMPLE, repetitions, seed, beside=BESIDE)
    places: dict[str, list[int]] = {}
    for one in plan.exchanges:
        places.setdefault(one.item_id, []).append(one.position)
    assert all(len(found) == repetitions for found in places.values()) and len(places) == 100
    for one, other in PAIRS:
        assert min(abs(a - b) for a in places[one] for b in places[other]) >= GAP
    moved = sum(a.item_id != b.item_id for a, b in zip(plan.exchanges, loose.exchanges, strict=True))
    assert moved <= 4 * len(PAIRS) * repetitions
    assert plan.exchanges == build_plan(RUN_ID, SAMPLE, repetitions, seed, beside=BESIDE, apart=PAIRS).exchanges


@given(st.binary(min_size=32, max_size=32))
def test_a_plan_too_short_for_the_distance_keeps_every_item_once(seed: bytes) -> None:
    plan = build_plan(RUN_ID, {"direct": ["x", "y", "z"]}, 1, seed, beside=["o", "w"], apart=[("o", "w")])
    order = [one.item_id for one in plan.exchanges]
    assert sorted(order) == ["o", "w", "x", "y", "z"]
    assert abs(order.index("o") - order.index("w")) >= 2
