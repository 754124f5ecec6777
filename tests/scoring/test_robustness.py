"""Hostile text: nothing but a score comes out, and in time that grows with its length."""

from __future__ import annotations

import builtins
import socket
import time

import pytest
from hypothesis import given, settings, strategies

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer
from slaverify.scoring import ScoreRecord, default_settings, score
from tests.scoring.helpers import NONE, amount, choice, date, entity, item, number, text

KINDS = {
    "number": number("15"),
    "percent": number("15", "%"),
    "choice": choice("B", A="rojo", B="verde", C="Sí"),
    "entity": entity("Dirección de Tránsito Lacustre"),
    "text": text("devolución emitida"),
    "none": NONE,
    "amount": amount("15", "día", day_kind="hábiles"),
    "date": date("2025-03-03"),
    "set": {"kind": "set", "value": [entity("poder"), number("5")]},
    "json": {"kind": "json", "value": {"a": 1}},
    "citation": {"kind": "citation", "value": "cl:ley:1:art:2"},
}
ITEMS = {name: item(reference, query="¿Cuántos días hábiles?") for name, reference in KINDS.items()}
SETTINGS = [default_settings("qa@1", locale) for locale in ("es-CL", "en-US", None)]

PIECES = (
    "15 quince días no sino o y = - − % ‰ ( ) [2] artículo ley N° 12 bis Respuesta: <think> </think> \\boxed{ } ####"
    ' verde rojo B A) No consta pero quizás corrijo 1.234,5 12.34.5 3/4 2025-03-03 marzo de 2025 UF $ ``` { } " :'
    " , ; . ? \n \u200b \u202e &nbsp; <b> <!-- --> mil millones coma y medio \ud800 \U000e0041 el la Dirección de"
    " Tránsito Lacustre"
)
WORDS = strategies.sampled_from(PIECES.split(" "))
ANYTHING = strategies.one_of(
    strategies.text(max_size=200),
    strategies.text(alphabet=strategies.characters(), max_size=200),
    strategies.lists(WORDS, max_size=40).map(" ".join),
    strategies.lists(WORDS, max_size=40).map("".join),
)


@pytest.mark.parametrize("kind", KINDS)
@given(answer=ANYTHING)
@settings(max_examples=150, deadline=None)
def test_score_never_raises(kind: str, answer: str) -> None:
    for fixed in SETTINGS:
        record = score(ITEMS[kind], Answer(answer), Outcome.ANSWERED, fixed).record
        assert ScoreRecord.from_json(record.to_json()) == record
        assert (record.verdict is None) == (record.decided_by is None)
        assert record.outcome in (Outcome.ANSWERED, Outcome.EMPTY, Outcome.TRUNCATED)
        if record.outcome is Outcome.ANSWERED and record.verdict is None:
            assert record.bounds is not None and "open" in record.flags


@given(query=strategies.text(min_size=1, max_size=80).filter(lambda text: bool(text.strip())))
@settings(max_examples=100, deadline=None)
def test_any_question_may_be_asked(query: str) -> None:
    score(item(number("15"), query=query), Answer("Son 15 días."), Outcome.ANSWERED, SETTINGS[0])


LONG = [
    "a",
    "no ",
    "15 ",
    "1.",
    "y ",
    ", ",
    "<",
    "&",
    "*",
    "\u200b",
    "artículo 1 y ",
    "(",
    "A) ",
    "mil ",
    "no se ",
    "{",
    "<think>",
    "Respuesta: ",
    "el reglamento ",
    "- ",
    "\n",
    "es ",
    '"',
    "#### ",
]


def cpu_s(length: int, piece: str, settings) -> float:
    """Return the least CPU time, seconds, of two scorings of one long answer by each kind."""
    answer = Answer((piece * (length // len(piece) + 1))[:length])
    times = []
    for _ in range(2):
        started = time.process_time()
        for kind in ("number", "choice", "entity", "none"):
            score(ITEMS[kind], answer, Outcome.ANSWERED, settings)
        times.append(time.process_time() - started)
    return min(times)


# Four times the text: four times the time if it is linear, sixteen if it is quadratic. Small times are noise.
LINEAR, NOISE_S = 9, 0.02


@pytest.mark.parametrize("piece", LONG, ids=repr)
def test_time_is_linear(piece: str) -> None:
    short, long = cpu_s(2_000, piece, SETTINGS[0]), cpu_s(8_000, piece, SETTINGS[0])
    assert long < LINEAR * max(short, NOISE_S)


def test_a_long_run_of_one_letter_without_a_limit_of_length() -> None:
    from dataclasses import replace

    free = replace(SETTINGS[0], max_chars=10_000_000)
    assert cpu_s(200_000, "a", free) < LINEAR * max(cpu_s(50_000, "a", free), NOISE_S)


def test_the_room_opens_no_file_no_socket_and_reads_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a pure room reached outside")

    for kind, given_item in ITEMS.items():
        with monkeypatch.context() as patch:
            patch.setattr(builtins, "open", refuse)
            patch.setattr(socket, "socket", refuse)
            patch.setattr(time, "time", refuse)
            score(given_item, Answer("Según el artículo 12, son 15 días."), Outcome.ANSWERED, SETTINGS[0])
            assert kind in KINDS


def test_speed() -> None:
    """2 000 items in under 2 s of one processor."""
    answers = [
        Answer("Según el artículo 12, el plazo es de 15 días hábiles."),
        Answer("Respuesta: 15."),
        Answer("El reglamento no contiene una regla sobre esa materia."),
        Answer("La alternativa correcta es la B: verde."),
    ]
    pairs = [(ITEMS[kind], answer) for kind in ("number", "none", "choice", "entity") for answer in answers]
    started = time.process_time()
    for turn in range(2_000):
        score(*pairs[turn % len(pairs)], Outcome.ANSWERED, SETTINGS[0])
    assert time.process_time() - started < 2
