"""`none`: abstaining, denying and declared null tokens are right; any asserted value is invented."""

from __future__ import annotations

import pytest

from slaverify.contract.words import Outcome
from slaverify.scoring import score
from tests.scoring.helpers import NONE, item, number, outcome_of, scored, settings

RIGHT = [
    "El reglamento no contiene una regla sobre esa materia.",
    "No lo sé.",
    "No puedo responder con las fuentes disponibles.",
    "El artículo 999 no existe en esa ley.",
    "No se encontró el texto de la política; el índice solo lista el título [2].",
    "Lo siento, no dispongo de información. Le recomiendo consultar a la autoridad.",
    "Respuesta: no consta en el reglamento.",
]
WRONG = [
    "15 días",
    "31/02/2025",
    "Según el artículo 12, son 3 UF.",
    "Se exige un permiso.",
    "No tengo certeza, pero son 30 días.",
    "El reglamento no lo dice; sin embargo, debe pagarse un derecho.",
    "La Capitanía lo autoriza.",
    "99.999.993-K",
    "Gracias por su consulta.",
    "Aunque no encontré una norma, corresponde pagar un impuesto del 5 %.",
    "Sí.",
    "No figura en el reglamento, pero se celebra el 5 de octubre.",
]


@pytest.mark.parametrize("answer", RIGHT)
def test_right(answer: str) -> None:
    record = scored(NONE, answer, stratum="out_of_corpus").record
    assert (record.answer_class, record.abstention) == ("abstention", "necessary"), record.to_json()
    assert (record.correctness, record.verdict) == ("correct", "abstention")


@pytest.mark.parametrize("answer", WRONG)
def test_wrong(answer: str) -> None:
    got = scored(NONE, answer, stratum="out_of_corpus")
    assert outcome_of(got) == ("incorrect", "answered_out_of_corpus"), got.record.to_json()
    assert got.record.verdict == "incorrect"


def test_the_reason_depends_on_the_stratum() -> None:
    got = scored({"kind": "none", "because": "not_in_document"}, "15", stratum="direct")
    assert outcome_of(got) == ("incorrect", "invented_value")


def test_null_tokens_are_declared_by_the_contract() -> None:
    tokens = ("N/A", "no informado", "-")
    for answer in ("N/A", "n/a", "No informado.", "-"):
        got = scored(NONE, answer, null_tokens=tokens)
        assert outcome_of(got) == ("correct", "null_token"), answer
    assert scored(NONE, "-").record.outcome == "empty"
    unnecessary = scored(number("15"), "N/A", null_tokens=tokens).record
    assert (unnecessary.abstention, unnecessary.correctness) == ("unnecessary", "incorrect")


def test_an_abstention_after_the_marker_does_not_void_a_claim_before_it() -> None:
    record = scored(NONE, "El impuesto es de 5 UTM. Respuesta: no consta.", stratum="out_of_corpus").record
    assert record.verdict is None and record.bounds is not None
    assert (record.bounds.worst, record.bounds.best) == ("incorrect", "abstention")


def test_an_abstention_is_necessary_in_hostile_strata_even_with_a_slot() -> None:
    trap = {"kind": "false_premise", "target": "hay un plazo"}
    hostile = item(number("15"), stratum="adversarial", trap=trap)
    answer = scored(number("15"), "No es efectivo que la ley fije ese plazo.")
    from slaverify.evalset import Answer

    record = score(hostile, Answer("No es efectivo que la ley fije ese plazo."), Outcome.ANSWERED, settings()).record
    assert (record.abstention, record.correctness) == ("necessary", "correct")
    assert (answer.record.abstention, answer.record.correctness) == ("unnecessary", "incorrect")
