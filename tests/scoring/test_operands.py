"""Numbers that the question puts in are quoted by the answer, not rivals of its value; an echo is never right."""

from __future__ import annotations

import pytest

from tests.scoring.helpers import number, scored

NINES, SUM, SIX = "¿Cuánto es 9 por 9?", "¿Cuánto suman 100 y 3?", "What is 6 times 7?"
DEBT, ONE = "¿Cuántos días tiene quien debe 30 UF para pagar?", "¿Cuánto es 9 por 1?"
KILOS = "Si compro 100 kg y 3 kg de sal, ¿cuántos kg son?"
RIGHT = [
    (NINES, "81", "9 por 9 es 81"),
    (NINES, "81", "9 veces 9 es 81"),
    (NINES, "81", "9 times 9 is 81"),
    (NINES, "81", "Nueve por nueve son 81"),
    (NINES, "81", "El resultado de multiplicar 9 por 9 es 81."),
    (NINES, "81", "81, pues 9 por 9 da 81"),
    (NINES, "81", "Para multiplicar 9 por 9 se suma nueve veces. El resultado es 81."),
    (SUM, "103", "100 y 3 suman 103."),
    (SUM, "103", "100 más 3 es 103"),
    (SUM, "103", "La suma de 100 y 3 es 103"),
    (SUM, "103", "Suman 103 (100+3)"),
    (SUM, "103", "Si sumamos cien y tres, obtenemos ciento tres."),
    (SUM, "103", "Al sumar 3 a 100 se obtiene 103."),
    (SUM, "103", "100 plus 3 makes 103"),
    (SIX, "42", "we get 6 * 7 = 42"),
    (SIX, "42", "6 times 7 is 42"),
    (SIX, "42", "The product of 6 and 7 is 42."),
    (SIX, "42", "Six times seven equals 42"),
    ("What is 3 times 4?", "12", "3 times 4 is 12"),
    (ONE, "9", "9 por 1 es 9"),
    (KILOS, "103", "100 kg más 3 kg hacen 103 kg."),
    (DEBT, "15", "Quien debe 30 UF tiene 15 días."),
]
NOT_RIGHT = [
    (NINES, "81", "9 o 81"),
    (NINES, "81", "9 por 9 es 9"),
    (NINES, "81", "Es 9. Es 81."),
    (SUM, "103", "100 y 3 suman 104"),
    (SUM, "103", "100, 3 o 103"),
    (SUM, "103", "103 o 100"),
    (SUM, "103", "Entre 100 y 103"),
    (SIX, "42", "6, 7, 42"),
    (SIX, "42", "It is 6. It is 42."),
    (ONE, "9", "9 por 1"),
    (ONE, "9", "¿Cuánto es 9 por 1?"),
    (ONE, "9", "9 por 1 9 por 1"),
    (ONE, "9", "9 por 1 es 9 por 1"),
    (ONE, "9", "¿Cuánto es 9 por 1? 9 por 1"),
    (DEBT, "15", "15 o 30 días"),
    (DEBT, "15", "Son 30. Son 15."),
    ("¿Es cierto que el plazo es de 30 días?", "15", "Son 30 días. Son 15 días."),
    ("¿Es cierto que el plazo es de 30 días?", "15", "30 días. 15 días."),
    ("¿Es cierto que el plazo es de 30 días?", "30", "¿Es cierto que el plazo es de 30 días?"),
]


@pytest.mark.parametrize(("query", "value", "answer"), RIGHT)
def test_operands_are_quoted(query: str, value: str, answer: str) -> None:
    locale = "en-US" if query.startswith("What") else "es-CL"
    record = scored(number(value), answer, query=query, locale=locale).record
    assert record.verdict == "accurate", record.to_json()


@pytest.mark.parametrize(("query", "value", "answer"), NOT_RIGHT)
def test_an_echo_or_a_list_is_never_right(query: str, value: str, answer: str) -> None:
    locale = "en-US" if query.startswith("What") else "es-CL"
    assert scored(number(value), answer, query=query, locale=locale).record.verdict != "accurate"
