"""The draw: known probabilities, the floor of each verdict, and nothing that anybody could steer."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.judging.calibration import Kind, Plan, Unit, UnitKey, label_seed, select, units_of
from tests.decision.build import record
from tests.judging.calibration.people import SEED, by_criteria, contract, judged, others, simulated

PLAN = Plan(design="stratified_audit", min_labels=200, min_per_class=30, annotators=2)


def unit(
    number: int, positive: bool | None, kind: Kind = Kind.JUDGED, stratum: str = "a", flagged: bool = False
) -> Unit:
    return Unit(key=UnitKey(f"i-{number}", 0, ""), kind=kind, stratum=stratum, positive=positive, flagged=flagged)


def drawn(units: list[Unit], plan: Plan = PLAN) -> Counter:
    rows = select(units, plan, SEED).rows
    return Counter((one.kind, one.positive) for one, _ in rows)


def test_fifty_of_each_verdict_and_the_rest_where_the_judge_accepts() -> None:
    units = [unit(i, i >= 60) for i in range(600)]
    assert drawn(units) == {(Kind.JUDGED, False): 50, (Kind.JUDGED, True): 150}


def test_a_verdict_with_fewer_than_fifty_is_read_whole_and_the_other_gets_its_share() -> None:
    units = [unit(i, i >= 12) for i in range(600)]
    assert drawn(units) == {(Kind.JUDGED, False): 12, (Kind.JUDGED, True): 188}
    assert drawn([unit(i, True) for i in range(600)]) == {(Kind.JUDGED, True): 200}
    assert drawn([unit(i, i >= 5) for i in range(40)]) == {(Kind.JUDGED, False): 5, (Kind.JUDGED, True): 35}


def test_a_contract_may_raise_the_floor() -> None:
    plan = Plan(design="stratified_audit", min_labels=200, min_per_class=80, annotators=2)
    assert drawn([unit(i, i >= 300) for i in range(600)], plan)[Kind.JUDGED, False] == 100
    assert drawn([unit(i, i >= 90) for i in range(600)], plan) == {(Kind.JUDGED, False): 80, (Kind.JUDGED, True): 120}


def test_the_queue_and_what_is_undetermined_are_read_whole_and_twenty_abstentions() -> None:
    units = [
        *(unit(i, True) for i in range(300)),
        *(unit(1000 + i, None, Kind.QUEUE) for i in range(7)),
        *(unit(2000 + i, None, Kind.UNDETERMINED) for i in range(33)),
        *(unit(3000 + i, False, Kind.ABSTENTION) for i in range(90)),
        *(unit(4000 + i, True, Kind.SETTLED) for i in range(90)),
        *(unit(5000 + i, False, Kind.SILENT) for i in range(9)),
    ]
    found = Counter(one.kind for one, _ in select(units, PLAN, SEED).rows)
    assert found == {Kind.JUDGED: 200, Kind.QUEUE: 7, Kind.UNDETERMINED: 33, Kind.ABSTENTION: 20}


def test_suspect_answers_get_twice_their_share() -> None:
    units = [unit(i, True, flagged=i < 100) for i in range(1000)]
    flagged = sum(one.flagged for one, _ in select(units, PLAN, SEED).rows)
    # 100 x 2 of 100 x 2 + 900 weights, of 200 labels.
    assert abs(flagged - 200 * 200 / 1100) <= 1


def test_each_stratum_has_two_labels_and_a_lonely_unit_joins_a_neighbour() -> None:
    units = [unit(i, True, stratum="big") for i in range(900)]
    units += [unit(1000 + i, True, stratum="small") for i in range(4)] + [unit(2000, True, stratum="one")]
    selection = select(units, PLAN, SEED)
    assert [cell.strata for cell in selection.cells] == [("big", "one"), ("small",)]
    assert [cell.drawn for cell in selection.cells][1] >= 2


def test_two_people_read_all_up_to_150_rows_and_three_in_ten_above() -> None:
    few = select([unit(i, True) for i in range(140)], PLAN, SEED)
    assert len(few.twice) == len(few.rows) == 140
    many = select([unit(i, True) for i in range(900)], PLAN, SEED)
    assert (len(many.rows), len(many.twice)) == (200, 60)
    alone = Plan(design="stratified_audit", min_labels=200, min_per_class=30, annotators=1)
    assert not select([unit(i, True) for i in range(900)], alone, SEED).twice


def test_a_random_audit_draws_over_everything_and_takes_the_rest_of_the_queue() -> None:
    plan = Plan(design="random_audit", min_labels=100, min_per_class=30, annotators=2)
    units = [unit(i, True) for i in range(200)] + [unit(1000 + i, True, Kind.SETTLED) for i in range(200)]
    units += [unit(2000 + i, None, Kind.QUEUE) for i in range(10)] + [
        unit(3000 + i, False, Kind.SILENT) for i in range(90)
    ]
    selection = select(units, plan, SEED)
    whole, queue = selection.cells
    assert (whole.size, whole.drawn) == (500, 100)
    found = Counter(one.kind for one, _ in selection.rows)
    assert found[Kind.QUEUE] == 10
    assert queue.size == queue.drawn <= 10
    # Nothing but chance decides: a kind gets about its share.
    assert 20 <= found[Kind.JUDGED] <= 60


def test_the_probability_on_record_is_the_one_that_was_drawn_with() -> None:
    units = [unit(i, i >= 60) for i in range(600)]
    counts: Counter[UnitKey] = Counter()
    for number in range(400):
        counts.update(one.key for one, _ in select(units, PLAN, label_seed("sha256:" + "b" * 64, number, b"")).rows)
    rejected = [counts[one.key] / 400 for one in units if one.positive is False]
    accepted = [counts[one.key] / 400 for one in units if one.positive]
    assert abs(sum(rejected) / 60 - 50 / 60) < 1e-9
    assert abs(sum(accepted) / 540 - 150 / 540) < 1e-9
    # Each unit has the chance of its cell: five standard errors at most.
    assert max(abs(share - 150 / 540) for share in accepted) < 5 * (0.278 * 0.722 / 400) ** 0.5


@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(Kind)), st.sampled_from([True, False, None]), st.sampled_from("ab"), st.booleans()
        ),
        max_size=60,
    ),
    st.integers(1, 80),
    st.sampled_from(["stratified_audit", "random_audit"]),
)
@settings(max_examples=200, deadline=None)
def test_any_run_has_a_draw_that_does_not_depend_on_the_order_of_its_records(
    rows: list[tuple[Kind, bool | None, str, bool]], labels: int, design: str
) -> None:
    units = [
        unit(number, positive, kind, stratum, flagged)
        for number, (kind, positive, stratum, flagged) in enumerate(rows)
        if not (kind is Kind.JUDGED and positive is None)
    ]
    plan = Plan(design=design, min_labels=labels, min_per_class=30, annotators=2)
    selection = select(units, plan, SEED)
    shuffled = list(units)
    random.Random(3).shuffle(shuffled)
    assert {(one.key, cell) for one, cell in select(sorted(shuffled, key=lambda u: u.key), plan, SEED).rows} == {
        (one.key, cell) for one, cell in select(sorted(units, key=lambda u: u.key), plan, SEED).rows
    }
    keys = [one.key for one, _ in selection.rows]
    assert len(keys) == len(set(keys))
    per_cell = Counter(cell for _, cell in selection.rows)
    for number, cell in enumerate(selection.cells):
        assert per_cell[number] == cell.drawn <= cell.size == len(selection.members[number])


def test_units_of_a_run_by_what_code_made_of_each_record() -> None:
    agreed = contract()
    records = [
        judged(1, True, flags=["split_panel"]),
        judged(2, False, events=[{"code": "injection", "level": "pattern", "confirmed": False}]),
        record(3),
        record(4, **{"class": "abstention"}, verdict="abstention", abstention="unnecessary"),
        record(5, **{"class": "undetermined"}, verdict="accurate"),
        record(6, verdict=None, correctness="undetermined", decided_by=None),
        record(
            7, verdict=None, correctness="undetermined", decided_by=None, flags=["open"], **{"class": "undetermined"}
        ),
        record(8, outcome="vendor_failure"),
        record(9, "probe"),
        record(10, side="candidate"),
        record(11, decided_by="person"),
    ]
    found = {one.key.item_id: one for one in units_of(agreed, records)}
    assert {name[-2:]: one.kind for name, one in found.items()} == {
        "01": Kind.JUDGED,
        "02": Kind.JUDGED,
        "03": Kind.SETTLED,
        "04": Kind.ABSTENTION,
        "05": Kind.UNDETERMINED,
        "06": Kind.QUEUE,
        "07": Kind.UNDETERMINED,
        "08": Kind.SILENT,
        "11": Kind.QUEUE,
    }
    assert {name[-2:] for name, one in found.items() if one.flagged} == {"01", "02"}
    assert found["i-000001"].positive is True
    assert found["i-000002"].positive is False


def test_a_criteria_contract_has_a_unit_per_answer_and_criterion() -> None:
    agreed = contract(criteria=True)
    records = [by_criteria(1, {"correcta": True, "trato": False}), by_criteria(2, {"correcta": False})]
    records += [{**by_criteria(3, {}), "criteria": {"trato": "unresolved"}}, *others(1)]
    found = {(one.key.item_id, one.key.subject): (one.kind, one.positive) for one in units_of(agreed, records)}
    assert found == {
        ("i-000001", "correcta"): (Kind.JUDGED, True),
        ("i-000001", "trato"): (Kind.JUDGED, False),
        ("i-000002", "correcta"): (Kind.JUDGED, False),
        ("i-000003", "trato"): (Kind.QUEUE, None),
        ("i-900000", ""): (Kind.ABSTENTION, None),
    }


def test_the_seed_is_of_the_contract_the_run_and_its_end() -> None:
    seeds = {
        label_seed(digest, run, end)
        for digest in ("sha256:" + "a" * 64, "sha256:" + "b" * 64)
        for run in (1, 2)
        for end in (b"x", b"y")
    }
    assert len(seeds) == 8
    records, _ = simulated(random.Random(5), 400, 0.9, 0.9, 0.9)
    units = units_of(contract(), records)
    assert select(units, PLAN, min(seeds)).rows != select(units, PLAN, max(seeds)).rows
