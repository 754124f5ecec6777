"""The line: `audit` walks it whole; `probe`, `run`, `score`, `judge`, `decide`, `report` walk one step; `status`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.commands import reporting
from slaverify.cli.language import language, t
from slaverify.cli.output import emit, out, say
from slaverify.errors import Text

if TYPE_CHECKING:
    from slaverify.audit.session import Session
    from slaverify.audit.walk import Progressed
    from slaverify.canonical import JsonObject

_CONTRACT = typer.Argument(..., metavar="CONTRACT", help=t("Contrato congelado.", "Frozen contract."))
_BANK = typer.Option(..., "--bank", help=t("Carpeta del banco sellado.", "Folder of the sealed bank."))
_OUT = typer.Option(..., "--out", help=t("Carpeta donde queda la corrida.", "Folder for the run."))
_RESUME = typer.Option(False, "--resume", help=t("Sigue la corrida que quedó a medias.", "Go on with the run."))
_CHANGE = typer.Option(
    False, "--change-check", help=t("Compara la versión nueva; no decide el contrato.", "Compare the new version.")
)
_KEY = reporting.KEY
_CRL = reporting.CRL
_BY = typer.Option(..., "--authorized-by", help=t("Quién autoriza el informe.", "Who authorises the report."))
_RUN = typer.Argument(..., metavar="RUN", help=t("Carpeta de la corrida.", "Folder of the run."))
_CONTRACT_OR_RUN = typer.Argument(
    ...,
    metavar="CONTRACT",
    help=t("Contrato congelado; con --export o --close, carpeta.", "Frozen contract; a folder to --export or --close."),
)
_BANK_OR_NONE = typer.Option(None, "--bank", help=t("Carpeta del banco sellado.", "Folder of the sealed bank."))
_OUT_OR_NONE = typer.Option(None, "--out", help=t("Carpeta donde queda la corrida.", "Folder for the run."))
_BY_OR_NONE = typer.Option("", "--authorized-by", help=t("Quién autoriza el informe.", "Who authorises the report."))
_DRY = typer.Option(False, "--dry-run", help=t("Muestra qué se enviaría; no envía nada.", "Show; send nothing."))
_LATENCY = typer.Option("", "--latency", help=t("Segundos por respuesta, para estimar.", "Seconds an answer takes."))
_PRICE = typer.Option("", "--price", help=t("Precio por llamada, para estimar.", "Price of a call, to estimate."))
_EXPORT = typer.Option(False, "--export", help=t("Escribe las filas del diario.", "Write the journal's rows."))
_CLOSE = typer.Option(False, "--close", help=t("Cierra la que el proveedor bloquea.", "End what the vendor blocks."))
_JSON = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document."))


def register(app: typer.Typer) -> None:
    """Add the commands of the line to the application."""
    app.command(help=t("Audita: todo, del registro al informe.", "Audit: the whole line."))(audit)
    app.command(help=t("Solo las preguntas públicas previas.", "Preflight alone."))(probe)
    app.command(help=t("Registra, sortea y hace las preguntas.", "Register, draw and ask."))(run)
    app.command(help=t("Puntúa las respuestas.", "Score the answers."))(score)
    app.command(help=t("Juez independiente (si el contrato lo pide).", "Independent judge."))(judge)
    app.command(help=t("Decide según el contrato.", "Decide by the contract."))(decide)
    reporting.register(app)
    app.command(help=t("Qué está hecho, qué falta y qué escribir.", "What is done and what to type."))(status)


def audit(
    contract: Path = _CONTRACT,
    bank: Path = _BANK,
    destination: Path = _OUT,
    authorized_by: str = _BY,
    resume: bool = _RESUME,
    change: bool = _CHANGE,
    key: str | None = _KEY,
    crl: list[Path] = _CRL,
    as_json: bool = _JSON,
) -> int:
    """Walk the whole line and say the verdict; or what a change check found, which is none."""
    from slaverify.audit.walk import audit as walk
    from slaverify.cli.commands.probing import say_ignored_proxies
    from slaverify.cli.wiring import session_for
    from slaverify.contract.load import load_contract

    loaded = load_contract(contract)
    session = session_for(loaded, bank, destination, key, crls=crl)
    say_ignored_proxies()
    with _LineToType(session):
        done = walk(session, resume=resume, authorised_by=authorized_by, change=change)
    return _finish(done, as_json)


def probe(contract: Path = _CONTRACT, as_json: bool = _JSON) -> int:
    """Ask the public questions and show what the endpoint declares."""
    from slaverify.cli.commands.probing import say_ignored_proxies
    from slaverify.cli.wiring import now
    from slaverify.contract.load import load_contract
    from slaverify.engine import compile_endpoint
    from slaverify.engine.plugins import load_plugins
    from slaverify.engine.wire import read_secrets
    from slaverify.run.runner import probe_endpoint
    from slaverify.trajectory.loop import tool_probe

    say_ignored_proxies()
    model = load_contract(contract).model
    load_plugins(model.method.plugins)
    auth = model.endpoint.auth
    record = probe_endpoint(
        compile_endpoint(model), read_secrets([] if auth is None else [auth.secret]), now, tools=tool_probe(model)
    )
    if as_json:
        emit({"type": "slaverify/probe/1", **record.to_json()})
        return 0
    for one in record.probes:
        out(f"{one.outcome.value}  HTTP {one.status}  {one.version or '-'}  {one.latency_ms} ms")
    for word in record.limitations:
        say(t(f"limitación: {word}", f"limitation: {word}"))
    return 0


def run(
    contract: Path = _CONTRACT_OR_RUN,
    bank: Path | None = _BANK_OR_NONE,
    destination: Path | None = _OUT_OR_NONE,
    authorized_by: str = _BY_OR_NONE,
    resume: bool = _RESUME,
    key: str | None = _KEY,
    crl: list[Path] = _CRL,
    dry_run: bool = _DRY,
    latency: str = _LATENCY,
    price: str = _PRICE,
    export: bool = _EXPORT,
    close: bool = _CLOSE,
    as_json: bool = _JSON,
) -> int:
    """Walk to the end of the exchanges; or show what would be sent, write what a journal holds, end a blocked run."""
    from slaverify.audit.walk import Step
    from slaverify.audit.walk import audit as walk
    from slaverify.cli.commands.probing import close_blocked, export_rows, needed, say_ignored_proxies, show_dry_run
    from slaverify.cli.wiring import session_for
    from slaverify.contract.load import load_contract

    if dry_run:
        return show_dry_run(contract, latency, price, as_json)
    if export:
        return export_rows(contract, as_json)
    if close:
        return _say_progress(close_blocked(contract), as_json)
    needed({"--bank": bank, "--out": destination, "--authorized-by": authorized_by})
    assert bank is not None and destination is not None  # noqa: S101 - just asked for
    session = session_for(load_contract(contract), bank, destination, key, crls=crl)
    say_ignored_proxies()
    with _LineToType(session):
        done = walk(session, resume=resume, authorised_by=authorized_by, until=Step.RUN)
    return _say_progress(done, as_json)


def score(
    run_folder: Path = _RUN,
    explain: str = typer.Option("", "--explain", metavar="ITEM", help=t("Explica un ítem.", "Explain one item.")),
    as_json: bool = _JSON,
) -> int:
    """Score, or explain one item."""
    if explain:
        from slaverify.audit.scoring import explain as explained
        from slaverify.cli.wiring import session_of_run

        session, number = session_of_run(run_folder)
        emit({"type": "slaverify/explanation/1", "item_id": explain, "answers": explained(session, number, explain)})
        return 0
    return _walk_to(run_folder, "score", as_json)


def judge(
    run_folder: Path = _RUN,
    dry_run: bool = _DRY,
    item: str = typer.Option("", "--item", metavar="ITEM", help=t("Con --dry-run: un ítem.", "With --dry-run: one.")),
    resume: bool = _RESUME,
    more_calls: int = typer.Option(
        0, "--more-calls", min=0, metavar="N", help=t("Llamadas sobre el presupuesto.", "Calls beyond the budget.")
    ),
    only: str = typer.Option("", "--only", metavar="PART", help="sentinels, items, repeats."),
    as_json: bool = _JSON,
) -> int:
    """Ask the judge what no rule settled; what was answered before is never asked again (`--resume` says so aloud)."""
    from slaverify.cli.commands.judging import ask, show_plan

    del resume  # every call resumes: the word is accepted because all commands of the line have it
    if dry_run:
        return show_plan(run_folder, item, as_json)
    done = ask(run_folder, more_calls, only)
    if done is None:
        code = _walk_to(run_folder, "judge", as_json)
        say(t("el contrato no tiene juez: decide solo código", "the contract has no judge: code alone decides"))
        return code
    if only:
        return status(run_folder, as_json)
    return _walk_to(run_folder, "judge", as_json)


def decide(run_folder: Path = _RUN, as_json: bool = _JSON) -> int:
    """Decide and say the state of each metric."""
    from slaverify.cli.verdicts import exit_of, show_decision

    code = _walk_to(run_folder, "decide", as_json)
    if as_json:
        return code or exit_of(run_folder)
    return show_decision(run_folder)


def status(run_folder: Path = _RUN, as_json: bool = _JSON) -> int:
    """Say what is done, what waits for whom, and the exact next command."""
    from slaverify.audit.walk import progress_of
    from slaverify.cli.wiring import session_of_run

    session, number = session_of_run(run_folder)
    return _say_progress(progress_of(session, number), as_json)


def _walk_to(run_folder: Path, step: str, as_json: bool) -> int:
    from slaverify.audit.walk import Step, go, progress_of
    from slaverify.cli.wiring import session_of_run

    session, number = session_of_run(run_folder)
    go(session, number, Step(step))
    return _say_progress(progress_of(session, number), as_json)


def _say_progress(done: Progressed, as_json: bool) -> int:
    if as_json:
        emit(_progress_json(done))
        return 0
    for step in done.done:
        out(t(f"hecho     {step.value}", f"done      {step.value}"))
    if done.next is None:
        out(t("nada pendiente", "nothing is pending"))
        return 0
    who = _waits_for(done).in_language(language())
    out(t(f"sigue     {done.next.value}: espera {who}", f"next      {done.next.value}: waits for {who}"))
    out(f"  {_next_command(done)}")
    return 0


def _waits_for(done: Progressed) -> Text:
    if done.waits_for_people:
        return Text("a las personas que etiquetan", "the people who label")
    if done.reply_until is None:
        return Text("al auditor", "the auditor")
    until = done.reply_until.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Text(f"la réplica del proveedor hasta {until}", f"the vendor's reply until {until}")


def _next_command(done: Progressed) -> str:
    assert done.next is not None  # noqa: S101 - asked only where a step is next
    folder = shlex.quote(str(done.folder))
    who = t("--authorized-by NOMBRE", "--authorized-by NAME")
    if done.next.value == "run":
        from slaverify.audit.session import read_pointers

        places = read_pointers(done.folder)
        contract, bank, destination = (
            shlex.quote(str(path)) for path in (done.folder / "contract/contract.json", places["bank"], places["out"])
        )
        return f"slaverify audit {contract} --bank {bank} --out {destination} --resume {who}"
    if done.waits_for_people:
        return f"slaverify label status {folder}"
    reply = t(" --reply ARCHIVO --reply-author NOMBRE", " --reply FILE --reply-author NAME")
    tail = f"{'' if done.reply_until is None else reply} {who}" if done.next.value == "report" else ""
    return f"slaverify {done.next.value} {folder}{tail}"


def _progress_json(done: Progressed) -> JsonObject:
    return {
        "type": "slaverify/status/1",
        "run": done.number,
        "folder": str(done.folder),
        "done": [step.value for step in done.done],
        "next": None if done.next is None else done.next.value,
        "waits_for": done.waits_for,
        "command": None if done.next is None else _next_command(done),
    }


def _finish(done: Progressed, as_json: bool) -> int:
    from slaverify.cli.verdicts import show_verdict

    return show_verdict(done, as_json)


class _LineToType:
    """Adds to any refusal that can be resumed the exact line that goes on with it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from slaverify.errors import SlaverifyError

        resumable = isinstance(error, SlaverifyError) and (error.exit_code in (6, 130) or error.code == "SLV-A020")
        if isinstance(error, SlaverifyError) and resumable:
            words = [word for word in sys.argv[1:] if word != "--resume"]
            # Before a run is open there is nothing to resume: the same line again opens it.
            opened = self._session.last_run() is not None
            line = shlex.join(["slaverify", *words, *(["--resume"] if opened else [])])
            error.fix = Text(*(f"{said}: {line}" if said else line for said in error.fix))
