"""Each rule of the lint, on items made to break it and on items that only look as if they did."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from slaverify.evalset import Catalogue, CatalogueEntry, Item, parse_item
from slaverify.readiness.bank import check_bank
from slaverify.readiness.bank_articles import articles_named
from slaverify.readiness.bank_balance import check_balance
from slaverify.readiness.bank_findings import Finding
from slaverify.readiness.bank_kinds import suggest_kinds
from slaverify.readiness.bank_mutants import mutants
from slaverify.readiness.bank_personal import check_personal
from slaverify.readiness.bank_twins import check_twins
from tests.readiness.bank.test_sets import codes, item, options

SOURCE = {"official_text": "El plazo es de 30 días hábiles.", "source": {"title": "Ley"}}
NUMBER = {"kind": "number", "value": "30"}


def levels(found: list[Finding]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(one.code, one.level, one.items) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("¿Qué dice el artículo 12?", {(12, "")}),
        ("¿Qué dice el art. N° 12 bis?", {(12, "bis")}),
        ("¿Qué dice el artículo doce?", {(12, "")}),
        ("¿Qué dice el artículo XII?", {(12, "")}),
        ("¿Qué dice el artículo duodécimo?", {(12, "")}),
        ("¿Qué dicen los artículos 10, 11 y 12?", {(10, ""), (11, ""), (12, "")}),
        ("¿Y el artículo ciento veintitrés?", {(123, "")}),
        ("¿Y el artículo 12º?", {(12, "")}),
        ("What does article twenty one say?", {(21, "")}),
        ("¿Cuántos meses son 12 meses según la norma?", set()),
        ("¿Qué artículo fija el plazo de 12 días?", set()),
        ("Un artículo de 12 pesos", set()),
    ],
)
def test_article_numbers_in_any_notation(text: str, expected: set[tuple[int, str]]) -> None:
    assert articles_named(text) == expected


@pytest.mark.parametrize(
    ("query", "leaks"),
    [
        ("¿Qué plazo fija el artículo 12 bis?", True),
        ("¿Qué plazo fija el artículo doce bis?", True),
        ("¿Qué plazo fija el artículo 12?", False),
        ("¿Qué plazo fija cl:ley:1:art:12-bis?", True),
        ("¿Qué plazo hay para responder?", False),
    ],
)
def test_leaks_of_the_expected_article(query: str, leaks: bool) -> None:
    cited = item(1, NUMBER, query=query, expected_citations=[{"id": "cl:ley:1:art:12-bis"}], **SOURCE)
    assert ("SLV-I020" in codes(check_bank([cited], options()))) is leaks


def test_eight_words_of_the_answer_in_the_question() -> None:
    text = "la autoridad marítima del lago debe aprobar el plan anual de dragado"
    told = item(1, {"kind": "text", "value": text}, query=f"¿Es cierto que {text}?")
    short = item(2, {"kind": "text", "value": "la autoridad marítima"}, query="¿Qué hace la autoridad marítima?")
    assert codes(check_bank([told], options())).get("SLV-I020") == 1
    assert "SLV-I020" not in codes(check_bank([short], options()))


def test_a_reference_that_cannot_be_answered_is_refused() -> None:
    # the question asks for days and the reference is in months: no notation of it can be right
    wrong = item(1, {"kind": "choice", "value": "A", "options": {"A": "Sí", "B": "Sí"}})
    found = check_bank([wrong], options())
    assert found.gold_total == found.gold_correct or "SLV-I021" in codes(found)
    hidden = item(2, {"kind": "text", "value": "No consta en el corpus."})
    assert codes(check_bank([hidden], options())).get("SLV-I021") == 1


def test_mutants_leave_out_what_another_reference_accepts() -> None:
    wide = item(1, {"kind": "number", "value": "30", "accepted": [{"kind": "number", "value": "31"}]})
    found = mutants(wide, options())
    assert "31" not in found and "29" in found and len(found) >= 5
    loose = item(2, {"kind": "number", "value": "30", "tolerance": {"kind": "absolute", "value": "5"}})
    assert not {"31", "25", "35"} & set(mutants(loose, options()))


@pytest.mark.parametrize(
    "reference",
    [
        {"kind": "number", "value": "0"},
        {"kind": "number", "value": "-3.5", "unit": "%"},
        {"kind": "amount", "value": "2500.50", "unit": "UF"},
        {"kind": "amount", "min": "5", "max": "10", "unit": "UTM"},
        {"kind": "amount", "value": "30", "unit": "día", "day_kind": "corridos"},
        {"kind": "date", "value": "2026-03-04"},
        {"kind": "date", "value": "2026-12"},
        {"kind": "date", "value": "2026"},
        {"kind": "entity", "value": "Capitanía", "aliases": ["Capitanía Lacustre"]},
        {"kind": "text", "value": "sí"},
        {"kind": "choice", "value": "B", "options": {"A": "Norte", "B": "Sur"}},
        {"kind": "choice", "value": "No", "options": {"Sí": "Sí", "No": "No"}},
        {"kind": "set", "value": [{"kind": "entity", "value": "Norte"}, {"kind": "entity", "value": "Sur"}]},
        {"kind": "json", "value": {"a": 1, "b": [True, None, "x"]}},
        {"kind": "none", "because": "out_of_corpus"},
    ],
)
@pytest.mark.parametrize("locale", ["es-CL", "es-MX", "es-ES", "en-US"])
def test_every_kind_has_gold_that_is_right_and_mutants_that_are_wrong(reference: Any, locale: str) -> None:
    found = check_bank([item(1, reference)], options(locale))
    assert found.gold_correct == found.gold_total >= 2, [one.what.en for one in found.findings]
    assert found.mutants_correct == 0, [one.what.en for one in found.findings]
    assert found.mutants_least >= 5


def test_sources() -> None:
    known = Catalogue({name: CatalogueEntry(name) for name in ("cl:ley:1", "cl:ley:1:art:9")})
    trap = {"kind": "none", "because": "false_premise"}
    exists = item(1, trap, stratum="trap", trap={"kind": "missing_article", "target": "cl:ley:1:art:9"})
    fine = item(2, trap, stratum="trap", trap={"kind": "missing_article", "target": "cl:ley:1:art:99"})
    no_norm = item(3, trap, stratum="trap", trap={"kind": "missing_article", "target": "cl:ley:7:art:99"})
    absent = item(4, NUMBER, expected_citations=[{"id": "cl:ley:1:art:8"}], **SOURCE)
    found = check_bank([exists, fine, no_norm, absent], options(catalogue=known))
    bad = sorted(one.items[0] for one in found.findings if one.code == "SLV-I023")
    assert bad == ["i001", "i003", "i004"]


@pytest.mark.parametrize(
    ("reference", "text", "held"),
    [
        (NUMBER, "El plazo es de 30 días.", True),
        (NUMBER, "El plazo es de treinta días.", True),
        (NUMBER, "El plazo es de 20 días.", False),
        ({"kind": "amount", "value": "4500", "unit": "CLP"}, "La tarifa es de 4.500 pesos.", True),
        ({"kind": "entity", "value": "Capitanía Lacustre"}, "Rinde examen ante la Capitanía Lacustre.", True),
        ({"kind": "entity", "value": "Capitanía Lacustre"}, "Rinde examen ante la Capitanía.", False),
        ({"kind": "date", "value": "2026-03-03"}, "Rige desde el 3 de marzo de 2026.", True),
        ({"kind": "text", "value": "otra cosa"}, "El plazo.", True),
    ],
)
def test_the_official_text_bears_the_answer_out(reference: Any, text: str, held: bool) -> None:
    one = item(1, reference, official_text=text, source={"title": "Ley"})
    assert ("SLV-I023" not in codes(check_bank([one], options()))) is held


def test_repeated_questions_twins_and_near_duplicates() -> None:
    query = "¿Cuál es el plazo para inscribir una nave en el registro del lago?"
    same = [item(1, NUMBER, query=query), item(2, {"kind": "number", "value": "31"}, query=query)]
    assert levels(check_twins(same)) == [("SLV-I025", "E", ("i001", "i002"))]
    near = query.replace("una nave", "una nave nueva")
    assert levels(check_twins([item(1, NUMBER, query=query), item(2, NUMBER, query=near)])) == [
        ("SLV-I024", "W", ("i001", "i002"))
    ]
    other = [item(1, NUMBER, query=query), item(2, {"kind": "number", "value": "9"}, query=near)]
    assert levels(check_twins(other)) == [("SLV-I024", "E", ("i001", "i002"))]
    grouped = [item(1, NUMBER, query=query, cluster="c"), item(2, NUMBER, query=near, cluster="c")]
    assert check_twins(grouped) == []
    twins = [
        item(1, NUMBER, query=query, cluster="c"),
        item(2, NUMBER, query=near, cluster="c", twin_of="i001", twin_relation="entity_swap"),
    ]
    assert levels(check_twins(twins)) == [("SLV-I025", "E", ("i001", "i002"))]


def test_near_duplicates_of_many_questions_in_time() -> None:
    draw = random.Random(1)
    vocabulary = [f"palabra{number}" for number in range(4_000)]
    questions = [" ".join(draw.sample(vocabulary, 9)) for _ in range(10_000)]
    bank = [item(number, NUMBER, query=text) for number, text in enumerate(questions)]
    bank.append(item(99_999, NUMBER, query=questions[77] + " hoy"))
    start = time.perf_counter()
    found = check_twins(bank)
    assert [one.items for one in found] == [("i077", "i99999")]
    assert time.perf_counter() - start < 30


def test_balance() -> None:
    def choice(number: int, value: str, right: str = "x") -> Item:
        others = dict.fromkeys("ABCD", "x") | {value: right}
        return item(number, {"kind": "choice", "value": value, "options": others}, cluster=f"c{number % 10}")

    even = [choice(number, "ABCD"[number % 4]) for number in range(40)]
    assert check_balance(even, options()) == []
    assert "desbalanceadas" in check_balance([choice(number, "B") for number in range(40)], options())[0].what.es
    longest = check_balance([choice(number, "ABCD"[number % 4], "x" * 30) for number in range(40)], options())
    assert "más larga" in longest[0].what.es
    lopsided = [item(number, NUMBER, cluster="a" if number < 15 else f"c{number % 3}") for number in range(40)]
    assert any("grupo a" in one.what.es for one in check_balance(lopsided, options()))
    alone = check_balance([item(number, NUMBER) for number in range(40)], options())
    assert "propio grupo" in alone[0].what.es
    assert "sortea 90" in check_balance(even, options(sizes={"direct": 90}))[0].what.es


def test_age() -> None:
    old = item(1, NUMBER, consulted_on="2026-01-01", as_of="2026-01-01", **SOURCE)
    assert any("180" in one.what.es for one in check_bank([old], options(today="2026-11-30")).findings)
    assert not any("180" in one.what.es for one in check_bank([old], options(today="2026-02-01")).findings)
    assert any("no se juzga" in text.es for text in check_bank([old], options()).not_performed)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("¿Cuál es la deuda de 12.345.678-5?", "RUT"),
        ("¿Cuál es la deuda de 12.345.678-4?", None),
        ("¿Y la de 12345678Z?", "NIF"),
        ("¿Y la de 12345678A?", None),
        ("Cuenta ES91 2100 0418 4502 0005 1332", "IBAN"),
        ("Escriba a ana.perez@example.org", "e-mail"),
        ("Llame al +56 9 8765 4321", "teléfono"),
        ("La ley 19.886 de 2003-07-30, artículo 12, 1.234.567 pesos", None),
    ],
)
def test_personal_data(text: str, kind: str | None) -> None:
    found = check_personal([item(1, NUMBER, query=text)], options())
    assert [one.what.es.rpartition(": ")[2] for one in found] == ([] if kind is None else [kind])
    assert all(text not in one.what.es for one in found)


def test_personal_data_is_accepted_with_a_reason() -> None:
    one = item(1, {"kind": "entity", "value": "12.345.678-5", "identifier": "cl.rut"})
    assert check_personal([one], options()) == []
    two = item(1, NUMBER, query="¿Correo de ana@example.org?")
    found = check_personal([two], options(accepted={("SLV-I029", "i001"): "dirección inventada"}))
    assert not found[0].refuses and found[0].accepted == "dirección inventada"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30 días hábiles", {"kind": "amount", "value": "30", "unit": "día", "day_kind": "hábiles"}),
        ("De 5 a 10 UTM", {"kind": "amount", "min": "5", "max": "10", "unit": "UTM"}),
        ("1.234,56", {"kind": "number", "value": "1234.56"}),
        ("4,2 %", {"kind": "number", "value": "4.2", "unit": "%"}),
        ("UF 2.500,50", {"kind": "amount", "value": "2500.50", "unit": "UF"}),
        ("3 de marzo de 2026", {"kind": "date", "value": "2026-03-03"}),
        ("12.34.5", None),
        ("Capitanía Lacustre", None),
        ("14 bis", None),
    ],
)
def test_kinds_are_proposed_only_where_the_rule_agrees(text: str, expected: Any) -> None:
    typed = suggest_kinds([item(1, {"kind": "text", "value": text}, locale="es-CL")])
    assert typed.get("i001") == expected


def test_without_a_locale_no_separator_is_read() -> None:
    assert suggest_kinds([item(1, {"kind": "text", "value": "1.234"})]) == {}
    assert parse_item(item(1, NUMBER).to_json()) == item(1, NUMBER)
