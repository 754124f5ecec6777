"""Read XLSX and ODS sheets: cells by python-calamine, what it does not say by `sheet_xml`.

A cell that the program stored as a number, percentage or date is taken as such and listed, never as the text that a
person may have typed: `3-4` that became a date is a date here, and the row says so. Hidden rows and sheets are not
read unless asked for. A formula without a stored value is empty, and the row is refused.

Trust boundary: see `reading`. Source: docs/spec/import.md section 5.
"""

from __future__ import annotations

import datetime
import io
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from slaverify.canonical import decimal_text
from slaverify.errors import Text
from slaverify.evalset.importers.delimited import MAX_ROWS
from slaverify.evalset.importers.options import Deck, ImportOptions, Proposal
from slaverify.evalset.importers.sheet_xml import SheetFacts, ods_facts, open_archive, xlsx_facts
from slaverify.evalset.importers.table import Cell, Row, Table
from slaverify.evalset.problems import problem
from slaverify.evalset.template_layout import PAGE, SHEET

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

_Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta


def read_workbook(data: bytes, name: str, form: str, deck: Deck) -> Table:
    """Return the rows of one sheet; `form` is `xlsx` or `ods`. Raises: SetError SLV-I017."""
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    archive = open_archive(data, name)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    except (CalamineError, OSError, ValueError) as error:
        raise problem("SLV-I017", Text("el libro no se puede leer", "the workbook cannot be read"), name) from error
    shown = [sheet.name for sheet in sheets if sheet.visible == SheetVisibleEnum.Visible]
    concealed = [sheet.name for sheet in sheets if sheet.visible != SheetVisibleEnum.Visible]
    sheet = _choose(shown, concealed, name, deck)
    facts = (xlsx_facts if form == "xlsx" else ods_facts)(archive, sheet, name)
    rows, merged = _rows(book, sheet, name, facts)
    hidden = tuple(row.line for row in rows if row.line in facts.hidden and not row.blank)
    if not deck.options.hidden:
        rows = [row for row in rows if row.line not in facts.hidden]
    deck.given("encoding", "format")
    return Table(
        rows=rows,
        place=f"{name}:{sheet}",
        encoding=("utf-8", "file format"),
        sheet=sheet,
        hidden=hidden,
        sheets_hidden=tuple(other for other in concealed if other != sheet),
        sheets_other=tuple(other for other in shown if other != sheet),
        merged=merged,
        formulas=tuple(_address(row, column) for row, column in sorted(facts.formulas)),
    )


def read_text_workbook(data: bytes, name: str, sheets: Sequence[str]) -> Table:
    """Return the rows of an XLSX sheet of ours, the first of `sheets` that the book has. Raises: SetError SLV-I017."""
    from python_calamine import CalamineError, CalamineWorkbook

    open_archive(data, name)
    try:
        there = CalamineWorkbook.from_filelike(io.BytesIO(data)).sheet_names
    except (CalamineError, OSError, ValueError) as error:
        raise problem("SLV-I017", Text("el libro no se puede leer", "the workbook cannot be read"), name) from error
    wanted = next((sheet for sheet in sheets if sheet in there), sheets[0])
    return read_workbook(data, name, "xlsx", Deck(ImportOptions(sheet=wanted)))


def _choose(shown: list[str], concealed: list[str], name: str, deck: Deck) -> str:
    given = deck.options.sheet
    if given is not None:
        if given not in (*shown, *concealed):
            names = ", ".join(shown)
            what = Text(f"el libro no tiene la hoja {given}", f"the workbook has no sheet {given}")
            raise problem("SLV-I017", what, name, Text(f"las hojas son: {names}", f"the sheets are: {names}"))
        deck.given("sheet")
        return given
    if not shown:
        raise problem("SLV-I017", Text("el libro no tiene hojas visibles", "the workbook shows no sheet"), name)
    if len(shown) == 1:
        deck.given("sheet", "file")
        return shown[0]
    if set(shown) in ({SHEET.es, PAGE.es}, {SHEET.en, PAGE.en}):
        deck.given("sheet", "template")
        return SHEET.es if SHEET.es in shown else SHEET.en
    why = Text(f"es la primera de {len(shown)} hojas", f"it is the first of {len(shown)} sheets")
    deck.propose("sheet", Proposal("--sheet", shown[0], why, tuple(shown)))
    return shown[0]


def _rows(book: CalamineWorkbook, sheet: str, name: str, facts: SheetFacts) -> tuple[list[Row], tuple[str, ...]]:
    from python_calamine import CalamineError

    try:
        found = book.get_sheet_by_name(sheet)
        values = found.to_python(skip_empty_area=False)
        areas = found.merged_cell_ranges or []
    except (CalamineError, ValueError, OverflowError) as error:
        what = Text(f"la hoja {sheet} no se puede leer", f"sheet {sheet} cannot be read")
        raise problem("SLV-I017", what, name) from error
    if len(values) > MAX_ROWS:
        raise problem("SLV-I017", Text(f"más de {MAX_ROWS} filas", f"more than {MAX_ROWS} rows"), name)
    rows = [
        Row(line, tuple(_cell(value, line, column, f"{name}:{sheet}", facts) for column, value in enumerate(cells, 1)))
        for line, cells in enumerate(values, 1)
    ]
    merged = tuple(f"{_address(a + 1, b + 1)}:{_address(c + 1, d + 1)}" for (a, b), (c, d) in areas)
    return rows, merged


def _cell(value: _Value, line: int, column: int, place: str, facts: SheetFacts) -> Cell:
    where = f"{place}!{_address(line, column)}"
    if (line, column) in facts.empty_formulas:
        return Cell("", "formula", "", where)
    if (line, column) in facts.errors:
        return Cell(facts.errors[line, column], "error", facts.errors[line, column], where)
    if isinstance(value, str):
        return Cell(value, "text" if value else "empty", "", where)
    if isinstance(value, bool):
        return Cell("true" if value else "false", "bool", str(value), where)
    if isinstance(value, int | float):
        return _numeric(value, where, facts.percents.get((line, column)))
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return Cell(value.date().isoformat() if midnight else value.isoformat(), "date", value.isoformat(), where)
    if isinstance(value, datetime.date):
        return Cell(value.isoformat(), "date", value.isoformat(), where)
    return Cell(str(value), "time", str(value), where)


def _numeric(value: float, where: str, percent: str | None) -> Cell:
    if value != value or value in (float("inf"), float("-inf")):
        return Cell(str(value), "error", str(value), where)
    # a spreadsheet keeps 15 digits of what a person typed; 14.0 is 14
    exact = Decimal(format(value, ".15g"))
    if percent is not None:
        return Cell(f"{_plain(exact * 100)} %", "percent", _plain(exact), where)
    return Cell(_plain(exact), "number", repr(value), where)


def _plain(value: Decimal) -> str:
    text = decimal_text(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _address(line: int, column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{line}"
