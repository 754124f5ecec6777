"""Where domains begin and end, and what holds exactly there: small cases worked out by hand or with scipy."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, t

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    Confusion,
    change_check,
    corpus_rate_interval,
    equivalent_labels,
    gwet_ac1,
    human_audit,
    jeffreys_interval,
    judge_corrected,
    lower_limit,
    mirrored,
    mixed_interval,
    one_sided_log_e,
    paired_sample_size,
)
from slaverify.statistics.clustered import logit_interval
from slaverify.statistics.judge import corrected_limits
from slaverify.statistics.means import corpus_rate_log_e
from slaverify.statistics.order import quantile_ranks

A = Decimal("0.025")


@given(st.integers(30, 200), st.integers(30, 200), st.data())
@settings(max_examples=80)
def test_a_judge_informs_if_its_worst_rates_beat_chance(m0: int, m1: int, data: st.DataObject) -> None:
    """The exact 95 % lower limits of specificity and sensitivity have to add to more than one."""
    y0, y1 = data.draw(st.integers(0, m0)), data.draw(st.integers(0, m1))
    lowest = sum(0.0 if y == 0 else float(beta.ppf(0.025, y, m - y + 1)) for y, m in ((y0, m0), (y1, m1)))
    found = judge_corrected(40, 60, Confusion(y0, m0, y1, m1), 0.95)
    assert (found.guard == "judge_not_informative") == (lowest <= 1.0)


def test_a_judge_that_agrees_by_chance_has_no_limits() -> None:
    chance = Confusion(50, 100, 50, 100)
    assert corrected_limits(40, 60, chance, 1.96) is None
    assert mixed_interval(10, 12, 40, 60, chance, 0.95).low is None


def test_people_outweigh_a_judge_by_no_more_than_one() -> None:
    """All of the rest is judged right, half of what was read: the judge's variance says more than its weight may."""
    human, judge = [1.0] * 9 + [0.0], [1.0] * 5 + [0.0] * 5
    found = human_audit(human, judge, [1.0] * 1000, 0.95)
    assert found.lam == 1.0
    assert found.estimate == 1.0  # .9 + 1 (1 - .5), at most one
    assert found.n_eff == 10
    assert found.high == 1.0
    low = human_audit([0.0] * 9 + [1.0], [0.0] * 5 + [1.0] * 5, [0.0] * 1000, 0.95)
    assert (low.estimate, low.n_eff, low.low) == (0.0, 10, 0.0)


def test_two_unread_items_have_a_variance_of_their_own() -> None:
    human = judge = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    even, split = (human_audit(human, judge, rest, 0.95) for rest in ([1.0, 1.0], [1.0, 0.0]))
    corrected = [h - split.lam * j for h, j in zip(human, judge, strict=True)]
    values = [*corrected, 1.0, -split.lam]
    mean = sum(values) / 8
    own = sum((value - mean) ** 2 for value in values) / 7 / 6
    assert split.variance == pytest.approx(own + split.lam**2 * 0.5 / 2)
    assert even.variance < split.variance


@pytest.mark.parametrize("n", [2, 5, 40])
def test_jeffreys_at_one_success(n: int) -> None:
    found = jeffreys_interval(1, n, 0.95)
    assert (found.low, found.high) == pytest.approx([float(beta.ppf(q, 1.5, n - 0.5)) for q in (0.025, 0.975)])
    assert jeffreys_interval(0, n, 0.95).low == 0.0


def test_two_groups_have_one_degree_of_freedom() -> None:
    found = logit_interval([8, 6], [10, 10])
    half = float(t.ppf(0.975, 1)) * math.sqrt(2 / 1 * (1**2 + 1**2) / 400) / (0.7 * 0.3)
    assert found.high == pytest.approx(1 / (1 + math.exp(-(math.log(0.7 / 0.3) + half))))


def test_two_items_have_an_error_of_agreement() -> None:
    assert gwet_ac1([["a", "a"], ["a", "b"]]).se is not None


@pytest.mark.parametrize(("b", "c", "lost"), [(0.0, 5.5, False), (5.5, 0.0, True), (0.5, 0.0, False)])
def test_a_loss_between_whole_counts(b: float, c: float, lost: bool) -> None:
    """Nothing lost is no loss; half an item is not enough; 5.5 to nothing is (1/2 to the 5.5 is below .025)."""
    assert (change_check(b, c, 6.0, Decimal("0.01"), A).state == "reverted") == lost


@pytest.mark.parametrize("m", [1, 2])
def test_a_class_with_few_labels_still_has_a_worth(m: int) -> None:
    spread = 0.9 * 0.1 * 0 + (0.9 * 0.9 + 0.1 * 0.2) * (1 - 0.9 * 0.9 - 0.1 * 0.2) / 50
    spread += 0.1**2 * 0.8 * 0.2 / m + 0.9**2 * 0.9 * 0.1 / m
    due = 0.9 * 0.1 * 0.7**2 / spread
    assert equivalent_labels(50, 0.9, 0.8, 0.9, m, m) == pytest.approx(due)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_at_a_sure_rate_labels_have_no_worth(rate: float) -> None:
    assert equivalent_labels(50, 0.9, 0.8, rate) is None


def test_shares_that_fall_together_are_added() -> None:
    assert mirrored({0.0: 1, 1e-20: 2, 0.5: 4}) == {1.0: 3, 0.5: 4}


def test_limits_of_means_and_corpora_where_all_agree() -> None:
    """A hundred full scores prove much and not all; a hundred empty ones prove nothing from below."""
    bar = math.log(40)
    assert 0.9 < lower_limit({1.0: 100}, bar) < 1.0
    assert lower_limit({0.0: 100}, bar) == 0.0
    assert lower_limit({0.0: 99, 1.0: 1}, bar) > 0.0
    wrong = corpus_rate_interval([20] * 100, [10] * 100, 20, Decimal(2), 0.95)
    assert wrong.mean == 2.0
    assert 0.5 < wrong.low < 2.0
    assert wrong.high == 2.0
    right = corpus_rate_interval([0] * 100, [10] * 100, 20, Decimal(2), 0.95)
    assert (right.mean, right.low) == (0.0, 0.0)
    assert 0.0 < right.high < 0.5


@pytest.mark.parametrize(("q", "confidence"), [(0, "0.95"), (1, "0.95"), ("1.5", "0.95"), ("0.5", 0), ("0.5", 1)])
def test_a_quantile_lies_inside(q: str, confidence: str) -> None:
    with pytest.raises(ValueError, match="in \\(0, 1\\)"):
        quantile_ranks(10, Fraction(q), Fraction(confidence))


def test_a_prior_may_be_flatter_than_uniform_and_has_to_exist() -> None:
    assert math.isfinite(one_sided_log_e(9, 1, Decimal("0.8"), 0.5, 0.5, "pass"))
    for a, b in ((0, 1), (1, 0), (-1, 1)):
        with pytest.raises(StatisticsError):
            one_sided_log_e(9, 1, Decimal("0.8"), a, b, "pass")


def test_items_that_never_differ_need_no_sample() -> None:
    assert paired_sample_size(0.0, 0.0, 0.0, 1, 1, 0.1, 0.05, 0.8).n == 0.0


def test_a_promise_off_the_scale_of_a_corpus_names_the_scale() -> None:
    with pytest.raises(StatisticsError) as caught:
        corpus_rate_log_e([1], [10], Decimal("2.5"), 20, Decimal(2))
    assert "0" in caught.value.what.en
    assert "2" in caught.value.what.en
