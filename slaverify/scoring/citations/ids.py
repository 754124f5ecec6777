"""Canonical ids of norms and their parts: `cl:ley:19886:art:12-bis:par:2:let:b`; `?` for a norm that is not named.

Parts: `tit`, `cap` (title, chapter), `art` (article, with its suffix; `-trans` for a transitory one), `da` (additional
provision), `par` (paragraph, *inciso*), `num` (numeral), `let` (letter).

Source: docs/spec/citations.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum, auto

UNKNOWN_NORM = "?"

_PART_ORDER = ("tit", "cap", "art", "da", "par", "num", "let")
_WHOLE = ("tit", "cap", "art", "da")
"""Parts that `article` compares; deeper ones need `paragraph` or `letter`."""

_DEEPEST = {"norm": (), "article": _WHOLE, "paragraph": (*_WHOLE, "par"), "letter": _PART_ORDER}
_ID = re.compile(r"[a-z0-9?][a-z0-9.-]*(?::[a-z0-9.-]+)*")
_MAX = 256
_YEARLESS = re.compile(r"(?P<base>[a-z]{2}:[a-z]+:[0-9]+)-(?P<year>[0-9]{4})")


class Fit(Enum):
    """How a citation compares with another one; `OPEN`: the norm is not told; `LESS`: less precise than asked."""

    EQUAL = auto()
    OPEN = auto()
    LESS = auto()
    OTHER_NORM = auto()
    OTHER_ARTICLE = auto()
    OTHER_SUFFIX = auto()
    OTHER_PART = auto()


@dataclass(frozen=True, slots=True)
class CitationId:
    """A norm and the parts of it that a citation names, in canonical order."""

    norm: str = UNKNOWN_NORM
    parts: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Return the canonical text."""
        return ":".join((self.norm, *(piece for part in self.parts for piece in part)))

    def part(self, kind: str) -> str | None:
        """Return the value of one part, null if the citation does not name it."""
        return next((value for name, value in self.parts if name == kind), None)

    def of(self, norm: str) -> CitationId:
        """Return the same parts of `norm`."""
        return replace(self, norm=norm)

    def plus(self, kind: str, value: str) -> CitationId:
        """Return the citation with one more part, or another value of it."""
        kept = {**dict(self.parts), kind: value}
        return replace(self, parts=tuple((name, kept[name]) for name in _PART_ORDER if name in kept))

    def down_to(self, granularity: str) -> CitationId:
        """Return the citation without the parts below `granularity`."""
        kept = _DEEPEST[granularity]
        return replace(self, parts=tuple(part for part in self.parts if part[0] in kept))


def parse_id(text: str) -> CitationId | None:
    """Return the citation that a canonical id means, null if it is none."""
    if len(text) > _MAX or not _ID.fullmatch(text):
        return None
    pieces = text.split(":")
    at = next((index for index, piece in enumerate(pieces) if index and piece in _PART_ORDER), len(pieces))
    tail = pieces[at:]
    if len(tail) % 2 or any(kind not in _PART_ORDER for kind in tail[::2]) or len(set(tail[::2])) != len(tail) // 2:
        return None
    norm = ":".join(pieces[:at])
    if norm != UNKNOWN_NORM and at < 2:
        return None
    found = CitationId(norm)
    for kind, value in zip(tail[::2], tail[1::2], strict=True):
        found = found.plus(kind, value)
    return found


def norm_fit(found: str, wanted: str) -> Fit:
    """Compare two norms. One that leaves out the year of a decree, or is not named, leaves the answer open."""
    if found == wanted:
        return Fit.EQUAL
    if UNKNOWN_NORM in (found, wanted):
        return Fit.OPEN
    for short, long in ((found, wanted), (wanted, found)):
        match = _YEARLESS.fullmatch(long)
        if match is not None and match.group("base") == short:
            return Fit.OPEN
    return Fit.OTHER_NORM


def compare(found: CitationId, wanted: CitationId, granularity: str) -> Fit:
    """Compare a citation with the expected one at `granularity`.

    A part that `wanted` does not name is not compared. A wanted norm that nobody named fits any.
    """
    norm = Fit.EQUAL if wanted.norm == UNKNOWN_NORM else norm_fit(found.norm, wanted.norm)
    if norm is Fit.OTHER_NORM:
        return norm
    kinds = _DEEPEST[granularity]
    less = False
    for kind, value in wanted.parts:
        own = found.part(kind)
        if kind not in kinds or own == value:
            continue
        if own is not None:
            return _other(kind, own, value)
        if kind in _WHOLE and found.parts and not _nested(kind, found):
            return Fit.OTHER_ARTICLE
        less = True
    if _more(found, wanted, kinds):
        return Fit.OTHER_ARTICLE
    return Fit.LESS if less else norm


def _nested(kind: str, found: CitationId) -> bool:
    # "inciso segundo" alone says nothing of its article; "artículo 5" says nothing of its title
    return (kind in ("art", "da") and all(name in ("par", "num", "let") for name, _ in found.parts)) or (
        kind in ("tit", "cap") and found.part("art") is not None
    )


def _more(found: CitationId, wanted: CitationId, kinds: tuple[str, ...]) -> bool:
    # wanted: a whole title; found: an article of it, or a chapter
    named = {kind for kind, _ in wanted.parts}
    return bool(named) and any(
        kind in kinds and kind in ("art", "da", "cap") for kind, _ in found.parts if kind not in named
    )


def _other(kind: str, own: str, value: str) -> Fit:
    if kind not in _WHOLE:
        return Fit.OTHER_PART
    return Fit.OTHER_SUFFIX if own.partition("-")[0] == value.partition("-")[0] else Fit.OTHER_ARTICLE
