"""`slaverify contract plan`: what carrying out a contract takes."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slaverify.canonical import JsonObject
    from slaverify.readiness import Readiness, WorkPlan


def register(group: typer.Typer) -> None:
    """Add the command to its group."""
    group.command(
        help=t(
            "Cuántas llamadas, etiquetas, tiempo y dinero pide una auditoría.",
            "How many calls, labels, how much time and money an audit takes.",
        )
    )(plan)


def plan(
    file: Path = typer.Argument(..., help=t("Contrato.", "Contract.")),
    answer_s: str = typer.Option(
        "5", "--answer-s", help=t("Segundos por respuesta, supuestos.", "Seconds per answer.")
    ),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Print the work of one audit and the power that it buys."""
    from slaverify.cli.commands.contract_table import readiness_json, table
    from slaverify.cli.wiring import now
    from slaverify.contract.load import load_contract
    from slaverify.readiness import examine, work_plan

    try:
        seconds = Decimal(answer_s.replace(",", "."))
    except InvalidOperation as error:
        raise typer.BadParameter(t(f"no es un número: {answer_s}", f"not a number: {answer_s}")) from error
    if not seconds.is_finite() or seconds <= 0:
        raise typer.BadParameter(t(f"tiene que ser mayor que 0: {answer_s}", f"has to be above 0: {answer_s}"))
    loaded = load_contract(file)
    work, seen = work_plan(loaded.model, now(), seconds), examine(loaded, now())
    if as_json:
        emit({"type": "slaverify/contract-plan/1", "work": _json(work), "readiness": readiness_json(seen)})
        return 0
    out(f"{loaded.model.contract.id} v{loaded.model.contract.version}")
    for line in (*_lines(work, seconds), *table(seen, curves=False), *_missing(seen)):
        out(line)
    return 0


def _lines(work: WorkPlan, answer_s: Decimal) -> Iterator[str]:
    minutes = work.exchange_s / 60
    yield t(
        f"   {work.items} preguntas, {work.calls} llamadas (hasta {work.most_calls} con reintentos y segunda etapa)",
        f"   {work.items} questions, {work.calls} calls (at most {work.most_calls}, with retries and a second stage)",
    )
    yield t(
        f"   unos {minutes:.0f} minutos de intercambio, a {answer_s} s por respuesta",
        f"   about {minutes:.0f} minutes of exchanges, at {answer_s} s an answer",
    )
    if work.judge_calls:
        cost = "" if work.judge_cost is None else t(f", costo {work.judge_cost}", f", cost {work.judge_cost}")
        yield t(
            f"   {work.judged_items} respuestas al juez, unas {work.judge_calls} llamadas{cost}",
            f"   {work.judged_items} answers to the judge, about {work.judge_calls} calls{cost}",
        )
        yield t(
            f"   {work.labels} etiquetas de personas, unas {work.label_hours:.0f} horas",
            f"   {work.labels} labels of people, about {work.label_hours:.0f} hours",
        )
    else:
        yield t("   sin juez ni etiquetas de personas", "   no judge, no labels of people")
    for burn in work.burns:
        yield t(
            f"   {burn.stratum}: cada auditoría gasta {burn.per_audit} de {burn.bank} ítems: "
            f"alcanza para {burn.audits}",
            f"   {burn.stratum}: each audit burns {burn.per_audit} of {burn.bank} items: enough for {burn.audits}",
        )
    if work.audits_until_expiry is not None:
        lasts = min((burn.audits for burn in work.burns), default=0)
        word = t("alcanza", "enough") if lasts >= work.audits_until_expiry else t("NO alcanza", "NOT enough")
        yield t(
            f"   hasta el vencimiento caben {work.audits_until_expiry} auditorías con esta cadencia: el banco {word}",
            f"   {work.audits_until_expiry} audits fit before it expires at this cadence: the bank is {word}",
        )


def _missing(seen: Readiness) -> Iterator[str]:
    for metric in seen.metrics:
        wanted = metric.to_pass.at_80
        if metric.binding and wanted is not None and wanted > metric.n:
            yield t(
                f"   {metric.id}: faltan {wanted - metric.n} preguntas para 80 % de potencia",
                f"   {metric.id}: {wanted - metric.n} questions are missing for 80 % power",
            )


def _json(work: WorkPlan) -> JsonObject:
    return {
        "items": work.items,
        "calls": work.calls,
        "most_calls": work.most_calls,
        "judged_items": work.judged_items,
        "judge_calls": work.judge_calls,
        "labels": work.labels,
        "label_hours": str(work.label_hours),
        "exchange_s": work.exchange_s,
        "judge_cost": None if work.judge_cost is None else str(work.judge_cost),
        "burns": [
            {"stratum": burn.stratum, "bank": burn.bank, "per_audit": burn.per_audit, "audits": burn.audits}
            for burn in work.burns
        ],
        "audits_until_expiry": work.audits_until_expiry,
    }
