"""Every figure that is shown beside a state, from the answers, against scipy."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, fisher_exact, norm

from slaverify.canonical import real9
from slaverify.decision import RunValidity, inputs, results
from tests.decision.build import ACCURACY, WRONG, build, record

VALID = RunValidity(True)
VAGUE = {"flags": ["cut_body"]}
UNKNOWN = {"outcome": "unresolved", "verdict": None}
LOST = {"outcome": "vendor_failure"}
BOTH = {"stratum": ["direct", "out_of_corpus"]}


def first(contract, records: list) -> dict:
    return results(contract, inputs(contract, records), VALID)["metrics"][0]


def near(text: str | None, value: float | None) -> None:
    if value is None or text is None:
        assert (text, value) == (None, None)
    else:
        assert float(text) == pytest.approx(value, abs=2e-8)


def wilson(x: float, n: float, sign: int) -> float:
    """The root of |x/n - p| = z sqrt(p (1 - p) / n) on one side, as a quadratic."""
    z = float(norm.ppf(0.975))
    b = 2 * x + z * z
    return (b + sign * (b * b - 4 * (n + z * z) * x * x / n) ** 0.5) / (2 * (n + z * z))


def numbers(n: int, t: float, rule: str, breach: float) -> tuple[int | None, int | None]:
    """Acceptance and rejection number by trying every count of failures; alpha 0.025 to accept."""
    f = range(n + 1)
    accept = max((c for c in f if binom.cdf(c, n, 1 - t) <= 0.025), default=None)
    reject = min((r for r in f if binom.sf(r - 1, n, 1 - t) <= breach), default=None)
    if rule == "guarded_rejection":
        accept = None if reject is None else reject - 1
    return accept, reject


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int, int]:
    """Items, of them wrong, of them left open."""
    n = draw(st.sampled_from([1, 2, 3, 36, 120]))
    wrong = draw(st.integers(0, n))
    return n, wrong, draw(st.integers(0, n - wrong))


@settings(max_examples=60)
@given(
    counts(),
    st.sampled_from(["0.9", "0.5", "0.999"]),
    st.sampled_from([None, "0.03", "0.2"]),
    st.sampled_from(["guarded", "guarded_rejection"]),
    st.sampled_from(["at_least", "at_most"]),
    st.sampled_from(["holm", "none"]),
)
def test_the_figures_of_independent_items(
    of: tuple[int, int, int], promised: str, margin: str | None, rule: str, direction: str, corrected: str
) -> None:
    n, wrong, vague = of
    metric = {**ACCURACY, "threshold": promised, "decision": {"rule": rule}, "margin": margin, "min_subjects": 1}
    if direction == "at_most":
        metric |= {
            "count": {"verdict": ["incorrect"]},
            "direction": direction,
            "threshold": str(1 - Decimal(promised)),
        }
    sample = {"sample": {"per_stratum": {"direct": n, "out_of_corpus": 30}}}
    twin = {**ACCURACY, "id": "twin", "threshold": "0.5"}
    contract = build([metric, twin], evaluation_set=sample, verdict={"multiplicity": corrected})
    kinds = [WRONG] * wrong + [VAGUE] * vague + [{}] * (n - wrong - vague)
    entry = first(contract, [record(i, **kind) for i, kind in enumerate(kinds)])
    t, right = float(promised), n - wrong - vague
    share = 0.025 / (2 if corrected == "holm" else 1)
    accept, reject = numbers(n, t, rule, share)
    assert (entry["pass_max_failures"], entry["breach_min_failures"]) == (accept, reject)
    near(entry["p_breach"], float(binom.sf(wrong - 1, n, 1 - t)))
    if corrected == "none":
        near(entry["p_breach_adjusted"], float(entry["p_breach"]))
    else:
        own, other = float(binom.sf(wrong - 1, n, 1 - t)), float(binom.sf(wrong - 1, n, 0.5))
        # Of two, the smaller is doubled, and the larger is at least that.
        near(entry["p_breach_adjusted"], min(1.0, 2 * own if own <= other else max(own, 2 * other)))
    low = 0.0 if right == 0 else float(beta.ppf(0.025, right, n - right + 1))
    high = 1.0 if wrong == 0 else float(beta.ppf(0.975, right + vague + 1, wrong))
    exact, shown, rate = (low, high), (wilson(right, n, -1), wilson(right + vague, n, 1)), Fraction(right, n)
    if direction == "at_most":
        exact, shown, rate = (1 - high, 1 - low), (1 - shown[1], 1 - shown[0]), Fraction(wrong, n)
    assert entry["rate"] == real9(rate)
    for key, pair in (("exact", exact), ("wilson", shown)):
        near(entry[key]["low"], pair[0])
        near(entry[key]["high"], pair[1])
    none_at_all = 1 - 0.05 ** (1 / n)
    near(entry["zero_bound"], none_at_all if wrong + vague == 0 or wrong == n else None)
    near(entry["conformance_probability"], float(beta.sf(t, right + 0.5, n - right + 0.5)))
    step = (1 - t) / 2 if margin is None else float(margin)
    above, below = min(1.0, t + step), max(0.0, t - step)
    near(entry["margin"], step)
    near(entry["power_at_margin"], None if accept is None else float(binom.cdf(accept, n, 1 - above)))
    near(entry["power_breach_at_margin"], None if reject is None else float(binom.sf(reject - 1, n, 1 - below)))
    if reject is None:
        assert entry["shortfall"] is None
    else:
        seen = t - float(entry["shortfall"])
        assert float(binom.sf(reject - 1, n, 1 - seen)) == pytest.approx(0.8, abs=1e-6) or entry["shortfall"] == real9(
            0
        )


def test_a_breach_that_is_seen_within_the_promise_has_no_shortfall() -> None:
    """Without a test a rule may breach at the threshold itself more often than not: nothing is short then."""
    metric = {**ACCURACY, "decision": {"rule": "simple"}, "threshold": "0.99"}
    entry = first(build([metric]), [record(i) for i in range(120)])
    assert entry["breach_min_failures"] == 2  # floor(0.01 * 120) = 1 passes
    seen = 0.99 - float(entry["shortfall"])
    assert float(binom.sf(1, 120, 1 - seen)) == pytest.approx(0.8, abs=1e-6)
    strict = {**ACCURACY, "decision": {"rule": "zero_observed"}, "threshold": "0.5"}
    entry = first(build([strict]), [record(i) for i in range(120)])
    assert entry["shortfall"] == "0.000000000"  # 0.8 at a true rate of 0.2 ** (1 / 120) = 0.987


@pytest.mark.parametrize(("threshold", "rule"), [("1", "zero_observed"), ("0", "simple")])
def test_a_promise_of_all_or_of_none_has_no_power_and_no_probability(threshold: str, rule: str) -> None:
    metric = {**ACCURACY, "threshold": threshold, "margin": "0.05", "decision": {"rule": rule}}
    entry = first(build([metric]), [record(i) for i in range(120)])
    assert entry["rate"] == "1.000000000"
    keys = ("conformance_probability", "margin", "power_at_margin", "power_breach_at_margin", "shortfall")
    assert [entry[key] for key in keys] == [None] * 5


@pytest.mark.parametrize("corrected", ["holm", "none"])
@pytest.mark.parametrize("rule", ["guarded", "simple"])
def test_the_power_of_clusters_is_that_of_their_effective_sample(corrected: str, rule: str) -> None:
    metric = {**ACCURACY, "cluster": {"by": "norm", "icc_floor": "0.2"}, "decision": {"rule": rule}}
    contract = build([metric, {**ACCURACY, "id": "twin"}], verdict={"multiplicity": corrected})
    entry = first(contract, [record(i, cluster=f"c-{i % 40:04d}", **(WRONG if i < 4 else {})) for i in range(120)])
    keys = ("margin", "power_at_margin", "power_breach_at_margin", "shortfall")
    if rule == "simple":
        assert [entry[key] for key in keys] == [None] * 4
        return
    n = int(float(entry["n_eff"]))
    accept, _ = numbers(n, 0.9, rule, 0.025)
    _, reject = numbers(n, 0.9, rule, 0.0125 if corrected == "holm" else 0.025)
    near(entry["margin"], 0.05)
    near(entry["power_at_margin"], 0.0 if accept is None else float(binom.cdf(accept, n, 0.05)))
    near(entry["power_breach_at_margin"], float(binom.sf(reject - 1, n, 0.15)))
    assert entry["shortfall"] is None


def test_means_have_no_sample_of_yes_and_no() -> None:
    mean = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"], "threshold": "0.8"}
    for scores in (["1"] * 120, ["2"] * 120):  # off the scale: no figure at all
        entry = first(build([mean]), [record(i, value=one) for i, one in enumerate(scores)])
        keys = ("wilson", "zero_bound", "conformance_probability", "margin", "power_at_margin", "shortfall")
        assert [entry[key] for key in keys] == [None] * 6


@pytest.mark.parametrize("direction", ["at_least", "at_most"])
def test_the_rate_of_weighted_strata_is_in_the_contracts_sense(direction: str) -> None:
    metric = {**ACCURACY, "among": BOTH}
    if direction == "at_most":
        metric |= {"count": {"verdict": ["incorrect"]}, "direction": direction, "threshold": "0.10"}
    contract = build([metric], evaluation_set={"weights": {"direct": "0.5", "out_of_corpus": "0.5"}})
    records = [record(i, **(WRONG if i < 12 else {})) for i in range(120)]
    records += [record(1000 + i, "out_of_corpus", **(WRONG if i < 9 else {})) for i in range(30)]
    assert first(contract, records)["rate"] == ("0.800000000" if direction == "at_least" else "0.200000000")


@pytest.mark.parametrize(("rights", "calls"), [([2, 1, 0, 2] * 30, 2), ([3, 3, 0, 1] * 30, 3)])
def test_the_dispersion_of_repeats_is_the_one_way_correlation(rights: list[int], calls: int) -> None:
    contract = build([ACCURACY], repetitions={"per_item": calls, "aggregate": "each_call"})
    records = [
        record(i, repetition=k, **({} if k < right else WRONG)) for i, right in enumerate(rights) for k in range(calls)
    ]
    entry = first(contract, records)
    n, means = len(rights), [right / calls for right in rights]
    grand = sum(means) / n
    between = calls * sum((mean - grand) ** 2 for mean in means) / (n - 1)
    # Of a yes or no the squares within an item are right (1 - mean) alone.
    within = sum(right * (1 - mean) for right, mean in zip(rights, means, strict=True)) / (n * (calls - 1))
    near(entry["dispersion"]["icc"], (between - within) / (between + (calls - 1) * within))
    assert entry["dispersion_reason"] is None
    once = first(build([ACCURACY]), [record(i) for i in range(120)])
    assert (once["dispersion"], once["dispersion_reason"]) == (None, "one_run_per_item")
    flat = first(contract, [record(i, repetition=k) for i in range(120) for k in range(calls)])
    assert (flat["dispersion"], flat["dispersion_reason"]) == (None, "no_variation")


@pytest.mark.parametrize(
    ("lost", "unknown"),
    [
        ((20, 1, 0), (0, 0, 0)),
        ((4, 2, 1), (3, 5, 0)),
        ((0, 0, 1), (9, 9, 0)),
        ((9, 9, 0), (9, 0, 1)),
        ((12, 0, 0), (0, 3, 0)),
    ],
)
def test_whether_what_is_missing_depends_on_the_stratum(lost: tuple[int, ...], unknown: tuple[int, ...]) -> None:
    """Each stratum against the rest by Fisher's test, Holm over those that have items; a stratum of one counts."""
    sizes = {"direct": 120, "out_of_corpus": 30, "otro": 1}
    contract = build(
        [{**ACCURACY, "among": {"stratum": [*sizes, "nadie"]}}],
        evaluation_set={
            "size": 400,
            "strata": {**sizes, "direct": 240, "nadie": 9},
            "sample": {"per_stratum": {**sizes, "nadie": 1}},
        },
        failed_calls={"unresolved_max": "1", "missing_cap": "0.05"},
    )
    records, at = [], 0
    for name, gone, open_, size in zip(sizes, lost, unknown, sizes.values(), strict=True):
        for i in range(size):
            records.append(record(at, name, **(LOST if i < gone else UNKNOWN if i < gone + open_ else {})))
            at += 1
    missing, n = [a + b for a, b in zip(lost, unknown, strict=True)], sum(sizes.values())
    all_, found = sum(missing), first(contract, records)["missingness"]
    tests = sorted(
        float(fisher_exact([[m, size - m], [all_ - m, n - size - all_ + m]])[1])
        for m, size in zip(missing, sizes.values(), strict=True)
    )
    assert found["share"] == real9(Fraction(all_, n))
    near(found["p"], min(1.0, 3 * tests[0]))


def test_as_much_missing_as_agreed_is_not_tested() -> None:
    contract = build([ACCURACY], failed_calls={"missing_cap": "0.05"})
    assert first(contract, [record(i, **(LOST if i < 6 else {})) for i in range(120)])["missingness"] is None
    assert first(contract, [record(i, **(LOST if i < 7 else {})) for i in range(120)])["missingness"] is not None
