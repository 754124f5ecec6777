"""What the decision reads of a contract: each term from its place, and what stands before any count."""

from __future__ import annotations

from fractions import Fraction

import pytest

from slaverify.decision import RunValidity, inputs, results
from slaverify.decision.terms import terms_of
from tests.decision.build import ACCURACY, HALLUCINATION, JUDGE, build, record, run
from tests.judging.calibration.people import by_criteria, contract

VALID = RunValidity(True)
MEAN = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"], "threshold": "0.80"}
WEIGHTS = {"weights": {"direct": "0.5", "out_of_corpus": "0.5"}}
CLUSTER = {"by": "norm", "icc_floor": "0.2"}


def first(contract_, records: list, validity: RunValidity = VALID) -> dict:
    return results(contract_, inputs(contract_, records), validity)["metrics"][0]


def test_a_quantile_is_a_rate_within_the_limit_whatever_its_sense_was_written_as() -> None:
    slow = {**ACCURACY, "kind": "quantile", "limit_s": "1.5", "count": None, "direction": "at_most"}
    (terms,) = terms_of(build([slow]))
    assert (terms.direction, terms.t, terms.limit_ms) == ("at_least", Fraction("0.9"), 1500)
    (error,) = terms_of(build([HALLUCINATION]))
    assert (error.direction, error.t) == ("at_most", Fraction("0.9"))


def test_names_are_those_of_the_contract_and_else_the_usual_ones() -> None:
    (plain,) = terms_of(build([{key: value for key, value in MEAN.items() if key != "value"}]))
    assert (plain.unit, plain.value) == ("item", "value")
    (named,) = terms_of(build([{**MEAN, "unit": "page", "value": "errors"}]))
    assert (named.unit, named.value) == ("page", "errors")


def test_a_bank_is_the_strata_of_its_metric_and_no_other() -> None:
    both = {**ACCURACY, "among": {"stratum": ["direct", "out_of_corpus"]}}
    strange = {**ACCURACY, "among": {"stratum": ["direct", "nadie"]}}
    assert [one.bank_size for one in terms_of(build([ACCURACY, {**both, "id": "b2"}, {**strange, "id": "b3"}]))] == [
        240,
        300,
        240,
    ]


@pytest.mark.parametrize("missing", ["f0", "r0", "f1", "r1"])
def test_two_points_are_four_numbers_or_none(missing: str) -> None:
    rule = {"rule": "two_point", "f0": "0.02", "r0": "0.05", "f1": "0.12", "r1": "0.05"}
    whole = terms_of(build([{**ACCURACY, "decision": rule}]))[0].two_point
    assert whole is not None
    rule[missing] = None
    contract_ = build([{**ACCURACY, "decision": rule}])
    assert terms_of(contract_)[0].two_point is None
    entry = first(contract_, run())
    assert (entry["state"], entry["reason"]) == ("NOT_MEASURED", "rule_undefined")


def test_stages_are_spent_at_the_levels_of_the_metric_and_where_items_are_added() -> None:
    """The spending is written for 0.025 a side: at 0.05 and 0.0125 it doubles and halves."""
    levels = {"alpha_pass": "0.05", "alpha_breach": "0.0125"}
    other = {**ACCURACY, "id": "other", "among": {"stratum": ["out_of_corpus"]}}
    extend = {"extend": {"per_stratum": {"direct": 80}, "spending": ["0.005", "0.0225"]}}
    own, beside = terms_of(build([{**ACCURACY, "decision": levels}, other], verdict={"inconclusive": extend}))
    assert [(stage.n, stage.alpha_pass, stage.alpha_breach) for stage in own.stages] == [
        (120, Fraction("0.01"), Fraction("0.0025")),
        (200, Fraction("0.045"), Fraction("0.01125")),
    ]
    assert beside.stages == ()


def test_subjects_that_are_required() -> None:
    """0.9 ** 36 is below 0.025, 0.9 ** 35 is not; 59 items see a defect of one in twenty. No such n elsewhere."""
    both = {**ACCURACY, "among": {"stratum": ["direct", "out_of_corpus"]}}
    cases = [
        (build([ACCURACY]), 36),
        (build([{**ACCURACY, "severity": "reported"}]), 59),
        (build([{**ACCURACY, "min_subjects": 100}]), 100),
        (build([{**ACCURACY, "estimand": "bank"}]), None),
        (build([{**ACCURACY, "cluster": CLUSTER}]), None),
        (build([both], evaluation_set=WEIGHTS), None),
        (build([{**ACCURACY, "decision": {"rule": "guarded_rejection"}}]), None),
        (build([MEAN]), None),
        (build([{**ACCURACY, "threshold": "1"}]), None),
    ]
    assert [first(contract_, [])["required_subjects"] for contract_, _ in cases] == [due for _, due in cases]


@pytest.mark.parametrize(("least", "state"), [(120, "PASS"), (121, "NOT_MEASURED")])
def test_as_many_subjects_as_required_are_enough(least: int, state: str) -> None:
    entry = first(build([{**ACCURACY, "min_subjects": least}]), run())
    assert (entry["state"], entry["provenance"]) == (state, "measured" if state == "PASS" else "insufficient")


def test_where_nothing_was_observed_nothing_was_measured_and_one_answer_is_something() -> None:
    by_answer = {**ACCURACY, "among": {"class": ["answer"]}, "min_subjects": 1}
    nothing = [record(i, **{"class": "abstention"}) for i in range(120)]
    entry = first(build([by_answer]), nothing)
    assert (entry["state"], entry["reason"], entry["provenance"]) == ("NOT_MEASURED", "no_observations", "not_measured")
    one = first(build([by_answer]), [record(0), *nothing[1:]])
    assert (one["observations"], one["provenance"]) == (1, "measured")
    assert (one["rate"], one["exact"]["low"]) == ("1.000000000", "0.025000000")


@pytest.mark.parametrize("units", ["row", None, 7, []])
def test_a_mean_over_clusters_that_are_none_has_no_cluster(units: object) -> None:
    contract_ = build([{**MEAN, "cluster": CLUSTER}])
    counted = inputs(contract_, [record(i, value="1", cluster=f"c-{i % 40:04d}") for i in range(120)])
    forged = {**counted, "metrics": [{**counted["metrics"][0], "units": units}]}
    entry = results(contract_, forged, VALID)["metrics"][0]
    assert (entry["state"], entry["reason"], entry["clusters"]) == ("NOT_MEASURED", "one_cluster", 0)


def test_a_judge_that_flips_takes_what_it_judged_and_nothing_else() -> None:
    """`None` is the rubric as a whole; with criteria, the one that flips. What no judge decided stays."""
    whole = RunValidity(True, judge_unstable=frozenset({None}))
    judged = [record(i, **({"decided_by": "judge"} if i < 3 else {})) for i in range(120)]
    agreed = build([ACCURACY], **JUDGE)
    unstable = ("NOT_MEASURED", "judge_unstable")
    assert (first(agreed, judged, whole)["state"], first(agreed, judged, whole)["reason"]) == unstable
    assert first(agreed, run(), whole)["state"] == "PASS"
    assert first(agreed, judged)["state"] == "PASS"
    one = RunValidity(True, judge_unstable=frozenset({"trato"}))
    assert first(agreed, judged, one)["state"] == "PASS"
    scored = [record(i, value="1", decided_by="judge") for i in range(120)]
    trusting = build([MEAN], judge={**JUDGE["judge"], "on_uncalibrated": "declared_limitation"})
    assert first(trusting, scored, one)["state"] == "PASS"
    assert first(trusting, scored, whole)["reason"] == "judge_unstable"
    by_one = contract(criteria=True, n=120)
    marks = [by_criteria(i, {"correcta": True, "trato": True}) for i in range(120)]
    found = results(by_one, inputs(by_one, marks), one)["metrics"]
    assert [(entry["id"], entry["reason"]) for entry in found] == [
        ("correcta", "judge_uncalibrated"),
        ("trato", "judge_unstable"),
    ]
