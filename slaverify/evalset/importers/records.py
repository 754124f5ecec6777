"""Records of the files that evaluation tools write: JSON, JSON Lines, or CSV with fixed headings.

Numbers keep the text that they were written with. Duplicate keys, NaN and lone surrogates are refused.

Trust boundary: see `reading`. Source: docs/spec/import.md section 8.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass, field

from slaverify.canonical import JsonValue, StrictJsonError, loads_strict
from slaverify.errors import SetError, Text
from slaverify.evalset.bank import MAX_ITEM_BYTES, too_large
from slaverify.evalset.importers.columns import Columns, find_columns
from slaverify.evalset.importers.decoding import decode
from slaverify.evalset.importers.delimited import read_delimited
from slaverify.evalset.importers.options import Deck
from slaverify.evalset.importers.reading import line_ends, nfc, normalised
from slaverify.evalset.importers.table import Table
from slaverify.evalset.problems import json_problem, problem

MAX_LITERAL = 1024 * 1024
"""Characters of a Python literal in a cell."""

MAX_LITERAL_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Record:
    """One record: its place, its number (line, or position in the list), its keys."""

    where: str
    number: int
    tree: Mapping[str, JsonValue]


@dataclass(slots=True)
class Records:
    """All records of a file. `columns` is null where the file is JSON."""

    records: list[Record]
    place: str
    table: Table
    columns: Columns | None = None
    blank: int = 0
    nfc: int = 0
    keys: tuple[str, ...] = ()
    problems: list[SetError] = field(default_factory=list)


def read_records(data: bytes, name: str, deck: Deck) -> Records:
    """Return the records of a JSON, JSON Lines or CSV file. Raises: SetError, UndecidedError."""
    start = data[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return _json(data, name, deck) if start in (b"{", b"[") else _csv(data, name, deck)


def _csv(data: bytes, name: str, deck: Deck) -> Records:
    table = read_delimited(data, name, deck, delimiter=deck.options.delimiter or ",")
    columns = find_columns(table, deck, first_row=True)
    out = Records([], name, table, columns, keys=tuple(heading for heading in columns.headings if heading))
    out.problems.extend(table.problems)
    for row in table.rows[1:]:
        if row.blank:
            out.blank += 1
        elif len(row.cells) != len(columns.headings):
            what = Text(
                f"la fila tiene {len(row.cells)} celdas y el encabezado {len(columns.headings)}",
                f"the row has {len(row.cells)} cells and the heading {len(columns.headings)}",
            )
            out.problems.append(problem("SLV-I015", what, f"{name}:{row.line}"))
        else:
            pairs = zip(columns.headings, row.cells, strict=True)
            written = {heading: cell.text for heading, cell in pairs if heading and not cell.blank}
            tree: dict[str, JsonValue] = {heading: nfc(text) for heading, text in written.items()}
            out.nfc += tree != written
            out.records.append(Record(f"{name}:{row.line}", row.line, tree))
    return out


def _json(data: bytes, name: str, deck: Deck) -> Records:
    decoded = decode(data, name, deck.options)
    deck.given("encoding", "option" if decoded.known_by == "option" else "file")
    table = Table([], name, line_ends=line_ends(decoded.text), encoding=(decoded.encoding, decoded.known_by))
    out = Records([], name, table)
    if decoded.text.lstrip()[:1] == "[":
        _from_list(decoded.text, name, out)
    else:
        _from_lines(decoded.text, name, out)
    out.keys = tuple(dict.fromkeys(key for record in out.records for key in record.tree))
    return out


def _from_list(text: str, name: str, out: Records) -> None:
    try:
        value = loads_strict(text.encode("utf-8"), max_depth=20, numbers="text")
    except StrictJsonError as error:
        out.problems.append(json_problem(error, name))
        return
    for index, raw in enumerate(value if isinstance(value, list) else (), 1):
        where = f"{name}: [{index}]"
        member = normalised(raw)
        out.nfc += member != raw
        if isinstance(member, dict):
            out.records.append(Record(where, index, member))
        else:
            out.problems.append(json_problem(StrictJsonError("not_object"), where))


def _from_lines(text: str, name: str, out: Records) -> None:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        where = f"{name}:{number}"
        raw = line.removesuffix("\r").encode("utf-8", "surrogatepass")
        if not raw.strip():
            out.blank += number < len(lines)
            continue
        if len(raw) > MAX_ITEM_BYTES:
            out.problems.append(too_large(where))
            continue
        try:
            read = loads_strict(raw, max_depth=20, numbers="text")
        except StrictJsonError as error:
            out.problems.append(json_problem(error, where))
            continue
        value = normalised(read)
        out.nfc += value != read
        if isinstance(value, dict):
            out.records.append(Record(where, number, value))
        else:
            out.problems.append(json_problem(StrictJsonError("not_object"), where))


def text_list(value: JsonValue, separator: str | None, where: str) -> list[str] | SetError:
    """Return the texts of a list: a JSON list, a Python literal of strings, or a cell with a declared separator."""
    if value is None:
        return []
    if isinstance(value, list):
        texts = [member for member in value if isinstance(member, str)]
        return texts if len(texts) == len(value) else _not_texts(where)
    if not isinstance(value, str):
        return _not_texts(where)
    if value.strip().startswith("["):
        return _literal(value.strip(), where)
    if separator is not None:
        return [part.strip() for part in value.split(separator) if part.strip()]
    return [value]


def _literal(text: str, where: str) -> list[str] | SetError:
    if len(text) > MAX_LITERAL:
        return problem("SLV-I005", Text("una lista de más de 1 MiB", "a list of more than 1 MiB"), where)
    if _depth(text) > MAX_LITERAL_DEPTH:
        return _not_texts(where)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return _not_texts(where)
    if isinstance(value, list) and all(isinstance(member, str) for member in value):
        return list(value)
    return _not_texts(where)


def _depth(text: str) -> int:
    """Return the deepest bracket outside strings, before anything is parsed."""
    depth = deepest = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.OP and token.string in "([{":
                depth += 1
                deepest = max(deepest, depth)
                if deepest > MAX_LITERAL_DEPTH:
                    return deepest
            elif token.type == tokenize.OP and token.string in ")]}":
                depth -= 1
    except (tokenize.TokenError, SyntaxError, ValueError):
        return MAX_LITERAL_DEPTH + 1
    return deepest


def _not_texts(where: str) -> SetError:
    what = Text("se espera una lista de textos", "a list of texts is expected")
    fix = Text(
        "escríbala como lista JSON o de Python, o declare --list-separator",
        "write it as a JSON or Python list, or declare --list-separator",
    )
    return problem("SLV-I019", what, where, fix)
