"""A copy of a text for matching words: lower case, without accents, plain quotes, of the same length.

Offsets in the copy are offsets in the text. It is for cues and grammars only: values are compared in the text
itself, where `pena` and `peña` differ.
"""

from __future__ import annotations

import unicodedata

GROUP_SPACE = "\u202f"
"""A no-break or thin space between two digits is kept as this one, for the number grammar; any other is U+0020."""

_QUOTES = {0x2018: "'", 0x2019: "'", 0x02BC: "'", 0x201C: '"', 0x201D: '"', 0x00AB: '"', 0x00BB: '"', 0x201E: '"'}


def _base(character: str) -> str:
    lower = character.lower()
    first = unicodedata.normalize("NFD", lower)[0] if lower else character
    return first if len(lower) == 1 else character


_TABLE = {code: _base(chr(code)) for code in (*range(0x41, 0x5B), *range(0xC0, 0x250))} | _QUOTES
_TABLE[0x2032] = "'"


def fold(text: str) -> str:
    """Return the copy for matching; as many code points as `text`."""
    return text.translate(_TABLE)
