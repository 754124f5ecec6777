"""The bank, its strata and the draw; the method's profile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from slaverify.contract.blocks import Blocks
from slaverify.contract.findings import Finding, Path
from slaverify.contract.model.bank import DispersionSample, EvaluationSet, Method
from slaverify.contract.model.metrics import Extend
from slaverify.contract.profiles import PROFILES
from slaverify.contract.shape import nearest
from slaverify.errors import Text

_BANK = "evaluation_set"
_CELLS = (
    ("correct", "partial", "incorrect", "no_answer"),
    ("grounded", "misgrounded", "ungrounded", "not_applicable"),
)


def findings(blocks: Blocks) -> Iterator[Finding]:
    """Yield the problems of the bank, of the draw and of the method."""
    bank = blocks.evaluation_set
    if bank is not None:
        yield from _strata(bank)
        yield from _sample(bank)
        yield from _weights(bank)
        yield from _frame(blocks, bank)
        yield from _extend(blocks, bank)
        if blocks.repetitions is not None and blocks.repetitions.dispersion_sample is not None:
            yield from _dispersion(bank, blocks.repetitions.dispersion_sample)
    if blocks.method is not None:
        yield from _profile(blocks.method)
        if bank is not None:
            yield from _named_strata(blocks.method, bank)


def _dispersion(bank: EvaluationSet, agreed: DispersionSample) -> Iterator[Finding]:
    """Two items called twice are the least that varies; what is asked again is of the sample."""
    sample = bank.sample
    sizes = bank.strata if sample.method == "full" or sample.per_stratum is None else sample.per_stratum
    most = sum(sizes.values())
    for name, value, top in (("items", agreed.items, most), ("repeats", agreed.repeats, None)):
        if value < 2 or (top is not None and value > top):
            yield Finding(
                "SLV-C018",
                ("repetitions", "dispersion_sample", name),
                Text(f"`{name}: {value}` no mide dispersión", f"`{name}: {value}` measures no dispersion"),
                Text(f"escriba de 2 a {top}", f"write 2 to {top}")
                if top is not None
                else Text("escriba 2 o más; 8 es usual", "write 2 or more; 8 is usual"),
            )


def _strata(bank: EvaluationSet) -> Iterator[Finding]:
    total = sum(bank.strata.values())
    if total != bank.size:
        yield Finding(
            "SLV-C020",
            (_BANK, "size"),
            Text(f"los estratos suman {total}, no {bank.size}", f"the strata sum to {total}, not {bank.size}"),
            Text(f"escriba `size: {total}` o corrija los estratos", f"write `size: {total}` or mend the strata"),
        )
    if "probe" in bank.strata:
        yield Finding(
            "SLV-C023",
            (_BANK, "strata", "probe"),
            Text("el estrato `probe` no entra en el contrato", "the stratum `probe` does not stand in the contract"),
            Text("bórrelo y réstelo de `size`", "delete it and take it off `size`"),
            at_key=True,
        )


def _sample(bank: EvaluationSet) -> Iterator[Finding]:
    sample = bank.sample
    if sample.method == "full":
        if sample.per_stratum is not None:
            yield Finding(
                "SLV-C021",
                (_BANK, "sample", "per_stratum"),
                Text("con `method: full` se usan todos los ítems", "with `method: full` every item is used"),
                Text("borre `per_stratum` o sortee con `seeded`", "delete `per_stratum` or draw with `seeded`"),
                at_key=True,
            )
        return
    if not sample.per_stratum:
        yield Finding(
            "SLV-C021",
            (_BANK, "sample"),
            Text("falta cuántos ítems se sortean por estrato", "how many items are drawn per stratum is missing"),
            Text("agregue `per_stratum: {estrato: n}`", "add `per_stratum: {stratum: n}`"),
            at_key=True,
        )
        return
    for name, drawn in sample.per_stratum.items():
        path: Path = (_BANK, "sample", "per_stratum", name)
        size = bank.strata.get(name)
        if size is None:
            yield unknown_stratum(path, name, bank.strata)
        elif drawn > size:
            yield Finding(
                "SLV-C022",
                path,
                Text(
                    f"se piden {drawn} ítems de `{name}` y hay {size}",
                    f"{drawn} items of `{name}` are asked, {size} exist",
                ),
                Text(f"baje a {size} o amplíe el banco", f"lower it to {size} or enlarge the bank"),
            )
        elif drawn + sample.reserve > size:
            yield Finding(
                "SLV-C022",
                path,
                Text(
                    f"muestra y reserva de `{name}` suman {drawn + sample.reserve} y hay {size}",
                    f"sample and reserve of `{name}` sum to {drawn + sample.reserve}, {size} exist",
                ),
                Text("baje la muestra o la reserva", "lower the sample or the reserve"),
            )


def _weights(bank: EvaluationSet) -> Iterator[Finding]:
    if bank.weights is None:
        return
    for name in bank.weights:
        if name not in bank.strata:
            yield unknown_stratum((_BANK, "weights", name), name, bank.strata)
    total = sum(bank.weights.values(), Decimal(0))
    if total != 1:
        yield Finding(
            "SLV-C020",
            (_BANK, "weights"),
            Text(f"los pesos suman {total}, no 1", f"the weights sum to {total}, not 1"),
            Text("corríjalos o bórrelos (proporcionales)", "mend them or delete them (proportional)"),
            at_key=True,
        )


def _frame(blocks: Blocks, bank: EvaluationSet) -> Iterator[Finding]:
    promised = [bank.estimand, *(metric.estimand for metric in blocks.metrics if metric is not None)]
    if bank.frame is None and "population" in promised:
        yield Finding(
            "SLV-C010",
            (_BANK,),
            Text("falta `evaluation_set.frame`", "`evaluation_set.frame` is missing"),
            Text(
                "diga de qué preguntas habla la tasa: `frame: {population, source, selection}`",
                "say which questions the rate speaks of: `frame: {population, source, selection}`",
            ),
            Text(
                "con `estimand: population` se promete algo sobre preguntas que no están en el banco",
                "with `estimand: population` something is promised about questions that are not in the bank",
            ),
            at_key=True,
        )


def _extend(blocks: Blocks, bank: EvaluationSet) -> Iterator[Finding]:
    verdict = blocks.verdict
    if verdict is None:
        return
    sequential = isinstance(verdict.inconclusive, Extend) or verdict.early_stop is not None
    if sequential and bank.sample.release != "at_start":
        yield Finding(
            "SLV-C045",
            (_BANK, "sample"),
            Text(
                "un diseño secuencial necesita las referencias al inicio",
                "a sequential design needs the references at the start",
            ),
            Text("escriba `release: at_start`", "write `release: at_start`"),
            at_key=True,
        )
    if isinstance(verdict.inconclusive, Extend):
        for name in verdict.inconclusive.extend.per_stratum:
            if name not in bank.strata:
                yield unknown_stratum(("verdict", "inconclusive", "extend", "per_stratum", name), name, bank.strata)


def _profile(method: Method) -> Iterator[Finding]:
    if method.profile not in PROFILES:
        near = nearest(method.profile, tuple(PROFILES))
        listed = ", ".join(PROFILES)
        yield Finding(
            "SLV-C043",
            ("method", "profile"),
            Text(f"perfil desconocido: {method.profile}", f"unknown profile: {method.profile}"),
            Text(f"¿quiso decir `{near}`?", f"did you mean `{near}`?")
            if near
            else Text(f"use uno de: {listed}", f"use one of: {listed}"),
        )
    if method.profile == "trajectory@1" and method.trajectory is None:
        yield Finding(
            "SLV-C010",
            ("method",),
            Text("falta `method.trajectory`", "`method.trajectory` is missing"),
            Text(
                "el perfil trajectory@1 necesita `trajectory: {state_contract_digest: …}`",
                "profile trajectory@1 needs `trajectory: {state_contract_digest: …}`",
            ),
            at_key=True,
        )
    if isinstance(method.verdict_table, dict):
        rows, columns = _CELLS
        cells = {(row, column) for row, cells in method.verdict_table.items() for column in cells}
        if cells != {(row, column) for row in rows for column in columns}:
            yield Finding(
                "SLV-C016",
                ("method", "verdict_table"),
                Text("la tabla no tiene las 16 celdas", "the table does not have the 16 cells"),
                Text(
                    f"filas {', '.join(rows)}; columnas {', '.join(columns)}",
                    f"rows {', '.join(rows)}; columns {', '.join(columns)}",
                ),
            )


def _named_strata(method: Method, bank: EvaluationSet) -> Iterator[Finding]:
    for name in method.rules or {}:
        if name not in bank.strata:
            yield unknown_stratum(("method", "rules", name), name, bank.strata)
    for index, name in enumerate(method.judge_stage.strata):
        if name not in bank.strata:
            yield unknown_stratum(("method", "judge_stage", "strata", index), name, bank.strata)


def unknown_stratum(path: Path, name: str, known: Iterable[str]) -> Finding:
    """Return the finding of a stratum that the bank does not have."""
    names = tuple(known)
    near = nearest(name, names)
    listed = ", ".join(names)
    return Finding(
        "SLV-C023",
        path,
        Text(f"estrato desconocido: {name}", f"unknown stratum: {name}"),
        Text(f"¿quiso decir `{near}`?", f"did you mean `{near}`?")
        if near
        else Text(f"los estratos del banco son: {listed}", f"the strata of the bank are: {listed}"),
        at_key=isinstance(path[-1], str),
    )
