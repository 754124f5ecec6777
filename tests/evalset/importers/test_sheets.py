"""Our own sheets: a bank goes out and comes back as it was, and no cell of it runs in a spreadsheet."""

from __future__ import annotations

import csv
import io
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.errors import SetError
from slaverify.evalset import (
    ImportOptions,
    Item,
    export_csv,
    import_any,
    parse_item,
    read_bank,
    template_csv,
    template_xlsx,
)
from slaverify.evalset.template_layout import LABELS, inert, live, to_cells

ROOT = Path(__file__).resolve().parents[3]
STRATA = ("direct", "applied", "trap", "out_of_corpus", "adversarial")
TEXT = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=40).map(
    lambda text: unicodedata.normalize("NFC", text)
)
DANGER = st.sampled_from(
    ["=1+1", "'=x", "''@x", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", "a,b;c\td|e", 'x"y', "a\nb"]
)
CELL = (TEXT | DANGER).filter(lambda text: bool(text.strip()))
REFERENCE = st.one_of(
    st.builds(lambda value: {"kind": "text", "value": value}, CELL),
    st.builds(
        lambda value, aliases: {"kind": "entity", "value": value, "aliases": aliases}, CELL, st.lists(CELL, max_size=3)
    ),
    st.builds(
        lambda one, two: {"kind": "choice", "value": "A", "options": {"A": one, "B": two, "C = c": one}}, CELL, CELL
    ),
    st.builds(lambda value: {"kind": "set", "value": [{"kind": "text", "value": value}], "set_rule": "f1"}, CELL),
    st.builds(lambda value: {"kind": "json", "value": {"a": value}}, CELL),
    st.just({"kind": "none", "because": "out_of_scope"}),
    st.just({"kind": "amount", "min": "5", "max": "10", "unit": "UTM"}),
)


@st.composite
def items(draw: st.DrawFn) -> list[Item]:
    out = []
    for number in range(draw(st.integers(1, 4))):
        tree: dict[str, Any] = {
            "schema": "item/1",
            "id": f"i{number}",
            "stratum": "direct",
            "query": draw(CELL),
            "reference": draw(REFERENCE),
        }
        if draw(st.booleans()):
            tree |= {"official_text": draw(CELL), "source": {"title": draw(CELL)}, "criteria": ["a", "b"]}
            tree |= {
                "expected_citations": draw(
                    st.lists(st.builds(lambda name: {"id": name}, CELL.map(lambda t: t[:200])), max_size=2)
                )
            }
        if draw(st.booleans()):
            tree |= {"ext": {"x": draw(CELL)}, "settings": {"fold_accents": True}, "as_of": "2026-01-01"}
        out.append(parse_item(tree))
    return out


@given(bank=items(), language=st.sampled_from(["es", "en"]), delimiter=st.sampled_from([",", ";", "\t"]))
@settings(max_examples=400, deadline=None)
def test_a_bank_comes_back_as_it_was(bank: list[Item], language: str, delimiter: str) -> None:
    data = export_csv(bank, language, delimiter=delimiter)
    imported = import_any(data, "f.csv", ImportOptions())
    assert [item.to_json() for item in imported.items] == [item.to_json() for item in bank]
    for row in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter):
        assert not any(cell[:1] in ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠") for cell in row)


@given(cell=st.text(max_size=12) | DANGER)
@settings(max_examples=500)
def test_inert_is_undone_and_never_starts_a_formula(cell: str) -> None:
    assert live(inert(cell)) == cell
    assert inert(cell)[:1] not in ("=", "+", "-", "@")


@pytest.mark.parametrize("path", ["custodia/demo/preguntas.jsonl", "contratos/practica/preguntas_publicas.jsonl"])
def test_the_sets_of_the_project_come_back(path: str) -> None:
    data = (ROOT / path).read_bytes()
    bank = read_bank(data, path)
    imported = import_any(export_csv(bank, "es"), "f.csv", ImportOptions())
    assert imported.items == bank


@pytest.mark.parametrize("language", ["es", "en"])
@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_the_template_comes_back_without_a_mapping(form: str, language: str) -> None:
    data = (template_xlsx if form == "xlsx" else template_csv)(STRATA, language)
    imported = import_any(data, f"t.{form}", ImportOptions())
    assert {item.stratum for item in imported.items} == set(STRATA)
    assert dict(imported.report.facts.known_by)["mapping"] == "template"


def test_worked_rows_stay_out_once_there_are_others() -> None:
    rows = list(csv.reader(io.StringIO(template_csv(STRATA, "es").decode("utf-8-sig"), newline=""), delimiter=";"))
    own = ["P-1", *rows[1][1:]]
    out = io.StringIO()
    csv.writer(out, delimiter=";").writerows([*rows, own])
    imported = import_any(out.getvalue().encode(), "t.csv", ImportOptions())
    assert [item.id for item in imported.items] == ["P-1"]
    assert imported.report.facts.rows_worked == (2, 3, 4, 5, 6)


def test_the_sheet_has_closed_lists_and_no_formulas() -> None:
    import zipfile

    archive = zipfile.ZipFile(io.BytesIO(template_xlsx(STRATA, "es")))
    sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    assert "<dataValidation " in sheet and "out_of_corpus,adversarial" in sheet and "<f>" not in sheet


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(SetError) as caught:
        template_xlsx(STRATA, "es")
    assert caught.value.code == "SLV-I045" and "slaverify[label]" in caught.value.fix.es
    assert template_csv(STRATA, "es")


def test_every_label_is_told_apart() -> None:
    for language in ("es", "en"):
        labels = [label.in_language(language) for label in LABELS.values()]
        assert len(set(labels)) == len(labels)


def test_what_has_no_column_goes_to_the_last_one() -> None:
    cells = to_cells({"schema": "item/1", "id": "a", "query": "x\x00y", "reference": {"kind": "text", "value": "v"}})
    assert "query" not in cells and "\\u0000" in cells["more"]
