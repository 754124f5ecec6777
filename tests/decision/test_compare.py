"""Two runs, two versions, a plan, a qualification: pure functions behind `compare`, `plan` and `conformance`."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from slaverify.canonical import jcs
from slaverify.decision import compare_runs, compare_versions, plan, worth_of_judged
from slaverify.decision.vectors import conformance
from slaverify.errors import StatisticsError
from tests.decision.build import ACCURACY, HALLUCINATION, WRONG, build, record, run

CHECK = {"change_check": {"max_loss": "0.05", "metrics": ["accuracy"]}}


def test_two_runs_of_one_bank() -> None:
    contract = build([ACCURACY, HALLUCINATION])
    found = compare_runs(contract, run(10), contract, run(3))
    jcs(found)
    accuracy = found["metrics"][0]
    assert (accuracy["both_pass"], accuracy["b"], accuracy["c"], accuracy["both_fail"]) == (110, 0, 7, 3)
    assert accuracy["difference"] == "0.058333333"
    assert accuracy["mcnemar_exact"] == "0.015625000"
    assert {"from": "incorrect", "to": "accurate", "n": 7} in accuracy["transitions"]
    assert sum(row["n"] for row in accuracy["transitions"]) == 120
    assert (found["state"], accuracy["change_check"]) == (None, None)


def test_the_same_run_twice_claims_nothing() -> None:
    contract = build([ACCURACY])
    accuracy = compare_runs(contract, run(4), contract, run(4))["metrics"][0]
    assert (accuracy["note"], accuracy["mcnemar_midp"]) == ("no_discordant_pairs", "1.000000000")


def test_different_banks_are_refused() -> None:
    other = build([ACCURACY], evaluation_set={"bank_digest": "sha256:" + "c" * 64})
    with pytest.raises(StatisticsError, match="SLV-S013"):
        compare_runs(build([ACCURACY]), run(), other, run())


def test_metrics_that_are_not_the_same_are_left_out() -> None:
    other = build([{**ACCURACY, "count": {"verdict": ["accurate", "incomplete"]}}, HALLUCINATION])
    found = compare_runs(build([ACCURACY, HALLUCINATION]), run(), other, run())
    assert [metric["id"] for metric in found["metrics"]] == ["hallucination"]


def test_items_of_one_side_are_counted_apart() -> None:
    found = compare_runs(build([ACCURACY]), run(), build([ACCURACY]), run()[5:])
    assert (found["only_old"], found["only_new"], found["metrics"][0]["n"]) == (5, 0, 115)


def both(old_wrong: set[int], new_wrong: set[int], n: int = 120, **changes: object) -> list:
    out = []
    for i in range(n):
        out.append(record(i, side="current", **(WRONG if i in old_wrong else {}), **changes))
        out.append(record(i, side="candidate", **(WRONG if i in new_wrong else {}), **changes))
    return out


def test_the_change_check() -> None:
    contract = build([ACCURACY, HALLUCINATION], schedule=CHECK)
    found = compare_versions(contract, both(set(), set()))
    jcs(found)
    assert (found["state"], found["metrics"][0]["change_check"]["state"]) == ("accepted", "accepted")
    assert found["metrics"][1]["change_check"] is None
    worse = compare_versions(contract, both(set(), set(range(12))))
    assert worse["metrics"][0]["change_check"]["state"] == "reverted"
    assert worse["state"] == "not_accepted"
    few = compare_versions(contract, both(set(), set(), n=40))
    assert few["metrics"][0]["change_check"]["state"] == "not_shown"
    assert few["state"] == "not_accepted"


def test_no_pairs_accept_nothing() -> None:
    contract = build([ACCURACY], schedule=CHECK)
    assert compare_versions(contract, [])["state"] == "not_accepted"
    assert compare_versions(build([ACCURACY]), both(set(), set()))["state"] is None


def test_unknown_items_count_against_the_change() -> None:
    contract = build([ACCURACY], schedule=CHECK)
    records = both(set(), set())
    records[1] = {**records[1], "outcome": "unresolved"}
    records[3] = {**records[3], "outcome": "unresolved"}
    records[5] = {**records[5], "outcome": "unresolved"}
    found = compare_versions(contract, records)["metrics"][0]
    assert found["unknown"] == 3
    assert found["change_check"]["state"] == "not_shown"


def test_clusters_shrink_the_pairs() -> None:
    clustered = {**ACCURACY, "cluster": {"by": "norm", "icc_floor": "0.2"}}
    contract = build([clustered], schedule=CHECK)
    records = [{**r, "cluster": f"c-{int(r['item_id'][2:]) % 12:04d}"} for r in both({0, 1}, set())]
    found = compare_versions(contract, records)["metrics"][0]["change_check"]
    assert Fraction(found["deff"]) == Fraction("2.8")
    assert found["state"] == "not_shown"
    together = [{**r, "cluster": f"c-{int(r['item_id'][2:]) // 10:04d}"} for r in both(set(), set(range(10)))]
    assert Fraction(compare_versions(contract, together)["metrics"][0]["change_check"]["deff"]) > 9


def test_a_plan_says_what_can_be_shown() -> None:
    found = plan(build([ACCURACY, HALLUCINATION]))
    jcs(found)
    accuracy = found["metrics"][0]
    assert (found["items"], found["calls"], accuracy["n"], accuracy["family"]) == (150, 150, 120, 2)
    assert (accuracy["pass_max_failures"], accuracy["breach_min_failures"]) == (5, 21)
    assert [point["place"] for point in accuracy["points"]] == ["short", "at", "beyond"]
    assert accuracy["points"][1]["rate"] == "0.900000000"
    assert found["metrics"][1]["points"][0]["rate"] == "0.150000000"
    for point in accuracy["points"]:
        total = sum(Fraction(point[key]) for key in ("pass", "inconclusive", "breach"))
        assert abs(total - 1) < Fraction(1, 10**8)
    assert accuracy["needed"][0] == {"power": "0.8", "pass": 255, "breach": 432}


def test_a_plan_without_integers_says_so() -> None:
    clustered = {**ACCURACY, "cluster": {"by": "norm", "icc_floor": "0.2"}}
    mean = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"]}
    one = {**ACCURACY, "threshold": "1"}
    for metric in (clustered, mean, one):
        found = plan(build([metric]))["metrics"][0]
        assert (found["integers"], found["points"]) == (False, [])
    unplanned = {**ACCURACY, "decision": {"rule": "two_point", "f0": "0.02", "r0": "0.05", "f1": "0.03", "r1": "0.05"}}
    assert plan(build([unplanned]))["metrics"][0]["integers"] is False


def test_what_judged_items_are_worth() -> None:
    assert worth_of_judged(500, Decimal("0.9"), Decimal("0.9"), Decimal("0.95")).startswith("126.")
    assert worth_of_judged(500, Decimal("0.5"), Decimal("0.5"), Decimal("0.95")) is None


def test_conformance_of_this_installation(vectors_dir: Path) -> None:
    found = conformance(json.loads((vectors_dir / "statistics.json").read_text("utf-8")))
    assert {one.result for one in found} == {"passed", "not_performed"}


@pytest.mark.parametrize(
    "vector",
    [
        3,
        {},
        {"id": "x-1"},
        {"id": "x-1", "method": "magic", "inputs": {}, "expected": {}, "tolerance": 0},
        {"id": "x-1", "method": "power", "inputs": {}, "expected": {}, "tolerance": 0},
        {"id": "x-1", "method": "power", "inputs": [], "expected": {}, "tolerance": 0},
        {"id": "x-1", "method": "metric_state", "inputs": {"pass_max_failures": 1}, "expected": {}, "tolerance": 0},
        {
            "id": "x-1",
            "method": "wilson_interval",
            "inputs": {"x": 5, "n": 0, "confidence": 0.95},
            "expected": {},
            "tolerance": 0,
        },
    ],
)
def test_a_bad_vector_fails_and_raises_nothing(vector: object) -> None:
    assert [one.result for one in conformance([vector])] == ["failed"]
