"""Write a right answer as people write it: numbers, amounts and dates in the locale, in more than one notation.

Source: docs/spec/bank-check.md section 3.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

MONTHS = (
    ("enero", "january"),
    ("febrero", "february"),
    ("marzo", "march"),
    ("abril", "april"),
    ("mayo", "may"),
    ("junio", "june"),
    ("julio", "july"),
    ("agosto", "august"),
    ("septiembre", "september"),
    ("octubre", "october"),
    ("noviembre", "november"),
    ("diciembre", "december"),
)

UNITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "día": ("día",), "días": ("día",), "dias": ("día",), "day": ("día",), "days": ("día",),
        "hora": ("hora",), "horas": ("hora",), "hours": ("hora",), "minutos": ("minuto",), "minutes": ("minuto",),
        "mes": ("mes",), "meses": ("mes",), "months": ("mes",), "año": ("año",), "años": ("año",), "years": ("año",),
        "semanas": ("semana",), "weeks": ("semana",), "uf": ("UF",), "utm": ("UTM",), "uta": ("UTA",),
        "unidades de fomento": ("UF",), "unidades tributarias mensuales": ("UTM",),
        "unidades tributarias anuales": ("UTA",), "$": ("CLP", "MXN", "USD", "EUR"), "us$": ("USD",), "€": ("EUR",),
        "clp": ("CLP",), "pesos": ("CLP", "MXN"), "euros": ("EUR",), "dólares": ("USD",), "metros": ("metro",),
        "kilos": ("kilogramo",), "kilogramos": ("kilogramo",), "kg": ("kilogramo",), "personas": ("persona",),
        "nudos": ("nudo",), "centímetros": ("centímetro",), "litros": ("litro",), "toneladas": ("tonelada",),
        "kilómetros": ("kilómetro",), "km": ("kilómetro",), "millas": ("milla",),
    }
)  # fmt: skip
"""Word of a text → units that it may be; tried in order, and kept only if the rule agrees."""


@lru_cache(maxsize=64)
def decimal_signs(locale: str) -> tuple[str, str]:
    """Return the decimal and the group sign of a locale; those of Spanish (Chile) where it is unknown."""
    from babel import Locale, UnknownLocaleError
    from babel.numbers import get_decimal_symbol, get_group_symbol

    try:
        known = Locale.parse(locale, sep="-")
    except (UnknownLocaleError, ValueError):
        return ",", "."
    return get_decimal_symbol(known), get_group_symbol(known)


def number_text(value: str, locale: str | None, *, grouped: bool = True) -> str:
    """Return a decimal string as the locale writes it; without a locale, without any group sign."""
    sign, digits = ("-", value[1:]) if value.startswith("-") else ("", value)
    whole, _, fraction = digits.partition(".")
    point, group = decimal_signs(locale) if locale is not None else (".", "")
    if grouped and group and len(whole) > 4:
        head = len(whole) % 3
        parts = [whole[:head]] if head else []
        parts += [whole[at : at + 3] for at in range(head, len(whole), 3)]
        whole = group.join(parts)
    return sign + whole + (point + fraction if fraction else "")


def month_number(word: str) -> int:
    """Return 1 to 12 for the name of a month in Spanish or English, 0 for anything else."""
    folded = word.lower()
    return next((number for number, names in enumerate(MONTHS, 1) if folded in names), 0)


def date_texts(value: str, locale: str | None) -> tuple[str, ...]:
    """Return a date of any precision as ISO and in words of the locale's language."""
    english = (locale or "").startswith("en")
    if len(value) == 4:
        return (value, f"in {value}" if english else f"el año {value}")
    name = MONTHS[int(value[5:7]) - 1][english]
    if len(value) == 7:
        return (value, f"{name.capitalize()} {value[:4]}" if english else f"{name} de {value[:4]}")
    day = datetime.date.fromisoformat(value)
    if english:
        return (value, f"{name.capitalize()} {day.day}, {day.year}")
    return (value, f"{day.day} de {name} de {day.year}")
