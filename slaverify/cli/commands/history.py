"""`slaverify history`: what was published under a contract, figure by figure; `--check` holds it against the ledger."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slaverify.canonical import JsonObject, JsonValue
    from slaverify.contract import LoadedContract
    from slaverify.report.history import Line

_MAX = 64 * 1024 * 1024


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(help=t("Cifras publicadas de un contrato.", "Published figures of a contract."))(history)


def history(
    contract: Path = typer.Argument(..., metavar="CONTRACT", help=t("Contrato congelado.", "Frozen contract.")),
    folder: Path = typer.Option(..., "--out", help=t("Carpeta de las auditorías.", "Folder of the audits.")),
    bank: Path | None = typer.Option(None, "--bank", help=t("Carpeta con el libro.", "Folder with the ledger.")),
    check: bool = typer.Option(False, "--check", help=t("Compara con el libro (--bank).", "Against the ledger.")),
    outcomes: Path | None = typer.Option(None, "--outcomes", help=t("Cifras de uso (JSON).", "Figures of use (JSON).")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Print each published line beside the one before it; no difference where bank or method changed."""
    from slaverify.cli.files import read
    from slaverify.contract.load import load_contract
    from slaverify.report.history import read_history

    loaded = load_contract(contract)
    lines = read_history(read(folder / "history" / f"{loaded.model.contract.id}.jsonl", _MAX))
    if check:
        _check(lines, loaded, bank)
    used = _outcomes(outcomes, loaded)
    if as_json:
        emit(
            {
                "type": "slaverify/history-table/1",
                "lines": [line.tree for line in lines],
                "changes": [_changes_json(old, new) for old, new in _pairs(lines)],
                "checked": check,
                "outcomes": used,
            }
        )
        return 0
    for number, line in enumerate(lines):
        _print(line, lines[:number])
    for row in used:
        _print_used(row)
    if check:
        out(t("la cadena y el libro concuerdan", "chain and ledger agree"))
    return 0


def _check(lines: list[Line], loaded: LoadedContract, bank: Path | None) -> None:
    from slaverify.cli.files import read
    from slaverify.custody import read_ledger, terms_of
    from slaverify.errors import ApplicationError, Text
    from slaverify.report.history import check_history

    if bank is None:
        raise ApplicationError(
            "SLV-A001",
            Text("--check necesita el libro", "--check needs the ledger"),
            fix=Text("agregue --bank con la carpeta del banco", "add --bank with the folder of the bank"),
            where="--bank",
        )
    terms = terms_of(loaded.tree, loaded.digest)
    check_history(lines, read_ledger(read(bank / "ledger.jsonl", _MAX), terms.trust), loaded.digest)


def _pairs(lines: list[Line]) -> list[tuple[Line, Line]]:
    published = [line for line in lines if line.text("state") is not None]
    return list(pairwise(published))


def _changes_json(old: Line, new: Line) -> JsonObject:
    from slaverify.report.history import changes, comparable

    return {
        "from": old.text("report_id"),
        "to": new.text("report_id"),
        "comparable": comparable(old, new),
        "findings": [{"metric": one.metric, "state": one.state, "kind": one.kind} for one in changes(old, new)],
    }


def _print(line: Line, before: list[Line]) -> None:
    from slaverify.cli.verdicts import state_words
    from slaverify.report.history import changes, comparable, metrics_of

    state = line.text("state")
    said = t("iniciada, sin informe", "started, no report") if state is None else state_words(state)
    out(f"{line.text('report_id')}  {line.text('issued_at') or '-'}  {line.text('engine_version')}  {said}")
    if line.amended_digest is not None:
        out(t("  reemplaza, sin borrarlo, a ", "  replaces, and does not delete, ") + _amended(line))
    for metric in metrics_of(line):
        out(f"  {_figure(metric)}  {state_words(str(metric.get('state')))}")
    earlier = [one for one in before if one.text("state") is not None]
    if state is None or not earlier:
        return
    if not comparable(earlier[-1], line):
        out(t("  no comparable con la anterior: otro banco o método", "  not comparable: another bank or method"))
    words = {"open": t("sigue", "open"), "new": t("nuevo", "new"), "resolved": t("resuelto", "resolved")}
    for one in changes(earlier[-1], line):
        out(f"  {words[one.kind]}: {one.metric} {state_words(one.state)}")


def _amended(line: Line) -> str:
    amends = line.tree.get("amends")
    return str(amends.get("report_id")) if isinstance(amends, dict) else ""


def _figure(metric: Mapping[str, JsonValue]) -> str:
    interval = metric.get("interval")
    ends = f"[{interval.get('low')}, {interval.get('high')}]" if isinstance(interval, dict) else "-"
    limit = t("umbral", "threshold")
    return f"{metric.get('id')}: {metric.get('x')}/{metric.get('n')} {ends} {limit} {metric.get('threshold')}"


def _outcomes(path: Path | None, loaded: LoadedContract) -> list[JsonValue]:
    """Read figures of use: [{metric, value, from, to}] for metrics that foretell one. Declared, never measured here."""
    from slaverify.canonical import StrictJsonError, loads_object
    from slaverify.cli.files import read
    from slaverify.errors import ApplicationError, Text

    if path is None:
        return []
    known = {metric.id for metric in loaded.model.metrics if metric.predicts is not None}
    try:
        rows = loads_object(b'{"rows":' + read(path, _MAX) + b"}")["rows"]
    except StrictJsonError as error:
        raise ApplicationError("SLV-A019", Text(f"JSON ilegible: {error}", f"unreadable JSON: {error}")) from error
    found: list[JsonValue] = []
    for row in rows if isinstance(rows, list) else [None]:
        if not isinstance(row, dict) or set(row) != {"metric", "value", "from", "to"} or row["metric"] not in known:
            raise ApplicationError(
                "SLV-A019",
                Text("se esperan {metric, value, from, to}", "expected {metric, value, from, to}"),
                why=Text(
                    f"métricas del contrato con «predicts»: {', '.join(sorted(known)) or 'ninguna'}",
                    f"metrics of the contract with `predicts`: {', '.join(sorted(known)) or 'none'}",
                ),
                where=str(path),
            )
        found.append({**row, "provenance": "declared"})
    return found


def _print_used(row: JsonValue) -> None:
    if isinstance(row, dict):
        said = t("declarado, no medido aquí", "declared, not measured here")
        out(f"{row['metric']}: {row['value']} ({row['from']} - {row['to']}; {said})")
