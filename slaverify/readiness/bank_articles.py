"""Article numbers that a question names, in any notation: 12, doce, XII, 12º bis, "artículos 10, 11 y 12".

Source: docs/spec/bank-check.md section 2 (I020).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from slaverify.readiness.bank_findings import words

_SUFFIXES = frozenset(["bis", "ter", "quater", "quinquies", "sexies", "septies", "octies", "nonies"])
_ARTICLE = frozenset(["articulo", "articulos", "art", "arts", "article", "articles"])
_FILLER = frozenset(["n", "no", "num", "numero", "number", "y", "e", "o", "u", "al", "and", "or", "to", "the", "del"])
_ROMAN = re.compile(r"(?=[ivxlc])(?:x[cl]|l?x{0,3}|c{0,3}(?:x[cl]|l?x{0,3}))(?:i[xv]|v?i{0,3})")
_FIGURE = re.compile(r"([0-9]{1,5})(?:o|a|er|th|st|nd|rd|º|ª)?")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_SPAN = 12

_UNITS_TEXT = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis "
    "diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis "
    "veintisiete veintiocho veintinueve "
)
_UNITS = tuple(_UNITS_TEXT.split())
_TENS = {30: "treinta", 40: "cuarenta", 50: "cincuenta", 60: "sesenta", 70: "setenta", 80: "ochenta", 90: "noventa"}
_HUNDREDS = {
    100: "ciento", 200: "doscientos", 300: "trescientos", 400: "cuatrocientos", 500: "quinientos", 600: "seiscientos",
    700: "setecientos", 800: "ochocientos", 900: "novecientos",
}  # fmt: skip
_ORDINALS_TEXT = (
    "primero segundo tercero cuarto quinto sexto septimo octavo noveno decimo undecimo duodecimo decimotercero "
    "decimocuarto decimoquinto decimosexto decimoseptimo decimoctavo decimonoveno vigesimo "
)
_ORDINALS = tuple(_ORDINALS_TEXT.split())
_ENGLISH_TEXT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty "
)
_ENGLISH = tuple(_ENGLISH_TEXT.split())
_ENGLISH_TENS = {30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety"}


def articles_named(text: str) -> frozenset[tuple[int, str]]:
    """Return (number, suffix) of every article that a text names after a word for it; suffix empty without one."""
    found: set[tuple[int, str]] = set()
    tokens = words(text)
    for at, token in enumerate(tokens):
        if token in _ARTICLE:
            found.update(_after(tokens[at + 1 : at + 1 + _SPAN]))
    return frozenset(found)


def _after(tokens: tuple[str, ...]) -> set[tuple[int, str]]:
    out: set[tuple[int, str]] = set()
    at = 0
    while at < len(tokens):
        number, used = _number(tokens[at:])
        if number is None:
            if tokens[at] not in _FILLER:
                break
            at += 1
            continue
        at += used
        suffix = tokens[at] if at < len(tokens) and tokens[at] in _SUFFIXES else ""
        at += bool(suffix)
        out.add((number, suffix))
    return out


def _number(tokens: tuple[str, ...]) -> tuple[int | None, int]:
    figure = _FIGURE.fullmatch(tokens[0])
    if figure is not None:
        return int(figure.group(1)), 1
    for size in (4, 3, 2, 1):
        value = _words_to_number().get(" ".join(tokens[:size]))
        if value is not None and len(tokens) >= size:
            return value, size
    if tokens[0] not in _FILLER and _ROMAN.fullmatch(tokens[0]):
        return _roman(tokens[0]), 1
    return None, 0


def _roman(text: str) -> int:
    total = 0
    for letter, following in zip(text, text[1:] + " ", strict=True):
        value = _ROMAN_VALUES[letter]
        total += -value if value < _ROMAN_VALUES.get(following, 0) else value
    return total


@lru_cache(maxsize=1)
def _words_to_number() -> Mapping[str, int]:
    out: dict[str, int] = {word: number for number, word in enumerate(_ORDINALS, 1)}
    out.update({"primera": 1, "first": 1, "second": 2, "third": 3, "cien": 100})
    for number in range(1, 1000):
        out[_spanish(number)] = number
    for number in range(1, 100):
        out[_english(number)] = number
    return out


def _spanish(number: int) -> str:
    if number >= 100:
        rest = number % 100
        head = "cien" if number == 100 else _HUNDREDS[number - rest]
        return f"{head} {_spanish(rest)}" if rest else head
    if number < 30:
        return _UNITS[number]
    rest = number % 10
    return f"{_TENS[number - rest]} y {_UNITS[rest]}" if rest else _TENS[number]


def _english(number: int) -> str:
    if number <= 20:
        return _ENGLISH[number]
    rest = number % 10
    tens = "twenty" if number < 30 else _ENGLISH_TENS[number - rest]
    return f"{tens} {_ENGLISH[rest]}" if rest else tens
