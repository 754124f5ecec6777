"""`amount@1`: a number with its unit, or a closed range. Units are never converted.

A unit that the answer leaves out counts as said if the question says it (policy `unit_in_query`), else the rule
does not decide. Working days and calendar days are two things.

Source: docs/spec/scoring.md sections 2, 7 and 8.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from slaverify.evalset import AmountReference
from slaverify.scoring.asked import asked, candidates
from slaverify.scoring.folding import fold
from slaverify.scoring.quantities import Quantity
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.resolution import Finding, Fit, joined, resolve
from slaverify.scoring.rules.number import allowed, likeness
from slaverify.scoring.rules.task import Task
from slaverify.scoring.units import DAY_KINDS, NAMES, NAMES_PATTERN, Unit, by_canonical_name, local_currency

NAME = "amount@1"
POLICIES = ("tolerance", "unit_in_query", "number_words", "scale_words", "accounting_brackets")

_NAME = re.compile(rf"(?<![a-z0-9]){NAMES_PATTERN}")
_KIND = re.compile(r"\b(?:" + "|".join(DAY_KINDS) + r")\b")
_SIGN = re.compile(r"(?<![a-z])\$\s?-?\s?$")


def judge(task: Task, reference: AmountReference) -> Finding | None:
    """Return what the answer comes to; null if it holds no number."""
    found = candidates(task.passage, task.query, task.settings)
    if not found:
        return None
    if reference.min is not None and reference.max is not None:
        return _range(task, found, reference, Fraction(Decimal(reference.min)), Fraction(Decimal(reference.max)))
    return resolve(
        task.passage,
        found,
        lambda quantity: _compare(quantity, reference, task),
        asked(task.query, task.settings),
    )


def _compare(quantity: Quantity, reference: AmountReference, task: Task) -> tuple[Fit, Reason]:
    if quantity.value is None:
        return (Fit.OPEN if task.settings.locale is None else Fit.OTHER), Reason.AMBIGUOUS_SEPARATOR
    if quantity.percent is not None:
        return Fit.OTHER, Reason.OTHER_UNIT
    unit_fit, unit_reason = _unit_fit(quantity, reference, task)
    if unit_fit is Fit.OTHER:
        return unit_fit, unit_reason
    wanted = Fraction(Decimal(reference.value or "0"))
    margin = allowed(reference.value or "0", reference.tolerance, task.settings.policies.tolerance)
    if abs(quantity.value - wanted) > margin:
        return Fit.OTHER, likeness(quantity.value, wanted)
    if unit_fit is Fit.OPEN:
        return unit_fit, unit_reason
    return Fit.EQUAL, Reason.EQUAL if quantity.value == wanted else Reason.WITHIN_TOLERANCE


def _unit_fit(quantity: Quantity, reference: AmountReference, task: Task) -> tuple[Fit, Reason]:
    wanted = by_canonical_name(reference.unit)
    found = _unit_of(quantity, task)
    stated, kinds = _stated(task) if task.settings.policies.unit_in_query else (frozenset(), frozenset())
    if found is None:
        if wanted is None:
            # a unit that the registry does not know: its own word has to follow
            return _unknown_unit(quantity, reference, task)
        if wanted.name not in stated:
            return Fit.OPEN, Reason.UNIT_MISSING
    elif wanted is None or found.name != wanted.name:
        return Fit.OTHER, Reason.OTHER_UNIT
    return _days_fit(quantity, reference.day_kind, kinds)


def _days_fit(quantity: Quantity, wanted: str | None, stated: frozenset[str]) -> tuple[Fit, Reason]:
    kind = quantity.unit.day_kind if quantity.unit is not None else None
    if kind is None and wanted is not None and wanted not in stated:
        return Fit.OPEN, Reason.UNIT_MISSING
    if kind is not None and wanted is None and kind not in stated:
        return Fit.OPEN, Reason.OTHER_DAY_KIND
    if kind is not None and wanted is not None and kind != wanted:
        return Fit.OTHER, Reason.OTHER_DAY_KIND
    return Fit.EQUAL, Reason.EQUAL


def _unknown_unit(quantity: Quantity, reference: AmountReference, task: Task) -> tuple[Fit, Reason]:
    after = task.passage.folded[quantity.span.end :].lstrip(" )")
    name = fold(reference.unit)
    if re.match(rf"(?:de\s)?{re.escape(name)}(?:s|es)?(?![a-z0-9])", after):
        return Fit.EQUAL, Reason.EQUAL
    return Fit.OPEN, Reason.UNIT_MISSING


def _unit_of(quantity: Quantity, task: Task) -> Unit | None:
    if quantity.unit is not None:
        unit = quantity.unit.unit
        return local_currency(task.settings.locale) or unit if unit.name == "peso" else unit
    if _SIGN.search(task.passage.folded, max(quantity.span.start - 4, 0), quantity.span.start):
        return local_currency(task.settings.locale)
    return None


def _stated(task: Task) -> tuple[frozenset[str], frozenset[str]]:
    query = fold(task.query)
    names = {NAMES[match.group()].name for match in _NAME.finditer(query)}
    currency = local_currency(task.settings.locale)
    if "peso" in names and currency is not None:
        names.add(currency.name)
    return frozenset(names), frozenset(DAY_KINDS[match.group()] for match in _KIND.finditer(query))


def _range(task: Task, found: list[Quantity], reference: AmountReference, low: Fraction, high: Fraction) -> Finding:
    asserted = [quantity for quantity in found if quantity.asserted]
    values = {quantity.value for quantity in asserted}
    if not asserted:
        return Finding(Correctness.INCORRECT, Reason.NEGATED, found[0])
    if not {low, high} <= values:
        reason = Reason.MISSING_ELEMENT if values & {low, high} else Reason.OTHER_VALUE
        return Finding(Correctness.INCORRECT, reason, asserted[0])
    first = next(quantity for quantity in asserted if quantity.value == low)
    last = next((q for q in asserted if q.value == high and q.span.start > first.span.start), None)
    if last is None or len(values) > 2 or not joined(task.passage.folded, first.span.end, last.span.start):
        return Finding(Correctness.UNDETERMINED, Reason.UNRESOLVED_CANDIDATES, first)
    fit, reason = _unit_fit(last, reference, task)
    if fit is Fit.EQUAL:
        return Finding(Correctness.CORRECT, Reason.EQUAL, last)
    return Finding(Correctness.UNDETERMINED if fit is Fit.OPEN else Correctness.INCORRECT, reason, last)
