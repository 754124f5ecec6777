"""The columns of a sheet for people: their headings, the words that may stand in them, and how to fill them in.

A person reads words of a language; what is kept are the words of the rubric. Either language is read, in any case.

Source: docs/spec/calibration.md section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slaverify.contract import Contract
from slaverify.errors import Text
from slaverify.judging.calibration.asked import columns_for, words_of
from slaverify.judging.calibration.labels import CLASSES
from slaverify.judging.rubrics import rubric_of

FIXED = ("row", "criterion", "question", "answer", "hidden_marks", "official_text")
"""Columns that come filled in; `criterion` only where people mark criteria."""
FREE = ("doubt", "comment")

HEADINGS: Mapping[str, Text] = {
    "row": Text("fila", "row"),
    "criterion": Text("criterio", "criterion"),
    "question": Text("pregunta", "question"),
    "answer": Text("respuesta", "answer"),
    "hidden_marks": Text("marcas ocultas", "hidden marks"),
    "official_text": Text("texto oficial", "official text"),
    "class": Text("clase", "class"),
    "correctness": Text("exactitud", "correctness"),
    "grounding": Text("sustento", "grounding"),
    "eligibility": Text("atiende lo pedido", "eligibility"),
    "unsupported": Text("frases sin apoyo", "unsupported sentences"),
    "met": Text("cumple", "met"),
    "doubt": Text("duda", "doubt"),
    "comment": Text("comentario", "comment"),
}

_WORDS: Mapping[str, Text] = {
    "answer": Text("respuesta", "answer"),
    "abstention": Text("abstención", "abstention"),
    "non_answer": Text("sin respuesta", "non-answer"),
    "correct": Text("correcta", "correct"),
    "partial": Text("parcial", "partial"),
    "incorrect": Text("incorrecta", "incorrect"),
    "no_answer": Text("no responde", "no answer"),
    "grounded": Text("sustentada", "grounded"),
    "misgrounded": Text("mal sustentada", "misgrounded"),
    "ungrounded": Text("sin sustento", "ungrounded"),
    "not_applicable": Text("no aplica", "not applicable"),
    "no_issues": Text("sin reparos", "no issues"),
    "minor_issues": Text("reparos menores", "minor issues"),
    "major_issues": Text("reparos mayores", "major issues"),
    "invalid": Text("no atiende", "invalid"),
    "met": Text("sí", "yes"),
    "not_met": Text("no", "no"),
    "doubt": Text("sí", "yes"),
    "no_doubt": Text("no", "no"),
}
_CLASS_HELP: Mapping[str, Text] = {
    "answer": Text("afirma algo que responde, bien o mal", "it asserts something in reply, right or wrong"),
    "abstention": Text("dice que no sabe, que no consta o que no le toca", "it says that it does not know or may not"),
    "non_answer": Text("ni afirma nada ni se abstiene", "it neither asserts anything nor abstains"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column to fill in: its name, and its closed list in the order of the rubric (empty: free text)."""

    name: str
    codes: tuple[str, ...]

    def shown(self, language: str) -> tuple[str, ...]:
        """Return the closed list in the reader's language."""
        return tuple(_WORDS[code].in_language(language) for code in self.codes)

    def code(self, cell: str) -> str | None:
        """Return the word of the rubric that a cell stands for, null if it is none of the list."""
        told = " ".join(cell.split()).casefold()
        return next((code for code in self.codes if told in {code, *(word.casefold() for word in _WORDS[code])}), None)


def layout(contract: Contract) -> tuple[str, ...]:
    """Return the names of a sheet's columns, in order."""
    criteria = contract.judge is not None and bool(contract.judge.criteria)
    fixed = tuple(name for name in FIXED if criteria or name != "criterion")
    return (*fixed, "class", *asked(contract), *FREE)


def asked(contract: Contract) -> tuple[str, ...]:
    """Return the rubric's columns of a sheet."""
    judge = contract.judge
    subject = judge.criteria[0].id if judge is not None and judge.criteria else ""
    return columns_for(contract, subject)


def column(contract: Contract, name: str) -> Column:
    """Return a column to fill in."""
    if name == "class":
        return Column(name, CLASSES)
    if name == "doubt":
        return Column(name, ("doubt", "no_doubt"))
    return Column(name, () if name == "comment" else words_of(contract, name))


def headings(contract: Contract, language: str) -> list[str]:
    """Return the headings of a sheet."""
    return [HEADINGS[name].in_language(language) for name in layout(contract)]


def instructions(contract: Contract, language: str) -> list[str]:
    """Return how to fill in a sheet, one line each: what each column asks, what each of its words means."""
    anchors: Mapping[str, Mapping[str, str]] = {}
    told: list[Text] = [
        Text(
            "Lea sólo lo que está en la hoja. No busque la respuesta en otro lado y no converse las filas con nadie.",
            "Read only what the sheet holds. Do not look the answer up and do not talk about the rows.",
        ),
        Text(
            "No cambie el orden, las columnas ni los textos; no agregue fórmulas. Las celdas vacías quedan pendientes.",
            "Do not change order, columns or texts; add no formulas. Empty cells stay pending.",
        ),
        Text(
            "Un apóstrofo al comienzo de una celda no es de la respuesta: evita que la planilla la cambie.",
            "An apostrophe before a cell is not part of the answer: it keeps the spreadsheet from changing it.",
        ),
    ]
    lines = [one.in_language(language) for one in told]
    if contract.judge is not None:
        found = rubric_of(contract.judge)
        anchors = found.anchors.get(language[:2], found.anchors["es"])
        lines.append(found.text.get(language[:2], found.text["es"]))
    for name in ("class", *asked(contract)):
        one = column(contract, name)
        meaning = {code: text.in_language(language) for code, text in _CLASS_HELP.items()}
        meaning = meaning if name == "class" else dict(anchors.get(name, {}))
        lines.append(f"{HEADINGS[name].in_language(language)}:")
        for code, word in zip(one.codes, one.shown(language), strict=True):
            lines.append(f"  {word}" + (f": {meaning[code]}" if code in meaning else ""))
    if "unsupported" in asked(contract):
        told_numbers = Text("  sus números, con comas; 0 si ninguna", "  their numbers, with commas; 0 if none")
        lines.append(told_numbers.in_language(language))
    if "correctness" in asked(contract):
        blank = Text(
            "Si la clase no es «respuesta», deje vacías las columnas que siguen.",
            "If the class is not `answer`, leave the columns after it empty.",
        )
        lines.append(blank.in_language(language))
    return lines
