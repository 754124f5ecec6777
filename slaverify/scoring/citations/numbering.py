"""Numbers as legal texts write them: figures with a degree mark, cardinals, ordinals and Roman numerals.

Source: docs/spec/citations.md; the ordinals are those of the Spanish grammar (RAE), up to 99.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

MAX_DIGITS = 7
"""Longest number of an article or a norm, in digits."""

FIGURE = rf"(?:[0-9]{{1,3}}(?:\.[0-9]{{3}}){{1,2}}(?![0-9])|[0-9]{{1,{MAX_DIGITS}}})(?![0-9])"
"""A whole number, its thousands with or without dots."""

MARK = r"(?:\s?\.?\s?[º°ª˚]|\.?(?:er|ero|ro|ra|do|da|to|ta|mo|ma|vo|va|no|na|o|a)(?![a-z]))?"
"""The mark of an ordinal after a figure."""

_ONES = ("primero", "segundo", "tercero", "cuarto", "quinto", "sexto", "septimo", "octavo", "noveno")
_TENS = ("decimo", "vigesimo", "trigesimo", "cuadragesimo", "quincuagesimo", "sexagesimo", "septuagesimo", "octogesimo")
_OTHERS = {
    "unico": 1, "primer": 1, "tercer": 3, "setimo": 7, "undecimo": 11, "duodecimo": 12, "decimoprimer": 11,
    "nonagesimo": 90, "centesimo": 100,
}  # fmt: skip
_CARDINALS = (
    "cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce", "trece",
    "catorce", "quince", "dieciseis", "diecisiete", "dieciocho", "diecinueve", "veinte", "veintiuno", "veintidos",
    "veintitres", "veinticuatro", "veinticinco", "veintiseis", "veintisiete", "veintiocho", "veintinueve",
)  # fmt: skip
_CARDINAL_TENS = ("", "", "", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa")
_HUNDREDS = (
    "", "ciento", "doscientos", "trescientos", "cuatrocientos", "quinientos", "seiscientos", "setecientos",
    "ochocientos", "novecientos",
)  # fmt: skip
_ROMAN = re.compile(r"(?=[mdclxvi])m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_PHRASE = re.compile(r"[a-zñ]{2,20}(?:\s(?:y\s)?[a-zñ]{2,20}){0,2}")


def figure(text: str) -> str:
    """Return the digits of a `FIGURE`; leading zeros stay, for no article has them."""
    return text.replace(".", "")


def roman(text: str) -> int | None:
    """Return the value of a Roman numeral in lower case, null if it is none."""
    if not text or not _ROMAN.fullmatch(text):
        return None
    total = 0
    for letter, following in zip(text, text[1:] + " ", strict=True):
        value = _ROMAN_VALUES[letter]
        total += -value if value < _ROMAN_VALUES.get(following, 0) else value
    return total


def number_in_words(folded: str, start: int) -> tuple[int, int] | None:
    """Return (value, end) of the longest number written in words at `start`; ordinals and cardinals up to 999."""
    match = _PHRASE.match(folded, start)
    if match is None:
        return None
    phrase = match.group()
    words = _words()
    while phrase:
        value = words.get(phrase)
        if value is not None:
            return value, start + len(phrase)
        phrase = phrase.rpartition(" ")[0]
    return None


@lru_cache(maxsize=1)
def _words() -> Mapping[str, int]:
    out = _OTHERS | {word: unit for unit, word in enumerate(_ONES, 1)}
    for ten, word in enumerate(_TENS, 1):
        out[word] = ten * 10
        for unit, one in enumerate((*_ONES[:2], "tercero", *_ONES[3:]), 1):
            for joined in (f"{word} {one}", f"{word}{one}", f"{word[:-1]}o{one}"):
                out[joined] = ten * 10 + unit
    out |= {word[:-1] + "a": value for word, value in out.items() if word.endswith("o")}
    out.update({_cardinal(value): value for value in range(1, 1000)})
    return out


def _cardinal(value: int) -> str:
    if value >= 100:
        head, rest = "cien" if value == 100 else _HUNDREDS[value // 100], value % 100
        return f"{head} {_cardinal(rest)}" if rest else head
    if value < 30:
        return _CARDINALS[value]
    return f"{_CARDINAL_TENS[value // 10]} y {_CARDINALS[value % 10]}" if value % 10 else _CARDINAL_TENS[value // 10]
