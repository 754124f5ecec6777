"""The demonstration's contract from records to decision: counts, numbers, states, what is shown."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction

import pytest

from slaverify.canonical import jcs
from slaverify.decision import RunValidity, decide, inputs, metric_facts, results, states
from tests.decision.build import ACCURACY, HALLUCINATION, TIMED_OUT, WRONG, build, record, run

VALID = RunValidity(True)
METRICS = [ACCURACY, HALLUCINATION]


def walk(records: list, contract=None, validity: RunValidity = VALID) -> tuple[dict, dict, dict]:
    contract = contract or build(METRICS)
    counted = inputs(contract, records)
    numbers = results(contract, counted, validity)
    decision = decide(contract, numbers, validity)
    assert states(contract, counted, validity)["metrics"] == [
        {"id": m["id"], "state": m["state"], "reason": m["reason"]} for m in decision["metrics"]
    ]
    assert states(contract, counted, validity)["state"] == decision["state"]
    for document in (counted, numbers, decision):
        jcs(document)
    return counted, numbers, decision


@pytest.mark.parametrize(
    ("wrong", "whole", "accuracy", "hallucination"),
    [
        (0, "PASS", "PASS", "PASS"),
        (5, "PASS", "PASS", "PASS"),
        (6, "INCONCLUSIVE", "INCONCLUSIVE", "PASS"),
        (8, "INCONCLUSIVE", "INCONCLUSIVE", "INCONCLUSIVE"),
        (20, "INCONCLUSIVE", "INCONCLUSIVE", "INCONCLUSIVE"),
        (21, "BREACH", "BREACH", "INCONCLUSIVE"),
        (23, "BREACH", "BREACH", "INCONCLUSIVE"),
        (24, "BREACH", "BREACH", "BREACH"),  # second step of Holm: 24 reaches the number at alpha itself
        (25, "BREACH", "BREACH", "BREACH"),
    ],
)
def test_states_by_wrong_answers(wrong: int, whole: str, accuracy: str, hallucination: str) -> None:
    _, _, decision = walk(run(wrong))
    assert decision["state"] == whole
    assert [m["state"] for m in decision["metrics"]] == [accuracy, hallucination]
    assert [(m["pass_max_failures"], m["breach_min_failures"]) for m in decision["metrics"]] == [(5, 21), (7, 25)]


def test_a_time_out_fails_accuracy_and_is_no_hallucination() -> None:
    counted, numbers, decision = walk(run(30, **TIMED_OUT))
    accuracy, hallucination = counted["metrics"]
    assert (accuracy["failures"], accuracy["failures_vendor"], accuracy["x"]) == (0, 30, 90)
    assert (hallucination["failures"], hallucination["n"]) == (0, 150)
    assert [m["state"] for m in decision["metrics"]] == ["BREACH", "PASS"]
    assert numbers["metrics"][0]["by_outcome"] == {"answered": 90, "vendor_failure": 30}


def test_nobody_gains_by_failing() -> None:
    """The same items, wrong or timed out: never a better state."""
    for wrong in (6, 21):
        assert walk(run(wrong))[2]["metrics"][0]["state"] == walk(run(wrong, **TIMED_OUT))[2]["metrics"][0]["state"]


def test_unresolved_calls_go_both_ways() -> None:
    unresolved = {"outcome": "unresolved"}
    counted, numbers, decision = walk(run(1, **unresolved))
    assert counted["metrics"][0]["unresolved"] == 1
    accuracy = numbers["metrics"][0]
    assert decision["state"] == "PASS"
    assert accuracy["exact"]["high"] == "1.000000000"
    assert accuracy["zero_bound"] is None
    assert "L18" in accuracy["limitations"]
    facts = metric_facts(numbers)[0]
    assert (facts.rate_low, facts.rate_high) == ("0.991666667", "1.000000000")
    # 2 of 120 is above 1 %.
    _, _, invalid = walk(run(2, **unresolved))
    assert (invalid["metrics"][0]["state"], invalid["metrics"][0]["reason"]) == (
        "INVALID_RUN",
        "unresolved_above_limit",
    )
    assert invalid["state"] == "INVALID_RUN"


def test_an_open_answer_buys_no_invalid_run() -> None:
    vague = {
        "verdict": None,
        "correctness": "undetermined",
        "bounds": {"worst": "incorrect", "best": "accurate"},
        "flags": ["open"],
    }
    _, _, decision = walk(run(30, **vague))
    assert decision["metrics"][0]["open"] == 30
    assert decision["metrics"][0]["state"] == "INCONCLUSIVE"
    _, _, proved = walk([*run(21)[:30], *[record(i, **vague) for i in range(30, 120)], *run()[120:]])
    assert proved["state"] == "BREACH"


def test_run_level_faults_invalidate_every_metric() -> None:
    _, numbers, decision = walk(run(30), validity=RunValidity(False, "bank_digest"))
    assert decision["state"] == "INVALID_RUN"
    assert {m["reason"] for m in decision["metrics"]} == {"run_invalid"}
    assert numbers["run"] == {"valid": False, "reason": "bank_digest", "judge_drift": False, "provenance": "measured"}
    assert decision["metrics"][0]["p_breach"] is None


@pytest.mark.parametrize("records", [run()[:-1], [*run(), record(5)], [*run(), record(9999)], run()[1:]])
def test_records_that_are_not_the_plan_are_an_invalid_run(records: list) -> None:
    _, _, decision = walk(records)
    assert decision["state"] == "INVALID_RUN"
    assert "run_invalid" in {m["reason"] for m in decision["metrics"]}


def test_no_records_at_all() -> None:
    _, _, decision = walk([])
    assert decision["state"] == "INVALID_RUN"
    lone = states(build(METRICS), {"metrics": []}, VALID)
    assert {m["reason"] for m in lone["metrics"]} == {"no_observations"}
    assert lone["state"] == "NOT_MEASURED"


def test_the_candidate_side_is_not_counted() -> None:
    extra = [record(i, side="candidate", **WRONG) for i in range(120)]
    assert walk([*run(), *extra])[2]["state"] == "PASS"


def test_settle_and_tipping() -> None:
    _, numbers, _ = walk(run(10))
    accuracy = numbers["metrics"][0]
    assert accuracy["settle"] == {
        "n": 2485,
        "additional": 2365,
        "direction": "PASS",
        "power": "0.8",
        "at_rate": "0.916666667",
    }
    assert accuracy["tipping"] == {"to_pass": 5, "to_breach": 11, "to_change": 5}
    hallucination = numbers["metrics"][1]
    assert hallucination["settle"]["at_rate"] == "0.066666667"
    at_threshold = walk(run(12))[1]["metrics"][0]
    assert at_threshold["rate"] == "0.900000000"
    assert at_threshold["settle"] is None
    passed = walk(run(3))[1]["metrics"][0]
    assert passed["settle"] is None
    assert passed["tipping"] == {"to_pass": 0, "to_breach": 18, "to_change": 3}
    breach = walk(run(25))[1]["metrics"][1]
    assert breach["tipping"] == {"to_pass": 18, "to_breach": 0, "to_change": 2}


def test_zero_failures_leave_a_bound() -> None:
    accuracy, hallucination = walk(run(0))[1]["metrics"]
    assert accuracy["zero_bound"] == "0.024655401"
    assert hallucination["zero_bound"] == "0.019773438"
    assert (accuracy["rate"], hallucination["rate"]) == ("1.000000000", "0.000000000")
    assert hallucination["exact"]["low"] == "0.000000000"
    none = walk([record(i, **WRONG) for i in range(120)] + run()[120:])[1]["metrics"][0]
    assert none["zero_bound"] == "0.024655401"


def test_rates_speak_in_the_contracts_own_sense() -> None:
    accuracy, hallucination = walk(run(9))[1]["metrics"]
    assert accuracy["rate"] == "0.925000000"
    assert hallucination["rate"] == "0.060000000"
    for metric in (accuracy, hallucination):
        assert Fraction(metric["exact"]["low"]) < Fraction(metric["rate"]) < Fraction(metric["exact"]["high"])
        assert Fraction(metric["wilson"]["low"]) < Fraction(metric["rate"]) < Fraction(metric["wilson"]["high"])


def test_strata_are_descriptive() -> None:
    strata = walk(run(9))[1]["strata"]
    assert [(s["id"], s["stratum"], s["n"], s["state"]) for s in strata] == [
        ("accuracy", "direct", 120, None),
        ("hallucination", "direct", 120, None),
        ("hallucination", "out_of_corpus", 30, None),
    ]
    assert set(strata[0]) == set(walk(run(9))[1]["metrics"][0])


def test_reasons_of_wrong_answers() -> None:
    rule = {"rule": "number@1", "status": "decided", "correctness": "incorrect", "reason": "other_unit", "flags": []}
    counted, _, _ = walk(run(7, **WRONG, rules=[rule]))
    assert counted["metrics"][0]["by_reason"] == {"other_unit": 7}


def test_order_of_records_changes_nothing() -> None:
    records = run(9)
    assert inputs(build(METRICS), records[::-1]) == inputs(build(METRICS), records)


def test_an_integer_verdict_needs_no_scipy() -> None:
    code = (
        "import sys, json\n"
        "from tests.decision.build import ACCURACY, HALLUCINATION, build, run\n"
        "from slaverify.decision import RunValidity, inputs, states\n"
        "c = build([ACCURACY, HALLUCINATION])\n"
        "found = states(c, inputs(c, run(24)), RunValidity(True))\n"
        "assert not {m.partition('.')[0] for m in sys.modules} & {'scipy', 'numpy'}, 'loaded'\n"
        "print(json.dumps(found))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["state"] == "BREACH"
