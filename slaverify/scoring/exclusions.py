"""Where numbers are not answers: citations, dates, times, list markers, page numbers, identifiers, addresses.

Each pattern is linear: no quantifier stands inside another but for bounded ones.

Source: docs/spec/scoring.md section 7 (candidate slots) and section 8 (citation).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from slaverify.scoring.number_words import all_number_words
from slaverify.scoring.passage import Passage
from slaverify.scoring.result import Span
from slaverify.scoring.units import NAMES_PATTERN

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "enero|ene|january|jan",
            "febrero|feb|february",
            "marzo|mar|march",
            "abril|abr|april|apr",
            "mayo|may",
            "junio|jun|june",
            "julio|jul|july",
            "agosto|ago|august|aug",
            "septiembre|setiembre|sept|sep|september",
            "octubre|oct|october",
            "noviembre|nov|november",
            "diciembre|dic|december|dec",
        ),
        1,
    )
    for name in names.split("|")
}
_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_WORDS = "(?:" + "|".join(sorted(all_number_words(), key=len, reverse=True)) + r")\b"
_SUFFIX = r"(?:\s?(?:bis|ter|quater|quinquies|sexies|septies|octies|nonies)\b)?"
_ORDINAL = r"(?:\s?\.?\s?[º°ª]|\.?(?:er|ro|ra|do|da|to|ta|o|a)\b)?"
_FIGURE = rf"(?:[0-9]+(?:[.,/\u202f][0-9]+)*(?:-[0-9a-z]{{1,6}}\b)?{_ORDINAL}{_SUFFIX})"
_ROMAN = r"(?:[ivxlcdm]{1,8}\b)"
_NUMBERISH = rf"(?:{_FIGURE}|{_ROMAN}|{_WORDS}(?:\s(?:y\s)?{_WORDS}){{0,3}})"
_MARK = r"(?:n(?:\.?\s?[º°]\.?|ro\.?|um\.?|umeros?|\.)?\s?)?"
_SINGLE = (
    r"(?:articulo|art\.?|ley|decretos?(?:\s(?:supremo|ley|exento|con\sfuerza\sde\sley))?|d\.?\s?s\.?|d\.?f\.?l\.?|d\.?l\.?"
    r"|resolucion(?:\sexenta)?|res\.|ncg|norma\sde\scaracter\sgeneral|circular|oficio|dictamen|rol|inciso|inc\."
    r"|numeral|literal|letra|titulo|capitulo|cap\.|parrafo|seccion|anexo|apendice|pagina|pag\.?|p\.|folio|fojas"
    r"|considerando|clausula|article|section|sec\.|chapter|paragraph|para\.|clause|page|annex|schedule|appendix)"
)
_PLURAL = (
    r"(?:articulos|arts\.?|leyes|incisos|numerales|literales|letras|titulos|capitulos|parrafos|secciones|anexos"
    r"|paginas|pags\.?|pp\.|circulares|articles|sections|chapters|paragraphs|clauses|pages|annexes|§§)"
)
# a number before its own noun or sign is not one more article: "artículos 45 y 46, 15 días"
_NO_NOUN = r"(?!\s?(?:%|‰|\$|[a-z]{2,}(?<!\sbis)(?<!\sy)(?<!\sdel)(?<!\sde)))"
_MORE = rf"(?:\s?(?:,|y|e|o|u|and|or|a|al|to|through|-|–)\s?{_FIGURE}\b{_NO_NOUN})"
_YEAR_OF = r"(?:,?\s(?:de|del|of)\s(?:ano\s)?(?:19|20)[0-9]{2}\b(?!\.?[0-9]))?"

_CITATION = re.compile(
    rf"(?<![a-z0-9])(?:{_PLURAL}\s?{_MARK}{_NUMBERISH}{_MORE}{{0,40}}|{_SINGLE}\s?{_MARK}{_NUMBERISH}{_YEAR_OF}"
    rf"(?:\sy\s{_FIGURE}\b{_NO_NOUN})?|§\s?{_FIGURE})"
)
_NUMBERED = re.compile(rf"(?<![a-z0-9])(?:n\s?\.?\s?[º°]\s?\.?|nro\.?|num\.|no\.(?=\s?[0-9])|#)\s?{_FIGURE}")
_BRACKETED = re.compile(r"\[[0-9]{1,3}(?:\s?[,;–-]\s?[0-9]{1,3}){0,20}\]")
_IDENTIFIER = re.compile(
    r"(?<![0-9.])[0-9]{1,2}\.?[0-9]{3}\.?[0-9]{3}-[0-9k]\b|https?://\S{1,2000}|\S{1,64}@\S{1,255}"
    r"|(?<![0-9])\+[0-9][0-9() -]{6,16}[0-9]|\b[0-9]{3}[ -][0-9]{3}[ -][0-9]{4}\b"
)
_DATE = re.compile(
    rf"(?<![0-9])(?:[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}(?![0-9])"
    rf"|[0-9]{{1,2}}([/.-])[0-9]{{1,2}}\1(?:[0-9]{{4}}|[0-9]{{2}})(?![0-9])"
    rf"|[0-9]{{1,2}}(?:\s?[º°]|er|o)?\s(?:de\s)?{_MONTH}(?:,?\s(?:de\s|del\s)?(?:ano\s)?[0-9]{{4}}\b)?)"
    rf"|\b{_MONTH}\s(?:de\s|del\s)?(?:ano\s)?[0-9]{{4}}\b"
    rf"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\s[0-9]{{1,2}}"
    rf"(?:st|nd|rd|th)?(?:,?\s[0-9]{{4}})?\b"
    rf"|\b{_WORDS}(?:\sy\s{_WORDS})?\sde\s{_MONTH}(?:\s(?:de|del)\s(?:ano\s)?[0-9]{{4}}\b)?"
    rf"|\b(?:ano|anos|year)\s[0-9]{{4}}\b"
)
_TIME = re.compile(
    r"(?<![0-9.:])[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?![0-9:])(?:\s?(?:hrs?|horas|h|am|pm|a\.m\.|p\.m\.)(?![a-z]))?"
    r"|\ba\slas\s[0-9]{1,2}(?:[.:][0-9]{2})?(?:\s(?:hrs?|horas|h)\b)?"
)
_YEAR = re.compile(
    r"\b(?:en|desde|hasta|in|since|until|de|del|of)\s((?:19|20)[0-9]{2})"
    rf"(?![0-9%‰]|[.,][0-9]|\s?(?:de\s)?{NAMES_PATTERN})"
)
_DIGIT = re.compile("[0-9]")
_MARKER = re.compile(r"^[ ]*(?:\(?([0-9]{1,2})[.)\]]|\(([0-9]{1,2})\))[ ]+(?=\S)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Spans in which a number is no candidate (`strong`), or none if there is another one (`weak`)."""

    strong: tuple[Span, ...]
    weak: tuple[Span, ...]
    citations: tuple[Span, ...]
    dates: tuple[Span, ...]


@lru_cache(maxsize=4)
def exclusions(passage: Passage) -> Exclusions:
    """Return the spans of `passage` in which numbers are not answers."""
    folded = passage.folded
    dates = _all(_DATE, folded)
    citations = _all(_CITATION, folded)
    if _DIGIT.search(folded) is None and "://" not in folded and "@" not in folded:
        return Exclusions(_merged(citations + dates), (), _merged(citations), _merged(dates))
    citations += _all(_NUMBERED, folded) + _all(_BRACKETED, folded)
    strong = citations + dates + _all(_TIME, folded) + _all(_IDENTIFIER, folded)
    weak = [Span(*match.span(1)) for match in _YEAR.finditer(folded)]
    markers = list(_MARKER.finditer(folded))
    numbered = [int(match.group(1) or match.group(2)) for match in markers]
    in_order = len(markers) >= 2 and numbered == list(range(numbered[0], numbered[0] + len(numbered)))
    (strong if in_order else weak).extend(Span(*match.span()) for match in markers)
    return Exclusions(_merged(strong), _merged(weak), _merged(citations), _merged(dates))


def inside(span: Span, others: tuple[Span, ...]) -> bool:
    """Tell whether `span` overlaps one of `others`, which are in order and apart from each other."""
    at = bisect_right(others, span.start, key=lambda other: other.start) - 1
    return (at >= 0 and span.start < others[at].end) or (at + 1 < len(others) and others[at + 1].start < span.end)


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    out: list[Span] = []
    for span in sorted(spans):
        if out and span.start < out[-1].end:
            out[-1] = Span(out[-1].start, max(out[-1].end, span.end))
        else:
            out.append(span)
    return tuple(out)


def _all(pattern: re.Pattern[str], folded: str) -> list[Span]:
    return [Span(*match.span()) for match in pattern.finditer(folded)]
