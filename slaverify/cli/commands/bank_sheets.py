"""`slaverify bank export`, `template` and `catalogue`: sheets for people, and what exists in the norms."""

from __future__ import annotations

from pathlib import Path

import typer

from slaverify.cli.language import language, t
from slaverify.cli.output import emit, out, say

_DEFAULT_STRATA = ("direct", "out_of_corpus")


def register(group: typer.Typer) -> None:
    """Add the commands to their group."""
    group.command(
        name="export", help=t("Escribe un banco como CSV que ninguna planilla ejecuta.", "Write a bank as inert CSV.")
    )(export)
    group.command(
        name="template", help=t("La planilla para quienes escriben preguntas.", "The sheet for those who write items.")
    )(template)
    group.command(
        name="catalogue",
        help=t(
            "Construye el catálogo de artículos y muestra los huecos de la numeración.",
            "Build the catalogue of articles and show the holes in the numbering.",
        ),
    )(catalogue)


def export(
    file: Path = typer.Argument(..., help=t("Banco canónico (JSONL).", "Canonical bank (JSONL).")),
    destination: Path = typer.Option(..., "--out", help=t("CSV que se crea.", "CSV to make.")),
    delimiter: str = typer.Option(",", "--delimiter", help=", ; tab"),
    lang: str = typer.Option("", "--lang", help=t("Idioma de los encabezados: es, en.", "Language of headings.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Export; the file comes back through `bank import` as it was."""
    from slaverify.canonical import digest_of
    from slaverify.cli.files import read, write_new
    from slaverify.evalset import export_csv, read_bank

    signs = {",": ",", ";": ";", "tab": "\t", "\t": "\t"}
    if delimiter not in signs:
        raise typer.BadParameter(t(f"separador: {delimiter}", f"separator: {delimiter}"))
    data = read(file)
    items = read_bank(data, file.name)
    made = export_csv(items, lang or language(), delimiter=signs[delimiter])
    write_new(destination, made)
    if as_json:
        emit(
            {
                "type": "slaverify/export/1",
                "items": len(items),
                "bank_digest": digest_of(data),
                "file": str(destination),
                "digest": digest_of(made),
            }
        )
        return 0
    out(t(f"{len(items)} ítems en {destination}", f"{len(items)} items in {destination}"))
    say(t("las celdas que parecen fórmula llevan ' delante", "cells that look like a formula have ' before them"))
    return 0


def template(
    destination: Path = typer.Option(..., "--out", help=t("Archivo que se crea.", "File to make.")),
    profile: str = typer.Option("qa@1", "--profile", help=t("Perfil de las preguntas.", "Profile of the items.")),
    strata: list[str] = typer.Option([], "--stratum", help=t("Un estrato; repetible.", "One stratum; repeatable.")),
    lang: str = typer.Option("", "--lang", help="es, en."),
    form: str = typer.Option("xlsx", "--format", help="xlsx, csv."),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Write the sheet; it comes back through `bank import` without a mapping."""
    from slaverify.cli.files import write_new
    from slaverify.evalset import template_csv, template_xlsx
    from slaverify.scoring import profile as profile_of

    makers = {"xlsx": template_xlsx, "csv": template_csv}
    if form not in makers:
        raise typer.BadParameter(t(f"formato: {form}", f"format: {form}"))
    names = tuple(strata) or profile_of(profile).strata or _DEFAULT_STRATA
    write_new(destination, makers[form](names, lang or language()))
    if as_json:
        emit({"type": "slaverify/template/1", "profile": profile, "strata": list(names), "file": str(destination)})
        return 0
    out(str(destination))
    say(t(f"estratos: {', '.join(names)}", f"strata: {', '.join(names)}"))
    say(
        t(
            f"cuando esté llena: slaverify bank import {destination} --out banco.jsonl",
            f"once filled in: slaverify bank import {destination} --out bank.jsonl",
        )
    )
    return 0


def catalogue(
    file: Path = typer.Argument(
        ..., help=t("Lista de ids o artículos, o texto con un título por artículo.", "List of ids, or a norm's text.")
    ),
    destination: Path = typer.Option(..., "--out", help=t("Catálogo que se crea (JSONL).", "Catalogue to make.")),
    norm: str = typer.Option(
        "", "--norm", help=t("Id canónico de la norma: cl:ley:19886.", "Canonical id of the norm.")
    ),
    as_of: str = typer.Option("", "--as-of", help=t("Vigente desde (AAAA-MM-DD).", "In force from (YYYY-MM-DD).")),
    encoding: str = typer.Option("", "--encoding", help=t("Codificación del texto.", "Encoding of the text.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Build the catalogue; print counts per norm and every hole."""
    from slaverify.cli.files import read, write_new
    from slaverify.evalset import build_catalogue, write_catalogue

    built = build_catalogue(read(file), file.name, norm=norm or None, encoding=encoding or None, as_of=as_of or None)
    found = built.catalogue
    write_new(destination, write_catalogue(found.entries.values()))
    holes = found.holes()
    if as_json:
        emit(
            {
                "type": "slaverify/catalogue/1",
                "read_as": built.form,
                "entries": len(found.entries),
                "articles": dict(found.counts()),
                "holes": [{"norm": hole.norm, "after": hole.after, "before": hole.before} for hole in holes],
                "as_of": as_of or None,
                "digest": found.digest,
                "file": str(destination),
            }
        )
        return 0
    for name, count in found.counts().items():
        out(t(f"{name}: {count} artículos", f"{name}: {count} articles"))
    out(found.digest)
    for hole in holes:
        say(_hole(hole.norm, hole.after, hole.before))
    if holes:
        say(
            t(
                "un hueco aquí se vuelve una cita fantasma falsa y una trampa falsa: complételo o explíquelo",
                "a hole here becomes a false phantom citation and a false trap: fill it in or explain it",
            )
        )
    return 0


def _hole(norm: str, after: int, before: int) -> str:
    first, last = after + 1, before - 1
    gap = str(first) if first == last else f"{first}-{last}"
    if after == 0:
        return t(f"W hueco en {norm}: falta {gap} antes de {before}", f"W hole in {norm}: {gap} before {before} absent")
    return t(
        f"W hueco en {norm}: falta {gap} entre {after} y {before}",
        f"W hole in {norm}: {gap} absent between {after} and {before}",
    )
