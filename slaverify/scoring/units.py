"""The registry of units `units@1`: names and symbols of each unit, its dimension, kinds of days.

Source: docs/spec/scoring.md section 8 (amount); `data/units.json`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from slaverify.scoring.data import load
from slaverify.scoring.folding import fold

_DATA = load("units.json")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit by its canonical name, with its dimension."""

    name: str
    dimension: str


def _table() -> dict[str, Unit]:
    units = _DATA["units"]
    out: dict[str, Unit] = {}
    for name, row in units.items() if isinstance(units, dict) else ():
        if isinstance(row, dict) and isinstance(row["names"], list):
            unit = Unit(name, str(row["dimension"]))
            out.update({str(word): unit for word in row["names"]})
    return out


def _day_kinds() -> dict[str, str]:
    kinds = _DATA["day_kinds"]
    out: dict[str, str] = {}
    for kind, words in kinds.items() if isinstance(kinds, dict) else ():
        if isinstance(words, list):
            out.update({str(word): kind for word in words})
    return out


NAMES = _table()
"""Folded name or symbol → unit."""

DAY_KINDS = _day_kinds()
"""Folded word → `hábiles` or `corridos`."""


def _asked() -> dict[str, re.Pattern[str]]:
    rows = _DATA["asked"]
    return {
        dimension: re.compile(r"\b(?:" + "|".join(map(str, words)) + r")\b")
        for dimension, words in (rows.items() if isinstance(rows, dict) else ())
        if isinstance(words, list)
    }


ASKED = _asked()
"""Dimension → the folded words with which a question asks for it."""

_ALTERNATIVES = "|".join(re.escape(name) for name in sorted(NAMES, key=len, reverse=True))
NAMES_PATTERN = f"(?:{_ALTERNATIVES})(?![a-z0-9²³])"
"""Any name of a unit, as a pattern over folded text."""

_AFTER = re.compile(rf"\s?(?:de\s)?({_ALTERNATIVES})(?![a-z0-9²³])")
_BEFORE = re.compile(r"(us\$|u\$s|€|usd|clp|eur|mxn|uf|utm|uta)\s?-?\s?$")
_DAY_KIND = re.compile(r"\s(?:de\s)?(" + "|".join(DAY_KINDS) + r")\b|(?<=working)\s(?=days)")
_DAY_KIND_FIRST = re.compile(r"\s(working|business|calendar)\s(days?)\b")


@dataclass(frozen=True, slots=True)
class Unitised:
    """The unit found at a number: where it ends, and the kind of days if it says one."""

    unit: Unit
    end: int
    day_kind: str | None


def unit_at(folded: str, start: int, end: int) -> Unitised | None:
    """Return the unit written right after the number `folded[start:end]`, or its currency sign right before."""
    english = _DAY_KIND_FIRST.match(folded, end)
    if english is not None:
        return Unitised(NAMES["day"], english.end(), DAY_KINDS[english.group(1)])
    match = _AFTER.match(folded, end)
    if match is not None:
        unit = NAMES[match.group(1)]
        kind = _DAY_KIND.match(folded, match.end()) if unit.dimension == "time" else None
        if kind is not None and kind.group(1):
            return Unitised(unit, kind.end(), DAY_KINDS[kind.group(1)])
        return Unitised(unit, match.end(), None)
    before = _BEFORE.search(folded, max(start - 6, 0), start)
    return None if before is None else Unitised(NAMES[before.group(1)], end, None)


def _ratios() -> dict[tuple[str, str], Fraction]:
    rows = _DATA["exact"]
    out: dict[tuple[str, str], Fraction] = {}
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, list) and isinstance(row[2], int):
            out[str(row[0]), str(row[1])] = Fraction(row[2])
            out[str(row[1]), str(row[0])] = Fraction(1, row[2])
    return out


_RATIOS = _ratios()


def exact_ratio(one: Unit, other: Unit) -> Fraction | None:
    """Return how many of `other` make one of `one`, where that is exact by definition; null where it is not."""
    return _RATIOS.get((one.name, other.name))


_CURRENCIES = {"CL": "CLP", "MX": "MXN", "US": "USD", "ES": "EUR"}


def by_canonical_name(name: str) -> Unit | None:
    """Return the unit that a reference names, by its canonical name or any of its names; null if unknown."""
    canonical = _CANONICAL.get(name)
    return canonical if canonical is not None else NAMES.get(fold(name))


def local_currency(locale: str | None) -> Unit | None:
    """Return the currency that `$` and `pesos` mean in the locale's country, null where the registry has none."""
    name = _CURRENCIES.get((locale or "").rpartition("-")[2])
    return None if name is None else _CANONICAL.get(name)


_CANONICAL = {unit.name: unit for unit in NAMES.values()}
