"""Warnings about one metric's numbers: power, a state that cannot occur, rules without a margin of doubt."""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.contract import Contract, Finding, Metric, metric_n, of_bank
from slaverify.errors import NOTHING, Text
from slaverify.readiness.outlook import MetricOutlook, Needed, is_bet

ENOUGH = 0.8
"""Power below which lint warns (convention)."""


def power_advice(contract: Contract, metric: Metric, seen: MetricOutlook) -> Iterator[Finding]:
    """Yield the warnings about the numbers of one metric."""
    path = ("metrics", seen.index)
    if seen.binding and seen.can_pass and seen.better.p_pass < ENOUGH:
        yield Finding(
            "SLV-S020",
            (*path, "threshold"),
            Text(
                f"`{metric.id}`: un proveedor con tasa real {_es(seen.better.rate)} sólo CUMPLE el "
                f"{_es(seen.better.p_pass)} de las veces (n {seen.n})",
                f"`{metric.id}`: a vendor with a true rate of {_en(seen.better.rate)} would PASS only "
                f"{_en(seen.better.p_pass)} of the time (n {seen.n})",
            ),
            _more(seen.to_pass),
        )
    if seen.binding and seen.can_breach and seen.worse.p_breach < ENOUGH:
        yield Finding(
            "SLV-S021",
            (*path, "threshold"),
            Text(
                f"`{metric.id}`: un proveedor con tasa real {_es(seen.worse.rate)} sólo da NO CUMPLE el "
                f"{_es(seen.worse.p_breach)} de las veces (n {seen.n})",
                f"`{metric.id}`: a vendor with a true rate of {_en(seen.worse.rate)} would BREACH only "
                f"{_en(seen.worse.p_breach)} of the time (n {seen.n})",
            ),
            _more(seen.to_breach),
        )
    if seen.binding and not seen.can_breach:
        yield Finding(
            "SLV-S022",
            (*path, "threshold"),
            Text(f"`{metric.id}` nunca puede dar NO CUMPLE", f"`{metric.id}` can never BREACH"),
            Text("suba n o el riesgo `alpha_breach`", "raise n or the risk `alpha_breach`"),
        )
    if seen.binding and not seen.can_pass:
        yield _assumed_away(metric, seen)
    yield from _rule(contract, metric, seen)


def _assumed_away(metric: Metric, seen: MetricOutlook) -> Finding:
    """A metric that could PASS at its best, and not with the groups or the judge that are assumed of it."""
    if metric.cluster is not None:
        return Finding(
            "SLV-S029",
            ("metrics", seen.index, "cluster"),
            Text(
                f"`{metric.id}`: con {seen.cluster_size} ítems por {metric.cluster.by} ya no puede CUMPLIR",
                f"`{metric.id}`: with {seen.cluster_size} items per {metric.cluster.by} it can no longer PASS",
            ),
            Text("suba n, o pida al banco grupos más chicos", "raise n, or ask the bank for smaller groups"),
        )
    return Finding(
        "SLV-S029",
        ("metrics", seen.index, "threshold"),
        Text(
            f"`{metric.id}`: con el peor juez que se acepta, {seen.n} ítems valen {seen.n_eff:.0f}: no puede CUMPLIR",
            f"`{metric.id}`: with the worst judge accepted, {seen.n} items are worth {seen.n_eff:.0f}: it cannot PASS",
        ),
        Text(
            "exija más sensibilidad y especificidad, o más etiquetas",
            "ask for more sensitivity and specificity, or for more labels",
        ),
    )


def _rule(contract: Contract, metric: Metric, seen: MetricOutlook) -> Iterator[Finding]:
    where = ("metrics", seen.index, "decision", "rule")
    at = seen.at_threshold
    if metric.decision.rule == "simple":
        yield Finding(
            "SLV-S023",
            where,
            Text(
                f"`{metric.id}`: con la regla `simple`, justo en el umbral es cara o sello "
                f"({_es(at.p_pass)} / {_es(at.p_breach)})",
                f"`{metric.id}`: under the rule `simple`, right at the threshold it is a coin flip "
                f"({_en(at.p_pass)} / {_en(at.p_breach)})",
            ),
            Text("use `guarded`", "use `guarded`"),
        )
    if metric.decision.rule == "guarded_rejection":
        yield Finding(
            "SLV-S030",
            where,
            Text(
                f"`{metric.id}`: CUMPLE sólo dirá «no contradicho»: en el umbral ocurre el {_es(at.p_pass)}",
                f"`{metric.id}`: PASS will only say `not contradicted`: at the threshold it occurs {_en(at.p_pass)}",
            ),
            Text("use `guarded` si la conformidad se debe demostrar", "use `guarded` if conformity is to be shown"),
        )
    if is_bet(metric) and metric.kind == "mean":
        yield Finding(
            "SLV-S024",
            ("metrics", seen.index, "kind"),
            Text(f"`{metric.id}` promete una media", f"`{metric.id}` promises a mean"),
            Text(
                "pacte un corte por ítem (`kind: rate` con `cut`): más potencia y números enteros",
                "agree a cut per item (`kind: rate` with `cut`): more power and whole numbers",
            ),
        )
    if of_bank(contract, metric) and metric_n(contract, metric) == contract.evaluation_set.size:
        yield Finding(
            "SLV-S028",
            ("metrics", seen.index, "estimand"),
            Text(
                f"`{metric.id}`: censo del banco, sin error de muestreo; la comparación es simple",
                f"`{metric.id}`: a census of the bank has no sampling error; the comparison is simple",
            ),
        )
    if seen.index == 0 and contract.verdict.multiplicity == "none":
        binding = [one for one in contract.metrics if one.severity == "binding"]
        if len(binding) > 1:
            family = sum(float(one.decision.alpha_breach) for one in binding)
            yield Finding(
                "SLV-S031",
                ("verdict", "multiplicity"),
                Text(
                    f"sin corrección, el riesgo de un NO CUMPLE falso llega a {_es(family)}",
                    f"without correction the risk of a false BREACH reaches {_en(family)}",
                ),
                Text("escriba `multiplicity: holm`", "write `multiplicity: holm`"),
            )


def _more(needed: Needed) -> Text:
    if needed.at_80 is None:
        return (
            Text("suba n o pacte otro margen", "raise n or agree another margin") if needed.at_90 is None else NOTHING
        )
    return Text(
        f"con n = {needed.at_80} la potencia llega a 80 %, con {needed.at_90} a 90 %",
        f"at n = {needed.at_80} the power reaches 80 %, at {needed.at_90} 90 %",
    )


def _es(share: float) -> str:
    return _en(share).replace(".", ",")


def _en(share: float) -> str:
    percent = 100.0 * share
    # A share near 100 % is shown with the places that set it apart from it.
    places = next((p for p in (1, 2, 3) if not 100.0 - percent < 0.5 * 10**-p or percent == 100.0), 4)
    return f"{percent:.{places}f} %"
