"""The citation grammar `cl.norm@1`: from a text to the norms and articles that it cites, each with its canonical id.

1 pieces (`units`). 2 A subdivision joins the article that follows it after `de`, else the last article. 3 An article
takes the norm that follows after `de` or a comma, or that a list shares with it, or that stands right before it; an
anaphora (`dicha ley`, `el mismo cuerpo legal`, `dicho artículo`) stands for the last one of its kind; else the last
norm that the text named. 4 Without any, the norm is `?`; `in_context` fills it in.

Source: docs/spec/citations.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from slaverify.scoring.citations.ids import UNKNOWN_NORM, CitationId
from slaverify.scoring.citations.norms import Names
from slaverify.scoring.citations.units import MOST, Kind, Ref, Unit, bare_articles, units
from slaverify.scoring.folding import fold
from slaverify.scoring.result import Span

NAME = "cl.norm@1"


@dataclass(frozen=True, slots=True)
class Mention:
    """One citation of a text. `last`: the end of a range that begins with `id`; `open_to_context`: neither the text
    nor an anaphora names its norm, and nothing says that it is another one."""

    span: Span
    id: CitationId
    last: CitationId | None = None
    open_to_context: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """What a text cites, and how many words for a citation nobody can read (`artículo ４x`)."""

    mentions: tuple[Mention, ...]
    unread: int = 0


_S = r"\s{0,4}"
_OF = re.compile(
    rf"{_S},?{_S}(?:(?:contenid|previst|establecid|senalad|dispuest|contemplad|consagrad)[oa]s?\s{{1,4}})?"
    r"(?:(?:de|del|en|of)\s{1,4})(?:(?:el|la|los|las|the|nuestr[oa]|actual|citad[oa]|referid[oa]|vigente)\s{1,4}){0,2}"
)
_IS_OF = re.compile(r"(?:de\s{1,4}la|del)\s")
_BESIDE = re.compile(rf"{_S}[,:(\[–—-]?{_S}")
_BEFORE = re.compile(rf"{_S}[,:(\[–—-]?{_S}(?:(?:en\s)?(?:sus?|los?|el)\s{{1,4}}|en\s(?:el|los)\s{{1,4}})?")
_LIST = re.compile(
    rf"{_S}[,;]?{_S}(?:(?:y|e|o|u|ni|asi\scomo|como\sen|como|tambien|ademas\sdel?)\s{{1,4}})?(?:(?:del?|al?|en|el|los|la|con)\s{{1,4}}){{0,2}}"
)
_ALSO = re.compile(rf"{_S},?{_S}(?:en\s)?(?:sus?\s{{1,4}})?")
_BARE = re.compile(
    r"\W{0,4}(?:(?:es|son|seria|corresponde|se\strata|en|al?|del?|el|la|los|las|numero|nro\.?|n[°º]\.?)\s{0,4}){0,5}(?=[0-9a-z])"
)
_REST = re.compile(rf"{_S}(?:[.!]?{_S}$|,?\s{{1,4}}(?:de\s{{1,4}}la|del)\s)")


@lru_cache(maxsize=2048)
def read_citations(text: str, known: Names) -> Read:
    """Return what `text`, a clean copy, cites; norms that nobody names are `?`."""
    ready = _ascii_forms(text)
    found = list(units(ready, fold(ready), known))
    folded = fold(ready)
    unread = sum(unit.kind is Kind.UNREAD for unit in found)
    pieces = [unit for unit in found if unit.kind is not Kind.UNREAD]
    return Read(tuple(_Linked(folded, _joined(folded, pieces)).mentions()), unread)


def read_bare(text: str, known: Names) -> tuple[Mention, ...]:
    """Return the articles of an answer that consists of their numbers alone, such as `El 12 bis de la Ley 19.886.`."""
    ready = _ascii_forms(text)
    folded = fold(ready)
    lead = _BARE.match(folded)
    if lead is None:
        return ()
    refs, end = bare_articles(ready, folded, lead.end())
    if not refs or not _REST.match(folded, end):
        return ()
    article = Unit(Kind.ARTICLE, Span(lead.end(), end), refs=tuple(refs))
    after = [unit for unit in units(ready, folded, known) if unit.span.start >= end and unit.kind is Kind.NORM]
    return tuple(_Linked(folded, [article, *after[:1]]).mentions())


def in_context(mentions: Iterable[Mention], norm: str | None) -> tuple[Mention, ...]:
    """Return the mentions, those without a norm as parts of `norm`."""
    if norm is None:
        return tuple(mentions)
    return tuple(
        replace(one, id=one.id.of(norm), last=None if one.last is None else one.last.of(norm))
        if one.open_to_context
        else one
        for one in mentions
    )


def last_norm(read: Read) -> str | None:
    """Return the norm that a text names last, null if it names none."""
    named = [one.id.norm for one in read.mentions if one.id.norm != UNKNOWN_NORM]
    return named[-1] if named else None


def _ascii_forms(text: str) -> str:
    # full-width letters and digits are the same letters and digits (NFKC); other digits are no digits of an id
    return text if text.isascii() else text.translate(_FULL_WIDTH)


_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x202F: "."}


def _joined(folded: str, pieces: Sequence[Unit]) -> list[Unit]:
    """Give each subdivision to its article: the one after it behind `de`, else the last one before it."""
    out: list[Unit] = []  # from the last piece to the first
    for unit in reversed(pieces):
        if unit.kind is Kind.SUB and out and _of(folded, unit, out[-1]):
            following = out[-1]
            if following.kind in (Kind.ARTICLE, Kind.SUB, Kind.SAME_ARTICLE):
                span = Span(unit.span.start, following.span.end)
                refs = _crossed(unit.refs, following.refs) if following.refs else unit.refs
                out[-1] = Unit(following.kind, span, refs=refs[:MOST], sure=following.sure)
                continue
        out.append(unit)
    return out[::-1]


def _crossed(inner: Sequence[Ref], outer: Sequence[Ref]) -> tuple[Ref, ...]:
    out: list[Ref] = []
    for place, ref in enumerate(outer):
        if place:
            out.append(ref)  # "inciso segundo del artículo 5 y el artículo 6": only the first one has it
            continue
        for part in inner:
            found = ref.id
            for kind, value in part.id.parts:
                found = found.plus(kind, value)
            out.append(Ref(Span(part.span.start, ref.span.end), found))
    return tuple(out)


def _of(folded: str, left: Unit, right: Unit) -> bool:
    between = folded[left.span.end : right.span.start]
    if right.kind is Kind.SAME_NORM and not right.sure:
        return between.strip(" ,") == "" and bool(_IS_OF.match(folded, right.span.start))
    return _OF.fullmatch(between) is not None


_Norm: TypeAlias = tuple[str | None, bool]
"""A norm, null if nothing names it, and whether the context may name it."""


class _Linked:
    """Pieces with their norms. One pass forward for what was named before, one back for lists that share a norm."""

    def __init__(self, folded: str, pieces: Sequence[Unit]) -> None:
        self.folded, self.pieces = folded, pieces
        self.taken: set[int] = set()
        self.before: list[str | None] = []
        self.same: dict[int, _Norm] = {}
        self.ahead: dict[int, _Norm | None] = {}
        named: list[str] = []
        for index, unit in enumerate(pieces):
            self.before.append(named[-1] if named else None)
            named += unit.norms
            if unit.kind is Kind.SAME_NORM:
                self.same[index] = _meant(unit, named)
        for index in reversed(range(len(pieces))):
            if pieces[index].kind in (Kind.ARTICLE, Kind.DIVISION):
                self.ahead[index] = self._ahead(index)

    def mentions(self) -> Iterable[Mention]:
        article: CitationId | None = None
        for index, unit in enumerate(self.pieces):
            if unit.kind is Kind.NORM and index not in self.taken:
                yield from (Mention(unit.span, CitationId(norm)) for norm in unit.norms)
            elif unit.kind in (Kind.ARTICLE, Kind.DIVISION):
                norm, context = self._norm_of(index)
                for ref in unit.refs:
                    found = ref.id.of(norm or UNKNOWN_NORM)
                    last = None if ref.last is None else ref.last.of(norm or UNKNOWN_NORM)
                    yield Mention(ref.span, found, last, context)
                    article = found if unit.kind is Kind.ARTICLE else article
            elif unit.kind in (Kind.SUB, Kind.SAME_ARTICLE) and unit.refs:
                yield from self._parts(index, unit, article)

    def _parts(self, index: int, unit: Unit, article: CitationId | None) -> Iterable[Mention]:
        beside = index > 0 and _ALSO.fullmatch(self._between(index - 1))
        for ref in unit.refs:
            if article is None:
                yield Mention(ref.span, ref.id, open_to_context=True)
            elif unit.kind is Kind.SAME_ARTICLE or beside or ref.id.part("num") is None:
                found = article
                for kind, value in ref.id.parts:
                    found = found.plus(kind, value)
                yield Mention(ref.span, found, open_to_context=article.norm == UNKNOWN_NORM)

    def _between(self, index: int) -> str:
        return self.folded[self.pieces[index].span.end : self.pieces[index + 1].span.start]

    def _norm_of(self, index: int) -> _Norm:
        """Return the norm of a piece, null if nothing names it, and whether the context may name it."""
        ahead, before = self.ahead[index], self.before[index]
        if ahead is not None:
            return ahead
        return (before, False) if before is not None else (None, True)

    def _ahead(self, index: int) -> _Norm | None:
        unit = self.pieces[index]
        following = self.pieces[index + 1] if index + 1 < len(self.pieces) else None
        if following is not None and _of(self.folded, unit, following):
            if following.kind is Kind.NORM:
                return self._take(index + 1, 0)
            if following.kind is Kind.SAME_NORM:
                return self.same[index + 1]
            if following.kind in (Kind.DIVISION, Kind.ARTICLE):
                return self._norm_of(index + 1)
        if index and self.pieces[index - 1].kind is Kind.NORM and _BEFORE.fullmatch(self._between(index - 1)):
            return self._take(index - 1, -1)
        if following is None:
            return None
        between = self._between(index)
        if following.kind is Kind.NORM and _BESIDE.fullmatch(between):
            return self._take(index + 1, 0)
        if following.kind is Kind.SAME_NORM and following.sure and _BESIDE.fullmatch(between):
            return self.same[index + 1]
        return self.ahead[index + 1] if following.kind is unit.kind and _LIST.fullmatch(between) else None

    def _take(self, index: int, which: int) -> _Norm:
        # a norm that an article is part of is no citation of its own
        self.taken.add(index)
        return self.pieces[index].norms[which], False


def _meant(unit: Unit, named: Sequence[str]) -> _Norm:
    """Return the norm that an anaphora stands for: the last one of its type; a sure one, the last one of any."""
    recent = named[-_RECENT:]
    if unit.noun in _PLACES:
        return (named[_PLACES[unit.noun]], False) if len(named) >= 2 else (None, not named)
    fitting = [norm for norm in recent if _is_a(norm, unit.noun)]
    if fitting:
        return fitting[-1], False
    if unit.sure and named:
        return named[-1], False
    # "artículo 5 del reglamento": the context may say which one, unless the text speaks of other norms
    return None, not named


_RECENT = 50
"""Norms back to which an anaphora reaches."""

_PLACES = {"primer": 0, "segund": 1, "ultim": -1}
_TYPES = {
    "ley": ("ley", "lo"),
    "law": ("ley",),
    "act": ("ley",),
    "decreto": ("ds", "dl", "dfl", "dex", "rd"),
    "codigo": ("codigo",),
    "code": ("codigo",),
    "reglamento": ("reglamento", "ds", "rd"),
    "ordenanza": ("ordenanza",),
    "estatuto": ("estatuto",),
    "resolucion": ("res",),
    "circular": ("circular",),
    "constitucion": ("constitucion",),
    "carta": ("constitucion",),
    "dfl": ("dfl",),
    "ncg": ("ncg",),
}


def _is_a(norm: str, noun: str) -> bool:
    types = _TYPES.get(noun.split()[0]) if noun else None
    if types is None:
        return True  # "la misma norma", "dicho cuerpo legal"
    own = norm.split(":")[1] if ":" in norm else ""
    return any(own == one or own.startswith(one + "-") for one in types)
