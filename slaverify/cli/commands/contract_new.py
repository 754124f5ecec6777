"""`slaverify contract new`: at most twelve plain questions to a buyer, or an example to start from."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import language, t
from slaverify.cli.output import out, say

if TYPE_CHECKING:
    from slaverify.contract.drafting import Answers

_OWED = {
    "engine": "engine: {pending: vendor}",
    "endpoint": "endpoint: {pending: vendor}",
    "ledger": "ledger: {pending: custodian}",
}
_SOURCES = ("real_traffic", "written", "generated")
_DOUBTS = ("vendor", "buyer", "more")


def register(group: typer.Typer) -> None:
    """Add the command to its group."""
    group.command(
        help=t(
            "Redacta un borrador: doce preguntas, o a partir de un ejemplo.",
            "Write a draft: twelve questions, or from an example.",
        )
    )(new)


def new(
    destination: Path | None = typer.Option(None, "--out", help=t("Archivo (por defecto, <id>.yaml).", "File.")),
    example: str = typer.Option(
        "", "--from", help=t("Ejemplo: nombre en contratos/ o archivo.", "Example: name in contratos/ or file.")
    ),
    pilot: Path | None = typer.Option(
        None, "--from-pilot", help=t("Carpeta de una medición piloto.", "Folder of a pilot measurement.")
    ),
    lang: str = typer.Option("", "--lang", help=t("es o en.", "es or en.")),
) -> int:
    """Ask, write a commented draft, and say what is still owed by whom."""
    from slaverify.cli.files import write_new
    from slaverify.contract.drafting import draft_text, slug
    from slaverify.contract.load import parse_draft
    from slaverify.resources import resource

    chosen = lang or language()
    if chosen not in ("es", "en"):
        raise typer.BadParameter(t(f"idioma desconocido: {chosen}", f"unknown language: {chosen}"))
    if example:
        title = _ask(t("Título del contrato", "Title of the contract"))
        text = _from_example(_example(example), slug(title), title, _ask(t("Quién compra", "Who buys")))
    else:
        answers = _answers(None if pilot is None else _pilot_rate(pilot))
        template = resource("plantillas", "contract", f"new.{chosen}.yaml").read_text(encoding="utf-8")
        text, title = draft_text(template, answers), answers.title
    target = destination or Path(f"{slug(title)}.yaml")
    draft = parse_draft(text.encode(), str(target))
    write_new(target, text.encode())
    roles = ", ".join(sorted({debt.role for debt in draft.owed}))
    say(t(f"borrador en {target}; falta lo de: {roles}", f"draft in {target}; still owed by: {roles}"))
    out(f"slaverify contract check {target}")
    return 0


def _answers(expected: Decimal | None) -> Answers:
    from slaverify.contract.drafting import Answers

    title = _ask(t("1. ¿Qué servicio se contrata?", "1. What service is bought?"))
    buyer = _ask(t("2. ¿Qué organización compra?", "2. Which organisation buys?"))
    purpose = _ask(t("3. ¿Para qué se usará?", "3. What will it be used for?"))
    population = _ask(t("4. ¿Quién le preguntará y sobre qué?", "4. Who will ask it, and about what?"))
    source = _choice(
        t(
            "5. ¿De dónde saldrán las preguntas de prueba? 1 consultas reales, 2 escritas por personas, 3 generadas",
            "5. Where will the test questions come from? 1 real queries, 2 written by people, 3 generated",
        ),
        _SOURCES,
    )
    wrong, expected, invented = _limits(expected)
    doubt = _choice(
        t(
            "9. Si no queda demostrado nada, ¿quién soporta la duda? 1 el proveedor (se espera), 2 usted (nada pasa), "
            "3 se hacen más preguntas",
            "9. If nothing is shown, who bears the doubt? 1 the vendor (payment waits), 2 you (nothing follows), "
            "3 more questions are asked",
        ),
        _DOUBTS,
    )
    amount, currency, credit = _credits()
    months = _ask(t("12. ¿Cada cuántos meses se repite la prueba?", "12. Every how many months is it repeated?"), "3")
    return Answers(
        title=title,
        buyer=buyer,
        purpose=purpose,
        population=population,
        source=source,
        wrong=wrong,
        expected=expected,
        invented=invented or None,
        doubt=doubt,
        amount=amount,
        currency=currency,
        credit=credit,
        months=int(months) if months.isdecimal() and 0 < int(months) < 120 else 3,
    )


def _limits(expected: Decimal | None) -> tuple[Decimal, Decimal, Decimal]:
    # of 100: wrong answers accepted, wrong answers expected, fabrications accepted
    wrong = _hundred(
        t("6. De cada 100 respuestas, ¿cuántas malas acepta?", "6. Of 100 answers, how many wrong ones do you accept?")
    )
    if expected is None:
        expected = _hundred(
            t(
                "7. ¿Y cuántas malas espera de un buen proveedor? (menos que las que acepta)",
                "7. And how many wrong ones do you expect of a good vendor? (fewer than you accept)",
            )
        )
    invented = _hundred(
        t(
            "8. De 100 preguntas sin respuesta, ¿cuántas invenciones acepta? (0: no se prueban)",
            "8. Of 100 questions without an answer, how many fabrications do you accept? (0: they are not tested)",
        )
    )
    return wrong, expected, invented


def _credits() -> tuple[Decimal | None, str, Decimal]:
    # monthly amount, its currency, and the percentage that a breach takes off
    money = _ask(
        t(
            "10. Monto mensual y moneda, por ejemplo «2500000 CLP» (vacío: sin créditos)",
            "10. Monthly amount and currency, e.g. `2500000 USD` (empty: no credits)",
        ),
        default="",
    )
    amount, currency = _money(money)
    credit = (
        Decimal(0)
        if amount is None
        else _hundred(t("11. Si NO CUMPLE, ¿qué % se descuenta?", "11. After a breach, which % is credited?"))
    )
    return amount, currency, credit


def _ask(question: str, default: str | None = None) -> str:
    while True:
        answer = str(typer.prompt(question, default=default, show_default=bool(default), err=True)).strip()
        if answer or default is not None:
            return answer


def _choice(question: str, words: tuple[str, ...]) -> str:
    while True:
        answer = _ask(question, "1")
        if answer in words:
            return answer
        if answer.isdecimal() and 1 <= int(answer) <= len(words):
            return words[int(answer) - 1]


def _hundred(question: str) -> Decimal:
    while True:
        text = _ask(question).replace("%", "").replace(",", ".").strip()
        try:
            value = Decimal(text)
        except InvalidOperation:
            continue
        if value.is_finite() and 0 <= value < 100:
            return (value / 100).normalize() if value else Decimal(0)


def _money(text: str) -> tuple[Decimal | None, str]:
    found = re.fullmatch(r"\s*([0-9][0-9.,' ]*)\s*([A-Za-z]{3})?\s*", text)
    if found is None:
        return None, "CLP"
    # Groups of three after a separator are thousands; anything else is a mistake to be read in the draft.
    digits = re.sub(r"[.,' ](?=\d{3}(\D|$))", "", found[1].strip()).replace(",", ".")
    try:
        return Decimal(digits), (found[2] or "CLP").upper()
    except InvalidOperation:
        return None, "CLP"


def _example(name: str) -> str:
    from slaverify.cli.files import read
    from slaverify.resources import resource

    path = Path(name)
    if not path.is_file():
        path = resource("contratos", f"{name.removesuffix('.yaml')}.yaml")
    return read(path, 1024 * 1024).decode("utf-8")


def _from_example(text: str, identifier: str, title: str, buyer: str) -> str:
    """Return the text of an example with new identity, the buyer named, and what only the others know left pending."""
    from slaverify.contract.drafting import quoted

    text = re.sub(r"^  id: .*$", f"  id: {identifier}", text, count=1, flags=re.M)
    text = re.sub(r"^  title: .*$", lambda _: f"  title: {quoted(title)}", text, count=1, flags=re.M)
    parties = (
        f"parties:\n  buyer: {{name: {quoted(buyer)}}}\n  vendor: pending\n  auditor: pending\n  custodian: pending\n"
        "  independence: {payer: buyer}"
    )
    for key, owed in {"parties": parties, **_OWED}.items():
        text = _replaced(text, rf"^{key}:.*\n(?:(?:[ #].*)?\n)*?(?=^[a-z]|\Z)", owed + "\n\n")
    text = _replaced(text, r"^  bank_digest: .*$", "  bank_digest: {pending: custodian}")
    return _replaced(text, r"^  signature:.*\n(?:    .*\n)*", "  signature: {pending: auditor}\n")


def _replaced(text: str, pattern: str, value: str) -> str:
    return re.sub(pattern, lambda _: value, text, count=1, flags=re.M)


def _pilot_rate(run: Path) -> Decimal:
    """Return the share of wrong answers of a pilot's first metric. Raises: ApplicationError SLV-A022."""
    from slaverify.canonical import loads_object
    from slaverify.cli.files import read
    from slaverify.errors import ApplicationError, Text

    try:
        metrics = loads_object(read(run / "statistics" / "results.json"))["metrics"]
        first = metrics[0] if isinstance(metrics, list) else None
        rate = Decimal(str(first["rate"])) if isinstance(first, dict) else None
        direction = first.get("direction") if isinstance(first, dict) else None
    except (KeyError, IndexError, ValueError, InvalidOperation):
        rate, direction = None, None
    if rate is None or not 0 <= rate <= 1:
        raise ApplicationError(
            "SLV-A022",
            Text("no es una corrida con resultados", "not a run with results"),
            where=str(run),
        )
    wrong = rate if direction == "at_most" else 1 - rate
    say(t(f"el piloto midió {wrong:.4f} de respuestas malas", f"the pilot measured {wrong:.4f} wrong answers"))
    # A pilot without a failure does not promise a service without failures.
    return max(wrong, Decimal("0.005"))
