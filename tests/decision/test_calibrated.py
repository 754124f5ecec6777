"""A judged metric against its definition: three designs, items of rules beside them, clusters that shrink both."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import beta

from slaverify.decision import RunValidity, inputs, results
from slaverify.decision.calibrated import Judged, MetricCalibration, corrected
from slaverify.decision.terms import terms_of
from slaverify.statistics import Cell, Confusion, corrected_limits, human_audit, judge_corrected, stratified_audit
from tests.decision.build import ACCURACY, JUDGE, WRONG, build, record, run

(TERMS,) = terms_of(build([ACCURACY]))
CONFUSION = Confusion(y0=45, m0=50, y1=94, m1=100)
deffs = st.sampled_from([1.0, 1.5, 4.0])
Z = st.sampled_from([0.5, 1.96, 2.5])


def exact(x: float, n: float, z: float) -> tuple[float, float]:
    """Clopper and Pearson's limits of x real successes of n, one-sided at z."""
    alpha = float(ndtr(-z))
    low = float(beta.ppf(alpha, x, n - x + 1)) if x > 0 else 0.0
    return low, float(beta.ppf(1 - alpha, x + 1, n - x)) if x < n else 1.0


def together(
    rule: tuple[float, float], judged: tuple[float, float, float], share: float, p: float
) -> tuple[float, float]:
    """Two independent parts: distances of their limits are added as squares."""
    centre, low, high = judged
    middle = share * p + (1 - share) * centre
    below = math.sqrt((share * (p - rule[0])) ** 2 + ((1 - share) * (centre - low)) ** 2)
    above = math.sqrt((share * (rule[1] - p)) ** 2 + ((1 - share) * (high - centre)) ** 2)
    return middle - below, middle + above


@given(st.integers(0, 40), st.integers(0, 40), st.integers(60, 100), deffs, Z)
def test_an_external_calibration_beside_rules(x: int, more: int, k: int, deff: float, z: float) -> None:
    n_rule, n_judged = x + more, 100
    found = corrected(TERMS, Judged(x_rule=x, n_rule=n_rule, x_judged=k, n_judged=n_judged),
                      MetricCalibration(design="external", confusion=CONFUSION), deff, 30)  # fmt: skip
    one = judge_corrected(k / deff, n_judged / deff, CONFUSION, Decimal("0.95"), 30)
    assume(one.guard is None)
    assert found.limits is not None
    low, high = corrected_limits(k / deff, n_judged / deff, CONFUSION, z)
    if n_rule == 0:
        assert (found.method, found.limits(z)) == ("judge_corrected", (low, high))
        assert found.estimate == pytest.approx(one.theta)
        return
    share, p = n_rule / (n_rule + n_judged), x / n_rule
    expected = together(exact(x / deff, n_rule / deff, z), ((low + high) / 2, low, high), share, p)
    assert found.method == "mixed"
    assert found.limits(z) == pytest.approx(expected, abs=1e-9)
    assert found.estimate == pytest.approx(share * p + (1 - share) * one.theta)


cells = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 30), st.integers(0, 30)).map(
        lambda t: Cell(t[0], min(t[1], t[0]), min(t[2], t[1], t[0]))
    ),
    min_size=1,
    max_size=4,
)


def audited(of: list[Cell]) -> tuple[float, float]:
    """Rate and effective sample of a stratified audit; Laplace's rule in the variance alone."""
    n = sum(cell.size for cell in of)
    w = [cell.size / n for cell in of]
    p = [(cell.right + 1) / (cell.labels + 2) for cell in of]
    theta = sum(share * cell.right / cell.labels for share, cell in zip(w, of, strict=True))
    centre = sum(share * one for share, one in zip(w, p, strict=True))
    variance = sum(share**2 * one * (1 - one) / cell.labels for share, one, cell in zip(w, p, of, strict=True))
    variance += sum(share * (one - centre) ** 2 for share, one in zip(w, p, strict=True)) / n
    labels = sum(cell.labels for cell in of)
    return theta, min(n, centre * (1 - centre) / variance, max(theta * (1 - theta) / variance, labels))


@given(cells)
def test_a_stratified_audit_is_that_of_its_definition(of: list[Cell]) -> None:
    used = [cell for cell in of if cell.size > 0]
    found = stratified_audit(of)
    if not used or any(cell.labels < (1 if len(used) <= 2 else 2) for cell in used):
        assert (found.theta, found.n_eff, found.guard) == (None, None, "calibration_too_small")
        return
    theta, n_eff = audited(used)
    assert (found.theta, found.n_eff) == (pytest.approx(theta), pytest.approx(n_eff))


@pytest.mark.parametrize(("count", "labels", "enough"), [(1, 1, True), (2, 1, True), (3, 1, False), (3, 2, True)])
def test_how_many_labels_a_cell_needs(count: int, labels: int, enough: bool) -> None:
    assert (stratified_audit([Cell(10, labels, 1)] * count).guard is None) is enough
    assert stratified_audit([Cell(1, 1, 1)]).theta == 1.0  # a cell of one item counts


@given(st.integers(0, 30), st.integers(0, 30), st.integers(2, 60), st.integers(0, 60), deffs, Z)
def test_a_stratified_audit_beside_rules(x: int, more: int, labels: int, right: int, deff: float, z: float) -> None:
    cell = Cell(60, labels, min(right, labels))
    found = corrected(TERMS, Judged(x_rule=x, n_rule=x + more, x_judged=50, n_judged=60),
                      MetricCalibration(design="stratified_audit", cells=(cell,)), deff, 30)  # fmt: skip
    theta, n_eff = audited([cell])
    n_eff /= deff
    judged = (theta, *exact(theta * n_eff, n_eff, z))
    share = (x + more) / (x + more + 60)
    expected = judged[1:]
    if x + more:
        expected = together(exact(x / deff, (x + more) / deff, z), judged, share, x / (x + more))
    assert found.limits is not None
    assert found.limits(z) == pytest.approx(expected, abs=1e-9)
    assert found.estimate == pytest.approx((x + 60 * theta) / (x + more + 60))


@given(*[st.integers(0, 12)] * 4, st.integers(0, 60), st.integers(0, 60), deffs, Z)
def test_a_random_audit_reads_items_of_every_kind(
    both: int, human: int, pipeline: int, none: int, rest_right: int, rest_wrong: int, deff: float, z: float
) -> None:
    pairs = (both, human, pipeline, none)
    right, total = both + pipeline + rest_right, sum(pairs) + rest_right + rest_wrong
    counts = Judged(x_rule=right // 2, n_rule=total // 2, x_judged=right - right // 2, n_judged=total - total // 2)
    found = corrected(TERMS, counts, MetricCalibration(design="random_audit", pairs=pairs), deff, 30)
    if sum(pairs) < 2:
        assert (found.limits, found.guard.value) == (None, "calibration_too_small")
        return
    rows = [(1.0, 1.0)] * both + [(1.0, 0.0)] * human + [(0.0, 1.0)] * pipeline + [(0.0, 0.0)] * none
    alone = human_audit([h for h, _ in rows], [j for _, j in rows], [1.0] * rest_right + [0.0] * rest_wrong, 0.95)
    assert found.limits is not None
    assert found.estimate == pytest.approx(alone.estimate)
    n_eff = alone.n_eff / deff
    assert found.limits(z) == pytest.approx(exact(alone.estimate * n_eff, n_eff, z), abs=1e-9)


@pytest.mark.parametrize(
    ("pairs", "x", "n"),
    [((1, 0, 0, 0), 5, 10), ((5, 0, 0, 6), 5, 10), ((5, 0, 1, 0), 5, 10), ((1, 1, 0, 0), 10, 10)],
)
def test_an_audit_that_does_not_fit_its_run_measures_nothing(pairs: tuple[int, ...], x: int, n: int) -> None:
    """One label; more labels than items; more right than the run holds; fewer wrong than were read."""
    counts = Judged(x_rule=0, n_rule=0, x_judged=x, n_judged=n)
    found = corrected(TERMS, counts, MetricCalibration(design="random_audit", pairs=pairs), 1.0, 30)
    assert (found.limits, found.guard.value) == (None, "calibration_too_small")


JUDGED = {"decided_by": "judge"}
UNKNOWN = {"outcome": "unresolved", "verdict": None}


@settings(max_examples=50)
@given(st.integers(0, 40), st.integers(0, 6), st.integers(0, 40), st.integers(30, 80), st.integers(0, 3), st.booleans())
def test_a_judged_metric_from_its_records(
    wrong_rule: int, unknown: int, wrong_judged: int, judged: int, lost: int, clustered: bool
) -> None:
    """What nobody knows stays beside the rules, at each end in turn; clusters divide the sizes of both parts."""
    metric = {**ACCURACY, "cluster": {"by": "norm", "icc_floor": "0.2"}} if clustered else ACCURACY
    contract = build([metric], failed_calls={"unresolved_max": "1"}, **JUDGE)
    rules = 120 - judged
    wrong_rule, unknown = min(wrong_rule, rules), min(unknown + lost, rules - min(wrong_rule, rules))
    wrong_judged = min(wrong_judged, judged)
    kinds = [WRONG] * wrong_rule + [UNKNOWN] * unknown + [{}] * (rules - wrong_rule - unknown)
    kinds += [{**WRONG, **JUDGED}] * wrong_judged + [JUDGED] * (judged - wrong_judged)
    records = [record(i, cluster=f"c-{i % 30:04d}", **kind) for i, kind in enumerate(kinds)] + run()[120:]
    calibration = MetricCalibration(design="external", confusion=CONFUSION)
    entry = results(contract, inputs(contract, records), RunValidity(True), {"accuracy": calibration})["metrics"][0]
    # The design effect is that of the same answers without a judge.
    plain = build([metric], failed_calls={"unresolved_max": "1"})
    bare = [{**one, "decided_by": "rule"} for one in records]
    deff = (
        float(results(plain, inputs(plain, bare), RunValidity(True))["metrics"][0]["deff"] or 1) if clustered else 1.0
    )
    right_rule = rules - wrong_rule - unknown
    ends = [
        corrected(TERMS, Judged(x_rule=right_rule + end * unknown, n_rule=rules, x_judged=judged - wrong_judged,
                                n_judged=judged), calibration, deff, 30)
        for end in (0, 1)
    ]  # fmt: skip
    guard = next((one.guard for one in ends if one.guard is not None), None)
    if guard is not None:
        assert (entry["state"], entry["reason"]) == ("NOT_MEASURED", guard.value)
        return
    z = 1.959963984540054
    assert float(entry["rate"]) == pytest.approx(min(1.0, max(0.0, ends[0].estimate)), abs=1e-6)
    assert float(entry["exact"]["low"]) == pytest.approx(min(1.0, max(0.0, ends[0].limits(z)[0])), abs=1e-6)
    assert float(entry["exact"]["high"]) == pytest.approx(min(1.0, max(0.0, ends[1].limits(z)[1])), abs=1e-6)


@pytest.mark.parametrize("changes", [{}, {"evaluation_set": {"weights": {"direct": "0.5", "out_of_corpus": "0.5"}}}])
@pytest.mark.parametrize("clustered", [False, True])
@given(st.integers(0, 30), st.integers(0, 4), st.integers(0, 6), st.integers(0, 20))
@settings(max_examples=25)
def test_rules_alone_prove_with_every_judged_item_both_ways(
    changes: dict, clustered: bool, wrong_rule: int, unknown: int, wrong_judged: int, right_judged: int
) -> None:
    """Without a calibration a state stands only if it does with all judged items wrong, or with all of them right."""
    metric = {**ACCURACY, "among": {"stratum": ["direct", "out_of_corpus"]}}
    if clustered:
        metric["cluster"] = {"by": "norm", "icc_floor": "0.2"}
    contract = build([metric], failed_calls={"unresolved_max": "1"}, **{**JUDGE, **changes})
    plain = build([metric], failed_calls={"unresolved_max": "1"}, **changes)
    kinds = [WRONG] * wrong_rule + [UNKNOWN] * unknown + [{**WRONG, **JUDGED}] * wrong_judged + [JUDGED] * right_judged
    kinds += [{}] * (120 - len(kinds))

    def state(judged: str | None) -> str:
        records = []
        for i, kind in enumerate(kinds[:120]):
            seen = kind
            if judged is not None and "decided_by" in kind:
                seen = WRONG if judged == "wrong" else {}
            records.append(record(i, cluster=f"c-{i % 30:04d}", **seen))
        records += [record(1000 + i, "out_of_corpus", cluster=f"c-{i:04d}") for i in range(30)]
        of = contract if judged is None else plain
        return results(of, inputs(of, records), RunValidity(True))["metrics"][0]["state"]

    worst, best, found = state("wrong"), state("right"), state(None)
    if wrong_judged + right_judged == 0:
        assert found == worst == best
    elif found == "PASS":
        assert worst == "PASS"
    elif found == "BREACH":
        assert best == "BREACH"
    else:
        assert worst != "PASS" or changes or clustered
