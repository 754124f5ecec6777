"""Answers of which nobody can say whether they abstain: without the right value they are wrong all the same."""

from __future__ import annotations

import pytest

from tests.scoring.helpers import amount, choice, date, entity, number, scored

DAYS = "¿Cuántos días hábiles tiene el operador para apelar?"
CONSTANTS = [
    "No sé, 7 días",
    "7 días.\nRespuesta: no lo sé",
    "No encuentro, 7.",
    "No consta, 7, en el reglamento.",
    "El plazo es de 7 días.\nRespuesta final: No tengo información.",
    "No se indica el plazo, 7 días, aquí",
    "El reglamento no menciona el plazo, 7, de apelación.",
    "No lo sé, siete días.",
    "Siete días. #### no lo sé",
    "7 personas",
    "Son 7 tal vez.\nRespuesta: No puedo responder.",
    "7 cosas",
]
ENGLISH = [
    "I don't know, 7 days",
    "7 days.\nAnswer: I do not know",
    "I cannot find it, 7.",
    "The act does not state the term, 7, for appeals.",
    "Seven days.\nAnswer: no information",
    "No information, 7 days, in the text",
]


@pytest.mark.parametrize("answer", CONSTANTS)
@pytest.mark.parametrize("value", ["15", "30"])
def test_a_constant_is_wrong_everywhere(answer: str, value: str) -> None:
    record = scored(number(value), answer, query=DAYS).record
    assert record.verdict in ("incorrect", "incomplete"), record.to_json()
    assert "open" not in record.flags and record.bounds is None


@pytest.mark.parametrize("answer", ENGLISH)
def test_a_constant_in_english_is_wrong_everywhere(answer: str) -> None:
    record = scored(number("15"), answer, query="How many days are there to appeal?", locale="en-US").record
    assert record.verdict in ("incorrect", "incomplete", "abstention"), record.to_json()
    assert "open" not in record.flags and record.bounds is None


@pytest.mark.parametrize("answer", ["No sé, 15 días", "15 días.\nRespuesta: no lo sé", "No se indica, 15 días, aquí"])
def test_the_right_value_in_doubt_stays_open(answer: str) -> None:
    record = scored(number("15"), answer, query=DAYS).record
    assert record.verdict is None and "open" in record.flags
    assert record.bounds is not None and record.bounds.best == "accurate"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (amount("15", "día"), "No sé, 7 días"),
        (date("2024-03-01"), "No lo sé, 1 de enero de 2020"),
        (date("2024-03-01"), "1 de enero de 2020.\nRespuesta: no lo sé"),
        (entity("Director Regional"), "Gobernador. Respuesta: no lo sé"),
        (choice("B", A="uno", B="dos", C="tres"), "Elijo la A.\nRespuesta: no lo sé"),
    ],
)
def test_other_kinds(reference: dict, answer: str) -> None:
    record = scored(reference, answer).record
    assert record.verdict is not None and record.verdict != "accurate", record.to_json()
    assert "open" not in record.flags
