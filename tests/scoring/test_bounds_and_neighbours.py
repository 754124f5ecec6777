"""Other numbers beside the value; words that make the value another one: bounds, rates, parts, what is taken back."""

from __future__ import annotations

import pytest

from tests.scoring.helpers import amount, date, number, scored

Q0 = "¿Cuántos días hábiles tiene el operador para apelar?"
Q1 = "¿Qué porcentaje paga el segundo año?"
Q2 = "¿Cuántos artículos tiene el título 3?"
Q3 = "How many days are there to appeal?"
Q4 = "¿Cuál es el plazo máximo en días?"
Q5 = "¿Cuántos días al mes?"
Q6 = "¿Cuántos integrantes tiene?"
RIGHT = [
    (Q0, "15", "none", "15 días hábiles. La multa es de 3 UTM."),
    (Q0, "15", "none", "15 días hábiles (3 semanas)"),
    (Q0, "15", "none", "15 días hábiles y un costo de 2 UTM"),
    (Q0, "15", "none", "El plazo es de 15 días hábiles y se apela ante 2 ministros"),
    (Q0, "15", "none", "15 días hábiles en 2 copias"),
    (Q0, "15", "none", "Tiene 15 días hábiles, la audiencia dura 3 horas"),
    (Q0, "15", "none", "15 días hábiles; la sala tiene 5 integrantes"),
    (Q0, "15", "none", "15 días"),
    (Q0, "15", "none", "Son 15 días, contados del año 2."),
    (Q0, "15", "none", "No más de 15 días"),
    (Q0, "15", "none", "15 días como plazo"),
    (Q1, "20", "%", "Paga un 20 % el año 2"),
    (Q1, "20", "%", "En el año 2 paga 20 %"),
    (Q1, "20", "%", "20 % sobre 3 UTM"),
    (Q1, "20", "%", "20 % por 2 meses"),
    (Q2, "12", "none", "Tiene doce artículos, del 20 al 31"),
    (Q2, "12", "none", "12 artículos, repartidos en 3 párrafos"),
    (Q3, "15", "none", "15 days. The fine is 3 UTM."),
    (Q3, "15", "none", "15 days before 2 judges"),
    (Q3, "15", "none", "15 days (about 2 weeks)"),
    (Q4, "15", "none", "Hasta 15 días"),
    (Q4, "15", "none", "Como máximo 15 días"),
    (Q5, "15", "none", "15 días al mes"),
    (Q5, "15", "none", "15 días por mes"),
]
NOT_RIGHT = [
    (Q0, "15", "none", "Dicen que son 15 días pero es falso"),
    (Q0, "15", "none", "15 vigésimos"),
    (Q0, "15", "none", "15 días por cada mes"),
    (Q0, "15", "none", "Aproximadamente 15 días"),
    (Q0, "15", "none", "Al menos 15 días"),
    (Q0, "15", "none", "hasta 15 días"),
    (Q0, "15", "none", "15 días aproximadamente"),
    (Q0, "15", "none", "15 días como mínimo"),
    (Q0, "15", "none", "15 días o más"),
    (Q0, "15", "none", "alrededor de 15 días"),
    (Q0, "15", "none", "no menos de 15 días"),
    (Q0, "15", "none", "El plazo no es inferior a 15 días"),
    (Q0, "15", "none", "15 días. Mentira: son 20."),
    (Q0, "15", "none", "15 días, falso"),
    (Q0, "15", "none", "15 días. Eso no es cierto."),
    (Q0, "15", "none", "15 días (falso)"),
    (Q0, "15", "none", "15 días mensuales"),
    (Q0, "15", "none", "15 días hábiles o 4 semanas"),
    (Q0, "15", "none", "15 días (4 semanas)"),
    (Q0, "15", "none", "15 días, 20 jornadas"),
    (Q0, "15", "none", "15 días; 20 máximo"),
    (Q0, "15", "none", "15 días y 2 meses"),
    (Q0, "15", "none", "15 días, prorrogables por otros 5 días"),
    (Q0, "15", "none", "15 días. 30 corridos."),
    (Q0, "15", "none", "3 UF, 15 días, 24 metros, 8 personas"),
    (Q0, "15", "none", "15 días o 20"),
    (Q0, "15", "none", "15 cuartos"),
    (Q0, "15", "none", "15 días al año"),
    (Q0, "15", "none", "Se dice que 15 días, lo cual es incorrecto."),
    (Q0, "15", "none", "15 días hábiles, 16 días hábiles"),
    (Q3, "15", "none", "They say 15 days but it is false"),
    (Q3, "15", "none", "at least 15 days"),
    (Q3, "15", "none", "up to 15 days"),
    (Q3, "15", "none", "about 15 days"),
    (Q3, "15", "none", "15 days per month"),
    (Q3, "15", "none", "15 days. That is wrong."),
    (Q3, "15", "none", "15 twentieths"),
    (Q3, "15", "none", "15 days or more"),
    (Q3, "15", "none", "approximately 15 days"),
    (Q6, "7", "none", "5 personas, 7 miembros"),
    (Q6, "7", "none", "7 miembros, 9 integrantes"),
    (Q6, "7", "none", "7 integrantes o 9 personas"),
]
DATES = [
    ("¿Cuándo entra en vigor?", "1 de marzo de 2024", True),
    ("¿Cuándo entra en vigor?", "Rige desde el 1 de marzo de 2024.", True),
    ("¿Cuándo entra en vigor?", "A partir del 1 de marzo de 2024", True),
    ("¿Cuándo entra en vigor?", "el día 1 de marzo de 2024", True),
    ("¿Cuándo entra en vigor?", "Entra en vigor el 1 de marzo de 2024, después de su publicación", True),
    ("¿Cuándo entra en vigor?", "el mismo día 1 de marzo de 2024", True),
    ("¿Cuándo entra en vigor?", "antes del 1 de marzo de 2024", False),
    ("¿Cuándo entra en vigor?", "un día después del 1 de marzo de 2024", False),
    ("¿Cuándo entra en vigor?", "después del 1 de marzo de 2024", False),
    ("¿Cuándo entra en vigor?", "dos semanas antes del 1 de marzo de 2024", False),
    ("¿Cuándo entra en vigor?", "10 días desde el 1 de marzo de 2024", False),
    ("¿Cuándo entra en vigor?", "la víspera del 1 de marzo de 2024", False),
    ("¿Cuándo entra en vigor?", "hasta el 1 de marzo de 2024", False),
    ("¿Cuándo entra en vigor?", "el día siguiente al 1 de marzo de 2024", False),
    ("¿Cuándo entra en vigor?", "posterior al 1 de marzo de 2024", False),
    ("¿Cuándo entra en vigor?", "a más tardar el 1 de marzo de 2024", False),
    ("¿Cuándo entra en vigor?", "before March 1, 2024", False),
    ("¿Cuándo entra en vigor?", "the day after March 1, 2024", False),
    ("¿Hasta cuándo se puede apelar?", "Hasta el 1 de marzo de 2024", True),
    ("¿Hasta cuándo se puede apelar?", "hasta el 1 de marzo de 2024 inclusive", True),
    ("¿Cuándo entra en vigor?", "en el mes de marzo de 2024", False),
]


def _locale(query: str) -> str:
    return "en-US" if query.startswith("How") else "es-CL"


@pytest.mark.parametrize(("query", "value", "unit", "answer"), RIGHT)
def test_a_number_of_something_else_is_no_rival(query: str, value: str, unit: str, answer: str) -> None:
    record = scored(number(value, unit), answer, query=query, locale=_locale(query)).record
    assert record.verdict == "accurate", record.to_json()


@pytest.mark.parametrize(("query", "value", "unit", "answer"), NOT_RIGHT)
def test_not_the_value_alone(query: str, value: str, unit: str, answer: str) -> None:
    record = scored(number(value, unit), answer, query=query, locale=_locale(query)).record
    assert record.verdict != "accurate", record.to_json()


@pytest.mark.parametrize(("query", "answer", "right"), DATES)
def test_dates(query: str, answer: str, right: bool) -> None:
    record = scored(date("2024-03-01"), answer, query=query).record
    assert (record.verdict == "accurate") is right, record.to_json()


def test_the_month_of_a_month_is_the_month() -> None:
    assert scored(date("2024-03"), "En el mes de marzo de 2024.", query="¿Cuándo?").record.verdict == "accurate"


@pytest.mark.parametrize(
    "answer", ["al menos 3 UF", "hasta 3 UF", "3 UF por cada día", "3 UF mensuales", "3 UF, pero es falso"]
)
def test_amounts(answer: str) -> None:
    assert scored(amount("3", "UF"), answer, query="¿Cuál es la multa?").record.verdict != "accurate"
    assert scored(amount("3", "UF"), "3 UF", query="¿Cuál es la multa?").record.verdict == "accurate"


def test_the_same_bound_in_the_question_makes_it_plain() -> None:
    got = scored(amount("3", "UF"), "Hasta 3 UF.", query="¿Cuál es la multa máxima?")
    assert got.record.verdict == "accurate"
