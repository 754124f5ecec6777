"""Plan a sample: power of a rule, operating characteristic, smallest samples, two-point plans.

Planning compares floating tails; what binds (the acceptance numbers of a contract) is computed in `exact`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Protocol

from slaverify.errors import Text
from slaverify.statistics import domain
from slaverify.statistics.exact import TwoPoint, acceptance_numbers
from slaverify.statistics.search import first_true

MAX_PLANNED_N = 5_000_000
"""No plan is searched above this n: nobody runs it."""

SMALL = 512
"""Up to this n every tooth of a power curve is looked at."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A sample size and its acceptance number, in counts."""

    n: int
    pass_max_failures: int


def oc_accept(n: int, c: int, p_nonconforming: float | Decimal | Fraction) -> float:
    """Return P(F <= c) at the failure rate `p_nonconforming` in [0, 1]: one point of the operating curve.

    Raises: StatisticsError SLV-S001, SLV-S002.
    """
    from scipy.special import bdtr

    domain.count(n, "n", least=1)
    domain.count(c, "c")
    q = _rate(p_nonconforming, "p_nonconforming")
    return 1.0 if c >= n else float(bdtr(c, n, q))


def power(
    threshold: Decimal | Fraction,
    true_rate: float | Decimal | Fraction,
    n: int,
    alpha: Decimal | Fraction,
    side: str,
) -> float:
    """Return P(PASS) or P(BREACH) of the guarded rule at a true success rate.

    `threshold` a success rate in (0, 1), `true_rate` in [0, 1], `side` `pass` or `breach`; 0 where the state cannot
    occur. Raises: StatisticsError SLV-S001, SLV-S002, SLV-S003, SLV-S012.
    """
    t = domain.share(threshold, "threshold")
    numbers = acceptance_numbers(t, n, alpha, alpha)
    rate = _rate(true_rate, "true_rate")
    return state_probability(n, numbers.pass_max_failures, numbers.breach_min_failures, rate, _side(side))


def state_probability(n: int, accept: int | None, reject: int | None, true_rate: float, side: str) -> float:
    """Return P(F <= accept) or P(F >= reject) at a true success rate in [0, 1]; 0 for a null number."""
    from scipy.special import bdtrc

    if n == 0:
        return 0.0
    if side == "pass":
        return 0.0 if accept is None else oc_accept(n, accept, 1.0 - true_rate)
    if reject is None or reject > n:
        return 0.0
    return 1.0 if reject <= 0 else float(bdtrc(reject - 1, n, 1.0 - true_rate))


def detectable_rate(n: int, reject: int | None, power_: float) -> float | None:
    """Return the true success rate at which P(F >= reject) is `power_` in (0, 1); null if BREACH cannot occur."""
    from scipy.special import betaincinv

    return None if reject is None or not 1 <= reject <= n else 1.0 - float(betaincinv(reject, n - reject + 1, power_))


def min_n_power(
    threshold: Decimal | Fraction,
    true_rate: float | Decimal | Fraction,
    alpha: Decimal | Fraction,
    power: float | Decimal,
    side: str,
) -> int | None:
    """Return the smallest n from which the power holds for ALL larger n (the curve is a sawtooth).

    `true_rate` is a success rate in [0, 1] on the named side of the threshold; null when it is not on that side, or
    when the n would pass `MAX_PLANNED_N`. Raises: StatisticsError SLV-S001, SLV-S003, SLV-S012.
    """
    t = domain.share(threshold, "threshold")
    rate, exact = _rate(true_rate, "true_rate"), Fraction(true_rate)
    a = float(domain.level(alpha, "alpha"))
    target = domain.confidence(power, "power")
    curve: _Curve
    if _side(side) == "pass":
        if exact <= t:
            return None
        curve = _PassCurve(a, float(1 - t), 1.0 - rate)
    else:
        if exact >= t:
            return None
        curve = _BreachCurve(a, float(1 - t), 1.0 - rate)
    return _search(curve, target)


def two_point_plan(plan: TwoPoint) -> Plan | None:
    """Return the smallest c, then the smallest n, that keep both risks; null above `MAX_PLANNED_N`.

    Raises: StatisticsError SLV-S001, SLV-S003.
    """
    good, bad = float(domain.share(plan.f0, "f0")), float(domain.share(plan.f1, "f1"))
    reject_good, accept_bad = float(domain.level(plan.r0, "r0")), float(domain.level(plan.r1, "r1"))
    if good >= bad:
        raise domain.refusal("SLV-S001", Text("f0 tiene que ser menor que f1", "f0 has to be below f1"), "f0")
    curve = _PassCurve(accept_bad, bad, good)
    c, n, step = 0, 1, max(1, int(1.0 / bad))
    while n <= MAX_PLANNED_N:
        n = _first(partial(curve.reached, c), max(n, c + 1), step)
        if oc_accept(n, c, good) >= 1.0 - reject_good:
            return Plan(n, c)
        c += 1
    return None


class _Curve(Protocol):
    """A sawtooth of power over n: constant number within a tooth. `true` is a failure rate."""

    @property
    def true(self) -> float: ...

    def number(self, n: int) -> int | None: ...

    def reached(self, number: int, n: int) -> bool: ...

    def power(self, number: int, n: int) -> float: ...

    def tooth(self, number: int, n: int) -> float: ...


@dataclass(frozen=True, slots=True)
class _PassCurve:
    """P(F <= Ac(n)): within a tooth it falls with n. `limit` and `true` are failure rates."""

    alpha: float
    limit: float
    true: float

    def number(self, n: int) -> int | None:
        """Return the largest c with P(F <= c) <= alpha, null if none."""
        low = first_true(lambda c: not self.reached(c, n), -1, n) - 1
        return None if low < 0 else low

    def reached(self, number: int, n: int) -> bool:
        """Tell whether `number` may be accepted at n: true from the first n of its tooth on."""
        from scipy.special import bdtr

        return n > number and float(bdtr(number, n, self.limit)) <= self.alpha

    def power(self, number: int, n: int) -> float:
        """Return P(F <= number) in truth."""
        return oc_accept(n, number, self.true)

    def tooth(self, number: int, n: int) -> float:
        """Return P(F = number + 1) in truth: what the next tooth begins with."""
        return self.power(number + 1, n) - self.power(number, n)


@dataclass(frozen=True, slots=True)
class _BreachCurve:
    """P(F >= Re(n)): within a tooth it rises with n. `limit` and `true` are failure rates."""

    alpha: float
    limit: float
    true: float

    def number(self, n: int) -> int | None:
        """Return the smallest r with P(F >= r) <= alpha, null if none."""
        high = first_true(lambda r: self._tail(r, n, self.limit) <= self.alpha, 0, n + 1)
        return high if high <= n else None

    def reached(self, number: int, n: int) -> bool:
        """Tell whether Re(n) >= number: true from the first n of its tooth on."""
        return number <= 1 or (n >= number - 1 and self._tail(number - 1, n, self.limit) > self.alpha)

    def power(self, number: int, n: int) -> float:
        """Return P(F >= number) in truth."""
        return self._tail(number, n, self.true)

    def tooth(self, number: int, n: int) -> float:
        """Return P(F = number) in truth: what the next tooth begins without."""
        return self.power(number, n) - self._tail(number + 1, n, self.true)

    @staticmethod
    def _tail(r: int, n: int, rate: float) -> float:
        from scipy.special import bdtrc

        return float(bdtrc(r - 1, n, rate))


def _search(curve: _Curve, target: float) -> int | None:
    """Walk the teeth down to the last dip below the target.

    1. Find an n beyond which no dip reaches down to the target.
    2. From there look at the end of each tooth, then at its start; the first one too low gives the n wanted.
    """
    end = _high_enough(curve, target)
    if end is None:
        return None
    while end >= 1:
        number = curve.number(end)
        if number is None or curve.power(number, end) < target:
            return _planned(end + 1)
        start = _tooth_start(partial(curve.reached, number), end)
        if curve.power(number, start) < target:
            return _planned(first_true(partial(_powerful, curve, number, target), start, end))
        end = start - 1
    return 1


def _planned(n: int) -> int | None:
    return n if n <= MAX_PLANNED_N else None


def _powerful(curve: _Curve, number: int, target: float, n: int) -> bool:
    return curve.power(number, n) >= target


def _high_enough(curve: _Curve, target: float) -> int | None:
    """Return an n beyond which no dip reaches the target: its power exceeds it by four teeth.

    A tooth is as high as the probability of one count more or less, and gets lower with n. Small samples, whose teeth
    are irregular, are all looked at.
    """

    def enough(n: int) -> bool:
        number = curve.number(n)
        return number is not None and curve.power(number, n) >= target + 4.0 * curve.tooth(number, n)

    n = SMALL
    while not enough(n):
        n *= 2
        if n > 2 * MAX_PLANNED_N:
            return None
    low = max(SMALL, n // 2)
    while n - low > 1 + n // 256:
        middle = (low + n) // 2
        low, n = (low, middle) if enough(middle) else (middle, n)
    return n


def _tooth_start(reached: Callable[[int], bool], end: int) -> int:
    """Return the smallest n <= `end` of the tooth that holds `end`, galloping down."""
    step, low = 1, end - 1
    while low >= 1 and reached(low):
        step *= 2
        low -= step
    return first_true(reached, max(low, 0), end)


def _first(holds: Callable[[int], bool], low: int, step: int) -> int:
    """Return the smallest integer >= `low` where a monotone condition holds, by galloping and bisection."""
    if holds(low):
        return low
    high = low + step
    while not holds(high):
        low, step = high, step * 2
        high = low + step
    return first_true(holds, low, high)


def _rate(value: float | Decimal | Fraction, where: str) -> float:
    rate = domain.finite(value, where)
    if not 0.0 <= rate <= 1.0:
        raise domain.refusal(
            "SLV-S001", Text(f"la tasa {value} no está entre 0 y 1", f"the rate {value} is not between 0 and 1"), where
        )
    return rate


def _side(side: str) -> str:
    if side not in ("pass", "breach"):
        raise domain.refusal("SLV-S012", Text(f"lado desconocido: {side!r}", f"unknown side: {side!r}"), "side")
    return side
