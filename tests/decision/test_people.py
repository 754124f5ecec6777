"""Judged metrics with the judge's error measured: from labels of people to the state."""

from __future__ import annotations

import random

import pytest

from slaverify.contract import Contract
from slaverify.decision import RunValidity, inputs, metric_calibrations, results
from slaverify.judging.calibration import Label, Labelled, UnitKey, ruled_records
from tests.decision.build import TIMED_OUT, record
from tests.judging.calibration.people import (
    RIGHT,
    WRONG,
    by_criteria,
    contract,
    judged,
    labelled,
    others,
    simulated,
    truthful,
)


def decided(agreed: Contract, records: list[dict], run: Labelled | None) -> dict:
    people = {} if run is None else metric_calibrations(run, records)
    found = results(agreed, inputs(agreed, records), RunValidity(valid=True), people)
    return found["metrics"][0]


def whole(records: list[dict]) -> list[dict]:
    return [*records, *others(30)]


def test_a_judged_metric_is_decided_with_the_measured_error_and_not_by_the_judges_own_rate() -> None:
    agreed = contract(n=800)
    # True rate .95 over a threshold of .90; the judge passes half of what is wrong: it alone would say .97.
    records, truth = simulated(random.Random(3), 800, 0.97, 0.96, 0.9)
    found = decided(agreed, whole(records), labelled(agreed, whole(records), truthful(truth)))
    right = sum(truth.values()) / 800
    assert found["method"] == "stratified_audit"
    assert float(found["exact"]["low"]) < right < float(found["exact"]["high"])
    assert found["rate"] != f"{sum(one['verdict'] == 'accurate' for one in records) / 800:.9f}"
    assert found["state"] == "PASS"
    assert found["assumptions"] == ["judge_error_carries_over"]


def test_a_lenient_judge_does_not_lift_an_engine_that_fails() -> None:
    agreed = contract(n=800)
    records, truth = simulated(random.Random(4), 800, 0.80, 0.99, 0.45)
    alone = sum(one["verdict"] == "accurate" for one in records) / 800
    assert alone > 0.88
    found = decided(agreed, whole(records), labelled(agreed, whole(records), truthful(truth)))
    assert found["state"] == "BREACH"
    assert float(found["exact"]["high"]) < 0.90


@pytest.mark.parametrize("naive", [False, True])
def test_without_any_label_nothing_is_measured_unless_both_parties_said_so(naive: bool) -> None:
    agreed = contract(n=800)
    if naive:
        assert agreed.judge is not None
        agreed = agreed.model_copy(
            update={"judge": agreed.judge.model_copy(update={"on_uncalibrated": "declared_limitation"})}
        )
    records, _ = simulated(random.Random(3), 800, 0.97, 0.98, 0.9)
    found = decided(agreed, whole(records), None)
    if naive:
        assert found["state"] == "PASS"
        assert found["assumptions"] == ["judge_taken_as_truth"]
    else:
        assert (found["state"], found["reason"]) == ("NOT_MEASURED", "judge_uncalibrated")


@pytest.mark.parametrize("naive", [False, True])
def test_a_judge_that_people_refused_decides_nothing_whatever_the_contract_accepts(naive: bool) -> None:
    agreed = contract(n=800)
    if naive:
        assert agreed.judge is not None
        agreed = agreed.model_copy(
            update={"judge": agreed.judge.model_copy(update={"on_uncalibrated": "declared_limitation"})}
        )
    records, truth = simulated(random.Random(3), 800, 0.95, 1.0, 0.0)
    found = decided(agreed, whole(records), labelled(agreed, whole(records), truthful(truth)))
    assert (found["state"], found["reason"]) == ("NOT_MEASURED", "judge_not_informative")


def test_a_row_without_its_label_leaves_the_metric_unmeasured() -> None:
    agreed = contract(n=800)
    records, truth = simulated(random.Random(3), 800, 0.97, 0.98, 0.9)
    full = labelled(agreed, whole(records), truthful(truth))
    judged_rows = [key for key in full.book if key in truth]
    part = labelled(agreed, whole(records), truthful(truth), only=lambda key: key != judged_rows[0])
    found = decided(agreed, whole(records), part)
    assert (found["state"], found["reason"]) == ("NOT_MEASURED", "calibration_too_small")


def test_what_rules_alone_prove_stands_beside_a_refused_judge() -> None:
    agreed = contract(n=800)
    wrong = [record(10_000 + n, verdict="incorrect", correctness="incorrect") for n in range(400)]
    records = [judged(n, True) for n in range(400)] + wrong
    truth = {UnitKey(f"i-{n:06d}", 0, ""): True for n in range(400)}
    found = decided(agreed, whole(records), labelled(agreed, whole(records), truthful(truth)))
    assert found["state"] == "BREACH"


def test_rules_and_judge_together() -> None:
    agreed = contract(n=800)
    records, truth = simulated(random.Random(9), 400, 0.97, 0.97, 0.9)
    records += [record(10_000 + n, **({"verdict": "incorrect"} if n < 12 else {})) for n in range(400)]
    found = decided(agreed, whole(records), labelled(agreed, whole(records), truthful(truth)))
    right = (sum(truth.values()) + 388) / 800
    assert float(found["exact"]["low"]) < right < float(found["exact"]["high"])


def test_a_random_audit_of_the_same_run() -> None:
    records, truth = simulated(random.Random(9), 800, 0.97, 0.97, 0.9)
    # The gate wants 30 of each class by people: 60 answers that are really wrong.
    records[:60] = [judged(n, n % 4 == 0) for n in range(60)]
    truth |= {UnitKey(f"i-{n:06d}", 0, ""): False for n in range(60)}
    few = contract(n=800, design="random_audit", min_labels=40)
    found = decided(few, whole(records), labelled(few, whole(records), truthful(truth)))
    assert (found["state"], found["reason"]) == ("NOT_MEASURED", "calibration_too_small")
    agreed = contract(n=800, design="random_audit", min_labels=600)
    found = decided(agreed, whole(records), labelled(agreed, whole(records), truthful(truth)))
    right = sum(truth.values()) / 800
    assert found["method"] == "human_audit"
    assert float(found["exact"]["low"]) < right < float(found["exact"]["high"])


def criteria_run(errors: dict[str, float], rate: float = 0.97) -> tuple[Contract, list[dict], dict[UnitKey, bool]]:
    rng = random.Random(12)
    truth: dict[UnitKey, bool] = {}
    records = []
    for n in range(700):
        said = {}
        for name, errs in errors.items():
            right = rng.random() < rate
            truth[UnitKey(f"i-{n:06d}", 0, name)] = right
            said[name] = right != (rng.random() < errs)
        records.append(by_criteria(n, said))
    return contract(criteria=True, n=700), records, truth


def test_each_criterion_decides_its_own_metric_and_a_bad_one_takes_none_with_it() -> None:
    agreed, records, truth = criteria_run({"correcta": 0.02, "trato": 0.5})
    run = labelled(agreed, whole(records), truthful(truth))
    found = results(
        agreed, inputs(agreed, whole(records)), RunValidity(valid=True), metric_calibrations(run, whole(records))
    )
    assert [(one["id"], one["state"], one["reason"]) for one in found["metrics"]] == [
        ("correcta", "PASS", None),
        ("trato", "NOT_MEASURED", "judge_not_informative"),
    ]


def test_a_criterion_that_people_settled_counts_as_they_found_it() -> None:
    agreed, records, truth = criteria_run({"correcta": 0.02, "trato": 0.02})
    for n in range(4):
        records[n]["criteria"]["correcta"] = "unresolved"
    run = labelled(agreed, whole(records), truthful(truth))
    ruled = ruled_records(run, whole(records))
    assert all(one["criteria"]["correcta"] in ("met", "not_met") for one in ruled[:4])
    found = results(agreed, inputs(agreed, ruled), RunValidity(valid=True), metric_calibrations(run, ruled))
    assert found["metrics"][0]["state"] == "PASS"
    assert found["metrics"][0]["unresolved"] == 0


def test_a_metric_that_no_judge_touches_needs_no_calibration() -> None:
    agreed = contract(n=800)
    metric = agreed.metrics[0].model_copy(
        update={
            "count": {"abstention": ("unnecessary",)},
            "direction": "at_most",
            "threshold": agreed.metrics[0].threshold
            - agreed.metrics[0].threshold
            + type(agreed.metrics[0].threshold)("0.1"),
        }
    )
    agreed = agreed.model_copy(update={"metrics": (metric,)})
    records, _ = simulated(random.Random(3), 800, 0.97, 0.98, 0.9)
    found = decided(agreed, whole(records), None)
    assert found["state"] == "PASS"


def test_people_see_the_metric_and_not_only_the_word_accurate() -> None:
    """A hallucination rate: what people call incomplete is no hallucination although it is not accurate."""
    agreed = contract(n=800)
    decimal = type(agreed.metrics[0].threshold)
    metric = agreed.metrics[0].model_copy(
        update={
            "count": {"verdict": ("incorrect", "misgrounded")},
            "direction": "at_most",
            "threshold": decimal("0.10"),
        }
    )
    agreed = agreed.model_copy(update={"metrics": (metric,)})
    records, truth = simulated(random.Random(3), 800, 0.90, 0.98, 0.95)
    incomplete = Label("answer", (("correctness", "partial"), ("grounding", "grounded")))

    def read(key: UnitKey) -> Label:
        return RIGHT if truth.get(key, True) else incomplete if int(key.item_id[-1]) < 8 else WRONG

    found = decided(agreed, whole(records), labelled(agreed, whole(records), read))
    really = sum(not right and int(key.item_id[-1]) >= 8 for key, right in truth.items()) / 800
    assert float(found["exact"]["low"]) < really < float(found["exact"]["high"]) < 0.10
    assert found["state"] == "PASS"
    assert sum(one["verdict"] == "incorrect" for one in records) / 800 > 0.08


def test_an_answer_that_nobody_could_judge_or_settle_counts_both_ways() -> None:
    agreed = contract(n=800)
    records, truth = simulated(random.Random(3), 780, 0.985, 0.98, 0.9)
    both_ways = {"worst": "incorrect", "best": "accurate"}
    open_ = [
        record(5000 + n, verdict=None, correctness="undetermined", decided_by=None, bounds=both_ways, flags=["open"])
        for n in range(20)
    ]
    whole_truth = labelled(agreed, whole([*records, *open_]), truthful(truth))
    found = decided(agreed, whole([*records, *open_]), whole_truth)
    known = [*records, *(record(5000 + n) for n in range(20))]
    best = decided(agreed, whole(known), labelled(agreed, whole(known), truthful(truth)))
    assert float(found["exact"]["low"]) < float(best["exact"]["low"]) - 0.01
    assert float(found["p_pass"]) > float(best["p_pass"])


def whole_audit(rng: random.Random, n: int = 300) -> tuple[Contract, list[dict], dict[UnitKey, bool]]:
    """A random audit that reads every answer: two thirds judged, the rest by rules, some of each wrongly."""
    agreed = contract(n=n, design="random_audit", min_labels=n + 30)
    records, truth = simulated(rng, 2 * n // 3, 0.7, 0.85, 0.7)
    for number in range(2 * n // 3, n):
        right, said = rng.random() < 0.6, rng.random() < 0.7
        records.append(record(number, **({} if said else {"verdict": "incorrect", "correctness": "incorrect"})))
        truth[UnitKey(f"i-{number:06d}", 0, "")] = right
    return agreed, whole(records), truth


def crossed(records: list[dict], truth: dict[UnitKey, bool], without: frozenset[str] = frozenset()) -> tuple[int, ...]:
    cells = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for one in records:
        key = UnitKey(one["item_id"], 0, "")
        if key in truth and one["item_id"] not in without:
            cells[truth[key], one["verdict"] == "accurate"] += 1
    return cells[True, True], cells[True, False], cells[False, True], cells[False, False]


def test_an_audit_of_everything_is_the_table_of_people_against_the_run() -> None:
    agreed, records, truth = whole_audit(random.Random(21))
    run = labelled(agreed, records, truthful(truth))
    assert metric_calibrations(run, records)["accuracy"].pairs == crossed(records, truth)
    # What an upheld dispute takes out is none of the metric's; a rejected one changes nothing.
    upheld, rejected = records[3]["item_id"], records[4]["item_id"]
    found = metric_calibrations(run, records, {upheld: "upheld", rejected: "rejected"})
    assert found["accuracy"].pairs == crossed(records, truth, frozenset({upheld}))
    # Neither does the other side of a comparison, nor a record of no repetition.
    turned = {**records[5], "verdict": "incorrect" if records[5]["verdict"] == "accurate" else "accurate"}
    for stray in ({**turned, "side": "reference"}, {**turned, "repetition": None}):
        assert metric_calibrations(run, [*records, stray])["accuracy"].pairs == crossed(records, truth)


def test_an_answer_that_never_came_counts_as_the_run_says() -> None:
    """Nobody reads what was not answered: the vendor's failure is a failure for the run and for people."""
    agreed, records, truth = whole_audit(random.Random(22))
    records[290] = record(290, **TIMED_OUT)
    run = labelled(agreed, records, truthful(truth))
    both, alone, pipeline, none = crossed(
        records, {key: one for key, one in truth.items() if key.item_id != "i-000290"}
    )
    assert metric_calibrations(run, records)["accuracy"].pairs == (both, alone, pipeline, none + 1)


def test_a_metric_whose_items_the_judge_chooses_is_not_corrected() -> None:
    agreed, records, truth = whole_audit(random.Random(23))
    metric = agreed.metrics[0].model_copy(update={"among": {"stratum": ("direct",), "verdict": ("accurate",)}})
    run = labelled(agreed.model_copy(update={"metrics": (metric,)}), records, truthful(truth))
    assert metric_calibrations(run, records)["accuracy"].guard == "data_absent"


def test_a_metric_on_two_criteria_is_not_corrected() -> None:
    agreed, records, truth = criteria_run({"correcta": 0.02, "trato": 0.02})
    both = {"criteria": ("correcta:met", "trato:met")}
    metric = agreed.metrics[0].model_copy(update={"count": both})
    run = labelled(agreed.model_copy(update={"metrics": (metric, agreed.metrics[1])}), whole(records), truthful(truth))
    found = metric_calibrations(run, whole(records))
    assert (found["correcta"].guard, found["trato"].guard) == ("data_absent", None)
