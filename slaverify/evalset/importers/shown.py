"""The report of an import as a person reads it, in either language.

Source: docs/spec/import.md section 2.
"""

from __future__ import annotations

from collections.abc import Iterable

from slaverify.errors import Text
from slaverify.evalset.importers.report import ImportReport

_SHOWN = 12
_KNOWN = {
    "option": Text("indicado", "given"),
    "file": Text("lo dice el archivo", "said by the file"),
    "format": Text("lo fija el formato", "fixed by the format"),
    "template": Text("es nuestra planilla", "our own sheet"),
    "proposal": Text("propuesto y aceptado", "proposed and accepted"),
    "byte order mark": Text("marca BOM", "byte order mark"),
    "strict decoding": Text("decodificación estricta", "strict decoding"),
    "file format": Text("lo fija el formato", "fixed by the format"),
}


def report_lines(report: ImportReport, language: str) -> list[str]:
    """Return the lines of the report, in `language`."""
    return [line.in_language(language) for line in _lines(report, language)]


def _lines(report: ImportReport, language: str) -> Iterable[Text]:
    facts = report.facts
    by = dict(facts.known_by)

    def how(what: str) -> str:
        word = _KNOWN.get(by.get(what, ""))
        return "" if word is None else f" ({word.in_language(language)})"

    yield Text(f"archivo: {report.source}, {report.source_digest}", f"file: {report.source}, {report.source_digest}")
    yield Text(f"formato: {report.format}{how('format')}", f"format: {report.format}{how('format')}")
    known = _KNOWN.get(report.encoding_known_by, Text(report.encoding_known_by, report.encoding_known_by))
    ends = f"; {report.line_ends}" if report.line_ends else ""
    yield Text(f"codificación: {report.encoding} ({known.es}){ends}", f"encoding: {report.encoding} ({known.en}){ends}")
    if facts.delimiter is not None:
        sign = "tab" if facts.delimiter == "\t" else facts.delimiter
        yield Text(
            f"separador: {sign}{how('delimiter')}; comillas: {facts.quote}",
            f"separator: {sign}{how('delimiter')}; quote: {facts.quote}",
        )
    if facts.sheet is not None:
        yield Text(f"hoja: {facts.sheet}{how('sheet')}", f"sheet: {facts.sheet}{how('sheet')}")
    yield from _sheets(report)
    if facts.header_row is not None:
        row = facts.header_row
        yield Text(f"encabezado: fila {row}{how('header')}", f"heading: row {row}{how('header')}")
    if report.columns:
        pairs = "; ".join(f"{column} → {field}" for column, field in report.columns)
        yield Text(f"columnas{how('mapping')}: {pairs}", f"columns{how('mapping')}: {pairs}")
    none = Text("ninguna, formado", "none, made")
    name = report.id_column or none.in_language(language)
    yield Text(f"columna de id: {name}{how('ids')}", f"column of ids: {name}{how('ids')}")
    yield from _rows(report)
    yield from _cells(report)
    yield from facts.notes
    if report.canonical_digest is None:
        yield Text("no se importó nada", "nothing was imported")
    else:
        yield Text(f"digest canónico: {report.canonical_digest}", f"canonical digest: {report.canonical_digest}")


def _sheets(report: ImportReport) -> Iterable[Text]:
    facts = report.facts
    if facts.sheets_other:
        names = _list(facts.sheets_other)
        yield Text(f"otras hojas, no leídas: {names}", f"other sheets, not read: {names}")
    if facts.sheets_hidden:
        names = _list(facts.sheets_hidden)
        yield Text(f"hojas ocultas, no leídas: {names}", f"hidden sheets, not read: {names}")
    if facts.rows_hidden:
        names = _list(facts.rows_hidden)
        yield Text(f"filas ocultas: {names}", f"hidden rows: {names}")
    if facts.merged:
        names = _list(facts.merged)
        yield Text(f"celdas combinadas: {names}", f"merged cells: {names}")


def _rows(report: ImportReport) -> Iterable[Text]:
    yield Text(
        f"filas: {report.rows_read} leídas, {report.rows_kept} sirven, {report.rows_refused} rechazadas, "
        f"{report.rows_blank} en blanco",
        f"rows: {report.rows_read} read, {report.rows_kept} of use, {report.rows_refused} refused, "
        f"{report.rows_blank} blank",
    )
    facts = report.facts
    if facts.rows_excluded:
        names = _list(facts.rows_excluded)
        yield Text(f"filas excluidas a pedido: {names}", f"rows left out as asked: {names}")
    if facts.rows_worked:
        names = _list(facts.rows_worked)
        yield Text(f"filas de ejemplo de la planilla, fuera: {names}", f"worked rows of the sheet, left out: {names}")
    for name, places in report.duplicates:
        where = _list(places)
        yield Text(f"id repetido: {name} en {where}", f"id that stands twice: {name} in {where}")
    if report.strata:
        strata = ", ".join(f"{name} {count}" for name, count in report.strata)
        yield Text(f"estratos: {strata}", f"strata: {strata}")
    locale = Text(report.locale or "no indicado (el del contrato)", report.locale or "not given (the contract's)")
    yield Text(f"locale: {locale.es}", f"locale: {locale.en}")


def _cells(report: ImportReport) -> Iterable[Text]:
    facts = report.facts
    if report.normalised_to_nfc or facts.nfc_headers:
        names = f" ({', '.join(facts.nfc_headers)})" if facts.nfc_headers else ""
        yield Text(
            f"llevado a NFC: {report.normalised_to_nfc} filas, {len(facts.nfc_headers)} encabezados{names}",
            f"brought to NFC: {report.normalised_to_nfc} rows, {len(facts.nfc_headers)} headings{names}",
        )
    if facts.formula_cells:
        names = _list(facts.formula_cells)
        yield Text(
            f"celdas que parecen fórmula (= + - @), tomadas como texto: {names}",
            f"cells that look like a formula (= + - @), taken as text: {names}",
        )
    if facts.formulas:
        names = _list(facts.formulas)
        yield Text(f"fórmulas (se lee su valor guardado): {names}", f"formulas (their stored value is read): {names}")
    for typed in facts.typed[:_SHOWN]:
        yield Text(
            f"la planilla guardó {typed.stored} en {typed.cell} ({typed.kind}); se tomó {typed.taken}",
            f"the sheet stored {typed.stored} in {typed.cell} ({typed.kind}); taken as {typed.taken}",
        )
    left = len(facts.typed) - _SHOWN
    if left > 0:
        yield Text(f"y {left} celdas más así; véalas con --json", f"and {left} more such cells; see them with --json")


def _list(names: Iterable[object]) -> str:
    every = [str(name) for name in names]
    return ", ".join(every[:_SHOWN]) + (f", … ({len(every)})" if len(every) > _SHOWN else "")
