"""Read CSV and TSV: strictly decoded text, quoted cells of several lines, one number of cells in every row.

The separator is the one of an option or of a `sep=` line; else it is proposed from the whole file.

Trust boundary: see `reading`. Source: RFC 4180 (quoting); docs/spec/import.md section 4.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from slaverify.errors import SetError, Text
from slaverify.evalset.importers.decoding import decode
from slaverify.evalset.importers.options import Deck, Proposal
from slaverify.evalset.importers.reading import line_ends, nfc
from slaverify.evalset.importers.table import Cell, Row, Table
from slaverify.evalset.problems import problem
from slaverify.evalset.template_layout import ours

if TYPE_CHECKING:
    import _csv

FIELD_LIMIT = 16 * 1024 * 1024
"""Characters of one cell."""

MAX_ROWS = 200_000
"""Rows of one table, header and blank ones among them."""

DELIMITERS = (",", ";", "\t", "|")
NAMES = {"tab": "\t", "coma": ",", "comma": ",", "punto y coma": ";", "semicolon": ";", "barra": "|", "bar": "|"}
QUOTE = '"'


def read_delimited(data: bytes, name: str, deck: Deck, *, delimiter: str | None = None) -> Table:
    """Return the rows; `delimiter` is given where the format itself fixes it.

    Raises: SetError SLV-I015, SLV-I016; UndecidedError where the encoding is open.
    """
    decoded = decode(data, name, deck.options)
    text = decoded.text
    deck.given("encoding", "option" if decoded.known_by == "option" else "file")
    skipped = 0
    first, _, rest = text.partition("\n")
    if first.rstrip("\r").lower().startswith("sep=") and len(first.rstrip("\r")) == 5:
        delimiter, text, skipped = first[4], rest, 1
        deck.given("delimiter", "file")
    elif delimiter is not None:
        deck.given("delimiter", "format")
    else:
        delimiter = _delimiter(text, name, deck)
    rows, problems = _rows(text, name, delimiter, skipped)
    return Table(
        rows=rows,
        place=name,
        line_ends=line_ends(decoded.text),
        encoding=(decoded.encoding, decoded.known_by),
        delimiter=delimiter,
        skipped_first=skipped,
        problems=problems,
    )


def _delimiter(text: str, name: str, deck: Deck) -> str:
    given = deck.options.delimiter
    if given is not None:
        deck.given("delimiter")
        sign = NAMES.get(given.lower(), "\t" if given == "\\t" else given)
        if len(sign) != 1 or sign in '"\r\n':
            raise problem("SLV-I015", Text(f"separador imposible: {given}", f"impossible separator: {given}"), name)
        return sign
    for sign in DELIMITERS:
        if ours([nfc(cell.strip()) for cell in _first_row(text, sign)]):
            deck.given("delimiter", "template")
            return sign
    fits = [(sign, width) for sign in DELIMITERS if (width := _width(text, sign)) > 1]
    if len(fits) == 1:
        sign, width = fits[0]
        why = Text(f"con él todas las filas tienen {width} celdas", f"with it every row has {width} cells")
    elif not fits:
        # one column, or ragged rows: the sign that stands most often in the first line
        head = text.partition("\n")[0]
        sign = max(DELIMITERS, key=head.count)
        why = Text("ninguno da filas parejas", "none gives even rows")
    else:
        sign, width = max(fits, key=lambda fit: fit[1])
        others = ", ".join(repr(other) for other, _ in fits if other != sign)
        why = Text(f"da {width} columnas; también calzan {others}", f"gives {width} columns; {others} fit too")
    shown = "tab" if sign == "\t" else sign
    deck.propose("delimiter", Proposal("--delimiter", shown, why, tuple(text.splitlines()[:2])))
    return sign


def _first_row(text: str, delimiter: str) -> list[str]:
    try:
        return next(_reader(text[:65_536], delimiter), [])
    except csv.Error:
        return []


def _width(text: str, delimiter: str) -> int:
    widths: set[int] = set()
    try:
        for cells in _reader(text, delimiter):
            if any(cell.strip() for cell in cells):
                widths.add(len(cells))
            if len(widths) > 1:
                return 0
    except csv.Error:
        return 0
    return widths.pop() if widths else 0


def _rows(text: str, name: str, delimiter: str, skipped: int) -> tuple[list[Row], list[SetError]]:
    rows: list[Row] = []
    reader = _reader(text, delimiter)
    line = 1
    try:
        for cells in reader:
            number = line + skipped
            rows.append(Row(number, tuple(Cell(cell, place=f"{name}:{number}") for cell in cells)))
            line = reader.line_num + 1
            if len(rows) > MAX_ROWS:
                what = Text(f"más de {MAX_ROWS} filas", f"more than {MAX_ROWS} rows")
                return rows, [problem("SLV-I015", what, name)]
    except csv.Error as error:
        where = f"{name}:{reader.line_num + skipped}"
        fix = Text("revise las comillas de esa línea", "check the quotes of that line")
        return rows, [problem("SLV-I015", Text(f"CSV mal formado ({error})", f"malformed CSV ({error})"), where, fix)]
    return rows, []


def _reader(text: str, delimiter: str) -> _csv.Reader:
    csv.field_size_limit(FIELD_LIMIT)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=QUOTE, strict=True)
