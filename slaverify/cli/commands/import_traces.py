"""`slaverify import-traces`: score traces that a vendor recorded itself. They are declared, and decide nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

if TYPE_CHECKING:
    from slaverify.canonical import JsonObject, JsonValue

_MAX_FILE = 512 * 1024 * 1024


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(
        name="import-traces",
        help=t("Puntúa trazas que grabó el proveedor: declaradas.", "Score traces that a vendor recorded: declared."),
    )(import_traces)


def import_traces(
    file: Path = typer.Argument(..., metavar="TRACES", help=t("Trazas, una entrada por línea.", "One entry a line.")),
    contract: Path = typer.Option(..., "--contract", help=t("Contrato.", "Contract.")),
    items: Path = typer.Option(..., "--set", help=t("Preguntas (items.jsonl).", "Questions (items.jsonl).")),
    state: Path = typer.Option(..., "--state", help=t("state_contract.json.", "state_contract.json.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Show what the traces say; every metric is NOT_MEASURED and the exit code 3."""
    from slaverify.canonical import loads_jsonl
    from slaverify.cli.files import read
    from slaverify.contract.load import load_contract
    from slaverify.decision import RunValidity, decide, inputs, results
    from slaverify.evalset import read_bank
    from slaverify.trajectory import read_state_contract
    from slaverify.trajectory.declared import score_declared, traces_by_question
    from slaverify.trajectory.loop import loop_terms
    from slaverify.trajectory.metrics import summary
    from slaverify.trajectory.record import Ground, path_rules
    from slaverify.verify import cluster_names
    from slaverify.version import __version__

    model = load_contract(contract).model
    ground = Ground(
        read_state_contract(read(state, _MAX_FILE)), loop_terms(model, "declared", __version__), path_rules(model)
    )
    bank = read_bank(read(items, _MAX_FILE), items.name)
    found = score_declared(bank, traces_by_question(loads_jsonl(read(file, _MAX_FILE))), ground)
    clusters = cluster_names(bank)
    records: list[JsonObject] = [
        {**one.record.to_json(), "cluster": clusters[one.record.item_id]}
        for one in sorted(found.scored, key=lambda one: one.record.item_id)
    ]
    validity = RunValidity(valid=True, provenance="declared")
    decision = decide(model, results(model, inputs(model, records), validity), validity)
    said = summary(found.scored, (), ())
    if as_json:
        emit(
            {
                "type": "slaverify/declared-traces/1",
                "provenance": "declared",
                "decision": decision,
                "summary": said,
                "insufficient": dict(found.insufficient),
                "missing": list(found.missing),
            }
        )
        return 3
    _show(said, decision, found.insufficient, len(found.missing))
    return 3


def _show(said: JsonObject, decision: JsonObject, insufficient: Mapping[str, str], missing: int) -> None:
    out(t("DECLARADO por el proveedor: no decide nada", "DECLARED by the vendor: it decides nothing"))
    table, rates = said["table"], said["rates"]
    for tree in (table, rates):
        for key, value in tree.items() if isinstance(tree, dict) else ():
            out(f"  {key}: {value}")
    for one in _listed(decision.get("metrics")):
        out(f"  {one.get('id')}: {one.get('state')}")
    for public_id, why in insufficient.items():
        say(t(f"  insuficiente: {public_id}: {why}", f"  insufficient: {public_id}: {why}"))
    if missing:
        say(t(f"  sin traza: {missing} preguntas", f"  without a trace: {missing} questions"))


def _listed(value: JsonValue) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list | tuple) else []
