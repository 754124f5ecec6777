"""Where no integers exist: the tails, the states and the limits of clusters, weights and repeats, against scipy."""

from __future__ import annotations

import math
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, t

from slaverify.decision import RunValidity, inputs, results
from tests.decision.build import ACCURACY, WRONG, build, record

VALID = RunValidity(True)
VAGUE = {"flags": ["cut_body"]}
"""The answer of a second try: it counts against the vendor if it is wrong, and for it nowhere."""
KINDS = {"right": {}, "wrong": WRONG, "open": VAGUE}
FLOOR, T = 0.2, 0.9
STRATA = ("direct", "out_of_corpus")
WEIGHTS = {"direct": 0.5, "out_of_corpus": 0.5}


def tails(x: tuple[float, float], n: tuple[float, float]) -> tuple[float, float, float]:
    """P(at least so many right | T) with open answers wrong; P(at most so many | T) with them right, and wrong."""
    low = 1.0 if x[0] <= 0 else float(beta.cdf(T, x[0], n[0] - x[0] + 1))
    high, against = (1.0 if a >= b else float(beta.sf(T, a + 1, b - a)) for a, b in ((x[1], n[1]), (x[0], n[0])))
    return low, high, against


def sample(calls: list[tuple[str, str, str]], per_item: int, clustered: bool, weighted: bool, level: float):
    """Return (x, n_eff) with open answers wrong and with them right. `calls`: (stratum, cluster, kind)."""
    ends = []
    for good in ({"right"}, {"right", "open"}):
        n = len(calls) / per_item
        p = sum(kind in good for _, _, kind in calls) / len(calls)
        n_eff = n
        if weighted:
            p = spread = design = 0.0
            for name, w in WEIGHTS.items():
                own = [kind in good for stratum, _, kind in calls if stratum == name]
                size, rate = len(own) / per_item, sum(own) / len(own)
                p += w * rate
                spread += w**2 * rate * (1 - rate) / (size - 1)
                design += w**2 / size
            n_eff = min(n, 1 / design, p * (1 - p) / spread if spread else math.inf)
        if clustered:
            groups = defaultdict(list)
            for _, cluster, kind in calls:
                groups[cluster].append(kind in good)
            m = [len(own) / per_item for own in groups.values()]
            x = [sum(own) / per_item for own in groups.values()]
            g, q = len(m), sum(x) / n
            deff = max(1.0, 1 + (sum(size**2 for size in m) / n - 1) * FLOOR)
            if 0 < q < 1:
                v = g / (g - 1) * sum((a - q * b) ** 2 for a, b in zip(x, m, strict=True)) / n**2
                deff = max(deff, v / (q * (1 - q) / (n - 1)))
            ratio = float(t.ppf(1 - level, n - 1) / t.ppf(1 - level, g - 1)) ** 2
            n_eff *= min(n, n / deff * ratio) / n
        ends.append((p * n_eff, n_eff))
    (low, high) = ends
    return (low[0], high[0]), (low[1], high[1])


@settings(max_examples=70)
@given(
    st.integers(0, 60).flatmap(lambda wrong: st.tuples(st.just(wrong), st.integers(0, 60 - wrong))),
    st.integers(1, 2),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["guarded", "guarded_rejection"]),
    st.sampled_from(["binding", "reported"]),
    st.sampled_from(["holm", "none"]),
    st.integers(1, 7),
)
def test_tails_and_states_follow_from_the_answers(
    of: tuple[int, int], per_item: int, clustered: bool, weighted: bool, rule: str, severity: str, corrected: str,
    step: int,
) -> None:  # fmt: skip
    if not (clustered or weighted or per_item > 1):
        clustered = True
    wrong, vague = of
    metric = {
        **ACCURACY,
        "among": {"stratum": list(STRATA)},
        "decision": {"rule": rule},
        "severity": severity,
        "cluster": {"by": "norm", "icc_floor": str(FLOOR)} if clustered else None,
    }
    twin = {**ACCURACY, "id": "twin", "among": {"stratum": ["direct"]}, "decision": {"rule": "guarded"}}
    contract = build(
        [metric, twin],
        repetitions={"per_item": per_item, "aggregate": "each_call"},
        verdict={"multiplicity": corrected},
        evaluation_set={"weights": {name: str(w) for name, w in WEIGHTS.items()}} if weighted else {},
    )
    records, calls = [], []
    for i in range(150):
        # Spread over the strata by a stride prime to the count; a second call of an item may differ from its first.
        for k in range(per_item):
            at = (i * 7 + k * 3 * step) % 150
            kind = "wrong" if at < wrong else "open" if at < wrong + vague else "right"
            stratum, cluster = STRATA[i >= 120], f"c-{(i // step) % 30:04d}"
            records.append(record(i, stratum, repetition=k, cluster=cluster, **KINDS[kind]))
            calls.append((stratum, cluster, kind))
    entry = results(contract, inputs(contract, records), VALID)["metrics"][0]
    family = 2 if corrected == "holm" and severity == "binding" else 1
    x, n = sample(calls, per_item, clustered, weighted, 0.025 / family)
    p_pass, p_breach, p_against = tails(x, n)
    assert entry["method"] == ("clustered" if clustered else "weighted" if weighted else "repeats")
    assert float(entry["n_eff"]) == pytest.approx(n[0], abs=1e-6)
    assert float(entry["deff"]) == pytest.approx(150 / n[0], abs=1e-6)
    assert float(entry["p_pass"]) == pytest.approx(p_pass, abs=1e-6)
    assert float(entry["p_breach"]) == pytest.approx(p_breach, abs=1e-6)
    passes = p_pass <= 0.025 if rule == "guarded" else p_against > 0.025 / family
    breaches = float(entry["p_breach_adjusted"]) <= 0.025 if severity == "binding" else p_breach <= 0.025
    assert (entry["state"], entry["reason"]) == ("BREACH" if breaches else "PASS" if passes else "INCONCLUSIVE", None)
    low = 0.0 if x[0] <= 0 else float(beta.ppf(0.025, x[0], n[0] - x[0] + 1))
    high = 1.0 if x[1] >= n[1] else float(beta.ppf(0.975, x[1] + 1, n[1] - x[1]))
    assert [float(entry["exact"][end]) for end in ("low", "high")] == pytest.approx([low, high], abs=1e-6)


def test_answers_left_open_never_buy_what_is_not_contradicted() -> None:
    """Ten of 120 said, the rest left vague: nothing contradicts the vendor, and nothing may be called PASS."""
    plain = {**ACCURACY, "decision": {"rule": "guarded_rejection"}}
    mean = {**plain, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"]}
    scored = [record(i, value="1" if i < 10 else None) for i in range(120)]
    vague = [record(i, cluster=f"c-{i % 40:04d}", **(VAGUE if i >= 10 else {})) for i in range(120)]
    rest = [record(1000 + i, "out_of_corpus") for i in range(30)]
    for metric, records in (
        (plain, vague),
        ({**plain, "cluster": {"by": "norm", "icc_floor": "0.2"}}, vague),
        ({**mean, "threshold": "0.90"}, scored),
    ):
        contract = build([metric])
        entry = results(contract, inputs(contract, [*records, *rest]), VALID)["metrics"][0]
        assert (entry["state"], entry["settle"]) == ("INCONCLUSIVE", None), metric["kind"]
    contract = build([{**mean, "threshold": "0.90"}])
    full = [{**one, "value": "1"} for one in scored]
    assert results(contract, inputs(contract, [*full, *rest]), VALID)["metrics"][0]["state"] == "PASS"


@pytest.mark.parametrize("row", [["x", 0, 3], [3, "x", 3], [3, 0, "x"], [3, 0], "row", None, [None, None, None]])
def test_a_forged_row_of_a_cluster_measures_nothing(row: object) -> None:
    contract = build([{**ACCURACY, "cluster": {"by": "norm", "icc_floor": "0.2"}}])
    records = [record(i, cluster=f"c-{i % 40:04d}") for i in range(120)]
    counted = inputs(contract, records)
    forged = {**counted["metrics"][0], "clusters": [*counted["metrics"][0]["clusters"], row]}
    entry = results(contract, {**counted, "metrics": [forged]}, VALID)["metrics"][0]
    assert (entry["state"], entry["reason"]) == ("NOT_MEASURED", "rule_undefined")


@pytest.mark.parametrize("strata", ["x", None, [], {"direct": 3}, {"direct": {"n": 120, "x": 120}}])
def test_forged_strata_weigh_nothing(strata: object) -> None:
    contract = build(
        [{**ACCURACY, "among": {"stratum": list(STRATA)}}],
        evaluation_set={"weights": {name: str(w) for name, w in WEIGHTS.items()}},
    )
    counted = inputs(contract, [record(i, STRATA[i >= 120]) for i in range(150)])
    assert results(contract, counted, VALID)["metrics"][0]["state"] == "PASS"
    forged = {**counted, "metrics": [{**counted["metrics"][0], "strata": strata}]}
    entry = results(contract, forged, VALID)["metrics"][0]
    assert (entry["state"], entry["reason"]) == ("NOT_MEASURED", "rule_undefined")


@pytest.mark.parametrize("rule", ["guarded", "guarded_rejection"])
def test_the_family_shares_the_risk_at_every_number_of_failures(rule: str) -> None:
    """Two metrics share 0.025: not contradicted means a tail above half of it, at each count in turn."""
    clustered = {**ACCURACY, "cluster": {"by": "norm", "icc_floor": "0.2"}, "decision": {"rule": rule}}
    contract = build([clustered, {**ACCURACY, "id": "twin", "threshold": "0.10"}])
    states = []
    for wrong in range(0, 60, 1):
        records = [record(i, cluster=f"c-{i % 40:04d}", **(WRONG if i < wrong else {})) for i in range(120)]
        entry = results(contract, inputs(contract, records), VALID)["metrics"][0]
        n = float(entry["n_eff"])
        x = n * (120 - wrong) / 120
        p_pass, p_breach, _ = tails((x, x), (n, n))
        passes = p_pass <= 0.025 if rule == "guarded" else p_breach > 0.0125
        assert entry["state"] == ("BREACH" if p_breach <= 0.0125 else "PASS" if passes else "INCONCLUSIVE")
        states.append(entry["state"])
    assert states == sorted(states, key=("PASS", "INCONCLUSIVE", "BREACH").index)
