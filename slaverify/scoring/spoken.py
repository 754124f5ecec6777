"""Steps of the normalisers of transcripts: number words as figures, declared fillers out.

A lone `un`, `una` or `one` may be an article and stays a word; so do ordinals. Separators inside figures are kept as
written: which of them groups depends on the locale, and a normaliser has none.

Source: docs/spec/scoring.md section 4; `data/speech.json`.
"""

from __future__ import annotations

import re
from fractions import Fraction

from slaverify.scoring.data import load
from slaverify.scoring.folding import fold
from slaverify.scoring.number_words import Token, Vocabulary, read_number, vocabulary

_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)+|\w+")
_FIGURES = re.compile(r"[0-9]+")
_COMMAS = {"es": ",", "en": "."}


def _fillers() -> dict[str, frozenset[str]]:
    rows = load("speech.json")["fillers"]
    return {
        language: frozenset(str(word) for word in words)
        for language, words in (rows.items() if isinstance(rows, dict) else ())
        if isinstance(words, list)
    }


_FILLERS = _fillers()


def without_fillers(text: str, language: str) -> str:
    """Return the text without the declared fillers of `language`."""
    return " ".join(word for word in text.split() if word not in _FILLERS[language])


def numbers_as_figures(text: str, language: str) -> str:
    """Return the text with each number written in words as figures: `veinticinco` is `25`."""
    words = vocabulary(language)
    if words is None:
        return text
    folded = fold(text)
    tokens = [_token(match, words) for match in _WORD.finditer(folded)]
    out: list[str] = []
    position = index = 0
    while index < len(tokens):
        used, value = read_number(folded, tokens, index, words)
        spelt = used > 0 and value is not None and _is_spelt(tokens[index : index + used], words)
        if not spelt or value is None:
            index += 1
            continue
        start, end = tokens[index].start, tokens[index + used - 1].end
        out += [text[position:start], _figures(value, language)]
        position = end
        index += used
    return "".join([*out, text[position:]])


def _token(match: re.Match[str], words: Vocabulary) -> Token:
    text = match.group()
    known = text in words.all_words
    # figures may stand before a scale (3 millones); any other word parts two numbers
    value = Fraction(int(text)) if _FIGURES.fullmatch(text) and len(text) <= 15 else None
    return Token(match.start(), match.end(), text, value, ambiguous=not known and value is None)


def _is_spelt(tokens: list[Token], words: Vocabulary) -> bool:
    if all(token.value is not None for token in tokens):
        return False  # figures alone are figures already
    return not (len(tokens) == 1 and tokens[0].text in words.articles)


def _figures(value: Fraction, language: str) -> str:
    whole, rest = divmod(value, 1)
    if not rest:
        return str(whole)
    digits = ""
    while rest and len(digits) < 12:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    return f"{whole}{_COMMAS[language]}{digits}"
