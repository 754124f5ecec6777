"""Each way to measure: clusters, repeats, weights, bank, quantiles, means, corpus rates, judge, integrity, stages."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from slaverify.canonical import jcs
from slaverify.decision import MetricCalibration, RunValidity, decide, dispute_states, inputs, results, states
from slaverify.statistics import Cell, Confusion
from tests.decision.build import ACCURACY, HALLUCINATION, JUDGE, TIMED_OUT, WRONG, build, record, run

VALID = RunValidity(True)


def first(contract, records: list, validity: RunValidity = VALID, **kwargs: object) -> dict:
    counted = inputs(contract, records)
    numbers = results(contract, counted, validity, **kwargs)
    jcs(numbers)
    decision = decide(contract, numbers, validity)
    jcs(decision)
    alone = states(contract, counted, validity, **kwargs)
    assert alone["state"] == decision["state"]
    assert [(m["state"], m["reason"]) for m in alone["metrics"]] == [
        (m["state"], m["reason"]) for m in decision["metrics"]
    ]
    return numbers["metrics"][0]


def state(entry: dict) -> tuple:
    return entry["state"], entry["reason"]


CLUSTERED = {**ACCURACY, "cluster": {"by": "norm", "icc_floor": "0.2"}}


def clustered(groups: int, wrong: int = 0) -> list:
    return [{**r, "cluster": f"c-{i % groups:04d}"} for i, r in enumerate(run(wrong)[:120])] + run()[120:]


def test_clusters_have_no_integers_and_print_their_sample() -> None:
    entry = first(build([CLUSTERED]), clustered(24))
    assert (entry["method"], entry["pass_max_failures"], entry["breach_min_failures"]) == ("clustered", None, None)
    assert Fraction(entry["deff"]) > 1
    assert Fraction(entry["n_eff"]) < 120
    assert entry["distinct_subjects"] == 24
    assert entry["assumptions"] == ["clusters_exchangeable"]
    assert state(entry) == ("PASS", None)
    assert entry["tipping"]["to_pass"] == 0


@pytest.mark.parametrize(
    ("groups", "expected"),
    [(1, ("NOT_MEASURED", "one_cluster")), (4, ("INCONCLUSIVE", "few_clusters")), (5, ("INCONCLUSIVE", None))],
)
def test_few_clusters(groups: int, expected: tuple) -> None:
    assert state(first(build([CLUSTERED]), clustered(groups, wrong=6))) == expected


def test_few_clusters_never_enter_the_family() -> None:
    contract = build([CLUSTERED, HALLUCINATION])
    records = clustered(4, wrong=60)
    numbers = results(contract, inputs(contract, records), VALID)
    assert numbers["metrics"][0]["p_breach_adjusted"] is None
    assert numbers["metrics"][1]["state"] == "BREACH"


def test_a_breach_of_clusters() -> None:
    entry = first(build([CLUSTERED]), clustered(24, wrong=40))
    assert state(entry) == ("BREACH", None)
    assert entry["tipping"]["to_breach"] == 0
    assert entry["tipping"]["to_change"] >= 1
    assert "L11" not in entry["limitations"]
    assert "L11" in first(build([CLUSTERED]), clustered(9, wrong=6))["limitations"]


def test_an_item_without_a_cluster_is_one_by_itself() -> None:
    records = [{**r, "cluster": None} for r in run(3)]
    assert first(build([CLUSTERED]), records)["distinct_subjects"] == 120


def repeated(per_item: int, wrong_calls: dict[int, int]) -> list:
    out = []
    for i in range(120):
        for k in range(per_item):
            out.append(record(i, repetition=k, **(WRONG if k < wrong_calls.get(i, 0) else {})))
    return out + [record(1000 + i, "out_of_corpus", repetition=k) for i in range(30) for k in range(per_item)]


def test_repeats_do_not_buy_items() -> None:
    contract = build([ACCURACY], repetitions={"per_item": 5, "aggregate": "each_call"})
    entry = first(contract, repeated(5, {0: 2, 1: 5}))
    assert (entry["n"], entry["observations"], entry["failures"], entry["distinct_subjects"]) == (120, 600, 7, 120)
    assert entry["n_eff"] == "120.000000000"
    assert entry["rate"] == "0.988333333"
    assert entry["method"] == "repeats"
    assert Fraction(entry["dispersion"]["icc"]) > 0
    flat = first(contract, repeated(5, {}))
    assert (flat["dispersion"], flat["dispersion_reason"]) == (None, "no_variation")


def test_all_of_k_is_exact() -> None:
    contract = build([ACCURACY], repetitions={"per_item": 3, "aggregate": "all_of_k"})
    entry = first(contract, repeated(3, {0: 1, 1: 3}))
    assert (entry["method"], entry["n"], entry["failures"], entry["x"]) == ("exact", 120, 2, 118)
    assert entry["state"] == "PASS"


def test_repeats_in_clusters() -> None:
    contract = build([CLUSTERED], repetitions={"per_item": 2, "aggregate": "each_call"})
    records = [{**r, "cluster": f"c-{int(r['item_id'][2:]) % 20:04d}"} for r in repeated(2, {0: 1})]
    entry = first(contract, records)
    assert entry["clusters"] == 20
    assert Fraction(entry["n_eff"]) < 120


@pytest.mark.parametrize("drop", [0, 7, -1])
def test_a_missing_repeat_is_an_invalid_run(drop: int) -> None:
    contract = build([ACCURACY], repetitions={"per_item": 3})
    records = repeated(3, {})
    del records[drop if drop >= 0 else 300]
    assert state(first(contract, records)) == ("INVALID_RUN", "run_invalid")


def test_repeats_nobody_pinned_are_an_invalid_run_unless_a_dispersion_sample_is() -> None:
    extra = [*run(), record(0, repetition=1)]
    assert state(first(build([ACCURACY]), extra)) == ("INVALID_RUN", "run_invalid")
    allowed = build([ACCURACY], repetitions={"dispersion_sample": {"items": 30, "repeats": 8}})
    assert state(first(allowed, extra)) == ("PASS", None)


BOTH = {**ACCURACY, "among": {"stratum": ["direct", "out_of_corpus"]}}


def strata_run(wrong_direct: int, wrong_other: int) -> list:
    rest = [record(1000 + i, "out_of_corpus", **(WRONG if i < wrong_other else {})) for i in range(30)]
    return [*run(wrong_direct)[:120], *rest]


def test_proportional_weights_are_a_simple_sample() -> None:
    entry = first(
        build([BOTH], evaluation_set={"weights": {"direct": "0.8", "out_of_corpus": "0.2"}}), strata_run(2, 1)
    )
    assert entry["method"] == "exact"
    assert entry["pass_max_failures"] is not None


def test_other_weights_weigh() -> None:
    entry = first(
        build([BOTH], evaluation_set={"weights": {"direct": "0.5", "out_of_corpus": "0.5"}}), strata_run(0, 6)
    )
    assert entry["method"] == "weighted"
    assert entry["rate"] == "0.900000000"
    assert Fraction(entry["n_eff"]) < 150


def test_a_lonely_stratum_has_no_number() -> None:
    contract = build(
        [BOTH],
        evaluation_set={
            "weights": {"direct": "0.5", "out_of_corpus": "0.5"},
            "sample": {"per_stratum": {"direct": 120, "out_of_corpus": 1}},
        },
    )
    assert state(first(contract, [*run()[:120], record(1000, "out_of_corpus")])) == ("NOT_MEASURED", "rule_undefined")


def test_the_bank_is_another_question() -> None:
    bank = first(build([{**ACCURACY, "estimand": "bank"}]), run(7))
    assert bank["method"] == "finite_bank"
    assert bank["state"] == "PASS"
    assert first(build([ACCURACY]), run(7))["state"] == "INCONCLUSIVE"
    assert Fraction(bank["exact"]["high"]) <= 1
    assert bank["conformance_probability"] is None


def test_a_census_compares() -> None:
    census = build(
        [{**ACCURACY, "estimand": "bank"}],
        evaluation_set={
            "size": 150,
            "strata": {"direct": 120, "out_of_corpus": 30},
            "sample": {"method": "full", "per_stratum": None},
        },
    )
    assert state(first(census, run(12))) == ("PASS", None)
    assert state(first(census, run(13))) == ("BREACH", None)


LATENCY = {
    "id": "latency",
    "name": {"es": "Latencia", "en": "Latency"},
    "kind": "quantile",
    "count": {"outcome": ["answered"]},
    "among": {"stratum": ["direct"]},
    "direction": "at_least",
    "threshold": "0.90",
    "limit_s": "2",
    "decision": {},
}


def test_a_quantile_is_a_rate_and_a_missing_answer_is_late() -> None:
    slow = {"latency_ms": 2001}
    assert first(build([LATENCY]), run(3, **slow))["failures"] == 3
    assert first(build([LATENCY]), run(3, latency_ms=2000))["failures"] == 0
    assert first(build([LATENCY]), run(3, **TIMED_OUT, latency_ms=None))["failures_vendor"] == 3
    assert first(build([LATENCY]), run(1, latency_ms=None))["unresolved"] == 1


CUT = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"], "cut": "0.7"}
MEAN = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"], "threshold": "0.80"}


def scored(*scores: str | None, **changes: object) -> list:
    return [record(i, value=scores[i % len(scores)], **changes) for i in range(120)] + run()[120:]


def test_a_cut_makes_a_mean_a_rate() -> None:
    entry = first(build([CUT]), scored("0.9", "0.7", "1"))
    assert (entry["method"], entry["failures"], entry["state"]) == ("exact", 0, "PASS")
    assert first(build([CUT]), scored("0.69"))["state"] == "BREACH"
    assert first(build([CUT]), scored("0.9", "0.9", "0.9", None))["unresolved"] == 30


def test_a_mean_is_decided_by_bets() -> None:
    entry = first(build([MEAN]), scored("1"))
    assert (entry["method"], entry["state"], entry["rate"]) == ("betting", "PASS", "1.000000000")
    assert entry["provenance"] == "derived"
    assert Fraction(entry["exact"]["low"]) > Fraction(8, 10)
    low = first(build([MEAN]), scored("0.2", "0.4"))
    assert (low["state"], low["rate"]) == ("BREACH", "0.300000000")
    assert first(build([MEAN]), scored("0.8"))["state"] == "INCONCLUSIVE"


def test_a_failed_call_has_the_worst_score() -> None:
    records = [record(i, value="1", **(TIMED_OUT if i < 60 else {})) for i in range(120)]
    records = [{**r, "value": None} if r["outcome"] != "answered" else r for r in records]
    assert first(build([MEAN]), [*records, *run()[120:]])["rate"] == "0.500000000"


@pytest.mark.parametrize("score", ["1.2", "85", "-0.1", "NaN", "x"])
def test_a_score_off_its_scale_measures_nothing(score: str) -> None:
    found = first(build([MEAN]), scored("0.9", score))
    assert found["state"] in ("NOT_MEASURED", "INVALID_RUN", "INCONCLUSIVE")
    assert found["state"] != "PASS"


def test_an_unknown_score_goes_both_ways() -> None:
    entry = first(build([MEAN]), scored("0.9", None))
    assert entry["state"] == "INCONCLUSIVE"
    assert Fraction(entry["exact"]["low"]) < Fraction(1, 2)


def test_a_mean_at_most_mirrors() -> None:
    mirrored = {**MEAN, "direction": "at_most", "threshold": "0.20"}
    good, bad = first(build([mirrored]), scored("0")), first(build([mirrored]), scored("0.9"))
    assert (good["state"], good["rate"]) == ("PASS", "0.000000000")
    assert (bad["state"], bad["rate"]) == ("BREACH", "0.900000000")
    assert Fraction(good["exact"]["high"]) < Fraction(2, 10)


def test_means_over_clusters() -> None:
    contract = build([{**MEAN, "cluster": {"by": "norm", "icc_floor": "0.2"}}])
    records = [{**r, "cluster": f"c-{i % 40:04d}"} for i, r in enumerate(scored("1")[:120])] + run()[120:]
    entry = first(contract, records)
    assert (entry["clusters"], entry["state"]) == (40, "PASS")
    few = [{**r, "cluster": f"c-{i % 4:04d}"} for i, r in enumerate(scored("1")[:120])] + run()[120:]
    assert state(first(contract, few)) == ("INCONCLUSIVE", "few_clusters")


WER = {
    **ACCURACY,
    "count": None,
    "kind": "corpus_rate",
    "direction": "at_most",
    "threshold": "0.30",
    "w_max": 50,
    "r_max": "2",
}


def test_a_corpus_rate_pools() -> None:
    good = [record(i, errors=i % 2, weight=20) for i in range(120)] + run()[120:]
    entry = first(build([WER]), good)
    assert (entry["rate"], entry["state"], entry["method"]) == ("0.025000000", "PASS", "betting")
    bad = [record(i, errors=18, weight=20) for i in range(120)] + run()[120:]
    assert first(build([WER]), bad)["state"] == "BREACH"
    failed = [record(i, errors=None, weight=20, **TIMED_OUT) for i in range(120)] + run()[120:]
    assert first(build([WER]), failed)["rate"] == "1.000000000"
    long = [record(i, errors=0, weight=51) for i in range(120)] + run()[120:]
    assert state(first(build([WER]), long)) == ("NOT_MEASURED", "score_off_scale")


AVAILABILITY = {
    "id": "availability",
    "name": {"es": "Disponibilidad", "en": "Availability"},
    "kind": "rate",
    "count": {"run_outcome": ["answered", "refused", "truncated", "empty"]},
    "among": {"stratum": ["direct"]},
    "direction": "at_least",
    "threshold": "0.90",
    "decision": {},
}


def test_availability_counts_its_own_failures() -> None:
    for outcome, key in (("truncated", "x"), ("empty", "x"), ("refused", "x"), ("malformed", "failures_vendor")):
        entry = first(build([AVAILABILITY]), run(5, outcome=outcome))
        assert entry[key] == (120 if key == "x" else 5), outcome
    outside = first(build([AVAILABILITY]), run(5, outcome="auditor_failure"))
    assert (outside["n"], outside["excluded"], outside["x"], outside["state"]) == (115, 5, 115, "PASS")
    assert first(build([AVAILABILITY]), run(1, outcome="unresolved"))["unresolved"] == 1


def test_announced_exclusions() -> None:
    contract = build(
        [ACCURACY, CLUSTERED | {"id": "by_norm"}], failed_calls={"not_sent": {"counts_as": {"excluded_up_to": 3}}}
    )
    records = [{**r, "cluster": f"c-{i % 30:04d}"} for i, r in enumerate(run(4, outcome="not_sent"))]
    entry = first(contract, records)
    assert (entry["n"], entry["excluded"], entry["unresolved"]) == (117, 3, 1)
    assert entry["pass_max_failures"] is not None
    assert entry["state"] == "PASS"
    second = results(contract, inputs(contract, records), VALID)["metrics"][1]
    assert (second["n"], second["unresolved"]) == (117, 1)


def test_a_vendors_fault_is_never_excluded() -> None:
    contract = build([ACCURACY], failed_calls={"unresolved": {"counts_as": {"excluded_up_to": 50}}})
    assert first(contract, run(30, **TIMED_OUT))["state"] == "BREACH"


def test_an_auditors_outage_is_no_breach() -> None:
    assert first(build([ACCURACY]), run(4, outcome="auditor_failure"))["state"] == "INVALID_RUN"
    assert first(build([ACCURACY]), run(1, outcome="auditor_failure"))["state"] == "PASS"


SIMPLE_RULES = [
    ({"rule": "simple"}, 12, 13),
    ({"rule": "zero_observed"}, 0, 1),
    ({"rule": "two_point", "f0": "0.02", "r0": "0.05", "f1": "0.12", "r1": "0.05"}, 5, 6),
]


@pytest.mark.parametrize(("rule", "last_pass", "first_breach"), SIMPLE_RULES)
def test_rules_without_a_test_stay_out_of_the_family(rule: dict, last_pass: int, first_breach: int) -> None:
    contract = build([{**ACCURACY, "decision": rule}, HALLUCINATION])
    for wrong, expected in ((last_pass, "PASS"), (first_breach, "BREACH")):
        numbers = results(contract, inputs(contract, run(wrong)), VALID)
        assert numbers["metrics"][0]["state"] == expected
        assert numbers["metrics"][0]["p_breach_adjusted"] is None
        assert numbers["metrics"][1]["breach_min_failures"] == 24  # k = 1
        assert decide(contract, numbers, VALID)["state"] in (expected, "INCONCLUSIVE")


def test_a_threshold_of_one_needs_its_rule() -> None:
    assert state(first(build([{**ACCURACY, "threshold": "1"}]), run())) == ("NOT_MEASURED", "rule_undefined")
    assert (
        first(build([{**ACCURACY, "threshold": "1", "decision": {"rule": "zero_observed"}}]), run())["state"] == "PASS"
    )


def test_guarded_rejection() -> None:
    contract = build([{**ACCURACY, "decision": {"rule": "guarded_rejection"}}])
    assert first(contract, run(19))["state"] == "PASS"
    assert first(contract, run(20))["state"] == "BREACH"
    doubtful = run(1, outcome="unresolved")
    doubtful = [record(i, **WRONG) if 1 <= i < 20 else r for i, r in enumerate(doubtful)]
    assert first(contract, doubtful)["state"] == "INCONCLUSIVE"


def test_too_few_items_are_insufficient() -> None:
    contract = build([ACCURACY], evaluation_set={"sample": {"per_stratum": {"direct": 30, "out_of_corpus": 30}}})
    records = [record(i) for i in range(30)] + run()[120:]
    entry = first(contract, records)
    assert state(entry) == ("NOT_MEASURED", "provenance_insufficient")
    assert (entry["rate"], entry["required_subjects"], entry["provenance"]) == ("1.000000000", 36, "insufficient")
    floor = build([{**ACCURACY, "min_subjects": 200}])
    assert state(first(floor, run())) == ("NOT_MEASURED", "provenance_insufficient")


def test_declared_results_decide_nothing() -> None:
    entry = first(build([ACCURACY]), run(), RunValidity(True, provenance="declared"))
    assert state(entry) == ("NOT_MEASURED", "provenance_declared")
    assert entry["rate"] == "1.000000000"


def test_reported_metrics_never_move_the_verdict() -> None:
    contract = build([ACCURACY, {**HALLUCINATION, "severity": "reported"}])
    numbers = results(contract, inputs(contract, run(30)[:90] + run(0)[90:]), VALID)
    reported = build([{**ACCURACY, "severity": "reported"}])
    found = decide(reported, results(reported, inputs(reported, run()), VALID), VALID)
    assert found["state"] == "NOT_MEASURED"
    assert numbers["metrics"][1]["p_breach_adjusted"] is None
    assert numbers["metrics"][1]["state"] == "BREACH"
    pilot = build([ACCURACY], contract={"purpose": "pilot"})
    assert decide(pilot, results(pilot, inputs(pilot, run()), VALID), VALID)["state"] == "NOT_MEASURED"


MANIPULATION = {"events": [{"code": "injection_suspected", "level": "manipulation", "confirmed": True}]}


def test_confirmed_manipulation_never_passes() -> None:
    assert state(first(build([ACCURACY]), run(1, **MANIPULATION))) == ("INCONCLUSIVE", "manipulation_confirmed")
    suspected = {"events": [{"code": "markup", "level": "manipulation", "confirmed": False}]}
    assert first(build([ACCURACY]), run(1, **suspected))["state"] == "PASS"
    capped = build([ACCURACY], verdict={"integrity": {"manipulation_cap": 1}})
    assert first(capped, run(1, **MANIPULATION))["state"] == "PASS"
    breach = build([ACCURACY], verdict={"integrity": {"effect": "breach"}})
    assert state(first(breach, run(1, **MANIPULATION))) == ("BREACH", "manipulation_confirmed")
    counted = inputs(breach, run(1, **MANIPULATION))
    assert states(breach, counted, VALID)["state"] == "BREACH"


def test_patterns_block_only_where_bound() -> None:
    constant = {"events": [{"code": "constant_output", "level": "pattern", "confirmed": False}]}
    assert first(build([ACCURACY]), run(1, **constant))["state"] == "PASS"
    bound = build([ACCURACY], verdict={"integrity": {"binding_patterns": ["constant_output"]}})
    assert state(first(bound, run(1, **constant))) == ("INCONCLUSIVE", "binding_pattern")
    drifted = {"events": [{"code": "change_point", "level": "identity", "confirmed": False}]}
    assert state(first(build([ACCURACY]), run(1, **drifted))) == ("INCONCLUSIVE", "binding_pattern")


def test_another_engine_is_what_the_contract_says() -> None:
    stopped = [
        record(i, outcome="engine_mismatch" if i == 40 else "not_sent" if i > 40 else "answered") for i in range(120)
    ]
    stopped = [*stopped, *[record(1000 + i, "out_of_corpus", outcome="not_sent") for i in range(30)]]
    assert first(build([ACCURACY]), stopped)["state"] == "INVALID_RUN"
    strict = build([ACCURACY], engine={"on_mismatch": "breach"})
    assert state(first(strict, stopped)) == ("BREACH", "engine_mismatch")
    assert states(strict, inputs(strict, stopped), VALID)["state"] == "BREACH"
    assert states(strict, inputs(strict, stopped), RunValidity(False, "ledger"))["state"] == "INVALID_RUN"


EXTEND = {
    "inconclusive": {"extend": {"per_stratum": {"direct": 120, "out_of_corpus": 30}, "spending": ["0.005", "0.0225"]}}
}


def test_two_stages() -> None:
    contract = build([ACCURACY], verdict=EXTEND)
    one = first(contract, run(3))
    assert one["n"] == 120
    assert one["pass_max_failures"] < first(build([ACCURACY]), run(3))["pass_max_failures"]
    both = [record(i, **(WRONG if i < 12 else {})) for i in range(240)] + [
        record(1000 + i, "out_of_corpus") for i in range(60)
    ]
    two = first(contract, both)
    assert (two["n"], two["state"]) == (240, "PASS")
    between = both[:200] + both[240:]
    assert state(first(contract, between)) == ("INVALID_RUN", "run_invalid")


JUDGED = {"decided_by": "judge"}


def judged_run(wrong: int, judged: int) -> list:
    return [
        record(i, **(WRONG if i < wrong else {}), **(JUDGED if i >= 120 - judged else {})) for i in range(120)
    ] + run()[120:]


def test_without_calibration_only_rules_prove() -> None:
    contract = build([ACCURACY], **JUDGE)
    assert state(first(contract, judged_run(0, 5))) == ("PASS", None)
    assert state(first(contract, judged_run(0, 6))) == ("NOT_MEASURED", "judge_uncalibrated")
    assert state(first(contract, judged_run(21, 60))) == ("BREACH", None)
    all_judged = [record(i, **WRONG, **JUDGED) for i in range(120)] + run()[120:]
    assert state(first(contract, all_judged)) == ("NOT_MEASURED", "judge_uncalibrated")
    assert "L01" in first(contract, judged_run(0, 6))["limitations"]


def test_the_parties_may_trust_the_judge_and_the_figure_says_so() -> None:
    contract = build([ACCURACY], judge={**JUDGE["judge"], "on_uncalibrated": "declared_limitation"})
    entry = first(contract, judged_run(0, 60))
    assert state(entry) == ("PASS", None)
    assert entry["assumptions"] == ["judge_taken_as_truth"]


def test_judge_drift_takes_only_what_was_judged() -> None:
    contract = build(
        [ACCURACY, {**HALLUCINATION, "among": {"stratum": ["out_of_corpus"]}, "threshold": "0.20"}], **JUDGE
    )
    drifted = RunValidity(True, judge_drift=True)
    numbers = results(contract, inputs(contract, judged_run(0, 60)), drifted)
    assert [m["reason"] for m in numbers["metrics"]] == ["judge_drift", None]
    assert decide(contract, numbers, drifted)["state"] == "INVALID_RUN"


def test_calibrated_designs() -> None:
    contract = build([ACCURACY], **JUDGE)
    records = judged_run(2, 60)
    external = MetricCalibration(design="external", confusion=Confusion(195, 200, 396, 400))
    audit = MetricCalibration(design="stratified_audit", cells=(Cell(60, 60, 60),))
    sample = MetricCalibration(design="random_audit", pairs=(58, 0, 0, 2))
    methods = {}
    for calibration in (external, audit, sample):
        entry = first(contract, records, calibrations={"accuracy": calibration})
        methods[entry["method"]] = entry["state"]
        assert entry["provenance"] == "derived"
        assert entry["pass_max_failures"] is None
        assert 0 <= Fraction(entry["exact"]["low"]) <= Fraction(entry["rate"]) <= Fraction(entry["exact"]["high"]) <= 1
        assert entry["settle"] is None
    assert methods == {"mixed": "PASS", "stratified_audit": "PASS", "human_audit": "PASS"}


def test_a_refused_calibration_names_its_guard() -> None:
    contract = build([ACCURACY], **JUDGE)
    for calibration, reason in (
        (MetricCalibration(design="external", confusion=Confusion(10, 20, 10, 20)), "calibration_too_small"),
        (MetricCalibration(design="external", confusion=Confusion(20, 40, 20, 40)), "judge_not_informative"),
        (
            MetricCalibration(design="external", confusion=Confusion(45, 50, 45, 50), guard="calibration_inconsistent"),
            "calibration_inconsistent",
        ),
        (MetricCalibration(design="stratified_audit"), "calibration_too_small"),
        (MetricCalibration(design="random_audit", pairs=(500, 0, 0, 0)), "calibration_too_small"),
        (MetricCalibration(design="random_audit"), "data_absent"),
        (MetricCalibration(design="sorcery"), "data_absent"),
    ):
        assert state(first(contract, judged_run(0, 60), calibrations={"accuracy": calibration})) == (
            "NOT_MEASURED",
            reason,
        )


def test_calibration_inconsistent_never_passes() -> None:
    contract = build([ACCURACY], **JUDGE)
    everything = [record(i, **JUDGED) for i in range(120)] + run()[120:]
    calibration = MetricCalibration(design="external", confusion=Confusion(45, 50, 45, 50))
    assert state(first(contract, everything, calibrations={"accuracy": calibration})) == (
        "NOT_MEASURED",
        "calibration_inconsistent",
    )


def test_everything_judged() -> None:
    contract = build([ACCURACY], **JUDGE)
    everything = [record(i, **JUDGED, **(WRONG if i < 3 else {})) for i in range(120)] + run()[120:]
    found = {}
    for calibration in (
        MetricCalibration(design="external", confusion=Confusion(198, 200, 396, 400)),
        MetricCalibration(design="stratified_audit", cells=(Cell(117, 100, 100), Cell(3, 3, 0))),
    ):
        entry = first(contract, everything, calibrations={"accuracy": calibration})
        found[entry["method"]] = entry["state"]
    assert found == {"judge_corrected": "PASS", "stratified_audit": "PASS"}


def test_at_most_under_a_judge_is_turned_once() -> None:
    contract = build([{**HALLUCINATION, "among": {"stratum": ["direct"]}}], **JUDGE)
    calibration = MetricCalibration(design="external", confusion=Confusion(195, 200, 396, 400))
    entry = first(contract, judged_run(2, 60), calibrations={"hallucination": calibration})
    assert Fraction(entry["rate"]) < Fraction(1, 10)
    assert Fraction(entry["exact"]["low"]) <= Fraction(entry["rate"]) <= Fraction(entry["exact"]["high"])


def test_clusters_of_judged_items() -> None:
    contract = build([CLUSTERED], **JUDGE)
    records = [{**r, "cluster": f"c-{i % 40:04d}"} for i, r in enumerate(judged_run(2, 60))]
    calibration = MetricCalibration(design="external", confusion=Confusion(195, 200, 396, 400))
    plain = first(build([ACCURACY], **JUDGE), judged_run(2, 60), calibrations={"accuracy": calibration})
    entry = first(contract, records, calibrations={"accuracy": calibration})
    assert Fraction(entry["exact"]["low"]) < Fraction(plain["exact"]["low"])
    assert state(first(contract, records)) == ("NOT_MEASURED", "judge_uncalibrated")


def test_reals_are_finite_everywhere() -> None:
    for entry in (first(build([ACCURACY]), run(w)) for w in range(0, 121, 8)):
        for value in entry.values():
            if isinstance(value, str) and value.replace(".", "").isdigit():
                assert math.isfinite(float(value))
    assert Decimal(first(build([ACCURACY]), run(120))["p_breach"]) == 0


def test_disputes() -> None:
    contract = build([ACCURACY])
    scored = run(5)
    none = dispute_states(contract, scored, VALID, disputed=["i-000000"])
    assert (none.state, none.reason) == ("PASS", None)
    fragile = dispute_states(contract, scored, VALID, disputed=["i-000050"])
    assert (fragile.as_scored, fragile.in_favour, fragile.against) == ("PASS", "PASS", "INCONCLUSIVE")
    assert (fragile.state, fragile.reason) == ("INCONCLUSIVE", "dispute_sensitive")
    taken_out = inputs(contract, run(6), {f"i-{i:06d}": "upheld" for i in range(3)})["metrics"][0]
    assert (taken_out["n"], taken_out["excluded"], taken_out["failures"]) == (117, 3, 3)
    assert dispute_states(contract, run(6), VALID, disputed=[], upheld=["i-000000"]).state == "PASS"
    many = dispute_states(contract, run(6), VALID, disputed=[], upheld=[f"i-{i:06d}" for i in range(8)])
    assert (many.state, many.reason) == ("INVALID_RUN", "run_invalid")
    repeats = build([ACCURACY], repetitions={"per_item": 2})
    upheld = inputs(repeats, repeated(2, {0: 2}), {"i-000000": "upheld"})["metrics"][0]
    assert (upheld["n"], upheld["excluded"], upheld["failures"]) == (119, 2, 0)
    assert states(repeats, {"metrics": [upheld]}, VALID)["state"] == "PASS"


def test_as_many_upheld_as_agreed_is_still_a_run() -> None:
    contract = build([ACCURACY])
    share = Fraction(contract.disputes.max_upheld)
    drawn = 150
    edge = int(share * drawn)
    ids = [f"i-{i:06d}" for i in range(edge + 1)]
    if share * drawn == edge:
        assert dispute_states(contract, run(), VALID, disputed=[], upheld=ids[:edge]).state != "INVALID_RUN"
    assert dispute_states(contract, run(), VALID, disputed=[], upheld=ids).state == "INVALID_RUN"


def test_what_is_disputed_does_not_move_the_verdict_as_scored() -> None:
    """The first reading takes nothing out: twelve disputed failures stay failures in it."""
    contract = build([ACCURACY])
    found = dispute_states(contract, run(22), VALID, disputed=[f"i-{i:06d}" for i in range(22)])
    assert (found.as_scored, found.in_favour, found.against) == ("BREACH", "PASS", "BREACH")


def test_missing_answers_are_tested_against_the_strata() -> None:
    contract = build([{**ACCURACY, "among": {"stratum": ["direct", "out_of_corpus"]}}])
    few = first(contract, run(5, **TIMED_OUT))
    assert few["missingness"] is None
    spread = [record(1000 + i, "out_of_corpus", **(TIMED_OUT if i < 2 else {})) for i in range(30)]
    entry = first(contract, [*run(8, **TIMED_OUT)[:120], *spread])
    assert (entry["missingness"]["share"], entry["missingness"]["p"]) == ("0.066666667", "1.000000000")
    selective = first(contract, run(60, **TIMED_OUT))
    assert Fraction(selective["missingness"]["p"]) < Fraction(1, 1000)
    assert first(build([ACCURACY]), run(60, **TIMED_OUT))["missingness"]["p"] is None
