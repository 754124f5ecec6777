"""Keep two items of a pair apart in the order of a run, so that neither gives the other away. Pure.

Source: docs/spec/run.md, section "Plan".
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

GAP = 20
"""Least distance of a pair, in positions of the plan."""


def keep_apart(rounds: Sequence[array[int]], pairs: Sequence[tuple[int, int]]) -> None:
    """Move, in place, each member of a pair that lies nearer than `GAP` positions to the other.

    1. Rounds in order, pairs in order, the second of a pair before the first. 2. What is too near to its partner, in
    this round or at the end of the one before, changes places with the next item of no pair, going round, whose place
    is far enough. 3. Where no place is, it takes the farthest: a short plan is left as good as it gets.
    """
    paired = {member for pair in pairs for member in pair}
    last: dict[int, int] = {}
    for order in rounds:
        at = {item: position for position, item in enumerate(order) if item in paired}
        for one, other in pairs:
            for member, partner in ((other, one), (one, other)):
                others = [at[partner]] + ([last[partner] - len(order)] if partner in last else [])
                _move(order, at, member, others, paired)
        last = at


def _move(order: array[int], at: dict[int, int], member: int, others: Sequence[int], paired: set[int]) -> None:
    place = at[member]
    if _room(place, others) >= GAP:
        return
    free = [
        spot % len(order) for spot in range(place + 1, place + len(order)) if order[spot % len(order)] not in paired
    ]
    spot = max([place, *free], key=lambda spot: min(_room(spot, others), GAP))
    order[place], order[spot] = order[spot], order[place]
    at[member] = spot


def _room(place: int, others: Sequence[int]) -> int:
    return min(abs(place - other) for other in others)
