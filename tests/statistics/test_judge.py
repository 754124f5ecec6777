"""Judged items: the guards, the two added pairs, the designs put together."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    Cell,
    Confusion,
    calibration_allocation,
    corrected_limits,
    equivalent_labels,
    human_audit,
    judge_corrected,
    limit_levels,
    mixed_interval,
    real_tails,
    stratified_audit,
)

GOOD = Confusion(90, 100, 97, 100)


def test_each_guard() -> None:
    assert judge_corrected(95, 100, Confusion(20, 25, 400, 400), 0.95).guard == "calibration_too_small"
    assert judge_corrected(95, 100, Confusion(400, 400, 20, 25), 0.95).guard == "calibration_too_small"
    assert judge_corrected(95, 100, Confusion(15, 30, 15, 30), 0.95).guard == "judge_not_informative"
    assert judge_corrected(100, 100, Confusion(45, 50, 45, 50), 0.95).guard == "calibration_inconsistent"
    assert judge_corrected(460, 500, GOOD, 0.95).guard is None
    assert judge_corrected(460, 500, GOOD, 0.95, min_per_class=101).guard == "calibration_too_small"


def test_a_judge_worse_than_chance_divides_by_nothing() -> None:
    found = judge_corrected(50, 100, Confusion(10, 100, 10, 100), 0.95)
    assert (found.guard, found.low, found.high) == ("judge_not_informative", None, None)
    nothing = judge_corrected(50, 100, Confusion(0, 0, 0, 0), 0.95)
    assert (nothing.theta, nothing.guard) == (None, "calibration_too_small")


confusions = st.tuples(st.integers(0, 200), st.integers(0, 200)).flatmap(
    lambda m: st.builds(Confusion, st.integers(0, m[0]), st.just(m[0]), st.integers(0, m[1]), st.just(m[1]))
)


@given(n=st.integers(1, 500), confusion=confusions, data=st.data())
@settings(max_examples=200, deadline=None)
def test_no_usable_interval_has_zero_width(n: int, confusion: Confusion, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    found = judge_corrected(k, n, confusion, 0.95)
    if found.guard is None:
        assert found.low < found.high
        assert found.low >= 0
        assert found.high <= 1
        assert 0 <= found.theta <= 1


@given(n=st.integers(10, 400), data=st.data())
@settings(max_examples=60, deadline=None)
def test_levels_are_those_at_which_the_limits_meet_the_threshold(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, n - 1))
    p_pass, p_breach = limit_levels(lambda z: corrected_limits(k, n, GOOD, z), Fraction(9, 10))
    assert 0 <= p_pass <= 1
    assert 0 <= p_breach <= 1
    found = judge_corrected(k, n, GOOD, 0.95)
    if found.low_raw >= 0.9:
        assert p_pass <= 0.025 + 1e-9
    if found.low_raw < 0.9:
        assert p_pass > 0.025 - 1e-9
    assert (found.high_raw <= 0.9) == (p_breach <= 0.025 + 1e-12) or abs(p_breach - 0.025) < 1e-6


def test_levels_beyond_every_z() -> None:
    assert limit_levels(lambda z: (0.99, 1.0), Fraction(1, 2))[0] < 1e-14
    assert limit_levels(lambda z: (0.5 - z, 0.5 + z), Fraction(1, 2)) == (0.5, 0.5)
    p_pass, p_breach = limit_levels(lambda z: (0.9 - z / 10, 0.9 + z / 10), Fraction(1, 2))
    assert p_pass + p_breach == pytest.approx(1.0)


def test_an_agreeing_judge_is_not_perfect() -> None:
    """The two added pairs: without them the variance of a judge that agreed everywhere would be that of u alone."""
    human = [1.0] * 96 + [0.0] * 4
    found = human_audit(human, human, [1.0] * 384 + [0.0] * 16, 0.95)
    assert found.n_eff < 500
    assert found.estimate == pytest.approx(0.96)
    assert found.variance > 0


def test_all_right_falls_back_on_the_people() -> None:
    found = human_audit([1.0] * 50, [1.0] * 50, [1.0] * 450, 0.95)
    assert (found.lam, found.estimate, found.n_eff) == (0.0, 1.0, 50.0)
    assert real_tails(found.n_eff, found.n_eff, found.n_eff, Fraction(19, 20))[0] > 0.025


binary = st.sampled_from([0.0, 1.0])


@given(
    pairs=st.lists(st.tuples(binary, binary), min_size=2, max_size=80),
    rest=st.lists(binary, min_size=0, max_size=200),
)
@settings(max_examples=200, deadline=None)
def test_audit_stays_in_its_range(pairs: list, rest: list) -> None:
    found = human_audit([h for h, _ in pairs], [j for _, j in pairs], rest, 0.95)
    assert 0 <= found.lam <= 1
    assert len(pairs) - 1e-9 <= found.n_eff <= len(pairs) + len(rest) + 1e-9
    assert 0 <= found.low <= found.estimate + 1e-9
    assert found.estimate - 1e-9 <= found.high <= 1


@pytest.mark.parametrize(
    ("human", "judge", "rest"),
    [([1.0], [1.0], []), ([1.0, 0.5], [1.0, 1.0], []), ([1.0, 0.0], [1.0], []), ([1.0, math.nan], [1.0, 1.0], [])],
)
def test_bad_audits_are_refused(human: list, judge: list, rest: list) -> None:
    with pytest.raises(StatisticsError):
        human_audit(human, judge, rest, 0.95)


def test_stratified_audit() -> None:
    found = stratified_audit([Cell(450, 100, 99), Cell(50, 50, 5)])
    assert found.theta == pytest.approx(0.9 * 0.99 + 0.1 * 0.1)
    assert found.n_eff <= 500
    assert stratified_audit([Cell(450, 0, 0), Cell(50, 50, 5)]).guard == "calibration_too_small"
    assert stratified_audit([]).guard == "calibration_too_small"
    assert stratified_audit([Cell(450, 1, 1), Cell(30, 30, 3), Cell(20, 20, 2)]).guard == "calibration_too_small"
    assert stratified_audit([Cell(500, 100, 99), Cell(0, 0, 0)]).theta == pytest.approx(0.99)
    with pytest.raises(StatisticsError):
        stratified_audit([Cell(10, 11, 5)])


def test_fifty_and_fifty_labels_never_pass_at_ninety_five() -> None:
    found = stratified_audit([Cell(480, 50, 50), Cell(20, 20, 0)])
    p_pass, _ = real_tails(found.theta * found.n_eff, found.theta * found.n_eff, found.n_eff, Fraction(19, 20))
    assert p_pass > 0.025


def test_mixed_without_rules_is_the_judge() -> None:
    alone, mixed = judge_corrected(460, 500, GOOD, 0.95), mixed_interval(0, 0, 460, 500, GOOD, 0.95)
    assert (mixed.low, mixed.high, mixed.guard) == (alone.low, alone.high, alone.guard)
    assert mixed_interval(10, 10, 5, 10, Confusion(10, 100, 10, 100), 0.95).low is None


@pytest.mark.parametrize(
    ("se", "sp", "rate", "labels"),
    [(0.9, 0.9, 0.95, 126), (0.9, 0.9, 0.99, 33), (0.98, 0.9, 0.95, 307), (0.99, 0.99, 0.95, 411)],
)
def test_what_judged_items_are_worth(se: float, sp: float, rate: float, labels: int) -> None:
    assert equivalent_labels(500, se, sp, rate) == pytest.approx(labels, abs=0.6)


def test_a_judge_without_information_is_worth_nothing() -> None:
    assert equivalent_labels(500, 0.5, 0.5, 0.9) is None
    assert equivalent_labels(500, 0.9, 0.9, 1.0) is None


def test_allocation_stays_within_the_pilot() -> None:
    found = calibration_allocation(100, 0.999, 0.5, 0.99, 40)
    assert (found.m0, found.m1) == (40, 60)
    with pytest.raises(StatisticsError):
        calibration_allocation(50, 0.9, 0.9, 0.9, 30)
    with pytest.raises(StatisticsError):
        calibration_allocation(50, 0.0, 0.9, 0.9, 10)


@pytest.mark.parametrize(("k", "n"), [(5, 4), (-1, 4), (0, 0), (math.nan, 4)])
def test_bad_counts_are_refused(k: float, n: float) -> None:
    with pytest.raises(StatisticsError, match="S002"):
        judge_corrected(k, n, GOOD, Decimal("0.95"))
    with pytest.raises(StatisticsError, match="S002"):
        judge_corrected(1, 4, Confusion(5, 4, 1, 4), Decimal("0.95"))
