"""Room evalset: items, their schema and canonical bytes, and the importers of what people bring."""

from __future__ import annotations

from slaverify.evalset.answer import Answer, ClaimedCitation
from slaverify.evalset.bank import MAX_ITEM_BYTES, MAX_ITEMS, bank_problems, read_bank, write_bank
from slaverify.evalset.catalogue import Catalogue, CatalogueEntry, Hole, read_catalogue, write_catalogue
from slaverify.evalset.catalogue_sources import SUFFIXES, Built, build_catalogue
from slaverify.evalset.export import export_csv
from slaverify.evalset.honeytokens import with_variant
from slaverify.evalset.importers.dispatch import FORMATS, import_any
from slaverify.evalset.importers.lines import import_jsonl
from slaverify.evalset.importers.options import ImportOptions, Proposal, UndecidedError
from slaverify.evalset.importers.report import Imported, ImportRefusedError, ImportReport
from slaverify.evalset.importers.shown import report_lines
from slaverify.evalset.importers.squad import import_squad
from slaverify.evalset.importers.table import Cell, Row, Table
from slaverify.evalset.importers.workbook import read_text_workbook
from slaverify.evalset.item import HOSTILE_STRATA, PROBE_STRATUM, Item
from slaverify.evalset.json_schema import satisfies
from slaverify.evalset.parts import QUERY_FIELDS, REFERENCE_FIELDS, Parts, join, split
from slaverify.evalset.policies import Policies
from slaverify.evalset.problems import parse_item
from slaverify.evalset.reference import (
    AmountReference,
    ChoiceReference,
    CitationReference,
    DateReference,
    EntityReference,
    JsonReference,
    NoneReference,
    NumberReference,
    Reference,
    SetReference,
    TextReference,
    Tolerance,
    TrajectoryReference,
)
from slaverify.evalset.schema import item_schema, item_schema_sha256
from slaverify.evalset.template import template_csv, template_xlsx, write_text_rows, xlsxwriter
from slaverify.evalset.template_annotate import annotated_xlsx
from slaverify.evalset.template_layout import inert, live

__all__ = [
    "FORMATS",
    "HOSTILE_STRATA",
    "MAX_ITEMS",
    "MAX_ITEM_BYTES",
    "PROBE_STRATUM",
    "QUERY_FIELDS",
    "REFERENCE_FIELDS",
    "SUFFIXES",
    "AmountReference",
    "Answer",
    "Built",
    "Catalogue",
    "CatalogueEntry",
    "Cell",
    "ChoiceReference",
    "CitationReference",
    "ClaimedCitation",
    "DateReference",
    "EntityReference",
    "Hole",
    "ImportOptions",
    "ImportRefusedError",
    "ImportReport",
    "Imported",
    "Item",
    "JsonReference",
    "NoneReference",
    "NumberReference",
    "Parts",
    "Policies",
    "Proposal",
    "Reference",
    "Row",
    "SetReference",
    "Table",
    "TextReference",
    "Tolerance",
    "TrajectoryReference",
    "UndecidedError",
    "annotated_xlsx",
    "bank_problems",
    "build_catalogue",
    "export_csv",
    "import_any",
    "import_jsonl",
    "import_squad",
    "inert",
    "item_schema",
    "item_schema_sha256",
    "join",
    "live",
    "parse_item",
    "read_bank",
    "read_catalogue",
    "read_text_workbook",
    "report_lines",
    "satisfies",
    "split",
    "template_csv",
    "template_xlsx",
    "with_variant",
    "write_bank",
    "write_catalogue",
    "write_text_rows",
    "xlsxwriter",
]
