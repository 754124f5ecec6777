"""`slaverify contract diff`: what changed between two versions, in words."""

from __future__ import annotations

from pathlib import Path

import typer

from slaverify.cli.language import language, t
from slaverify.cli.output import emit, out, say


def register(group: typer.Typer) -> None:
    """Add the command to its group."""
    group.command(help=t("Qué cambió entre dos contratos.", "What changed between two contracts."))(diff)


def diff(
    old: Path = typer.Argument(..., help=t("Antes.", "Before.")),
    new: Path = typer.Argument(..., help=t("Después.", "After.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Print each change as a sentence, whether the method moved, and what an amendment should not mix."""
    from slaverify.cli.commands.contract_table import finding_lines
    from slaverify.contract import method_digest
    from slaverify.contract.difference import differences
    from slaverify.contract.load import load_contract
    from slaverify.readiness import Advice, Level, amendment

    before, after = load_contract(old), load_contract(new)
    whole = [loaded.model.model_dump(mode="json", by_alias=True) for loaded in (before, after)]
    changes = list(differences(whole[0], whole[1]))
    warnings = [Advice(Level.WARNING, one, after.place(one.path)) for one in amendment(whole[0], whole[1])]
    moved = method_digest(whole[0]) != method_digest(whole[1])
    if as_json:
        emit(
            {
                "type": "slaverify/contract-diff/1",
                "before": before.digest,
                "after": after.digest,
                "method_moved": moved,
                "changes": [
                    {
                        "path": one.path,
                        "before": one.before,
                        "after": one.after,
                        "what": one.what.in_language(language()),
                    }
                    for one in changes
                ],
                "warnings": [one.finding.code for one in warnings],
            }
        )
        return 0
    for one in changes:
        out(one.what.in_language(language()))
    if not changes:
        out(t("sin cambios de fondo", "no change of substance"))
    if moved:
        out(t("el método de medición cambió: las cifras no se comparan", "the method moved: figures do not compare"))
    for warning in warnings:
        for line in finding_lines(warning):
            say(line)
    return 0
