"""Say what would settle an open metric, and how near a state is to another: information, never a state."""

from __future__ import annotations

import math
from fractions import Fraction

from slaverify.canonical import JsonObject, real9
from slaverify.decision.assessed import Assessed, count_of
from slaverify.decision.rules import Ruling
from slaverify.decision.words import State
from slaverify.statistics import first_true, min_n_power, real_tails

POWER = "0.8"
"""Probability of a decision at the observed rate that the settling n gives."""


def settle(one: Assessed, ruling: Ruling) -> JsonObject | None:
    """Return the n that decides with 80 % power at the observed rate, and in which direction.

    Null unless the count alone left the metric INCONCLUSIVE under the guarded rule; where the observed rate equals the
    threshold (no n decides then) or so many items are there already (what is unknown leaves it open); for means and
    judged items, where more items alone may not settle it.
    """
    terms = one.terms
    known = one.observations - (one.f_pass - one.f_breach)
    counted = terms.rule == "guarded" and terms.sampled and one.figure is None and known > 0
    if ruling.state is not State.INCONCLUSIVE or ruling.reason is not None or not counted:
        return None
    observed, effective = Fraction(count_of(one.entry, "x"), known), one.effective
    if effective is not None and terms.weights is not None:
        observed = Fraction(effective.x_low / effective.n_low)
    side = State.PASS if observed > terms.t else State.BREACH
    alpha = one.level_pass if side is State.PASS else one.level_breach / terms.family
    n = min_n_power(terms.t, observed, alpha, float(POWER), side.value.lower())
    if n is None:
        return None
    if effective is not None:
        n = math.ceil(Fraction(n * one.n) / Fraction(effective.n_low))
    if terms.estimand == "bank":
        n = min(n, terms.bank_size)
    if n <= one.n:
        return None
    return {
        "n": n,
        "additional": n - one.n,
        "direction": side.value,
        "power": POWER,
        "at_rate": real9(observed if terms.direction == "at_least" else 1 - observed),
    }


def tipping(one: Assessed, ruling: Ruling, rejecting: int | None) -> JsonObject:
    """Return how many verdicts would have to change to reach PASS, to reach BREACH, to change the state.

    `rejecting` is the rejection number that applies beside the other metrics, null without integers.
    """
    if ruling.reason is not None or not one.terms.sampled:
        forced = ruling.state is State.BREACH and one.terms.sampled
        return {"to_pass": None, "to_breach": 0 if forced else None, "to_change": None}
    accept, own = _limits(one)
    reject = own if rejecting is None else rejecting
    to_pass = 0 if ruling.state is State.PASS else None if accept is None else max(0, one.f_pass - accept)
    to_breach = 0 if ruling.state is State.BREACH else None if reject is None else max(0, reject - one.f_breach)
    if ruling.state is State.PASS:
        to_change = None if accept is None else max(1, accept + 1 - one.f_pass)
    elif ruling.state is State.BREACH:
        to_change = None if reject is None else max(1, one.f_breach - reject + 1)
    else:
        to_change = min((k for k in (to_pass, to_breach) if k is not None), default=None)
    return {"to_pass": to_pass, "to_breach": to_breach, "to_change": to_change}


def _limits(one: Assessed) -> tuple[int | None, int | None]:
    """Return the acceptance and rejection number, or with an effective sample those at its present size.

    Under `guarded_rejection` the acceptance number is one less than the rejection number, unknown items against.
    """
    if one.numbers is not None:
        return one.numbers.pass_max_failures, one.numbers.breach_min_failures
    effective = one.effective
    if effective is None:
        return None, None
    total, t = one.observations, one.terms.t
    level_pass, level_breach = float(one.level_pass), float(one.level_breach / one.terms.family)

    def probabilities(failures: int, n_eff: float) -> tuple[float, float]:
        # All of them right is the whole sample: rounding must not make it more.
        x = min(n_eff, (total - failures) * n_eff / total)
        return real_tails(x, x, n_eff, t)

    def too_many(failures: int) -> bool:
        p_pass, p_breach = probabilities(failures, effective.n_low)
        return p_pass > level_pass if one.terms.rule == "guarded" else p_breach <= level_breach

    def enough(failures: int) -> bool:
        return probabilities(failures, effective.n_high)[1] <= level_breach

    accept = first_true(too_many, -1, total + 1) - 1
    reject = first_true(enough, -1, total + 1)
    return None if accept < 0 else accept, None if reject > total else reject
