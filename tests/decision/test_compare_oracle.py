"""The change check against its definition, computed another way: exact fractions and a numeric likelihood."""

from __future__ import annotations

import math
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import betaincc
from scipy.stats import norm

from slaverify.decision import compare_runs, compare_versions
from tests.decision.build import ACCURACY, WRONG, build, record

LOSS, ALPHA = Decimal("0.05"), Decimal("0.025")
FLOOR = Fraction(1, 5)
CLUSTERED = {**ACCURACY, "cluster": {"by": "norm", "icc_floor": "0.2"}}
UNKNOWN = {"outcome": "unresolved", "verdict": None, "correctness": "undetermined"}
KINDS = {1: {}, 0: WRONG, None: UNKNOWN}

pairs = st.lists(
    st.tuples(st.sampled_from([1, 1, 1, 0, None]), st.sampled_from([1, 1, 1, 0, None]), st.integers(0, 4)),
    min_size=2,
    max_size=60,
)


def records_of(rows: list[tuple[int | None, int | None, int]]) -> list:
    out = []
    for i, (old, new, cluster) in enumerate(rows):
        out.append(record(i, side="current", cluster=f"c-{cluster:04d}", **KINDS[old]))
        out.append(record(i, side="candidate", cluster=f"c-{cluster:04d}", **KINDS[new]))
    return out


def deff_of(rows: list[tuple[int | None, int | None, int]]) -> Fraction:
    """Variance of the mean difference between clusters over that of independent items; floor and 1 from below."""
    differences = [0 if None in (old, new) else new - old for old, new, _ in rows]
    n = len(rows)
    mean = Fraction(sum(differences), n)
    groups: dict[int, list[Fraction]] = defaultdict(list)
    for (_, _, cluster), difference in zip(rows, differences, strict=True):
        groups[cluster].append(difference - mean)
    g = len(groups)
    independent = sum((d - mean) ** 2 for d in differences) / (n - 1) / n
    observed = Fraction(0)
    if g > 1 and independent > 0:
        observed = Fraction(g, g - 1) * sum(sum(group) ** 2 for group in groups.values()) / n**2 / independent
    floor = 1 + (Fraction(sum(len(group) ** 2 for group in groups.values()), n) - 1) * FLOOR
    return max(observed, floor, Fraction(1))


def tango(b: float, c: float, n: float) -> float:
    """The score statistic of a difference of -LOSS, its nuisance rate found by maximising the likelihood."""
    delta = -float(LOSS)
    if b + c == 0:
        q = 0.0
    else:

        def minus_log(q: float) -> float:
            # q: rate of pass then fail minus what the margin asks; p_b = q - delta, p_c = q.
            p_c, p_b = q, q - delta
            rest = 1 - p_b - p_c
            total = 0.0
            for count, share in ((b, p_b), (c, p_c), (n - b - c, rest)):
                if count > 0:
                    total -= count * math.log(share) if share > 0 else -1e6
            return total

        q = float(
            minimize_scalar(minus_log, bounds=(0.0, (1 + delta) / 2), method="bounded", options={"xatol": 1e-12}).x
        )
    # Var(c - b) under the constraint: n (p_b + p_c - delta^2) with p_b = q - delta, p_c = q.
    spread = n * (2 * q - delta - delta**2)
    return (c - b - n * delta) / math.sqrt(spread)


def expected_state(b: float, c: float, unknown: float, n: float) -> str:
    bar = norm.ppf(1 - float(ALPHA))
    if tango(b + unknown, c, n) >= bar:
        return "accepted"
    worst_b, worst_c = b, c + unknown
    lost = worst_b > 0 and betaincc(worst_c + 1, worst_b, 0.5) <= float(ALPHA)
    return "reverted" if lost and tango(b, c + unknown, n) < bar else "not_shown"


@settings(max_examples=120, deadline=None)
@given(pairs)
@example([(1, 0, 0), (0, 1, 3), (0, 1, 3)])  # 1/deff + 2/deff is more than 3/deff by its last bit
def test_the_change_check_is_that_of_its_definition(rows: list[tuple[int | None, int | None, int]]) -> None:
    contract = build(
        [CLUSTERED], schedule={"change_check": {"max_loss": str(LOSS), "alpha": str(ALPHA), "metrics": ["accuracy"]}}
    )
    found = compare_versions(contract, records_of(rows))["metrics"][0]
    deff = deff_of(rows)
    n, unknown = len(rows), sum(None in (old, new) for old, new, _ in rows)
    b = sum((old, new) == (1, 0) for old, new, _ in rows)
    c = sum((old, new) == (0, 1) for old, new, _ in rows)
    assert (found["n"], found["unknown"], found["b"], found["c"]) == (n, unknown, b, c)
    if n > unknown:
        assert float(found["difference"]) == pytest.approx((c - b) / (n - unknown), abs=1e-9)
    check = found["change_check"]
    assert float(check["deff"]) == pytest.approx(float(deff), abs=1e-8)
    scale = float(deff)
    assert float(check["z"]) == pytest.approx(tango((b + unknown) / scale, c / scale, n / scale), abs=2e-4)
    near = abs(float(check["z"]) - norm.ppf(1 - float(ALPHA))) < 1e-3
    assert near or check["state"] == expected_state(b / scale, c / scale, unknown / scale, n / scale)


def test_one_item_or_no_clusters_have_no_design_effect() -> None:
    schedule = {"change_check": {"max_loss": "0.05", "metrics": ["accuracy"]}}
    one = compare_versions(build([CLUSTERED], schedule=schedule), records_of([(1, 0, 0)]))
    assert one["metrics"][0]["change_check"]["deff"] == "1.000000000"
    plain = compare_versions(build([ACCURACY], schedule=schedule), records_of([(1, 0, 0)] * 30))
    assert plain["metrics"][0]["change_check"]["deff"] == "1.000000000"


def test_two_items_of_one_cluster_have_the_floor() -> None:
    schedule = {"change_check": {"max_loss": "0.05", "metrics": ["accuracy"]}}
    two = compare_versions(build([CLUSTERED], schedule=schedule), records_of([(1, 1, 0), (1, 0, 0)]))
    assert two["metrics"][0]["change_check"]["deff"] == "1.200000000"


def test_repetitions_are_pairs_of_their_own() -> None:
    contract = build([ACCURACY])
    old = [record(0, repetition=k) for k in (0, 1)] + [record(1, repetition=0, **WRONG)]
    new = [record(0, repetition=0), record(0, repetition=1, **WRONG), record(1, repetition=1)]
    found = compare_runs(contract, old, contract, new)
    accuracy = found["metrics"][0]
    assert (accuracy["n"], accuracy["b"], accuracy["both_pass"]) == (2, 1, 1)
    assert (found["only_old"], found["only_new"]) == (1, 1)
    missing = [{**record(0), "repetition": None}]
    assert compare_runs(contract, missing, contract, [record(0)])["metrics"][0]["n"] == 1


def test_an_answer_without_verdict_moves_as_its_outcome() -> None:
    contract = build([ACCURACY])
    found = compare_runs(contract, [record(0)], contract, [record(0, **{**UNKNOWN, "outcome": "vendor_failure"})])
    assert found["metrics"][0]["transitions"] == [{"from": "accurate", "to": "vendor_failure", "n": 1}]


def test_a_listed_metric_that_nobody_measures_accepts_nothing() -> None:
    """Two metrics are listed; the second has no sample: the change is not accepted on the first alone."""
    listed = {"change_check": {"max_loss": "0.05", "metrics": ["accuracy", "late"]}}
    late = {**ACCURACY, "id": "late", "count": {"verdict": ["accurate"], "outcome": ["answered"]}}
    contract = build([late, ACCURACY], schedule=listed)
    rows = records_of([(1, 1, i % 5) for i in range(120)])
    found = compare_versions(contract, rows)
    assert found["state"] == "accepted"
    assert [metric["change_check"]["state"] for metric in found["metrics"]] == ["accepted", "accepted"]
    worse = records_of([(1, 1, 0)] * 100 + [(1, 0, 0)] * 20)
    mixed = build([{**late, "among": {"stratum": ["out_of_corpus"]}}, ACCURACY], schedule=listed)
    assert compare_versions(mixed, rows)["state"] == "not_accepted"
    assert compare_versions(contract, worse)["state"] == "not_accepted"


def test_a_mean_is_no_pair_and_does_not_hide_what_follows() -> None:
    """A listed mean cannot be compared item by item: nothing is accepted without it; the rate after it is shown."""
    score = {**ACCURACY, "id": "score", "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"]}
    rows = records_of([(1, 1, i % 5) for i in range(120)])
    listed = {"change_check": {"max_loss": "0.05", "metrics": ["accuracy", "score"]}}
    found = compare_versions(build([score, ACCURACY], schedule=listed), rows)
    assert [metric["id"] for metric in found["metrics"]] == ["accuracy"]
    assert found["metrics"][0]["change_check"]["state"] == "accepted"
    assert found["state"] == "not_accepted"
    only = {"change_check": {"max_loss": "0.05", "metrics": ["score"]}}
    assert compare_versions(build([score, ACCURACY], schedule=only), rows)["state"] == "not_accepted"
    assert compare_versions(build([ACCURACY]), rows)["state"] is None


def test_items_without_a_cluster_stand_alone_in_the_change_check() -> None:
    rows = [{**one, "cluster": None} for one in records_of([(1, i % 12 and 1, 0) for i in range(120)])]
    check = {"change_check": {"max_loss": "0.05", "metrics": ["accuracy"]}}
    (metric,) = compare_versions(build([CLUSTERED], schedule=check), rows)["metrics"]
    assert float(metric["change_check"]["deff"]) == pytest.approx(1.0, abs=0.02)
