"""Marks stand inside their chart, in order, and no label falls on the threshold's."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from slaverify.report import charts

shares = st.integers(0, 10**6).map(lambda n: Decimal(n).scaleb(-6))
rows = st.lists(st.tuples(shares, shares, shares).map(sorted).map(tuple), min_size=1, max_size=5)


@given(shares, st.sampled_from(["at_least", "at_most"]), rows, st.sampled_from([charts.WIDTH, charts.HALF]))
def test_every_mark_is_inside_and_in_order(threshold, direction, intervals, width):
    panel = charts.interval_panel(threshold, direction, intervals, width)
    for mark in panel.marks:
        low, rate, high = (Decimal(value) for value in (mark.low, mark.rate, mark.high))
        assert charts.EDGE <= low <= rate <= high <= width - charts.EDGE
        assert 0 < Decimal(mark.y) < panel.height
    assert charts.EDGE <= Decimal(panel.threshold) <= width - charts.EDGE
    assert Decimal(panel.zone_x) + Decimal(panel.zone_width) <= width


@given(shares, rows, st.sampled_from([charts.WIDTH, charts.HALF]))
def test_ticks_keep_clear_of_the_threshold_and_of_zero_and_one(threshold, intervals, width):
    panel = charts.interval_panel(threshold, "at_least", intervals, width)
    for tick in panel.ticks:
        assert 0 < tick.value < 1
        assert abs(Decimal(tick.x) - Decimal(panel.threshold)) >= charts.LABEL - Decimal("0.1")
    positions = [Decimal(tick.x) for tick in panel.ticks]
    assert positions == sorted(positions)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=20))
def test_bars_keep_their_proportions(counts):
    marks = charts.bars(counts)
    assert len(marks) == len(counts)
    widest = charts.BAR_RIGHT - charts.BAR_LEFT
    assert all(0 <= Decimal(mark.width) <= widest for mark in marks)
    if max(counts):
        assert Decimal(marks[counts.index(max(counts))].width) == widest
