"""Number words in Spanish and English, with digits before a scale: `quince mil`, `3 millones`, `twenty-five`.

Source: docs/spec/scoring.md section 8 (number words and scales; `billón` is 10^12 in Spanish, `billion` 10^9 in
English).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue
from slaverify.scoring.data import load

_GAPS = frozenset({" ", "-", "  "})


@dataclass(frozen=True, slots=True)
class Token:
    """A number word, or digits with their value; `glued`: a unit follows without a space."""

    start: int
    end: int
    text: str
    value: Fraction | None
    ambiguous: bool = False
    glued: bool = False


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The number words of a language."""

    small: Mapping[str, int]
    tens: Mapping[str, int]
    hundreds: Mapping[str, int]
    hundred: str | None
    thousand: frozenset[str]
    scales: Mapping[str, int]
    joins: frozenset[str]
    point: frozenset[str]
    half: frozenset[str]
    articles: frozenset[str]
    ordinals: Mapping[str, int]
    all_words: frozenset[str]


def _counts(tree: JsonValue) -> dict[str, int]:
    return {key: value for key, value in tree.items() if isinstance(value, int)} if isinstance(tree, dict) else {}


def _words(tree: JsonValue) -> frozenset[str]:
    return frozenset(str(word) for word in tree) if isinstance(tree, list) else frozenset()


def _vocabulary(tree: JsonObject) -> Vocabulary:
    small, tens, hundreds = _counts(tree["small"]), _counts(tree["tens"]), _counts(tree["hundreds"])
    scales, thousand = _counts(tree["scales"]), _words(tree["thousand"])
    hundred = tree["hundred"] if isinstance(tree["hundred"], str) else None
    joins, point = _words(tree["and"]), _words(tree["point"])
    every = {*small, *tens, *hundreds, *scales, *thousand, *joins, *point, *([hundred] if hundred else [])}
    return Vocabulary(
        small=small,
        tens=tens,
        hundreds=hundreds,
        hundred=hundred,
        thousand=thousand,
        scales=scales,
        joins=joins,
        point=point,
        half=_words(tree["half"]),
        articles=_words(tree["articles"]),
        ordinals=_counts(tree["ordinals"]),
        all_words=frozenset(every),
    )


_VOCABULARIES = {
    language: _vocabulary(tree) for language, tree in load("number_words.json").items() if isinstance(tree, dict)
}


def vocabulary(locale: str | None) -> Vocabulary | None:
    """Return the words of the locale's language, null where there are none."""
    return None if locale is None else _VOCABULARIES.get(locale[:2])


def all_number_words() -> frozenset[str]:
    """Return every cardinal and ordinal word of every language, for the grammar of citations."""
    return frozenset().union(*(v.all_words - v.joins - v.point | set(v.ordinals) for v in _VOCABULARIES.values()))


class _Reader:
    """Reads one number from a position of the tokens; `index` moves past what was used."""

    def __init__(self, folded: str, tokens: list[Token], index: int, words: Vocabulary) -> None:
        self.folded, self.tokens, self.index, self.words = folded, tokens, index, words
        self.first = index
        self.decimals = False

    def token(self, ahead: int = 0) -> Token | None:
        """Return the token `ahead` of the position if nothing but a space or hyphen parts it from the one before."""
        at = self.index + ahead
        if at >= len(self.tokens):
            return None
        token = self.tokens[at]
        if token.ambiguous:
            return None
        if at > self.first and self.folded[self.tokens[at - 1].end : token.start] not in _GAPS:
            return None
        return token

    def word(self, table: Mapping[str, int] | frozenset[str], ahead: int = 0) -> str | None:
        token = self.token(ahead)
        return token.text if token is not None and token.value is None and token.text in table else None

    def below_hundred(self) -> int | None:
        words = self.words
        if (small := self.word(words.small)) is not None:
            self.index += 1
            return words.small[small]
        tens = self.word(words.tens)
        if tens is None:
            return None
        value = words.tens[tens]
        self.index += 1
        step = 1 if words.hundred is None and self.word(words.joins) is not None else 0
        unit = self.word(words.small, step) if step or words.hundred is not None else None
        if unit is not None and 0 < words.small[unit] < 10:
            self.index += step + 1
            value += words.small[unit]
        return value

    def below_thousand(self) -> Fraction | None:
        token = self.token()
        if token is not None and token.value is not None:
            self.index += 1
            self.decimals = self.decimals or token.value.denominator != 1
            return token.value
        words = self.words
        if (hundreds := self.word(words.hundreds)) is not None:
            self.index += 1
            rest = self.below_hundred() if words.hundreds[hundreds] != 100 or hundreds != "cien" else None
            return Fraction(words.hundreds[hundreds] + (rest or 0))
        if words.hundred is not None and self.word(frozenset({words.hundred})) is not None:
            return Fraction(self._english_hundred(1))
        value = self.below_hundred()
        if value is None:
            return None
        if words.hundred is not None and value < 10 and self.word(frozenset({words.hundred})) is not None:
            value = self._english_hundred(value)
        return Fraction(value)

    def _english_hundred(self, count: int) -> int:
        self.index += 1
        here = self.index
        if self.word(self.words.joins) is not None:
            self.index += 1
        rest = self.below_hundred()
        if rest is None:
            self.index = here
        return count * 100 + (rest or 0)

    def below_million(self) -> Fraction | None:
        value = Fraction(1) if self.word(self.words.thousand) is not None else self.below_thousand()
        if value is None:
            return None
        if self.word(self.words.thousand) is None:
            return value
        self.index += 1
        if self.decimals:
            return value * 1000
        return value * 1000 + self._rest_of_thousand()

    def _rest_of_thousand(self) -> Fraction:
        here = self.index
        if self.words.hundred is not None and self.word(self.words.joins) is not None:
            self.index += 1
        value = self.below_thousand()
        if value is None or value >= 1000 or value.denominator != 1:
            self.index = here
            return Fraction(0)
        return value

    def number(self) -> Fraction | None:
        total = Fraction(0)
        ceiling = 10**24
        value = self.below_million()
        while value is not None:
            scale = self.word(self.words.scales)
            if scale is None:
                break
            power = 10 ** self.words.scales[scale]
            if power >= ceiling:
                break
            self.index += 1
            total += value * power
            ceiling = power
            value = None if self.decimals else self._below(power)
        if value is not None:
            total += value
        elif self.index == self.first:
            return None
        return self._point(total)

    def _below(self, limit: int) -> Fraction | None:
        here = self.index
        if self.words.hundred is not None and self.word(self.words.joins) is not None:
            self.index += 1
        value = self.below_million()
        if value is None or value >= limit:
            self.index = here
            return None
        return value

    def _point(self, total: Fraction) -> Fraction:
        # quince coma cinco; leading zeros are read one by one: quince coma cero cinco
        if self.word(self.words.point) is None or self.tokens[self.first].value is not None:
            return total
        here = self.index
        self.index += 1
        digits = ""
        while self.word(frozenset({"cero", "zero"})) is not None:
            digits += "0"
            self.index += 1
        rest = self.below_hundred()
        if rest is None and not digits:
            self.index = here
            return total
        digits += "" if rest is None else str(rest)
        return total + Fraction(int(digits), 10 ** len(digits))


def read_number(folded: str, tokens: list[Token], index: int, words: Vocabulary) -> tuple[int, Fraction | None]:
    """Return how many tokens from `index` make one number, and its value; 0 if the first is no number."""
    reader = _Reader(folded, tokens, index, words)
    value = reader.number()
    return (reader.index - index, value) if value is not None else (0, None)
