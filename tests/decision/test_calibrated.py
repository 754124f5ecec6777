"""A judged metric against its definition: three designs, items of rules beside them, clusters that shrink both."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import beta

from slaverify.decision.calibrated import Judged, MetricCalibration, corrected
from slaverify.decision.terms import terms_of
from slaverify.statistics import Cell, Confusion, corrected_limits, human_audit, judge_corrected, stratified_audit
from tests.decision.build import ACCURACY, build

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
