"""Print what a contract can decide: the operating table, its curve, the risks of the whole, and the findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from slaverify.cli.language import language, t

if TYPE_CHECKING:
    from slaverify.canonical import JsonObject
    from slaverify.readiness import Advice, MetricOutlook, Point, Readiness

_WIDTH = 30
_BASES = {
    "integers": ("números enteros, exactos", "whole numbers, exact"),
    "bank": ("banco finito, exacto", "finite bank, exact"),
    "stages": ("dos etapas, exacto", "two stages, exact"),
    "clusters": ("conglomerados, muestra efectiva", "clusters, effective sample"),
    "repeats": ("repeticiones, muestra efectiva", "repeats, effective sample"),
    "weights": ("estratos ponderados, muestra efectiva", "weighted strata, effective sample"),
    "judge": ("con juez, muestra efectiva", "judged, effective sample"),
    "bets": ("media acotada, apuestas; potencia para puntajes 0 o 1", "bounded mean, bets; power for scores 0 or 1"),
}


def table(seen: Readiness, *, curves: bool) -> Iterator[str]:
    """Yield the lines of the operating table; with `curves`, the operating curve of each metric."""
    head = (
        "métrica",
        "n",
        "CUMPLE",
        "NO CUMPLE",
        "mejor: CUMPLE",
        "umbral: C / NC",
        "peor: NO CUMPLE",
        "n 80/90 % (C)",
        "n 80/90 % (NC)",
    )
    head_en = (
        "metric",
        "n",
        "PASS",
        "BREACH",
        "better: PASS",
        "threshold: P / B",
        "worse: BREACH",
        "n 80/90 % (P)",
        "n 80/90 % (B)",
    )
    rows = [head_en if language() == "en" else head, *(_row(metric) for metric in seen.metrics)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        yield "   " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for metric in seen.metrics:
        yield from _notes(metric)
        if curves:
            yield from _curve(metric)
    yield from _whole(seen)


def finding_lines(entry: Advice) -> list[str]:
    """Return a finding as people read it: refused like any error, a warning with its own word."""
    lines = entry.finding.error(entry.where).lines(language())
    if entry.level == "warning":
        lines[0] = lines[0].replace("error[", t("aviso[", "warning["), 1)
    return lines


def readiness_json(seen: Readiness) -> JsonObject:
    """Return the table as the part `readiness` of `slaverify/contract-check/1`; reals have nine places."""
    return {
        "metrics": [_metric_json(metric) for metric in seen.metrics],
        "whole": {
            "binding": seen.whole.binding,
            "false_pass": _real(seen.whole.false_pass),
            "false_breach": _real(seen.whole.false_breach),
            "passes_low": _real(seen.whole.passes_low),
            "passes_high": _real(seen.whole.passes_high),
        },
        "findings": [
            {
                "code": entry.finding.code,
                "level": entry.level.value,
                "where": entry.where,
                "what": entry.finding.what.in_language(language()),
                "fix": entry.finding.fix.in_language(language()),
            }
            for entry in seen.advice
        ],
    }


def percent(share: float) -> str:
    """Return a share as a percentage with one place; never 0 or 100 for what is not."""
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1:
        text = ">99.9"
    elif text == "0.0" and share > 0:
        text = "<0.1"
    return text if language() == "en" else text.replace(".", ",")


def _row(metric: MetricOutlook) -> tuple[str, ...]:
    sign = "≥" if metric.direction == "at_least" else "≤"
    low, high = _numbers(metric)
    return (
        f"{metric.id} {sign} {metric.threshold}" + ("" if metric.binding else "*"),
        str(metric.n),
        low,
        high,
        f"{_rate(metric.better.rate)}: {percent(metric.better.p_pass)} %",
        f"{percent(metric.at_threshold.p_pass)} / {percent(metric.at_threshold.p_breach)} %",
        f"{_rate(metric.worse.rate)}: {percent(metric.worse.p_breach)} %",
        f"{_or_dash(metric.to_pass.at_80)}/{_or_dash(metric.to_pass.at_90)}",
        f"{_or_dash(metric.to_breach.at_80)}/{_or_dash(metric.to_breach.at_90)}",
    )


def _numbers(metric: MetricOutlook) -> tuple[str, str]:
    if metric.basis in ("integers", "bank", "stages"):
        low = t("imposible", "never") if metric.pass_max_failures is None else f"≤ {metric.pass_max_failures}"
        high = t("imposible", "never") if metric.breach_min_failures is None else f"≥ {metric.breach_min_failures}"
        return low, high
    never = t("imposible", "never")
    return ("-" if metric.can_pass else never), ("-" if metric.can_breach else never)


def _notes(metric: MetricOutlook) -> Iterator[str]:
    if metric.basis == "integers":
        return
    basis = t(*_BASES[metric.basis])
    size = f"n_eff {metric.n_eff:.0f}"
    if metric.cluster_size is not None:
        size += t(f", con {metric.cluster_size} ítems por grupo", f", with {metric.cluster_size} items per group")
    yield f"   · {metric.id}: {basis}; {size}"
    if metric.labels_worth is not None:
        yield "     " + t(
            f"{metric.n_judged} ítems juzgados valen {metric.labels_worth} etiquetas perfectas",
            f"{metric.n_judged} judged items are worth {metric.labels_worth} perfect labels",
        )


def _curve(metric: MetricOutlook) -> Iterator[str]:
    yield t(
        f"   {metric.id}: curva de operación (█ CUMPLE, · NO CONCLUYENTE, ░ NO CUMPLE)",
        f"   {metric.id}: operating curve (█ PASS, · INCONCLUSIVE, ░ BREACH)",
    )
    for point in metric.curve:
        yield f"     {_rate(point.rate):>6}  {_bar(point)}  {percent(point.p_pass):>5}  {percent(point.p_breach):>5}"


def _bar(point: Point) -> str:
    passes = round(_WIDTH * point.p_pass)
    breaches = min(_WIDTH - passes, round(_WIDTH * point.p_breach))
    return "█" * passes + "·" * (_WIDTH - passes - breaches) + "░" * breaches


def _whole(seen: Readiness) -> Iterator[str]:
    whole = seen.whole
    if whole.binding == 0:
        yield t("   ninguna métrica obliga: no habrá veredicto", "   no metric binds: there will be no verdict")
        return
    low, high = percent(whole.passes_low), percent(whole.passes_high)
    yield t(
        f"   el contrato entero ({whole.binding} obligan): CUMPLE falso a lo más {percent(whole.false_pass)} %, "
        f"NO CUMPLE falso a lo más {percent(whole.false_breach)} %; "
        f"un proveedor mejor por el margen en todas CUMPLE entre {low} y {high} %",
        f"   the whole contract ({whole.binding} bind): false PASS at most {percent(whole.false_pass)} %, "
        f"false BREACH at most {percent(whole.false_breach)} %; "
        f"a vendor better by the margin on all of them passes between {low} and {high} %",
    )


def _metric_json(metric: MetricOutlook) -> JsonObject:
    return {
        "id": metric.id,
        "basis": metric.basis,
        "binding": metric.binding,
        "n": metric.n,
        "n_eff": _real(metric.n_eff),
        "pass_max_failures": metric.pass_max_failures,
        "breach_min_failures": metric.breach_min_failures,
        "can_pass": metric.can_pass,
        "can_breach": metric.can_breach,
        "better": _point_json(metric.better),
        "at_threshold": _point_json(metric.at_threshold),
        "worse": _point_json(metric.worse),
        "curve": [_point_json(point) for point in metric.curve],
        "n_pass_80": metric.to_pass.at_80,
        "n_pass_90": metric.to_pass.at_90,
        "n_breach_80": metric.to_breach.at_80,
        "n_breach_90": metric.to_breach.at_90,
        "labels_worth": metric.labels_worth,
    }


def _point_json(point: Point) -> JsonObject:
    return {
        "rate": _real(point.rate),
        "p_pass": _real(point.p_pass),
        "p_breach": _real(point.p_breach),
        "p_inconclusive": _real(point.p_inconclusive),
    }


def _real(value: float) -> str:
    from slaverify.canonical import real9

    return real9(value)


def _rate(value: float) -> str:
    text = f"{value:.4f}".rstrip("0")
    text = text + "0" * max(0, 2 - len(text.split(".")[1]))
    return text if language() == "en" else text.replace(".", ",")


def _or_dash(value: int | None) -> str:
    return "-" if value is None else str(value)
