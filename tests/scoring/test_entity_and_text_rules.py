"""`entity@1` decides names and leaves sentences open; `text@1` can prove no error."""

from __future__ import annotations

import pytest

from tests.scoring.helpers import entity, outcome_of, scored, text

AUTHORITY = entity("Dirección de Tránsito Lacustre", "DTL")

ENTITY = [
    (AUTHORITY, "Dirección de Tránsito Lacustre", "correct", "equal"),
    (AUTHORITY, "La Dirección de Tránsito Lacustre.", "correct", "equal"),
    (AUTHORITY, "«DIRECCIÓN DE TRÁNSITO LACUSTRE»", "correct", "equal"),
    (AUTHORITY, "DTL", "correct", "equal"),
    (AUTHORITY, "Respuesta: Dirección de Tránsito Lacustre", "correct", "equal"),
    (AUTHORITY, "Con gusto. La Dirección de Tránsito Lacustre. Saludos.", "correct", "equal"),
    (AUTHORITY, "Hola, la Dirección de Tránsito Lacustre", "correct", "equal"),
    (AUTHORITY, "Dirección de Tránsito Lacustre (DTL)", "correct", "equal"),
    (AUTHORITY, "Dirección de Tránsito Lacustre (Capitanía)", "undetermined", "asserted_inside"),
    (AUTHORITY, "La autoridad competente es la Dirección de Tránsito Lacustre.", "undetermined", "asserted_inside"),
    (AUTHORITY, "Dirección de Tránsito Lacustre, según el artículo 3", "undetermined", "asserted_inside"),
    (AUTHORITY, "No es la Dirección de Tránsito Lacustre.", "incorrect", "negated"),
    (AUTHORITY, "Dirección de Tránsito", "incorrect", "absent"),
    (AUTHORITY, "Dirección de Transito Lacustre", "incorrect", "absent"),
    (AUTHORITY, "La Capitanía de Puerto", "incorrect", "absent"),
    (AUTHORITY, "Dirección de Tránsito Lacustre o Capitanía de Puerto", "incorrect", "multiple_answers"),
    (AUTHORITY, "Puede ser la Dirección de Tránsito Lacustre o la Capitanía", "incorrect", "multiple_answers"),
    (
        AUTHORITY,
        "Dirección de Tránsito Lacustre, Capitanía de Puerto, Inspección de Naves",
        "incorrect",
        "multiple_answers",
    ),
    (AUTHORITY, "Dirección de Tránsito Lacustrense", "incorrect", "absent"),
    (entity("pena"), "peña", "incorrect", "absent"),
    (entity("publicó"), "publico", "incorrect", "absent"),
    (entity("cuatro"), "4", "incorrect", "absent"),
    (entity("El"), "", "no_answer", "no_visible_text"),
    (entity("El"), "El", "correct", "equal"),
    (entity("A"), "B", "incorrect", "absent"),
    (entity("12.345.678-5", identifier="cl.rut"), "12345678-5", "correct", "equal"),
    (entity("12.345.678-5", identifier="cl.rut"), "El RUT es 12.345.678-5.", "undetermined", "asserted_inside"),
    (entity("12.345.678-5", identifier="cl.rut"), "12.345.678-6", "incorrect", "absent"),
    (entity("12.345.678-5", identifier="cl.rut"), "12.345.678-5 y 11.111.111-1", "incorrect", "multiple_answers"),
]
TEXT = [
    (text("devolución emitida"), "Devolución emitida.", "correct", "equal"),
    (text("devolución emitida", "reembolso hecho"), "reembolso hecho", "correct", "equal"),
    (text("acta"), "ac\u200bta", "correct", "equal"),
    (text("\\text{norte}"), "\\text{norte}", "correct", "equal"),
    (text("el plazo vence"), "Gracias por su consulta. El plazo vence.", "correct", "equal"),
    (text("el plazo vence"), "vence el plazo", "undetermined", "paraphrase"),
    (text("el plazo vence"), "otra cosa distinta", "undetermined", "paraphrase"),
    (text("pena"), "peña", "undetermined", "paraphrase"),
    (text("O'Higgins"), "O’Higgins", "correct", "equal"),
    (text("1º"), "1°", "correct", "equal"),
    (text("S.A."), "SA", "correct", "equal"),
    (text("art. 12 bis"), "art. 12", "undetermined", "paraphrase"),
    (text("franco-chileno"), "franco–chileno", "correct", "equal"),
    (text("3,5"), "35", "undetermined", "paraphrase"),
    (text("sí"), "«Sí».", "correct", "equal"),
]


@pytest.mark.parametrize(("reference", "answer", "correctness", "reason"), ENTITY + TEXT)
def test_case(reference: dict, answer: str, correctness: str, reason: str) -> None:
    got = scored(reference, answer, query="¿Quién?")
    assert outcome_of(got) == (correctness, reason), got.record.to_json()


def test_folding_accents_is_a_policy_and_spares_the_tilde_of_n() -> None:
    assert scored(entity("más"), "mas", fold_accents=True).record.correctness == "correct"
    assert scored(entity("más"), "mas", fold_accents=False).record.correctness == "incorrect"
    assert scored(entity("peña"), "pena", fold_accents=True).record.correctness == "incorrect"


def test_accepted_alternatives_count_whole() -> None:
    reference = {**entity("Drogo"), "accepted": [entity("Drogón"), {"kind": "number", "value": "7"}]}
    assert scored(reference, "Drogón").record.correctness == "correct"
    assert scored(reference, "7").record.correctness == "correct"
    assert scored(reference, "8").record.correctness == "incorrect"


def test_what_stays_open_has_bounds_and_no_verdict() -> None:
    record = scored(AUTHORITY, "La autoridad es la Dirección de Tránsito Lacustre.").record
    assert record.verdict is None
    assert record.bounds is not None
    assert (record.bounds.worst, record.bounds.best) == ("incorrect", "accurate")
    assert "open" in record.flags
    judged = scored(AUTHORITY, "La autoridad es la Dirección de Tránsito Lacustre.", judged=True).record
    assert "open" not in judged.flags and judged.bounds is not None
