"""`choice@1`: one option, by a label where a label stands or by its full text."""

from __future__ import annotations

import pytest

from tests.scoring.helpers import choice, scored

ABCD = {label: f"(texto {label})" for label in "ABCD"}
COLOURS = {"A": "rojo", "B": "verde", "C": "amarillo"}
BODIES = {"A": "la Junta de Muelles", "B": "la Capitanía Lacustre", "C": "la Inspección de Naves"}
YES_NO = {"A": "Sí", "B": "No"}
NESTED = {"A": "lago", "B": "lago norte"}

CORRECT = [
    ("B", ABCD, "B"),
    ("B", ABCD, "b)"),
    ("B", ABCD, "(B)"),
    ("B", ABCD, "**B**"),
    ("B", ABCD, "B."),
    ("B", ABCD, "Respuesta: B"),
    ("B", ABCD, "La alternativa correcta es la B."),
    ("B", ABCD, "Alternativa B) (texto B)"),
    ("B", ABCD, "Elijo la B, conforme a lo dispuesto."),
    ("B", ABCD, "No es la A, sino la B."),
    ("B", ABCD, "Ni la A ni la C: la B."),
    ("B", ABCD, "Primero pensé en A. Corrijo: B."),
    ("B", ABCD, "Sin lugar a dudas, B."),
    ("A", ABCD, "La respuesta es A."),
    ("A", ABCD, "Opción A"),
    ("B", COLOURS, "La boya es de color verde."),
    ("B", COLOURS, "VERDE"),
    ("B", COLOURS, "No es rojo, sino verde."),
    ("B", COLOURS, "Según el artículo 6, corresponde la alternativa B: verde."),
    ("B", BODIES, "La autoriza la Capitanía Lacustre."),
    ("B", BODIES, "Capitanía Lacustre"),
    ("A", YES_NO, "Sí, se exige."),
    ("B", YES_NO, "No, no se exige."),
    ("B", NESTED, "El lago norte."),
]
WRONG = [
    ("A", ABCD, "B"),
    ("A", ABCD, "A o B"),
    ("A", ABCD, "A y B"),
    ("A", ABCD, "A, B, C, D"),
    ("A", ABCD, "A) x\nB) y\nC) z\nD) w"),
    ("C", ABCD, "C, aunque también podría ser D"),
    ("C", ABCD, "Puede ser C o quizás D."),
    ("A", ABCD, "No es la A, sino la B."),
    ("B", ABCD, "B) (texto C)"),
    ("B", ABCD, "Es la B. Es la C."),
    ("B", COLOURS, "rojo, verde, amarillo"),
    ("B", COLOURS, "verde o rojo"),
    ("B", COLOURS, "No es verde."),
    ("A", NESTED, "El lago norte."),
    ("A", YES_NO, "No, no se exige."),
    ("B", ABCD, "Es la B. Corrijo: es la C."),
]
NO_CHOICE = [
    ("A", ABCD, "A car is moving"),
    ("A", ABCD, "A quien corresponda"),
    ("D", ABCD, "Depende de la nave."),
    ("B", COLOURS, "verdes"),
    ("C", ABCD, "Color"),
    ("A", ABCD, "a la vista de los antecedentes"),
]


@pytest.mark.parametrize(("value", "options", "answer"), CORRECT)
def test_correct(value: str, options: dict, answer: str) -> None:
    got = scored(choice(value, **options), answer)
    assert got.record.correctness == "correct", got.record.to_json()


@pytest.mark.parametrize(("value", "options", "answer"), WRONG)
def test_wrong(value: str, options: dict, answer: str) -> None:
    got = scored(choice(value, **options), answer)
    assert got.record.correctness == "incorrect", got.record.to_json()


@pytest.mark.parametrize(("value", "options", "answer"), NO_CHOICE)
def test_no_choice(value: str, options: dict, answer: str) -> None:
    got = scored(choice(value, **options), answer)
    assert got.record.answer_class == "non_answer", got.record.to_json()
    assert got.record.verdict == "incomplete"


@pytest.mark.parametrize(
    "answer", ["The answer is B because a car moves.", "It is not A, the answer is B", "Answer: B, not A"]
)
def test_in_english(answer: str) -> None:
    assert scored(choice("B", **ABCD), answer, locale="en-US").record.correctness == "correct"


def test_an_article_stripped_from_an_option_changes_nothing() -> None:
    assert scored(choice("A", **BODIES), "Corresponde a Junta de Muelles.").record.correctness == "correct"
