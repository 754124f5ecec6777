"""Two options held out are no choice, and a list that is denied or a dump is no set."""

from __future__ import annotations

import pytest

from tests.scoring.helpers import choice, entity, scored

OPTIONS = {"A": "Sí, siempre", "B": "Solo en plazo", "C": "Nunca", "D": "Depende de la Junta"}
BOTH = [
    "B, aunque D también",
    "Elijo B y también D",
    "B... o D",
    "B, pero D es posible",
    "La B; también la D",
    "La opción B, y además la opción D.",
    "Elijo B. D también sirve.",
    "Respuesta: B. También D.",
    "La B, sin descartar la D",
    "La B. No descarto la D.",
    "B, A también",
    "Elijo B y d",
    "B, e incluso A",
    "B junto con D",
    "B + D",
    "B, although D too",
    "B, though C is also valid",
    "B as well as D",
    "The answer is B, and possibly D",
    "B, without ruling out D",
]
ONE = ["B, no D", "B, porque D es incorrecta", "B, porque A y C no aplican", "B. A la luz del artículo", "A no, B"]


@pytest.mark.parametrize("answer", BOTH)
def test_both_are_none(answer: str) -> None:
    assert scored(choice("B", **OPTIONS), answer).record.verdict != "accurate"


@pytest.mark.parametrize("answer", ONE)
def test_one_beside_a_denied_one_is_a_choice(answer: str) -> None:
    assert scored(choice("B", **OPTIONS), answer).record.verdict == "accurate"


ES = {"kind": "set", "value": [entity("cédula"), entity("licencia")]}
EN = {"kind": "set", "value": [entity("passport"), entity("visa")]}
DENIED = [
    (ES, "Los requisitos no son cédula y licencia"),
    (ES, "No son: cédula, licencia"),
    (ES, "Nunca se piden cédula, licencia"),
    (ES, "Ninguno de los siguientes: cédula, licencia"),
    (ES, "Es falso que sean: cédula, licencia"),
    (ES, "Todos menos: cédula, licencia"),
    (ES, "cédula, licencia, pero ninguno se exige"),
    (ES, "Sin: cédula, licencia"),
    (ES, "Tampoco se exigen: cédula y licencia"),
    (ES, "Jamás: cédula y licencia"),
    (ES, "cédula y licencia no son requisitos"),
    (EN, "The requirements are not passport and visa"),
    (EN, "None of these: passport, visa"),
    (EN, "Everything except: passport, visa"),
    (EN, "It never requires passport and visa"),
    (EN, "passport, visa, but neither is needed"),
    (EN, "It is false that they are: passport, visa"),
]


@pytest.mark.parametrize("rule", ["equal", "at_least", "f1"])
@pytest.mark.parametrize(("reference", "answer"), DENIED)
def test_a_denied_list_is_no_list(reference: dict, answer: str, rule: str) -> None:
    locale = "en-US" if reference is EN else "es-CL"
    got = scored({**reference, "set_rule": rule}, answer, query="¿Qué requisitos exige?", locale=locale)
    assert got.record.verdict != "accurate", got.record.to_json()


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (ES, "No tengo información. Los requisitos son: cédula, licencia"),
        (ES, "No son pasaporte y título. Son: cédula y licencia"),
        (ES, "No se piden foto ni título; se exigen: cédula y licencia"),
        (EN, "They are: passport and visa"),
    ],
)
def test_a_list_after_a_denial_of_others_is_one(reference: dict, answer: str) -> None:
    locale = "en-US" if reference is EN else "es-CL"
    got = scored(reference, answer, query="¿Qué requisitos exige?", locale=locale)
    assert (got.record.answer_class, got.record.verdict) == ("answer", "accurate"), got.record.to_json()


def test_at_least_is_no_licence_to_dump() -> None:
    at_least = {**ES, "set_rule": "at_least"}
    assert scored(at_least, "cédula, licencia, pasaporte, título").record.verdict == "accurate"
    for dump in (
        "cédula, licencia, pasaporte, título, certificado, patente, seguro, foto",
        "pasaporte; título; foto; cédula; licencia",
    ):
        record = scored(at_least, dump).record
        assert (record.verdict, record.rules[0].reason) == ("incorrect", "multiple_answers")
