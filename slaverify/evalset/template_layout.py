"""The columns of our own sheets: what `bank template` hands out, `bank export` writes and `bank import` knows again.

Each column is one field of `item/1`; lists stand one element a line, options as `A = text`. What has no column of its
own goes to the last one, `more`, as JSON, so that any item comes back as it was.

Source: docs/spec/import.md section 9.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from slaverify.canonical import JsonObject, JsonValue
from slaverify.errors import Text

MORE = "more"
FINDINGS = "findings"

LABELS: Mapping[str, Text] = MappingProxyType(
    {
        "id": Text("Id", "Id"),
        "stratum": Text("Estrato", "Stratum"),
        "query": Text("Pregunta", "Question"),
        "reference.kind": Text("Clase de respuesta", "Kind of answer"),
        "reference.value": Text("Respuesta correcta", "Right answer"),
        "reference.unit": Text("Unidad", "Unit"),
        "reference.day_kind": Text("Días hábiles o corridos", "Working or calendar days"),
        "reference.min": Text("Mínimo (rango)", "Minimum (range)"),
        "reference.max": Text("Máximo (rango)", "Maximum (range)"),
        "reference.because": Text("Por qué no hay respuesta", "Why there is no answer"),
        "reference.aliases": Text("Otras formas (una por línea)", "Other forms (one a line)"),
        "reference.options": Text("Opciones (A = texto, una por línea)", "Options (A = text, one a line)"),
        "expected_citations": Text("Citas esperadas (una por línea)", "Expected citations (one a line)"),
        "official_text": Text("Texto oficial", "Official text"),
        "source.title": Text("Fuente: título", "Source: title"),
        "source.publisher": Text("Fuente: editor", "Source: publisher"),
        "source.locator": Text("Fuente: lugar (artículo, página)", "Source: place (article, page)"),
        "consulted_on": Text("Consultado el (AAAA-MM-DD)", "Read on (YYYY-MM-DD)"),
        "as_of": Text("Vale para el (AAAA-MM-DD)", "True as of (YYYY-MM-DD)"),
        "cluster": Text("Grupo", "Cluster"),
        "twin_of": Text("Gemelo de", "Twin of"),
        "twin_relation": Text("Relación con el gemelo", "Relation to the twin"),
        "trap.kind": Text("Trampa: clase", "Trap: kind"),
        "trap.target": Text("Trampa: lo que no existe", "Trap: what does not exist"),
        "locale": Text("Locale", "Locale"),
        MORE: Text("Otros campos (JSON)", "Other fields (JSON)"),
    }
)
"""Field → label of its column, in the order of the sheet."""

SHEET = Text("Preguntas", "Questions")
PAGE = Text("Instrucciones", "Instructions")
"""Names of the two sheets of the workbook; the second one holds no data."""

FINDINGS_LABEL = Text("Hallazgos", "Findings")
LISTS = frozenset({"reference.aliases", "expected_citations"})
_FORMULA = re.compile(r"'*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def field_of(label: str) -> str | None:
    """Return the field of a column by its label in either language or by its own name; null if it is none of ours."""
    return _FIELDS.get(label)


def ours(headings: Sequence[str]) -> bool:
    """Tell whether a row of cells is the heading of one of our sheets."""
    found = [field_of(heading) for heading in headings if heading]
    return len(found) >= 3 and None not in found and {"id", "query"} <= set(found)


def inert(cell: str) -> str:
    """Return the cell so that no spreadsheet runs it: `'` before what looks like a formula. `live` undoes it."""
    return "'" + cell if _FORMULA.match(cell) else cell


def live(cell: str) -> str:
    """Return the cell without the `'` that `inert` put before it."""
    return cell[1:] if _ESCAPED.match(cell) else cell


def to_cells(tree: JsonObject) -> dict[str, str]:
    """Return field → cell of an item's canonical tree; nothing of it is lost."""
    rest: dict[str, JsonValue] = {key: value for key, value in tree.items() if key != "schema"}
    cells: dict[str, str] = {}
    for name in LABELS:
        cell = _take(rest, name) if name != MORE else None
        if cell is not None:
            cells[name] = cell
    if rest:
        cells[MORE] = json.dumps(rest, ensure_ascii=True, sort_keys=True)
    return cells


def _take(rest: dict[str, JsonValue], name: str) -> str | None:
    head, _, tail = name.partition(".")
    if not tail:
        cell = _cell(name, rest.get(head))
        if cell is not None:
            del rest[head]
        return cell
    inner = rest.get(head)
    if not isinstance(inner, dict) or tail not in inner:
        return None
    cell = _cell(name, inner[tail])
    if cell is not None:
        left = {key: value for key, value in inner.items() if key != tail}
        if left:
            rest[head] = left
        else:
            del rest[head]
    return cell


def _cell(name: str, value: JsonValue) -> str | None:
    if isinstance(value, str):
        return value if _fits(value) else None
    if name in LISTS and isinstance(value, list):
        lines = [_line(name, member) for member in value]
        known = [line for line in lines if line is not None and "\n" not in line]
        return "\n".join(known) if len(known) == len(lines) else None
    if name == "reference.options" and isinstance(value, dict):
        pairs = [f"{label} = {text}" for label, text in value.items()]
        same = options_of("\n".join(pairs)) == value
        return "\n".join(pairs) if same and all(_fits(pair) for pair in pairs) else None
    return None


def _line(name: str, member: JsonValue) -> str | None:
    if name == "expected_citations" and isinstance(member, dict) and set(member) == {"id"}:
        member = member["id"]
    return member if isinstance(member, str) and _fits(member) and member.strip() == member else None


def _fits(text: str) -> bool:
    return bool(text.strip()) and not _CONTROL.search(text)


def options_of(cell: str) -> dict[str, JsonValue]:
    """Return label → text of a cell of options. A line without `=` is its own label."""
    out: dict[str, JsonValue] = {}
    for line in cell.split("\n"):
        label, sign, text = line.partition(" = ")
        if line.strip():
            out[label.strip() if sign else line.strip()] = text if sign else line.strip()
    return out


def put(tree: dict[str, JsonValue], name: str, value: JsonValue) -> None:
    """Set a field by its dotted name."""
    head, _, tail = name.partition(".")
    if not tail:
        tree[head] = value
        return
    inner = tree.setdefault(head, {})
    if isinstance(inner, dict):
        inner[tail] = value


def merge(tree: dict[str, JsonValue], more: JsonObject) -> None:
    """Add the fields of `more`, inside the ones that both have."""
    for key, value in more.items():
        mine = tree.get(key)
        if isinstance(mine, dict) and isinstance(value, dict):
            merge(mine, value)
        else:
            tree[key] = value


_FIELDS = {name: name for name in (*LABELS, FINDINGS)}
_FIELDS.update({label.es: name for name, label in LABELS.items()})
_FIELDS.update({label.en: name for name, label in LABELS.items()})
_FIELDS.update({FINDINGS_LABEL.es: FINDINGS, FINDINGS_LABEL.en: FINDINGS})
