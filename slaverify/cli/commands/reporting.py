"""`slaverify report`: close the evidence, issue the report, export it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import t
from slaverify.cli.output import say

if TYPE_CHECKING:
    from slaverify.audit.exporting import Export, Exported

_RUN = typer.Argument(..., metavar="RUN", help=t("Carpeta de la corrida.", "Folder of the run."))
KEY = typer.Option(None, "--key", help=t("Clave de firma: PEM, PKCS#12 o pkcs11:…", "Key: PEM, PKCS#12 or pkcs11:…"))
CRL = typer.Option([], "--crl", help=t("Lista de revocación que guarda B-LTA.", "Revocation list kept at B-LTA."))
_BY = typer.Option(..., "--authorized-by", help=t("Quién autoriza el informe.", "Who authorises the report."))
_EXPORT = typer.Option("", "--export", help=t("También: dsse, receipt (con coma).", "Also: dsse, receipt (comma)."))
_JSON = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document."))


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(help=t("Cierra la evidencia y emite el informe.", "Close the evidence; issue the report."))(report)


def report(
    run_folder: Path = _RUN,
    authorized_by: str = _BY,
    key: str | None = KEY,
    crl: list[Path] = CRL,
    export: str = _EXPORT,
    as_json: bool = _JSON,
) -> int:
    """Close the evidence and issue the report in each language of the contract."""
    from slaverify.audit.exporting import export_report
    from slaverify.audit.walk import Step, check_signatory, go, progress_of
    from slaverify.cli.verdicts import show_verdict
    from slaverify.cli.wiring import session_of_run

    kinds = _kinds(export)
    session, number = session_of_run(run_folder, key, crl)
    check_signatory(session, authorized_by)
    go(session, number, Step.REPORT)
    code = show_verdict(progress_of(session, number), as_json)
    return max(code, _say_exported(export_report(session, number, kinds))) if kinds else code


def _kinds(words: str) -> frozenset[Export]:
    """Read `--export`. Raises: ApplicationError SLV-A001 for a word that is none."""
    from slaverify.audit.exporting import Export
    from slaverify.errors import ApplicationError, Text

    named = [word.strip() for word in words.split(",") if word.strip()]
    known = {kind.value: kind for kind in Export}
    if unknown := [word for word in named if word not in known]:
        raise ApplicationError(
            "SLV-A001",
            Text(f"no se exporta a: {', '.join(unknown)}", f"no such export: {', '.join(unknown)}"),
            fix=Text(f"use {', '.join(known)}", f"use {', '.join(known)}"),
            where="--export",
        )
    return frozenset(known[word] for word in named)


def _say_exported(done: Exported) -> int:
    """Name the files, how to check them, and which metric has no receipt; 3 if there is such a one."""
    from slaverify.cli.verdicts import state_words

    for path in done.files:
        say(t(f"exportado: {path}", f"exported: {path}"))
    for line in done.commands:
        say(f"  {line}")
    for one in done.missing:
        say(
            t(
                f"sin recibo: {one.metric} está {state_words(one.state)}, y un recibo solo dice sí o no",
                f"no receipt: {one.metric} is {state_words(one.state)}, and a receipt only says yes or no",
            )
        )
    return 3 if done.missing else 0
