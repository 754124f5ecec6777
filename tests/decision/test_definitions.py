"""Parts of a decision against their definitions: facts, plans, credits, worst scores, weights with repeats."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from slaverify.decision import RunValidity, decide, inputs, plan, results
from slaverify.decision.facts import metric_facts
from slaverify.statistics import clustered_decision, weighted_rate
from tests.decision.build import ACCURACY, HALLUCINATION, TIMED_OUT, WRONG, build, record, run

VALID = RunValidity(True)
EVEN = {"direct": "0.5", "out_of_corpus": "0.5"}
BOTH = {**ACCURACY, "among": {"stratum": ["direct", "out_of_corpus"]}}
MEAN = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["1", "5"]}


def first(contract: object, records: list) -> dict:
    return results(contract, inputs(contract, records), VALID)["metrics"][0]


def test_the_facts_of_a_metric_are_those_of_its_row() -> None:
    row = {
        "id": "a",
        "direction": "at_most",
        "n": 9,
        "clusters": 4,
        "observations": 10,
        "x": 1,
        "failures": 3,
        "failures_vendor": 2,
        "unresolved": 1,
        "open": 2,
        "margin": "0.05",
        "power_at_margin": "0.7",
        "power_breach_at_margin": "0.6",
        "shortfall": "0.01",
    }
    (facts,) = metric_facts({"metrics": [row]})
    assert (facts.id, facts.n, facts.clusters, facts.unresolved, facts.open) == ("a", 9, 4, 1, 2)
    assert (facts.rate_low, facts.rate_high) == ("0.500000000", "0.800000000")
    assert (facts.margin, facts.power_pass, facts.power_breach, facts.shortfall) == ("0.05", "0.7", "0.6", "0.01")
    (other,) = metric_facts({"metrics": [{**row, "direction": "at_least", "clusters": None, "observations": 4}]})
    assert (other.rate_low, other.rate_high, other.clusters) == ("0.250000000", "1.000000000", None)
    (single,) = metric_facts(
        {"metrics": [{**row, "direction": "at_least", "observations": 1, "unresolved": 0, "open": 0}]}
    )
    assert (single.rate_low, single.rate_high) == ("1.000000000", "1.000000000")


@pytest.mark.parametrize("forged", [True, -3, "3", 2.5, None])
def test_a_forged_count_reads_as_nothing(forged: object) -> None:
    (facts,) = metric_facts({"metrics": [{"n": forged, "margin": 3, "shortfall": ["x"]}]})
    assert (facts.n, facts.margin, facts.shortfall) == (0, None, None)


def test_the_points_of_a_plan_are_binomial_tails() -> None:
    found = plan(build([ACCURACY, HALLUCINATION]))
    for metric, t in zip(found["metrics"], (0.9, 0.9), strict=True):
        n, accept, reject = metric["n"], metric["pass_max_failures"], metric["breach_min_failures"]
        assert metric["integers"] is True
        for point, rate in zip(metric["points"], (t - 0.05, t, t + 0.05), strict=True):
            assert float(point["pass"]) == pytest.approx(binom.cdf(accept, n, 1 - rate), abs=1e-8)
            assert float(point["breach"]) == pytest.approx(binom.sf(reject - 1, n, 1 - rate), abs=1e-8)


def test_a_plan_near_one_stays_within_one() -> None:
    high = {**ACCURACY, "threshold": "0.97", "margin": "0.05"}
    metric = plan(build([high]))["metrics"][0]
    assert metric["points"][2]["rate"] == "1.000000000"
    assert metric["needed"][0]["pass"] is not None
    assert Fraction(metric["points"][2]["pass"]) in (0, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"evaluation_set": {"weights": EVEN}},
        {"repetitions": {"per_item": 2, "aggregate": "each_call"}},
        {"repetitions": {"per_item": 3, "aggregate": "each_call"}},
    ],
)
def test_a_plan_without_integers_still_says_what_is_needed(changes: dict) -> None:
    metric = plan(build([BOTH], **changes))["metrics"][0]
    assert (metric["integers"], metric["points"], metric["pass_max_failures"]) == (False, [], None)
    assert metric["needed"][0]["pass"] == 255


def test_what_cannot_be_planned_has_no_needed_n() -> None:
    for metric in (
        {**ACCURACY, "threshold": "1"},
        {**ACCURACY, "among": {"class": ["answer"]}},
        {**ACCURACY, "decision": {"rule": "two_point", "f0": "0.02", "r0": "0.05", "f1": "0.20", "r1": "0.05"}},
    ):
        assert plan(build([metric]))["metrics"][0]["needed"] == []


def credits_of(wrong: int, **remedies: object) -> dict:
    contract = build([ACCURACY], remedies={"base_amount": "1000", "payer": "vendor", "currency": "CLP", **remedies})
    return decide(contract, results(contract, inputs(contract, run(wrong)), VALID), VALID)["remedies"]


def test_a_credit_without_allocation_or_share_at_risk_is_of_the_whole() -> None:
    step = {"metric": "accuracy", "below": "0.90", "share": "0.25"}
    (line,) = credits_of(30, credits=[step])["lines"]
    assert (Decimal(line["weight"]), Decimal(line["amount"]), line["above"]) == (1, 250, None)
    (half,) = credits_of(30, credits=[step], at_risk="0.5")["lines"]
    assert (Decimal(half["weight"]), Decimal(half["amount"])) == (Decimal("0.5"), 125)


def test_a_step_is_reached_beyond_its_limit_not_at_it() -> None:
    # 30 of 120 wrong: a rate of exactly 0.75.
    for limit, due in (("0.75", 0), ("0.7501", 250)):
        found = credits_of(30, credits=[{"metric": "accuracy", "below": limit, "share": "0.25"}])
        assert Decimal(found["due"]) == due
    contract_of = {"remedies": {"base_amount": "1000", "payer": "vendor", "currency": "CLP"}}
    wrong = {**HALLUCINATION, "among": {"stratum": ["direct"]}}
    for limit, due in (("0.25", 0), ("0.2499", 250)):
        steps = {"credits": [{"metric": "hallucination", "above": limit, "share": "0.25"}]}
        contract = build([wrong], remedies={**contract_of["remedies"], **steps})
        found = decide(contract, results(contract, inputs(contract, run(30)), VALID), VALID)["remedies"]
        assert Decimal(found["due"]) == due
        assert all(line["above"] == limit for line in found["lines"])


def test_the_worst_score_is_that_of_the_sense() -> None:
    """On a scale from 1 to 5 a failed call scores 1 where more is better, 5 where less is."""
    records = [record(i, value=None, **TIMED_OUT) for i in range(60)] + [record(60 + i, value="3") for i in range(60)]
    records += run()[120:]
    for direction, mean in (("at_least", "2.000000000"), ("at_most", "4.000000000")):
        metric = {**MEAN, "direction": direction, "threshold": "3"}
        assert first(build([metric]), records)["rate"] == mean


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 40), st.integers(0, 10), st.integers(0, 5), st.integers(0, 5))
def test_weights_with_repeats_and_unknown_calls(wrong: int, other: int, unknown: int, lost: int) -> None:
    """Two strata of equal weight, three calls an item: counts are means over the calls, unknown ones go both ways."""
    contract = build(
        [BOTH], evaluation_set={"weights": EVEN}, repetitions={"per_item": 3, "aggregate": "each_call"},
        failed_calls={"unresolved_max": "1"},
    )  # fmt: skip
    records = []
    for stratum, items, bad, open_calls in (("direct", 120, wrong, unknown), ("out_of_corpus", 30, other, lost)):
        for call in range(items * 3):
            kind = WRONG if call < bad else {"outcome": "unresolved"} if call < bad + open_calls else {}
            number = (0 if stratum == "direct" else 1000) + call // 3
            records.append(record(number, stratum, repetition=call % 3, **kind))
    entry = first(contract, records)
    sizes, half = [120, 30], [Fraction(1, 2)] * 2
    right = [360 - wrong - unknown, 90 - other - lost]
    low = weighted_rate([one / 3 for one in right], sizes, half)
    high = weighted_rate(
        [(one + open_calls) / 3 for one, open_calls in zip(right, (unknown, lost), strict=True)], sizes, half
    )
    assert float(entry["n_eff"]) == pytest.approx(low.n_eff, abs=1e-6)
    x = low.rate * low.n_eff
    limit = float(beta.ppf(0.025, x, low.n_eff - x + 1)) if x > 0 else 0.0
    assert float(entry["exact"]["low"]) == pytest.approx(limit, abs=1e-7)
    x = high.rate * high.n_eff
    limit = float(beta.ppf(0.975, x + 1, high.n_eff - x)) if x < high.n_eff - 1e-9 else 1.0
    assert float(entry["exact"]["high"]) == pytest.approx(limit, abs=1e-7)


def test_clusters_of_a_metric_are_those_of_survey_sampling() -> None:
    metric = {**ACCURACY, "cluster": {"by": "norm", "icc_floor": "0.2"}}
    records = [record(i, cluster=f"c-{i // 8:04d}", **(WRONG if i < 12 else {})) for i in range(120)]
    entry = first(build([metric]), [*records, *run()[120:]])
    successes = [8 - max(0, min(8, 12 - 8 * k)) for k in range(15)]
    found = clustered_decision(successes, [8] * 15, Decimal("0.2"), 0.025)
    assert float(entry["n_eff"]) == pytest.approx(found.n_eff, abs=1e-6)
    assert float(entry["deff"]) == pytest.approx(120 / found.n_eff, abs=1e-6)
