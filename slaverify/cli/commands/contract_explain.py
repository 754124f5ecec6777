"""`slaverify contract explain`: the contract in plain words, on the terminal and as a page to print."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import language, t
from slaverify.cli.output import out, say

if TYPE_CHECKING:
    from slaverify.contract import Contract, LoadedContract
    from slaverify.contract.explain import Chance, MoneyStep, Page

_WIDTH = 96


def register(group: typer.Typer) -> None:
    """Add the command to its group."""
    group.command(help=t("Explica el contrato en lenguaje llano.", "Explain the contract in plain words."))(explain)


def explain(
    file: Path = typer.Argument(..., help=t("Contrato.", "Contract.")),
    lang: str = typer.Option("", "--lang", help=t("es o en.", "es or en.")),
    pdf: Path | None = typer.Option(None, "--pdf", help=t("Escribe además un PDF.", "Write a PDF as well.")),
    everything: bool = typer.Option(
        False, "--all", help=t("Agrega cada clave con su valor.", "Add every key with its value.")
    ),
) -> int:
    """Print the explanation; with `--pdf`, write it as one or two pages."""
    from slaverify.cli.files import write_new
    from slaverify.contract.explain import every_key
    from slaverify.contract.load import load_contract

    chosen = lang or language()
    if chosen not in ("es", "en"):
        raise typer.BadParameter(t(f"idioma desconocido: {chosen}", f"unknown language: {chosen}"))
    loaded = load_contract(file)
    page = page_of(loaded, chosen)
    for line in terminal(page):
        out(line)
    if everything:
        out()
        for line in every_key(loaded.tree):
            out(line)
    if pdf is not None:
        from slaverify.report.pdf import render_page
        from slaverify.resources import resource

        style = resource("plantillas", "contract", "explain.css").read_text(encoding="utf-8")
        write_new(pdf, render_page(page_html(page), style))
        say(t(f"PDF en {pdf}", f"PDF in {pdf}"))
    return 0


def page_of(loaded: LoadedContract, lang: str) -> Page:
    """Return the explanation with its arithmetic and its chances."""
    from slaverify.contract.explain import explain as explained

    return explained(loaded.model, loaded.digest, lang, money=money_steps(loaded.model), chances=_chances(loaded.model))


def money_steps(contract: Contract) -> tuple[MoneyStep, ...]:
    """Return each credit step as the decision would compute it: one metric in breach just beyond the step's bound."""
    from slaverify.canonical import decimal_text
    from slaverify.contract.explain import MoneyStep
    from slaverify.decision.remedies import remedies
    from slaverify.decision.words import State

    steps = []
    for credit in contract.remedies.credits:
        alone = contract.model_copy(update={"remedies": contract.remedies.model_copy(update={"credits": (credit,)})})
        bound = credit.below if credit.below is not None else credit.above or Decimal(0)
        beyond = bound - Decimal("0.000001") if credit.below is not None else bound + Decimal("0.000001")
        entry = {"id": credit.metric, "state": State.BREACH.value, "rate": decimal_text(beyond)}
        found = remedies(alone, State.BREACH, [entry])
        lines = found.get("lines") if found is not None else None
        if not isinstance(lines, list) or not lines or not isinstance(lines[0], dict):
            continue
        line = lines[0]
        amount = line.get("amount")
        steps.append(
            MoneyStep(
                metric=credit.metric,
                below=credit.below,
                above=credit.above,
                share=credit.share,
                weight=Decimal(str(line.get("weight"))),
                amount=None if amount is None else Decimal(str(amount)),
            )
        )
    return tuple(steps)


def terminal(page: Page) -> Iterator[str]:
    """Yield the explanation as lines of a terminal."""
    yield page.title
    yield page.subtitle
    for section in page.sections:
        yield ""
        yield section.heading.upper()
        for paragraph in section.paragraphs:
            hang = "    " if paragraph.startswith("•") else "  "
            yield from textwrap.wrap(paragraph, _WIDTH, initial_indent="  ", subsequent_indent=hang)
        if section.table:
            widths = [max(len(row.cells[i]) for row in section.table) for i in range(len(section.table[0].cells))]
            for row in section.table:
                cells = (cell.ljust(width) for cell, width in zip(row.cells, widths, strict=True))
                yield ("  " + "  ".join(cells)).rstrip()
    yield ""
    yield from textwrap.wrap(page.foot, _WIDTH)


def page_html(page: Page) -> str:
    """Return the explanation as a document without any address in it."""
    body = [f"<h1>{_e(page.title)}</h1>", f'<p class="sub">{_e(page.subtitle)}</p>']
    for section in page.sections:
        body.append(f"<section><h2>{_e(section.heading)}</h2>")
        items = [paragraph for paragraph in section.paragraphs if paragraph.startswith("•")]
        table = _table(section.table) if section.table else ""
        # The first sentence stands before the table, the rest explains it.
        for index, paragraph in enumerate(section.paragraphs):
            if paragraph.startswith("•"):
                if paragraph == items[0]:
                    body.append("<ul>" + "".join(f"<li>{_e(item[1:].strip())}</li>" for item in items) + "</ul>")
                continue
            body.append(f"<p>{_e(paragraph)}</p>")
            if index == 0:
                body.append(table)
        body.append("</section>")
    body.append(f'<p class="foot">{_e(page.foot)}</p>')
    head = f'<meta charset="utf-8"><title>{_e(page.title)}</title>'
    return f'<!DOCTYPE html><html lang="{page.language}"><head>{head}</head><body>{"".join(body)}</body></html>'


def _table(rows: object) -> str:
    from slaverify.contract.explain import Row

    lines = [row for row in rows if isinstance(row, Row)] if isinstance(rows, tuple) else []
    head = "".join(f'<th scope="col">{_e(cell)}</th>' for cell in lines[0].cells)
    body = "".join("<tr>" + "".join(f"<td>{_e(cell)}</td>" for cell in row.cells) + "</tr>" for row in lines[1:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _e(text: str) -> str:
    import html

    return html.escape(text)


def _chances(contract: Contract) -> dict[str, Chance]:
    from slaverify.contract.explain import Chance
    from slaverify.readiness import outlook

    found = [outlook(contract, index) for index in range(len(contract.metrics))]
    return {one.id: Chance(one.better.rate, one.better.p_pass, one.worse.rate, one.worse.p_breach) for one in found}
