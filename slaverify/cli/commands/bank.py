"""`slaverify bank …`: import what people bring into canonical items."""

from __future__ import annotations

from pathlib import Path

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

group = typer.Typer(
    help=t("El banco de preguntas: importar.", "The evaluation set: import."),
    rich_markup_mode=None,
    no_args_is_help=True,
)


@group.command(
    name="import", help=t("Importa preguntas a la forma canónica (JSONL).", "Import items into canonical JSONL.")
)
def import_(
    file: Path = typer.Argument(..., help=t("Archivo de origen.", "Source file.")),
    destination: Path = typer.Option(..., "--out", help=t("Archivo canónico que se crea.", "Canonical file to make.")),
    form: str = typer.Option("", "--format", help=t("jsonl o squad; si falta, se propone.", "jsonl or squad.")),
    stratum: str = typer.Option("", "--stratum", help=t("Estrato para todas.", "Stratum for all.")),
    locale: str = typer.Option("", "--locale", help=t("Locale de los ítems, p. ej. es-CL.", "Locale of the items.")),
    yes: bool = typer.Option(False, "--yes", help=t("Acepta lo propuesto.", "Accept what is proposed.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Import, show how it was read, write the canonical file."""
    from slaverify.cli.files import read, write_new
    from slaverify.evalset import import_jsonl, import_squad, write_bank

    data = read(file)
    chosen = form or _proposed(data, yes)
    if chosen == "squad":
        imported = import_squad(data, file.name, stratum=stratum or None, locale=locale or None)
    elif chosen == "jsonl":
        imported = import_jsonl(data, file.name, locale=locale or None)
    else:
        raise typer.BadParameter(t(f"formato desconocido: {chosen}", f"unknown format: {chosen}"))
    write_new(destination, write_bank(imported.items))
    report = imported.report
    if as_json:
        emit(report.to_json())
        return 0
    strata = ", ".join(f"{name} {count}" for name, count in report.strata)
    out(t(f"{report.rows_kept} ítems ({strata}) en {destination}", f"{report.rows_kept} items ({strata})"))
    say(t(f"leído como {report.format}, {report.encoding}", f"read as {report.format}, {report.encoding}"))
    say(f"{report.source_digest} -> {report.canonical_digest}")
    return 0


def _proposed(data: bytes, yes: bool) -> str:
    """Propose a format from the first bytes; it needs a yes, since nothing is guessed in silence."""
    guess = "squad" if b'"paragraphs"' in data[:4096] else "jsonl"
    if yes:
        say(t(f"formato: {guess}", f"format: {guess}"))
        return guess
    question = t(f"Parece {guess}. ¿Importar así?", f"Looks like {guess}. Import it so?")
    if not _terminal():
        from slaverify.errors import ApplicationError, Text

        raise ApplicationError(
            "SLV-A012",
            Text(f"falta el formato; parece {guess}", f"the format is missing; it looks like {guess}"),
            fix=Text(f"repita con --format {guess}", f"repeat with --format {guess}"),
        )
    if not typer.confirm(question):
        raise typer.Abort
    return guess


def _terminal() -> bool:
    import sys

    return sys.stdin.isatty()
