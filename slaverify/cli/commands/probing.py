"""Around a run: what it would send, its journal as files, its early end, what is ignored of the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

if TYPE_CHECKING:
    from slaverify.audit.walk import Progressed
    from slaverify.run.forecast import Forecast

EXPORT = "export"
"""Folder of a run's `private/` that receives the rows of its journal."""


def say_ignored_proxies() -> None:
    """Name the proxy variables of the environment: a proxy is used only if the contract names it."""
    from slaverify.engine.wire import environment_proxies

    found = environment_proxies(tuple(os.environ))
    if found:
        names = ", ".join(found)
        say(
            t(
                f"se ignoran las variables de proxy del entorno ({names}): solo vale endpoint.proxy",
                f"proxy variables of the environment are ignored ({names}): only endpoint.proxy counts",
            )
        )


def needed(options: Mapping[str, object]) -> None:
    """Refuse a command that lacks an option. Raises: typer.BadParameter (exit 2)."""
    missing = next((name for name, value in options.items() if not value), None)
    if missing is not None:
        raise typer.BadParameter(t(f"falta la opción {missing}", f"missing option {missing}"))


def show_dry_run(contract: Path, latency: str, price: str, as_json: bool) -> int:
    """Show one request and the size of the run; nothing is sent, nothing private is opened, no secret is read."""
    from slaverify.contract.load import load_contract
    from slaverify.engine import compile_endpoint
    from slaverify.engine.plugins import load_plugins
    from slaverify.run.forecast import forecast
    from slaverify.trajectory.loop import tool_probe

    model = load_contract(contract).model
    load_plugins(model.method.plugins)
    found = forecast(
        model,
        compile_endpoint(model),
        latency_s=_decimal("--latency", latency),
        price=_decimal("--price", price),
        tools=tool_probe(model),
    )
    say_ignored_proxies()
    if as_json:
        emit(found.to_json())
        return 0
    for line in forecast_lines(found):
        out(line)
    return 0


def forecast_lines(found: Forecast) -> list[str]:
    """Return a forecast as lines for people."""
    lines = [f"{found.method} {found.url}"]
    lines += [f"{name}: {value}" for name, value in found.headers]
    lines += ["", found.body.decode("utf-8"), ""]
    lines.append(
        t(
            f"{found.items} ítems, {found.exchanges} preguntas (a lo más {found.most_requests} llamadas) y "
            f"{found.probes} preguntas públicas",
            f"{found.items} items, {found.exchanges} exchanges (at most {found.most_requests} calls) and "
            f"{found.probes} public probes",
        )
    )
    pace = "" if found.rate_per_s is None else f", {found.rate_per_s}/s"
    lines.append(
        t(
            f"tiempo: {_clock(found.likely_s)} si cada respuesta tarda {found.latency_s} s "
            f"({found.concurrency} a la vez{pace}); a lo más {_clock(found.longest_s)}",
            f"time: {_clock(found.likely_s)} if each answer takes {found.latency_s} s "
            f"({found.concurrency} at a time{pace}); at most {_clock(found.longest_s)}",
        )
    )
    if found.least_cost is None:
        lines.append(t(f"costo: lo paga {found.paid_by}; indique --price", f"cost: {found.paid_by} pays; give --price"))
    else:
        lines.append(
            t(
                f"costo: de {found.least_cost} a {found.most_cost}; lo paga {found.paid_by}",
                f"cost: {found.least_cost} to {found.most_cost}; {found.paid_by} pays",
            )
        )
    lines.append(t("no se envió nada", "nothing was sent"))
    return lines


def export_rows(run_folder: Path, as_json: bool) -> int:
    """Write what the journal of a run holds, as it stands, to its private folder; nothing is deleted from it."""
    from slaverify.audit.opening import journal_path, plan_of
    from slaverify.audit.session import contract_of_run
    from slaverify.engine import compile_endpoint
    from slaverify.engine.plugins import load_plugins
    from slaverify.errors import ApplicationError, Text
    from slaverify.run import rules_of
    from slaverify.run.journal import Journal
    from slaverify.run.runner import export_run
    from slaverify.trajectory.loop import has_tools

    folder = run_folder.resolve()
    model = contract_of_run(folder).model
    if has_tools(model):
        raise ApplicationError(
            "SLV-A034",
            Text("las filas de un motor con herramientas se escriben al terminar", "written when the run has ended"),
            why=Text("sus turnos se recorren con el contrato de estado", "its turns need the state contract"),
            where=str(folder),
        )
    load_plugins(model.method.plugins)
    target = folder / "private" / EXPORT
    with Journal.open(journal_path(folder)) as journal:
        export_run(journal, compile_endpoint(model), rules_of(model), plan_of(folder), target)
        summary = journal.summary()
    if as_json:
        counts = {outcome.value: count for outcome, count in sorted(summary.outcomes.items())}
        emit({"type": "slaverify/export/1", "folder": str(target), "state": summary.state, "outcomes": counts})
        return 0
    out(
        t(
            f"{summary.done} de {summary.planned} preguntas hechas, {summary.attempts} intentos: {target}",
            f"{summary.done} of {summary.planned} exchanges done, {summary.attempts} attempts: {target}",
        )
    )
    return 0


def close_blocked(run_folder: Path) -> Progressed:
    """End the run of a folder, which the vendor blocks, and say how far the line is."""
    from slaverify.audit.walk import close
    from slaverify.cli.wiring import session_of_run

    return close(*session_of_run(run_folder))


def _decimal(option: str, text: str) -> Decimal | None:
    if not text:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or value <= 0 or value >= Decimal("1e9"):
        raise typer.BadParameter(t(f"{option}: un decimal mayor que 0", f"{option}: a decimal above 0"))
    return value


def _clock(seconds: int) -> str:
    return f"{seconds // 3600}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"
