"""What would settle an open metric, and how many verdicts lie between two states: by brute force over every n and f."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.stats import beta

from slaverify.canonical import real9
from slaverify.decision import MetricCalibration, RunValidity, inputs, results
from slaverify.statistics import Confusion
from tests.decision.build import ACCURACY, HALLUCINATION, JUDGE, WRONG, build, record, run
from tests.statistics.oracles import needed

VALID = RunValidity(True)
VAGUE = {"flags": ["cut_body"]}
CLUSTER = {"cluster": {"by": "norm", "icc_floor": "0.2"}}
MANIPULATED = {"events": [{"code": "markup", "level": "manipulation", "confirmed": True}]}
NOTHING = {"to_pass": None, "to_breach": None, "to_change": None}


def first(contract, records: list, **kwargs: object) -> dict:
    return results(contract, inputs(contract, records), VALID, **kwargs)["metrics"][0]


@pytest.mark.parametrize("direction", ["at_least", "at_most"])
@pytest.mark.parametrize(
    ("wrong", "vague", "corrected"),
    [(6, 0, "holm"), (7, 1, "none"), (17, 0, "holm"), (17, 0, "none"), (16, 2, "holm"), (15, 0, "none")],
)
def test_the_n_that_settles(wrong: int, vague: int, corrected: str, direction: str) -> None:
    """The rate is that of the answers which say something; two metrics share the risk of a breach under Holm."""
    metric = {**ACCURACY}
    if direction == "at_most":
        metric = {**metric, "count": {"verdict": ["incorrect"]}, "direction": "at_most", "threshold": "0.10"}
    contract = build([metric, {**HALLUCINATION, "id": "twin"}], verdict={"multiplicity": corrected})
    records = [record(i, **(WRONG if i < wrong else VAGUE if i < wrong + vague else {})) for i in range(120)]
    entry = first(contract, [*records, *run()[120:]])
    assert entry["state"] == "INCONCLUSIVE"
    known = 120 - vague
    rate = 1 - wrong / known
    side = "PASS" if rate > 0.9 else "BREACH"
    n = needed(0.9, rate, 0.0125 if corrected == "holm" and side == "BREACH" else 0.025, side)
    assert entry["settle"] == {
        "n": n,
        "additional": n - 120,
        "direction": side,
        "power": "0.8",
        "at_rate": real9(Fraction(wrong if direction == "at_most" else known - wrong, known)),
    }


@pytest.mark.parametrize(("wrong", "vague"), [(6, 0), (18, 0), (6, 3), (16, 4)])
def test_with_clusters_the_n_that_settles_is_as_much_larger_as_the_sample_is(wrong: int, vague: int) -> None:
    kinds = [WRONG] * wrong + [VAGUE] * vague + [{}] * (120 - wrong - vague)
    records = [record(i, cluster=f"c-{i % 40:04d}", **kind) for i, kind in enumerate(kinds)]
    entry = first(build([{**ACCURACY, **CLUSTER}]), records)
    side = "PASS" if wrong < 12 else "BREACH"
    rate = Fraction(120 - vague - wrong, 120 - vague)
    n = needed(0.9, float(rate), 0.025, side)
    assert entry["settle"]["at_rate"] == real9(rate)
    assert (entry["state"], entry["settle"]["direction"]) == ("INCONCLUSIVE", side)
    assert entry["settle"]["n"] == math.ceil(n * 120 / float(entry["n_eff"]))
    assert entry["settle"]["additional"] == entry["settle"]["n"] - 120


def test_weighted_strata_are_settled_at_their_weighted_rate() -> None:
    """All of the larger stratum, two thirds of the smaller: 0.8333 at equal weights, although 0.9333 of all items."""
    both = {**ACCURACY, "among": {"stratum": ["direct", "out_of_corpus"]}}
    contract = build([both], evaluation_set={"weights": {"direct": "0.5", "out_of_corpus": "0.5"}})
    rest = [record(1000 + i, "out_of_corpus", **(WRONG if i < 10 else {})) for i in range(30)]
    entry = first(contract, [*run()[:120], *rest])
    assert (entry["state"], entry["rate"]) == ("INCONCLUSIVE", "0.833333333")
    found = entry["settle"]
    assert (found["direction"], found["at_rate"]) == ("BREACH", "0.833333333")
    assert found["n"] == math.ceil(needed(0.9, 5 / 6, 0.025, "BREACH") * 150 / float(entry["n_eff"]))


def test_a_bank_settles_with_all_of_it_at_most() -> None:
    small = {"strata": {"direct": 130, "out_of_corpus": 60}}
    entry = first(build([{**ACCURACY, "estimand": "bank"}], evaluation_set=small), run(11))
    assert (entry["state"], entry["settle"]["n"], entry["settle"]["additional"]) == ("INCONCLUSIVE", 130, 10)


def test_what_no_number_of_items_settles() -> None:
    vague = [record(i, **(VAGUE if i > 0 else {})) for i in range(120)]
    nothing_said = [record(i, **VAGUE) for i in range(120)]
    mean = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"], "threshold": "0.80"}
    judged = [record(i, **({"decided_by": "judge"} if i < 60 else {}), **(WRONG if i < 8 else {})) for i in range(120)]
    calibration = MetricCalibration(design="external", confusion=Confusion(195, 200, 396, 400))
    cases = {
        "enough items, open answers": first(build([ACCURACY]), [*vague, *run()[120:]]),
        "nothing said": first(build([ACCURACY]), [*nothing_said, *run()[120:]]),
        "the rate is the threshold": first(build([ACCURACY]), run(12)),
        "a mean": first(build([mean]), [record(i, value="0.8") for i in range(120)]),
        "a judge": first(build([ACCURACY], **JUDGE), judged, calibrations={"accuracy": calibration}),
        "manipulation": first(build([ACCURACY]), [record(i, **(MANIPULATED if i == 5 else {})) for i in range(120)]),
    }
    for name, entry in cases.items():
        assert (entry["state"], entry["settle"]) == ("INCONCLUSIVE", None), name


@pytest.mark.parametrize("rule", ["guarded", "guarded_rejection"])
@pytest.mark.parametrize("threshold", ["0.9999", "0.9", "0.5", "0.05"])
@pytest.mark.parametrize("groups", [6, 24])
@pytest.mark.parametrize("wrong", [0, 2, 9, 11, 12])
def test_verdicts_between_states_over_clusters(rule: str, threshold: str, groups: int, wrong: int) -> None:
    """Two items a cluster, few clusters or more: every number of failures is tried, on the sample that the run left."""
    metric = {
        **ACCURACY,
        **CLUSTER,
        "threshold": threshold,
        "decision": {"rule": rule},
        "among": {"stratum": ["direct"]},
    }
    size = 2 * groups
    contract = build([metric], evaluation_set={"sample": {"per_stratum": {"direct": size, "out_of_corpus": 30}}})
    records = [record(i, cluster=f"c-{i % groups:04d}", **(WRONG if i < wrong else {})) for i in range(size)]
    entry = first(contract, records)
    t, n_eff = float(threshold), float(entry["n_eff"])
    x = [(size - f) / size * n_eff for f in range(size + 1)]
    passing = [float(beta.cdf(t, one, n_eff - one + 1)) if one else 1.0 for one in x]
    breaching = [float(beta.sf(t, one + 1, n_eff - one)) if one < n_eff else 1.0 for one in x]
    reject = min((f for f in range(size + 1) if breaching[f] <= 0.025), default=None)
    ok = [p <= 0.025 for p in passing] if rule == "guarded" else [p > 0.025 for p in breaching]
    accept = max((f for f in range(size + 1) if ok[f]), default=None)
    found, state = entry["tipping"], entry["state"]
    assert state == ("PASS" if ok[wrong] else "BREACH" if breaching[wrong] <= 0.025 else "INCONCLUSIVE")
    assert found["to_pass"] == (None if accept is None else max(0, wrong - accept))
    assert found["to_breach"] == (None if reject is None else max(0, reject - wrong))
    if state == "PASS":
        assert found["to_change"] == accept + 1 - wrong
    elif state == "BREACH":
        assert found["to_change"] == wrong - reject + 1
    else:
        assert found["to_change"] == min(k for k in (found["to_pass"], found["to_breach"]) if k is not None)


def test_a_state_that_does_not_rest_on_counts_has_no_verdicts_to_change() -> None:
    mean = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"], "threshold": "0.80"}
    assert first(build([mean]), [record(i, value="1") for i in range(120)])["tipping"] == NOTHING
    assert first(build([ACCURACY]), run()[1:])["tipping"] == NOTHING  # an item is missing: INVALID_RUN
    shown = [record(i, **(MANIPULATED if i == 0 else {})) for i in range(120)]
    assert first(build([ACCURACY]), shown)["tipping"] == NOTHING
    breach = build([ACCURACY], verdict={"integrity": {"effect": "breach"}})
    assert first(breach, shown)["tipping"] == {**NOTHING, "to_breach": 0}


def test_a_judged_metric_that_passes_is_there_and_nobody_knows_how_far_it_is() -> None:
    judged = [record(i, **({"decided_by": "judge"} if i < 60 else {})) for i in range(120)]
    calibration = MetricCalibration(design="external", confusion=Confusion(195, 200, 396, 400))
    entry = first(build([ACCURACY], **JUDGE), judged, calibrations={"accuracy": calibration})
    assert (entry["state"], entry["tipping"]) == ("PASS", {**NOTHING, "to_pass": 0})


@pytest.mark.parametrize("groups", range(5, 60))
def test_a_run_without_a_failure_stays_within_its_sample_whatever_its_clusters(groups: int) -> None:
    """All of n times n_eff over n is n_eff, not its next number: a perfect run must not end in an error."""
    metric = {**ACCURACY, **CLUSTER, "among": {"stratum": ["direct", "out_of_corpus"]}}
    records = [record(i, "direct" if i < 120 else "out_of_corpus", cluster=f"c-{i % groups:04d}") for i in range(150)]
    entry = first(build([metric]), records)
    assert (entry["rate"], entry["exact"]["high"], entry["tipping"]["to_breach"] is None) == (
        "1.000000000",
        "1.000000000",
        False,
    )


def test_one_answer_that_says_something_is_a_rate_and_all_of_a_bank_is_all() -> None:
    """One right answer and nine left open: 36 would do at that rate. Of a bank asked whole no more can be asked."""
    ten = {"sample": {"per_stratum": {"direct": 10, "out_of_corpus": 30}}}
    records = [record(i, **({} if i == 0 else VAGUE)) for i in range(10)]
    found = first(build([{**ACCURACY, "min_subjects": 1}], evaluation_set=ten), records)["settle"]
    assert (found["n"], found["additional"], found["at_rate"]) == (36, 26, "1.000000000")
    whole = {"strata": {"direct": 120, "out_of_corpus": 60}}
    bank = build([{**ACCURACY, "estimand": "bank"}], evaluation_set=whole)
    open_ = [record(i, **(WRONG if i < 10 else VAGUE if i < 14 else {})) for i in range(120)]
    entry = first(bank, open_)
    assert (entry["state"], entry["settle"]) == ("INCONCLUSIVE", None)
