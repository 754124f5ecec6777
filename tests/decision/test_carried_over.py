"""What is brought from elsewhere: labels of another run, the draw of an older one, the first stage of this one."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest
from scipy.stats import norm

from slaverify.canonical import jcs, loads_strict, real9
from slaverify.contract import Contract
from slaverify.decision import compare_draws, external_calibrations, judged_floor, leaves_doubt
from slaverify.judging.calibration import UnitKey, calibration_record
from slaverify.statistics import Confusion
from tests.decision.build import ACCURACY, HALLUCINATION, JUDGE, WRONG, build, record, run
from tests.decision.test_methods import EXTEND
from tests.judging.calibration.people import by_criteria, contract, labelled, simulated, truthful

PASSED, REFUSED = {"reason": None}, {"reason": "judge_below_minimum"}


def answers() -> tuple[dict, Confusion]:
    """The record of a run that people read whole, and its table: people against the judge."""
    records, truth = simulated(random.Random(5), 300, 0.7, 0.9, 0.8)
    read = labelled(contract(n=300, design="random_audit", min_labels=300), records, truthful(truth))
    table = {(right, said): 0 for right in (True, False) for said in (True, False)}
    for one in records:
        table[truth[UnitKey(one["item_id"], 0, "")], one["verdict"] == "accurate"] += 1
    y0, m0 = table[False, False], table[False, False] + table[False, True]
    return loads_strict(jcs(calibration_record(read))), Confusion(
        y0, m0, table[True, True], table[True, True] + table[True, False]
    )


def brought(agreed: Contract, source: dict, *subjects: dict) -> dict:
    return external_calibrations(agreed, {"source": source, "subjects": [*subjects]})


def with_metric(agreed: Contract, **changes: object) -> Contract:
    return agreed.model_copy(update={"metrics": (agreed.metrics[0].model_copy(update=changes), *agreed.metrics[1:])})


def test_labels_of_another_run_are_its_table_of_people_and_judge() -> None:
    source, table = answers()
    agreed = contract(n=600, design="external", labels_digest="sha256:" + "a" * 64)
    found = brought(agreed, source, {"subject": None, "gate": PASSED})["accuracy"]
    assert (found.design, found.guard, found.confusion) == ("external", None, table)
    assert brought(agreed, source, {"subject": None, "gate": REFUSED})["accuracy"].guard == "judge_below_minimum"
    assert brought(agreed, source)["accuracy"].guard == "judge_uncalibrated"
    assert brought(agreed, source, {"subject": "otra", "gate": PASSED})["accuracy"].guard == "judge_uncalibrated"


@pytest.mark.parametrize(
    "changes",
    [
        {"count": {"verdict": ("accurate", "incomplete")}},
        {"count": {"verdict": ("incorrect",)}},
        {"count": {"verdict": ("accurate",), "grounding": ("grounded",)}},
        {"count": {"correctness": ("correct",)}},
        {"direction": "at_most"},
        {"among": {"stratum": ("direct",), "verdict": ("accurate", "incorrect")}},
    ],
)
def test_what_counts_anything_but_accurate_is_not_corrected_by_labels_of_accurate(changes: dict) -> None:
    source, _ = answers()
    agreed = with_metric(contract(n=600, design="external", labels_digest="sha256:" + "a" * 64), **changes)
    found = brought(agreed, source, {"subject": None, "gate": PASSED})["accuracy"]
    assert (found.guard, found.confusion) == ("data_absent", None)


def test_a_criterion_takes_the_labels_of_its_own() -> None:
    rng = random.Random(6)
    truth, records, table = {}, [], {}
    for n in range(300):
        said = {}
        for name, right in (("correcta", rng.random() < 0.7), ("trato", rng.random() < 0.6)):
            said[name] = right != (rng.random() < 0.1)
            truth[UnitKey(f"i-{n:06d}", 0, name)] = right
            table[name, right, said[name]] = table.get((name, right, said[name]), 0) + 1
        records.append(by_criteria(n, said))
    read = labelled(contract(criteria=True, n=300, design="random_audit", min_labels=600), records, truthful(truth))
    source = loads_strict(jcs(calibration_record(read)))
    agreed = contract(criteria=True, n=600, design="external", labels_digest="sha256:" + "a" * 64)
    gates = ({"subject": "correcta", "gate": PASSED}, {"subject": "trato", "gate": REFUSED})
    found = brought(agreed, source, *gates)
    assert (found["trato"].guard, found["correcta"].guard) == ("judge_below_minimum", None)
    y0, y1 = table["correcta", False, False], table["correcta", True, True]
    assert found["correcta"].confusion == Confusion(
        y0, y0 + table["correcta", False, True], y1, y1 + table["correcta", True, False]
    )
    for words in (("correcta:not_met",), ("correcta:met", "trato:met")):
        turned = with_metric(agreed, count={"criteria": words})
        assert brought(turned, source, *gates)["correcta"].guard == "data_absent"


def test_the_least_that_is_promised_of_what_the_judge_marks() -> None:
    """Of metrics that bind, count a yes or no and rest on the judge: what an empty answer must not reach."""
    lower = {**ACCURACY, "id": "lower", "threshold": "0.70"}
    reported = {**ACCURACY, "id": "reported", "threshold": "0.10", "severity": "reported"}
    mean = {
        **ACCURACY,
        "id": "media",
        "count": None,
        "kind": "mean",
        "value": "value",
        "scale": ["0", "1"],
        "threshold": "0.2",
    }
    alive = {**ACCURACY, "id": "alive", "count": {"run_outcome": ["answered"]}, "threshold": "0.30"}
    assert judged_floor(build([ACCURACY, lower, reported, mean, alive, HALLUCINATION], **JUDGE)) == Fraction("0.7")
    assert judged_floor(build([alive], **JUDGE)) is None


@pytest.mark.parametrize(("wrong", "doubt"), [(0, False), (5, True), (19, True), (40, False)])
def test_a_first_stage_leaves_a_doubt_between_its_own_numbers(wrong: int, doubt: bool) -> None:
    """At 0.005 a side of 120 items: P(F <= 3) = .0031 and P(F <= 4) = .0102; P(F >= 22) = .0043, P(F >= 21) = .0086."""
    assert leaves_doubt(build([ACCURACY], verdict=EXTEND), run(wrong)) is doubt


def newcombe(x1: int, n1: int, x2: int, n2: int) -> tuple[float, float]:
    """Newcombe's tenth method: Wilson's limits of each rate, distances added as squares."""
    z = float(norm.ppf(0.975))

    def limit(x: int, n: int, sign: int) -> float:
        b = 2 * x + z * z
        return (b + sign * math.sqrt(b * b - 4 * (n + z * z) * x * x / n)) / (2 * (n + z * z))

    p1, p2 = x1 / n1, x2 / n2
    below = math.hypot(p1 - limit(x1, n1, -1), limit(x2, n2, 1) - p2)
    above = math.hypot(limit(x1, n1, 1) - p1, p2 - limit(x2, n2, -1))
    return p1 - p2 - below, p1 - p2 + above


def test_two_draws_are_compared_over_what_only_one_of_them_asked() -> None:
    """Shared questions, the other version, other strata and what nobody can decide are in neither rate."""
    old = [record(i, **(WRONG if i % 9 == 0 else {})) for i in range(100)]
    new = [record(i, **(WRONG if i % 5 == 0 else {})) for i in range(80, 200)]
    new += [record(300, outcome="unresolved"), record(301, side="candidate"), record(302, "out_of_corpus", **WRONG)]
    reported = {**HALLUCINATION, "threshold": "0.2"}
    mean = {**ACCURACY, "id": "media", "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"]}
    slow = {**ACCURACY, "id": "p95", "kind": "quantile", "limit_s": "2", "count": None, "threshold": "0.95"}
    before = build([ACCURACY, reported, mean, slow])
    after = build(
        [ACCURACY, {**reported, "count": {"verdict": ["incorrect"]}}, mean, slow, {**ACCURACY, "id": "fresh"}]
    )
    found = compare_draws(before, old, after, new)
    assert (found["type"], found["method"], found["shared"]) == ("slaverify/draws/1", "newcombe", 20)
    (row,) = found["metrics"]
    x1 = sum(i % 9 != 0 for i in range(80))
    x2 = sum(i % 5 != 0 for i in range(100, 200))
    assert (row["id"], row["old"], row["new"], row["n"]) == ("accuracy", {"x": x1, "n": 80}, {"x": x2, "n": 100}, 180)
    assert row["difference"] == real9(Decimal(x2) / 100 - Decimal(x1) / 80)
    low, high = newcombe(x2, 100, x1, 80)
    assert [float(row["interval"][key]) for key in ("low", "high")] == pytest.approx([low, high], abs=1e-8)


@pytest.mark.parametrize("sides", [(5, 0), (0, 5), (0, 0)])
def test_a_draw_of_nothing_new_has_no_difference(sides: tuple[int, int]) -> None:
    old = [record(i) for i in range(20 + sides[0])]
    new = [record(i) for i in range(20)] + [record(100 + i) for i in range(sides[1])]
    contract_ = build([ACCURACY])
    (row,) = compare_draws(contract_, old, contract_, new)["metrics"]
    assert (row["old"]["n"], row["new"]["n"]) == sides
    assert (row["n"], row["difference"], row["interval"]) == (0, None, None)


def test_patterns_of_the_whole_run_leave_no_doubt_and_manipulation_does() -> None:
    """A bound pattern takes PASS away and no second stage would undo it; what one answer did stands at once."""
    agreed = build([ACCURACY], verdict={**EXTEND, "integrity": {"binding_patterns": ["constant_output"]}})
    pattern = {"code": "constant_output", "level": "pattern", "confirmed": False}
    attack = {"code": "markup", "level": "manipulation", "confirmed": True}
    assert leaves_doubt(agreed, [{**one, "events": [pattern]} for one in run(0)]) is False
    assert leaves_doubt(agreed, [{**one, "events": [attack, pattern]} for one in run(0)]) is True
    assert leaves_doubt(agreed, [{**one, "events": None} for one in run(0)]) is False
