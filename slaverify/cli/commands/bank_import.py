"""`slaverify bank import`: what people bring, to canonical items; what is only proposed is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import language, t
from slaverify.cli.output import emit, fail, out, say

if TYPE_CHECKING:
    from slaverify.canonical import JsonObject, JsonValue
    from slaverify.evalset import Imported, ImportOptions, UndecidedError

_FORMATS = "csv, xlsx, ods, jsonl, json, squad, promptfoo, deepeval, ragas, inspect, facts."


def register(group: typer.Typer) -> None:
    """Add the command to its group."""
    group.command(
        name="import",
        help=t(
            "Importa preguntas a la forma canónica (JSONL). Lo que el archivo no dice se propone, y se confirma.",
            "Import items into canonical JSONL. What the file does not say is proposed, to be confirmed.",
        ),
    )(import_)


def import_(
    file: Path = typer.Argument(..., help=t("Archivo de origen.", "Source file.")),
    destination: Path = typer.Option(..., "--out", help=t("Archivo canónico que se crea.", "Canonical file to make.")),
    form: str = typer.Option("", "--format", help=_FORMATS),
    encoding: str = typer.Option("", "--encoding", help=t("Codificación, p. ej. cp1252.", "Encoding, e.g. cp1252.")),
    delimiter: str = typer.Option("", "--delimiter", help=t("Separador: , ; | tab", "Separator: , ; | tab")),
    header: int = typer.Option(0, "--header", help=t("Fila del encabezado.", "Row of the headings.")),
    sheet: str = typer.Option("", "--sheet", help=t("Hoja.", "Sheet.")),
    maps: list[str] = typer.Option([], "--map", help=t("columna=campo; repetible.", "column=field; repeatable.")),
    mapping: Path | None = typer.Option(None, "--mapping", help=t("Archivo JSON columna → campo.", "JSON file.")),
    stratum: str = typer.Option("", "--stratum", help=t("Estrato para todas.", "Stratum for all.")),
    strata: list[str] = typer.Option([], "--strata", help=t("valor=estrato; repetible.", "value=stratum; repeatable.")),
    locale: str = typer.Option("", "--locale", help=t("Locale de los ítems, p. ej. es-CL.", "Locale of the items.")),
    kind: str = typer.Option("", "--kind", help=t("Clase de la respuesta: text, entity…", "Kind of the answers.")),
    choices: list[str] = typer.Option([], "--choice", help=t("Una opción; repetible.", "One option; repeatable.")),
    ids: str = typer.Option("", "--ids", help=t("Prefijo de ids formados con la fila.", "Prefix of made ids.")),
    null_tokens: list[str] = typer.Option(
        [], "--null-token", help=t("texto=motivo: significa «no hay respuesta».", "text=reason: means no answer.")
    ),
    date_order: str = typer.Option("", "--date-order", help="dmy, mdy, ymd."),
    dates: str = typer.Option("", "--dates", help=t("accept: las fechas de la planilla lo son.", "accept: as dates.")),
    list_separator: str = typer.Option("", "--list-separator", help=t("Separador dentro de una celda.", "In a cell.")),
    several: str = typer.Option("", "--several", help=t("any: varias aserciones son alternativas.", "any: or.")),
    hidden: bool = typer.Option(False, "--hidden", help=t("Lee también las filas ocultas.", "Read hidden rows too.")),
    exclude: list[int] = typer.Option([], "--exclude", help=t("Fila que se deja fuera; repetible.", "Row left out.")),
    kinds: Path | None = typer.Option(None, "--kinds", help=t("Archivo id → referencia, revisado.", "Reviewed file.")),
    suggest: Path | None = typer.Option(
        None, "--suggest-kinds", help=t("Escribe ahí una propuesta de clases y no importa.", "Write a proposal there.")
    ),
    yes: bool = typer.Option(False, "--yes", help=t("Acepta lo propuesto (en un terminal).", "Accept proposals.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Import, show how it was read, write the canonical file."""
    from slaverify.cli.files import read
    from slaverify.evalset import ImportOptions

    options = ImportOptions(
        format=form or None,
        encoding=encoding or None,
        delimiter=delimiter or None,
        header=header or None,
        sheet=sheet or None,
        mapping=(*_mapping_file(mapping), *(_pair(text, "--map") for text in maps)),
        stratum=stratum or None,
        strata=tuple(_pair(text, "--strata") for text in strata),
        locale=locale or None,
        kind=kind or None,
        choices=tuple(choices),
        ids=ids or None,
        null_tokens=tuple(_pair(text, "--null-token") for text in null_tokens),
        date_order=date_order or None,
        dates=dates or None,
        list_separator=list_separator or None,
        several=several or None,
        hidden=hidden,
        exclude=frozenset(exclude),
        references=_references(kinds),
    )
    return _run(read(file), file, destination, options, suggest, kinds, yes=yes, as_json=as_json)


def _run(
    data: bytes,
    file: Path,
    destination: Path,
    options: ImportOptions,
    suggest: Path | None,
    kinds: Path | None,
    *,
    yes: bool,
    as_json: bool,
) -> int:
    from slaverify.cli.files import write_new
    from slaverify.evalset import ImportRefusedError, UndecidedError, report_lines, write_bank

    try:
        imported = _decided(data, file.name, options, yes=yes)
    except UndecidedError as error:
        return _open(error, _command(file, destination, options, kinds, error), as_json)
    except ImportRefusedError as error:
        if as_json:
            emit(error.report.to_json())
        for line in report_lines(error.report, language()):
            say(line)
        return fail(error)
    if suggest is not None:
        return _suggest(imported, suggest, destination)
    write_new(destination, write_bank(imported.items))
    report = imported.report
    if as_json:
        emit(report.to_json())
        return 0
    strata = ", ".join(f"{name} {count}" for name, count in report.strata)
    out(
        t(
            f"{report.rows_kept} ítems ({strata}) en {destination}",
            f"{report.rows_kept} items ({strata}) in {destination}",
        )
    )
    for line in report_lines(report, language()):
        say(line)
    return 0


def _decided(data: bytes, name: str, options: ImportOptions, *, yes: bool) -> Imported:
    """Import; on a terminal, ask about what is only proposed. An encoding is never among it: a person names it."""
    from dataclasses import replace

    from slaverify.evalset import UndecidedError, import_any

    try:
        return import_any(data, name, options)
    except UndecidedError as error:
        named = any(proposal.option == "--encoding" for proposal in error.proposals)
        if named or not _terminal():
            raise
        _show(error)
        if not yes and not typer.confirm(t("¿Importar así?", "Import it so?")):
            raise
        return import_any(data, name, replace(options, accept=True))


def _show(error: UndecidedError) -> None:
    for proposal in error.proposals:
        say(f"  {proposal.option} {proposal.value!r}: {proposal.why.in_language(language())}")
        for line in proposal.seen:
            say(f"      {line}")


def _open(error: UndecidedError, command: str, as_json: bool) -> int:
    if as_json:
        proposals: list[JsonValue] = [
            {
                "option": proposal.option,
                "value": proposal.value,
                "why": {"es": proposal.why.es, "en": proposal.why.en},
                "seen": list(proposal.seen),
            }
            for proposal in error.proposals
        ]
        emit({"type": "slaverify/import-open/1", "source": error.where, "proposals": proposals, "command": command})
    say(error.lines(language())[0])
    _show(error)
    say(t("si está de acuerdo, repita:", "if you agree, repeat:"))
    say(f"  {command}")
    return error.exit_code


def _command(file: Path, destination: Path, options: ImportOptions, kinds: Path | None, error: UndecidedError) -> str:
    """Return the command to type again, with what was given and what is proposed."""
    import shlex

    words = ["slaverify", "bank", "import", str(file), "--out", str(destination)]
    given: list[tuple[str, str | None]] = [
        ("--format", options.format),
        ("--encoding", options.encoding),
        ("--delimiter", options.delimiter),
        ("--header", None if options.header is None else str(options.header)),
        ("--sheet", options.sheet),
        *(("--map", f"{column}={field}") for column, field in options.mapping),
        ("--stratum", options.stratum),
        *(("--strata", f"{value}={name}") for value, name in options.strata),
        ("--locale", options.locale),
        ("--kind", options.kind),
        *(("--choice", choice) for choice in options.choices),
        ("--ids", options.ids),
        *(("--null-token", f"{token}={reason}") for token, reason in options.null_tokens),
        ("--date-order", options.date_order),
        ("--dates", options.dates),
        ("--list-separator", options.list_separator),
        ("--several", options.several),
        *(("--exclude", str(row)) for row in sorted(options.exclude)),
        ("--kinds", None if kinds is None else str(kinds)),
    ]
    for name, value in given:
        words += [] if value is None else [name, value]
    words += ["--hidden"] if options.hidden else []
    proposals = list(error.proposals)
    encodings = [proposal for proposal in proposals if proposal.option == "--encoding"]
    for proposal in [*encodings[:1], *(one for one in proposals if one.option != "--encoding")]:
        words += [proposal.option, proposal.value]
    return shlex.join(words)


def _pair(text: str, option: str) -> tuple[str, str]:
    left, sign, right = text.rpartition("=")
    if not sign or not left or not right:
        raise typer.BadParameter(t(f"{option} espera nombre=valor: {text}", f"{option} takes name=value: {text}"))
    return left, right


def _mapping_file(path: Path | None) -> list[tuple[str, str]]:
    if path is None:
        return []
    tree = _object(path)
    return [(column, field) for column, field in tree.items() if isinstance(field, str)]


def _references(path: Path | None) -> dict[str, JsonObject]:
    if path is None:
        return {}
    return {name: tree for name, tree in _object(path).items() if isinstance(tree, dict)}


def _object(path: Path) -> JsonObject:
    from slaverify.canonical import StrictJsonError, loads_object
    from slaverify.cli.files import read
    from slaverify.errors import ApplicationError, Text

    try:
        return loads_object(read(path), max_depth=20)
    except StrictJsonError as error:
        what = Text(f"no es un objeto JSON estricto ({error})", f"no strict JSON object ({error})")
        raise ApplicationError("SLV-A031", what, where=str(path)) from error


def _suggest(imported: Imported, target: Path, destination: Path) -> int:
    import json

    from slaverify.cli.files import write_new
    from slaverify.readiness.bank_kinds import suggest_kinds

    found = suggest_kinds(imported.items)
    text = json.dumps(dict(found), ensure_ascii=False, indent=1, sort_keys=True)
    write_new(target, text.encode("utf-8") + b"\n")
    out(
        t(
            f"{len(found)} de {len(imported.items)} respuestas tienen una clase propuesta en {target}",
            f"{len(found)} of {len(imported.items)} answers have a kind proposed in {target}",
        )
    )
    say(
        t(
            f"revise el archivo, borre lo que no corresponda y repita la orden con --kinds {target}; "
            f"{destination} no se creó",
            f"review the file, remove what is wrong and repeat with --kinds {target}; {destination} was not made",
        )
    )
    return 0


def _terminal() -> bool:
    import sys

    return sys.stdin.isatty()
