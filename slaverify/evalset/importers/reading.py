"""Steps that the importers share: byte order mark, NFC, formula-like cells, the report's common part.

Trust boundary: the bytes come from people; they are decoded strictly and read by strict readers.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from slaverify.canonical import JsonObject, JsonValue, NumberText, digest_of
from slaverify.errors import SetError
from slaverify.evalset.bank import bank_problems, write_bank
from slaverify.evalset.importers.report import Imported, ImportRefusedError, ImportReport, SourceFacts
from slaverify.evalset.item import Item

BOM = b"\xef\xbb\xbf"
FORMULA = ("=", "+", "-", "@")
"""First characters that a spreadsheet takes for a formula."""


@dataclass(slots=True)
class Counts:
    """What was met on the way; rows."""

    read: int = 0
    blank: int = 0
    nfc: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """How the file was understood. `encoding` null: UTF-8, with or without a byte order mark."""

    name: str
    data: bytes
    format: str
    line_ends: str | None
    id_column: str
    columns: tuple[tuple[str, str], ...]
    locale: str | None
    encoding: tuple[str, str] | None = None
    facts: SourceFacts = field(default=SourceFacts())


def nfc(text: str) -> str:
    """Return `text` in NFC."""
    return unicodedata.normalize("NFC", text)


def normalised(value: JsonValue) -> JsonValue:
    """Return `value` with every string and key in NFC."""
    if isinstance(value, NumberText):
        return value
    if isinstance(value, str):
        return nfc(value)
    if isinstance(value, dict):
        return {nfc(key): normalised(member) for key, member in value.items()}
    if isinstance(value, list):
        return [normalised(member) for member in value]
    return value


def to_nfc(tree: JsonObject, counts: Counts) -> JsonObject:
    """Return the tree in NFC and count it if that changed it."""
    out = normalised(tree)
    if out != tree:
        counts.nfc += 1
    return out if isinstance(out, dict) else tree


def line_ends(text: str) -> str | None:
    """Return `lf`, `crlf`, `cr` or `mixed`; null where there is one line."""
    pairs = text.count("\r\n")
    found = {"crlf": pairs, "lf": text.count("\n") - pairs, "cr": text.count("\r") - pairs}
    present = [name for name, count in found.items() if count]
    return None if not present else present[0] if len(present) == 1 else "mixed"


def finish(
    origin: Origin, items: Sequence[Item], places: Sequence[str], problems: list[SetError], counts: Counts
) -> Imported:
    """Check the bank as a whole and return it with its report.

    Raises: ImportRefusedError (a ProblemsError) with every problem and the report of what was seen.
    """
    problems = problems + (bank_problems(items, places) if items or not problems else [])
    ordered = tuple(sorted(items, key=lambda item: item.id))
    seen: dict[str, list[str]] = {}
    for item, place in zip(items, places, strict=True):
        seen.setdefault(item.id, []).append(place)
    encoding, known_by = origin.encoding or (
        "utf-8",
        "byte order mark" if origin.data.startswith(BOM) else "strict decoding",
    )
    report = ImportReport(
        source=origin.name,
        source_digest=digest_of(origin.data),
        format=origin.format,
        encoding=encoding,
        encoding_known_by=known_by,
        line_ends=origin.line_ends,
        id_column=origin.id_column,
        columns=origin.columns,
        rows_read=counts.read,
        rows_kept=len(seen),
        rows_blank=counts.blank,
        rows_refused=counts.read - len(seen),
        normalised_to_nfc=counts.nfc,
        formula_like=tuple(item.id for item in ordered if item.query_text().startswith(FORMULA)),
        strata=tuple(sorted(Counter(item.stratum for item in ordered).items())),
        locale=origin.locale,
        canonical_digest=None if problems else digest_of(write_bank(ordered)),
        duplicates=tuple((name, tuple(where)) for name, where in sorted(seen.items()) if len(where) > 1),
        refusals=tuple(problems),
        facts=origin.facts,
    )
    if problems:
        raise ImportRefusedError(problems, report)
    return Imported(ordered, report)
