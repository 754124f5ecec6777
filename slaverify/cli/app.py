"""The commands and their help. Nothing heavy is imported here: `--help` has to answer at once."""

from __future__ import annotations

import typer

from slaverify.cli.commands import (
    checking,
    comparing,
    criteria,
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
from slaverify.cli.later import later

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


def _contract() -> typer.Typer:
    from slaverify.cli.commands.contracts import group

    return group


def _bank() -> typer.Typer:
    from slaverify.cli.commands.bank import group

    return group


def _custody() -> typer.Typer:
    from slaverify.cli.commands.custody import group

    return group


_CONTRACT = t(
    "El contrato: redactar, revisar, explicar, planificar, congelar, firmar.",
    "The contract: draft, check, explain, plan, freeze, sign.",
)
_BANK = t(
    "El banco de preguntas: importar, derivar, revisar, exportar, planilla, catálogo.",
    "The evaluation set: import, derive, check, export, template, catalogue.",
)
_CUSTODY = t("La custodia del banco: sellar, mirar, verificar.", "The escrow: seal, inspect, verify.")
app.add_typer(later(_contract, _CONTRACT), name="contract")
app.add_typer(later(_bank, _BANK), name="bank")
app.add_typer(later(_custody, _CUSTODY), name="custody")
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
