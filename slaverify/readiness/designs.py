"""The operating characteristic of each way of deciding a metric: the chance of each state at a true rate.

Everything is in success rates and failures. Integers, a frozen bank and two stages are exact; an effective sample
(clusters, repeats, weights, judge) is the real-valued binomial that the decision itself uses, at its planned size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from slaverify.statistics import (
    TwoStage,
    bank_failures_at_most,
    clustered_decision,
    log_wealth,
    oc_accept,
    state_probability,
)

_STEPS = 60
"""Halvings of a bisection: far below anything that is printed."""


class Design(Protocol):
    """A way of deciding."""

    @property
    def can_pass(self) -> bool:
        """Whether PASS can occur at all."""
        ...

    @property
    def can_breach(self) -> bool:
        """Whether BREACH can occur at all."""
        ...

    def chances(self, rate: float) -> tuple[float, float]:
        """Return (P(PASS), P(BREACH)) at a true success rate in [0, 1]."""
        ...


@dataclass(frozen=True, slots=True)
class Counted:
    """n items, an acceptance and a rejection number in failures; null: the state cannot occur."""

    n: int
    accept: int | None
    reject: int | None

    @property
    def can_pass(self) -> bool:
        """Whether some count is accepted."""
        return self.accept is not None

    @property
    def can_breach(self) -> bool:
        """Whether some count is rejected."""
        return self.reject is not None

    def chances(self, rate: float) -> tuple[float, float]:
        """Return both binomial tails."""
        return (
            state_probability(self.n, self.accept, self.reject, rate, "pass"),
            state_probability(self.n, self.accept, self.reject, rate, "breach"),
        )


@dataclass(frozen=True, slots=True)
class OfBank:
    """n items drawn from a frozen bank of `size`; the true rate is a share of the bank."""

    size: int
    n: int
    accept: int | None
    reject: int | None

    @property
    def can_pass(self) -> bool:
        """Whether some count is accepted."""
        return self.accept is not None

    @property
    def can_breach(self) -> bool:
        """Whether some count is rejected."""
        return self.reject is not None

    def chances(self, rate: float) -> tuple[float, float]:
        """Return both hypergeometric tails."""
        wrong = round((1.0 - rate) * self.size)
        passes = 0.0 if self.accept is None else float(bank_failures_at_most(self.accept, self.n, wrong, self.size))
        if self.reject is None:
            return passes, 0.0
        return passes, 1.0 - float(bank_failures_at_most(self.reject - 1, self.n, wrong, self.size))


@dataclass(frozen=True, slots=True)
class Staged:
    """Two stages of one run: what stage 1 leaves open, both together decide."""

    stages: TwoStage

    @property
    def can_pass(self) -> bool:
        """Whether either stage accepts some count."""
        return self.stages.first.pass_max_failures is not None or self.stages.pooled.pass_max_failures is not None

    @property
    def can_breach(self) -> bool:
        """Whether either stage rejects some count."""
        return self.stages.first.breach_min_failures is not None or self.stages.pooled.breach_min_failures is not None

    def chances(self, rate: float) -> tuple[float, float]:
        """Return the chance of each state over both stages."""
        one, more = self.stages.n1, self.stages.n - self.stages.n1
        first, pooled = self.stages.first, self.stages.pooled
        low = -1 if first.pass_max_failures is None else first.pass_max_failures
        high = one + 1 if first.breach_min_failures is None else first.breach_min_failures
        passes, breaches = Counted(one, first.pass_max_failures, first.breach_min_failures).chances(rate)
        for failures in range(low + 1, high):
            mass = oc_accept(one, failures, 1.0 - rate)
            mass -= 0.0 if failures == 0 else oc_accept(one, failures - 1, 1.0 - rate)
            accept, reject = pooled.pass_max_failures, pooled.breach_min_failures
            if accept is not None and accept >= failures:
                passes += mass * oc_accept(more, accept - failures, 1.0 - rate)
            if reject is not None:
                breaches += mass * state_probability(more, None, max(0, reject - failures), rate, "breach")
        return passes, breaches


@dataclass(frozen=True, slots=True)
class Effective:
    """A real-valued sample of `n_eff` items; `accept` and `reject` are real failures, null where none exists."""

    n_eff: float
    accept: float | None
    reject: float | None

    @property
    def can_pass(self) -> bool:
        """Whether zero failures are accepted."""
        return self.accept is not None

    @property
    def can_breach(self) -> bool:
        """Whether nothing but failures are rejected."""
        return self.reject is not None

    def chances(self, rate: float) -> tuple[float, float]:
        """Return both tails of the real-valued binomial."""
        passes = 0.0 if self.accept is None else _at_most(self.accept, self.n_eff, rate)
        breaches = 0.0 if self.reject is None else _at_least(self.reject, self.n_eff, rate)
        return passes, breaches


def effective(n_eff: float, t: float, alpha_pass: float, alpha_breach: float) -> Effective:
    """Return the design of an effective sample under the guarded rule. `t` the success rate promised, in (0, 1)."""
    accept = reject = None
    if _at_most(0.0, n_eff, t) <= alpha_pass:
        accept = _crossing(lambda f: _at_most(f, n_eff, t) <= alpha_pass, 0.0, n_eff)
    if _at_least(n_eff, n_eff, t) <= alpha_breach:
        reject = n_eff - _crossing(lambda x: _at_least(n_eff - x, n_eff, t) <= alpha_breach, 0.0, n_eff)
    return Effective(n_eff, accept, reject)


def betting(n: int, t: float, alpha_pass: float, alpha_breach: float) -> Counted:
    """Return the design of a bounded mean for scores at both ends of the scale, the widest spread that there is.

    `t` is the promised share of the scale; at its ends neither state can occur.
    Source: docs/spec/decision.md (betting e-values).
    """
    from math import log

    if not 0.0 < t < 1.0:
        # At an end of the scale no sample can speak for one side.
        return Counted(n, None, None)

    def passes(failures: int) -> bool:
        return log_wealth({1.0: n - failures, 0.0: failures}, t) >= -log(alpha_pass)

    def breaches(failures: int) -> bool:
        return log_wealth({1.0: failures, 0.0: n - failures}, 1.0 - t) >= -log(alpha_breach)

    accept = _last(passes, n) if passes(0) else None
    reject = n - _last(lambda right: breaches(n - right), n) if breaches(n) else None
    return Counted(n, accept, reject)


def clustered_n_eff(n: int, size: int, floor: Decimal, alpha: float) -> float:
    """Return the effective sample of n items in equal clusters of `size`, at the declared floor.

    Fewer than two whole clusters leave one effective item. Raises: StatisticsError SLV-S003.
    """
    clusters = n // size
    if clusters < 2:
        return 1.0
    sizes = [float(size)] * clusters
    sizes[-1] += n - size * clusters
    return clustered_decision(sizes, sizes, floor, alpha).n_eff


def _at_most(failures: float, n: float, rate: float) -> float:
    from scipy.special import betainc

    if failures >= n:
        return 1.0
    return float(betainc(n - failures, failures + 1.0, rate))


def _at_least(failures: float, n: float, rate: float) -> float:
    from scipy.special import betainc

    if failures <= 0.0:
        return 1.0
    return float(betainc(failures, n - failures + 1.0, 1.0 - rate))


def _crossing(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the largest value in [low, high] where a condition that holds at `low` still holds."""
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _last(holds: Callable[[int], bool], top: int) -> int:
    """Return the largest integer up to `top` where a condition that holds at 0 still holds."""
    low, high = 0, top + 1
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
