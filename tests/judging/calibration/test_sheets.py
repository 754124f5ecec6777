"""Sheets out and in: blind, inert, the same texts, and every fault told with its place and its mend."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.contract import Contract
from slaverify.errors import JudgeError, ProblemsError
from slaverify.judging.calibration import (
    BlindSheet,
    Filled,
    Label,
    Shown,
    UnitKey,
    blind_sheet,
    instructions,
    read_sheet,
    sheet_csv,
    sheet_xlsx,
)
from tests.judging.calibration.people import contract, texts

KEY = b"k" * 32
KEYS = [UnitKey(f"i-{n:06d}", 0, "") for n in range(12)]
CRITERIA_KEYS = [UnitKey("i-1", 0, "correcta"), UnitKey("i-1", 0, "trato"), UnitKey("i-9", 0, "")]
REGLAB, CRITERIA = contract(), contract(criteria=True)


def sheet_of(agreed: Contract = REGLAB, keys: list[UnitKey] = KEYS, reader: int = 1) -> BlindSheet:
    return blind_sheet(agreed, keys, texts(keys), KEY, reader)


def table_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def as_csv(rows: list[list[str]], delimiter: str = ",") -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return ("\ufeff" + out.getvalue()).encode()


def filled(agreed: Contract = REGLAB, sheet: BlindSheet | None = None, language: str = "es") -> list[list[str]]:
    """A sheet as a careful person gives it back."""
    rows = table_of(sheet_csv(agreed, sheet or sheet_of(agreed), language))
    head = rows[0]
    answer = {"clase": "respuesta", "exactitud": "Correcta", "sustento": " sustentada ", "cumple": "sí"}
    for row in rows[1:]:
        for name, word in answer.items():
            if name in head:
                row[head.index(name)] = word
    return rows


def problems(rows: bytes, sheet: BlindSheet | None = None, others: dict[str, str] | None = None) -> list[JudgeError]:
    with pytest.raises(ProblemsError) as caught:
        read_sheet(REGLAB, sheet or sheet_of(), rows, "hoja.csv", others)
    found = [one for one in caught.value.problems if isinstance(one, JudgeError)]
    assert all(one.where and one.fix.es and one.fix.en for one in found), "place and mend"
    return found


def only(rows: bytes, code: str) -> JudgeError:
    (found,) = problems(rows)
    assert found.code == code
    return found


def read(rows: bytes, agreed: Contract = REGLAB, sheet: BlindSheet | None = None) -> Filled:
    return read_sheet(agreed, sheet or sheet_of(agreed), rows, "hoja.csv")


def test_a_filled_sheet_gives_its_labels() -> None:
    found = read(as_csv(filled()))
    assert set(found.labels) == set(KEYS)
    assert set(found.labels.values()) == {Label("answer", (("correctness", "correct"), ("grounding", "grounded")))}
    assert found.pending == ()


def test_the_separator_of_a_spanish_spreadsheet_and_either_language_are_read() -> None:
    assert read(as_csv(filled(), ";")) == read(as_csv(filled()))
    english = table_of(sheet_csv(REGLAB, sheet_of(), "en"))
    for row in english[1:]:
        row[5:8] = ["answer", "correct", "grounded"]
    assert read(as_csv(english)) == read(as_csv(filled()))


def test_nothing_in_a_sheet_tells_what_the_judge_said_or_which_answer_it_is() -> None:
    text = sheet_csv(REGLAB, sheet_of(), "es").decode()
    head = text.splitlines()[0].removeprefix("\ufeff")
    assert head == "fila,pregunta,respuesta,marcas ocultas,texto oficial,clase,exactitud,sustento,duda,comentario"
    names = [row[0] for row in table_of(sheet_csv(REGLAB, sheet_of(), "es"))[1:]]
    assert all(re.fullmatch("[a-f][0-9a-f]{7}", name) for name in names)
    order = [row.key for row in sheet_of().rows]
    assert order != sorted(order)


def test_two_people_get_other_names_in_another_order_and_the_same_person_the_same_sheet() -> None:
    one, two = sheet_of(reader=1), sheet_of(reader=2)
    assert not {row.row for row in one.rows} & {row.row for row in two.rows}
    assert [row.key for row in one.rows] != [row.key for row in two.rows]
    assert sheet_of(reader=1) == one
    assert one.digest != two.digest


def test_a_criteria_sheet_has_a_row_per_criterion_with_its_exceptions_and_one_for_the_detector() -> None:
    rows = table_of(sheet_csv(CRITERIA, sheet_of(CRITERIA, CRITERIA_KEYS), "es"))
    assert rows[0][1] == "criterio"
    assert {row[1] for row in rows[1:]} == {
        "Dice lo que dice la base. Puede omitir lo que no se pregunta.",
        "Es respetuosa. Puede ser breve: «escalar» se admite.",
        "",
    }
    head = rows[0]
    for row in rows[1:]:
        row[head.index("clase")] = "respuesta" if row[1] else "abstención"
        row[head.index("cumple")] = "no" if row[1].startswith("Es") else "sí" if row[1] else ""
    found = read(as_csv(rows), CRITERIA, sheet_of(CRITERIA, CRITERIA_KEYS))
    assert found.labels == {
        UnitKey("i-1", 0, "correcta"): Label("answer", (("met", "met"),)),
        UnitKey("i-1", 0, "trato"): Label("answer", (("met", "not_met"),)),
        UnitKey("i-9", 0, ""): Label("abstention"),
    }


HOSTILE = [
    '=HYPERLINK("http://x","y")',
    "+1+cmd|' /C calc'!A0",
    "-2",
    "@SUM(A1)",
    "\tx",
    "30",
    "1/2",
    "12:30",
    "007",
    "1e9",
    "TRUE",
    "'=1",
    'con "comillas", comas; y\nlíneas',
    "",
]


@pytest.mark.parametrize("answer", HOSTILE)
def test_no_cell_runs_in_a_spreadsheet_and_every_text_comes_back_as_it_was(answer: str) -> None:
    shown = {("i-1", 0): Shown(question=answer, answer=answer, hidden_marks="", official_text=answer)}
    sheet = blind_sheet(REGLAB, [UnitKey("i-1", 0, "")], shown, KEY, 1)
    data = sheet_csv(REGLAB, sheet, "es")
    cell = table_of(data)[1][2]
    assert not re.match(r"[=+\-@\t\r]", cell)
    assert not re.fullmatch(r"[\d(].*|true", cell, re.I | re.S)
    assert read(data, sheet=sheet).pending == (sheet.rows[0].row,)
    assert read_sheet(REGLAB, sheet, sheet_xlsx(REGLAB, sheet, "es"), "hoja.xlsx").pending == (sheet.rows[0].row,)


def test_a_workbook_holds_text_alone_and_its_lists() -> None:
    import zipfile

    shown = {("i-1", 0): Shown(question="=1+1", answer="http://x", hidden_marks="<U+202E> ×1", official_text="30")}
    sheet = blind_sheet(REGLAB, [UnitKey("i-1", 0, "")], shown, KEY, 1)
    with zipfile.ZipFile(io.BytesIO(sheet_xlsx(REGLAB, sheet, "es"))) as book:
        page = book.read("xl/worksheets/sheet1.xml").decode()
        assert not any("externalLink" in name or "hyperlink" in name for name in book.namelist())
    assert "<f>" not in page
    assert "hyperlink" not in page
    assert 't="s"' in page
    assert "correcta,parcial,incorrecta,no responde" in page


def test_a_text_too_long_for_a_spreadsheet_is_refused_with_its_place() -> None:
    shown = {("i-1", 0): Shown(question="q", answer="a" * 32_768, hidden_marks="", official_text="")}
    sheet = blind_sheet(REGLAB, [UnitKey("i-1", 0, "")], shown, KEY, 1)
    with pytest.raises(JudgeError) as caught:
        sheet_xlsx(REGLAB, sheet, "es")
    assert (caught.value.code, caught.value.where) == ("SLV-J061", "Etiquetas:2, respuesta")
    assert read(sheet_csv(REGLAB, sheet, "es"), sheet=sheet).pending


def test_rows_in_another_order_are_refused() -> None:
    rows = filled()
    rows[3], rows[7] = rows[7], rows[3]
    found = only(as_csv(rows), "SLV-J062")
    assert "2 filas están en otro orden" in found.what.es
    assert found.where.startswith("hoja.csv:")


def test_missing_and_repeated_rows_are_refused() -> None:
    rows = filled()
    gone = rows.pop(4)
    assert gone[0] in only(as_csv(rows), "SLV-J062").where
    rows = filled()
    rows.append(rows[2])
    assert rows[2][0] in only(as_csv(rows), "SLV-J062").what.es


def test_foreign_rows_are_refused_and_those_of_another_person_by_name() -> None:
    rows = filled()
    rows[5] = ["abcdef01", *rows[5][1:]]
    codes = [one.code for one in problems(as_csv(rows))]
    assert codes == ["SLV-J062", "SLV-J062"], "foreign, and the one that it replaced is missing"
    other = sheet_of(reader=2)
    found = problems(as_csv(filled(sheet=other)), others={row.row: "Berta" for row in other.rows})
    assert "es de la hoja de Berta" in found[0].what.es
    assert "--annotator Berta" in found[0].fix.es


@pytest.mark.parametrize("column", [1, 2, 4])
def test_a_changed_text_is_refused(column: int) -> None:
    rows = filled()
    rows[3][column] += "."
    found = only(as_csv(rows), "SLV-J063")
    assert found.where.startswith("hoja.csv:")
    assert "salió" in found.why.es


def test_answers_that_moved_by_a_row_are_refused() -> None:
    rows = filled()
    moved = [row[2] for row in rows[1:]]
    for row, text in zip(rows[1:], [*moved[1:], moved[0]], strict=True):
        row[2] = text
    assert {one.code for one in problems(as_csv(rows))} == {"SLV-J063"}


@pytest.mark.parametrize(
    "column,word", [(5, "quizás"), (6, "correcto"), (6, "5"), (7, "=1"), (8, "tal vez"), (6, "correcta.")]
)
def test_a_word_off_its_list_is_refused_with_the_list(column: int, word: str) -> None:
    rows = filled()
    rows[2][column] = word
    found = only(as_csv(rows), "SLV-J064")
    assert found.where == f"hoja.csv:{line_of(rows, 2)}, {rows[0][column]}"
    assert "use una de" in found.fix.es


def line_of(rows: list[list[str]], index: int) -> int:
    return 1 + sum(1 + sum(cell.count("\n") for cell in row) for row in rows[:index])


def test_a_contradiction_and_a_column_that_stays_empty_are_refused() -> None:
    rows = filled()
    rows[2][7] = "no aplica"
    assert "se contradicen" in only(as_csv(rows), "SLV-J064").what.es
    rows = filled()
    rows[2][5] = "abstención"
    assert {one.where.rpartition(", ")[2] for one in problems(as_csv(rows))} == {"exactitud", "sustento"}


def test_other_encodings_are_refused() -> None:
    text = as_csv(filled()).decode("utf-8-sig")
    for encoding in ("utf-16", "cp1252"):
        found = only(text.encode(encoding), "SLV-J061")
        assert "CSV UTF-8" in found.fix.es


@pytest.mark.parametrize(
    "spoil",
    [
        lambda rows: [[*row[:6], row[7], row[6], *row[8:]] for row in rows],
        lambda rows: [row[1:] for row in rows],
        lambda rows: [["n", *row] for row in rows],
        lambda rows: rows[1:],
        lambda rows: [],
    ],
)
def test_other_columns_are_refused(spoil: Callable[[list[list[str]]], list[list[str]]]) -> None:
    assert "en este orden" in only(as_csv(spoil(filled())), "SLV-J061").why.es


def test_a_malformed_file_is_refused() -> None:
    only(as_csv(filled()) + b'"abierta', "SLV-J061")
    only(b"PK\x03\x04 no es un libro", "SLV-J061")
    only(b"", "SLV-J061")
    only(b"\x00" * 40, "SLV-J061")


def spoilt_workbook(write: Callable[[object, object], None]) -> bytes:
    import xlsxwriter

    rows = filled()
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False})
    page = book.add_worksheet("Etiquetas")
    for line, row in enumerate(rows):
        for column, cell in enumerate(row):
            page.write_string(line, column, cell)
    write(book, page)
    book.close()
    return out.getvalue()


@pytest.mark.parametrize(
    "write,word",
    [
        (lambda book, page: page.write_formula(2, 6, '=IF(TRUE,"correcta","")', None, "correcta"), "fórmula"),
        (lambda book, page: page.set_row(3, None, None, {"hidden": True}), "oculta"),
        (lambda book, page: book.add_worksheet("otra").hide(), "hoja oculta"),
        (lambda book, page: page.merge_range(3, 8, 3, 9, "x"), "combinadas"),
    ],
)
def test_formulas_and_what_is_hidden_are_refused(write: Callable[[object, object], None], word: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        read_sheet(REGLAB, sheet_of(), spoilt_workbook(write), "hoja.xlsx")
    found = next(one for one in caught.value.problems if one.code == "SLV-J065")
    assert word in found.what.es
    assert found.where.startswith("hoja.xlsx")


def test_a_workbook_that_a_person_filled_is_read() -> None:
    found = read_sheet(REGLAB, sheet_of(), spoilt_workbook(lambda book, page: None), "hoja.xlsx")
    assert found == read(as_csv(filled()))


def test_rows_that_are_not_whole_stay_pending() -> None:
    rows = filled()
    rows[1][6] = ""
    rows[2][5] = ""
    rows[3][9] = "no estoy segura: ¿qué norma?"
    found = read(as_csv(rows))
    assert set(found.pending) == {rows[1][0], rows[2][0]}
    assert len(found.labels) == 10
    assert list(found.comments.values()) == ["no estoy segura: ¿qué norma?"]


def test_a_doubt_is_kept_and_is_no_difference() -> None:
    rows = filled()
    rows[1][8] = "Sí"
    found = read(as_csv(rows))
    doubtful = [label for label in found.labels.values() if label.doubt]
    assert len(doubtful) == 1
    assert all(doubtful[0].says(label) for label in found.labels.values())


def test_instructions_say_what_each_word_means_in_both_languages() -> None:
    for agreed in (REGLAB, CRITERIA):
        es, en = instructions(agreed, "es"), instructions(agreed, "en")
        assert len(es) == len(en)
    assert any("coincide con el texto oficial" in line for line in instructions(REGLAB, "es"))


@given(st.binary(max_size=400))
@settings(max_examples=300, deadline=None)
def test_any_bytes_give_labels_or_problems_with_a_place(data: bytes) -> None:
    try:
        read_sheet(REGLAB, sheet_of(), data, "hoja.csv")
    except ProblemsError as error:
        assert all(problem.where for problem in error.problems)


@given(st.lists(st.lists(st.text(max_size=12), min_size=0, max_size=11), max_size=14), st.integers(0, 11))
@settings(max_examples=200, deadline=None)
def test_any_cells_give_labels_of_known_rows_or_problems(extra: list[list[str]], where: int) -> None:
    rows = filled()
    rows[where : where + 1] = extra
    try:
        found = read_sheet(REGLAB, sheet_of(), as_csv(rows), "hoja.csv")
    except ProblemsError:
        return
    assert set(found.labels) <= set(KEYS)
