"""A text with its sentences and clauses, so that a value can be read where it stands.

A sentence ends at a full stop, a question or exclamation mark, a semicolon or a line end; the stop of an
abbreviation or between digits does not count. A clause ends there too, at a colon, and before a word that turns
(`pero`, `sino`, `but`…).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from slaverify.scoring.data import word_list
from slaverify.scoring.folding import fold
from slaverify.scoring.result import Span

_END = re.compile(r"\n+|[!?;…]+|\.+(?=[\s\"')\]]|$)|\.(?=[¿¡])")
_GLUED_END = re.compile(r"(?<=[^\W\d_]{3})\.(?=[A-ZÁÉÍÓÚÑ][^\W\d_])|(?<=[0-9])\.(?=[A-ZÁÉÍÓÚÑ][a-záéíóúñ])")
_ABBREVIATIONS = word_list("text.json", "abbreviations")
_TITLES = word_list("text.json", "titles")
_WORD_BEFORE = re.compile(r"[a-z]{1,7}$")
_TURN = re.compile(
    r"(?:,\s*|\s)(?=(?:pero|sino|aunque|si bien|sin embargo|no obstante lo anterior"
    r"|mientras que|en cambio|but|however|although"
    r"|though|whereas|yet)\b)|:(?=\s)|\s[—–-](?=\s)|—"
)


@dataclass(frozen=True)
class Passage:
    """A text, its copy for matching, and the boundaries of its sentences and clauses."""

    text: str

    @cached_property
    def folded(self) -> str:
        """The copy for matching (see `folding`)."""
        return fold(self.text)

    @cached_property
    def sentences(self) -> tuple[Span, ...]:
        """The sentences that have a letter or digit, in order, with their end marks."""
        return _spans(self.text, self._sentence_ends)

    @cached_property
    def clauses(self) -> tuple[Span, ...]:
        """The clauses, in order."""
        turns = {match.end() for match in _TURN.finditer(self.folded)}
        return _spans(self.text, sorted(turns.union(self._sentence_ends)))

    @cached_property
    def _sentence_ends(self) -> list[int]:
        ends = {match.end() for match in _GLUED_END.finditer(self.text)}
        folded = self.folded
        for match in _END.finditer(folded):
            if match.group() != "." or not _abbreviates(folded, match.start()):
                ends.add(match.end())
        return sorted(ends)

    @cached_property
    def _sentence_starts(self) -> list[int]:
        return [span.start for span in self.sentences]

    @cached_property
    def _clause_starts(self) -> list[int]:
        return [span.start for span in self.clauses]

    def clause_at(self, position: int) -> Span:
        """Return the clause that holds `position`."""
        if not self.clauses:
            return Span(0, len(self.text))
        return self.clauses[max(bisect_right(self._clause_starts, position) - 1, 0)]

    def sentence_at(self, position: int) -> Span:
        """Return the sentence that holds `position`."""
        if not self.sentences:
            return Span(0, len(self.text))
        return self.sentences[max(bisect_right(self._sentence_starts, position) - 1, 0)]

    def in_question(self, position: int) -> bool:
        """Tell whether the sentence that holds `position` is a question."""
        span = self.sentence_at(position)
        return self.text[max(span.start, span.end - 8) : span.end].rstrip(" \n\"')”»").endswith("?")


def _abbreviates(folded: str, stop: int) -> bool:
    word = _WORD_BEFORE.search(folded, max(stop - 8, 0), stop)
    if word is None:
        return False
    following = folded[stop + 1 : stop + 3].lstrip()[:1]
    if word.group() in _TITLES:
        return True
    if len(word.group()) == 1 and stop >= 2 and folded[stop - 2] == ".":
        return following.isdigit() or following.islower()
    return word.group() in _ABBREVIATIONS and (following.isdigit() or following in "ºn°")


def _spans(text: str, ends: list[int]) -> tuple[Span, ...]:
    out: list[Span] = []
    start = 0
    for end in [*ends, len(text)]:
        if end > start:
            if any(character.isalnum() for character in text[start:end]):
                out.append(Span(start, end))
            elif out:
                out[-1] = Span(out[-1].start, end)
            start = end
    return tuple(out)
