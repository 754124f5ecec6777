"""The promises: identity, kind, filters, thresholds, risks, and whether together they bind anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from slaverify.canonical import JsonObject, decimal_text
from slaverify.contract.blocks import Blocks
from slaverify.contract.checks.bank import unknown_stratum
from slaverify.contract.filters import FIELDS
from slaverify.contract.findings import Finding, Path, dotted, short
from slaverify.contract.hints import share_hint
from slaverify.contract.library import LIBRARY
from slaverify.contract.model.bank import EvaluationSet
from slaverify.contract.model.metrics import FailedCalls, Metric
from slaverify.contract.shape import nearest
from slaverify.errors import Text

_GOOD = {"verdict": {"accurate"}, "correctness": {"correct"}, "grounding": {"grounded"}, "state": {"VALID_STATE"}}
_BAD = {
    "verdict": {"incomplete", "misgrounded", "incorrect", "phantom_citation", "fabrication"},
    "correctness": {"partial", "incorrect", "no_answer"},
    "grounding": {"misgrounded", "ungrounded"},
    "state": {"INVALID_STATE"},
    "abstention": {"unnecessary"},
    "citations": {"phantom"},
}
_NEEDS = {"rate": ("count",), "mean": ("value", "scale"), "corpus_rate": ("w_max", "r_max"), "quantile": ("limit_s",)}
_VENDORS = ("refused", "truncated", "empty", "malformed", "vendor_failure")
_OTHERS = ("auditor_failure", "unresolved", "not_sent")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,63}")
_CRITERION = re.compile(r"[a-z][a-z0-9_]{1,63}:(met|not_met|unresolved)")


def findings(blocks: Blocks) -> Iterator[Finding]:
    """Yield the problems of the metrics and of what failed calls count as."""
    seen: dict[str, int] = {}
    for index, metric in enumerate(blocks.metrics):
        if metric is None:
            continue
        path: Path = ("metrics", index)
        if seen.setdefault(metric.id, index) != index:
            yield Finding(
                "SLV-C026",
                (*path, "id"),
                Text(f"`{metric.id}` ya es el nombre de otra métrica", f"`{metric.id}` already names another metric"),
                Text("dele otro nombre", "give it another name"),
            )
        yield from _library(path, metric)
        yield from _kind(path, metric)
        yield from _filters(path, metric, blocks.evaluation_set)
        yield from _threshold(path, metric)
        yield from _risks(path, metric)
        yield from _sense(path, metric)
    if blocks.metrics and None not in blocks.metrics and blocks.purpose != "pilot":
        yield from _binding([metric for metric in blocks.metrics if metric is not None])
    if blocks.failed_calls is not None:
        yield from _failed_calls(blocks.failed_calls)


def _library(path: Path, metric: Metric) -> Iterator[Finding]:
    if metric.library is None:
        return
    ready = LIBRARY.get(metric.library)
    if ready is None:
        return  # found in the tree, before it could fill anything
    if metric.severity == "binding" and not ready.binding:
        yield Finding(
            "SLV-C032",
            (*path, "library"),
            Text(
                f"`{metric.library}` no puede obligar: una respuesta puede salir de su denominador",
                f"`{metric.library}` may not bind: an answer can leave its denominator",
            ),
            Text("escriba `severity: reported`", "write `severity: reported`"),
        )
    elif metric.kind != ready.kind or metric.direction != ready.direction:
        yield Finding(
            "SLV-C047",
            (*path, "direction" if metric.kind == ready.kind else "kind"),
            Text(
                f"`{metric.library}` es {ready.kind} {ready.direction}",
                f"`{metric.library}` is {ready.kind} {ready.direction}",
            ),
            Text("borre la clave o no use `library`", "delete the key or do not use `library`"),
        )


def unknown_libraries(tree: JsonObject) -> Iterator[Finding]:
    """Yield each metric that names a ready metric which the library does not have."""
    metrics = tree.get("metrics")
    for index, metric in enumerate(metrics if isinstance(metrics, list) else ()):
        name = metric.get("library") if isinstance(metric, dict) else None
        if not isinstance(name, str) or name in LIBRARY:
            continue
        near = nearest(name, tuple(LIBRARY))
        yield Finding(
            "SLV-C043",
            ("metrics", index, "library"),
            Text(f"la biblioteca no tiene `{short(name)}`", f"the library has no `{short(name)}`"),
            Text(f"¿quiso decir `{near}`?", f"did you mean `{near}`?")
            if near
            else Text(f"tiene: {', '.join(LIBRARY)}", f"it has: {', '.join(LIBRARY)}"),
        )


def _kind(path: Path, metric: Metric) -> Iterator[Finding]:
    needs = _NEEDS[metric.kind]
    if metric.cut is not None:
        needs = ("value", "scale")
    for key in needs:
        if getattr(metric, key) is None:
            yield Finding(
                "SLV-C010",
                path,
                Text(f"falta `{dotted((*path, key))}`", f"`{dotted((*path, key))}` is missing"),
                Text(f"una métrica {metric.kind} necesita `{key}`", f"a metric of kind {metric.kind} needs `{key}`"),
                at_key=True,
            )
    if metric.scale is not None and metric.scale[0] >= metric.scale[1]:
        yield Finding(
            "SLV-S010",
            (*path, "scale"),
            Text("la escala no va de menor a mayor", "the scale does not go from low to high"),
            Text('por ejemplo `["0", "1"]`', 'for example `["0", "1"]`'),
        )
    rule = metric.decision
    if rule.rule == "two_point" and None in (rule.f0, rule.r0, rule.f1, rule.r1):
        yield Finding(
            "SLV-C010",
            (*path, "decision"),
            Text("`two_point` necesita f0, r0, f1 y r1", "`two_point` needs f0, r0, f1 and r1"),
            at_key=True,
        )


def _filters(path: Path, metric: Metric, bank: EvaluationSet | None) -> Iterator[Finding]:
    for name, filter_ in (("count", metric.count), ("among", metric.among)):
        for key, values in (filter_ or {}).items():
            yield from _filter_key((*path, name, key), key, values, bank)
    leavable = [key for key in metric.among if key != "stratum"]
    if leavable and metric.severity == "binding":
        yield Finding(
            "SLV-C032",
            (*path, "among", leavable[0]),
            Text(
                "una respuesta puede salir de este denominador: no puede obligar",
                "an answer can leave this denominator: it may not bind",
            ),
            Text("nombre sólo estratos, o `severity: reported`", "name strata alone, or `severity: reported`"),
            at_key=True,
        )
    strata = metric.among.get("stratum", ())
    drawn = None if bank is None else bank.sample.per_stratum
    if drawn and strata and not any(name in drawn for name in strata):
        yield Finding(
            "SLV-C023",
            (*path, "among", "stratum"),
            Text("ningún ítem sorteado es de estos estratos", "no drawn item is of these strata"),
            Text("agregue el estrato a `sample.per_stratum`", "add the stratum to `sample.per_stratum`"),
        )


def _filter_key(
    path: Path, key: str, values: tuple[str | int | bool, ...], bank: EvaluationSet | None
) -> Iterator[Finding]:
    field = FIELDS.get(key)
    if field is None:
        near = nearest(key, tuple(FIELDS))
        yield Finding(
            "SLV-C024",
            path,
            Text(f"un filtro no puede nombrar `{key}`", f"a filter may not name `{key}`"),
            Text(f"¿quiso decir `{near}`?", f"did you mean `{near}`?")
            if near
            else Text(f"use uno de: {', '.join(FIELDS)}", f"use one of: {', '.join(FIELDS)}"),
            at_key=True,
        )
        return
    if not values:
        yield Finding(
            "SLV-C025",
            path,
            Text("una lista vacía no acepta nada", "an empty list accepts nothing"),
            Text("borre la clave o dé un valor", "delete the key or give a value"),
        )
    for index, value in enumerate(values):
        where: Path = (*path, index)
        if key == "stratum":
            if bank is not None and value not in bank.strata:
                yield unknown_stratum(where, str(value), bank.strata)
        elif not _accepted(field.shape, field.values, value):
            yield _unknown_value(where, key, value, field.values)


def _accepted(shape: str, values: tuple[str | int, ...] | None, value: str | int | bool) -> bool:
    if values is not None:
        return any(type(value) is type(one) and value == one for one in values)
    if not isinstance(value, str):
        return False
    if shape == "pairs":
        return _CRITERION.fullmatch(value) is not None
    return shape == "plain" or _WORD.fullmatch(value) is not None


def _unknown_value(path: Path, key: str, value: str | int | bool, values: tuple[str | int, ...] | None) -> Finding:
    known = tuple(str(one) for one in values or ())
    near = None if str(value) in known else nearest(str(value), known)
    fix = Text("una palabra en minúsculas", "a lower-case word")
    if key == "criteria":
        fix = Text("`criterio:met`, `:not_met` o `:unresolved`", "`criterion:met`, `:not_met` or `:unresolved`")
    elif near is not None:
        fix = Text(f"¿quiso decir `{near}`?", f"did you mean `{near}`?")
    elif known:
        fix = Text(f"use uno de: {', '.join(known)}", f"use one of: {', '.join(known)}")
    return Finding(
        "SLV-C025",
        path,
        Text(f"`{key}` no tiene el valor {short(value)!r}", f"`{key}` has no value {short(value)!r}"),
        fix,
    )


def _threshold(path: Path, metric: Metric) -> Iterator[Finding]:
    where, threshold, text = (*path, "threshold"), metric.threshold, decimal_text(metric.threshold)
    if metric.kind == "mean" and metric.cut is None:
        if metric.scale is not None and not metric.scale[0] <= threshold <= metric.scale[1]:
            yield Finding(
                "SLV-C018",
                where,
                Text(f"{text} está fuera de la escala declarada", f"{text} is outside the declared scale"),
                Text("use la misma escala en ambos", "use the same scale in both"),
            )
        return
    if metric.kind == "corpus_rate":
        if threshold < 0 or (metric.r_max is not None and threshold > metric.r_max):
            yield Finding(
                "SLV-C018",
                where,
                Text(f"{text} está fuera de 0 a r_max", f"{text} is outside 0 to r_max"),
                Text('es una razón de errores, por ejemplo "0.08"', 'it is a ratio of errors, e.g. "0.08"'),
            )
        return
    if not 0 <= threshold <= 1:
        what = Text(f"`{dotted(where)}`: {text} no es una tasa", f"`{dotted(where)}`: {text} is no rate")
        yield Finding("SLV-C015", where, what, share_hint(text))
    elif threshold in (Decimal(0), Decimal(1)) and metric.decision.rule != "zero_observed":
        yield Finding(
            "SLV-S001",
            where,
            Text(f"{text} no se puede demostrar con una muestra", f"{text} cannot be demonstrated by a sample"),
            Text(
                "pacte un umbral menor que 1, o la regla `zero_observed`",
                "agree a threshold below 1, or the rule `zero_observed`",
            ),
        )


def _risks(path: Path, metric: Metric) -> Iterator[Finding]:
    rule = metric.decision
    for name, value, top in (
        ("alpha_pass", rule.alpha_pass, Decimal("0.5")),
        ("alpha_breach", rule.alpha_breach, Decimal("0.5")),
        ("confidence", rule.confidence, Decimal(1)),
    ):
        if not 0 < value < top:
            yield Finding(
                "SLV-S003",
                (*path, "decision", name),
                Text(f"`{name}` debe estar entre 0 y {top}, sin tocarlos", f"`{name}` has to be inside 0 to {top}"),
                Text('lo usual: riesgos "0.025", confianza "0.95"', 'usual: risks "0.025", confidence "0.95"'),
            )


def _sense(path: Path, metric: Metric) -> Iterator[Finding]:
    """A promise of at least so many errors, or at most so many right answers, is a slip."""
    count = metric.count or {}
    good = any(key in _GOOD and set(values) & _GOOD[key] for key, values in count.items())
    bad = any(key in _BAD and set(values) & _BAD[key] for key, values in count.items())
    slip = (metric.direction == "at_least" and bad and not good) or (metric.direction == "at_most" and good and not bad)
    if slip:
        other = "at_most" if metric.direction == "at_least" else "at_least"
        yield Finding(
            "SLV-C047",
            (*path, "direction"),
            Text(
                f"`{metric.direction}` sobre {'errores' if bad else 'aciertos'} promete lo contrario de lo que dice",
                f"`{metric.direction}` of {'errors' if bad else 'right answers'} promises the contrary of what it says",
            ),
            Text(f"escriba `direction: {other}` o cambie `count`", f"write `direction: {other}` or change `count`"),
        )


def _binding(metrics: list[Metric]) -> Iterator[Finding]:
    binding = [metric for metric in metrics if metric.severity == "binding"]
    if not binding:
        yield Finding(
            "SLV-C031",
            ("metrics",),
            Text("ninguna métrica obliga: no habría veredicto", "no metric binds: there would be no verdict"),
            Text(
                "deje al menos una con `severity: binding`, o declare `contract.purpose: pilot`",
                "leave at least one with `severity: binding`, or declare `contract.purpose: pilot`",
            ),
            at_key=True,
        )
    elif all(metric.direction == "at_most" and metric.kind in ("rate", "mean") for metric in binding):
        yield Finding(
            "SLV-C032",
            ("metrics",),
            Text(
                "sólo se limitan errores: un motor que no contesta nada cumpliría",
                "errors alone are limited: an engine that answers nothing would comply",
            ),
            Text("agregue una métrica `at_least`, como `accuracy@1`", "add an `at_least` metric, such as `accuracy@1`"),
            at_key=True,
        )


def _failed_calls(calls: FailedCalls) -> Iterator[Finding]:
    for name in _VENDORS + _OTHERS:
        counts_as = getattr(calls, name).counts_as
        vendors = name in _VENDORS
        if (counts_as == "incorrect") == vendors:
            continue
        due = "incorrect" if vendors else "bounds"
        yield Finding(
            "SLV-C036",
            ("failed_calls", name, "counts_as"),
            Text(
                f"`{name}` es {'del proveedor' if vendors else 'ajeno al proveedor'}",
                f"`{name}` is {'the vendor’s' if vendors else 'not the vendor’s'}",
            ),
            Text(f"escriba `counts_as: {due}` o borre la clave", f"write `counts_as: {due}` or delete the key"),
            Text(
                "nadie gana por fallar, y nadie paga por la falla de otro",
                "nobody gains by failing, and nobody pays for another's fault",
            ),
        )
