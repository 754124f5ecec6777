"""Print numbers and dates for a country, so that the print never contradicts the number.

A bound is rounded outward, an estimate half to even, and digits are added until the print stands on the same
side of the threshold as the value: 94.96 % is not printed as 95.0 % beside a threshold of 95 %.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

from babel import Locale
from babel.dates import format_date
from babel.numbers import format_decimal

ROUNDINGS = {"near": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}
NBSP = "\N{NO-BREAK SPACE}"
_WIDE = Context(prec=60)
_MOST_DIGITS = 30


def locale_of(tag: str) -> Locale:
    """Return the Babel locale of a tag such as `es-CL`. Raises: ValueError for an unknown one."""
    return Locale.parse(tag, sep="-")


def settled(value: Decimal, rounding: str, digits: int, against: Decimal | None) -> Decimal:
    """Round `value` with at least `digits` decimals, and more where needed.

    Needed means: the rounded value would cross or touch `against` while the value does not, or would become 0
    while the value is not. `rounding` is a key of `ROUNDINGS`.
    """
    for places in range(digits, _MOST_DIGITS):
        rounded = value.quantize(Decimal(1).scaleb(-places), rounding=ROUNDINGS[rounding], context=_WIDE)
        if _side(rounded, Decimal(0)) != _side(value, Decimal(0)):
            continue
        if against is None or _side(rounded, against) == _side(value, against):
            return rounded
    raise ValueError("a number with more digits than any file of ours holds")


def _side(value: Decimal, against: Decimal) -> int:
    return (value > against) - (value < against)


def count(value: int, locale: Locale) -> str:
    """Print a count with the grouping of the country: 12.345."""
    return format_decimal(value, locale=locale)


def real(value: Decimal, digits: int, against: Decimal | None, locale: Locale, rounding: str = "near") -> str:
    """Print a real number with at least `digits` decimals; below 1 in 10,000 in size: `< 0,0001`.

    `rounding` is a key of `ROUNDINGS`, or `exact` for an agreed figure, printed as it stands.
    """
    if rounding == "exact":
        return _decimal(value.normalize(_WIDE), locale)
    least = Decimal("0.0001")
    if rounding == "near" and 0 < value < least and (against is None or against >= least):
        return f"<{NBSP}{_decimal(least, locale)}"
    return _decimal(settled(value, rounding, digits, against), locale)


def percentage(value: Decimal, rounding: str, against: Decimal | None, locale: Locale) -> str:
    """Print a share as a percentage with one decimal or more.

    `rounding` is a key of `ROUNDINGS`, or `exact` for an agreed figure (a threshold, a risk), printed as it stands.
    Raises: ValueError for a measured 0 or 1: "0 %" and "100 %" say more than was measured; the caller prints the
    count and the bound in words.
    """
    hundredfold = _WIDE.multiply(value, Decimal(100))
    if rounding == "exact":
        return _decimal(hundredfold.normalize(_WIDE), locale) + percent_sign(locale)
    if not 0 < hundredfold < 100:
        raise ValueError("a measured share of 0 or 1 is printed as a count with its bound")
    limit = None if against is None else _WIDE.multiply(against, Decimal(100))
    rounded = settled(hundredfold, rounding, 1, limit)
    while rounded >= 100:
        rounded = settled(hundredfold, rounding, -int(rounded.as_tuple().exponent) + 1, limit)
    return _decimal(rounded, locale) + percent_sign(locale)


def percent_sign(locale: Locale) -> str:
    """Return the sign with the space that the language wants: `91,3 %` in Spanish, `91.3%` in English."""
    return "%" if locale.language == "en" else f"{NBSP}%"


def _decimal(value: Decimal, locale: Locale) -> str:
    places = max(0, -int(value.as_tuple().exponent))
    pattern = "#,##0" + ("." + "0" * places if places else "")
    return format_decimal(value, format=pattern, locale=locale)


def moment(text: str) -> datetime:
    """Read an RFC 3339 time. Raises: ValueError for one without an offset."""
    read = datetime.fromisoformat(text)
    if read.tzinfo is None:
        raise ValueError("a time without an offset")
    return read.astimezone(UTC)


def day(text: str, locale: Locale) -> str:
    """Print the date of a time (UTC) or of an ISO date: 13 de agosto de 2026, 13 August 2026."""
    date = datetime.fromisoformat(text).date() if len(text) == len("2026-08-13") else moment(text).date()
    pattern = "d MMMM y" if locale.language == "en" else "long"
    return format_date(date, pattern, locale=locale)


def instant(text: str, locale: Locale) -> str:
    """Print a time in UTC to the second: 13 de agosto de 2026, 14:05:09 UTC."""
    return f"{day(text, locale)}, {clock(text)}{NBSP}UTC"


def clock(text: str) -> str:
    """Print the time of day in UTC: 14:05:09."""
    return f"{moment(text):%H:%M:%S}"
