"""Fields, words and codes: counts made by hand against what the profiles count."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer
from slaverify.scoring import Scored, default_settings, score
from tests.scoring.helpers import item

INVOICE = {
    "kind": "json",
    "value": {
        "rut": {"kind": "entity", "value": "76.086.428-5", "identifier": "cl.rut"},
        "fecha": {"kind": "date", "value": "2026-03-04"},
        "total": {"kind": "amount", "value": "1250000", "unit": "CLP"},
        "tasa": {"kind": "number", "value": "19", "unit": "%"},
        "pagada": True,
        "folio": 7,
        "orden": None,
        "emisor": {"nombre": "Comercial Sur", "ciudad": None},
        "lineas": {"kind": "rows", "key": "sku", "value": [{"sku": "A1", "n": 2}, {"sku": "B2", "n": 3}]},
    },
}
RIGHT = (
    '{"rut":"76086428-5","fecha":"04/03/2026","total":"$1.250.000","tasa":19,"pagada":true,"folio":7,"orden":null,'
    '"emisor":{"nombre":"COMERCIAL SUR","ciudad":"N/A"},"lineas":[{"sku":"A1","n":2},{"sku":"B2","n":3}]}'
)


def scored(
    profile: str, reference: dict[str, Any], answer: str, outcome: Outcome = Outcome.ANSWERED, **more: Any
) -> Scored:
    own = replace(default_settings(profile, "es-CL"), **more)
    return score(item(reference, stratum="x"), Answer(answer), outcome, own)


def counted(got: Scored) -> tuple[str, int | None, int | None]:
    return got.record.correctness.value, got.record.errors, got.record.weight


def reasons(got: Scored) -> list[str]:
    return [rule.reason for rule in got.record.rules if rule.correctness != "correct"]


def test_a_right_document() -> None:
    got = scored("extraction@1", INVOICE, RIGHT)
    assert counted(got) == ("correct", 0, 11)
    assert got.record.verdict == "accurate"


@pytest.mark.parametrize(
    ("old", "new", "errors", "reason"),
    [
        ('"76086428-5"', '"76086428-6"', 1, "absent"),  # its check digit is wrong
        ('"04/03/2026"', '"03/04/2026"', 1, "other_value"),
        ('"$1.250.000"', "1250000", 0, None),  # a JSON number has no locale, its field has the unit
        ('"$1.250.000"', "1250000.5", 1, "other_value"),
        ('"$1.250.000"', '"US$1.250.000"', 1, "other_unit"),
        ('"$1.250.000"', '"1,250,000"', 1, "ambiguous_separator"),
        ('"$1.250.000"', "1.25e6", 1, "other_type"),
        ('"$1.250.000"', '"1.250.000 o 1.260.000"', 1, "multiple_answers"),
        ('"04/03/2026"', '"04/03/2026 o la que conste"', 1, "multiple_answers"),
        ('"04/03/2026"', '"04/03/2026 o zárate"', 1, "multiple_answers"),
        ('"04/03/2026"', '["04/03/2026", "05/03/2026"]', 1, "other_type"),
        ("19", '"19 %"', 0, None),
        ("19", '"0,19"', 1, "scale"),
        ("true", '"true"', 1, "other_type"),
        ("true", "false", 1, "other_value"),
        ('"folio":7', '"folio":"7"', 0, None),
        ('"orden":null', '"orden":"OC-1"', 1, "invented_value"),
        ('"orden":null', '"orden":0', 1, "invented_value"),
        ('"orden":null', '"orden":false', 1, "invented_value"),
        ('"orden":null,', "", 0, None),
        ('"fecha":"04/03/2026"', '"fecha":null', 1, "missing_element"),
        ('"fecha":"04/03/2026"', '"fecha":"\u200b"', 1, "missing_element"),
        ('"fecha":"04/03/2026",', "", 1, "missing_element"),
        ('"COMERCIAL SUR"', '"Comercial Sur Ltda."', 1, "asserted_inside"),
        ('{"sku":"A1","n":2},{"sku":"B2","n":3}', '{"sku":"B2","n":3},{"sku":"A1","n":2}', 0, None),  # by key
        (',{"sku":"B2","n":3}', "", 2, "missing_element"),
        ('{"sku":"B2","n":3}', '{"sku":"B2","n":3},{"sku":"C3","n":9}', 2, "invented_value"),
        ('[{"sku":"A1","n":2},{"sku":"B2","n":3}]', '"ninguna"', 4, "missing_element"),
    ],
)
def test_one_field_changed(old: str, new: str, errors: int, reason: str | None) -> None:
    assert old in RIGHT
    got = scored("extraction@1", INVOICE, RIGHT.replace(old, new, 1))
    assert counted(got) == ("incorrect" if errors else "correct", errors, 11)
    assert set(reasons(got)) == ({reason} if reason else set())


def test_only_critical_fields_make_a_document() -> None:
    wrong = RIGHT.replace('"folio":7', '"folio":8')
    critical = ("rut", "fecha", "total")
    assert counted(scored("extraction@1", INVOICE, wrong, critical_fields=critical)) == ("correct", 1, 11)
    wrong = RIGHT.replace("04/03", "05/03")
    assert counted(scored("extraction@1", INVOICE, wrong, critical_fields=critical)) == ("incorrect", 1, 11)
    wrong = RIGHT.replace('"n":3', '"n":4')
    assert counted(scored("extraction@1", INVOICE, wrong, critical_fields=("lineas",))) == ("incorrect", 1, 11)


def test_what_nobody_asked_for_is_flagged_and_counts_nothing() -> None:
    got = scored("extraction@1", INVOICE, RIGHT[:-1] + ',"glosa":"x"}')
    assert counted(got) == ("correct", 0, 11)
    assert "undeclared_field" in got.record.flags


@pytest.mark.parametrize(
    ("answer", "answer_class"),
    [
        ("{", "answer"),
        (RIGHT + " listo", "answer"),
        ("No puedo leer el documento.", "abstention"),
        ("Hola", "non_answer"),
    ],
)
def test_no_object_is_every_field_wrong(answer: str, answer_class: str) -> None:
    got = scored("extraction@1", INVOICE, answer + "x" if answer == "{" else answer)
    assert (got.record.errors, got.record.weight) == (11, 11)
    assert got.record.correctness != "correct"
    assert got.record.answer_class == answer_class


@pytest.mark.parametrize("outcome", [Outcome.VENDOR_FAILURE, Outcome.MALFORMED, Outcome.EMPTY, Outcome.TRUNCATED])
def test_a_failed_call_keeps_its_weight(outcome: Outcome) -> None:
    got = scored("extraction@1", INVOICE, "", outcome)
    assert (got.record.errors, got.record.weight) == (None, 11)  # the decision takes all of it as wrong


def test_a_record_with_counts_is_read_back() -> None:
    from slaverify.scoring import ScoreRecord

    record = scored("extraction@1", INVOICE, RIGHT).record
    assert ScoreRecord.from_json(record.to_json()) == record


SAID = {"kind": "text", "value": "El testigo Juan Pérez declaró que pagó veinticinco mil pesos. Luego calló."}


@pytest.mark.parametrize(
    ("heard", "errors", "named"),
    [
        ("el testigo juan pérez declaró que pagó 25000 pesos luego calló", 0, False),
        ("El testigo, Juan Pérez, declaró que, eh, pagó 25000 pesos; luego calló", 0, False),
        ("el testigo juan pérez declara que pagó 25000 pesos luego calló", 1, False),
        ("el testigo juan perez declaró que pagó 25000 pesos luego calló", 1, True),
        ("el testigo juan pérez declaró que pagó 2500 pesos luego calló", 1, True),
        ("el testigo juan pérez declaró que pagó 25000 pesos", 2, False),  # Luego starts a sentence: no name
        ("el testigo juan pérez declaró que sí pagó 25000 pesos luego calló", 1, False),
        ("no tengo información", 11, True),  # a transcript may say that: no abstention
        ("the witness said nothing at all about the money or the day", 12, True),
    ],
)
def test_words_of_a_segment(heard: str, errors: int, named: bool) -> None:
    got = scored("speech@1", SAID, heard)
    assert (got.record.errors, got.record.weight) == (errors, 11)
    assert got.record.correctness == ("incorrect" if errors else "correct")
    assert got.record.answer_class == "answer"
    assert ("other_value" in reasons(got)) is named


def test_a_segment_may_err_as_much_as_agreed() -> None:
    from decimal import Decimal

    heard = "el testigo juan pérez declara que pagó 25000 pesos luego calló"
    base = default_settings("speech@1", "es-CL").policies
    for share, due in (("0.09", "incorrect"), ("0.1", "correct")):
        got = scored("speech@1", SAID, heard, policies=replace(base, tolerance=Decimal(share)))
        assert got.record.correctness == due  # 1 of 11 is 0.0909


def test_a_silence_has_no_words_and_what_is_said_in_it_counts() -> None:
    silence = {"kind": "none", "because": "not_in_document"}
    assert counted(scored("speech@1", silence, "algo se oye")) == ("incorrect", 3, 0)
    assert counted(scored("speech@1", silence, "[silencio]", null_tokens=("[silencio]",)))[2] == 0


CODES = {
    "kind": "set",
    "value": [
        {"kind": "entity", "value": "E11.9", "identifier": "icd-10:2019"},
        {"kind": "entity", "value": "I10", "aliases": ["I10.0"], "identifier": "icd-10:2019"},
    ],
}


@pytest.mark.parametrize(
    ("answer", "correctness", "errors", "why"),
    [
        ("E11.9, I10", "correct", 0, set()),
        ("e119 i10", "correct", 0, set()),
        ("E11.9; I10.0.", "correct", 0, set()),
        ('["E11.9", "I10"]', "correct", 0, set()),
        ("E11.9\nI10", "correct", 0, set()),
        ("Principal: E11.9. Secundario: I10.", "correct", 0, set()),
        ("I10, E11.9", "incorrect", 0, {"other_order"}),
        ("E11.9", "incorrect", 1, {"missing_element"}),
        ("E11.9, I10, J45.9", "incorrect", 1, {"extra_element"}),
        ("E11.8, I10", "incorrect", 1, {"missing_element", "extra_element", "other_value"}),
        ("E11, I10", "incorrect", 1, {"missing_element", "extra_element", "other_value"}),
        ("J45.9", "incorrect", 2, {"missing_element", "extra_element", "other_value"}),
        ("E11.9 o E11.8, I10", "incorrect", 1, {"extra_element"}),
        ("No presenta E11.9 ni I10", "incorrect", 2, None),
        ("No sé", "incorrect", 2, None),
        ("Ninguno", None, 2, None),
    ],
)
def test_codes_of_an_encounter(answer: str, correctness: str | None, errors: int, why: set[str] | None) -> None:
    got = scored("coding@1", CODES, answer)
    assert (got.record.errors, got.record.weight) == (errors, 2)
    assert got.record.correctness != "correct" if correctness is None else got.record.correctness == correctness
    assert why is None or set(reasons(got)) == why


_PROFILES = [("extraction@1", INVOICE), ("speech@1", SAID), ("coding@1", CODES)]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_no_text_raises_or_is_right_by_chance(text: str) -> None:
    for profile, reference in _PROFILES:
        got = scored(profile, reference, text)
        assert got.record.correctness != "correct"
        assert got.record.errors is None or got.record.errors > 0


def test_a_thousand_levels_and_a_megabyte_are_every_field_wrong() -> None:
    for answer in ('{"a":' * 1_000, '{"rut":"' + "9" * 15_000 + '"}', "[" * 15_000, "E11.9," * 3_000):
        for profile, reference in _PROFILES:
            assert scored(profile, reference, answer).record.correctness != "correct"
