"""Normalisers: frozen, ordered lists of named steps. A change is a new version.

NFKC is not used: it turns `º` into the letter o. Accents and ñ are kept, unless the policy `fold_accents` says
otherwise (and then ñ is kept all the same: `pena` and `peña` are two words).

Source: docs/spec/scoring.md section 6 (normalisers).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from slaverify.errors import SetError, Text
from slaverify.scoring.latex import unwrap
from slaverify.scoring.spoken import numbers_as_figures, without_fillers

_SPACE = re.compile(r"\s+")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−", "-"))
_APOSTROPHES = str.maketrans(dict.fromkeys("‘’ʼ`´′", "'"))
_ORDINAL = re.compile(
    r"(?<![\w.,])([0-9]{1,4})(?:\s?\.?\s?[º°ª]|\.?(?:ero|era|er|ra|ro|do|da|to|ta|mo|ma|vo|va|no|na|o|a))(?!\w)"
)
_KEPT_SIGN = re.compile(r"(?<=[0-9])[.,](?=[0-9])|(?<=\w)['\-/](?=\w)|[%‰$€£+]|(?<![\w])-(?=[0-9])")
_DOTTED = re.compile(r"(?<![^\W\d_]{3})(?<=[^\W\d_])\.(?=[^\W\d_]{1,2}(?![^\W\d_]))")
_PUNCTUATION = re.compile(r"[^\w\s]")
_LEADING_ES = re.compile(r"(?:(?:el|la|los|las|lo|un|una|unos|unas)\s+)+")
_LEADING_EN = re.compile(r"(?:(?:the|an|a)\s+)+")


def _whitespace(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _case(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())


def _ligatures(text: str) -> str:
    return text.translate(_LIGATURES)


def _dashes(text: str) -> str:
    return text.translate(_DASHES).translate(_APOSTROPHES)


def _ordinals(text: str) -> str:
    return _ORDINAL.sub(r"\1", text)


def _punctuation(text: str) -> str:
    # the full stops inside an abbreviation go without a space (S.A. is SA); marks that belong to a number, a word
    # or an amount stay; every other mark is a space
    text = _DOTTED.sub("", text)
    kept = {match.start() for match in _KEPT_SIGN.finditer(text)}
    return _whitespace(_PUNCTUATION.sub(lambda match: match.group() if match.start() in kept else " ", text))


def _leading_article_es(text: str) -> str:
    return text[match.end() :] if (match := _LEADING_ES.match(text)) else text


def _leading_article_en(text: str) -> str:
    return text[match.end() :] if (match := _LEADING_EN.match(text)) else text


_SPOKEN_SIGN = re.compile(r"(?<=[0-9])[.,](?=[0-9])|(?<=\w)'(?=\w)")


def _spoken_marks(text: str) -> str:
    # what nobody hears: every mark but those inside a figure and the apostrophe inside a word
    kept = {match.start() for match in _SPOKEN_SIGN.finditer(text)}
    return _whitespace(_PUNCTUATION.sub(lambda match: match.group() if match.start() in kept else " ", text))


def _spoken_steps(language: str, percent: str) -> tuple[tuple[str, Callable[[str], str]], ...]:
    return (
        *_COMMON,
        ("percent", lambda text: text.replace("%", f" {percent} ")),
        ("punctuation", _spoken_marks),
        ("fillers", lambda text: without_fillers(text, language)),
        ("number_words", lambda text: numbers_as_figures(text, language)),
    )


def fold_accents(text: str) -> str:
    """Return the text without accents and diaereses; ñ stays."""
    kept = text.replace("ñ", "\ue000").replace("Ñ", "\ue001")
    bare = "".join(
        character for character in unicodedata.normalize("NFD", kept) if not unicodedata.combining(character)
    )
    return unicodedata.normalize("NFC", bare).replace("\ue000", "ñ").replace("\ue001", "Ñ")


@dataclass(frozen=True, slots=True)
class Normaliser:
    """An ordered list of named steps over the clean copy."""

    name: str
    steps: tuple[tuple[str, Callable[[str], str]], ...]

    def __call__(self, text: str) -> str:
        """Return the normalised text; may be empty."""
        for _, step in self.steps:
            text = step(text)
        return text


_COMMON = (("whitespace", _whitespace), ("case", _case), ("ligatures", _ligatures), ("dashes", _dashes))

NORMALISERS: dict[str, Normaliser] = {
    normaliser.name: normaliser
    for normaliser in (
        Normaliser("strict@1", (("whitespace", _whitespace),)),
        Normaliser(
            "es-legal@1",
            (*_COMMON, ("ordinals", _ordinals), ("punctuation", _punctuation), ("articles", _leading_article_es)),
        ),
        Normaliser("en-basic@1", (*_COMMON, ("punctuation", _punctuation), ("articles", _leading_article_en))),
        Normaliser("asr-es@1", _spoken_steps("es", "por ciento")),
        Normaliser("asr-en@1", _spoken_steps("en", "percent")),
    )
}
"""All normalisers, by `name@version`."""


def normaliser(name: str) -> Normaliser:
    """Return the normaliser `name@version`. Raises: SetError SLV-I030 if there is none."""
    found = NORMALISERS.get(name)
    if found is None:
        raise SetError(
            "SLV-I030",
            Text(f"no existe el normalizador {name}", f"there is no normaliser {name}"),
            fix=Text(f"use uno de: {', '.join(NORMALISERS)}", f"use one of: {', '.join(NORMALISERS)}"),
        )
    return found


def normal_pair(normalise: Normaliser, reference: str, fold: bool) -> Callable[[str], str]:
    """Return the function that makes an answer comparable with `reference`.

    If normalising the reference leaves nothing ("A", "El"), both sides are compared un-normalised: an empty
    reference never matches.
    """

    def _full(text: str) -> str:
        out = normalise(unwrap(text))
        return fold_accents(out) if fold else out

    return _full if _full(reference) else _whitespace
