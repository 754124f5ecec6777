"""`slaverify contract clause`: the article to paste into the main agreement, and the checklist beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import language, t
from slaverify.cli.output import out, say

if TYPE_CHECKING:
    from slaverify.canonical import JsonValue
    from slaverify.contract import Contract, LoadedContract

_LANGUAGES = {"es": ("español", "Spanish"), "en": ("inglés", "English")}


def register(group: typer.Typer) -> None:
    """Add the command to its group."""
    group.command(
        help=t("El artículo para el contrato principal, con el digest.", "The article for the main agreement.")
    )(clause)


def clause(
    file: Path = typer.Argument(..., help=t("Contrato.", "Contract.")),
    lang: str = typer.Option("", "--lang", help=t("es o en.", "es or en.")),
    checklist: bool = typer.Option(True, "--checklist/--no-checklist", help=t("Lista de control.", "Checklist.")),
) -> int:
    """Print the article; then the checklist with the value of each key, marked where it is missing."""
    from slaverify.contract.load import load_contract

    chosen = lang or language()
    if chosen not in _LANGUAGES:
        raise typer.BadParameter(t(f"idioma desconocido: {chosen}", f"unknown language: {chosen}"))
    loaded = load_contract(file)
    if loaded.model.contract.status == "draft":
        say(
            t(
                "borrador: para bases o contrato, congele primero; el digest todavía se mueve",
                "draft: freeze first for a tender or an agreement; the digest still moves",
            )
        )
    out(article(loaded, chosen).rstrip("\n"))
    if checklist:
        out()
        for line in _checklist(loaded, chosen):
            out(line)
    return 0


def article(loaded: LoadedContract, lang: str) -> str:
    """Return the article with the names, the digest and the consequence of doubt of a contract."""
    from slaverify.resources import resource

    contract = loaded.model
    text = resource("plantillas", "contract", f"clause.{lang}.md").read_text(encoding="utf-8")
    values = {
        "vendor": contract.parties.vendor.name,
        "buyer": contract.parties.buyer.name,
        "auditor": contract.parties.auditor.name,
        "custodian": contract.parties.custodian.name,
        "engine": contract.engine.name,
        "version": contract.engine.version,
        "id": contract.contract.id,
        "n_version": str(contract.contract.version),
        "digest": loaded.digest,
        "prevailing": _LANGUAGES[contract.contract.prevailing_language][0 if lang == "es" else 1],
        "inconclusive": _inconclusive(contract, lang),
        "reply_days": str(contract.report.reply_days),
        "window_days": str(contract.disputes.window_days),
    }
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _inconclusive(contract: Contract, lang: str) -> str:
    from slaverify.contract.explain_results import inconclusive_words
    from slaverify.contract.speech import Speech

    return inconclusive_words(contract, Speech(lang, contract.contract.locale)).rstrip(".")


def _checklist(loaded: LoadedContract, lang: str) -> list[str]:
    import tomllib

    from slaverify.resources import resource

    found = tomllib.loads(resource("plantillas", "clauses.toml").read_text(encoding="utf-8"))
    tree = loaded.model.model_dump(mode="json", by_alias=True)
    lines = [
        t("LISTA DE CONTROL", "CHECKLIST")
        if lang == language()
        else ("LISTA DE CONTROL" if lang == "es" else "CHECKLIST")
    ]
    for element in found["element"]:
        filled = [key for key in element["keys"] if _value(tree, key) not in (None, [], {}, "")]
        mark = "[x]" if filled else "[ ]"
        lines.append(f"  {mark} {element[lang]}: {', '.join(element['keys'])}")
    lines.append("")
    lines.append(
        "Para revisar con su abogado (no es asesoría legal):"
        if lang == "es"
        else "To check with counsel (no legal advice):"
    )
    lines += [f"  - {one['where']}: {one['law']}: {one[lang]}" for one in found["pointer"]]
    return lines


def _value(tree: JsonValue, key: str) -> JsonValue:
    node = tree
    for part in key.split("."):
        if isinstance(node, list) and node:
            node = node[0]
        node = node.get(part) if isinstance(node, dict) else None
    return node
