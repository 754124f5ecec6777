"""Which row names the columns, and which field each column is: by option, by our own template, or proposed.

Source: docs/spec/import.md section 6.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from slaverify.errors import Text
from slaverify.evalset.importers.options import Deck, Proposal
from slaverify.evalset.importers.reading import nfc
from slaverify.evalset.importers.table import Row, Table
from slaverify.evalset.problems import problem
from slaverify.evalset.template_layout import FINDINGS, LABELS, field_of, ours

IGNORED = "-"
REFERENCE = "reference"
_SEARCHED = 30

FIELDS = frozenset(
    {*LABELS, REFERENCE, FINDINGS, IGNORED, "messages", "attachments", "criteria", "authors", "annotations", "settings"}
)
"""Fields that a column may be given; `ext.<name>` is one too."""

SYNONYMS = {
    "id": ("id", "n°", "nº", "n", "no", "num", "numero", "index", "codigo", "item", "item id", "id pregunta"),
    "query": ("pregunta", "consulta", "question", "query", "input", "prompt", "user input", "user request"),
    REFERENCE: (
        "respuesta esperada",
        "respuesta correcta",
        "respuesta",
        "answer",
        "expected",
        "expected answer",
        "expected output",
        "reference",
        "target",
        "gold",
        "ground truth",
    ),
    "stratum": ("estrato", "stratum", "categoria", "category"),
    "source.title": ("norma", "fuente", "source", "ley"),
    "source.locator": ("articulo", "article", "seccion", "section", "locator"),
    "consulted_on": ("fecha consulta", "fecha de consulta", "consultado el", "consulted on"),
    "as_of": ("vigente al", "as of"),
    "official_text": ("texto oficial", "official text"),
    "cluster": ("grupo", "cluster"),
    "locale": ("locale",),
}
"""Headings that are proposed for a field, without accents and in lower case."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The heading of each column and its field; `template`: the sheet is one of ours."""

    headings: tuple[str, ...]
    fields: tuple[str, ...]
    row: int
    template: bool
    nfd: tuple[str, ...]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return heading and field of each named column."""
        return tuple((heading, field) for heading, field in zip(self.headings, self.fields, strict=True) if heading)

    def heading(self, field: str) -> str:
        """Return the heading of the column of `field`, empty if none is."""
        return next((heading for heading, own in self.pairs if own == field), "")


def find_columns(table: Table, deck: Deck, *, first_row: bool = False) -> Columns:
    """Return the columns; `first_row`: the format itself puts the headings in the first row.

    Raises: SetError SLV-I015.
    """
    if not table.rows:
        raise problem("SLV-I010", Text("no hay ninguna fila", "there is no row"), table.place)
    own = None if first_row or deck.options.header is not None else _own_row(table.rows)
    row = own or _header(table, deck, first_row=first_row)
    raw = [cell.text.strip() for cell in row.cells]
    headings = tuple(nfc(text) for text in raw)
    nfd = tuple(nfc(text) for text in raw if nfc(text) != text)
    named = [heading for heading in headings if heading]
    twice = sorted({heading for heading in named if named.count(heading) > 1})
    if twice:
        names = ", ".join(twice)
        what = Text(f"encabezados repetidos: {names}", f"headings that stand twice: {names}")
        raise problem("SLV-I015", what, f"{table.place}:{row.line}")
    if first_row:
        return Columns(headings, tuple(IGNORED for _ in headings), row.line, False, nfd)
    if own is not None and not deck.options.mapping:
        deck.given("header", "template")
        deck.given("mapping", "template")
        return Columns(headings, tuple(field_of(heading) or IGNORED for heading in headings), row.line, True, nfd)
    return Columns(headings, _fields(headings, table, row, deck), row.line, False, nfd)


def _own_row(rows: Sequence[Row]) -> Row | None:
    """Return the row whose every heading is ours."""
    return next((row for row in rows[:_SEARCHED] if ours([nfc(cell.text.strip()) for cell in row.cells])), None)


def _header(table: Table, deck: Deck, *, first_row: bool) -> Row:
    given = deck.options.header
    if given is not None:
        deck.given("header")
        chosen = next((row for row in table.rows if row.line == given), None)
        if chosen is None or chosen.blank:
            what = Text(f"la fila {given} está en blanco o no existe", f"row {given} is blank or missing")
            raise problem("SLV-I015", what, table.place)
        return chosen
    if first_row:
        deck.given("header", "format")
        return table.rows[0]
    best = max(table.rows[:_SEARCHED], key=lambda row: (sum(not cell.blank for cell in row.cells), -row.line))
    shown = tuple(cell.text for cell in best.cells if not cell.blank)
    why = Text("es la primera fila con más celdas escritas", "it is the first row with most cells written")
    deck.propose("header", Proposal("--header", str(best.line), why, (" | ".join(shown),)))
    return best


def _fields(headings: Sequence[str], table: Table, row: Row, deck: Deck) -> tuple[str, ...]:
    wanted = {nfc(column): field for column, field in deck.options.mapping}
    where = f"{table.place}:{row.line}"
    missing = sorted(set(wanted) - set(headings))
    if missing:
        names, seen = ", ".join(missing), ", ".join(heading for heading in headings if heading)
        what = Text(f"el archivo no tiene la columna {names}", f"the file has no column {names}")
        raise problem("SLV-I015", what, where, Text(f"las columnas son: {seen}", f"the columns are: {seen}"))
    unknown = sorted({field for field in wanted.values() if field not in FIELDS and not field.startswith("ext.")})
    if unknown:
        names = ", ".join(unknown)
        known = ", ".join(sorted(FIELDS))
        what = Text(f"campo desconocido: {names}", f"unknown field: {names}")
        raise problem("SLV-I015", what, where, Text(f"los campos son: {known}", f"the fields are: {known}"))
    if wanted:
        deck.given("mapping")
        return tuple(wanted.get(heading, IGNORED) for heading in headings)
    return _proposed(headings, deck)


def _proposed(headings: Sequence[str], deck: Deck) -> tuple[str, ...]:
    taken: set[str] = set()
    out: list[str] = []
    for heading in headings:
        field = next((name for name, words in SYNONYMS.items() if name not in taken and _folded(heading) in words), "")
        if field:
            taken.add(field)
            why = Text("por el nombre de la columna", "by the name of the column")
            deck.propose("mapping", Proposal("--map", f"{heading}={field}", why))
        out.append(field or IGNORED)
    return tuple(out)


def _folded(heading: str) -> str:
    bare = unicodedata.normalize("NFD", heading.lower())
    text = "".join(character for character in bare if not unicodedata.combining(character))
    return " ".join(text.replace("_", " ").split()).rstrip(":.?")
