"""Check every number that enters the room; the one place that refuses, with its code.

Thresholds and levels are `Decimal` from strings (or the `Fraction` of one divided by a family size); counts are
integers. A float threshold is refused: 0.95 as a float is another number than "0.95".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from slaverify.errors import StatisticsError, Text

HALF = Fraction(1, 2)
MAX_PLACES = 18
"""Decimal places of a threshold or a level; more only makes exact integers long."""


MAX_COUNT = 10_000_000
"""Largest count of items: a forged 10^18 must not keep an exact sum busy."""


def share(value: Decimal | Fraction, where: str, *, closed: bool = False) -> Fraction:
    """Return a rate in (0, 1), or in [0, 1] when `closed`, as an exact fraction.

    Raises: StatisticsError SLV-S001 (outside, or not a decimal), SLV-S002 (NaN, infinity).
    """
    exact = _fraction(value, "SLV-S001", where)
    inside = 0 <= exact <= 1 if closed else 0 < exact < 1
    if not inside:
        raise refusal(
            "SLV-S001",
            Text(f"la tasa {value} no está entre 0 y 1", f"the rate {value} is not between 0 and 1"),
            where,
            Text("escriba una proporción, por ejemplo 0.95", "write a share, for example 0.95"),
        )
    return exact


def level(value: Decimal | Fraction, where: str) -> Fraction:
    """Return a risk in (0, 0.5) as an exact fraction. Raises: StatisticsError SLV-S003, SLV-S002."""
    exact = _fraction(value, "SLV-S003", where)
    if not 0 < exact < HALF:
        raise refusal(
            "SLV-S003",
            Text(f"el riesgo {value} no está entre 0 y 0.5", f"the risk {value} is not between 0 and 0.5"),
            where,
            Text('lo usual es "0.025" por lado', 'the usual value is "0.025" per side'),
        )
    return exact


def count(value: object, where: str, *, least: int = 0) -> int:
    """Return an integer from `least` to `MAX_COUNT`. Raises: StatisticsError SLV-S002 (also for a bool or a float)."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_COUNT:
        raise refusal(
            "SLV-S002",
            Text(
                f"se esperaba un entero entre {least} y {MAX_COUNT}",
                f"an integer between {least} and {MAX_COUNT} was expected",
            ),
            where,
        )
    return value


def counts(x: int, n: int, *, least: int = 1) -> tuple[int, int]:
    """Return (x, n) with 0 <= x <= n and n >= `least`. Raises: StatisticsError SLV-S002."""
    count(n, "n", least=least)
    count(x, "x")
    if x > n:
        raise refusal("SLV-S002", Text(f"x = {x} es mayor que n = {n}", f"x = {x} is above n = {n}"), "x")
    return x, n


def confidence(value: Decimal | Fraction | float, where: str = "confidence") -> float:
    """Return a two-sided confidence in (0, 1). It is a display level, so a float is allowed. Raises: SLV-S003."""
    number = finite(value, where)
    if not 0.0 < number < 1.0:
        raise refusal(
            "SLV-S003",
            Text(f"la confianza {value} no está entre 0 y 1", f"the confidence {value} is not between 0 and 1"),
            where,
        )
    return number


def finite(value: object, where: str) -> float:
    """Return a finite real number as a float. Raises: StatisticsError SLV-S002 for NaN, infinity, bool, text."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        raise _not_a_number(value, where)
    number = float(value)
    if not math.isfinite(number):
        raise _not_a_number(value, where)
    return number


def finites(values: Sequence[Decimal | Fraction | float], where: str) -> list[float]:
    """Return finite floats. Raises: StatisticsError SLV-S002."""
    return [finite(value, f"{where}[{index}]") for index, value in enumerate(values)]


def refusal(code: str, what: Text, where: str, fix: Text | None = None) -> StatisticsError:
    """Return the error of this room with its place."""
    return (
        StatisticsError(code, what, where=where) if fix is None else StatisticsError(code, what, where=where, fix=fix)
    )


def _fraction(value: Decimal | Fraction, code: str, where: str) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, Decimal):
        raise refusal(
            code,
            Text(
                f"se esperaba un decimal escrito como texto: {value!r}", f"a decimal from text was expected: {value!r}"
            ),
            where,
        )
    if not value.is_finite():
        raise _not_a_number(value, where)
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and not -MAX_PLACES <= exponent <= MAX_PLACES:
        raise refusal(
            code,
            Text(f"más de {MAX_PLACES} decimales", f"more than {MAX_PLACES} decimal places"),
            where,
        )
    return Fraction(value)


def _not_a_number(value: object, where: str) -> StatisticsError:
    return refusal("SLV-S002", Text(f"no es un número finito: {value!r}", f"not a finite number: {value!r}"), where)
