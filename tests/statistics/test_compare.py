"""Means, pairs, agreement, Holm, the measurement: edges, refusals and what must hold everywhere."""

from __future__ import annotations

import itertools
import math
import random
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    Limits,
    Measurement,
    Provenance,
    Ratio,
    Unit,
    bounded_mean_interval,
    bounded_mean_log_e,
    change_check,
    cohen_kappa,
    combined,
    corpus_rate_interval,
    corpus_rate_log_e,
    fisher_exact,
    gwet_ac1,
    holm_adjust,
    independent_difference,
    krippendorff_alpha,
    landis_koch,
    mcnemar_exact,
    mcnemar_midp,
    measured,
    paired_difference,
    paired_sample_size,
)

A = Decimal("0.025")


def test_an_empty_sample_bets_nothing() -> None:
    found = bounded_mean_log_e([], 0, 1, 0.9)
    assert (found.log_e_pass, found.log_e_breach) == (0.0, 0.0)


@given(scores=st.lists(st.floats(0, 5), min_size=1, max_size=60), t=st.floats(0.5, 4.5))
@settings(max_examples=100, deadline=None)
def test_mirrored_scores_mirror_the_bets(scores: list, t: float) -> None:
    one = bounded_mean_log_e(scores, 0, 5, t)
    two = bounded_mean_log_e(scores, 0, 5, t, "at_most")
    assert (one.log_e_pass, one.log_e_breach) == (two.log_e_breach, two.log_e_pass)
    interval = bounded_mean_interval(scores, 0, 5, 0.95)
    assert -1e-9 <= interval.low <= interval.mean + 1e-9
    assert interval.mean - 1e-9 <= interval.high <= 5 + 1e-9


def test_all_zero_and_all_one() -> None:
    assert bounded_mean_interval([0] * 50, 0, 1, 0.95).low == 0.0
    assert bounded_mean_interval([1] * 50, 0, 1, 0.95).high == 1.0


@pytest.mark.parametrize(
    ("scores", "code"),
    [([1.2], "S005"), ([85], "S005"), ([-0.1], "S005"), ([math.nan], "S002"), ([True], "S002"), (["1"], "S002")],
)
def test_scores_off_their_scale_are_refused_never_rescaled(scores: list, code: str) -> None:
    with pytest.raises(StatisticsError, match=code):
        bounded_mean_log_e(scores, 0, 1, 0.9)
    with pytest.raises(StatisticsError, match=code):
        bounded_mean_interval(scores, 0, 1, 0.95)


def test_bad_scales_and_thresholds() -> None:
    with pytest.raises(StatisticsError, match="S010"):
        bounded_mean_interval([1], 1, 1, 0.95)
    for t in (0.0, 1.0, 2.0, math.nan):
        with pytest.raises(StatisticsError):
            bounded_mean_log_e([1], 0, 1, t)
    with pytest.raises(StatisticsError, match="S002"):
        bounded_mean_interval([], 0, 1, 0.95)


def test_corpus_rates_hold_the_pooled_figure() -> None:
    random.seed(5)
    weights = [random.randint(5, 40) for _ in range(300)]
    errors = [sum(random.random() < 0.08 for _ in range(w)) for w in weights]
    found = corpus_rate_interval(errors, weights, 60, Decimal(2), 0.95)
    assert found.mean == pytest.approx(sum(errors) / sum(weights))
    assert found.low < found.mean < found.high
    bets = corpus_rate_log_e(errors, weights, Decimal("0.30"), 60, Decimal(2))
    assert bets.log_e_pass > 3
    assert bets.log_e_breach < 0
    worse = corpus_rate_log_e(errors, weights, Decimal("0.02"), 60, Decimal(2))
    assert worse.log_e_breach > 3


def test_corpus_rate_edges() -> None:
    none = corpus_rate_interval([0] * 40, [10] * 40, 20, Decimal(2), 0.95)
    assert (none.mean, none.low) == (0.0, 0.0)
    most = corpus_rate_interval([20] * 40, [10] * 40, 20, Decimal(2), 0.95)
    assert most.mean == 2.0
    capped = corpus_rate_interval([500] * 40, [10] * 40, 20, Decimal(2), 0.95)
    assert capped.mean == 2.0
    with pytest.raises(StatisticsError, match="S005"):
        corpus_rate_log_e([1], [21], Decimal("0.1"), 20, Decimal(2))
    with pytest.raises(StatisticsError, match="S001"):
        corpus_rate_log_e([1], [20], Decimal("2"), 20, Decimal(2))
    with pytest.raises(StatisticsError, match="S006"):
        corpus_rate_log_e([1, 2], [20], Decimal("0.1"), 20, Decimal(2))
    with pytest.raises(StatisticsError, match="S002"):
        corpus_rate_interval([0], [0], 20, Decimal(2), 0.95)


def test_no_discordant_pairs_say_nothing() -> None:
    assert mcnemar_exact(0, 0).note == mcnemar_midp(0, 0).note == "no_discordant_pairs"
    assert mcnemar_exact(0, 0).p == 1


@given(b=st.integers(0, 60), c=st.integers(0, 60))
def test_mcnemar_is_symmetric_and_midp_below(b: int, c: int) -> None:
    assert mcnemar_exact(b, c).p == mcnemar_exact(c, b).p <= 1
    assert 0 < mcnemar_midp(b, c).p <= mcnemar_exact(b, c).p


@given(st.tuples(*[st.integers(0, 12)] * 4))
@settings(max_examples=80, deadline=None)
def test_fisher_is_that_of_scipy(table: tuple) -> None:
    from scipy.stats import fisher_exact as theirs

    a, b, c, d = table
    found = fisher_exact(a, b, c, d)
    assert 0 < found <= 1
    if min(a + b, c + d, a + c, b + d) > 0:
        assert float(found) == pytest.approx(theirs([[a, b], [c, d]]).pvalue, abs=1e-9)
    with pytest.raises(StatisticsError, match="S002"):
        fisher_exact(a, b, c, -1)


def test_188_items_do_not_show_a_margin_of_two_percent_and_189_do() -> None:
    loss = Decimal("0.02")
    assert change_check(0, 0, 188, loss, A).state == "not_shown"
    assert change_check(0, 0, 189, loss, A).state == "accepted"
    assert change_check(20, 4, 300, loss, A).state == "reverted"
    assert change_check(20.5, 4.5, 300, loss, A).state == "reverted"
    assert change_check(0.5, 0.5, 20, loss, A).state == "not_shown"


@given(b=st.integers(0, 30), c=st.integers(0, 30), n=st.integers(60, 400))
@settings(max_examples=100, deadline=None)
def test_one_more_loss_never_helps_a_change(b: int, c: int, n: int) -> None:
    order = {"reverted": 0, "not_shown": 1, "accepted": 2}
    loss = Decimal("0.05")
    now, worse = change_check(b, c, n, loss, A), change_check(b + 1, c, n + 1, loss, A)
    assert order[worse.state] <= order[now.state]


@pytest.mark.parametrize(("b", "c", "n"), [(-1, 0, 10), (6, 5, 10), (0, 0, 0), (math.nan, 0, 10)])
def test_bad_pairs_are_refused(b: float, c: float, n: float) -> None:
    with pytest.raises(StatisticsError, match="S002"):
        change_check(b, c, n, Decimal("0.02"), A)


def test_differences() -> None:
    assert paired_difference([1, 1], [1, 1]).t is None
    with pytest.raises(StatisticsError, match="S006"):
        paired_difference([1], [1])
    found = independent_difference(10, 10, 0, 10, 0.95)
    assert found.high == 1.0
    with pytest.raises(StatisticsError, match="S002"):
        paired_sample_size(0.1, 0, 0, 1, 1, 0.0, 0.05, 0.8)


def test_kappa_of_a_constant_rater_is_not_one() -> None:
    assert cohen_kappa([[0, 0], [1, 29]]).kappa == 0.0
    assert cohen_kappa([[0, 0], [0, 30]]).reason == "one_category"
    assert cohen_kappa([[0, 0], [0, 30]]).kappa is None
    for table in ([], [[1]], [[1, 2]], [[0, 0], [0, 0]], [[1.0, 2], [1, 2]], [[-1, 2], [1, 2]]):
        with pytest.raises(StatisticsError):
            cohen_kappa(table)


def test_agreement_without_data_is_null_with_a_reason() -> None:
    assert gwet_ac1([[1, None], [None, 1]]).reason == "no_item_rated_twice"
    assert gwet_ac1([[1, 1], [1, 1]]).reason == "one_category"
    assert gwet_ac1([[1, 1], [1, 1]], categories=2).ac1 == pytest.approx(1.0)
    assert krippendorff_alpha([[1, None], [None, 1]]).reason == "no_item_rated_twice"
    assert krippendorff_alpha([[1, 1], [1, 1]]).reason == "one_category"
    with pytest.raises(StatisticsError, match="S006"):
        krippendorff_alpha([[1, 2]])
    with pytest.raises(StatisticsError, match="S006"):
        gwet_ac1([[1, 2], [1]])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=40), st.integers(0, 99))
@settings(max_examples=80, deadline=None)
def test_order_of_items_and_raters_changes_no_agreement(pairs: list, seed: int) -> None:
    shuffled = pairs[:]
    random.Random(seed).shuffle(shuffled)
    one = gwet_ac1([[a for a, _ in pairs], [b for _, b in pairs]])
    two = gwet_ac1([[b for _, b in shuffled], [a for a, _ in shuffled]])
    assert one.ac1 == pytest.approx(two.ac1) if one.ac1 is not None else two.ac1 is None


def test_words_follow_the_lower_limit() -> None:
    assert landis_koch(0.95, 0.1) == "slight"
    assert [landis_koch(1, x) for x in (-0.01, 0.2, 0.4, 0.6, 0.8, 0.81)] == [
        "poor",
        "slight",
        "fair",
        "moderate",
        "substantial",
        "almost_perfect",
    ]
    with pytest.raises(StatisticsError):
        landis_koch(math.nan, 0.1)


@given(st.lists(st.integers(0, 1000).map(lambda k: Fraction(k, 1000)), min_size=1, max_size=10))
def test_holm_carries_the_running_maximum(p: list) -> None:
    adjusted = holm_adjust(p)
    order = sorted(range(len(p)), key=lambda i: p[i])
    assert all(adjusted[a] <= adjusted[b] for a, b in itertools.pairwise(order))
    assert all(p[i] <= adjusted[i] <= min(Fraction(1), len(p) * p[i]) or adjusted[i] <= 1 for i in order)
    alpha = Fraction(1, 40)
    by_ladder = []
    for rank, index in enumerate(order):
        if p[index] > alpha / (len(p) - rank):
            break
        by_ladder.append(index)
    assert {i for i in order if adjusted[i] <= alpha} == set(by_ladder)


@pytest.mark.parametrize("p", [[-0.1], [1.1], [math.nan], [True]])
def test_bad_levels_are_refused(p: list) -> None:
    with pytest.raises(StatisticsError, match="S002"):
        holm_adjust(p)


def figure(**changes: object) -> Measurement:
    base = {
        "value": Ratio(118, 120),
        "unit": Unit.SHARE,
        "scale": None,
        "provenance": Provenance.MEASURED,
        "producer": "accuracy@1",
        "observations": 120,
        "distinct_subjects": 120,
    }
    return Measurement(**{**base, **changes})


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"value": None}, "S002"),
        ({"provenance": Provenance.NOT_MEASURED}, "S002"),
        ({"provenance": Provenance.INSUFFICIENT}, "S002"),
        ({"reason": "why"}, "S002"),
        ({"producer": ""}, "S002"),
        ({"distinct_subjects": 121}, "S002"),
        ({"observations": True}, "S002"),
        ({"value": Decimal("0.5")}, "S010"),
        ({"value": Decimal("85"), "scale": (Decimal(0), Decimal(1))}, "S005"),
        ({"value": Decimal("NaN"), "scale": (Decimal(0), Decimal(1))}, "S002"),
    ],
)
def test_a_measurement_without_its_grounds_is_refused(changes: dict, code: str) -> None:
    with pytest.raises(StatisticsError, match=code):
        figure(**changes)


def test_only_measured_and_derived_may_decide() -> None:
    actionable = {p for p in Provenance if measurement_of(p).is_actionable}
    assert actionable == {Provenance.MEASURED, Provenance.DERIVED}


def measurement_of(provenance: Provenance) -> Measurement:
    reason = "because" if provenance in (Provenance.INSUFFICIENT, Provenance.NOT_MEASURED) else None
    value = None if provenance is Provenance.NOT_MEASURED else Ratio(1, 2)
    return figure(provenance=provenance, reason=reason, value=value)


def test_too_few_subjects_are_insufficient_and_the_value_is_kept() -> None:
    found = measured(figure(required_subjects=200))
    assert (found.provenance, found.reason, found.value) == (
        Provenance.INSUFFICIENT,
        "too_few_subjects",
        Ratio(118, 120),
    )
    assert measured(figure(required_subjects=120)).is_actionable
    repeats = figure(observations=1000, distinct_subjects=50, required_subjects=59)
    assert not measured(repeats).is_actionable


def test_combining_takes_the_worst() -> None:
    scale = (Decimal(0), Decimal(1))
    parts = [figure(distinct_subjects=30), measurement_of(Provenance.DECLARED)]
    found = combined(parts, Decimal("0.5"), Unit.SHARE, scale, "mean@1")
    assert (found.provenance, found.distinct_subjects) == (Provenance.DECLARED, 30)
    assert combined([figure()], Decimal("0.5"), Unit.SHARE, scale, "mean@1").provenance is Provenance.DERIVED
    nothing = combined([], None, Unit.SHARE, scale, "mean@1")
    assert (nothing.provenance, nothing.value, nothing.reason) == (Provenance.NOT_MEASURED, None, "no_value")
    missing = combined([measurement_of(Provenance.NOT_MEASURED)], Decimal(1), Unit.SHARE, scale, "mean@1")
    assert (missing.value, missing.reason) == (None, "because")


def test_json_form() -> None:
    limits = Limits(Decimal("0.9"), Decimal("1"), Decimal("0.95"), "exact_interval")
    tree = figure(interval=limits, dispersion_reason="one_run_per_item").to_json()
    assert tree["value"] == {"x": 118, "n": 120}
    assert tree["interval"] == {"low": "0.9", "high": "1", "confidence": "0.95", "method": "exact_interval", "sides": 2}


def test_the_face_loads_neither_scipy_nor_numpy() -> None:
    code = (
        "import sys, slaverify.statistics, slaverify.decision\n"
        "from decimal import Decimal as D\n"
        "a = D('0.025')\n"
        "slaverify.statistics.acceptance_numbers(D('0.95'), 20000, a, a)\n"
        "slaverify.statistics.finite_bank_acceptance_numbers(600, 500, D('0.95'), a, a)\n"
        "slaverify.statistics.wilson_interval(465, 500, 0.95)\n"
        "sys.exit(any(name.partition('.')[0] in ('scipy', 'numpy') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
