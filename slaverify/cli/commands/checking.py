"""`slaverify verify`: anybody, offline."""

from __future__ import annotations

from pathlib import Path

import typer

from slaverify.cli.language import language, t
from slaverify.cli.output import emit, out


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(help=t("Verifica un informe o un paquete, sin red.", "Verify a report or a bundle, offline."))(verify)


def verify(
    files: list[Path] = typer.Argument(
        ..., metavar="FILE...", help=t("PDF, paquete, o ambos.", "PDF, bundle or both.")
    ),
    contract: Path | None = typer.Option(None, "--contract", help=t("Contrato que usted tiene.", "Your contract.")),
    contract_digest: str = typer.Option("", "--contract-digest", help=t("Digest del contrato.", "Contract digest.")),
    auditor_spki: str = typer.Option("", "--auditor-spki", help=t("Huella de la clave (hex).", "Key digest (hex).")),
    tsa_root: list[Path] = typer.Option([], "--tsa-root", help=t("Raíz de la TSA (PEM).", "TSA root (PEM).")),
    bundle: Path | None = typer.Option(None, "--bundle", help=t("Paquete de evidencia.", "Evidence bundle.")),
    checkpoint: Path | None = typer.Option(None, "--checkpoint", help=t("Punto de control ajeno.", "Checkpoint.")),
    run: str = typer.Option("", "--run", help=t("Corrida esperada.", "Expected run.")),
    report_id: str = typer.Option("", "--report-id", help=t("Informe esperado.", "Expected report.")),
    crl: list[Path] = typer.Option([], "--crl", help=t("Lista de revocación (DER).", "Revocation list (DER).")),
    identity: Path | None = typer.Option(None, "--identity", help=t("Identidad age del anexo.", "Identity of annex.")),
    rerender: bool = typer.Option(False, "--rerender", help=t("Dibuja otra vez y compara.", "Render and compare.")),
    strict: bool = typer.Option(False, "--strict", help=t("Exige también V20.", "Require V20 as well.")),
    allow_demo: bool = typer.Option(False, "--allow-demo", help=t("Acepta claves de demostración.", "Accept demo.")),
    exit_verdict: bool = typer.Option(False, "--exit-verdict", help=t("Sale con el veredicto.", "Exit by verdict.")),
    as_html: bool = typer.Option(False, "--html", help=t("Una página HTML.", "One HTML page.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Verify, print every check, and exit by the verification (or by the verdict once verified)."""
    from slaverify.cli.checks import Pinned, open_files, verify_files
    from slaverify.cli.wiring import now
    from slaverify.errors import ApplicationError, Text
    from slaverify.verify import render_html, render_text

    if as_html and as_json:
        raise ApplicationError(
            "SLV-A001",
            Text("un documento HTML o uno JSON, no ambos", "one HTML or one JSON document, not both"),
            fix=Text("quite --html o --json", "drop --html or --json"),
            where="--html",
        )
    found = verify_files(
        open_files([*files, *([bundle] if bundle else [])]),
        Pinned(
            contract=contract,
            contract_digest=contract_digest,
            auditor_spki=auditor_spki,
            tsa_roots=tuple(tsa_root),
            checkpoint=checkpoint,
            run_id=run,
            report_id=report_id,
            crls=tuple(crl),
        ),
        now(),
        identity=identity,
        rerender=rerender,
        strict=strict,
        allow_demo=allow_demo,
    )
    if as_html:
        out(render_html(found, language()).rstrip("\n"))
    elif as_json:
        emit(found.to_json(language()))
    else:
        out(render_text(found, language()).rstrip("\n"))
    return found.verdict_exit_code if exit_verdict else found.exit_code
