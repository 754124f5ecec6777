"""`slaverify report`: close the evidence, issue the report, export it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import t
from slaverify.cli.output import out, say

if TYPE_CHECKING:
    from slaverify.audit.exporting import Export, Exported
    from slaverify.audit.replying import Reply
    from slaverify.audit.session import Session

_MAX_REPLY = 64 * 1024
_MAX_PDF = 16 * 1024 * 1024

_RUN = typer.Argument(..., metavar="RUN", help=t("Carpeta de la corrida.", "Folder of the run."))
KEY = typer.Option(None, "--key", help=t("Clave de firma: PEM, PKCS#12 o pkcs11:…", "Key: PEM, PKCS#12 or pkcs11:…"))
_LANG = typer.Option("", "--lang", help=t("Solo en este idioma (es, en).", "In this language alone (es, en)."))
_OUT = typer.Option(None, "--out", help=t("Copia del PDF emitido (archivo nuevo).", "Copy of the PDF (a new file)."))
_TSA = typer.Option([], "--tsa", help=t("URL de sellado que se prueba primero.", "Timestamp URL to try first."))
CRL = typer.Option([], "--crl", help=t("Lista de revocación que guarda B-LTA.", "Revocation list kept at B-LTA."))
_BY = typer.Option(..., "--authorized-by", help=t("Quién autoriza el informe.", "Who authorises the report."))
_DRAFT = typer.Option(False, "--draft", help=t("Solo el borrador para el proveedor.", "The vendor's draft alone."))
_REPLY = typer.Option(None, "--reply", help=t("Réplica del proveedor (texto).", "The vendor's reply (text)."))
_AUTHOR = typer.Option("", "--reply-author", help=t("Quién firma la réplica.", "Who replies."))
_REFUSED = typer.Option(False, "--reply-refused", help=t("El proveedor no replica.", "The vendor will not reply."))
_OPINION = typer.Option(None, "--opinion", help=t("Opinión de quien autoriza (texto).", "Signatory's opinion (text)."))
_AMENDS = typer.Option(None, "--amends", help=t("Emite una enmienda de este PDF.", "Amend this issued PDF."))
_REASON = typer.Option("", "--reason", help=t("Por qué se enmienda.", "Why it is amended."))
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
    lang: str = _LANG,
    to: Path | None = _OUT,
    tsa: list[str] = _TSA,
    draft: bool = _DRAFT,
    reply: Path | None = _REPLY,
    reply_author: str = _AUTHOR,
    reply_refused: bool = _REFUSED,
    opinion: Path | None = _OPINION,
    amends: Path | None = _AMENDS,
    reason: str = _REASON,
    export: str = _EXPORT,
    as_json: bool = _JSON,
) -> int:
    """Close the evidence and issue the report in each language of the contract; or only make its draft."""
    from slaverify.audit.exporting import export_report
    from slaverify.audit.replying import add_opinion, add_reply
    from slaverify.audit.reporting import in_language
    from slaverify.audit.walk import Step, check_signatory, go, progress_of
    from slaverify.cli.verdicts import show_verdict
    from slaverify.cli.wiring import session_of_run

    kinds = _kinds(export)
    session, number = session_of_run(run_folder, key, crl, tsa)
    session = in_language(session, lang) if lang else session
    check_signatory(session, authorized_by)
    if opinion is not None:
        add_opinion(session, number, authorized_by, _words(opinion, _MAX_REPLY))
    if draft:
        go(session, number, Step.DECIDE)
        return _draft(session, number)
    if amends is not None:
        return _amend(session, number, amends, reason)
    if given := _reply(reply, reply_author, reply_refused):
        add_reply(session, number, given)
    go(session, number, Step.REPORT)
    if to is not None:
        _copy(session, number, to)
    code = show_verdict(progress_of(session, number), as_json)
    return max(code, _say_exported(export_report(session, number, kinds))) if kinds else code


def _copy(session: Session, number: int, to: Path) -> None:
    """Write the PDF just issued to a file of the caller's. Raises: ApplicationError SLV-A001 if there are several."""
    from slaverify.audit.reporting import issue_reports
    from slaverify.cli.files import read, write_new
    from slaverify.errors import ApplicationError, Text

    issued = issue_reports(session, number)
    if len(issued) > 1:
        raise ApplicationError(
            "SLV-A001",
            Text("el informe tiene varios idiomas: un archivo por idioma", "there are several languages: a file each"),
            fix=Text("agregue --lang", "add --lang"),
            where="--out",
        )
    write_new(to, read(issued[0].path, _MAX_PDF))
    out(t(f"Copia: {to}", f"Copy: {to}"))


def _amend(session: Session, number: int, pdf: Path, reason: str) -> int:
    from slaverify.audit.alone import alone
    from slaverify.audit.amending import amend_report
    from slaverify.cli.files import read
    from slaverify.cli.verdicts import show_decision

    with alone(session.run_folder(number) / "private"):
        issued = amend_report(session, number, read(pdf, _MAX_PDF), reason)
    code = show_decision(issued[0].path.parent.parent)
    for one in issued:
        out(t(f"Informe enmendado: {one.path}", f"Amended report: {one.path}"))
    return code


def _draft(session: Session, number: int) -> int:
    from slaverify.audit.replying import draft_reports, reply_deadline

    for path in draft_reports(session, number):
        out(t(f"Borrador: {path}", f"Draft: {path}"))
    until = reply_deadline(session, number)
    if until is not None:
        when = until.strftime("%Y-%m-%dT%H:%M:%SZ")
        say(t(f"el proveedor puede replicar hasta {when}", f"the vendor may reply until {when}"))
    return 0


def _reply(path: Path | None, author: str, refused: bool) -> Reply | None:
    """Read the reply, with its signature if `<file>.p7s` stands beside it. Raises: ApplicationError."""
    from slaverify.audit.replying import Reply
    from slaverify.cli.files import read
    from slaverify.errors import ApplicationError, Text

    if path is None and not refused:
        return None
    if not author or (path is not None and refused):
        raise ApplicationError(
            "SLV-A001",
            Text("una réplica tiene autor, y es texto o rechazo", "a reply has an author, and is a text or a refusal"),
            fix=Text("agregue --reply-author NOMBRE", "add --reply-author NAME"),
            where="--reply",
        )
    if path is None:
        return Reply(author, None)
    words = _words(path, _MAX_REPLY)
    signature = path.with_name(f"{path.name}.p7s")
    return Reply(author, words, read(signature, _MAX_REPLY) if signature.is_file() else None)


def _words(path: Path, limit: int) -> str:
    """Read a text of a person. Raises: ApplicationError SLV-A011."""
    from slaverify.cli.files import read
    from slaverify.errors import ApplicationError, Text

    try:
        return read(path, limit).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ApplicationError("SLV-A011", Text("no es texto UTF-8", "not UTF-8 text"), where=str(path)) from error


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
