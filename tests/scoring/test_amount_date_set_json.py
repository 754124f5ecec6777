"""`amount@1`, `date@1`, `set@1` and `json@1`."""

from __future__ import annotations

import pytest

from tests.scoring.helpers import amount, date, entity, number, outcome_of, scored

Q = "¿Cuál es?"
AMOUNT = [
    (amount("15", "día"), Q, "quince días", "correct"),
    (amount("15", "día"), Q, "El plazo es de 15 días según el artículo 45.", "correct"),
    (amount("15", "día", day_kind="hábiles"), Q, "15 días hábiles", "correct"),
    (amount("15", "día", day_kind="hábiles"), "¿Cuántos días hábiles?", "15", "correct"),
    (amount("3", "UF"), Q, "3 UF", "correct"),
    (amount("3", "UF"), Q, "tres unidades de fomento", "correct"),
    (amount("3", "UF"), Q, "UF 3", "correct"),
    (amount("1234", "CLP"), "¿Total en pesos chilenos?", "$1.234", "correct"),
    (amount("1234", "CLP"), Q, "1.234 pesos", "correct"),
    (amount("2", "kilogramo"), Q, "2 kg", "correct"),
    (amount("5", "chaleco"), Q, "5 chalecos", "correct"),
    ({"kind": "amount", "min": "5", "max": "10", "unit": "UTM"}, Q, "de 5 a 10 UTM", "correct"),
    ({"kind": "amount", "min": "5", "max": "10", "unit": "UTM"}, Q, "entre 5 y 10 UTM", "correct"),
    (amount("3", "UF"), Q, "3 UTM", "incorrect"),
    (amount("15", "día", day_kind="hábiles"), Q, "15 días corridos", "incorrect"),
    (amount("15", "día", day_kind="hábiles"), Q, "15 días", "undetermined"),
    (amount("15", "día"), Q, "15", "undetermined"),
    (amount("24", "hora"), Q, "1 día", "incorrect"),
    (amount("15", "día"), Q, "15 meses", "incorrect"),
    (amount("15", "día"), Q, "15 %", "incorrect"),
    (amount("1234", "USD"), Q, "$1.234", "incorrect"),
    (amount("3", "UF"), Q, "3 UF o 4 UF", "incorrect"),
    (amount("3", "UF"), Q, "-3 UF", "incorrect"),
    ({"kind": "amount", "min": "5", "max": "10", "unit": "UTM"}, Q, "10 UTM", "incorrect"),
    ({"kind": "amount", "min": "5", "max": "10", "unit": "UTM"}, Q, "de 5 a 10 UF", "incorrect"),
    ({"kind": "amount", "min": "5", "max": "10", "unit": "UTM"}, Q, "de 5 a 15 UTM", "incorrect"),
]
DATE = [
    (date("2025-03-03"), "3 de marzo de 2025", "correct"),
    (date("2025-03-03"), "03/03/2025", "correct"),
    (date("2025-03-04"), "04-03-2025", "correct"),
    (date("2025-03-04"), "4.3.2025", "correct"),
    (date("2025-03-03"), "2025-03-03", "correct"),
    (date("2025-03-03"), "Vence el tres de marzo de 2025.", "correct"),
    (date("2025-05-01"), "el 1° de mayo de 2025", "correct"),
    (date("2025-03-03"), "March 3, 2025", "correct"),
    (date("2025-03"), "marzo de 2025", "correct"),
    (date("2025-03"), "3 de marzo de 2025", "correct"),
    (date("2025"), "2025", "correct"),
    (date("1971-03-03"), "03/03/71", "correct"),
    (date("2069-03-03"), "03/03/69", "correct"),
    (date("2025-03-03"), "No el 4 de marzo de 2025, sino el 3 de marzo de 2025.", "correct"),
    (date("2025-03-04"), "03/04/2025", "incorrect"),
    (date("2025-03-03"), "31/02/2025", "incorrect"),
    (date("2025-03-03"), "4 de marzo de 2025", "incorrect"),
    (date("2025-03-03"), "3 de marzo de 2025 o 4 de marzo de 2025", "incorrect"),
    (date("2025-03-03"), "3 de marzo de 2024", "incorrect"),
    (date("2025-03-03"), "marzo de 2025", "partial"),
    (date("2025-03-03"), "3 de marzo", "partial"),
    (date("2025-03-03"), "mañana", "undetermined"),
    (date("2025-03-03"), "pronto", "no_answer"),
]
PAPERS = {
    "kind": "set",
    "value": [entity("cédula"), entity("poder"), entity("balance")],
    "set_rule": "equal",
    "ordering": "set",
}
SEQUENCE = {"kind": "set", "value": [entity("a1"), entity("a1"), entity("b2")]}
SET = [
    (PAPERS, "Balance, cédula y poder", "correct"),
    (PAPERS, "- cédula\n- poder\n- balance", "correct"),
    (PAPERS, "1. Cédula\n2. Poder\n3. Balance", "correct"),
    (PAPERS, "Se exigen: cédula; poder; balance.", "correct"),
    (PAPERS, "Los documentos son la cédula, el poder y el balance.", "correct"),
    (PAPERS, "cédula, cédula, poder y balance", "correct"),
    (PAPERS, "cédula y poder", "incorrect"),
    (PAPERS, "cédula, poder, balance y certificado", "incorrect"),
    (PAPERS, "cédula, poder y balanza", "incorrect"),
    ({**PAPERS, "set_rule": "at_least"}, "cédula, poder, balance y certificado", "correct"),
    ({**PAPERS, "set_rule": "f1"}, "cédula y poder", "partial"),
    ({**SEQUENCE, "ordering": "sequence"}, "a1, b2, a1", "incorrect"),
    ({**SEQUENCE, "ordering": "multiset"}, "a1, b2, a1", "correct"),
    ({**SEQUENCE, "ordering": "multiset"}, "a1, b2", "incorrect"),
    ({"kind": "set", "value": [number("5"), number("7")]}, "5 y 7", "correct"),
    ({"kind": "set", "value": [number("5"), number("7")]}, "5 y 8", "incorrect"),
    ({"kind": "set", "value": [entity("Lane y Vail"), entity("Tesla")]}, "Tesla, Lane y Vail", "correct"),
]
OBJECT = {"kind": "json", "value": {"a": 1, "b": [True, None, "x"]}}
JSON = [
    (OBJECT, '{"b": [true, null, "x"], "a": 1}', "correct"),
    (OBJECT, '{"a": 1.0, "b": [true, null, "x"]}', "correct"),
    (OBJECT, '{"a": "1", "b": [true, null, "x"]}', "incorrect"),
    (OBJECT, '{"a": true, "b": [true, null, "x"]}', "incorrect"),
    (OBJECT, '{"a": 1, "b": [true, null]}', "incorrect"),
    (OBJECT, '{"a": 1, "b": [true, null, "x"], "c": 2}', "incorrect"),
    (OBJECT, '{"a": 1, "a": 1, "b": [true, null, "x"]}', "incorrect"),
    (OBJECT, '{"a": NaN}', "incorrect"),
    (OBJECT, 'El objeto es {"a": 1}', "incorrect"),
    (OBJECT, '```json\n{"a": 1, "b": [true, null, "x"]}\n```', "incorrect"),
    (OBJECT, '{"a": 1e999999999, "b": [true, null, "x"]}', "incorrect"),
    ({**OBJECT, "ignore": ["$.a"]}, '{"a": 9, "b": [true, null, "x"]}', "correct"),
]


@pytest.mark.parametrize(("reference", "query", "answer", "correctness"), AMOUNT)
def test_amount(reference: dict, query: str, answer: str, correctness: str) -> None:
    got = scored(reference, answer, query=query)
    assert got.record.correctness == correctness, got.record.to_json()


@pytest.mark.parametrize(("reference", "answer", "correctness"), DATE)
def test_date(reference: dict, answer: str, correctness: str) -> None:
    got = scored(reference, answer, query="¿Cuándo?")
    assert got.record.correctness == correctness, got.record.to_json()


def test_the_order_of_a_numeric_date_is_the_locales() -> None:
    assert scored(date("2025-03-04"), "03/04/2025", locale="en-US").record.correctness == "correct"
    assert scored(date("2025-04-03"), "03/04/2025", locale="es-CL").record.correctness == "correct"
    assert scored(date("2025-03-04", order="mdy"), "03/04/2025").record.correctness == "correct"


@pytest.mark.parametrize(("reference", "answer", "correctness"), SET)
def test_set(reference: dict, answer: str, correctness: str) -> None:
    got = scored(reference, answer, query="¿Qué documentos exige?")
    assert got.record.correctness == correctness, got.record.to_json()


@pytest.mark.parametrize(("reference", "answer", "correctness"), JSON)
def test_json(reference: dict, answer: str, correctness: str) -> None:
    got = scored(reference, answer)
    assert got.record.correctness == correctness, got.record.to_json()


def test_fences_are_a_policy() -> None:
    fenced = '```json\n{"a": 1, "b": [true, null, "x"]}\n```\nSee [docs] for more.'
    assert scored(OBJECT, fenced, json="fenced_allowed").record.correctness == "correct"
    assert outcome_of(scored(OBJECT, fenced)) == ("incorrect", "answer_malformed")
    twice = "```json\n{}\n```\n```json\n{}\n```"
    assert outcome_of(scored(OBJECT, twice, json="fenced_allowed")) == ("incorrect", "answer_malformed")


def test_a_kind_without_a_rule_is_open_never_right() -> None:
    got = scored({"kind": "trajectory", "value": {"id": "T1"}}, "artículo 12")
    assert outcome_of(got) == ("undetermined", "no_rule")
    assert got.record.verdict is None and "open" in got.record.flags
