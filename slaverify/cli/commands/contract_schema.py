"""`slaverify contract schema`: the JSON Schema that editors use."""

from __future__ import annotations

from pathlib import Path

import typer

from slaverify.cli.language import t


def register(group: typer.Typer) -> None:
    """Add the command to its group."""
    group.command(help=t("Imprime el JSON Schema del contrato.", "Print the JSON Schema of a contract."))(schema)


def schema(
    destination: Path | None = typer.Option(None, "--out", help=t("Archivo donde escribirlo.", "File to write.")),
    diff: bool = typer.Option(
        False, "--check", help=t("Compara con el archivo instalado.", "Compare with the installed file.")
    ),
) -> int:
    """Print or write the schema; with `--check`, exit 2 where the installed file is not this one."""
    from slaverify.cli.files import write_new
    from slaverify.cli.output import out, say
    from slaverify.contract.schema import schema_text
    from slaverify.resources import resource

    text = schema_text()
    if diff:
        installed = resource("contratos", "contract.schema.json")
        if installed.read_text(encoding="utf-8") == text:
            say(t("al día", "current"))
            return 0
        say(t(f"no está al día: {installed}", f"not current: {installed}"))
        return 2
    if destination is not None:
        write_new(destination, text.encode())
        return 0
    out(text.rstrip("\n"))
    return 0
