"""Where the marks of a chart stand: numbers of `report.json` in, coordinates as text out. No drawing here.

Coordinates are CSS pixels in the view box of the chart, written with one decimal, so that the page is the same
on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal

from slaverify.report import numbers

WIDTH = 660
HALF = 322
EDGE = 14
LEFT = EDGE
RIGHT = WIDTH - EDGE
LABEL = 60
"""Room in pixels that the threshold's label needs on each side: no other label stands there."""
ROW = 30
TOP = 16
AXIS = 26
BAR_LEFT = 190
BAR_RIGHT = 600
BAR = 22
_STEPS = (Decimal("0.01"), Decimal("0.02"), Decimal("0.05"), Decimal("0.10"), Decimal("0.20"))
_LEAST, _MOST = -6, 12
"""Powers of ten among which the steps of a scale that is no share are sought."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of the axis: where, and the share that it stands for."""

    x: str
    value: Decimal


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """One interval: its line, its bounds and its estimate."""

    y: str
    low: str
    high: str
    rate: str
    width: str


@dataclass(frozen=True, slots=True)
class IntervalPanel:
    """A threshold, the side that complies, and the intervals on one axis."""

    width: int
    height: int
    axis_y: str
    axis_end: str
    threshold: str
    label_x: str
    zone_x: str
    zone_width: str
    zone_height: str
    word_x: str
    word_anchor: str
    better_is_right: bool
    marks: tuple[IntervalMark, ...]
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class BarMark:
    """One bar: its row and length, and where its number stands."""

    y: str
    text_y: str
    width: str
    number_x: str


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a timeline."""

    x: str
    y: str
    level: int


def interval_panel(
    threshold: Decimal,
    direction: str,
    rows: Sequence[tuple[Decimal, Decimal, Decimal]],
    width: int = WIDTH,
    *,
    shares: bool = True,
) -> IntervalPanel:
    """Lay out the rows (low, rate, high) of one metric around its threshold; `width` in pixels.

    `shares`: all lie in [0, 1]; else on the metric's own scale.
    """
    values = [threshold, *(bound for row in rows for bound in row)]
    low, high = _range(values) if shares else _own_range(values)
    scale = _Scale(low, high, Decimal(EDGE), Decimal(width - EDGE))
    height = TOP + ROW * len(rows) + AXIS
    limit = scale.x(threshold)
    better_is_right = direction != "at_most"
    # The word stands on the side that complies, or, where that is too narrow, across the line: its arrow points there.
    starts = better_is_right == (abs((scale.right if better_is_right else scale.left) - limit) >= LABEL)
    zone = (limit, scale.right) if better_is_right else (scale.left, limit)
    return IntervalPanel(
        width=width,
        height=height,
        axis_y=_text(Decimal(height - AXIS)),
        axis_end=_text(scale.right),
        threshold=_text(limit),
        label_x=_text(min(max(limit, scale.left + 40), scale.right - 40)),
        zone_x=_text(zone[0]),
        zone_width=_text(max(zone[1] - zone[0], Decimal(0))),
        zone_height=_text(Decimal(ROW * len(rows))),
        word_x=_text(limit + (5 if starts else -5)),
        word_anchor="start" if starts else "end",
        better_is_right=better_is_right,
        marks=tuple(_mark(number, [scale.x(value) for value in row]) for number, row in enumerate(rows)),
        ticks=_ticks(scale, limit, shares=shares),
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    low: Decimal
    high: Decimal
    left: Decimal
    right: Decimal

    def x(self, value: Decimal) -> Decimal:
        inside = min(max(value, self.low), self.high)
        return self.left + (inside - self.low) / (self.high - self.low) * (self.right - self.left)


def _mark(number: int, positions: list[Decimal]) -> IntervalMark:
    low, rate, high = positions
    return IntervalMark(
        y=_text(Decimal(TOP + ROW * number + ROW // 2)),
        low=_text(low),
        high=_text(high),
        rate=_text(rate),
        width=_text(max(high - low, Decimal(1))),
    )


def _range(values: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    low, high = min(values), max(values)
    room = max((high - low) * Decimal("0.18"), Decimal("0.01"))
    return max(low - room, Decimal(0)), min(high + room, Decimal(1))


def _own_range(values: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    low, high = min(values), max(values)
    room = (high - low) * Decimal("0.18") or Decimal(1)
    return low - room, high + room


def _own_steps() -> tuple[Decimal, ...]:
    return tuple(Decimal(lead).scaleb(power) for power in range(_LEAST, _MOST) for lead in (1, 2, 5))


def _ticks(scale: _Scale, limit: Decimal, *, shares: bool) -> tuple[Tick, ...]:
    room = (scale.right - scale.left) / 40
    steps = _STEPS if shares else _own_steps()
    step = next((step for step in steps if (scale.high - scale.low) / step <= room), steps[-1])
    value = (scale.low / step).to_integral_value(rounding="ROUND_CEILING") * step
    ticks = []
    while value <= scale.high:
        x = scale.x(value)
        # 0 and 1 have no label: nothing measured is "0 %" or "100 %", and the eye would read it so.
        if (not shares or 0 < value < 1) and abs(x - limit) >= LABEL:
            ticks.append(Tick(_text(x), value))
        value += step
    return tuple(ticks)


def bars(counts: Sequence[int]) -> tuple[BarMark, ...]:
    """Lay out one bar per count on a common scale from 0."""
    most = max([*counts, 1])
    out = []
    for number, count in enumerate(counts):
        width = Decimal(count) / Decimal(most) * (BAR_RIGHT - BAR_LEFT)
        out.append(
            BarMark(
                y=_text(Decimal(number * BAR + 3)),
                text_y=_text(Decimal(number * BAR + 15)),
                width=_text(width),
                number_x=_text(BAR_LEFT + width + 6),
            )
        )
    return tuple(out)


def timeline(times: Sequence[str]) -> tuple[Point, ...]:
    """Place the points of a timeline in order: evenly spaced, since hours of work lie between days of waiting.

    Raises: ValueError for a time that is none.
    """
    moments: list[datetime] = [numbers.moment(time) for time in times]
    step = Decimal(RIGHT - LEFT - 20) / max(len(moments) - 1, 1)
    return tuple(
        Point(x=_text(LEFT + 10 + step * number), y=_text(Decimal(26)), level=number % 2)
        for number, _ in enumerate(moments)
    )


def _text(value: Decimal) -> str:
    return format(Decimal(value).quantize(Decimal("0.1"), rounding=ROUND_HALF_EVEN), "f")
