"""The blind sheet: the rows of one person in an order of their own, without any trace of what the judge said.

A row's name and place come from a key that only the auditor has, the person and the unit: two sheets share no name,
and none tells which answer it is. No cell runs in a spreadsheet, none is taken for a number or a date.

Source: docs/spec/calibration.md section 3; RFC 4180; OWASP, CSV injection (*unverified*).
"""

from __future__ import annotations

import csv
import hmac
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import jcs, sha256_hex
from slaverify.contract import Contract
from slaverify.errors import JudgeError, Text
from slaverify.evalset import inert, write_text_rows, xlsxwriter
from slaverify.judging.calibration.columns import HEADINGS, column, headings, instructions, layout
from slaverify.judging.calibration.units import UnitKey
from slaverify.judging.criteria import whole_text

SHEET = Text("Etiquetas", "Labels")
PAGE = Text("Instrucciones", "Instructions")
MAX_CELL = 32_767
"""Characters that a cell of a spreadsheet holds."""
_BOM = "\ufeff"
_ROWS_FOR_LISTS = 5_000
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_LIKE_A_NUMBER = re.compile(r"[\d(].{0,30}|(?i:true|false|verdadero|falso)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The texts of one answer: what people may see. `hidden_marks` names code points that nobody sees, or is empty."""

    question: str
    answer: str
    hidden_marks: str
    official_text: str


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row as it leaves: its name, its unit, and its fixed cells by column."""

    row: str
    key: UnitKey
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BlindSheet:
    """One person's sheet. `digest`: SHA-256 (hex) of its fixed cells in order, whatever the format."""

    rows: tuple[SheetRow, ...]
    digest: str


def blind_sheet(
    contract: Contract, keys: Sequence[UnitKey], texts: Mapping[tuple[str, int], Shown], key: bytes, reader: int
) -> BlindSheet:
    """Return the sheet of one reader; `texts` by item id and repetition. The same inputs give the same sheet."""
    named: dict[str, UnitKey] = {}
    for unit in sorted(keys):
        named[_name(key, reader, unit, named)] = unit
    ordered = sorted(named, key=lambda row: hmac.digest(key, b"order\x00" + row.encode(), "sha256"))
    rows = tuple(SheetRow(row, named[row], _cells(contract, row, named[row], texts)) for row in ordered)
    return BlindSheet(rows, sha256_hex(jcs([dict(row.cells) for row in rows])))


def sheet_csv(contract: Contract, sheet: BlindSheet, language: str) -> bytes:
    """Return the sheet as CSV: UTF-8 with a mark, CRLF."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerows([[guarded(cell) for cell in row] for row in _table(contract, sheet, language)])
    return (_BOM + out.getvalue()).encode("utf-8")


def sheet_xlsx(contract: Contract, sheet: BlindSheet, language: str) -> bytes:
    """Return the sheet as XLSX: text alone, closed lists, a page of instructions.

    Raises: SetError SLV-I045 (XlsxWriter is not installed), JudgeError SLV-J061 (a cell too long for a spreadsheet).
    """
    table = _table(contract, sheet, language)
    for line, cells in enumerate(table, 1):
        for name, cell in zip(layout(contract), cells, strict=True):
            if len(cell) > MAX_CELL:
                raise JudgeError(
                    "SLV-J061",
                    Text(f"la celda tiene {len(cell)} caracteres", f"the cell has {len(cell)} characters"),
                    why=Text(f"una planilla admite {MAX_CELL}", f"a spreadsheet holds {MAX_CELL}"),
                    fix=Text("exporte con --format csv", "export with --format csv"),
                    where=f"{SHEET.in_language(language)}:{line}, {HEADINGS[name].in_language(language)}",
                )
    writer = xlsxwriter()
    out = io.BytesIO()
    book = writer.Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    page = book.add_worksheet(SHEET.in_language(language))
    write_text_rows(book, page, table)
    for number, name in enumerate(layout(contract)):
        choices = column(contract, name).shown(language) if name in _filled(contract) else ()
        if choices:
            page.data_validation(1, number, _ROWS_FOR_LISTS, number, {"validate": "list", "source": list(choices)})
    how = book.add_worksheet(PAGE.in_language(language))
    how.set_column(0, 0, 110, book.add_format({"text_wrap": True, "valign": "top"}))
    for line, sentence in enumerate(instructions(contract, language)):
        how.write_string(line, 0, sentence)
    book.close()
    return out.getvalue()


def plain(text: str) -> str:
    """Return a text as a cell can hold it: LF line ends, control characters shown by their number."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub(lambda match: f"<U+{ord(match.group()):04X}>", lines)


def guarded(cell: str) -> str:
    """Return a cell that a spreadsheet leaves as it is: `'` before what looks like a formula, a number or a date."""
    safe = inert(cell)
    return f"'{cell}" if safe == cell and _LIKE_A_NUMBER.fullmatch(cell) else safe


def _filled(contract: Contract) -> tuple[str, ...]:
    names = layout(contract)
    return names[names.index("class") :]


def _table(contract: Contract, sheet: BlindSheet, language: str) -> list[list[str]]:
    names = layout(contract)
    rows = [[row.cells.get(name, "") for name in names] for row in sheet.rows]
    return [headings(contract, language), *rows]


def _cells(contract: Contract, row: str, key: UnitKey, texts: Mapping[tuple[str, int], Shown]) -> dict[str, str]:
    shown = texts[key.item_id, key.repetition]
    cells = {
        "row": row,
        "criterion": _criterion(contract, key.subject),
        "question": shown.question,
        "answer": shown.answer,
        "hidden_marks": shown.hidden_marks,
        "official_text": shown.official_text,
    }
    return {name: plain(cell) for name, cell in cells.items() if name in layout(contract)}


def _criterion(contract: Contract, subject: str) -> str:
    criteria = () if contract.judge is None else contract.judge.criteria
    return next((whole_text(one) for one in criteria if one.id == subject), "")


def _name(key: bytes, reader: int, unit: UnitKey, taken: Mapping[str, UnitKey]) -> str:
    """Return 8 hex digits that begin with a letter and are no number to a spreadsheet (`1e234567` would be one)."""
    told = "\x00".join(("row", str(reader), unit.item_id, str(unit.repetition), unit.subject)).encode()
    for attempt in range(256):
        found = hmac.digest(key, told + bytes([attempt]), "sha256").hex()
        name = "abcdef"[int(found[0], 16) % 6] + found[1:8]
        if name not in taken:
            return name
    raise AssertionError("256 names of 31 bits were taken")
