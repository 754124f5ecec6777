"""The bank as a sheet with each finding beside its row: to be handed back to those who wrote the items.

Source: docs/spec/bank-check.md section 6.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

from slaverify.evalset.export import columns_used
from slaverify.evalset.item import Item
from slaverify.evalset.template import write_text_rows, xlsxwriter
from slaverify.evalset.template_layout import FINDINGS_LABEL, LABELS, SHEET, to_cells


def annotated_xlsx(items: Sequence[Item], findings: Mapping[str, Sequence[str]], language: str) -> bytes:
    """Return the items as XLSX, findings by id in the first column; it imports back. Raises: SetError SLV-I045."""
    rows = [to_cells(item.to_json()) for item in sorted(items, key=lambda item: item.id)]
    names = columns_used(rows)
    table = [[FINDINGS_LABEL.in_language(language), *(LABELS[name].in_language(language) for name in names)]]
    table += [["\n".join(findings.get(row.get("id", ""), ())), *(row.get(name, "") for name in names)] for row in rows]
    out = io.BytesIO()
    book = xlsxwriter().Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    sheet = book.add_worksheet(SHEET.in_language(language))
    write_text_rows(book, sheet, table)
    book.close()
    return out.getvalue()
