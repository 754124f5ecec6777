"""From votes to the readings of one answer that are still possible. No default ever becomes a mark.

A missing vote stands for every value of its scale, a missing member too; the outcome is the set of what can still be
reached. One element: resolved. A tie is a set too: there is no tie-break.

Source: docs/spec/judging.md section 6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product

BADNESS = ("accurate", "abstention", "incomplete", "misgrounded", "incorrect")
"""Verdicts from the best to the worst, for the bounds of an answer that stays unresolved."""

Readings = frozenset[str]


def of_member(votes: Sequence[str | None], scale: Iterable[str]) -> Readings:
    """Return what the majority of a member's votes can be; `None` is a missing vote, no votes a missing member."""
    counts = Counter(vote for vote in votes if vote is not None)
    missing = sum(vote is None for vote in votes)
    if not counts:
        return frozenset(scale)
    # The missing votes can all fall on one value: it is then reached, alone or in a tie.
    top = max(counts.values())
    return frozenset(value for value in {*scale, *counts} if counts[value] + missing >= top)


def of_panel(aggregation: str, members: Sequence[Readings]) -> Readings:
    """Return what the panel's reading can be, over every choice among its members' possible readings.

    `aggregation`: `single` and `majority` (the most frequent), `unanimous` (all say the same, else all that is said).
    Raises: ValueError for another one, or for no member.
    """
    if not members:
        raise ValueError("a panel has a member")
    if aggregation == "unanimous":
        return frozenset().union(*members)
    if aggregation not in ("single", "majority"):
        raise ValueError(aggregation)
    if all(len(one) == 1 for one in members):
        return _most_frequent([next(iter(one)) for one in members])
    found: set[str] = set()
    for choice in product(*(sorted(one) for one in members)):
        found |= _most_frequent(choice)
    return frozenset(found)


def _most_frequent(choice: Sequence[str]) -> Readings:
    counts = Counter(choice)
    top = max(counts.values())
    return frozenset(value for value, count in counts.items() if count == top)


def median_ends(members: Sequence[frozenset[int]]) -> tuple[int, int]:
    """Return the lowest and the highest median that ordinal members can have; both middles of an even number count."""
    if not members:
        raise ValueError("a panel has a member")
    low, high = sorted(min(one) for one in members), sorted(max(one) for one in members)
    return low[(len(low) - 1) // 2], high[len(high) // 2]


def mean_ends(members: Sequence[frozenset[bool]]) -> tuple[Fraction, Fraction]:
    """Return the lowest and the highest share of members that can say yes."""
    if not members:
        raise ValueError("a panel has a member")
    low = sum(one == {True} for one in members)
    high = sum(True in one for one in members)
    return Fraction(low, len(members)), Fraction(high, len(members))


def eligibility_of(rule: str, members: Sequence[frozenset[bool]]) -> frozenset[bool]:
    """Return whether the panel can find an answer eligible. Raises: ValueError for another rule."""
    need = {"all_eligible": len(members), "majority": len(members) // 2 + 1, "any_eligible": 1}.get(rule)
    if need is None:
        raise ValueError(rule)
    low, high = (sum(one == {True} for one in members), sum(True in one for one in members))
    return frozenset({low >= need, high >= need})


def worst_and_best(readings: Iterable[str]) -> tuple[str, str]:
    """Return the worst and the best verdict among readings. Raises: ValueError for none or an unknown one."""
    order = sorted(readings, key=BADNESS.index)
    return order[-1], order[0]
