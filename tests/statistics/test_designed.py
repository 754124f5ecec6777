"""Figures of a stratified sample against their definitions: variance by numerical derivatives, tails by scipy."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, norm

from slaverify.errors import StatisticsError
from slaverify.statistics import Cell, designed_coefficient, designed_share

Figure = Callable[[list, list], complex]


def rate(w: list, p: list) -> complex:
    return sum(a * b for a, b in zip(w, p, strict=True))


def sensitivity(w: list, p: list) -> complex:
    """Of what people call accurate, the share that the judge (cell 0) calls so."""
    return w[0] * p[0] / sum(a * b for a, b in zip(w, p, strict=True))


def kappa(w: list, p: list) -> complex:
    """Cohen's kappa of a judge that says yes in cell 0 and no in the others."""
    yes = sum(a * b for a, b in zip(w, p, strict=True))
    agree = w[0] * p[0] + sum(a * (1 - b) for a, b in zip(w[1:], p[1:], strict=True))
    chance = w[0] * yes + (1 - w[0]) * (1 - yes)
    return (agree - chance) / (1 - chance)


def by_definition(cells: list[Cell], figure: Figure) -> tuple[float, float, float]:
    """The figure, the figure of the smoothed rates, and the variance: within the cells and of their sizes."""
    n = sum(cell.size for cell in cells)
    w = [cell.size / n for cell in cells]
    p = [cell.right / cell.labels if cell.size else 0.0 for cell in cells]
    s = [(cell.right + 1) / (cell.labels + 2) if cell.size else 0.0 for cell in cells]

    def slope(which: int, i: int) -> float:
        h = 1e-6
        up, down = [list(w), list(s)], [list(w), list(s)]
        up[which][i] += h
        down[which][i] -= h
        return (figure(*up) - figure(*down)) / (2 * h)

    used = [i for i, cell in enumerate(cells) if cell.size]
    within = sum(slope(1, i) ** 2 * s[i] * (1 - s[i]) / cells[i].labels for i in used)
    mean = sum(w[i] * slope(0, i) for i in used)
    between = sum(w[i] * (slope(0, i) - mean) ** 2 for i in used) / n
    return figure(w, p), figure(w, s), within + between


cells_of = st.lists(
    st.integers(1, 60).flatmap(
        lambda labels: st.builds(
            Cell, size=st.integers(labels, 900), labels=st.just(labels), right=st.integers(0, labels)
        )
    ),
    min_size=2,
    max_size=4,
)


def tails(value: float, n: float) -> tuple[float, float]:
    x = value * n
    low = 0.0 if x <= 0 else float(beta.ppf(0.025, x, n - x + 1))
    high = 1.0 if x >= n else float(beta.ppf(0.975, x + 1, n - x))
    return low, high


@settings(max_examples=80)
@given(cells_of, st.sampled_from([rate, sensitivity]))
def test_a_share_has_the_tails_of_its_effective_sample(cells: list[Cell], figure: Figure) -> None:
    found = designed_share(cells, figure, 0.95)
    if sum(cell.right for cell in cells) == 0 and figure is sensitivity:
        assert (found.value, found.low, found.high, found.reason) == (None, None, None, "one_class")
        return
    value, smooth, variance = by_definition(cells, figure)
    labels, n = sum(cell.labels for cell in cells), sum(cell.size for cell in cells)
    n_eff = min(n, smooth * (1 - smooth) / variance, max(value * (1 - value) / variance, labels))
    assert found.value == pytest.approx(value)
    assert found.n_eff == pytest.approx(n_eff, rel=1e-4)
    assert (found.low, found.high) == pytest.approx(tails(value, n_eff), abs=1e-4)


@settings(max_examples=60)
@given(cells_of)
def test_a_coefficient_has_normal_limits_and_is_at_most_one(cells: list[Cell]) -> None:
    found = designed_coefficient(cells, kappa, 0.95)
    if found.reason is not None:
        assert (found.reason, found.value) == ("one_class", None)
        return
    value, _, variance = by_definition(cells, kappa)
    half = float(norm.ppf(0.975)) * math.sqrt(variance)
    assert found.value == pytest.approx(value)
    assert found.low == pytest.approx(value - half, abs=1e-4)
    assert found.high == pytest.approx(min(1.0, value + half), abs=1e-4)
    assert found.n_eff is None


def test_cells_that_hold_nothing_do_not_count_and_cells_without_labels_forbid_the_figure() -> None:
    full = [Cell(100, 40, 30), Cell(50, 20, 2)]
    with_empty = [full[0], Cell(0, 0, 0), full[1]]
    assert designed_share(with_empty, rate, 0.95) == designed_share(full, rate, 0.95)
    assert designed_share([*full, Cell(1, 1, 1)], rate, 0.95).value == pytest.approx((75 + 5 + 1) / 151)
    assert designed_share([*full, Cell(1, 0, 0)], rate, 0.95).reason == "cell_without_labels"
    assert designed_share([*full, Cell(9, 1, 0)], rate, 0.95).reason is None
    assert designed_share([Cell(0, 0, 0)], rate, 0.95).reason == "no_items"
    assert designed_share([], rate, 0.95).reason == "no_items"
    assert designed_coefficient([], rate, 0.95).reason == "no_items"


def test_a_figure_without_any_spread_keeps_the_labels_as_its_sample() -> None:
    """A figure that depends on nothing has variance 0: its limits are those of as many labels as were given."""
    found = designed_share([Cell(100, 40, 30)], lambda w, p: 0.5 + 0 * w[0] * p[0], 0.95)
    assert found.n_eff == 40
    assert (found.low, found.high) == pytest.approx(tails(0.5, 40), abs=1e-9)


def test_a_share_never_leaves_its_range() -> None:
    for outside, edge in ((1.5, 1.0), (-0.5, 0.0)):
        found = designed_share([Cell(100, 40, 30)], lambda w, p, at=outside: at + 0 * w[0] * p[0], 0.95)
        assert found.value == edge
        assert found.low is not None
        assert found.high is not None
        assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    sure = designed_share([Cell(100, 40, 40)], lambda w, p: 1.0 + 1e-9 * p[0] * w[0], 0.95)
    assert (sure.value, sure.low, sure.high, sure.n_eff) == (1.0, 0.0, 1.0, 0.0)


@pytest.mark.parametrize("cell", [Cell(10, 5, 6), Cell(-1, 0, 0), Cell(10, -1, 0), Cell(10, 5, True)])
def test_impossible_counts_are_refused(cell: Cell) -> None:
    with pytest.raises(StatisticsError) as caught:
        designed_share([Cell(10, 5, 2), cell], rate, 0.95)
    assert caught.value.code == "SLV-S002"
