"""The date grammar: ISO, numeric in the order of the locale, long forms in Spanish and English, month and year, year.

An impossible date is one that no calendar has: it is never rolled over to another day. Two-digit years turn at the
pivot. Relative dates (`mañana`, `dentro de diez días`) have no value.

Source: docs/spec/scoring.md section 8 (date).
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass

from slaverify.scoring.exclusions import MONTHS
from slaverify.scoring.number_words import vocabulary
from slaverify.scoring.result import Span

_MONTH = "(?P<month>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:,?\s(?:de\s|del\s|of\s)?(?:ano\s)?(?P<year>[0-9]{4})\b)"
_ISO = re.compile(r"(?<![0-9])(?P<year>[0-9]{4})-(?P<m>[0-9]{1,2})-(?P<d>[0-9]{1,2})(?![0-9])")
_ISO_MONTH = re.compile(r"(?<![0-9-])(?P<year>[0-9]{4})-(?P<m>[0-9]{2})(?![0-9-])")
_NUMERIC = re.compile(r"(?<![0-9])(?P<a>[0-9]{1,2})([/.-])(?P<b>[0-9]{1,2})\2(?P<year>[0-9]{4}|[0-9]{2})(?![0-9])")
_YEAR_FIRST = re.compile(r"(?<![0-9])(?P<year>[0-9]{4})([/.])(?P<m>[0-9]{1,2})\2(?P<d>[0-9]{1,2})(?![0-9])")
_LONG = re.compile(
    rf"(?<![0-9])(?P<d>[0-9]{{1,2}})(?:\s?[º°]|\.?(?:er|ero|o|st|nd|rd|th)\b)?\s(?:de\s|of\s)?{_MONTH}{_YEAR}?"
)
_MON = "|".join(sorted(MONTHS, key=len, reverse=True))
_HYPHENATED = re.compile(rf"(?<![0-9])(?P<d>[0-9]{{1,2}})([/-])(?P<month>{_MON})\2(?P<year>[0-9]{{4}})(?![0-9])")
_WORDED = re.compile(rf"\b(?P<w>[a-z]{{3,12}}(?:\sy\s[a-z]{{3,6}})?)\sde\s{_MONTH}{_YEAR}?")
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?\b(?!\s?[:/.-][0-9]){_YEAR}?")
_MONTH_YEAR = re.compile(rf"\b{_MONTH}{_YEAR}")
_BARE_YEAR = re.compile(r"(?<![0-9.,/-])(?P<year>(?:1[89]|20)[0-9]{2})(?![0-9/-]|[.,][0-9])")
_RELATIVE = re.compile(
    r"\b(?:hoy|manana|ayer|pasado\smanana|(?:el\s)?(?:proximo|siguiente)\s(?:lunes|martes|miercoles|jueves|viernes|sabado"
    r"|domingo|mes|ano|dia)|(?:la\s)?(?:proxima|siguiente)\ssemana|dentro\sde|a\scontar\sde|contados?\sdesde|despues\sde"
    r"|today|tomorrow|yesterday|next\s(?:week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    r"|within|after)\b"
)
_MONTH_FIRST_LOCALES = frozenset({"en-US", "en", "es-PR", "es-PA"})


@dataclass(frozen=True, slots=True)
class Dated:
    """A date as written. `iso` is `YYYY`, `YYYY-MM`, `YYYY-MM-DD` or `--MM-DD`; null: no such day."""

    span: Span
    iso: str | None


def order_of(locale: str | None) -> str | None:
    """Return `dmy`, `mdy` or, without a locale, null."""
    if locale is None:
        return None
    return "mdy" if locale in _MONTH_FIRST_LOCALES else "dmy"


def find_dates(folded: str, order: str | None, pivot: int, locale: str | None) -> list[Dated]:
    """Return every date in `folded`, in order; a numeric one of unknown order is left out if both orders are days."""
    found: list[Dated] = []
    for pattern in (
        _ISO,
        _YEAR_FIRST,
        _NUMERIC,
        _HYPHENATED,
        _LONG,
        _WORDED,
        _MONTH_FIRST,
        _MONTH_YEAR,
        _ISO_MONTH,
        _BARE_YEAR,
    ):
        for match in pattern.finditer(folded):
            span = Span(*match.span())
            if any(span.start < other.span.end and other.span.start < span.end for other in found):
                continue
            dated = _read(pattern, match, order, pivot, locale)
            if dated is not None:
                found.append(Dated(span, dated if dated != "" else None))
    return sorted(found, key=lambda one: one.span)


def relative(folded: str) -> bool:
    """Tell whether the text dates something by another moment."""
    return _RELATIVE.search(folded) is not None


def _read(
    pattern: re.Pattern[str], match: re.Match[str], order: str | None, pivot: int, locale: str | None
) -> str | None:
    if pattern is _BARE_YEAR:
        return match.group("year")
    if pattern is _MONTH_YEAR:
        return f"{match.group('year')}-{MONTHS[match.group('month')]:02}"
    if pattern is _ISO_MONTH:
        month = int(match.group("m"))
        return f"{match.group('year')}-{month:02}" if 1 <= month <= 12 else ""
    if pattern is _NUMERIC:
        return _numeric(match, order, pivot)
    if pattern in (_ISO, _YEAR_FIRST):
        return _day(match.group("year"), int(match.group("m")), int(match.group("d")))
    day = _worded(match.group("w"), locale) if pattern is _WORDED else int(match.group("d"))
    if day is None:
        return None
    return _day(match.group("year"), MONTHS[match.group("month")], day)


def _worded(word: str, locale: str | None) -> int | None:
    words = vocabulary(locale or "es")
    if words is None:
        return None
    first, _, second = word.partition(" y ")
    if second:
        return words.tens[first] + words.small[second] if first in words.tens and second in words.small else None
    if first in words.tens:
        return words.tens[first]
    return words.small.get(first) or (1 if first in ("primero", "primer") else None)


def _numeric(match: re.Match[str], order: str | None, pivot: int) -> str | None:
    first, second, year = int(match.group("a")), int(match.group("b")), match.group("year")
    if len(year) == 2:
        year = f"{'19' if int(year) >= pivot else '20'}{year}"
    if order is None:
        readings = {iso for iso in (_day(year, second, first), _day(year, first, second)) if iso}
        return readings.pop() if len(readings) == 1 else None
    day, month = (second, first) if order == "mdy" else (first, second)
    return _day(year, month, day)


def _day(year: str | None, month: int, day: int) -> str:
    # an empty text stands for a day that does not exist; without a year, a leap year is assumed
    try:
        datetime.date(int(year or "2000"), month, day)
    except ValueError:
        return ""
    return f"{year or '-'}-{month:02}-{day:02}"
