"""The commands and their help. Nothing heavy is imported here: `--help` has to answer at once."""

from __future__ import annotations

import typer

from slaverify.cli.commands import (
    bank,
    checking,
    comparing,
    contracts,
    criteria,
    custody,
    demo,
    extracting,
    history,
    import_traces,
    keys,
    labels,
    line,
    rehearsing,
)
from slaverify.cli.language import t

app = typer.Typer(
    name="slaverify",
    help=t(
        "Verifica el SLA de exactitud de un proveedor de IA: contrato, banco en custodia, corrida, decisión, informe "
        "firmado y verificación sin red.",
        "Verifies the accuracy SLA of an AI vendor: contract, escrowed bank, run, decision, signed report and offline "
        "verification.",
    ),
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        from slaverify.version import __version__

        typer.echo(f"slaverify {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help=t("Muestra la versión.", "Show the version.")
    ),
) -> None:
    pass


app.add_typer(contracts.group, name="contract")
app.add_typer(bank.group, name="bank")
app.add_typer(custody.group, name="custody")
app.add_typer(keys.group, name="keys")
app.add_typer(labels.group, name="label")
app.add_typer(criteria.group, name="criteria")
line.register(app)
labels.register(app)
checking.register(app)
extracting.register(app)
comparing.register(app)
history.register(app)
rehearsing.register(app)
import_traces.register(app)
demo.register(app)
