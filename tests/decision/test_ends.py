"""Where a sample, a scale, an audit or a panel begins and ends: one of a thing, all of it, none of it."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from slaverify.decision import (
    MetricCalibration,
    RunValidity,
    compare_runs,
    decide,
    dispute_states,
    inputs,
    metric_calibrations,
    panel_states,
    plan,
    results,
    states,
)
from slaverify.decision.betting import bets
from slaverify.decision.calibrated import Judged, corrected
from slaverify.decision.terms import terms_of
from slaverify.errors import StatisticsError
from slaverify.judging.calibration import UnitKey
from slaverify.scoring import Correctness, Verdict
from slaverify.statistics import Confusion, mixed_interval
from tests.decision.build import ACCURACY, JUDGE, TIMED_OUT, WRONG, build, record, run
from tests.decision.test_corpora import WER
from tests.decision.test_panels import panel, said
from tests.decision.test_people import crossed, whole_audit
from tests.judging.calibration.people import contract as people_contract
from tests.judging.calibration.people import judged, labelled, truthful

VALID = RunValidity(True)
MEAN = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"], "threshold": "0.80"}
EXTERNAL = MetricCalibration(design="external", confusion=Confusion(195, 200, 396, 400))
JUDGED = {"decided_by": "judge"}


def first(contract, records: list, **kwargs: object) -> dict:
    return results(contract, inputs(contract, records), VALID, **kwargs)["metrics"][0]


def ruling(entry: dict) -> tuple:
    return entry["state"], entry["reason"]


def test_as_many_upheld_disputes_as_agreed_are_still_a_run_and_one_more_is_none() -> None:
    contract = build([ACCURACY], disputes={"max_upheld": "0.02"})  # 3 of the 150 drawn
    ids = [f"i-{i:06d}" for i in range(4)]
    assert dispute_states(contract, run(), VALID, disputed=[], upheld=ids[:3]).state == "PASS"
    assert dispute_states(contract, run(), VALID, disputed=[], upheld=ids).state == "INVALID_RUN"
    drawn = contract.evaluation_set.sample.model_copy(update={"per_stratum": {"direct": 1}})
    alone = contract.model_copy(
        update={
            "disputes": contract.disputes.model_copy(update={"max_upheld": Decimal("0.5")}),
            "evaluation_set": contract.evaluation_set.model_copy(update={"sample": drawn}),
        }
    )
    assert dispute_states(alone, [record(0)], VALID, disputed=[], upheld=ids[:1]).state == "INVALID_RUN"


def test_an_upheld_dispute_leaves_a_mean_too() -> None:
    contract = build([MEAN])
    records = [record(i, value="0" if i < 5 else "1") for i in range(120)]
    gone = dict.fromkeys((f"i-{i:06d}" for i in range(5)), "upheld")
    entry = results(contract, inputs(contract, records, gone), VALID)["metrics"][0]
    assert (entry["n"], entry["rate"]) == (115, "1.000000000")


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        ({"threshold": "1", "margin": "0.01"}, []),
        ({"threshold": "0", "margin": "0.01"}, []),
        ({"threshold": "0.9", "margin": "0"}, []),
    ],
)
def test_a_promise_at_an_end_of_its_scale_or_without_margin_needs_no_n(changes: dict, needed: list) -> None:
    assert plan(build([{**ACCURACY, **changes}]))["metrics"][0]["needed"] == needed


def test_a_promise_of_one_is_planned_under_its_own_rule() -> None:
    """No failure of 120 passes: at a true rate of 0.99 that has probability 0.99 ** 120."""
    metric = {**ACCURACY, "threshold": "1", "margin": "0.01", "decision": {"rule": "zero_observed"}}
    found = plan(build([metric]))["metrics"][0]
    assert (found["integers"], found["pass_max_failures"], found["breach_min_failures"]) == (True, 0, 1)
    short, at, beyond = found["points"]
    assert float(short["pass"]) == pytest.approx(0.99**120, abs=1e-9)
    assert (at["pass"], at["breach"], beyond["rate"]) == ("1.000000000", "0.000000000", "1.000000000")


@pytest.mark.parametrize("threshold", ["0", "2", "2.5"])
def test_a_corpus_that_promises_an_end_of_its_scale_has_no_bet(threshold: str) -> None:
    entry = inputs(build([WER]), [record(i, errors=0, weight=20) for i in range(120)])["metrics"][0]
    assert bets(terms_of(build([WER]))[0], entry) is not None
    terms = replace(terms_of(build([WER]))[0], threshold=Decimal(threshold), t=Fraction(threshold))
    assert bets(terms, entry) is None


@pytest.mark.parametrize(
    ("metric", "row"),
    [
        (MEAN, ["0", 0, 0]),
        (WER, ["0", 0, 0, 0]),
        (WER, ["5", 2, 2, 2]),  # both calls unknown, and five errors known of them
        (WER, ["4", 60, 1, 2]),  # one call known, longer than the longest
        (WER, ["5", 1, 1, 2]),  # one call known, of one word: it may err twice, and one silence twice
    ],
)
def test_a_forged_row_of_calls_has_no_bet(metric: dict, row: list) -> None:
    contract = build([metric])
    (terms,) = terms_of(contract)
    counted = inputs(contract, [record(i, value="1", errors=0, weight=20) for i in range(120)])["metrics"][0]
    assert bets(terms, counted) is not None
    assert bets(terms, {**counted, "units": [*counted["units"], row]}) is None


def test_a_unit_as_long_as_the_longest_is_on_the_scale_and_a_score_off_it_stays_off() -> None:
    units = [record(0, errors=1, weight=50), record(1, errors=1, weight=51)]
    assert inputs(build([WER]), units)["metrics"][0]["units"] == [["1.000000000", 50, 0, 1], [None, 51, 0, 1]]
    twice = build([MEAN], repetitions={"per_item": 2})
    scores = [record(i, repetition=k, value=("1.5", "1")[k ^ i]) for i in range(2) for k in range(2)]
    assert [row[0] for row in inputs(twice, scores)["metrics"][0]["units"]] == [None, None]


@pytest.mark.parametrize("share", ["0.80", "0.79"])
def test_a_bet_that_gains_nothing_has_a_p_of_one(share: str) -> None:
    """p = min(1, 1/W): a bet on a mean at the threshold loses little by little, and its p is 1, never above."""
    entry = first(build([MEAN]), [record(i, value=share) for i in range(120)])
    found = bets(
        terms_of(build([MEAN]))[0], inputs(build([MEAN]), [record(i, value=share) for i in range(120)])["metrics"][0]
    )
    assert found is not None
    for key, log_e in (("p_pass", found.log_e_pass), ("p_breach", found.log_e_breach)):
        assert float(entry[key]) == pytest.approx(min(1.0, 2.718281828459045**-log_e), abs=1e-8)


def test_a_mean_with_judged_scores_decides_only_by_the_word_of_the_parties() -> None:
    scored = [record(i, value="1", **JUDGED) for i in range(120)]
    ruled = [record(i, value="1") for i in range(120)]
    trusting = build([MEAN], judge={**JUDGE["judge"], "on_uncalibrated": "declared_limitation"})
    assert ruling(first(build([MEAN], **JUDGE), scored)) == ("NOT_MEASURED", "judge_uncalibrated")
    assert ruling(first(trusting, scored)) == ("PASS", None)
    assert first(trusting, scored)["assumptions"] == ["judge_taken_as_truth"]
    assert first(trusting, ruled)["assumptions"] == []
    assert ruling(first(build([MEAN], **JUDGE), ruled)) == ("PASS", None)


@pytest.mark.parametrize("rules", [0, 1, 2, 60])
@pytest.mark.parametrize("lost", [0, 3])
def test_a_judge_beside_any_number_of_rules_is_the_mixed_interval(rules: int, lost: int) -> None:
    """Failed calls are no answers of the judge: they stand among what rules decided, as failures."""
    kinds = [TIMED_OUT] * lost + [{}] * rules + [{**JUDGED, **WRONG}] * 2 + [JUDGED] * (118 - rules - lost)
    contract = build([ACCURACY], **JUDGE)
    entry = first(contract, [record(i, **kind) for i, kind in enumerate(kinds)], calibrations={"accuracy": EXTERNAL})
    due = mixed_interval(
        rules, rules + lost, 118 - rules - lost, 120 - rules - lost, Confusion(195, 200, 396, 400), 0.95
    )
    assert float(entry["exact"]["low"]) == pytest.approx(due.low, abs=1e-6)
    assert float(entry["exact"]["high"]) == pytest.approx(due.high, abs=1e-6)


def test_open_and_unresolved_answers_stand_beside_the_judge_at_both_ends() -> None:
    kinds = [{"outcome": "unresolved"}] + [{"flags": ["cut_body"]}] * 3 + [{}] * 56 + [JUDGED] * 60
    contract = build([ACCURACY], **JUDGE)
    entry = first(contract, [record(i, **kind) for i, kind in enumerate(kinds)], calibrations={"accuracy": EXTERNAL})
    table = Confusion(195, 200, 396, 400)
    low, high = (mixed_interval(right, 60, 60, 60, table, 0.95) for right in (56, 60))
    assert float(entry["exact"]["low"]) == pytest.approx(low.low, abs=1e-6)
    assert float(entry["exact"]["high"]) == pytest.approx(high.high, abs=1e-6)


@pytest.mark.parametrize("wrong", [0, 2, 30])
def test_an_error_rate_under_a_judge_is_the_rate_of_the_right_ones_turned(wrong: int) -> None:
    records = [record(i, **(JUDGED if i < 60 else {}), **(WRONG if i < wrong else {})) for i in range(120)]
    error = {**ACCURACY, "count": {"verdict": ["incorrect"]}, "direction": "at_most", "threshold": "0.10"}
    right = first(build([ACCURACY], **JUDGE), records, calibrations={"accuracy": EXTERNAL})
    turned = first(build([error], **JUDGE), records, calibrations={"accuracy": EXTERNAL})
    assert Decimal(turned["rate"]) == 1 - Decimal(right["rate"])
    assert Decimal(turned["exact"]["low"]) == 1 - Decimal(right["exact"]["high"])
    assert Decimal(turned["exact"]["high"]) == 1 - Decimal(right["exact"]["low"])
    assert (turned["p_pass"], turned["p_breach"], turned["state"]) == (
        right["p_pass"],
        right["p_breach"],
        right["state"],
    )


def test_an_audit_of_two_is_an_audit() -> None:
    (terms,) = terms_of(build([ACCURACY]))
    counts = Judged(x_rule=0, n_rule=0, x_judged=8, n_judged=10)
    found = corrected(terms, counts, MetricCalibration(design="random_audit", pairs=(1, 0, 0, 1)), 1.0, 30)
    assert (found.guard, found.estimate is None) == (None, False)


def test_asking_twice_buys_no_items_of_a_judge_either() -> None:
    """The same verdicts twice over: the limits are those of one call an item."""
    once = [record(i, **JUDGED, **(WRONG if i < 3 else {})) for i in range(120)]
    twice = [{**one, "repetition": k} for one in once for k in range(2)]
    single = first(build([ACCURACY], **JUDGE), once, calibrations={"accuracy": EXTERNAL})
    contract = build([ACCURACY], **JUDGE, repetitions={"per_item": 2, "aggregate": "each_call"})
    double = first(contract, twice, calibrations={"accuracy": EXTERNAL})
    assert double["observations"] == 240
    for key in ("exact", "p_pass", "p_breach", "state"):
        assert double[key] == single[key]
    assert ruling(first(contract, twice)) == ("NOT_MEASURED", "judge_uncalibrated")


def test_no_formula_joins_a_judge_with_weights_or_with_all_of_several_calls() -> None:
    both = {**ACCURACY, "among": {"stratum": ["direct", "out_of_corpus"]}}
    weights = {"weights": {"direct": "0.5", "out_of_corpus": "0.5"}}
    records = [record(i, "direct" if i < 120 else "out_of_corpus", **JUDGED) for i in range(150)]
    weighted = first(build([both], **JUDGE, evaluation_set=weights), records, calibrations={"accuracy": EXTERNAL})
    assert ruling(weighted) == ("NOT_MEASURED", "rule_undefined")
    twice = [{**one, "repetition": k} for one in records[:120] for k in range(2)]
    all_of = build([ACCURACY], **JUDGE, repetitions={"per_item": 2, "aggregate": "all_of_k"})
    assert ruling(first(all_of, twice, calibrations={"accuracy": EXTERNAL})) == ("NOT_MEASURED", "rule_undefined")


def test_failures_that_only_a_judge_saw_breach_nothing_under_the_strictest_rule() -> None:
    strict = {**ACCURACY, "threshold": "1", "decision": {"rule": "zero_observed"}}
    seen = [record(i, **({**WRONG, **JUDGED} if i < 4 else {})) for i in range(120)]
    assert ruling(first(build([strict], **JUDGE), seen)) == ("NOT_MEASURED", "judge_uncalibrated")
    own = [*seen[:119], record(119, **WRONG)]
    assert ruling(first(build([strict], **JUDGE), own)) == ("BREACH", None)


def test_an_audit_that_one_end_of_the_run_contradicts_measures_nothing() -> None:
    """Every wrong item was read, and one more: it fits the run only if what is unknown was wrong."""
    records = [record(i, **JUDGED, **(WRONG if i < 2 else {})) for i in range(119)] + [
        record(119, outcome="unresolved")
    ]
    pairs = MetricCalibration(design="random_audit", pairs=(60, 0, 0, 3))
    entry = first(build([ACCURACY], **JUDGE), records, calibrations={"accuracy": pairs})
    assert ruling(entry) == ("NOT_MEASURED", "calibration_too_small")


def test_runs_of_different_banks_name_both() -> None:
    other = build([ACCURACY], evaluation_set={"bank_digest": "sha256:" + "c" * 64})
    with pytest.raises(StatisticsError) as caught:
        compare_runs(build([ACCURACY]), run(), other, run())
    assert caught.value.where == f"sha256:{'a' * 64} / sha256:{'c' * 64}"


def test_two_judges_of_one_family_are_each_left_out_and_never_both() -> None:
    agreed = panel("k", "k")
    rows = panel_states(agreed, *said(agreed, {"m0": 3, "m1": 3}))
    assert rows == [{"kind": "member", "name": name, "changed": []} for name in ("m0", "m1")]


def test_what_a_person_settled_stays_whoever_of_the_panel_is_left_out() -> None:
    agreed = panel("j", "k")
    records, votes = said(agreed, {"m0": 0, "m1": 90})
    settled = [
        replace(one, decided_by="person", verdict=Verdict.ACCURATE, correctness=Correctness.CORRECT, bounds=None)
        if i < 90
        else one
        for i, one in enumerate(records)
    ]
    assert [row["changed"] for row in panel_states(agreed, settled, votes)] == [[], []]


def test_cells_hold_what_the_metric_counts_and_no_other_stratum() -> None:
    """Both strata are judged, the metric speaks of one: its cells hold its own items, right and wrong."""
    agreed = people_contract(n=300)
    stage = agreed.method.judge_stage.model_copy(update={"strata": ("direct", "out_of_corpus")})
    agreed = agreed.model_copy(update={"method": agreed.method.model_copy(update={"judge_stage": stage})})
    records = [judged(i, i % 5 != 0) for i in range(300)]
    records += [judged(1000 + i, i % 3 != 0, "out_of_corpus") for i in range(30)]
    truth = {UnitKey(one["item_id"], 0, ""): one["verdict"] == "accurate" for one in records}
    found = metric_calibrations(labelled(agreed, records, truthful(truth)), records)["accuracy"]
    assert [(cell.size, cell.right == cell.labels) for cell in found.cells] == [(60, False), (240, True)]


def test_an_item_outside_of_the_metric_ends_no_audit() -> None:
    """Whether an answer came is part of what is counted: what the auditor lost is outside, the rest is read on."""
    agreed, records, truth = whole_audit(random.Random(24))
    both = {"verdict": ("accurate",), "run_outcome": ("answered",)}
    agreed = agreed.model_copy(update={"metrics": (agreed.metrics[0].model_copy(update={"count": both}),)})
    records[5] = record(5, outcome="auditor_failure")
    known = {key: one for key, one in truth.items() if key.item_id != "i-000005"}
    found = metric_calibrations(labelled(agreed, records, truthful(truth)), records)["accuracy"]
    assert found.pairs == crossed(records, known)


def test_a_document_without_metrics_measures_none() -> None:
    contract = build([ACCURACY])
    for forged in ({"metrics": []}, {"metrics": "x"}, {}):
        assert states(contract, forged, VALID)["state"] == "NOT_MEASURED"
        assert decide(contract, results(contract, forged, VALID), VALID)["state"] == "NOT_MEASURED"
