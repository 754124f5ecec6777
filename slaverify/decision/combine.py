"""From the states of several metrics to one: Holm over the binding metrics with a test, then the fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from slaverify.decision.words import State
from slaverify.statistics import holm_adjust


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One metric before the family is looked at.

    `p_breach` in [0, 1], null where nothing was tested (it then counts as 1); `tested` false for a rule without a
    test, which breaches by its own numbers and stays outside of the family; `forced` a breach by an integrity rule of
    the contract, whatever was counted.
    """

    state: State
    p_breach: Fraction | float | None
    binding: bool
    tested: bool = True
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Combined:
    """The state of the whole, the metrics in breach (indices), and the adjusted p of each (null outside the family)."""

    state: State
    breaching: tuple[int, ...]
    adjusted: tuple[Fraction | float | None, ...]


def combine_states(
    members: Sequence[Member], alpha_breach: Fraction, *, run_valid: bool = True, holm: bool = True
) -> Combined:
    """Return the state of the whole.

    `alpha_breach` is the one-sided risk of the family, in (0, 0.5). Order: a fault of the run; a breach proved on any
    binding metric; INVALID_RUN; NOT_MEASURED; PASS of all; INCONCLUSIVE. Without a binding metric: NOT_MEASURED.
    """
    adjusted = _adjusted(members, holm)
    if not run_valid:
        return Combined(State.INVALID_RUN, (), adjusted)
    breaching = tuple(
        index
        for index, member in enumerate(members)
        if member.binding and _breaches(member, adjusted[index], alpha_breach)
    )
    return Combined(_whole(members, breaching), breaching, adjusted)


def _adjusted(members: Sequence[Member], holm: bool) -> tuple[Fraction | float | None, ...]:
    family = [index for index, member in enumerate(members) if member.binding and member.tested]
    raw = [_exact(members[index].p_breach) for index in family]
    corrected = dict(zip(family, holm_adjust(raw) if holm else raw, strict=True))
    return tuple(None if member.p_breach is None else corrected.get(index) for index, member in enumerate(members))


def _exact(p: Fraction | float | None) -> Fraction:
    # A float is an exact fraction too: so that no comparison with alpha is made between rounded products.
    return Fraction(1) if p is None else Fraction(p)


def _breaches(member: Member, adjusted: Fraction | float | None, alpha: Fraction) -> bool:
    if member.forced:
        return True
    if member.tested and adjusted is not None:
        return adjusted <= alpha
    return member.state is State.BREACH


def _whole(members: Sequence[Member], breaching: tuple[int, ...]) -> State:
    states = [member.state for member in members if member.binding]
    if not states:
        return State.NOT_MEASURED
    if breaching:
        return State.BREACH
    for state in (State.INVALID_RUN, State.NOT_MEASURED):
        if state in states:
            return state
    return State.PASS if all(state is State.PASS for state in states) else State.INCONCLUSIVE
