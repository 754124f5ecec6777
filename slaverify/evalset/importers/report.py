"""What an importer read: bytes, encoding, rows, what it typed or left out, and the digest of the result.

Source: docs/spec/import.md section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from slaverify.canonical import JsonObject, JsonValue
from slaverify.errors import ProblemsError, SlaverifyError, Text
from slaverify.evalset.item import Item


@dataclass(frozen=True, slots=True)
class Typed:
    """A cell that the program stored as a number or a date, and what was taken for it."""

    cell: str
    kind: str
    stored: str
    taken: str


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What only some readers can say. Rows and lines are numbers of the file, from 1.

    `known_by` says how each decision was taken: `option`, `file`, `format`, `template` or `proposal` (accepted).
    """

    delimiter: str | None = None
    quote: str | None = None
    sheet: str | None = None
    header_row: int | None = None
    known_by: tuple[tuple[str, str], ...] = ()
    rows_excluded: tuple[int, ...] = ()
    rows_hidden: tuple[int, ...] = ()
    rows_worked: tuple[int, ...] = ()
    sheets_hidden: tuple[str, ...] = ()
    sheets_other: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    formula_cells: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()
    typed: tuple[Typed, ...] = ()
    nfc_headers: tuple[str, ...] = ()
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """One import. Counts are of rows (lines, questions or tests of the file); digests are `sha256:<hex>`.

    `canonical_digest` is null where the import was refused; `duplicates` pairs an id with the places it stands in.
    """

    source: str
    source_digest: str
    format: str
    encoding: str
    encoding_known_by: str
    line_ends: str | None
    id_column: str
    columns: tuple[tuple[str, str], ...]
    rows_read: int
    rows_kept: int
    rows_blank: int
    rows_refused: int
    normalised_to_nfc: int
    formula_like: tuple[str, ...]
    strata: tuple[tuple[str, int], ...]
    locale: str | None
    canonical_digest: str | None
    duplicates: tuple[tuple[str, tuple[str, ...]], ...] = ()
    refusals: tuple[SlaverifyError, ...] = ()
    facts: SourceFacts = field(default=SourceFacts())

    def to_json(self) -> JsonObject:
        """Return the report as a document, type `slaverify/import/1`."""
        tree: dict[str, JsonValue] = {
            "type": "slaverify/import/1",
            "source": self.source,
            "source_digest": self.source_digest,
            "format": self.format,
            "encoding": self.encoding,
            "encoding_known_by": self.encoding_known_by,
            "line_ends": self.line_ends,
            "id_column": self.id_column,
            "columns": dict(self.columns),
            "rows_read": self.rows_read,
            "rows_kept": self.rows_kept,
            "rows_blank": self.rows_blank,
            "rows_refused": self.rows_refused,
            "normalised_to_nfc": self.normalised_to_nfc,
            "formula_like": list(self.formula_like),
            "strata": dict(self.strata),
            "locale": self.locale,
            "canonical_digest": self.canonical_digest,
            "duplicates": {name: list(places) for name, places in self.duplicates},
            "refusals": [_refusal(error) for error in self.refusals],
        }
        tree.update({entry.name: _plain(getattr(self.facts, entry.name)) for entry in fields(SourceFacts)})
        tree["known_by"] = dict(self.facts.known_by)
        return tree


def _refusal(error: SlaverifyError) -> JsonObject:
    return {
        "code": error.code,
        "where": error.where,
        "what": {"es": error.what.es, "en": error.what.en},
        "fix": {"es": error.fix.es, "en": error.fix.en},
    }


def _plain(value: object) -> JsonValue:
    if isinstance(value, Text):
        return {"es": value.es, "en": value.en}
    if isinstance(value, Typed):
        return {"cell": value.cell, "kind": value.kind, "stored": value.stored, "taken": value.taken}
    if isinstance(value, tuple):
        return [_plain(member) for member in value]
    return value if isinstance(value, str | int) else None


@dataclass(frozen=True, slots=True)
class Imported:
    """The items of a file and the report of how they were read."""

    items: tuple[Item, ...]
    report: ImportReport


class ImportRefusedError(ProblemsError):
    """The file was read, and something in it cannot be imported; `report` says what was seen all the same."""

    def __init__(self, problems: Sequence[SlaverifyError], report: ImportReport) -> None:
        super().__init__(problems)
        self.report = report
