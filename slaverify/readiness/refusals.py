"""What is refused before anybody signs, beyond what the loader refuses: promises that can never be kept, dead dates.

Nothing here needs more than the standard library for a metric of independent items.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from slaverify.canonical import decimal_text
from slaverify.contract import Contract, Finding, Metric, has_integers, instant, metric_n, sample_sizes, unequal_weights
from slaverify.errors import Text
from slaverify.judging import lint
from slaverify.readiness.designs import betting
from slaverify.readiness.outlook import best_design, binds, is_bet, scale_of

_MAX_UNITS = 1_000_000


def refusals(contract: Contract, now: datetime) -> Iterator[Finding]:
    """Yield every refusal of a completed contract. `now` is aware; it only touches drafts."""
    for index, metric in enumerate(contract.metrics):
        yield from _lonely_strata(contract, metric, index)
        if binds(contract, metric) and not has_integers(contract, metric):
            yield from _can_never_pass(contract, metric, index)
    yield from lint.refused(contract)
    if contract.contract.status == "draft":
        yield from _dead_dates(contract, now)


def _can_never_pass(contract: Contract, metric: Metric, index: int) -> Iterator[Finding]:
    """A metric without integers whose best possible result is no PASS (those with integers: SLV-S007 of the loader)."""
    n, t = metric_n(contract, metric), scale_of(metric).t
    if not 0 < t < 1:
        yield _never(metric, index, n, None)
    elif not best_design(contract, metric).can_pass:
        needed = _smallest_bet(float(t), float(metric.decision.alpha_pass)) if is_bet(metric) else None
        yield _never(metric, index, n, needed)


def _smallest_bet(t: float, alpha: float) -> int | None:
    n = 1
    while not betting(n, t, alpha, alpha).can_pass:
        n *= 2
        if n > _MAX_UNITS:
            return None
    low = n // 2
    while n - low > 1:
        middle = (low + n) // 2
        low, n = (low, middle) if betting(middle, t, alpha, alpha).can_pass else (middle, n)
    return n


def _never(metric: Metric, index: int, n: int, needed: int | None) -> Finding:
    threshold, alpha = decimal_text(metric.threshold), decimal_text(metric.decision.alpha_pass)
    more_es = "suba n" if needed is None else f"suba n a {needed}"
    more_en = "raise n" if needed is None else f"raise n to {needed}"
    softer_es, softer_en = ("baje", "lower") if metric.direction == "at_least" else ("suba", "raise")
    return Finding(
        "SLV-S007",
        ("metrics", index, "threshold"),
        Text(
            f"`{metric.id}`: {threshold} con n = {n} y α {alpha} nunca puede CUMPLIR",
            f"`{metric.id}`: {threshold} with n = {n} and α {alpha} can never PASS",
        ),
        Text(f"{more_es} o {softer_es} el umbral", f"{more_en} or {softer_en} the threshold"),
        Text("ni con el mejor resultado posible", "not even with the best result that there can be"),
    )


def _lonely_strata(contract: Contract, metric: Metric, index: int) -> Iterator[Finding]:
    sizes = sample_sizes(contract)
    for name in unequal_weights(contract, metric) or ():
        if sizes[name] < 2:
            yield Finding(
                "SLV-S011",
                ("evaluation_set", "sample", "per_stratum", name),
                Text(
                    f"`{name}` pesa distinto y tiene un solo ítem en la muestra (`{metric.id}`, métrica {index + 1})",
                    f"`{name}` has its own weight and one item in the sample (`{metric.id}`, metric {index + 1})",
                ),
                Text("sortee al menos dos", "draw at least two"),
                Text("de un ítem no sale ninguna varianza", "one item gives no variance"),
            )


def _dead_dates(contract: Contract, now: datetime) -> Iterator[Finding]:
    identity, window = contract.contract, contract.schedule.window
    dates = (
        (("contract", "effective"), identity.effective),
        (("contract", "expires"), identity.expires),
        (("schedule", "window", "from"), None if window is None else window.from_),
        (("schedule", "window", "to"), None if window is None else window.to),
    )
    for path, moment in dates:
        if moment is not None and instant(moment) < now:
            yield Finding(
                "SLV-C055",
                path,
                Text(f"{moment} ya pasó", f"{moment} is past"),
                Text("escriba una fecha por venir", "write a date to come"),
                Text("este contrato todavía es un borrador", "this contract is still a draft"),
            )
