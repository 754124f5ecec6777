"""`number@1`: what a careful reader would accept and refuse, in the locale of the contract."""

from __future__ import annotations

import pytest

from tests.scoring.helpers import number, outcome_of, scored

Q = "¿Cuál es el valor?"
DAYS = "¿Cuántos días hábiles hay para reclamar?"
PERCENT = "¿Qué porcentaje se aplica?"

CORRECT = [
    ("15", "none", DAYS, "15"),
    ("15", "none", DAYS, "Según el artículo 12, el plazo es de 15 días hábiles."),
    ("15", "none", DAYS, "El plazo es de quince (15) días hábiles."),
    ("15", "none", DAYS, "quince días hábiles"),
    ("15", "none", DAYS, "Dentro de los quince días hábiles siguientes al aviso."),
    ("15", "none", DAYS, "15 hábiles"),
    ("15", "none", DAYS, "Respuesta: 15"),
    ("15", "none", DAYS, "**15** días hábiles"),
    ("15", "none", DAYS, "No son 20, sino 15."),
    ("15", "none", DAYS, "Son 15, no 20."),
    ("15", "none", DAYS, "Son 20 días. Corrijo: 15 días."),
    ("15", "none", DAYS, "El plazo no podrá exceder de 15 días hábiles."),
    ("15", "none", DAYS, "No más de 15 días."),
    ("15", "none", DAYS, "Conforme a los artículos 45 y 46 de la Ley N° 19.886 de 2003, 15 días."),
    ("15", "none", DAYS, "El 3 de marzo de 2025 se fijó en 15 días."),
    ("15", "none", DAYS, "A las 18:30 del día hábil 15."),
    ("15", "none", DAYS, "1. El reglamento rige el lago.\n2. El plazo es de 15 días."),
    ("15", "none", DAYS, "Son 15 días [2]."),
    ("15", "none", DAYS, "<think>podrían ser 20</think>Son 15 días."),
    ("15", "none", DAYS, "\\boxed{15}"),
    ("15", "none", DAYS, "3 × 5 = 15"),
    ("15", "none", DAYS, "Gracias por su consulta. Son 15 días. Saludos cordiales."),
    ("15", "none", DAYS, "Unos 15 días."),
    ("15", "none", DAYS, "Son 15 días y la multa es de 3 UF."),
    ("48", "none", "¿Cuántas horas?", "48 horas (2 días)"),
    ("5", "none", "¿Cuántos tripulantes exige una nave de 24 metros?", "Una nave de 24 metros exige 5 tripulantes."),
    ("1234", "none", Q, "1.234"),
    ("1234", "none", Q, "1\u202f234"),
    ("1234", "none", Q, "1&nbsp;234"),
    ("1234.5", "none", Q, "1.234,5"),
    ("1234", "none", Q, "mil doscientos treinta y cuatro"),
    ("3000000", "none", Q, "3 millones de pesos"),
    ("1500000", "none", Q, "1,5 millones"),
    ("1000000000000", "none", Q, "un billón"),
    ("-1250", "none", Q, "-1.250"),
    ("-1250", "none", Q, "−1.250"),
    ("-1250", "none", Q, "menos 1.250"),
    ("1250", "none", Q, "(1.250)"),
    ("0.5", "none", Q, "1/2"),
    ("1", "none", Q, "1º"),
    ("4.2", "%", PERCENT, "4,2 %"),
    ("4.2", "%", PERCENT, "4,20%"),
    ("4.2", "%", PERCENT, "42 ‰"),
    ("35", "%", PERCENT, "treinta y cinco por ciento"),
    ("35", "%", PERCENT, "35"),
    ("2.5", "‰", Q, "0,25 %"),
]

NOT_CORRECT = [
    ("15", "none", DAYS, "150", "incorrect"),
    ("15", "none", DAYS, "1,5", "incorrect"),
    ("15", "none", DAYS, "1.5", "incorrect"),
    ("15", "none", DAYS, "-15", "incorrect"),
    ("15", "none", DAYS, "15 %", "incorrect"),
    ("15", "none", DAYS, "15 semanas", "incorrect"),
    ("15", "none", DAYS, "15 días corridos", "incorrect"),
    ("15", "none", DAYS, "15 mil días", "incorrect"),
    ("15", "none", DAYS, "15 docenas", "incorrect"),
    ("15", "none", DAYS, "15 bis", "incorrect"),
    ("15", "none", DAYS, "15k", "incorrect"),
    ("15", "none", DAYS, "15 días y medio", "incorrect"),
    ("15", "none", DAYS, "15 o 20 días", "incorrect"),
    ("15", "none", DAYS, "15 o quizás 20 días", "incorrect"),
    ("15", "none", DAYS, "Podría ser 15 o bien 20.", "incorrect"),
    ("15", "none", DAYS, "de 10 a 15 días", "incorrect"),
    ("15", "none", DAYS, "entre 10 y 15 días", "incorrect"),
    ("15", "none", DAYS, "10-15 días", "incorrect"),
    ("15", "none", DAYS, "10, 15, 20, 30", "incorrect"),
    ("15", "none", DAYS, "10\n15\n20", "incorrect"),
    ("15", "none", DAYS, "Son 15 días. Son 20 días.", "incorrect"),
    ("15", "none", DAYS, "quince (20) días", "incorrect"),
    ("15", "none", DAYS, "No son 15 días, sino 20.", "incorrect"),
    ("15", "none", DAYS, "El plazo de 15 días no es correcto.", "incorrect"),
    ("15", "none", DAYS, "15 en realidad no, 20", "incorrect"),
    ("15", "none", DAYS, "15 días. Corrijo: 20 días.", "incorrect"),
    ("15", "none", DAYS, "<think>son 15</think>Son 20.", "incorrect"),
    ("15", "none", DAYS, "15 = 3 × 5, total 15 = 20", "incorrect"),
    ("15", "none", DAYS, "3 UF, 15 días, 24 metros, 8 personas", "incorrect"),
    ("15", "none", DAYS, "El doble de 15 días", "undetermined"),
    ("2", "none", DAYS, "Las dos partes lo acuerdan.", "undetermined"),
    ("2", "none", "¿Cuántos testigos?", "En las dos instancias se pueden llevar.", "undetermined"),
    ("15", "none", DAYS, "15 personas", "incorrect"),
    ("2", "none", DAYS, "Las dos partes acuerdan 20 días hábiles.", "undetermined"),
    ("15", "none", DAYS, "15 días hábiles, prorrogables por otros 5 días hábiles.", "undetermined"),
    ("5", "none", DAYS, "15 días hábiles, prorrogables por otros 5 días hábiles.", "incorrect"),
    ("15", "none", DAYS, "El plazo de 15 días puede ampliarse a 20 días.", "undetermined"),
    ("15", "none", DAYS, "más de 15 días", "undetermined"),
    ("15", "none", "¿Es cierto que el plazo es de 30 días?", "El plazo es de 30 días y 15", "incorrect"),
    ("12", "none", DAYS, "Véase el artículo 12.", "no_answer"),
    ("2025", "none", DAYS, "El 3 de marzo de 2025.", "no_answer"),
    ("15", "none", DAYS, "Depende.", "no_answer"),
    ("15", "none", DAYS, "Solución:", "no_answer"),
    ("15", "none", DAYS, "١٥", "no_answer"),
    ("15", "none", DAYS, "１５", "no_answer"),
    ("14", "none", Q, "140", "incorrect"),
    ("1234", "none", Q, "1,234", "incorrect"),
    ("12345", "none", Q, "12.34.5", "incorrect"),
    ("2602", "none", Q, "2 602", "incorrect"),
    ("0.123", "none", Q, "0.123", "incorrect"),
    ("1250", "none", Q, "-1.250", "incorrect"),
    ("-1250", "none", Q, "1.250", "incorrect"),
    ("-1250", "none", Q, "(1.250)", "incorrect"),
    ("1000000000", "none", Q, "un billón", "incorrect"),
    ("4.2", "%", PERCENT, "42 %", "incorrect"),
    ("4.2", "%", PERCENT, "4,2 ‰", "incorrect"),
    ("4.2", "%", PERCENT, "4,2 puntos porcentuales", "incorrect"),
    ("35", "%", PERCENT, "0,35", "incorrect"),
    ("35", "%", Q, "35", "undetermined"),
    ("33.33", "%", PERCENT, "33,3 %", "incorrect"),
]


@pytest.mark.parametrize(("value", "unit", "query", "answer"), CORRECT)
def test_correct(value: str, unit: str, query: str, answer: str) -> None:
    got = scored(number(value, unit), answer, query=query)
    assert outcome_of(got) in (("correct", "equal"),), got.record.to_json()
    assert got.record.verdict == "accurate"


@pytest.mark.parametrize(("value", "unit", "query", "answer", "correctness"), NOT_CORRECT)
def test_not_correct(value: str, unit: str, query: str, answer: str, correctness: str) -> None:
    got = scored(number(value, unit), answer, query=query)
    assert got.record.correctness == correctness, got.record.to_json()
    assert got.record.verdict != "accurate"


@pytest.mark.parametrize(
    ("locale", "answer", "expected"),
    [
        ("es-CL", "1.234,5", "correct"),
        ("es-ES", "1.234,5", "correct"),
        ("es-MX", "1,234.5", "correct"),
        ("en-US", "1,234.5", "correct"),
        ("es-MX", "1.234,5", "incorrect"),
        ("en-US", "1.234,5", "incorrect"),
        ("es-CL", "1,234.5", "incorrect"),
        (None, "1234.5", "undetermined"),
    ],
)
def test_the_locale_is_pinned(locale: str | None, answer: str, expected: str) -> None:
    got = scored(number("1234.5"), answer, locale=locale)
    assert got.record.correctness == expected
    if locale is None:
        assert got.record.rules[0].reason == "ambiguous_separator"


def test_an_unreadable_number_is_an_event() -> None:
    got = scored(number("12345"), "12.34.5")
    assert [event.code for event in got.record.events] == ["ambiguous_number"]
    assert got.record.rules[0].reason == "ambiguous_separator"


@pytest.mark.parametrize(
    ("tolerance", "answer", "expected"),
    [
        ({"kind": "absolute", "value": "0.05"}, "33,28", "correct"),
        ({"kind": "absolute", "value": "0.05"}, "33,27999", "incorrect"),
        ({"kind": "relative", "value": "0.01"}, "33,6633", "correct"),
        ({"kind": "relative", "value": "0.01"}, "33,6634", "incorrect"),
        ({"kind": "last_digit", "value": "1"}, "33,34", "correct"),
        ({"kind": "last_digit", "value": "1"}, "33,35", "incorrect"),
    ],
)
def test_the_tolerance_is_closed(tolerance: dict, answer: str, expected: str) -> None:
    got = scored(number("33.33", tolerance=tolerance), answer)
    assert got.record.correctness == expected
    if expected == "correct":
        assert got.record.rules[0].reason == "within_tolerance"


@pytest.mark.parametrize(
    ("policy", "reference", "query", "answer", "by_option"),
    [
        ("percent_equivalence", number("35", "%"), PERCENT, "0,35", {True: "correct", False: "incorrect"}),
        ("tolerance", number("33.33"), Q, "33,3", {"0.05": "correct", "0": "incorrect"}),
        ("accounting_brackets", number("-1250"), Q, "(1.250)", {True: "correct", False: "incorrect"}),
        ("number_words", number("15"), DAYS, "quince días", {True: "correct", False: "no_answer"}),
        ("scale_words", number("3000000"), Q, "3 millones", {True: "correct", False: "incorrect"}),
        ("unit_in_query", number("35", "%"), PERCENT, "35", {True: "correct", False: "undetermined"}),
    ],
)
def test_policies(policy: str, reference: dict, query: str, answer: str, by_option: dict) -> None:
    for option, expected in by_option.items():
        got = scored(reference, answer, query=query, **{policy: option})
        assert got.record.correctness == expected, (policy, option)


def test_the_trace_says_what_was_compared() -> None:
    answer = "Según el artículo 12, el plazo es de 15 días hábiles."
    got = scored(number("20"), answer, query=DAYS)
    trace = got.traces[0]
    assert (trace.rule, trace.reason, trace.extracted) == ("number@1", "other_value", "15")
    assert (trace.canonical_answer, trace.canonical_reference) == ("15", "20")
    assert got.clean_text is not None
    assert [got.clean_text[span.start : span.end] for span in trace.spans] == ["15"]
    assert dict(trace.settings_used)["tolerance"] == "0"


def test_reasons_name_the_likeness() -> None:
    reasons = {
        answer: outcome_of(scored(number("15"), answer, query=DAYS))[1] for answer in ("150", "-15", "17", "15 %")
    }
    assert reasons == {"150": "scale", "-15": "sign", "17": "other_value", "15 %": "other_unit"}
