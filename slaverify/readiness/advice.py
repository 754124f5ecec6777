"""What is allowed and unwise: warnings, each with the number that proves it and the smallest change that mends it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import HOSTILE_STRATA, Contract, Extend, Finding, Metric, sample_sizes
from slaverify.errors import Text
from slaverify.judging import lint
from slaverify.readiness.outlook import MetricOutlook
from slaverify.readiness.power_advice import power_advice

_PLANNED_RATE = 0.8
"""Rate of right answers that the power of leak tests is planned at."""
_LEAST_TOKENS, _ENOUGH = 4, 0.8
_QUESTIONS = ("qa@1", "regulatory@1", "grounding@1")


def advice(contract: Contract, metrics: Sequence[MetricOutlook]) -> Iterator[Finding]:
    """Yield every warning of a completed contract; `metrics` are the outlooks of its metrics, in order."""
    for metric, seen in zip(contract.metrics, metrics, strict=True):
        yield from power_advice(contract, metric, seen)
        yield from _clusters(contract, metric, seen)
    yield from _reach(contract)
    yield from _hostile(contract)
    yield from _repeats(contract)
    yield from _judge(contract)
    yield from _custody(contract)
    yield from _arms(contract)


def amendment(old: JsonObject, new: JsonObject) -> Iterator[Finding]:
    """Yield a warning where engine version and bank or method change at once. Trees of frozen contracts or drafts."""
    if _at(old, "engine", "version") == _at(new, "engine", "version"):
        return
    same_bank = _at(old, "evaluation_set", "bank_digest") == _at(new, "evaluation_set", "bank_digest")
    same_method = all(
        _at(old, block) == _at(new, block) for block in ("method", "repetitions", "judge", "failed_calls")
    )
    if same_bank and same_method:
        return
    moved_es = "el método" if same_bank else "el banco" if same_method else "el banco y el método"
    moved_en = "the method" if same_bank else "the bank" if same_method else "bank and method"
    yield Finding(
        "SLV-C083",
        ("engine", "version"),
        Text(
            f"cambian a la vez la versión del motor y {moved_es}",
            f"the engine's version and {moved_en} change at once",
        ),
        Text(
            "haga dos enmiendas: primero una cosa, después la otra",
            "make two amendments: one thing first, then the other",
        ),
        Text("ninguna diferencia posterior se podría atribuir", "no later difference could be attributed"),
    )


def _clusters(contract: Contract, metric: Metric, seen: MetricOutlook) -> Iterator[Finding]:
    if metric.cluster is not None:
        if metric.cluster.icc_floor == 0:
            yield Finding(
                "SLV-S025",
                ("metrics", seen.index, "cluster", "icc_floor"),
                Text(f"`{metric.id}`: conglomerados sin piso", f"`{metric.id}`: clusters without a floor"),
                Text('escriba `icc_floor: "0.2"`', 'write `icc_floor: "0.2"`'),
                Text(
                    "con pocas fallas la dependencia no se puede medir: sin piso, hasta 10 % de CUMPLE falsos",
                    "with few failures dependence cannot be measured: without a floor, up to 10 % false PASS",
                ),
            )
        return
    if contract.method.profile == "speech@1":
        yield Finding(
            "SLV-S026",
            ("metrics", seen.index),
            Text(
                f"`{metric.id}` se trata como si cada tramo fuera independiente",
                f"`{metric.id}` treats every segment as independent",
            ),
            Text(
                'si varios salen de una misma grabación: `cluster: {by: grabación, icc_floor: "0.2"}`',
                'if several come from one recording: `cluster: {by: recording, icc_floor: "0.2"}`',
            ),
        )


def _reach(contract: Contract) -> Iterator[Finding]:
    if not contract.endpoint.control_urls:
        yield Finding(
            "SLV-C080",
            ("endpoint",),
            Text("no hay `control_urls`", "there are no `control_urls`"),
            Text(
                "nombre dos direcciones de servidores independientes",
                "name two addresses of independent hosts",
            ),
            Text(
                "una caída de la red propia no se distingue de una del proveedor",
                "a fault of one's own network cannot be told from one of the vendor",
            ),
        )


def _hostile(contract: Contract) -> Iterator[Finding]:
    if contract.method.profile not in _QUESTIONS:
        return
    bound = {
        name
        for metric in contract.metrics
        if metric.severity == "binding"
        for name in metric.among.get("stratum", tuple(sample_sizes(contract)))
    }
    if not bound & set(HOSTILE_STRATA):
        yield Finding(
            "SLV-C081",
            ("metrics",),
            Text(
                "ninguna métrica obliga sobre preguntas sin respuesta o con trampa",
                "no metric binds questions without an answer or with a trap",
            ),
            Text(
                f"agregue un estrato ({', '.join(HOSTILE_STRATA)}) y `fabrication_rate@1` o `hallucination_rate@1`",
                f"add a stratum ({', '.join(HOSTILE_STRATA)}) and `fabrication_rate@1` or `hallucination_rate@1`",
            ),
            Text(
                "un motor que siempre contesta algo quedaría sin medir justo ahí",
                "an engine that always answers something would go unmeasured just there",
            ),
        )


def _repeats(contract: Contract) -> Iterator[Finding]:
    repetitions = contract.repetitions
    if repetitions.per_item > 1 or repetitions.dispersion_sample is not None:
        return
    estimands = {metric.estimand or contract.evaluation_set.estimand for metric in contract.metrics}
    bank = "bank" in estimands
    yield Finding(
        "SLV-S027",
        ("repetitions", "per_item"),
        Text(
            "una llamada por ítem: no se sabrá cuánto varía el motor",
            "one call per item: how much the engine varies will not be known",
        ),
        Text(
            "agregue `dispersion_sample: {items: 30, repeats: 8}`",
            "add `dispersion_sample: {items: 30, repeats: 8}`",
        ),
        Text(
            "y con `estimand: bank` la tasa sería la de esta sola corrida, no la esperada"
            if bank
            else "el informe lo dirá como limitación",
            "and with `estimand: bank` the rate would be that of this one run, not the expected one"
            if bank
            else "the report will state it as a limitation",
        ),
    )


def _judge(contract: Contract) -> Iterator[Finding]:
    judge = contract.judge
    if judge is None:
        return
    yield from lint.warned(contract)
    calibration = judge.calibration
    if judge.on_uncalibrated == "declared_limitation":
        yield Finding(
            "SLV-J030",
            ("judge", "on_uncalibrated"),
            Text("un juez sin calibrar podría decidir", "a judge without calibration could decide"),
            Text("escriba `on_uncalibrated: not_measured`", "write `on_uncalibrated: not_measured`"),
            Text(
                "sin etiquetas de personas no se sabe cuántas veces se equivoca",
                "without labels of people nobody knows how often it errs",
            ),
        )
    if calibration.annotators == 1:
        yield Finding(
            "SLV-J031",
            ("judge", "calibration", "annotators"),
            Text("una sola persona por etiqueta", "one person per label"),
            Text("use 2, o fírmelo así", "use 2, or sign it so"),
            Text("no se mide cuánto coinciden las personas", "how far people agree is not measured"),
        )
    thresholds = {criterion.threshold for criterion in judge.criteria}
    if len(judge.criteria) > 1 and len(thresholds) == 1:
        yield Finding(
            "SLV-C082",
            ("judge", "criteria"),
            Text("todos los criterios tienen el mismo umbral", "every criterion has the same threshold"),
            Text(
                "separe lo que es obligación (`compliance`, 0.9) de lo que es calidad (`quality`, 0.7)",
                "set duties (`compliance`, 0.9) apart from quality (`quality`, 0.7)",
            ),
        )


def _custody(contract: Contract) -> Iterator[Finding]:
    sample, parties = contract.evaluation_set.sample, contract.parties
    one = _folded(parties.auditor.name) == _folded(parties.custodian.name)
    if sample.method == "seeded" and one:
        yield Finding(
            "SLV-K080",
            ("evaluation_set", "sample", "method"),
            Text(
                "sorteo `seeded` con auditoría y custodia en una misma organización",
                "`seeded` draw with auditor and custodian in one organisation",
            ),
            Text("use `commit_reveal`, o separe los papeles", "use `commit_reveal`, or separate the roles"),
            Text("quien guarda el banco podría probar semillas", "who keeps the bank could try seeds"),
        )
    if contract.evaluation_set.exposure == "reuse":
        yield Finding(
            "SLV-K082",
            ("evaluation_set", "exposure"),
            Text("se permite repetir preguntas ya enviadas", "questions that were sent may be asked again"),
            Text("escriba `exposure: fresh`", "write `exposure: fresh`"),
            Text("el proveedor pudo aprenderlas", "the vendor may have learnt them"),
        )
    sizes, extend = sample_sizes(contract), contract.verdict.inconclusive
    more = extend.extend.per_stratum if isinstance(extend, Extend) else {}
    spent = [
        name
        for name, n in sizes.items()
        if contract.evaluation_set.strata[name] - n - sample.reserve - more.get(name, 0) < n
    ]
    if spent:
        name = spent[0]
        left = contract.evaluation_set.strata[name] - sizes[name]
        yield Finding(
            "SLV-K081",
            ("evaluation_set", "strata", name),
            Text(
                f"después de esta auditoría quedan {left} ítems frescos de `{name}` y la próxima pide {sizes[name]}",
                f"after this audit {left} fresh items of `{name}` are left and the next one asks {sizes[name]}",
            ),
            Text("amplíe el banco o prevea otro", "enlarge the bank or plan another one"),
        )


def _arms(contract: Contract) -> Iterator[Finding]:
    arms = contract.evaluation_set.sample.arms
    asked = sum(n > 0 for n in (arms.anchor, arms.twin, arms.probe))
    if not asked:
        return
    # Custody is loaded for contracts that ask for arms alone: a check starts light.
    from slaverify.custody import integrity

    found = integrity(
        {},
        asked_tokens=arms.probe,
        anchor_n=arms.anchor,
        fresh_n=sum(sample_sizes(contract).values()),
        base=_PLANNED_RATE,
        alpha=Fraction(contract.ledger.alpha_leak) / asked,
        pairs=arms.twin,
    )
    if arms.probe >= _LEAST_TOKENS or max(found.power, found.twin_power) >= _ENOUGH:
        return
    yield Finding(
        "SLV-K083",
        ("evaluation_set", "sample", "arms"),
        Text(
            f"las pruebas de filtración verían 10 puntos con potencia {max(found.power, found.twin_power):.2f}",
            f"the leak tests would see 10 points with power {max(found.power, found.twin_power):.2f}",
        ),
        Text("agregue cuatro señuelos (probe), o más ítems", "add four honeytokens (probe), or more items"),
        Text("que no dieran señal no diría nada", "no signal would say nothing"),
    )


def _at(tree: JsonObject, *path: str) -> JsonValue:
    node: JsonValue = tree
    for part in path:
        node = node.get(part) if isinstance(node, dict) else None
    return node


def _folded(name: str) -> str:
    return re.sub(r"\W+", "", name).casefold()
