"""What the cell reader does not say of a workbook: hidden rows, formulas, percentages, and its true size.

It runs before any cell is read, so that a small file cannot ask for gigabytes: archive members, unpacked bytes,
rows and columns are capped, and a document type is refused.

Trust boundary: see `reading`. Source: ECMA-376 part 1, 18.3 (rows, cells) and 18.8.30 (number formats);
OASIS OpenDocument 1.3 part 3, 9.1 (tables); *unverified* against the papers, read from files.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from slaverify.errors import Text
from slaverify.evalset.problems import problem

MAX_UNPACKED = 512 * 1024 * 1024
"""Unpacked bytes of one member."""

MAX_MEMBERS = 4_096
MAX_CELLS = 20_000_000
"""Rows times columns of the used part of a sheet: the cell reader holds all of them."""

_CHUNK = 1024 * 1024
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_BUILT_IN_PERCENT = frozenset({"9", "10"})


@dataclass(slots=True)
class SheetFacts:
    """Facts of one sheet; rows and columns from 1. Formulas are told apart by whether a value was stored."""

    hidden: set[int] = field(default_factory=set)
    empty_formulas: set[tuple[int, int]] = field(default_factory=set)
    formulas: set[tuple[int, int]] = field(default_factory=set)
    percents: dict[tuple[int, int], str] = field(default_factory=dict)
    errors: dict[tuple[int, int], str] = field(default_factory=dict)
    last_row: int = 0
    last_column: int = 0


def open_archive(data: bytes, name: str) -> zipfile.ZipFile:
    """Open the archive of a workbook. Raises: SetError SLV-I017."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise _refused(Text("no es un libro de Excel ni de LibreOffice", "no workbook"), name) from error
    members = archive.infolist()
    if len(members) > MAX_MEMBERS or any(member.file_size > MAX_UNPACKED for member in members):
        raise _refused(Text("el libro es demasiado grande al descomprimirlo", "too large when unpacked"), name)
    if any(member.flag_bits & 0x1 for member in members):
        raise _refused(Text("el libro está protegido con contraseña", "the workbook has a password"), name)
    return archive


def xlsx_facts(archive: zipfile.ZipFile, sheet: str, name: str) -> SheetFacts:
    """Return the facts of a sheet of an XLSX workbook, by the sheet's name. Raises: SetError SLV-I017."""
    path = _sheet_path(archive, sheet, name)
    percents = _percent_styles(archive, name)
    facts = SheetFacts()
    state: dict[str, object] = {}

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        local = tag.rpartition("}")[2].rpartition(":")[2]
        if local == "row":
            row = _number(attributes.get("r"), facts.last_row + 1)
            facts.last_row = max(facts.last_row, row)
            state["row"], state["column"] = row, 0
            if attributes.get("hidden") in ("1", "true"):
                facts.hidden.add(row)
        elif local == "c":
            _cell(attributes, state, facts, percents)
            _within(facts, name)
        elif local == "f":
            state["formula"] = True
        elif local in ("v", "is"):
            state["text"] = ""

    def text(piece: str) -> None:
        if state.get("text") is not None:
            state["text"] = (str(state["text"]) + piece)[:64]

    def end(tag: str) -> None:
        local = tag.rpartition("}")[2].rpartition(":")[2]
        if local == "v":
            state["value"], state["text"] = state.get("text"), None
        elif local == "c":
            _end_of_cell(state, facts)

    _parse(archive, path, name, start, end, text)
    return facts


def _cell(attributes: Mapping[str, str], state: dict[str, object], facts: SheetFacts, percents: set[str]) -> None:
    match = _REFERENCE.fullmatch(attributes.get("r", ""))
    column = _column(match.group(1)) if match else _number(str(state.get("column", 0)), 0) + 1
    state.update(column=column, formula=False, value=None, text=None)
    state["percent"] = attributes.get("s", "") in percents
    state["error"] = attributes.get("t") == "e"
    facts.last_column = max(facts.last_column, column)


def _end_of_cell(state: dict[str, object], facts: SheetFacts) -> None:
    place = (_number(str(state.get("row", 0)), 0), _number(str(state.get("column", 0)), 0))
    value = state.get("value")
    if state.get("formula"):
        facts.formulas.add(place)
        if not value:
            facts.empty_formulas.add(place)
    if state.get("error"):
        facts.errors[place] = str(value or "#")
    if state.get("percent") and value:
        facts.percents[place] = str(value)


def ods_facts(archive: zipfile.ZipFile, sheet: str, name: str) -> SheetFacts:
    """Return the facts of a sheet of an ODS workbook, by the sheet's name. Raises: SetError SLV-I017."""
    facts = SheetFacts()
    state = {"inside": False, "row": 0, "column": 0, "repeat": 1}

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        local = tag.rpartition(":")[2]
        own = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        if local == "table":
            state["inside"], state["row"] = own.get("name") == sheet, 0
        elif state["inside"] and local == "table-row":
            state["repeat"] = _number(own.get("number-rows-repeated"), 1)
            first = state["row"] + 1
            state.update(row=first, column=0)
            if own.get("visibility") in ("collapse", "filter"):
                facts.hidden.update(range(first, first + min(state["repeat"], 100_000)))
        elif state["inside"] and local in ("table-cell", "covered-table-cell"):
            _ods_cell(own, state, facts)
            _within(facts, name)

    def end(tag: str) -> None:
        if state["inside"] and tag.rpartition(":")[2] == "table-row":
            state["row"] += state["repeat"] - 1

    _parse(archive, "content.xml", name, start, end, lambda piece: None)
    return facts


def _ods_cell(own: Mapping[str, str], state: dict[str, int], facts: SheetFacts) -> None:
    column, times = state["column"] + 1, _number(own.get("number-columns-repeated"), 1)
    state["column"] += times
    kind = own.get("value-type")
    if kind is None and "formula" not in own:
        return
    facts.last_row = max(facts.last_row, state["row"] + state["repeat"] - 1)
    facts.last_column = max(facts.last_column, state["column"])
    place = (state["row"], column)
    if "formula" in own:
        facts.formulas.add(place)
        if kind is None:
            facts.empty_formulas.add(place)
    if kind == "percentage":
        facts.percents[place] = own.get("value", "")


def _within(facts: SheetFacts, name: str) -> None:
    if facts.last_row * facts.last_column > MAX_CELLS:
        raise _refused(
            Text(
                f"la hoja ocupa {facts.last_row} filas por {facts.last_column} columnas",
                f"the sheet spans {facts.last_row} rows by {facts.last_column} columns",
            ),
            name,
        )


def _sheet_path(archive: zipfile.ZipFile, sheet: str, name: str) -> str:
    found: dict[str, str] = {}
    targets: dict[str, str] = {}

    def sheets(tag: str, attributes: Mapping[str, str]) -> None:
        if tag.rpartition(":")[2] == "sheet":
            own = {key.rpartition(":")[2]: value for key, value in attributes.items()}
            found[own.get("name", "")] = own.get("id", "")

    def relations(tag: str, attributes: Mapping[str, str]) -> None:
        if tag.rpartition(":")[2] == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    _parse(archive, "xl/workbook.xml", name, sheets, lambda tag: None, lambda piece: None)
    _parse(archive, "xl/_rels/workbook.xml.rels", name, relations, lambda tag: None, lambda piece: None)
    target = targets.get(found.get(sheet, ""), "")
    if not target:
        raise _refused(Text(f"el libro no tiene la hoja {sheet}", f"the workbook has no sheet {sheet}"), name)
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _percent_styles(archive: zipfile.ZipFile, name: str) -> set[str]:
    if "xl/styles.xml" not in archive.namelist():
        return set()
    codes: dict[str, str] = {}
    styles: list[str] = []
    state = {"inside": False}

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        local = tag.rpartition(":")[2]
        if local == "numFmt":
            codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif local == "cellXfs":
            state["inside"] = True
        elif local == "xf" and state["inside"]:
            styles.append(attributes.get("numFmtId", ""))

    def end(tag: str) -> None:
        if tag.rpartition(":")[2] == "cellXfs":
            state["inside"] = False

    _parse(archive, "xl/styles.xml", name, start, end, lambda piece: None)
    return {
        str(index)
        for index, code in enumerate(styles)
        if code in _BUILT_IN_PERCENT or "%" in re.sub(r'"[^"]*"|\\.', "", codes.get(code, ""))
    }


def _parse(
    archive: zipfile.ZipFile,
    path: str,
    name: str,
    start: Callable[[str, Mapping[str, str]], None],
    end: Callable[[str], None],
    text: Callable[[str], None],
) -> None:
    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.buffer_text = True

    def doctype(*_: object) -> None:
        raise _refused(Text("un libro con DTD se rechaza", "a workbook with a DTD is refused"), name)

    parser.StartDoctypeDeclHandler = doctype
    read = 0
    try:
        with archive.open(path) as member:
            while chunk := member.read(_CHUNK):
                read += len(chunk)
                if read > MAX_UNPACKED:
                    raise _refused(Text("el libro es demasiado grande", "the workbook is too large"), name)
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
    except (
        KeyError,
        expat.ExpatError,
        zipfile.BadZipFile,
        EOFError,
        OSError,
        NotImplementedError,
        zlib.error,
    ) as error:
        what = Text(f"{path} no se puede leer", f"{path} cannot be read")
        raise _refused(what, name) from error


def _column(letters: str) -> int:
    out = 0
    for letter in letters:
        out = out * 26 + ord(letter) - 64
    return out


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,7}", text) else default


def _refused(what: Text, name: str) -> Exception:
    return problem("SLV-I017", what, name)
