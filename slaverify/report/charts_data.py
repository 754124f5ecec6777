"""The numbers of a chart, as `report.json` holds them: values alone; where they are drawn is the page's matter."""

from __future__ import annotations

from collections.abc import Sequence

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report import figures
from slaverify.report.facts import at, text
from slaverify.report.words import Node


def panel(entry: JsonObject, title: JsonValue, rows: Sequence[tuple[JsonObject, JsonValue]] = ()) -> Node:
    """Return one panel of an interval chart: a threshold, and a row per measured entry.

    `rows` are further (entry, label) pairs on the same scale: the strata of a metric.
    """
    return {
        "title": title,
        "threshold": text(entry, "threshold"),
        "limit": figures.threshold(entry),
        "unit": "share" if figures.is_share(entry) else "number",
        "direction": text(entry, "direction"),
        "rows": [row(entry, None), *(row(other, label) for other, label in rows if figures.is_measured(other))],
    }


def row(entry: JsonObject, label: JsonValue) -> Node:
    """Return one interval: bounds, estimate, state, and the words that stand beside it."""
    return {
        "label": label,
        "low": at(entry, "exact.low"),
        "high": at(entry, "exact.high"),
        "rate": text(entry, "rate"),
        "state": entry.get("state"),
        "words": [figures.observed(entry), figures.interval(entry)],
    }


def bars(rows: Sequence[tuple[JsonValue, int]]) -> Node:
    """Return horizontal bars of counts on one scale."""
    return {"rows": [{"label": label, "count": count} for label, count in rows]}
