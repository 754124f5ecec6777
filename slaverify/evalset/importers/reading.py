"""Steps that the importers share: byte order mark, NFC, formula-like cells, the report's common part.

Trust boundary: the bytes come from people; they are decoded as strict UTF-8 and read by the strict JSON reader.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue, digest_of
from slaverify.errors import ProblemsError, SetError
from slaverify.evalset.bank import bank_problems, write_bank
from slaverify.evalset.importers.report import Imported, ImportReport
from slaverify.evalset.item import Item

BOM = b"\xef\xbb\xbf"
_FORMULA = ("=", "+", "-", "@")


@dataclass(slots=True)
class Counts:
    """What was met on the way; rows."""

    read: int = 0
    blank: int = 0
    nfc: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """How the file was understood."""

    name: str
    data: bytes
    format: str
    line_ends: str | None
    id_column: str
    columns: tuple[tuple[str, str], ...]
    locale: str | None


def normalised(value: JsonValue) -> JsonValue:
    """Return `value` with every string and key in NFC."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, dict):
        return {unicodedata.normalize("NFC", key): normalised(member) for key, member in value.items()}
    if isinstance(value, list):
        return [normalised(member) for member in value]
    return value


def to_nfc(tree: JsonObject, counts: Counts) -> JsonObject:
    """Return the tree in NFC and count it if that changed it."""
    out = normalised(tree)
    if out != tree:
        counts.nfc += 1
    return out if isinstance(out, dict) else tree


def finish(
    origin: Origin, items: Sequence[Item], places: Sequence[str], problems: list[SetError], counts: Counts
) -> Imported:
    """Check the bank as a whole and return it with its report. Raises: ProblemsError with every problem."""
    problems = problems + (bank_problems(items, places) if items or not problems else [])
    if problems:
        raise ProblemsError(problems)
    ordered = tuple(sorted(items, key=lambda item: item.id))
    with_mark = origin.data.startswith(BOM)
    report = ImportReport(
        source=origin.name,
        source_digest=digest_of(origin.data),
        format=origin.format,
        encoding="utf-8",
        encoding_known_by="byte order mark" if with_mark else "strict decoding",
        line_ends=origin.line_ends,
        id_column=origin.id_column,
        columns=origin.columns,
        rows_read=counts.read,
        rows_kept=len(ordered),
        rows_blank=counts.blank,
        rows_refused=0,
        normalised_to_nfc=counts.nfc,
        formula_like=tuple(item.id for item in ordered if item.query_text().startswith(_FORMULA)),
        strata=tuple(sorted(Counter(item.stratum for item in ordered).items())),
        locale=origin.locale,
        canonical_digest=digest_of(write_bank(ordered)),
    )
    return Imported(ordered, report)
