"""Write a bank as a table: every item comes back as it was, and no cell runs in a spreadsheet.

CSV has a byte order mark, so that spreadsheets read its accents; cells that look like a formula get a `'`, which the
importer of our own sheets takes off again.

Source: docs/spec/import.md section 9; OWASP, CSV injection (*unverified*).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from slaverify.evalset.item import Item
from slaverify.evalset.template_layout import LABELS, inert, to_cells

BOM = "\ufeff"


def export_csv(items: Sequence[Item], language: str, *, delimiter: str = ",") -> bytes:
    """Return the items as CSV (UTF-8 with a mark, CRLF), headings in `language`; only the columns that are used."""
    rows = [to_cells(item.to_json()) for item in sorted(items, key=lambda item: item.id)]
    names = columns_used(rows)
    headings = [LABELS[name].in_language(language) for name in names]
    return csv_bytes([headings, *([row.get(name, "") for name in names] for row in rows)], delimiter)


def columns_used(rows: Sequence[dict[str, str]]) -> list[str]:
    """Return the columns that any row fills, and those that a sheet is known by, in the order of the sheet."""
    kept = {"id", "stratum", "query", "reference.kind", "reference.value"}
    kept.update(name for row in rows for name in row)
    return [name for name in LABELS if name in kept]


def csv_bytes(rows: Sequence[Sequence[str]], delimiter: str = ",") -> bytes:
    """Return rows as CSV, each cell inert. Our headings tell the importer the separator."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n")
    writer.writerows([[inert(cell) for cell in row] for row in rows])
    return (BOM + out.getvalue()).encode("utf-8")
