"""Make each character of a foreign text visible, or say which one it was.

A name, an answer or a reply may hold characters that no face of the report draws, or that change how the rest
is read: controls, bidirectional overrides, zero-width joiners. Each is printed as its code, `[U+202E]`.
"""

from __future__ import annotations

import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Mn", "Me"}
"""General categories that are never drawn as such: a mark that no letter took up in NFC can pile up.

Source: Unicode Standard, section 4.5.
"""


class Visible:
    """Print foreign texts with the characters of `drawable`; remember whether any was replaced."""

    def __init__(self, drawable: frozenset[int]) -> None:
        self._drawable = drawable
        self.altered = False

    def text(self, raw: str) -> str:
        """Return `raw` composed (NFC) and in one line, each invisible or undrawable character as `[U+XXXX]`."""
        return "".join(self._character(character) for character in unicodedata.normalize("NFC", raw))

    def _character(self, character: str) -> str:
        if character in "\n\t ":
            return " "
        category = unicodedata.category(character)
        if category == "Zs":
            # One kind of space: a row of odd ones can hide a gap or align a forged column.
            return " "
        if category not in _HIDDEN and ord(character) in self._drawable:
            return character
        self.altered = True
        return f"[U+{ord(character):04X}]"
