"""`slaverify label …` and `slaverify calibrate`: sheets for people, what they said, may the judge be used?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.canonical import JsonObject, JsonValue
from slaverify.cli.commands.labels_shown import block, figure_lines, gate_lines, subjects_of
from slaverify.cli.language import language, t
from slaverify.cli.output import emit, out, say

if TYPE_CHECKING:
    from slaverify.audit.labelling import Labelling

group = typer.Typer(
    help=t("Etiquetas de personas: hojas ciegas, de ida y de vuelta.", "Labels of people: blind sheets out and in."),
    rich_markup_mode=None,
    no_args_is_help=True,
)
_RUN = typer.Argument(..., metavar="RUN", help=t("Carpeta de la corrida.", "Folder of the run."))
_WHO = typer.Option(..., "--annotator", metavar="ID", help=t("Quién etiqueta.", "Who labels."))
_JSON = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document."))


def register(app: typer.Typer) -> None:
    """Add `calibrate` to the application."""
    app.command(help=t("Cierra las etiquetas y dice si el juez sirve.", "Close the labels; may the judge be used?"))(
        calibrate
    )


@group.command(name="export", help=t("Escribe la hoja ciega de una persona.", "Write a person's blind sheet."))
def export(
    run_folder: Path = _RUN,
    annotator: str = _WHO,
    form: str = typer.Option("xlsx", "--format", help="xlsx, csv, html."),
    organisation: str = typer.Option("", "--org", help=t("Su organización.", "Their organisation.")),
    destination: Path | None = typer.Option(None, "--out", help=t("Archivo que se crea.", "File to make.")),
    development: list[Path] = typer.Option(
        [],
        "--development",
        help=t("Conjunto con que se redactaron criterios.", "Set that criteria were drafted on."),
    ),
    lang: str = typer.Option("", "--lang", help="es, en."),
    as_json: bool = _JSON,
) -> int:
    """Write the sheet. The first people read, the next one settles their differences."""
    from slaverify.audit.alone import alone
    from slaverify.audit.labelling import FORMATS, export_sheet
    from slaverify.cli.files import read, write_new
    from slaverify.cli.wiring import session_of_run
    from slaverify.judging.calibration import instructions, read_questions

    if form not in FORMATS:
        raise typer.BadParameter(t(f"formato: {form}", f"format: {form}"))
    developed = [question for path in development for question in read_questions(read(path), path.name)]
    session, number = session_of_run(run_folder)
    with alone(session.run_folder(number) / "private"):
        made = export_sheet(session, number, annotator, organisation, form, lang or language(), developed)
    path = destination or Path(f"{run_folder.resolve().name}.labels-{made.reader.number}.{form}")
    write_new(path, made.data)
    if as_json:
        emit(
            {
                "type": "slaverify/label-export/1",
                "reader": made.reader.number,
                "adjudicates": made.reader.adjudicates,
                "rows": made.rows,
                "file": str(path),
            }
        )
        return 0
    out(str(path))
    say(t(f"{made.rows} filas para {annotator}", f"{made.rows} rows for {annotator}"))
    if form == "csv":
        for line in instructions(session.contract.model, lang or language()):
            say(f"  {line}")
    back = f"slaverify label import {run_folder} {path} --annotator {_quoted(annotator)}"
    say(t(f"cuando vuelva: {back}", f"when it is back: {back}"))
    return 0


@group.command(name="import", help=t("Lee la hoja que volvió.", "Read the sheet that came back."))
def import_(
    run_folder: Path = _RUN,
    file: Path = typer.Argument(..., metavar="FILE", help=t("Hoja CSV o XLSX.", "CSV or XLSX sheet.")),
    annotator: str = _WHO,
    as_json: bool = _JSON,
) -> int:
    """Read a sheet; rows that are not whole stay pending."""
    from slaverify.audit.alone import alone
    from slaverify.audit.labelling import import_sheet
    from slaverify.cli.files import read
    from slaverify.cli.wiring import session_of_run
    from slaverify.judging.calibration import MAX_BYTES

    session, number = session_of_run(run_folder)
    with alone(session.run_folder(number) / "private"):
        found = import_sheet(session, number, annotator, read(file, MAX_BYTES), file.name)
    if as_json:
        emit(
            {
                "type": "slaverify/label-import/1",
                "reader": found.reader.number,
                "labels": found.labels,
                "pending": list(found.pending),
                "state": "in_progress" if found.pending else "complete",
            }
        )
        return 0
    out(t(f"{found.labels} etiquetas de {annotator}", f"{found.labels} labels of {annotator}"))
    if found.pending:
        rows = ", ".join(found.pending[:5]) + (", …" if len(found.pending) > 5 else "")
        out(t(f"quedan {len(found.pending)} filas: {rows}", f"{len(found.pending)} rows are left: {rows}"))
    return 0


@group.command(name="status", help=t("Qué falta y de quién.", "What is missing, and of whom."))
def status(run_folder: Path = _RUN, as_json: bool = _JSON) -> int:
    """Say who has read what, which differences are open, and what the gate still lacks."""
    from slaverify.audit.labelling import labelling
    from slaverify.cli.wiring import session_of_run
    from slaverify.judging.calibration import calibration_record

    session, number = session_of_run(run_folder)
    state = labelling(session, number)
    record = calibration_record(state.run)
    if as_json:
        emit(_status_json(state, record))
        return 0
    for reader in state.readers:
        due, left = len(state.due(reader.number)), len(state.pending(reader.number))
        role = t("resuelve diferencias", "settles differences") if reader.adjudicates else t("lee", "reads")
        out(f"{reader.name} ({role}): {due - left}/{due}")
    settled = sum(3 in state.run.book.get(key, {}) for key in state.differences)
    out(
        t(
            f"diferencias: {len(state.differences)}, resueltas {settled}",
            f"differences: {len(state.differences)}, settled {settled}",
        )
    )
    for line in gate_lines(record, state.run.judge.calibration):
        out(line)
    out(_next(run_folder, state))
    return 0


def calibrate(
    run_folder: Path = _RUN,
    close: bool = typer.Option(
        False, "--close", help=t("Cierra con las etiquetas que hay.", "Close with the labels that there are.")
    ),
    external: Path | None = typer.Option(
        None, "--external", help=t("Registro de otra corrida, si así se pactó.", "Record of another run, if agreed.")
    ),
    as_json: bool = _JSON,
) -> int:
    """Write the calibration record and commit to it; exit 0 if every gate is met, 3 if not, 6 if labels are pending."""
    from slaverify.audit.alone import alone
    from slaverify.audit.calibrating import calibrate_run
    from slaverify.audit.walk import Step, go
    from slaverify.canonical import loads_object
    from slaverify.cli.files import read
    from slaverify.cli.wiring import session_of_run

    session, number = session_of_run(run_folder)
    source = None if external is None else loads_object(read(external))
    with alone(session.run_folder(number) / "private"):
        record = calibrate_run(session, number, close=close, external=source)
    # What was closed is committed to at once, under a timestamped checkpoint.
    go(session, number, Step.CALIBRATE)
    if record is None:
        say(t("el juez no dejó nada que calibrar", "the judge left nothing to calibrate"))
        return 0
    if as_json:
        emit(record)
    else:
        assert session.contract.model.judge is not None  # noqa: S101 - there is a record
        for line in (*figure_lines(record), *gate_lines(record, session.contract.model.judge.calibration)):
            out(line)
    met = all(block(subject["gate"])["met"] is True for subject in subjects_of(record))
    return 0 if met else 3


def _next(run_folder: Path, state: Labelling) -> str:
    asked = state.run.judge.calibration.annotators
    have = {reader.number for reader in state.readers}
    if state.complete:
        return t(f"sigue: slaverify calibrate {run_folder}", f"next: slaverify calibrate {run_folder}")
    if len(have & {1, 2}) < asked:
        line = f"slaverify label export {run_folder} --annotator ID"
        return t(f"falta una persona: {line}", f"a person is missing: {line}")
    waiting = [reader.name for reader in state.readers if state.pending(reader.number)]
    if waiting:
        names = ", ".join(waiting)
        return t(f"faltan filas de: {names}", f"rows are missing of: {names}")
    line = f"slaverify label export {run_folder} --annotator ID"
    return t(f"falta quien resuelva: {line}", f"somebody has to settle the differences: {line}")


def _status_json(state: Labelling, record: JsonObject) -> JsonObject:
    readers: list[JsonValue] = [
        {
            "reader": reader.number,
            "name": reader.name,
            "due": len(state.due(reader.number)),
            "pending": len(state.pending(reader.number)),
        }
        for reader in state.readers
    ]
    return {
        "type": "slaverify/label-status/1",
        "rows": len(state.rows),
        "complete": state.complete,
        "readers": readers,
        "differences": len(state.differences),
        "gates": [{"subject": one["subject"], "gate": one["gate"]} for one in subjects_of(record)],
    }


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)
