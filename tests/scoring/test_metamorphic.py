"""Changes that may never move a score, and mutants that may never be right. 500 examples each."""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer, Item
from slaverify.scoring import Scored, default_settings, score
from tests.scoring.helpers import NONE, amount, choice, date, entity, item, number, text

SIGNS = {"es-CL": (",", "."), "es-ES": (",", "."), "es-MX": (".", ","), "en-US": (".", ",")}
SETTINGS = {locale: default_settings("qa@1", locale) for locale in SIGNS}
COLOURS = choice("B", A="rojo", B="verde", C="amarillo")
PAPERS = {"kind": "set", "value": [entity("cédula"), entity("poder"), entity("balance")]}
QUERY = "¿Cuál es el valor?"

CASES: list[tuple[dict[str, Any], str]] = [
    (number("15"), "Según el artículo 12, el plazo es de quince (15) días hábiles."),
    (number("15"), "Son 20 días."),
    (number("15"), "15 o 20 días"),
    (number("15"), "El plazo no podrá exceder de 15 días."),
    (number("15"), "No son 15, sino 20."),
    (number("4.2", "%"), "La tasa es de 4,2 % según la Ley N° 19.886."),
    (number("1234.5"), "1.234,5"),
    (COLOURS, "La boya es de color verde."),
    (COLOURS, "verde o rojo"),
    (COLOURS, "La alternativa correcta es la B."),
    (entity("Dirección de Tránsito"), "La Dirección de Tránsito"),
    (entity("Dirección de Tránsito"), "La autoridad es la Dirección de Tránsito, según la norma."),
    (entity("Dirección de Tránsito"), "La Capitanía"),
    (text("devolución emitida"), "Devolución emitida"),
    (text("devolución emitida"), "ya se pagó"),
    (NONE, "El reglamento no contiene una regla sobre esa materia."),
    (NONE, "Son 15 días según el artículo 45."),
    (NONE, "No lo sé, pero serían 30 días."),
    (number("15"), "No encontré el plazo en el reglamento."),
    (number("15"), "Depende del caso."),
    (amount("15", "día"), "quince días"),
    (amount("3", "UF"), "3 UTM"),
    (date("2025-03-03"), "el 3 de marzo de 2025"),
    (date("2025-03-03"), "03/04/2025"),
    (PAPERS, "cédula, poder y balance"),
    (PAPERS, "cédula y poder"),
]
ITEMS = [item(reference, query=QUERY) for reference, _ in CASES]
BEFORE = [
    "",
    "Hola. ",
    "Buenos días. ",
    "Gracias por su consulta. ",
    "Con gusto. ",
    "Por supuesto. ",
    "Hola, ",
    "Estimado usuario. ",
]
AFTER = ["", " Saludos cordiales.", " Espero que le sirva.", " Quedo atento.", " Gracias.", " Que tenga un buen día."]

UNITS = [
    "cero",
    "uno",
    "dos",
    "tres",
    "cuatro",
    "cinco",
    "seis",
    "siete",
    "ocho",
    "nueve",
    "diez",
    "once",
    "doce",
    "trece",
    "catorce",
    "quince",
    "dieciséis",
    "diecisiete",
    "dieciocho",
    "diecinueve",
    "veinte",
    "veintiuno",
    "veintidós",
    "veintitrés",
    "veinticuatro",
    "veinticinco",
    "veintiséis",
    "veintisiete",
    "veintiocho",
    "veintinueve",
]
TENS = dict(
    zip(
        range(30, 100, 10),
        ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"],
        strict=True,
    )
)
HUNDREDS = [
    "",
    "ciento",
    "doscientos",
    "trescientos",
    "cuatrocientos",
    "quinientos",
    "seiscientos",
    "setecientos",
    "ochocientos",
    "novecientos",
]
SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
ENGLISH_TENS = dict(
    zip(range(20, 100, 10), ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], strict=True)
)


def run(given_item: Item, answer: str, locale: str = "es-CL") -> Scored:
    return score(given_item, Answer(answer), Outcome.ANSWERED, SETTINGS[locale])


def result(got: Scored) -> tuple[object, ...]:
    record = got.record
    return record.outcome, record.answer_class, record.abstention, record.correctness, record.verdict


def spanish(value: int) -> str:
    """Write an integer below a thousand million in Spanish words."""
    if value >= 1_000_000:
        millions, rest = divmod(value, 1_000_000)
        head = "un millón" if millions == 1 else f"{_short(spanish(millions))} millones"
        return head if not rest else f"{head} {spanish(rest)}"
    if value >= 1000:
        thousands, rest = divmod(value, 1000)
        head = "mil" if thousands == 1 else f"{_short(spanish(thousands))} mil"
        return head if not rest else f"{head} {spanish(rest)}"
    if value >= 100:
        hundreds, rest = divmod(value, 100)
        return "cien" if value == 100 else f"{HUNDREDS[hundreds]} {spanish(rest)}".removesuffix(" cero")
    if value < 30:
        return UNITS[value]
    tens, unit = divmod(value, 10)
    return TENS[tens * 10] if not unit else f"{TENS[tens * 10]} y {UNITS[unit]}"


def _short(words: str) -> str:
    # treinta y uno mil → treinta y un mil; veintiuno mil → veintiún mil
    if words.endswith("veintiuno"):
        return words[:-9] + "veintiún"
    return words[:-1] if words.endswith(("y uno", " uno")) or words == "uno" else words


def english(value: int) -> str:
    """Write an integer below a thousand million in English words."""
    for power, name in ((10**6, "million"), (1000, "thousand")):
        if value >= power:
            head, rest = divmod(value, power)
            return f"{english(head)} {name}" + ("" if not rest else f" {english(rest)}")
    if value >= 100:
        head, rest = divmod(value, 100)
        return f"{SMALL[head]} hundred" + ("" if not rest else f" and {english(rest)}")
    if value < 20:
        return SMALL[value]
    tens, unit = divmod(value, 10)
    return ENGLISH_TENS[tens * 10] if not unit else f"{ENGLISH_TENS[tens * 10]}-{SMALL[unit]}"


def notations(value: Decimal, locale: str) -> list[str]:
    point, group = SIGNS[locale]
    whole, _, fraction = format(abs(value), "f").partition(".")
    tail = point + fraction if fraction else ""
    sign = "-" if value < 0 else ""
    grouped = f"{int(whole):,}"
    out = [sign + whole + tail, sign + grouped.replace(",", group) + tail, sign + grouped.replace(",", "\u202f") + tail]
    out += ["−" + grouped.replace(",", "\u00a0") + tail] if value < 0 else [grouped.replace(",", "\u2009") + tail]
    if not fraction and 0 < value < 10**9:
        out.append(spanish(int(value)) if locale.startswith("es") else english(int(value)))
    return out


def sentences(locale: str) -> list[str]:
    if locale.startswith("es"):
        return [
            "{}",
            "{}.",
            "Respuesta: {}",
            "**{}**",
            "Son {} en total.",
            "Según el artículo 12, el valor es {}.",
            "({})",
        ]
    return ["{}", "{}.", "Answer: {}", "**{}**", "It is {} in total.", "Under section 12, the value is {}.", "({})"]


VALUES = st.decimals(min_value=-(10**9), max_value=10**9, allow_nan=False, allow_infinity=False, places=2).map(
    lambda value: value.normalize() if value else Decimal(0)
) | st.integers(min_value=2, max_value=10**9 - 1).map(Decimal)
LOCALES = st.sampled_from(sorted(SIGNS))


@given(value=VALUES, locale=LOCALES, data=st.data())
@settings(max_examples=500, deadline=None)
def test_notation_within_the_locale_never_matters(value: Decimal, locale: str, data: st.DataObject) -> None:
    written = data.draw(st.sampled_from(notations(value, locale)))
    template = data.draw(st.sampled_from(sentences(locale)))
    got = run(item(number(format(value, "f")), query=QUERY), template.format(written), locale)
    assert got.record.correctness == "correct", (template.format(written), got.record.to_json())


@given(case=st.integers(0, len(CASES) - 1), before=st.sampled_from(BEFORE), after=st.sampled_from(AFTER))
@settings(max_examples=500, deadline=None)
def test_courtesy_never_matters(case: int, before: str, after: str) -> None:
    answer = CASES[case][1]
    end = "" if answer.endswith(".") or not after else "."
    assert result(run(ITEMS[case], before + answer + end + after)) == result(run(ITEMS[case], answer)), (
        before,
        answer,
        after,
    )


@given(case=st.integers(0, len(CASES) - 1), form=st.sampled_from(["NFC", "NFD"]))
@settings(max_examples=500, deadline=None)
def test_composed_or_decomposed_never_matters(case: int, form: Any) -> None:
    answer = CASES[case][1]
    assert result(run(ITEMS[case], unicodedata.normalize(form, answer))) == result(run(ITEMS[case], answer))


FORMAT = st.sampled_from([chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) == "Cf"])


@given(
    case=st.integers(0, len(CASES) - 1), places=st.lists(st.tuples(st.integers(0, 200), FORMAT), min_size=1, max_size=6)
)
@settings(max_examples=500, deadline=None)
def test_invisible_characters_never_matter(case: int, places: list[tuple[int, str]]) -> None:
    answer = hidden = CASES[case][1]
    for place, mark in places:
        at = place % (len(hidden) + 1)
        hidden = hidden[:at] + mark + hidden[at:]
    assert result(run(ITEMS[case], hidden)) == result(run(ITEMS[case], answer)), repr(hidden)


@given(order=st.permutations(["cédula", "poder", "balance"]), join=st.sampled_from([", ", "; ", "\n", " y "]))
@settings(max_examples=500, deadline=None)
def test_the_order_of_a_set_never_matters(order: list[str], join: str) -> None:
    assert run(item(PAPERS, query="¿Qué exige?"), join.join(order)).record.correctness == "correct"


@given(value=VALUES, other=VALUES, locale=LOCALES, data=st.data())
@settings(max_examples=500, deadline=None)
def test_another_value_is_never_right(value: Decimal, other: Decimal, locale: str, data: st.DataObject) -> None:
    assume(value != other)
    mutants = [other, value * 10, value / 10, -value, value + 1, value - 1, value + Decimal("0.01")]
    mutant = data.draw(st.sampled_from([one for one in mutants if one != value]))
    written = data.draw(st.sampled_from(notations(mutant, locale)))
    template = data.draw(st.sampled_from(sentences(locale)))
    got = run(item(number(format(value, "f")), query=QUERY), template.format(written), locale)
    assert got.record.correctness == "incorrect", (value, template.format(written), got.record.to_json())


WRECKS = """No son {0}. | No es {0}, sino {1}. | {0} o {1} | {1} o {0} | {0}, {1}, {2} | entre {0} y {1} | {0} a {1}
{0} bis | {0} % | {0}k | Son {0}. Son {1}. | {0}. Corrijo: {1}. | <think>{0}</think>{1} | <think>{0} | artículo {0}
Ley N° {0} | [{0}] | {0} = {1} | el doble de {0} | más de {0} | menos de {0} | ¿{0}? | {0}/{1} | página {0}
quizás {0}, quizás {1} | {0}^{1}^{2} | 1) {0}^2) {1}^3) {2} | el {0} no es correcto | {0} y medio | {0} docenas | -{0}
{0}:{1} | x{0} | {0}{1} | en vez de {0}, {1}""".replace("\n", " | ")


@given(
    values=st.lists(st.integers(2, 899), min_size=3, max_size=3, unique=True),
    wreck=st.sampled_from(WRECKS.split(" | ")),
)
@settings(max_examples=500, deadline=None)
def test_hedges_lists_denials_and_dumps_are_never_right(values: list[int], wreck: str) -> None:
    assume(values[0] != values[1] * values[2])
    answer = wreck.replace("^", "\n").format(*values)
    got = run(item(number(str(values[0])), query=QUERY), answer)
    assert got.record.correctness != "correct", (answer, got.record.to_json())


CHOICE_WRECKS = """{0} o {1} | {0}, {1} | {0}, {1}, {2} | No es {0}. | No es {0}, sino {1}. | Es {0}. Es {1}.
{0}. Corrijo: {1}. | <think>{0}</think>{1} | entre {0} y {1} | ni {0} ni {1} | podría ser {0} o {1}""".replace(
    "\n", " | "
)
OPTIONS = {"A": "rojo", "B": "verde", "C": "amarillo"}


@given(order=st.permutations(sorted(OPTIONS)), wreck=st.sampled_from(CHOICE_WRECKS.split(" | ")), by_text=st.booleans())
@settings(max_examples=500, deadline=None)
def test_no_choice_is_never_right(order: list[str], wreck: str, by_text: bool) -> None:
    names = [OPTIONS[label] if by_text else label for label in order]
    got = run(item(choice(order[0], **OPTIONS), query=QUERY), wreck.format(*names))
    assert got.record.correctness != "correct", (wreck.format(*names), got.record.to_json())


DAYS = st.dates()


@given(day=DAYS, other=DAYS, data=st.data())
@settings(max_examples=500, deadline=None)
def test_another_day_is_never_right(day: Any, other: Any, data: st.DataObject) -> None:
    assume(day != other and other.year >= 1000)
    swapped = f"{other.month:02}/{other.day:02}/{other.year}"
    written = data.draw(st.sampled_from([other.isoformat(), f"{other.day:02}/{other.month:02}/{other.year}", swapped]))
    assume(written != swapped or (day.month, day.day, day.year) != (other.day, other.month, other.year))
    got = run(item(date(day.isoformat()), query="¿Cuándo?"), written)
    assert got.record.correctness != "correct"


@given(missing=st.integers(0, 2), extra=st.sampled_from(["certificado", "poder notarial", "timbre"]))
@settings(max_examples=100, deadline=None)
def test_one_element_less_or_more_is_never_right(missing: int, extra: str) -> None:
    papers = ["cédula", "poder", "balance"]
    fewer = papers[:missing] + papers[missing + 1 :]
    for answer in (", ".join(fewer), ", ".join([*papers, extra]), " y ".join([*fewer, extra])):
        assert run(item(PAPERS, query="¿Qué exige?"), answer).record.correctness == "incorrect", answer
