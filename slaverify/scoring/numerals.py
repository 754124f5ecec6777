"""The number grammar: what a stretch of digits or number words says in one locale. Nothing is repaired.

Digits are `[0-9]` only: `int`, `\\d` and `Decimal` would accept those of other scripts. A number whose separators
the locale does not allow has no value and is marked ambiguous. Decimal and group signs come from Unicode CLDR
(`data/numbers.json`), the words from `data/number_words.json`.

Source: docs/spec/scoring.md section 8 (number); Unicode CLDR number symbols.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from slaverify.scoring.data import load
from slaverify.scoring.folding import GROUP_SPACE
from slaverify.scoring.number_words import Token, Vocabulary, read_number, vocabulary

MAX_DIGITS = 40

_LOCALES = load("numbers.json")["locales"]
_TOKEN = re.compile(rf"[0-9]+(?:[.,'{GROUP_SPACE}][0-9]+)*|[a-z]+")
_SPACED = re.compile(r"[0-9]{1,3}(?: [0-9]{3})+(?![0-9])(?![.,][0-9]{3})")
_ORDINAL_MARK = re.compile(
    r"\s?\.?\s?[º°ª](?!\s?[cf]\b)|\.?(?:ero|era|er|ra|ro|do|da|to|ta|mo|ma|vo|va|no|na|o|a|st|nd|rd|th)\b"
)
_GLUED_UNITS = re.compile(
    r"(?:m|km|cm|mm|mts|kg|g|gr|t|l|lt|lts|h|hr|hrs|hs|min|s|seg|uf|utm|uta|usd|clp|eur|m2|m3|kw|hp|kn|nm|pp|dias|dia"
    r"|horas|metros|meses|mes|years|days)\b"
)
_FRACTION = re.compile(r"\s?/\s?([0-9]{1,9})(?![0-9/.,-])")
_HALF_ES = re.compile(r"(?:\s[a-z]{2,20}){0,2}\s(?:y|con)\smedi[oa]\b")
_HALF_EN = re.compile(r"(?:\s[a-z]{2,20}){0,2}\sand\sa\shalf\b")
_COUNTED = re.compile(
    r"\s?(?:docenas?|decenas?|centenas?|centenares|pares|dozens?|bis|ter|quater|quinquies|sexies|septies|octies)\b"
)


@dataclass(frozen=True, slots=True)
class Symbols:
    """Decimal and group sign of a locale and the sizes of its groups: the last one, the others."""

    decimal: str
    group: str
    last_group: int
    other_groups: int


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as written. `value` null: unreadable in the locale. `article`: the word may be an article (un, one)."""

    start: int
    end: int
    value: Fraction | None
    words: bool = False
    ordinal: bool = False
    article: bool = False
    ambiguous: bool = False


@lru_cache(maxsize=64)
def symbols(locale: str | None) -> Symbols | None:
    """Return the symbols of `locale`, falling back to its language; null without a locale or for another language."""
    if locale is None or not isinstance(_LOCALES, dict):
        return None
    row = _LOCALES.get(locale) or _LOCALES.get(locale[:2])
    if not isinstance(row, dict):
        return None
    grouping = row["grouping"]
    sizes = [size for size in grouping if isinstance(size, int)] if isinstance(grouping, list) else [3, 3]
    group = str(row["group"])
    return Symbols(str(row["decimal"]), GROUP_SPACE if group.isspace() else group, sizes[0], sizes[1])


def read_digits(text: str, signs: Symbols | None) -> Fraction | None:
    """Return the value of a run of digits and separators, or null if the locale does not read it.

    A space between digits always groups. Groups have the size of the locale, the first one no leading zero, and no
    two kinds of group sign stand in one number.
    """
    if sum(character.isdigit() for character in text) > MAX_DIGITS:
        return None
    if text.isdigit():
        return Fraction(int(text))
    if signs is None:
        whole, fraction, group = text, "", GROUP_SPACE
    else:
        whole, point, fraction = text.partition(signs.decimal)
        if point and not fraction.isdigit():
            return None
        group = GROUP_SPACE if GROUP_SPACE in whole else signs.group
    parts = whole.split(group)
    if not all(part.isdigit() for part in parts):
        return None
    if len(parts) > 1 and not _well_grouped(parts, signs):
        return None
    digits = "".join(parts)
    return Fraction(int(digits + fraction), 10 ** len(fraction))


def _well_grouped(parts: list[str], signs: Symbols | None) -> bool:
    last, others = (3, 3) if signs is None else (signs.last_group, signs.other_groups)
    first, *middle, end = parts
    return (
        len(end) == last
        and all(len(part) == others for part in middle)
        and 1 <= len(first) <= others
        and not first.startswith("0")
    )


def scan(folded: str, locale: str | None, *, number_words: bool = True, scale_words: bool = True) -> list[Numeral]:
    """Return every number written in `folded` (see `folding`), in order; signs and units are left to the caller."""
    signs = symbols(locale)
    words = vocabulary(locale)
    tokens = _tokens(folded, signs, words)
    out: list[Numeral] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if out and token.start < out[-1].end:
            index += 1
            continue
        numeral: Numeral | None = None
        used = 1
        if token.ambiguous:
            numeral = Numeral(token.start, token.end, None, ambiguous=True)
        elif words is not None and (token.value is None or not token.glued):
            used, numeral = _read(folded, tokens, index, words, number_words, scale_words)
        elif token.value is not None:
            numeral = Numeral(token.start, token.end, token.value)
        if numeral is not None:
            out.append(_extended(folded, numeral, words))
        index += max(used, 1)
    return out


def _tokens(folded: str, signs: Symbols | None, words: Vocabulary | None) -> list[Token]:
    out: list[Token] = []
    for match in _TOKEN.finditer(folded):
        start, end = match.span()
        text = match.group()
        if not text[0].isdigit():
            if words is not None and text in words.all_words and not _per_hundred(folded, start, text):
                out.append(Token(start, end, text, None))
            continue
        before = folded[start - 1] if start else " "
        if before.isalpha() or before == "_":
            continue
        spaced = _SPACED.match(folded, start)
        if spaced is not None and spaced.end() > end:
            out.append(Token(start, spaced.end(), text, None, ambiguous=True))
            continue
        after = folded[end : end + 1]
        glued = after.isalpha() and _ORDINAL_MARK.match(folded, end) is None
        if glued and _GLUED_UNITS.match(folded, end) is None:
            # 3k and 2M may be scales; 4G, 12bis and H2O are names
            if re.match(r"(?:k|mm|bn|b)\b", folded[end : end + 3]):
                out.append(Token(start, end, text, None, ambiguous=True))
            continue
        value = read_digits(text, signs)
        lead = signs is not None and before == signs.decimal and not folded[max(start - 2, 0) : start - 1].isalnum()
        if lead and value is not None and text.isdigit() and folded[max(start - 2, 0) : start - 1] not in (".", ","):
            value = Fraction(int(text), 10 ** len(text))
        out.append(Token(start, end, text, value, ambiguous=value is None, glued=glued))
    return out


def _per_hundred(folded: str, start: int, word: str) -> bool:
    # por ciento, por mil: a unit, not a number
    return word in ("ciento", "cien", "mil") and folded[max(start - 4, 0) : start] == "por "


def _read(
    folded: str, tokens: list[Token], index: int, words: Vocabulary, number_words: bool, scale_words: bool
) -> tuple[int, Numeral | None]:
    token = tokens[index]
    digits = token.value is not None
    if not digits and not number_words:
        return 1, None
    used, value = read_number(folded, tokens, index, words)
    if used == 0 or value is None:
        return 1, None
    end = tokens[index + used - 1].end
    if digits and used > 1 and not scale_words:
        return used, Numeral(token.start, end, None, ambiguous=True)
    article = used == 1 and token.text in words.articles
    return used, Numeral(token.start, end, value, words=not digits, article=article)


def _extended(folded: str, numeral: Numeral, words: Vocabulary | None) -> Numeral:
    # a fraction bar, an ordinal mark, "y medio", "docenas": what follows belongs to the number or makes it another
    start, end, value = numeral.start, numeral.end, numeral.value
    if value is None:
        return numeral
    bar = _FRACTION.match(folded, end)
    if bar is not None and not numeral.words:
        below = int(bar.group(1))
        return Numeral(start, bar.end(), value / below if below else None, ambiguous=not below)
    if not numeral.words:
        mark = _ORDINAL_MARK.match(folded, end)
        if mark is not None:
            return Numeral(start, mark.end(), value, ordinal=True)
    half = (_HALF_EN if words is not None and "half" in words.half else _HALF_ES).match(folded, end)
    if half is not None:
        return Numeral(start, end, value + Fraction(1, 2), words=numeral.words)
    if _COUNTED.match(folded, end) is not None:
        return Numeral(start, end, None, words=numeral.words, ambiguous=True)
    return numeral
