"""What the labels say: matrix, figures, gate, people and detector, from runs whose truth is known."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from slaverify.canonical import jcs, loads_strict
from slaverify.contract import Contract
from slaverify.errors import JudgeError
from slaverify.judging.calibration import (
    Label,
    Labelled,
    Seen,
    UnitKey,
    calibration_record,
    final_of,
    labels_that_reach,
    read_back,
    ruled_records,
)
from slaverify.judging.calibration.figures import figures
from slaverify.statistics import Cell, exact_interval, stratified_audit
from tests.decision.build import record
from tests.judging.calibration.people import (
    ABSTAINS,
    RIGHT,
    SEED,
    WRONG,
    by_criteria,
    contract,
    judged,
    labelled,
    others,
    simulated,
    truthful,
)


def run_of(
    sensitivity: float, specificity: float, *, agreed: Contract | None = None, n: int = 900, rate: float = 0.85
) -> Labelled:
    records, truth = simulated(random.Random(7), n, rate, sensitivity, specificity)
    return labelled(agreed or contract(n=n), records, truthful(truth))


def subject_of(run: Labelled, number: int = 0) -> dict:
    return calibration_record(run)["subjects"][number]


def test_the_matrix_counts_every_label_once_and_weighs_it_up_to_the_run() -> None:
    run = run_of(0.95, 0.85)
    found = subject_of(run)
    counts, weights = found["matrix"]["counts"], found["matrix"]["weights"]
    assert sum(counts.values()) == found["labels"] == 200
    assert abs(sum(float(weight) for weight in weights.values()) - 900) < 1e-6
    accepted = sum(unit.positive is True for unit in run.units)
    assert abs(float(weights["positive_positive"]) + float(weights["positive_negative"]) - accepted) < 1e-6
    assert float(found["uncorrected"]) == pytest.approx(accepted / 900, abs=1e-9)


def test_the_corrected_rate_is_that_of_the_decision() -> None:
    run = run_of(0.95, 0.85)
    found = subject_of(run)
    counts = found["matrix"]["counts"]
    accepted = sum(unit.positive is True for unit in run.units)
    cells = [
        Cell(900 - accepted, counts["negative_positive"] + counts["negative_negative"], counts["negative_positive"]),
        Cell(accepted, counts["positive_positive"] + counts["positive_negative"], counts["positive_positive"]),
    ]
    audited = stratified_audit(cells)
    assert audited.theta is not None
    assert audited.n_eff is not None
    limits = exact_interval(audited.theta * audited.n_eff, audited.n_eff, 0.95)
    shown = [float(found["corrected"][key]) for key in ("value", "low", "high")]
    assert shown == pytest.approx([audited.theta, limits.low, limits.high], abs=1e-8)


def test_an_unweighted_count_would_be_wrong_and_is_not_what_is_shown() -> None:
    run = run_of(0.95, 0.85)
    found = subject_of(run)
    counts = found["matrix"]["counts"]
    naive = counts["positive_positive"] / (counts["positive_positive"] + counts["negative_positive"])
    assert float(found["sensitivity"]["value"]) > naive + 0.02


def test_a_good_judge_passes_the_gate_and_kappa_has_the_word_of_its_lower_limit() -> None:
    found = subject_of(run_of(0.97, 0.9, agreed=contract(n=900, min_sensitivity="0.9", min_specificity="0.5")))
    assert found["gate"]["met"] is True
    assert float(found["kappa"]["low"]) < float(found["kappa"]["value"])
    assert found["kappa_word"] in ("fair", "moderate", "substantial")
    assert float(found["equivalent_labels"]) > 0


@pytest.mark.parametrize(
    "sensitivity,specificity,least,reason",
    [
        (1.0, 0.0, ("0", "0"), "judge_not_informative"),
        (0.5, 0.5, ("0", "0"), "judge_not_informative"),
        (0.97, 0.9, ("0.99", "0"), "judge_below_minimum"),
        (0.97, 0.6, ("0", "0.9"), "judge_below_minimum"),
    ],
)
def test_a_judge_that_is_not_good_enough_is_refused_with_the_reason(
    sensitivity: float, specificity: float, least: tuple[str, str], reason: str
) -> None:
    agreed = contract(n=900, min_sensitivity=least[0], min_specificity=least[1])
    gate = subject_of(run_of(sensitivity, specificity, agreed=agreed))["gate"]
    assert (gate["met"], gate["reason"]) == (False, reason)


def test_a_judge_that_fails_at_random_is_refused() -> None:
    rng = random.Random(11)
    records = [judged(n, rng.random() < 0.5) for n in range(600)]
    truth = {UnitKey(f"i-{n:06d}", 0, ""): rng.random() < 0.8 for n in range(600)}
    gate = subject_of(labelled(contract(n=600), records, truthful(truth)))["gate"]
    assert gate["reason"] == "judge_not_informative"


def test_a_run_of_one_class_measures_nothing_of_the_other() -> None:
    records = [judged(n, True) for n in range(400)]
    truth = {UnitKey(f"i-{n:06d}", 0, ""): True for n in range(400)}
    found = subject_of(labelled(contract(n=400), records, truthful(truth)))
    assert found["specificity"] == {"value": None, "low": None, "high": None, "reason": "one_class"}
    assert found["missed"]["reason"] == "one_class"
    assert found["kappa"]["reason"] == "one_class"
    assert found["gate"]["reason"] == "judge_not_informative"


def test_one_row_without_its_label_and_the_gate_stays_shut() -> None:
    records, truth = simulated(random.Random(7), 900, 0.85, 0.97, 0.95)
    whole = labelled(contract(n=900), records, truthful(truth))
    assert subject_of(whole)["gate"]["met"] is True
    last = max(key for key in whole.book)
    missing = labelled(contract(n=900), records, truthful(truth), only=lambda key: key != last)
    found = calibration_record(missing)
    assert found["complete"] is False
    assert found["subjects"][0]["gate"]["reason"] == "calibration_too_small"


def test_a_difference_waits_for_the_third_person_whose_word_counts() -> None:
    records, truth = simulated(random.Random(7), 900, 0.85, 0.97, 0.95)
    reads = truthful(truth)

    def careless(key: UnitKey) -> Label:
        wrong = int(key.item_id[-1]) == 7
        return reads(key) if not wrong else (WRONG if truth[key] else RIGHT)

    open_ = calibration_record(labelled(contract(n=900), records, reads, careless))
    assert open_["complete"] is False
    people = open_["people"]
    assert people["differences"] > 0
    assert people["adjudicated"] == 0
    settled = calibration_record(labelled(contract(n=900), records, reads, careless, reads))
    assert settled["complete"] is True
    assert settled["people"]["adjudicated"] == settled["people"]["differences"] == people["differences"]
    # The agreement of the two is that before anybody settled anything.
    assert settled["people"]["kappa"] == people["kappa"]
    assert settled["subjects"] == calibration_record(labelled(contract(n=900), records, reads))["subjects"]


def test_what_counts_of_the_labels_of_one_row() -> None:
    assert final_of({1: RIGHT}, twice=False) == RIGHT
    assert final_of({1: RIGHT}, twice=True) is None
    assert final_of({2: RIGHT}, twice=True) is None
    assert final_of({1: RIGHT, 2: RIGHT}, twice=True) == RIGHT
    assert final_of({1: RIGHT, 2: WRONG}, twice=True) is None
    assert final_of({1: RIGHT, 2: WRONG, 3: ABSTAINS}, twice=True) == ABSTAINS


def test_an_answer_that_the_detector_misread_shows_in_its_recall() -> None:
    records, truth = simulated(random.Random(7), 300, 0.85, 0.97, 0.95)
    records += others(30)
    reads = truthful(truth)
    clean = calibration_record(labelled(contract(n=300), records, reads))["detector"]
    assert (clean["recall"]["value"], clean["precision"]["value"]) == ("1.000000000", "1.000000000")
    missed = {key for key in truth if key.item_id.endswith("3")}
    misread = calibration_record(
        labelled(contract(n=300), records, lambda key: ABSTAINS if key in missed else reads(key))
    )["detector"]
    # 30 abstentions found, and about 30 of 300 judged answers were abstentions too.
    assert float(misread["recall"]["low"]) < 0.5 < float(misread["recall"]["high"])
    assert misread["precision"]["value"] == "1.000000000"
    false_alarms = {f"i-{900_000 + n:06d}" for n in range(0, 30, 3)}
    taken = calibration_record(
        labelled(contract(n=300), records, lambda key: WRONG if key.item_id in false_alarms else reads(key))
    )["detector"]
    assert taken["recall"]["value"] == "1.000000000"
    assert float(taken["precision"]["value"]) < 0.9


def test_each_criterion_has_its_own_matrix_and_gate() -> None:
    rng = random.Random(5)
    truth: dict[UnitKey, bool] = {}
    records = []
    for n in range(600):
        said = {}
        for name, errs in (("correcta", 0.03), ("trato", 0.5)):
            right = rng.random() < 0.8
            truth[UnitKey(f"i-{n:06d}", 0, name)] = right
            said[name] = right != (rng.random() < errs)
        records.append(by_criteria(n, said))
    run = labelled(contract(criteria=True, n=600), [*records, *others(40)], truthful(truth))
    found = calibration_record(run)["subjects"]
    assert [(one["subject"], one["gate"]["met"], one["gate"]["reason"]) for one in found] == [
        ("correcta", True, None),
        ("trato", False, "judge_not_informative"),
    ]
    assert all(one["labels"] == 200 for one in found)
    rows = calibration_record(run)["rows"]
    assert sum(row["kind"] == "abstention" and row["subject"] is None for row in rows) == 20


def test_people_settle_the_queue_and_nothing_else() -> None:
    records, truth = simulated(random.Random(7), 300, 0.85, 0.97, 0.95)
    records += [
        record(
            500 + n,
            verdict=None,
            correctness="undetermined",
            decided_by=None,
            bounds={"worst": "incorrect", "best": "accurate"},
        )
        for n in range(3)
    ]
    truth |= {UnitKey(f"i-{500 + n:06d}", 0, ""): n != 1 for n in range(3)}
    run = labelled(contract(n=303), records, truthful(truth))
    ruled = ruled_records(run, records)
    assert [one["verdict"] for one in ruled[300:]] == ["accurate", "incorrect", "accurate"]
    assert {one["decided_by"] for one in ruled[300:]} == {"person"}
    assert all(one["bounds"] is None for one in ruled[300:])
    assert ruled[:300] == records[:300]
    # What was settled is told apart from what was judged, from the record and the scores alone.
    stored = loads_strict(jcs(calibration_record(run)))
    back = read_back(contract(n=303), stored, ruled, SEED)
    assert calibration_record(back) == stored
    assert ruled_records(back, ruled) == ruled


def test_a_stored_record_gives_itself_again_and_no_edited_label_passes() -> None:
    records, truth = simulated(random.Random(7), 600, 0.85, 0.95, 0.9)
    agreed = contract(n=600)
    stored = calibration_record(labelled(agreed, [*records, *others()], truthful(truth)))
    again = calibration_record(read_back(agreed, stored, [*records, *others()], SEED))
    assert jcs(again) == jcs(stored)
    row = next(row for row in stored["rows"] if row["labels"] and row["positive"] is False)
    row["labels"][0]["values"]["correctness"] = "correct"
    assert jcs(calibration_record(read_back(agreed, stored, [*records, *others()], SEED))) != jcs(stored)


def test_rows_that_nobody_drew_do_not_come_back() -> None:
    records, truth = simulated(random.Random(7), 600, 0.85, 0.95, 0.9)
    agreed = contract(n=600)
    stored = calibration_record(labelled(agreed, records, truthful(truth)))
    drawn = {row["item_id"] for row in stored["rows"]}
    undrawn = next(one["item_id"] for one in records if one["item_id"] not in drawn)
    stored["rows"][0]["item_id"] = undrawn
    again = calibration_record(read_back(agreed, stored, records, SEED))
    assert undrawn not in {row["item_id"] for row in again["rows"]}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r: r.pop("rows"),
        lambda r: r.update(closed_on="ayer"),
        lambda r: r["rows"][0].update(repetition=True),
        lambda r: r["rows"][0].update(labels=[{"by": 9, "class": "answer", "values": {}, "doubt": False}]),
        lambda r: r["rows"][0]["labels"][0].update({"class": "perfecta"}),
        lambda r: r["rows"][0]["labels"][0]["values"].update(correctness="5"),
        lambda r: r["rows"][0]["labels"][0]["values"].pop("grounding"),
        lambda r: r["rows"][0]["labels"][0]["values"].update(grounding="not_applicable", correctness="correct"),
        lambda r: r["rows"][0]["labels"][0].update(extra=1),
        lambda r: r.update(rows=[1]),
    ],
)
def test_a_malformed_record_is_refused(spoil: object) -> None:
    records, truth = simulated(random.Random(7), 300, 0.85, 0.95, 0.9)
    stored = calibration_record(labelled(contract(n=300), records, truthful(truth)))
    spoil(stored)  # type: ignore[operator]
    with pytest.raises(JudgeError) as caught:
        read_back(contract(n=300), stored, records, SEED)
    assert (caught.value.code, caught.value.exit_code) == ("SLV-J069", 4)


def test_figures_by_hand() -> None:
    # 80 of 100 accepted, 20 rejected, everything read: 76 and 4 are really right.
    found = figures([Seen(True, 80, 80, 76), Seen(False, 20, 20, 4)], 0.95)
    value = {name: one.value for name, one in found.items()}
    assert value["corrected"] == pytest.approx(0.80)
    assert value["sensitivity"] == pytest.approx(76 / 80)
    assert value["specificity"] == pytest.approx(16 / 20)
    assert value["precision"] == pytest.approx(76 / 80)
    assert value["missed"] == pytest.approx(4 / 20)
    assert value["agreement"] == pytest.approx(92 / 100)
    assert value["kappa"] == pytest.approx((0.92 - 0.68) / (1 - 0.68))
    assert value["ac1"] == pytest.approx((0.92 - 0.32) / (1 - 0.32))
    # One class read whole, the other by one in four: a label of the second counts four times.
    found = figures([Seen(True, 80, 20, 19), Seen(False, 20, 20, 4)], 0.95)
    assert found["sensitivity"].value == pytest.approx(76 / 80)
    wider = found["sensitivity"]
    assert wider.low is not None
    assert wider.low < figures([Seen(True, 80, 80, 76), Seen(False, 20, 20, 4)], 0.95)["sensitivity"].low


def test_how_many_labels_would_show_a_rate() -> None:
    wanted = labels_that_reach(0.97, Decimal("0.95"))
    assert wanted is not None
    assert exact_interval(0.97 * wanted, wanted, 0.95).low >= 0.95
    assert exact_interval(0.97 * (wanted - 1), wanted - 1, 0.95).low < 0.95
    # With no error at all: the least n with .95^n <= .025.
    assert labels_that_reach(1.0, Decimal("0.95")) == 72
    assert labels_that_reach(0.94, Decimal("0.95")) is None
    assert labels_that_reach(0.9500001, Decimal("0.95")) is None
