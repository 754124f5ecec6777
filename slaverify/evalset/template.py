"""The sheet to hand to the people who write items: headings, closed lists, one worked row per stratum, instructions.

It comes back through `bank import` without a mapping. XLSX is written by XlsxWriter, which only this command needs.

Source: docs/spec/import.md section 9.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from slaverify.errors import SetError, Text
from slaverify.evalset.export import csv_bytes
from slaverify.evalset.importers.rows import WORKED
from slaverify.evalset.template_layout import LABELS, PAGE, SHEET, inert
from slaverify.evalset.template_rows import GENERIC, INSTRUCTIONS, WORKED_ROWS

if TYPE_CHECKING:
    from xlsxwriter.workbook import Workbook  # type: ignore[import-untyped]  # XlsxWriter has no types
    from xlsxwriter.worksheet import Worksheet  # type: ignore[import-untyped]  # XlsxWriter has no types

ROWS = 2_000
"""Rows that the closed lists of the sheet cover."""

LISTS: Mapping[str, tuple[str, ...]] = {
    "reference.kind": ("number", "amount", "date", "entity", "set", "choice", "text", "citation", "json", "none"),
    "reference.day_kind": ("hábiles", "corridos"),
    "reference.because": ("out_of_corpus", "not_in_document", "false_premise", "out_of_scope"),
    "twin_relation": ("paraphrase", "near_miss", "negated", "entity_swap"),
    "trap.kind": ("missing_article", "missing_norm", "missing_case", "false_premise"),
}
"""Closed lists, by field; that of the stratum is the profile's."""


def template_rows(strata: Sequence[str], language: str) -> list[list[str]]:
    """Return headings and one worked row per stratum."""
    names = list(LABELS)
    rows = [[LABELS[name].in_language(language) for name in names]]
    for number, stratum in enumerate(strata, 1):
        worked = WORKED_ROWS.get(stratum, GENERIC)
        cells = {name: cell.in_language(language) for name, cell in worked.items()}
        cells |= {"id": f"{WORKED}{number}", "stratum": stratum, "locale": ""}
        rows.append([cells.get(name, "") for name in names])
    return rows


def template_csv(strata: Sequence[str], language: str) -> bytes:
    """Return the sheet as CSV (UTF-8 with a mark, `;`, which Spanish spreadsheets open in columns)."""
    return csv_bytes(template_rows(strata, language), ";")


def template_xlsx(strata: Sequence[str], language: str) -> bytes:
    """Return the sheet as XLSX with closed lists and a page of instructions. Raises: SetError SLV-I045."""
    writer = xlsxwriter()
    out = io.BytesIO()
    book: Workbook = writer.Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    names = list(LABELS)
    sheet = book.add_worksheet(SHEET.in_language(language))
    write_text_rows(book, sheet, template_rows(strata, language))
    for column, name in enumerate(names):
        options = tuple(strata) if name == "stratum" else LISTS.get(name)
        if options:
            sheet.data_validation(1, column, ROWS, column, {"validate": "list", "source": list(options)})
    page = book.add_worksheet(PAGE.in_language(language))
    page.set_column(0, 0, 110, book.add_format({"text_wrap": True, "valign": "top"}))
    for line, sentence in enumerate(INSTRUCTIONS):
        page.write_string(line, 0, sentence.in_language(language))
    page.hide_gridlines(2)
    book.close()
    return out.getvalue()


def write_text_rows(book: Workbook, sheet: Worksheet, rows: Sequence[Sequence[str]]) -> None:
    """Write rows as text cells, never as formulas, with a frozen heading."""
    bold = book.add_format({"bold": True, "text_wrap": True, "bottom": 1, "valign": "top"})
    text = book.add_format({"num_format": "@", "text_wrap": True, "valign": "top"})
    sheet.freeze_panes(1, 1)
    sheet.set_column(0, len(rows[0]) - 1, 24, text)
    for line, row in enumerate(rows):
        for column, cell in enumerate(row):
            if cell:
                sheet.write_string(line, column, inert(cell), bold if line == 0 else text)


def xlsxwriter() -> ModuleType:
    """Return the module that writes XLSX. Raises: SetError SLV-I045 where the extra is not installed."""
    try:
        import xlsxwriter as module  # type: ignore[import-untyped]  # XlsxWriter has no types
    except ImportError as error:
        raise SetError(
            "SLV-I045",
            Text("para escribir XLSX falta XlsxWriter", "XlsxWriter is needed to write XLSX"),
            fix=Text(
                "instale el extra «slaverify[label]», o use --format csv",
                "install the extra `slaverify[label]`, or use --format csv",
            ),
        ) from error
    loaded: ModuleType = module
    return loaded
