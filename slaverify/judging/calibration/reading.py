"""A sheet that came back from a person: bytes to labels, or every fault with its place and its mend.

Trust boundary: the file passed through spreadsheets and hands. It has to be the very sheet that left, in its order,
with its texts; only the columns to fill in may have changed, and only to words of their lists. Nothing is guessed.

Source: docs/spec/calibration.md section 4.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from slaverify.contract import Contract
from slaverify.errors import NOTHING, JudgeError, ProblemsError, SetError, SlaverifyError, Text
from slaverify.evalset import inert, read_text_workbook
from slaverify.judging.calibration.asked import UNSUPPORTED, needs_values, numbers_of
from slaverify.judging.calibration.columns import HEADINGS, Column, asked, column, headings, layout
from slaverify.judging.calibration.labels import Label, contradicts
from slaverify.judging.calibration.sheet import SHEET, BlindSheet, SheetRow, guarded
from slaverify.judging.calibration.units import UnitKey

_NUMBERED = re.compile(r"^\[\d+\] ", re.MULTILINE)
MAX_BYTES = 256 * 1024 * 1024
MAX_PROBLEMS = 50
"""Faults that one answer lists; a file of another kind would give thousands."""
_LANGUAGES = ("es", "en")


@dataclass(frozen=True, slots=True)
class Filled:
    """What a sheet says: labels of the rows that are whole, comments, and the rows still to do (named in the sheet)."""

    labels: Mapping[UnitKey, Label]
    comments: Mapping[UnitKey, str]
    pending: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """One row of the file: its number there, from 1, and its cells; a kind other than text says what it holds."""

    number: int
    cells: tuple[str, ...]
    kinds: tuple[str, ...]


def read_sheet(
    contract: Contract, sheet: BlindSheet, data: bytes, name: str, others: Mapping[str, str] | None = None
) -> Filled:
    """Return the labels of a sheet that came back.

    `others` says of the row names of other people's sheets whose they are. Raises: ProblemsError of JudgeError
    SLV-J061 (not a sheet of ours), J062 (rows), J063 (texts changed), J064 (a word off its list), J065 (formulas,
    hidden rows), each with row, column and mend.
    """
    workbook = data[:2] == b"PK"
    lines, problems = (_workbook if workbook else _delimited)(data, name)
    known = [headings(contract, language) for language in _LANGUAGES]
    if not lines or list(lines[0].cells) not in known:
        raise ProblemsError([*problems, _headings(contract, lines, name)])
    body = lines[1:]
    problems += _rows(sheet, body, name, others or {})
    if not problems:
        problems += _texts(contract, sheet, body, name)
    if problems:
        raise ProblemsError(problems[:MAX_PROBLEMS])
    return _labels(contract, sheet, body, name)


def _delimited(data: bytes, name: str) -> tuple[list[_Line], list[SlaverifyError]]:
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(
            name,
            Text(f"el byte {error.start} no es UTF-8", f"byte {error.start} is not UTF-8"),
            Text("guarde como «CSV UTF-8», o entregue la planilla XLSX", "save as `CSV UTF-8`, or bring the XLSX"),
        ) from error
    if "\0" in text:
        raise _unreadable(
            name,
            Text("hay bytes nulos: no es UTF-8", "zero bytes: not UTF-8"),
            Text("guarde como «CSV UTF-8»", "save as `CSV UTF-8`"),
        )
    first = text.partition("\n")[0]
    delimiter = max((",", ";", "\t"), key=first.count)
    lines: list[_Line] = []
    csv.field_size_limit(MAX_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 1
    try:
        for cells in reader:
            if any(cells):
                lines.append(_Line(number, tuple(cells), ("text",) * len(cells)))
            number = reader.line_num + 1
    except csv.Error as error:
        raise _unreadable(
            f"{name}:{reader.line_num}",
            Text(f"CSV mal formado ({error})", f"malformed CSV ({error})"),
            Text("revise las comillas de esa línea", "check the quotes of that line"),
        ) from error
    return lines, []


def _workbook(data: bytes, name: str) -> tuple[list[_Line], list[SlaverifyError]]:
    try:
        table = read_text_workbook(data, name, SHEET)
    except SetError as error:
        fix = Text("guárdela otra vez como XLSX o CSV UTF-8", "save it again as XLSX or CSV UTF-8")
        raise _unreadable(error.where or name, error.what, error.fix if error.fix.es else fix) from error
    problems: list[SlaverifyError] = []
    fix = Text("muestre todas las filas y hojas", "show every row and sheet")
    problems += [
        _problem("SLV-J065", Text("fila oculta", "hidden row"), f"{name}:{line}", fix=fix) for line in table.hidden
    ]
    problems += [
        _problem("SLV-J065", Text("hoja oculta", "hidden sheet"), f"{name}:{hidden}", fix=fix)
        for hidden in table.sheets_hidden
    ]
    formula = Text("escriba la palabra en lugar de la fórmula", "write the word in the formula's place")
    problems += [
        _problem("SLV-J065", Text("fórmula", "formula"), f"{name}!{cell}", fix=formula) for cell in table.formulas
    ]
    merged = Text("separe las celdas combinadas", "split the merged cells")
    problems += [
        _problem("SLV-J065", Text("celdas combinadas", "merged cells"), f"{name}!{area}", fix=merged)
        for area in table.merged
    ]
    lines = [
        _Line(row.line, tuple(cell.text for cell in row.cells), tuple(cell.kind for cell in row.cells))
        for row in table.rows
        if not row.blank
    ]
    return lines, problems


def _headings(contract: Contract, lines: Sequence[_Line], name: str) -> JudgeError:
    found = list(lines[0].cells) if lines else []
    language = "en" if found and found[0] == HEADINGS["row"].en else "es"
    due = headings(contract, language)
    wrong = next((n for n, (here, there) in enumerate(zip(found, due, strict=False)) if here != there), len(found))
    return _problem(
        "SLV-J061",
        Text("las columnas no son las de la hoja que se exportó", "the columns are not those of the exported sheet"),
        f"{name}:1, columna {wrong + 1}",
        why=Text(f"van en este orden: {', '.join(due)}", f"they stand in this order: {', '.join(due)}"),
        fix=Text("deshaga el cambio, o exporte otra vez y copie", "undo the change, or export again and copy"),
    )


def _rows(sheet: BlindSheet, body: Sequence[_Line], name: str, others: Mapping[str, str]) -> Iterator[SlaverifyError]:
    """Yield what is wrong with the rows as a whole: foreign, repeated, missing, in another order."""
    due = [row.row for row in sheet.rows]
    place = {row: index for index, row in enumerate(due)}
    seen: dict[str, int] = {}
    for line in body:
        row = line.cells[0].strip() if line.cells else ""
        where = f"{name}:{line.number}, {HEADINGS['row'].es}"
        if row in others:
            whose = others[row]
            yield _problem(
                "SLV-J062",
                Text(f"la fila {row} es de la hoja de {whose}", f"row {row} is of {whose}'s sheet"),
                where,
                why=Text("cada persona lee su propia hoja", "each person reads a sheet of their own"),
                fix=Text(f"impórtela con --annotator {whose}", f"import it with --annotator {whose}"),
            )
        elif row not in place:
            yield _problem(
                "SLV-J062",
                Text(f"la fila «{row[:20]}» no salió en esta hoja", f"row `{row[:20]}` did not leave in this sheet"),
                where,
                fix=Text("bórrela, o traiga la hoja de esta corrida", "delete it, or bring the sheet of this run"),
            )
        elif row in seen:
            yield _problem(
                "SLV-J062",
                Text(f"la fila {row} está también en la línea {seen[row]}", f"row {row} is on line {seen[row]} too"),
                where,
                fix=Text("deje una sola", "keep one of them"),
            )
        else:
            seen[row] = line.number
    for row in due:
        if row not in seen:
            yield _problem(
                "SLV-J062",
                Text(f"falta la fila {row}", f"row {row} is missing"),
                f"{name}: {HEADINGS['row'].es} {row}",
                fix=Text("una fila sin responder se deja vacía, no se borra", "an open row stays empty, not deleted"),
            )
    order = [line for line in body if line.cells and line.cells[0].strip() in place]
    expected = [row for row in due if row in seen]
    moved = [line for line, row in zip(order, expected, strict=False) if line.cells[0].strip() != row]
    if moved and len(order) == len(expected):
        first = moved[0]
        yield _problem(
            "SLV-J062",
            Text(f"{len(moved)} filas están en otro orden", f"{len(moved)} rows stand in another order"),
            f"{name}:{first.number}, {HEADINGS['row'].es} {first.cells[0].strip()}",
            why=Text(
                "si se ordena una sola columna, las respuestas cambian de fila", "sorting one column moves labels"
            ),
            fix=Text("deshaga el orden, o exporte otra vez y copie", "undo the sorting, or export again and copy"),
        )


def _texts(contract: Contract, sheet: BlindSheet, body: Sequence[_Line], name: str) -> Iterator[SlaverifyError]:
    names = layout(contract)
    fixed = names[1 : names.index("class")]
    for line, row in zip(body, sheet.rows, strict=True):
        for column_name in fixed:
            number = names.index(column_name)
            cell = line.cells[number] if number < len(line.cells) else ""
            if not _same(cell, row.cells.get(column_name, "")):
                yield _problem(
                    "SLV-J063",
                    Text("el texto no es el que salió", "the text is not the one that left"),
                    _place(name, line, column_name),
                    why=Text(
                        f"salió: «{row.cells.get(column_name, '')[:60]}»",
                        f"it left as: `{row.cells[column_name][:60]}`",
                    ),
                    fix=Text("vuelva a ponerlo como estaba", "put it back as it was"),
                )
        extra = [cell for cell in line.cells[len(names) :] if cell.strip()]
        if extra:
            yield _problem(
                "SLV-J061",
                Text("hay celdas después de la última columna", "there are cells after the last column"),
                f"{name}:{line.number}, columna {len(names) + 1}",
                fix=Text("bórrelas; use «comentario»", "delete them; use `comment`"),
            )


def _same(cell: str, due: str) -> bool:
    told = cell.replace("\r\n", "\n").replace("\r", "\n")
    # Spreadsheets drop the blanks at the ends of a cell; nothing else of it may change.
    return any(told == form or told.strip() == form.strip() for form in (due, inert(due), guarded(due)))


def _labels(contract: Contract, sheet: BlindSheet, body: Sequence[_Line], name: str) -> Filled:
    labels: dict[UnitKey, Label] = {}
    comments: dict[UnitKey, str] = {}
    pending: list[str] = []
    problems: list[SlaverifyError] = []
    for line, row in zip(body, sheet.rows, strict=True):
        cells = dict(zip(layout(contract), line.cells, strict=False))
        if cells.get("comment", "").strip():
            comments[row.key] = cells["comment"].strip()[:2_000]
        found = _label(contract, row, cells, name, line)
        if isinstance(found, Label):
            labels[row.key] = found
        elif found is None:
            pending.append(row.row)
        else:
            problems += found
    if problems:
        raise ProblemsError(problems[:MAX_PROBLEMS])
    return Filled(labels, comments, tuple(pending))


def _label(
    contract: Contract, row: SheetRow, cells: Mapping[str, str], name: str, line: _Line
) -> Label | list[SlaverifyError] | None:
    """Return the label of a row, null while it is open, or what is wrong with it."""
    problems: list[SlaverifyError] = []
    words: dict[str, str] = {}
    for column_name in ("class", *asked(contract), "doubt"):
        cell = cells.get(column_name, "").strip().removeprefix("'").strip()
        if not cell:
            continue
        code = _code(column(contract, column_name), cell)
        if code is None:
            problems.append(_off_list(contract, column_name, cell, _place(name, line, column_name)))
        else:
            words[column_name] = code
    if problems:
        return problems
    answer_class = words.get("class")
    values = {key: word for key, word in words.items() if key in asked(contract)}
    if answer_class is None:
        return None
    if not needs_values(contract, row.key.subject, answer_class):
        return _empty_elsewhere(row, values, words, name, line)
    if any(key not in values for key in asked(contract)):
        return None
    beyond = _beyond(values.get(UNSUPPORTED, ""), row)
    if beyond is not None:
        return [_no_such_sentence(beyond, _place(name, line, UNSUPPORTED))]
    label = Label(answer_class, tuple(sorted(values.items())), words.get("doubt") == "doubt")
    if not row.key.subject and contradicts(contract, label):
        return [_contradiction(_place(name, line, asked(contract)[0]))]
    return label


def _code(column_found: Column, cell: str) -> str | None:
    if column_found.codes:
        return column_found.code(cell)
    # A cell that was left empty is a row that is not whole yet: who found nothing writes 0.
    if cell == "0":
        return ""
    numbers = numbers_of(cell)
    return None if numbers is None else ",".join(str(number) for number in numbers)


def _beyond(unsupported: str, row: SheetRow) -> int | None:
    """Return a number that is no sentence of the row's answer, which left with its sentences numbered."""
    count = len(_NUMBERED.findall(row.cells.get("answer", "")))
    return next((number for number in numbers_of(unsupported) or () if number > count), None)


def _no_such_sentence(number: int, where: str) -> JudgeError:
    return _problem(
        "SLV-J064",
        Text(f"la respuesta no tiene una frase {number}", f"the answer has no sentence {number}"),
        where,
        fix=Text("use los números entre corchetes de la respuesta", "use the numbers in brackets of the answer"),
    )


def _empty_elsewhere(
    row: SheetRow, values: Mapping[str, str], words: Mapping[str, str], name: str, line: _Line
) -> Label | list[SlaverifyError]:
    if not values:
        return Label(words["class"], (), words.get("doubt") == "doubt")
    return [
        _problem(
            "SLV-J064",
            Text("esta columna va vacía en esta fila", "this column stays empty in this row"),
            _place(name, line, column_name),
            why=Text(
                "la fila sólo pregunta la clase, o la clase no es «respuesta»",
                "the row asks the class alone, or the class is not `answer`",
            ),
            fix=Text("bórrela, o corrija la clase", "delete it, or mend the class"),
        )
        for column_name in values
    ]


def _off_list(contract: Contract, column_name: str, cell: str, where: str) -> JudgeError:
    choices = column(contract, column_name)
    if not choices.codes:
        return _problem(
            "SLV-J064",
            Text(f"«{cell[:30]}» no es una lista de números de frase", f"`{cell[:30]}` is no list of sentence numbers"),
            where,
            fix=Text("escriba por ejemplo 2, 5; si ninguna, 0", "write for instance 2, 5; 0 if none"),
        )
    es, en = (", ".join(choices.shown(language)) for language in _LANGUAGES)
    return _problem(
        "SLV-J064",
        Text(f"«{cell[:30]}» no está en la lista", f"`{cell[:30]}` is not in the list"),
        where,
        fix=Text(f"use una de: {es}", f"use one of: {en}"),
    )


def _contradiction(where: str) -> JudgeError:
    return _problem(
        "SLV-J064",
        Text("exactitud y sustento se contradicen", "correctness and grounding contradict each other"),
        where,
        why=Text(
            "«no aplica» sólo va donde nada se afirma o lo afirmado es incorrecto",
            "`not applicable` goes only where nothing is asserted, or what is asserted is incorrect",
        ),
        fix=Text("corrija una de las dos", "mend one of the two"),
    )


def _place(name: str, line: _Line, column_name: str) -> str:
    return f"{name}:{line.number}, {HEADINGS[column_name].es}"


def _problem(code: str, what: Text, where: str, *, why: Text = NOTHING, fix: Text = NOTHING) -> JudgeError:
    return JudgeError(code, what, why=why, fix=fix, where=where)


def _unreadable(where: str, what: Text, fix: Text) -> ProblemsError:
    return ProblemsError([_problem("SLV-J061", what, where, fix=fix)])
