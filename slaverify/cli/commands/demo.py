"""`slaverify demo`: the whole line on one machine, in a fresh folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer

from slaverify.cli.language import t


class ContractKind(StrEnum):
    """Which example is walked: questions about a norm, or an agent with tools."""

    NORM = "norm"
    AGENT = "agent"


class EngineKind(StrEnum):
    """How the simulated engine behaves: how well it knows its norm, or how an agent uses its tools."""

    HONEST = "honest"
    WEAK = "weak"
    BORDERLINE = "borderline"
    CONSTANT = "constant"
    FISHING = "fishing"
    PADDING = "padding"
    LEAKING = "leaking"


_OF_NORM = (EngineKind.HONEST, EngineKind.WEAK, EngineKind.BORDERLINE)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(help=t("Demostración completa, en esta máquina.", "The whole line, on this machine."))(demo)


def demo(
    destination: Path | None = typer.Option(
        None, "--out", help=t("Carpeta nueva (por defecto, salida/demo-…).", "New folder.")
    ),
    engine: EngineKind = typer.Option(EngineKind.HONEST, "--engine", help=t("Motor simulado.", "Simulated engine.")),
    contract: ContractKind = typer.Option(
        ContractKind.NORM, "--contract", help=t("Ejemplo: norma o agente.", "Example: norm or agent.")
    ),
    lang: str = typer.Option("", "--lang", help=t("es-CL o en: un solo informe.", "es-CL or en: one report only.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Make keys, seal nothing new, audit a simulated engine, issue and verify the report."""
    from slaverify.cli.demo.show import run_demo

    if lang and lang not in ("es", "es-CL", "en"):
        raise typer.BadParameter(t("use es-CL o en", "use es-CL or en"))
    if engine is not EngineKind.HONEST and (engine in _OF_NORM) is not (contract is ContractKind.NORM):
        raise typer.BadParameter(t("ese motor es del otro ejemplo", "that engine is of the other example"))
    return run_demo(destination, engine.value, lang[:2], as_json, contract.value)
