"""What the metrics of one family do to each other: rejection numbers, tipping points, levels, ties."""

from __future__ import annotations

from fractions import Fraction

import pytest

from slaverify.decision import MetricCalibration, RunValidity, decide, inputs, results, states
from slaverify.decision.combine import Member, combine_states
from slaverify.decision.words import Reason, State
from slaverify.statistics import Confusion
from tests.decision.build import ACCURACY, JUDGE, TIMED_OUT, WRONG, build, record, run
from tests.decision.test_combine import BASE
from tests.decision.test_methods import LATENCY, first, judged_run

VALID = RunValidity(True)
FRESH = {
    **ACCURACY,
    "id": "fresh",
    "count": {"run_outcome": ["answered"]},
}
ON_TIME = {**LATENCY, "id": "on_time"}
THREE = [{**metric, "decision": {"alpha_breach": "0.04"}} for metric in (ACCURACY, FRESH, ON_TIME)]


def three(wrong: int, failed: int, late: int) -> list:
    """`wrong` answers first, then `failed` calls, then `late` ones; a failed call fails all three metrics."""
    out = []
    for i in range(120):
        if i < wrong:
            out.append(record(i, **WRONG))
        elif i < wrong + failed:
            out.append(record(i, **TIMED_OUT, latency_ms=None))
        else:
            out.append(record(i, latency_ms=5000 if i < wrong + failed + late else 10))
    return out + run()[120:]


def entries(records: list, metrics: list | None = None, **changes: object) -> list[dict]:
    contract = build(metrics or THREE, **changes)
    return results(contract, inputs(contract, records), VALID)["metrics"]


def test_the_ladder_of_three() -> None:
    for entry in entries(three(0, 0, 0)):
        assert entry["ladder"] == [21, 20, 19]
        assert entry["breach_min_failures"] == 21


@pytest.mark.parametrize(
    ("wrong", "failed", "late", "to_breach"),
    [
        (10, 0, 0, (11, 21, 21)),  # nobody in breach: 21 for each
        (30, 0, 0, (0, 20, 20)),  # one in breach: 20 for the others
        (10, 0, 30, (10, 20, 0)),
        (15, 15, 15, (0, 4, 0)),  # 30, 15, 30 failures: two in breach, 19 for the third
    ],
)
def test_how_far_each_is_from_breach(wrong: int, failed: int, late: int, to_breach: tuple) -> None:
    assert tuple(entry["tipping"]["to_breach"] for entry in entries(three(wrong, failed, late))) == to_breach


def test_how_much_a_breach_can_lose() -> None:
    alone = entries(three(30, 0, 0))
    assert alone[0]["tipping"]["to_change"] == 10  # to 20, one below its own 21
    both = entries(three(30, 0, 30))
    assert [entry["tipping"]["to_change"] for entry in (both[0], both[2])] == [11, 11]  # below 20


def test_a_breach_that_rests_on_another() -> None:
    """30, 20 and 20 failures: the second and third are in breach because the first is; the first stands alone."""
    found = entries(three(10, 20, 0))
    assert [entry["state"] for entry in found] == ["BREACH"] * 3
    assert [entry["tipping"]["to_change"] for entry in found] == [10, 2, 2]


def test_manipulation_hides_neither_a_breach_nor_an_invalid_run() -> None:
    shown = {"events": [{"code": "markup", "level": "manipulation", "confirmed": True}]}
    contract = build([ACCURACY])
    assert first(contract, run(30, **WRONG, **shown))["reason"] is None
    assert first(contract, run(30, **WRONG, **shown))["state"] == "BREACH"
    lost = first(contract, run(5, outcome="unresolved", **shown))
    assert (lost["state"], lost["reason"]) == ("INVALID_RUN", "unresolved_above_limit")


def test_without_correction_each_is_alone() -> None:
    found = entries(three(30, 0, 0), verdict={"multiplicity": "none"})
    assert [entry["tipping"]["to_breach"] for entry in found] == [0, 19, 19]
    assert found[0]["tipping"]["to_change"] == 12
    assert found[0]["ladder"] == [19]


def test_a_rule_without_a_test_moves_no_ladder() -> None:
    simple = {**ACCURACY, "decision": {"rule": "simple"}}
    found = entries(three(30, 0, 0), [simple, *THREE[1:]])
    assert found[0]["state"] == "BREACH"
    assert [entry["tipping"]["to_breach"] for entry in found[1:]] == [20, 20]
    reported = {**THREE[0], "severity": "reported"}
    found = entries(three(30, 0, 30), [reported, *THREE[1:]])
    assert (found[0]["state"], found[0]["tipping"]["to_change"]) == ("BREACH", 12)
    assert [entry["tipping"]["to_breach"] for entry in found[1:]] == [19, 0]


def test_the_family_is_tested_at_its_strictest_level() -> None:
    strict = {**FRESH, "decision": {"alpha_breach": "0.001"}}
    assert entries(three(22, 0, 0), [ACCURACY, strict])[0]["state"] == "INCONCLUSIVE"
    assert entries(three(30, 0, 0), [ACCURACY, strict])[0]["state"] == "BREACH"
    reported = {**strict, "severity": "reported"}
    assert entries(three(20, 0, 0), [ACCURACY, reported])[0]["state"] == "BREACH"
    untested = {**strict, "decision": {"rule": "simple", "alpha_breach": "0.001"}}
    assert entries(three(20, 0, 0), [ACCURACY, untested])[0]["state"] == "BREACH"


def test_alpha_itself_is_a_breach() -> None:
    tie = Member(state=State.INCONCLUSIVE, p_breach=Fraction(1, 40), binding=True)
    assert combine_states([tie], Fraction(1, 40)).breaching == (0,)
    above = Member(state=State.INCONCLUSIVE, p_breach=Fraction(1, 40) + Fraction(1, 10**30), binding=True)
    assert combine_states([above], Fraction(1, 40)).breaching == ()


def test_a_contract_without_a_tested_metric() -> None:
    simple = {**ACCURACY, "decision": {"rule": "simple"}}
    contract = build([simple])
    assert states(contract, inputs(contract, run(0)), VALID)["state"] == "PASS"
    assert states(contract, inputs(contract, run(13)), VALID)["state"] == "BREACH"


def test_two_clusters_are_few_not_one() -> None:
    from slaverify.decision.rules import Facts, prior_state

    for clusters, reason in ((1, Reason.ONE_CLUSTER), (2, Reason.FEW_CLUSTERS), (4, Reason.FEW_CLUSTERS)):
        ruling = prior_state(Facts(**{**BASE, "clusters": clusters}))
        assert ruling is not None
        assert ruling.reason is reason
    assert prior_state(Facts(**{**BASE, "clusters": 5})) is None


def test_an_invalid_run_of_reported_metrics_is_an_invalid_run() -> None:
    contract = build([{**ACCURACY, "severity": "reported"}])
    invalid = RunValidity(False, "ledger")
    counted = inputs(contract, run(0))
    assert states(contract, counted, invalid)["state"] == "INVALID_RUN"
    assert decide(contract, results(contract, counted, invalid), invalid)["state"] == "INVALID_RUN"


def test_a_strict_contract_without_a_mismatch_passes() -> None:
    strict = build([ACCURACY], engine={"on_mismatch": "breach"})
    assert first(strict, run(0))["state"] == "PASS"
    one = [record(0, outcome="engine_mismatch"), *run()[1:]]
    assert first(strict, one)["state"] == "BREACH"
    assert first(build([ACCURACY]), one)["state"] == "PASS"


def test_a_mismatch_is_a_breach_of_the_metric_that_holds_it() -> None:
    contract = build(
        [ACCURACY, {**ACCURACY, "id": "other", "among": {"stratum": ["out_of_corpus"]}, "severity": "reported"}]
    )
    strict = build(
        [ACCURACY, {**ACCURACY, "id": "other", "among": {"stratum": ["out_of_corpus"]}, "severity": "reported"}],
        engine={"on_mismatch": "breach"},
    )
    records = [*run()[:120], record(1000, "out_of_corpus", outcome="engine_mismatch"), *run()[121:]]
    found = results(strict, inputs(strict, records), VALID)
    assert [(m["state"], m["reason"]) for m in found["metrics"]] == [("PASS", None), ("BREACH", "engine_mismatch")]
    assert decide(strict, found, VALID)["state"] == "PASS"
    assert results(contract, inputs(contract, records), VALID)["metrics"][0]["state"] == "PASS"


def test_a_contract_may_ask_for_more_labels() -> None:
    calibration = {"accuracy": MetricCalibration(design="external", confusion=Confusion(98, 100, 198, 200))}
    plain = build([ACCURACY], **JUDGE)
    assert first(plain, judged_run(2, 60), calibrations=calibration)["reason"] is None
    more = build([ACCURACY], **{**JUDGE, "judge": {**JUDGE["judge"], "calibration": {"min_per_class": 150}}})
    assert first(more, judged_run(2, 60), calibrations=calibration)["reason"] == "calibration_too_small"


def test_manipulation_takes_the_other_metrics_ladder_too() -> None:
    """A metric in breach by an integrity rule is in breach whatever its p: it steps the ladder for the others."""
    shown = {"events": [{"code": "markup", "level": "manipulation", "confirmed": True}]}
    contract = build(THREE, verdict={"integrity": {"effect": "breach"}})
    records = [{**r, **(shown if i == 0 else {})} for i, r in enumerate(three(0, 0, 0))]
    found = results(contract, inputs(contract, records), VALID)["metrics"]
    assert {entry["reason"] for entry in found} == {"manipulation_confirmed"}
    assert [entry["tipping"]["to_breach"] for entry in found] == [0, 0, 0]
