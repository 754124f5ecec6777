"""A table whose columns have a meaning, to items and a report.

Source: docs/spec/import.md sections 6 and 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from slaverify.canonical import JsonValue
from slaverify.errors import SetError, Text
from slaverify.evalset.importers import values
from slaverify.evalset.importers.columns import IGNORED, REFERENCE, Columns, find_columns
from slaverify.evalset.importers.options import Deck, Proposal
from slaverify.evalset.importers.reading import FORMULA, Counts, Origin, finish, nfc, to_nfc
from slaverify.evalset.importers.report import Imported, SourceFacts, Typed
from slaverify.evalset.importers.table import Cell, Row, Table
from slaverify.evalset.item import Item
from slaverify.evalset.problems import problem, read_item
from slaverify.evalset.template_layout import FINDINGS, LISTS, MORE, live, merge, options_of, put

WORKED = "EJEMPLO-"
"""Ids of the worked rows of a template; left out where the sheet has rows of its own."""

_DAYS = frozenset({"consulted_on", "as_of"})


@dataclass(slots=True)
class Work:
    """What grows while records are turned into items."""

    items: list[Item] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    problems: list[SetError] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    typed: list[Typed] = field(default_factory=list)
    notes: list[Text] = field(default_factory=list)
    excluded: list[int] = field(default_factory=list)
    worked: list[int] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)

    def add(self, tree: dict[str, JsonValue], where: str, problems: Sequence[SetError], deck: Deck) -> None:
        """Finish the tree by the options and read it strictly; what is wrong is kept with its place."""
        if problems:
            self.problems.extend(problems)
            return
        _complete(tree, deck)
        item, found = read_item(to_nfc(tree, self.counts), where)
        self.problems.extend(found)
        if item is not None:
            self.items.append(item)
            self.places.append(where)


def _complete(tree: dict[str, JsonValue], deck: Deck) -> None:
    options = deck.options
    tree.setdefault("schema", "item/1")
    name = tree.get("id")
    if isinstance(name, str) and name in options.references:
        tree["reference"] = dict(options.references[name])
    stratum = tree.get("stratum", options.stratum)
    if stratum is not None:
        renamed = dict(options.strata)
        tree["stratum"] = renamed.get(stratum, stratum) if isinstance(stratum, str) else stratum
    if options.locale is not None:
        tree.setdefault("locale", options.locale)


def need_stratum(deck: Deck, has_column: bool) -> str | None:
    """Return the stratum for all rows where no column has one; proposed if nobody gave it."""
    if deck.options.stratum is not None:
        deck.given("stratum")
        return deck.options.stratum
    if has_column:
        return None
    why = Text("ninguna columna dice el estrato", "no column says the stratum")
    deck.propose("stratum", Proposal("--stratum", "direct", why))
    return "direct"


def need_ids(deck: Deck, has_column: bool) -> str | None:
    """Return the prefix of made ids where no column has an id; proposed if nobody gave it."""
    if deck.options.ids is not None:
        deck.given("ids")
        return deck.options.ids
    if has_column:
        return None
    why = Text("no hay columna de id; se forman con el número de fila", "no column of ids; made of the row's number")
    deck.propose("ids", Proposal("--ids", "fila", why))
    return "fila"


def import_table(table: Table, data: bytes, name: str, form: str, deck: Deck) -> Imported:
    """Return the items of a table. Raises: UndecidedError, ImportRefusedError, SetError."""
    columns = find_columns(table, deck)
    if "query" not in columns.fields and "messages" not in columns.fields:
        why = Text("ninguna columna parece la pregunta", "no column looks like the question")
        first = next((heading for heading, own in columns.pairs if own == IGNORED), "")
        deck.propose("mapping", Proposal("--map", f"{first}=query", why))
    prefix = need_ids(deck, "id" in columns.fields)
    stratum = need_stratum(deck, "stratum" in columns.fields)
    work = Work(problems=list(table.problems))
    rows = _body(table, columns, work, deck)
    for row in rows:
        tree, problems = _tree(row, columns, table, work, deck)
        if prefix is not None:
            tree.setdefault("id", f"{prefix}-{row.line:04d}")
        if stratum is not None:
            tree["stratum"] = stratum
        work.add(tree, f"{table.place}:{row.line}", problems, deck)
    deck.settle(name)
    return finish(
        Origin(
            name,
            data,
            form,
            table.line_ends,
            columns.heading("id"),
            columns.pairs,
            deck.options.locale,
            table.encoding,
            facts_of(table, columns, work, deck),
        ),
        work.items,
        work.places,
        work.problems,
        work.counts,
    )


def _body(table: Table, columns: Columns, work: Work, deck: Deck) -> list[Row]:
    out: list[Row] = []
    at = columns.fields.index("id") if columns.template else -1
    for row in table.rows:
        if row.line <= columns.row:
            continue
        if row.blank:
            work.counts.blank += 1
        elif row.line in deck.options.exclude:
            work.excluded.append(row.line)
        else:
            out.append(row)
    examples = [
        row for row in out if columns.template and row.cells[at : at + 1] and row.cells[at].text.startswith(WORKED)
    ]
    if examples and len(examples) < len(out):
        work.worked.extend(row.line for row in examples)
        out = [row for row in out if row not in examples]
    work.counts.read = len(out)
    return out


def _tree(
    row: Row, columns: Columns, table: Table, work: Work, deck: Deck
) -> tuple[dict[str, JsonValue], list[SetError]]:
    where = f"{table.place}:{row.line}"
    width = len(columns.headings)
    extra = [cell for cell in row.cells[width:] if not cell.blank]
    if len(row.cells) != width and (table.sheet is None or extra):
        what = Text(
            f"la fila tiene {len(row.cells)} celdas y el encabezado {width}",
            f"the row has {len(row.cells)} cells and the heading {width}",
        )
        return {}, [problem("SLV-I015", what, where, Text("revise separador y comillas", "check separator and quotes"))]
    tree: dict[str, JsonValue] = {}
    problems: list[SetError] = []
    queries: list[str] = []
    more = ""
    cells = [replace(cell, text=nfc(cell.text)) for cell in row.cells]
    work.counts.nfc += any(new.text != old.text for new, old in zip(cells, row.cells, strict=True))
    for heading, name, cell in zip(columns.headings, columns.fields, cells, strict=False):
        if cell.kind == "text" and cell.text.startswith(FORMULA):
            work.formulas.append(f"{cell.place} {heading}" if table.sheet is None else cell.place)
        if name in (IGNORED, FINDINGS) or cell.blank:
            continue
        if columns.template and cell.kind == "text":
            cell = Cell(live(cell.text), cell.kind, cell.stored, cell.place)
        if name == MORE:
            more = cell.text
            continue
        value = _value(name, cell, deck, work)
        if isinstance(value, SetError):
            problems.append(value)
        elif name == "query" and isinstance(value, str):
            queries.append(value)
        else:
            put(tree, name, value)
    if queries:
        tree["query"] = "\n\n".join(queries)
    if more:
        found = values.object_of(more, where)
        if isinstance(found, SetError):
            problems.append(found)
        else:
            merge(tree, found)
    if "reference" not in tree and REFERENCE in columns.fields and not problems:
        problems.append(values.missing_answer(where))
    return tree, problems


def _value(name: str, cell: Cell, deck: Deck, work: Work) -> JsonValue | SetError:
    if name == REFERENCE:
        return values.reference_of(cell, deck, work.typed)
    if name in _DAYS:
        return values.day_of(cell, deck, work.typed)
    if name == "reference.value" and cell.kind == "date":
        return values.day_of(cell, deck, work.typed)
    text = values.plain_text(cell, work.typed)
    if isinstance(text, SetError):
        return text
    if name == "reference.value" and cell.kind == "percent":
        return text.removesuffix("%").strip()
    if name == "expected_citations":
        return [{"id": line} for line in text.split("\n") if line.strip()]
    if name in LISTS or name == "criteria":
        return [line for line in text.split("\n") if line.strip()]
    if name == "reference.options":
        return options_of(text)
    if name in ("id", "stratum"):
        return text.strip()
    return text


def facts_of(table: Table, columns: Columns, work: Work, deck: Deck) -> SourceFacts:
    """Return what the reader and the mapping saw."""
    return SourceFacts(
        delimiter=table.delimiter,
        quote=None if table.delimiter is None else '"',
        sheet=table.sheet,
        header_row=columns.row,
        known_by=tuple(sorted(deck.known.items())),
        rows_excluded=tuple(work.excluded),
        rows_hidden=table.hidden,
        rows_worked=tuple(work.worked),
        sheets_hidden=table.sheets_hidden,
        sheets_other=table.sheets_other,
        merged=table.merged,
        formula_cells=tuple(work.formulas),
        formulas=table.formulas,
        typed=tuple(work.typed),
        nfc_headers=columns.nfd,
        notes=tuple(work.notes),
    )
