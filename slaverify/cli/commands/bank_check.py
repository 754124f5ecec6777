"""`slaverify bank check`: is this set fit to be sealed? Exit 0 if it is, 2 if something refuses it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import language, t
from slaverify.cli.output import emit, out, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slaverify.contract import Contract
    from slaverify.evalset import Catalogue, Item
    from slaverify.readiness.bank import BankCheck
    from slaverify.scoring import Settings


def register(group: typer.Typer) -> None:
    """Add the command to its group."""
    group.command(
        name="check",
        help=t(
            "Revisa un banco antes de sellarlo: fugas, gemelos, oro contra oro, mutantes, respuestas triviales.",
            "Check a set before it is sealed: leaks, twins, gold against gold, mutants, trivial answers.",
        ),
    )(check)


def check(
    file: Path = typer.Argument(..., help=t("Banco canónico (JSONL).", "Canonical bank (JSONL).")),
    contract: Path | None = typer.Option(None, "--contract", help=t("Contrato con sus reglas.", "The contract.")),
    profile: str = typer.Option("qa@1", "--profile", help=t("Perfil, sin contrato.", "Profile, without a contract.")),
    locale: str = typer.Option("", "--locale", help=t("Locale, sin contrato: es-CL.", "Locale, without a contract.")),
    catalogue: Path | None = typer.Option(None, "--catalogue", help=t("Catálogo (JSONL).", "Catalogue (JSONL).")),
    accept: list[str] = typer.Option(
        [], "--accept", help=t("SLV-I029:ÍTEM=motivo; repetible.", "SLV-I029:ITEM=reason; repeatable.")
    ),
    annotate: Path | None = typer.Option(
        None, "--annotate", help=t("XLSX con cada hallazgo junto a su fila.", "XLSX with each finding beside its row.")
    ),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Check; print findings, counts and baselines."""
    from slaverify.cli.files import read, write_new
    from slaverify.cli.wiring import now
    from slaverify.evalset import annotated_xlsx, read_bank, read_catalogue
    from slaverify.readiness.bank import check_bank
    from slaverify.readiness.bank_findings import CheckOptions

    items = read_bank(read(file), file.name)
    model = _contract(contract)
    known = None if catalogue is None else read_catalogue(read(catalogue), catalogue.name)
    options = CheckOptions(
        settings=_settings(model, profile, locale or None, known),
        today=now().date().isoformat(),
        catalogue=known,
        sizes={} if model is None else dict(model.evaluation_set.sample.per_stratum or {}),
        accepted=dict(_accepted(text) for text in accept),
    )
    found = check_bank(items, options, model)
    if annotate is not None:
        write_new(annotate, annotated_xlsx(items, _by_item(found), language()))
    if as_json:
        emit(found.to_json())
    else:
        _show(found, items)
    return 2 if found.refused else 0


def _contract(path: Path | None) -> Contract | None:
    if path is None:
        return None
    from slaverify.contract.load import load_contract

    return load_contract(path).model


def _settings(
    contract: Contract | None, profile: str, locale: str | None, catalogue: Catalogue | None
) -> Callable[[str], Settings]:
    from dataclasses import replace
    from functools import cache

    from slaverify.scoring import default_settings, settings_for

    if contract is None:
        return cache(lambda stratum: replace(default_settings(profile, locale, stratum), catalogue=catalogue))
    return cache(lambda stratum: settings_for(contract, stratum, catalogue))


def _accepted(text: str) -> tuple[tuple[str, str], str]:
    place, _, reason = text.partition("=")
    code, _, item = place.partition(":")
    if code != "SLV-I029" or not item or not reason.strip():
        raise typer.BadParameter(
            t(f"se acepta sólo SLV-I029:ÍTEM=motivo: {text}", f"only SLV-I029:ITEM=reason is accepted: {text}")
        )
    return (code, item), reason.strip()


def _by_item(found: BankCheck) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for finding in found.findings:
        for item in finding.items:
            out.setdefault(item, []).append(f"{finding.level} {finding.code}: {finding.what.in_language(language())}")
    return out


def _show(found: BankCheck, items: Sequence[Item]) -> None:
    lang = language()
    for finding in found.findings:
        where = "" if len(finding.items) != 1 else f" {finding.items[0]}"
        if len(finding.items) == 2:
            where = f" {finding.items[0]} · {finding.items[1]}"
        say(f"{finding.level} {finding.code}{where}: {finding.what.in_language(lang)}")
        if finding.accepted is not None:
            say(t(f"  aceptado: {finding.accepted}", f"  accepted: {finding.accepted}"))
        elif finding.fix.es:
            say(t(f"  ayuda: {finding.fix.es}", f"  help: {finding.fix.en}"))
    for text in found.not_performed:
        say(t(f"no revisado: {text.es}", f"not performed: {text.en}"))
    out(
        t(
            f"oro contra oro: {found.gold_correct}/{found.gold_total} correctas",
            f"gold against gold: {found.gold_correct}/{found.gold_total} correct",
        )
    )
    out(
        t(
            f"oro contra mutantes: {found.mutants_correct}/{found.mutants_total} correctas, "
            f"al menos {found.mutants_least} por ítem",
            f"gold against mutants: {found.mutants_correct}/{found.mutants_total} correct, "
            f"at least {found.mutants_least} an item",
        )
    )
    for baseline in found.baselines:
        state = "" if baseline.state is None else f"  {baseline.state}"
        out(f"  {baseline.name:<20} {baseline.good}/{baseline.total}{state}")
    errors = sum(finding.refuses for finding in found.findings)
    warnings = sum(finding.level == "W" for finding in found.findings)
    if errors:
        out(t(f"RECHAZADO: {errors} errores, {warnings} avisos", f"REFUSED: {errors} errors, {warnings} warnings"))
    else:
        out(t(f"{len(items)} ítems, apto; {warnings} avisos", f"{len(items)} items, fit; {warnings} warnings"))
