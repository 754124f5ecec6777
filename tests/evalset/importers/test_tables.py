"""Tables: decoding, separators, headings, ragged rows, typed cells, hidden rows, and hostile workbooks."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.errors import ProblemsError, SetError, SlaverifyError
from slaverify.evalset import ImportOptions, ImportRefusedError, UndecidedError, import_any
from slaverify.evalset.importers.dispatch import FORMATS
from tests.evalset.importers.cases import MADE

CSV = ImportOptions(
    format="csv", delimiter=",", header=1, stratum="direct", mapping=(("id", "id"), ("q", "query"), ("a", "reference"))
)


def read(text: str, options: ImportOptions = CSV) -> list[dict[str, object]]:
    return [item.to_json() for item in import_any(text.encode(), "f.csv", options).items]


def refusal(data: bytes, options: ImportOptions = CSV, name: str = "f.csv") -> list[tuple[str, str]]:
    with pytest.raises(SlaverifyError) as caught:
        import_any(data, name, options)
    problems = caught.value.problems if isinstance(caught.value, ProblemsError) else [caught.value]
    return [(problem.code, problem.where) for problem in problems]


def options_open(data: bytes, options: ImportOptions, name: str = "f.csv") -> list[tuple[str, str]]:
    with pytest.raises(UndecidedError) as caught:
        import_any(data, name, options)
    assert caught.value.exit_code == 2
    return [(proposal.option, proposal.value) for proposal in caught.value.proposals]


def test_cells_of_several_lines_and_places_of_errors() -> None:
    found = refusal(b'id,q,a\n1,"uno\ndos",x\n1,"b",y\n2,c\n')
    assert found == [("SLV-I015", "f.csv:5"), ("SLV-I006", "f.csv:4")]


def test_ragged_rows_are_refused_with_their_line() -> None:
    assert refusal(b"id,q,a\n1,b,c\n2,b,c,d\n") == [("SLV-I015", "f.csv:3")]


def test_a_quote_that_never_closes_is_refused() -> None:
    assert refusal(b'id,q,a\n1,"b,c\n2,d,e\n')[0][0] == "SLV-I015"


def test_latin_1_and_cp1252_are_shown_and_never_chosen() -> None:
    data = "id,q,a\n1,¿Cuál?,año\n".encode("latin-1")
    found = options_open(data, CSV)
    assert found == [("--encoding", "cp1252"), ("--encoding", "latin-1")]
    from dataclasses import replace

    with pytest.raises(UndecidedError):
        import_any(data, "f", replace(CSV, accept=True))
    assert import_any(data, "f", replace(CSV, encoding="latin-1")).items[0].query == "¿Cuál?"


def test_cp1252_read_as_latin_1_is_refused() -> None:
    from dataclasses import replace

    data = "id,q,a\n1,¿Cuál “plazo”?,5 €\n".encode("cp1252")
    assert options_open(data, CSV) == [("--encoding", "cp1252")]
    assert refusal(data, replace(CSV, encoding="latin-1"))[0][0] == "SLV-I016"
    assert import_any(data, "f", replace(CSV, encoding="cp1252")).items[0].query == "¿Cuál “plazo”?"


def test_an_encoding_that_does_not_fit_is_refused() -> None:
    from dataclasses import replace

    assert refusal("ñ".encode("latin-1"), replace(CSV, encoding="utf-8"))[0][0] == "SLV-I016"
    assert refusal(b"a", replace(CSV, encoding="klingon"))[0][0] == "SLV-I016"


@pytest.mark.parametrize(("sign", "shown"), [(",", ","), (";", ";"), ("\t", "tab"), ("|", "|")])
def test_the_separator_is_proposed_from_the_whole_file(sign: str, shown: str) -> None:
    text = "\n".join(sign.join(row) for row in (["id", "q", "a"], ["1", "b", "c"]))
    found = options_open(text.encode(), ImportOptions(format="csv", stratum="s"))
    assert ("--delimiter", shown) in found and ("--header", "1") in found


def test_a_declared_null_token_is_no_answer() -> None:
    from dataclasses import replace

    text = "id,q,a\n1,b,N/A\n"
    assert options_open(text.encode(), CSV) == [("--null-token", "N/A=out_of_corpus")]
    item = read(text, replace(CSV, null_tokens=(("N/A", "not_in_document"),)))[0]
    assert item["reference"] == {"kind": "none", "because": "not_in_document"}


def test_an_empty_answer_is_refused() -> None:
    assert refusal(b"id,q,a\n1,b,\n") == [("SLV-I019", "f.csv:2")]


def test_columns_are_named_or_refused() -> None:
    from dataclasses import replace

    assert refusal(b"id,q,a\n", replace(CSV, mapping=(("zz", "query"),)))[0][0] == "SLV-I015"
    assert refusal(b"id,q,a\n1,2,3\n", replace(CSV, mapping=(("id", "quary"),)))[0][0] == "SLV-I015"
    assert refusal(b"id,id,a\n1,2,3\n")[0][0] == "SLV-I015"


def test_days_need_an_order() -> None:
    from dataclasses import replace

    dated = replace(CSV, mapping=(*CSV.mapping, ("d", "consulted_on")))
    data = b"id,q,a,d\n1,b,c,03-04-2026\n"
    assert refusal(data, dated) == [("SLV-I019", "f.csv:2")]
    assert import_any(data, "f", replace(dated, date_order="dmy")).items[0].consulted_on == "2026-04-03"
    assert import_any(data, "f", replace(dated, date_order="mdy")).items[0].consulted_on == "2026-03-04"
    assert refusal(b"id,q,a,d\n1,b,c,31-02-2026\n", replace(dated, date_order="dmy"))[0][0] == "SLV-I004"


@given(
    data=st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    form=st.sampled_from([None, *FORMATS]),
    accept=st.booleans(),
)
@settings(max_examples=1500, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes, form: str | None, accept: bool) -> None:
    try:
        import_any(data, "f", ImportOptions(format=form, accept=accept))
    except SlaverifyError as error:
        assert error.code.startswith("SLV-I") and error.exit_code == 2


@given(rows=st.lists(st.lists(st.text(max_size=12), min_size=1, max_size=5), max_size=6), accept=st.booleans())
@settings(max_examples=500, deadline=None)
def test_any_table_is_read_or_refused(rows: list[list[str]], accept: bool) -> None:
    import csv

    out = io.StringIO()
    csv.writer(out).writerows([["id", "input", "target", "choices"], *rows])
    for form in ("csv", "inspect", "ragas", "deepeval", "facts", "promptfoo"):
        try:
            import_any(out.getvalue().encode("utf-8", "replace"), "f.csv", ImportOptions(format=form, accept=accept))
        except SlaverifyError as error:
            assert error.code.startswith("SLV-I")


SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
)


def xlsx(rows: str, *, sheet: str = SHEET) -> bytes:
    source = zipfile.ZipFile(MADE / "anexo3.xlsx")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in source.namelist():
            data = sheet.replace("{}", rows).encode() if name == "xl/worksheets/sheet1.xml" else source.read(name)
            archive.writestr(name, data)
    return out.getvalue()


def row(number: int, *texts: str, hidden: bool = False) -> str:
    cells = "".join(
        f'<c r="{chr(65 + at)}{number}" t="inlineStr"><is><t>{text}</t></is></c>' for at, text in enumerate(texts)
    )
    return f'<row r="{number}"{" hidden=" + chr(34) + "1" + chr(34) if hidden else ""}>{cells}</row>'


XLSX = ImportOptions(header=1, stratum="direct", mapping=(("id", "id"), ("q", "query"), ("a", "reference")))


def test_hidden_rows_are_left_out_unless_asked_for() -> None:
    from dataclasses import replace

    data = xlsx(row(1, "id", "q", "a") + row(2, "1", "b", "c") + row(3, "2", "d", "e", hidden=True))
    imported = import_any(data, "f.xlsx", XLSX)
    assert [item.id for item in imported.items] == ["1"] and imported.report.facts.rows_hidden == (3,)
    assert len(import_any(data, "f.xlsx", replace(XLSX, hidden=True)).items) == 2


def test_a_sheet_that_spans_the_whole_grid_is_refused_before_it_is_read() -> None:
    data = xlsx(row(1, "id", "q", "a") + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
    assert refusal(data, XLSX, "f.xlsx") == [("SLV-I017", "f.xlsx")]


def test_a_document_type_is_refused() -> None:
    evil = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + SHEET
    assert refusal(xlsx(row(1, "id"), sheet=evil), XLSX, "f.xlsx") == [("SLV-I017", "f.xlsx")]


def test_error_cells_and_booleans_are_no_answer() -> None:
    cells = '<row r="2"><c r="A2" t="inlineStr"><is><t>1</t></is></c><c r="B2" t="inlineStr"><is><t>b</t></is></c>'
    for cell in ('<c r="C2" t="e"><v>#N/A</v></c>', '<c r="C2" t="b"><v>1</v></c>', '<c r="C2"><f>A1</f></c>'):
        found = refusal(xlsx(row(1, "id", "q", "a") + cells + cell + "</row>"), XLSX, "f.xlsx")
        assert found == [("SLV-I019", "f.xlsx:Evaluación!C2")], cell


@pytest.mark.parametrize("cut", [0, 4, 40, 200, 400])
def test_broken_workbooks_are_refused(cut: int) -> None:
    data = xlsx(row(1, "id", "q", "a") + row(2, "1", "b", "c"))[:cut]
    for form in ("xlsx", "ods"):
        assert refusal(b"PK\x03\x04" + data[4:], ImportOptions(format=form), "f")[0][0] == "SLV-I017"


@given(at=st.integers(0, 3000), size=st.integers(1, 40), junk=st.binary(max_size=20), member=st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_any_damage_to_a_workbook_is_read_or_refused(at: int, size: int, junk: bytes, member: int) -> None:
    path = ("xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml", "xl/_rels/workbook.xml.rels")[member]
    source = zipfile.ZipFile(MADE / "anexo3.xlsx")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in source.namelist():
            data = source.read(name)
            archive.writestr(name, data[:at] + junk + data[at + size :] if name == path else data)
    try:
        import_any(out.getvalue(), "f.xlsx", ImportOptions(accept=True))
    except SlaverifyError as error:
        assert error.code.startswith("SLV-I")


def ods(content: str) -> bytes:
    out = io.BytesIO()
    names = {"table": "table", "office": "office", "text": "text", "style": "style"}
    spaces = " ".join(
        f'xmlns:{key}="urn:oasis:names:tc:opendocument:xmlns:{value}:1.0"' for key, value in names.items()
    )
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>{content}"
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return out.getvalue()


def cell(text: str) -> str:
    return f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'


def test_ods_rows_hidden_rows_and_percentages() -> None:
    percent = (
        '<table:table-cell office:value-type="percentage" office:value="0.042"><text:p>4,2%</text:p></table:table-cell>'
    )
    content = (
        '<table:table table:name="Hoja">'
        f"<table:table-row>{cell('id')}{cell('q')}{cell('a')}</table:table-row>"
        f"<table:table-row>{cell('1')}{cell('¿Cuánto?')}{percent}</table:table-row>"
        f"<table:table-row table:visibility='collapse'>{cell('2')}{cell('x')}{cell('y')}</table:table-row>"
        "</table:table>"
    )
    imported = import_any(ods(content), "f.ods", XLSX)
    assert imported.items[0].to_json()["reference"] == {"kind": "number", "value": "4.2", "unit": "%"}
    assert (imported.report.format, imported.report.facts.rows_hidden) == ("ods", (3,))


def test_ods_repeats_are_capped() -> None:
    bomb = cell("x").replace("<table:table-cell", '<table:table-cell table:number-columns-repeated="16000"')
    rows = f'<table:table-row table:number-rows-repeated="1000000">{bomb}</table:table-row>'
    content = f'<table:table table:name="H">{rows}</table:table>'
    assert refusal(ods(content), XLSX, "f.ods") == [("SLV-I017", "f.ods")]


def test_the_refusal_carries_the_report(tmp_path: Path) -> None:
    with pytest.raises(ImportRefusedError) as caught:
        import_any(b"id,q,a\n1,b,c\n1,d,e\n", "f.csv", CSV)
    report = caught.value.report
    assert report.canonical_digest is None and report.duplicates == (("1", ("f.csv:2", "f.csv:3")),)
    assert isinstance(caught.value.problems[0], SetError)
