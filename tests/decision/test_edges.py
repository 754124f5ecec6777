"""Edges: documents that somebody forged, contracts at the border of what they may say, data that are not there."""

from __future__ import annotations

from fractions import Fraction

import pytest

from slaverify.canonical import real9
from slaverify.decision import (
    LimitationFacts,
    MetricCalibration,
    RunValidity,
    decide,
    inputs,
    limitations,
    metric_facts,
    results,
    states,
)
from slaverify.decision.compare import compare_versions
from slaverify.statistics import bank_tails
from tests.decision.build import ACCURACY, HALLUCINATION, JUDGE, WRONG, build, record, run
from tests.decision.test_methods import CLUSTERED, CUT, MEAN, WER, first, judged_run, state

VALID = RunValidity(True)


def forged(contract, **changes: object) -> dict:
    counted = inputs(contract, run(3))
    entry = {**counted["metrics"][0], **changes}
    return results(contract, {**counted, "metrics": [entry]}, VALID)["metrics"][0]


@pytest.mark.parametrize(
    "changes",
    [
        {"n": 121},
        {"x": 500},
        {"calls": 2},
        {"missing": 1},
        {"missing": None},
        {"missing": -1},
        {"failures": -3},
        {"n": True},
        {"n": "120"},
        {"unresolved": 10**18, "n": 10**18},
    ],
)
def test_forged_counts_do_not_pass(changes: dict) -> None:
    assert forged(build([ACCURACY]), **changes)["state"] in ("INVALID_RUN", "NOT_MEASURED")


@pytest.mark.parametrize("clusters", [[[1]], [["a", "b", "c"]], [3, None], [], "x", None, [[0, 0, 0]] * 20])
def test_forged_clusters_do_not_pass(clusters: object) -> None:
    assert forged(build([CLUSTERED]), clusters=clusters)["state"] in ("NOT_MEASURED", "INCONCLUSIVE", "INVALID_RUN")


@pytest.mark.parametrize(
    "units",
    [
        None,
        [],
        [[1, 2]],
        [["1", 0, 0]],
        [[None, 0, 1]],
        [["x", 0, 1]],
        [["9", 0, 1]],
        [["-1", 0, 1]],
        [["0.5", True, 1]],
        7,
    ],
)
def test_forged_units_do_not_pass(units: object) -> None:
    assert forged(build([MEAN]), units=units)["state"] == "NOT_MEASURED"


@pytest.mark.parametrize(
    "units",
    [
        None,
        [["1", 0, 0, 1]],
        [["50", 20, 0, 1]],
        [["1", 51, 0, 1]],
        [["1", 20, 0, 0]],
        [[None, 20, 0, 1]],
        [["0", 0, 1, 1]],
    ],
)
def test_forged_corpora_do_not_pass(units: object) -> None:
    assert forged(build([WER]), units=units)["state"] == "NOT_MEASURED"


@pytest.mark.parametrize("judged", [3, [], {"x": True}, {"x": 500, "failures": 0, "unknown": 0}])
def test_forged_splits_do_not_pass(judged: object) -> None:
    contract = build([ACCURACY], **JUDGE)
    assert forged(contract, judged=judged)["state"] != "PASS" or judged == {"x": True}
    calibration = MetricCalibration(design="external")
    counted = inputs(contract, run(3))
    entry = {**counted["metrics"][0], "judged": judged}
    found = results(contract, {**counted, "metrics": [entry]}, VALID, {"accuracy": calibration})["metrics"][0]
    assert found["state"] == "NOT_MEASURED"


def test_forged_events_and_strata_are_read_as_nothing() -> None:
    entry = forged(build([ACCURACY]), events=7, strata=[1], repeats={"histogram": 3}, by_outcome=None)
    assert entry["state"] == "PASS"
    assert entry["by_outcome"] == {}
    broken = forged(build([ACCURACY]), repeats={"calls": 1, "histogram": {"1": 5}})
    assert broken["dispersion"] is None


def test_a_denominator_that_depends_on_the_answers_is_counted_as_found() -> None:
    among = {**ACCURACY, "among": {"stratum": ["direct"], "class": ["answer"]}}
    records = [record(i, **({"class": "abstention", **WRONG} if i < 20 else {})) for i in range(120)] + run()[120:]
    entry = first(build([{**among, "severity": "reported"}]), records)
    assert (entry["n"], entry["failures"], entry["state"]) == (100, 0, "PASS")


def test_excluded_items_leave_their_cluster() -> None:
    availability = {
        **CLUSTERED,
        "id": "availability",
        "count": {"run_outcome": ["answered"]},
    }
    records = [{**r, "cluster": f"c-{i % 20:04d}"} for i, r in enumerate(run(5, outcome="auditor_failure"))]
    entry = first(build([availability]), records)
    assert (entry["n"], entry["excluded"], entry["clusters"]) == (115, 5, 20)


def test_a_refusal_has_no_score() -> None:
    refused = [record(i, value=None, outcome="refused", verdict="abstention") for i in range(3)]
    scored = [record(i, value="1") for i in range(3, 120)]
    assert first(build([CUT]), [*refused, *scored, *run()[120:]])["failures_vendor"] == 3


def test_a_mean_without_a_scale_measures_nothing() -> None:
    bare = {key: value for key, value in MEAN.items() if key != "scale"}
    contract = build([bare])
    scored = [record(i, **({"outcome": "empty", "value": None} if i == 0 else {"value": "1"})) for i in range(120)]
    assert first(contract, [*scored, *run()[120:]])["state"] == "NOT_MEASURED"
    empty_scale = build([{**MEAN, "scale": ["1", "1"], "threshold": "1"}])
    assert first(empty_scale, [*scored, *run()[120:]])["state"] == "NOT_MEASURED"


def test_unknown_scores_of_nobody() -> None:
    scored = [record(i, **({"outcome": "unresolved", "value": None} if i == 0 else {"value": "1"})) for i in range(120)]
    entry = first(build([MEAN]), [*scored, *run()[120:]])
    assert entry["state"] == "PASS"
    assert Fraction(entry["exact"]["high"]) == 1
    errors = [record(i, errors=0, weight=20, **({"outcome": "unresolved"} if i == 0 else {})) for i in range(120)]
    assert first(build([WER]), [*errors, *run()[120:]])["state"] == "PASS"


def test_no_errors_at_all_have_a_bound() -> None:
    errors = [record(i, errors=0, weight=0) for i in range(120)]
    assert state(first(build([WER]), [*errors, *run()[120:]])) == ("NOT_MEASURED", "score_off_scale")


def test_guarded_rejection_of_a_bank() -> None:
    metric = {**ACCURACY, "estimand": "bank", "decision": {"rule": "guarded_rejection"}}
    entry = first(build([metric]), run(3))
    assert entry["pass_max_failures"] == entry["breach_min_failures"] - 1
    assert Fraction(entry["risk_false_pass"]) > Fraction("0.9")
    assert entry["breach_min_failures"] == 18  # of a population it would be 20
    exact = bank_tails(17, 18, 120, 240, Fraction("0.90"))
    assert entry["risk_false_pass"] == real9(exact.p_greater)
    assert entry["risk_false_breach"] == real9(exact.p_less)
    tiny = {
        "strata": {"direct": 3, "out_of_corpus": 60},
        "size": 63,
        "sample": {"per_stratum": {"direct": 1, "out_of_corpus": 30}},
    }
    few = first(build([{**metric, "threshold": "0.4"}], evaluation_set=tiny), [record(0), *run()[120:]])
    assert (few["pass_max_failures"], few["state"]) == (None, "INCONCLUSIVE")
    assert few["risk_false_pass"] == "0.000000000"


def test_a_bank_settles_at_most_with_all_of_it() -> None:
    entry = first(build([{**ACCURACY, "estimand": "bank"}]), run(10))
    assert entry["settle"]["n"] == 240


def test_a_sample_above_its_bank_measures_nothing() -> None:
    contract = build(
        [{**ACCURACY, "estimand": "bank"}], evaluation_set={"strata": {"direct": 100, "out_of_corpus": 60}}
    )
    assert state(first(contract, run())) == ("NOT_MEASURED", "rule_undefined")


def test_weights_of_strata_nobody_drew() -> None:
    both = {**ACCURACY, "among": {"stratum": ["direct", "out_of_corpus"]}}
    contract = build([both], evaluation_set={"weights": {"otro": "1"}})
    assert first(contract, run())["method"] == "exact"


def test_a_family_without_correction() -> None:
    contract = build([ACCURACY, HALLUCINATION], verdict={"multiplicity": "none"})
    numbers = results(contract, inputs(contract, run(20)), VALID)
    assert [m["breach_min_failures"] for m in numbers["metrics"]] == [20, 24]
    assert numbers["metrics"][0]["state"] == "BREACH"


def test_judge_designs_at_their_edges() -> None:
    contract = build([ACCURACY], **JUDGE)
    everything = [record(i, decided_by="judge") for i in range(120)] + run()[120:]
    cells = MetricCalibration(design="stratified_audit")
    assert state(first(contract, everything, calibrations={"accuracy": cells})) == (
        "NOT_MEASURED",
        "calibration_too_small",
    )
    unknown = [record(i, decided_by="judge", verdict=None) if i == 0 else record(i) for i in range(120)] + run()[120:]
    entry = first(contract, unknown)
    assert (entry["unresolved"], entry["state"]) == (1, "PASS")
    settled = first(contract, judged_run(6, 0))
    assert settled["method"] == "exact"


def test_limitations_of_a_catalogue_and_of_quiet_retries() -> None:
    contract = build([ACCURACY], scope={"catalogue": {"digest": "sha256:" + "d" * 64, "as_of": "2025-02-01"}}, **JUDGE)
    items = {i["code"]: i["args"] for i in limitations(contract, LimitationFacts())["items"]}
    pinned = {"digest": "sha256:" + "d" * 64, "as_of": "2025-02-01"}
    assert items["L06"] == {"catalogue": True, "marked": False, **pinned}
    assert "L13" not in items
    own = build([ACCURACY], **JUDGE, contract={"purpose": "self_check"}, ledger={"start_anchor": None})
    assert {i["code"]: i["args"] for i in limitations(own, LimitationFacts())["items"]}["L20"]["anchor"] == "none"


def test_credits_of_rates_that_do_not_exist() -> None:
    contract = build(
        [ACCURACY],
        remedies={
            "base_amount": "100",
            "credits": [{"metric": "accuracy", "below": "0.50", "share": "0.1"}],
            "allocation": {"otra": "1"},
        },
    )
    numbers = results(contract, inputs(contract, run(30)), VALID)
    assert decide(contract, numbers, VALID)["remedies"]["lines"] == []
    for rate in (None, "x", "NaN", 3):
        broken = {"metrics": [{**numbers["metrics"][0], "rate": rate}]}
        assert decide(contract, broken, VALID)["remedies"]["lines"] == []
    deep = results(contract, inputs(contract, run(90)), VALID)
    assert decide(contract, deep, VALID)["remedies"]["lines"][0]["amount"] in ("0", "0.0", "0.00")


def test_means_are_in_no_paired_comparison() -> None:
    assert compare_versions(build([MEAN]), [])["metrics"] == []
    clustered = build([CLUSTERED], schedule={"change_check": {"max_loss": "0.05", "metrics": ["accuracy"]}})
    pairs = [record(i, side=side, cluster="c-0001") for i in range(60) for side in ("current", "candidate")]
    assert Fraction(compare_versions(clustered, pairs)["metrics"][0]["change_check"]["deff"]) > 10


def test_facts_of_a_metric_whose_counts_are_forged() -> None:
    row = {"id": "a", "direction": "at_least", "observations": 2, "x": 2, "unresolved": 5}
    assert metric_facts({"metrics": [row]})[0].rate_low is None


def test_a_metric_absent_from_the_results_is_not_measured() -> None:
    found = decide(build([ACCURACY]), {"metrics": []}, VALID)
    assert (found["state"], found["metrics"][0]["reason"]) == ("NOT_MEASURED", "no_observations")


def test_rules_that_are_no_rules() -> None:
    rules = [
        7,
        {"rule": "a@1", "status": "undetermined"},
        {"status": "decided", "correctness": "incorrect", "reason": "sign"},
    ]
    assert inputs(build([ACCURACY]), run(2, **WRONG, rules=rules))["metrics"][0]["by_reason"] == {"sign": 2}


def test_states_of_a_forged_document() -> None:
    assert states(build([ACCURACY]), {"metrics": [3, {"id": 5}]}, VALID)["state"] == "NOT_MEASURED"
