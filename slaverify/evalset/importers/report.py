"""What an importer read: bytes, encoding, rows, what it normalised, and the digest of the result."""

from __future__ import annotations

from dataclasses import dataclass

from slaverify.canonical import JsonObject
from slaverify.evalset.item import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """One import. Counts are of rows (lines, or questions of a SQuAD file); digests are `sha256:<hex>`."""

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
    canonical_digest: str

    def to_json(self) -> JsonObject:
        """Return the report as a document, type `slaverify/import/1`."""
        return {
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
        }


@dataclass(frozen=True, slots=True)
class Imported:
    """The items of a file and the report of how they were read."""

    items: tuple[Item, ...]
    report: ImportReport
