"""`number@1`: a number with an optional `%` or `‰`, compared exactly inside a closed tolerance.

Source: docs/spec/scoring.md sections 2, 7 and 8.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from slaverify.evalset import NumberReference, Tolerance
from slaverify.scoring.asked import Asked, asked, candidates
from slaverify.scoring.quantities import Quantity
from slaverify.scoring.reasons import Reason
from slaverify.scoring.resolution import Finding, Fit, resolve
from slaverify.scoring.rules.task import Task
from slaverify.scoring.units import DAY_KINDS

NAME = "number@1"
POLICIES = ("tolerance", "percent_equivalence", "unit_in_query", "number_words", "scale_words", "accounting_brackets")
_SHARE = {"%": Fraction(1, 100), "‰": Fraction(1, 1000), "none": Fraction(1)}


def judge(task: Task, reference: NumberReference) -> Finding | None:
    """Return what the answer comes to; null if it holds no number."""
    found = candidates(task.passage, task.query, task.settings)
    if not found:
        return None
    question = asked(task.query, task.settings)
    return resolve(task.passage, found, lambda quantity: compare(quantity, reference, question, task), question)


def compare(quantity: Quantity, reference: NumberReference, question: Asked, task: Task) -> tuple[Fit, Reason]:
    """Compare one candidate with the reference, in exact arithmetic."""
    if quantity.value is None:
        return (Fit.OPEN if task.settings.locale is None else Fit.OTHER), Reason.AMBIGUOUS_SEPARATOR
    other_unit = _unit_conflict(quantity, question)
    if other_unit is not None:
        return Fit.OTHER, other_unit
    value, fit, reason = _in_unit(quantity, reference.unit, question, task)
    if fit is Fit.OTHER:
        return fit, reason
    wanted = Fraction(Decimal(reference.value))
    within = abs(value - wanted) <= allowed(reference.value, reference.tolerance, task.settings.policies.tolerance)
    if not within:
        return Fit.OTHER, likeness(value, wanted)
    if _other_thing(quantity, question):
        return Fit.OPEN, Reason.OTHER_UNIT
    if fit is Fit.OPEN:
        return fit, reason
    return Fit.EQUAL, Reason.EQUAL if value == wanted else Reason.WITHIN_TOLERANCE


def allowed(text: str, tolerance: Tolerance | None, default: Decimal) -> Fraction:
    """Return how far a value may lie from the number written as `text`; the bound itself is inside."""
    if tolerance is None:
        return Fraction(default)
    size = Fraction(Decimal(tolerance.value))
    if tolerance.kind == "relative":
        return size * abs(Fraction(Decimal(text)))
    if tolerance.kind == "last_digit":
        return size * Fraction(1, 10 ** len(text.partition(".")[2]))
    return size


def likeness(value: Fraction, wanted: Fraction) -> Reason:
    """Return how a wrong value resembles the right one: sign, scale, or not at all."""
    if value == -wanted:
        return Reason.SIGN
    if wanted and value:
        ratio = abs(value / wanted)
        larger, smaller = max(ratio.numerator, ratio.denominator), min(ratio.numerator, ratio.denominator)
        if smaller == 1 and larger > 1 and str(larger).strip("0") == "1":
            return Reason.SCALE
    return Reason.OTHER_VALUE


def _unit_conflict(quantity: Quantity, question: Asked) -> Reason | None:
    # "¿cuántos días?" is not answered by 15 semanas
    if question.unit is None or quantity.unit is None:
        return None
    if quantity.unit.unit.name != question.unit.name:
        return Reason.OTHER_UNIT
    kinds = (quantity.unit.day_kind, question.day_kind)
    return Reason.OTHER_DAY_KIND if None not in kinds and kinds[0] != kinds[1] else None


def _other_thing(quantity: Quantity, question: Asked) -> bool:
    # "¿cuántos días?" and "las dos partes": the number counts something else
    counted = quantity.noun is not None and quantity.unit is None and quantity.percent is None
    return question.unit is not None and counted and quantity.noun not in DAY_KINDS


def _in_unit(quantity: Quantity, unit: str, question: Asked, task: Task) -> tuple[Fraction, Fit, Reason]:
    value = quantity.value if quantity.value is not None else Fraction(0)
    policies = task.settings.policies
    if quantity.percent == "pp":
        return value, Fit.OTHER, Reason.OTHER_UNIT
    if unit == "none":
        if quantity.percent is None:
            return value, Fit.EQUAL, Reason.EQUAL
        if policies.percent_equivalence:
            return value * _SHARE[quantity.percent], Fit.EQUAL, Reason.EQUAL
        return value, Fit.OTHER, Reason.OTHER_UNIT
    if quantity.percent is not None:
        return value * _SHARE[quantity.percent] / _SHARE[unit], Fit.EQUAL, Reason.EQUAL
    if policies.percent_equivalence:
        share = value / _SHARE[unit]
        return share, Fit.EQUAL, Reason.EQUAL
    stated = policies.unit_in_query and question.percent == unit
    return value, Fit.EQUAL if stated else Fit.OPEN, Reason.UNIT_MISSING
