"""From correctness and grounding to the verdict of one answer, and the bounds of what stays open.

Source: docs/spec/scoring.md section 8 (`plain@1`, `reglab@1`); docs/spec/statistics.md section 6.1 (bounds).
"""

from __future__ import annotations

from slaverify.scoring.profiles import VERDICT_TABLES
from slaverify.scoring.record import AnswerClass, Bounds, Correctness, Grounding, Verdict

PLAIN = "plain@1"
"""The table of an answer whose grounding does not apply, whatever table the profile has."""


def verdict_of(table: str, answer_class: AnswerClass, correctness: Correctness, grounding: Grounding) -> Verdict | None:
    """Return the verdict, null while what decides it is undetermined; an undetermined class alone leaves it."""
    if answer_class is AnswerClass.ABSTENTION:
        return Verdict.ABSTENTION
    if answer_class is AnswerClass.NON_ANSWER:
        return Verdict.INCOMPLETE
    possible = _possible(table, correctness, grounding)
    return possible.pop() if len(possible) == 1 and correctness is not Correctness.UNDETERMINED else None


def bounds_of(table: str, correctness: Correctness, grounding: Grounding, *, nothing: bool) -> Bounds:
    """Return the worst and the best verdict that an answer, or a call without one, could have had.

    `nothing`: there is nothing to find, and the best verdict is an abstention.
    """
    known = correctness if correctness is not Correctness.NO_ANSWER else Correctness.UNDETERMINED
    possible = sorted(_possible(table, known, grounding), key=_BEST_FIRST.index)
    return Bounds(possible[-1], Verdict.ABSTENTION if nothing else possible[0])


_BEST_FIRST = (Verdict.ACCURATE, Verdict.INCOMPLETE, Verdict.MISGROUNDED, Verdict.INCORRECT)
_CORRECTNESS = (Correctness.CORRECT, Correctness.PARTIAL, Correctness.INCORRECT)
_GROUNDING = (Grounding.GROUNDED, Grounding.MISGROUNDED, Grounding.UNGROUNDED)


def _possible(table: str, correctness: Correctness, grounding: Grounding) -> set[Verdict]:
    cells = VERDICT_TABLES[PLAIN if grounding is Grounding.NOT_APPLICABLE else table]
    rows = _CORRECTNESS if correctness is Correctness.UNDETERMINED else (correctness,)
    columns = _GROUNDING if grounding is Grounding.UNDETERMINED else (grounding,)
    return {Verdict(cells[row.value][column.value]) for row in rows for column in columns}
