"""From correctness and grounding to the verdict of one answer, and the bounds of what stays open.

Source: docs/spec/scoring.md section 3 (`plain@1`); docs/spec/statistics.md section 6.1 (bounds).
"""

from __future__ import annotations

from slaverify.scoring.profiles import VERDICT_TABLES
from slaverify.scoring.record import AnswerClass, Bounds, Correctness, Grounding, Verdict


def verdict_of(table: str, answer_class: AnswerClass, correctness: Correctness, grounding: Grounding) -> Verdict | None:
    """Return the verdict, null while the correctness is undetermined; an undetermined class alone leaves it."""
    if answer_class is AnswerClass.ABSTENTION:
        return Verdict.ABSTENTION
    if answer_class is AnswerClass.NON_ANSWER:
        return Verdict.INCOMPLETE
    if correctness is Correctness.UNDETERMINED:
        return None
    return Verdict(VERDICT_TABLES[table][correctness.value][grounding.value])


def bounds_of(nothing_to_find: bool) -> Bounds:
    """Return the worst and the best verdict that the answer could have had.

    The best one is an abstention where there is nothing to find, else an accurate answer.
    """
    return Bounds(Verdict.INCORRECT, Verdict.ABSTENTION if nothing_to_find else Verdict.ACCURATE)
