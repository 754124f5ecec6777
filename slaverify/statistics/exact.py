"""Decide in exact integers: binomial tails, acceptance and rejection numbers, smallest decidable samples.

Standard library alone, so that an integer verdict can be derived again without any numerical package.
A rate T = a/b makes each probability an integer over b^n: the terms C(n, f) a^(n-f) (b-a)^f follow from one
another by one small multiplication and one small division, and nothing is ever rounded.

Source: ISO 2859-4:2020 and JCGM 106:2012 for the use of the numbers (*unverified*); the arithmetic is elementary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

from slaverify.errors import Text
from slaverify.statistics import domain
from slaverify.statistics.search import first_true, last_true

EXACT_MAX_N = 20_000
"""Largest n for which every number is computed in integers; above it `scipy.special.bdtr` serves."""

RULES = ("guarded", "guarded_rejection", "simple", "two_point", "zero_observed")
DIRECTIONS = ("at_least", "at_most")

_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Numbers:
    """Acceptance and rejection number in counts of failures; null means that the state cannot occur.

    `risk_false_pass` is P(PASS) and `risk_false_breach` P(BREACH) when the true rate sits at the threshold,
    exact, in [0, 1].
    """

    pass_max_failures: int | None
    breach_min_failures: int | None
    risk_false_pass: Fraction
    risk_false_breach: Fraction


@dataclass(frozen=True, slots=True)
class TwoPoint:
    """Good quality `f0` is rejected with risk at most `r0`, bad quality `f1` accepted with at most `r1`.

    `f0` < `f1` are failure rates in (0, 1); `r0`, `r1` are risks in (0, 0.5).
    """

    f0: Decimal
    r0: Decimal
    f1: Decimal
    r1: Decimal


@dataclass(frozen=True, slots=True)
class Tails:
    """`p_greater` = P(X >= x) and `p_less` = P(X <= x) for X ~ Bin(n, T), exact."""

    p_greater: Fraction
    p_less: Fraction


def acceptance_numbers(
    threshold: Decimal | Fraction,
    n: int,
    alpha_pass: Decimal | Fraction,
    alpha_breach: Decimal | Fraction,
    direction: str = "at_least",
    rule: str = "guarded",
    two_point: TwoPoint | None = None,
) -> Numbers:
    """Return the acceptance and the rejection number of `rule` for `n` items.

    `threshold` is a rate in (0, 1) (1, or 0 for `at_most`, under `zero_observed` alone); the alphas are one-sided
    risks in (0, 0.5). Under Holm hand in `Fraction(alpha_breach) / k`. A rule that cannot reject
    (`guarded_rejection` with a tiny n) can accept nothing either: both numbers are null.

    Raises: StatisticsError SLV-S001 threshold, SLV-S002 n, SLV-S003 alpha, SLV-S007 a two-point plan that n
    cannot hold, SLV-S012 unknown rule or direction.
    """
    if rule not in RULES:
        raise domain.refusal("SLV-S012", Text(f"regla desconocida: {rule!r}", f"unknown rule: {rule!r}"), "rule")
    t = success_threshold(threshold, direction, closed=rule == "zero_observed")
    domain.count(n, "n")
    a_pass, a_breach = domain.level(alpha_pass, "alpha_pass"), domain.level(alpha_breach, "alpha_breach")
    if n == 0:
        return Numbers(None, None, Fraction(0), Fraction(0))
    if rule == "zero_observed":
        return _with_risks(t, n, 0, 1)
    if rule == "simple":
        limit = int((1 - t) * n)
        return _with_risks(t, n, limit, limit + 1)
    if rule == "two_point":
        limit = _two_point_limit(n, two_point)
        return _with_risks(t, n, limit, limit + 1)
    accept, reject = _crossings(t, n, a_pass, a_breach)
    if rule == "guarded_rejection":
        accept = None if reject is None else reject - 1
    return _with_risks(t, n, accept, reject)


def success_threshold(threshold: Decimal | Fraction, direction: str, *, closed: bool = False) -> Fraction:
    """Return the success rate promised: T for `at_least`, 1 - T for `at_most`. Raises: SLV-S001, SLV-S012."""
    t = domain.share(threshold, "threshold", closed=closed)
    if direction not in DIRECTIONS:
        raise domain.refusal(
            "SLV-S012", Text(f"dirección desconocida: {direction!r}", f"unknown direction: {direction!r}"), "direction"
        )
    return t if direction == "at_least" else 1 - t


def min_n_zero_failures(threshold: Decimal | Fraction, alpha: Decimal | Fraction) -> int:
    """Return the smallest n with T^n <= alpha: below it not even zero failures can PASS.

    `threshold` is a success rate in (0, 1), `alpha` a one-sided risk in (0, 0.5). Raises: SLV-S001, SLV-S003.
    """
    return _smallest_power(domain.share(threshold, "threshold"), domain.level(alpha, "alpha"))


def required_sample(quantile: Decimal, confidence: Decimal) -> int:
    """Return the smallest n with q^n <= 1 - c: the subjects that a quantile claim needs at least.

    Both in (0, 1). Raises: StatisticsError SLV-S001.
    """
    return _smallest_power(domain.share(quantile, "quantile"), 1 - domain.share(confidence, "confidence"))


def binomial_tails(x: int, n: int, threshold: Decimal | Fraction) -> Tails:
    """Return both tails of x successes of n at the rate `threshold` in [0, 1], exact.

    Raises: StatisticsError SLV-S001, SLV-S002.
    """
    domain.counts(x, n, least=0)
    t = domain.share(threshold, "threshold", closed=True)
    at_most = failures_at_most(n - x, n, t)
    above = failures_at_most(n - x - 1, n, t)
    return Tails(p_greater=at_most, p_less=1 - above)


def failures_at_most(c: int, n: int, threshold: Fraction) -> Fraction:
    """Return P(F <= c) for F ~ Bin(n, 1 - threshold), exact; 0 for c < 0 and 1 for c >= n."""
    if c < 0:
        return Fraction(0)
    if c >= n:
        return Fraction(1)
    if 2 * c > n:
        # Fewer terms from the other end: F' = n - F ~ Bin(n, threshold).
        return 1 - failures_at_most(n - c - 1, n, 1 - threshold)
    total = 0
    for failures, term in enumerate(_terms(threshold, n)):
        total += term
        if failures == c:
            break
    return Fraction(total, threshold.denominator**n)


def _terms(t: Fraction, n: int) -> Iterator[int]:
    """Yield C(n, f) a^(n-f) (b-a)^f for f = 0..n, where t = a/b."""
    a, b = t.numerator, t.denominator
    if a == 0:
        yield from (0 for _ in range(n))
        yield b**n
        return
    term, wrong = a**n, b - a
    for f in range(n + 1):
        yield term
        # Exact: (f+1) a divides the product, since the next term is an integer multiple of a^(n-f-1).
        term = term * ((n - f) * wrong) // ((f + 1) * a)


def _crossings(t: Fraction, n: int, alpha_pass: Fraction, alpha_breach: Fraction) -> tuple[int | None, int | None]:
    """Return the largest c with P(F <= c) <= alpha_pass and the smallest r <= n with P(F >= r) <= alpha_breach."""
    if n > EXACT_MAX_N:
        return _crossings_by_beta(t, n, alpha_pass, alpha_breach)
    whole = t.denominator**n
    low = alpha_pass.numerator * whole // alpha_pass.denominator
    # P(F >= r) <= alpha  <=>  P(F <= r - 1) >= 1 - alpha, rounded up to the next integer.
    keep = 1 - alpha_breach
    high = -(-keep.numerator * whole // keep.denominator)
    accept: int | None = None
    total = 0
    for failures, term in enumerate(_terms(t, n)):
        total += term
        if total <= low:
            accept = failures
        if total >= high:
            reject = failures + 1
            return accept, reject if reject <= n else None
    raise AssertionError("the terms of a binomial sum to one")


def _crossings_by_beta(
    t: Fraction, n: int, alpha_pass: Fraction, alpha_breach: Fraction
) -> tuple[int | None, int | None]:
    from scipy.special import bdtr, bdtrc

    fail = float(1 - t)

    def below(c: int) -> bool:
        return _clearly_at_most(float(bdtr(c, n, fail)), float(alpha_pass))

    def above(r: int) -> bool:
        return _clearly_at_most(float(bdtrc(r - 1, n, fail)), float(alpha_breach))

    accept = last_true(below, -1, n)
    reject = first_true(above, 0, n + 1)
    return None if accept < 0 else accept, None if reject > n else reject


def _clearly_at_most(tail: float, alpha: float) -> bool:
    if abs(tail - alpha) <= _CLOSE * alpha:
        raise domain.refusal(
            "SLV-S003",
            Text(
                "una cola queda demasiado cerca de alfa para decidirla en punto flotante",
                "a tail lies too close to alpha to be decided in floating point",
            ),
            "n",
            Text(f"use n hasta {EXACT_MAX_N} o cambie n en una unidad", f"use n up to {EXACT_MAX_N} or move n by one"),
        )
    return tail <= alpha


def _two_point_limit(n: int, plan: TwoPoint | None) -> int:
    """Return the smallest c whose risk for the good quality holds, if the one for the bad quality then holds too."""
    if plan is None:
        raise domain.refusal(
            "SLV-S012",
            Text("la regla two_point necesita f0, r0, f1 y r1", "the rule two_point needs f0, r0, f1 and r1"),
            "decision",
        )
    good, bad = domain.share(plan.f0, "f0"), domain.share(plan.f1, "f1")
    r0, r1 = domain.level(plan.r0, "r0"), domain.level(plan.r1, "r1")
    if good >= bad:
        raise domain.refusal("SLV-S001", Text("f0 tiene que ser menor que f1", "f0 has to be below f1"), "f0")
    keep = 1 - r0
    least = -(-keep.numerator * good.denominator**n // keep.denominator)
    limit = next(c for c, total in enumerate(accumulate(_terms(1 - good, n))) if total >= least)
    if failures_at_most(limit, n, 1 - bad) > r1:
        raise domain.refusal(
            "SLV-S007",
            Text(
                f"con n = {n} ningún número de aceptación cumple los dos riesgos",
                f"with n = {n} no acceptance number keeps both risks",
            ),
            "n",
            Text("suba n o separe f0 y f1", "raise n or set f0 and f1 further apart"),
        )
    return limit


def _with_risks(t: Fraction, n: int, accept: int | None, reject: int | None) -> Numbers:
    return Numbers(
        accept,
        reject,
        Fraction(0) if accept is None else _tail(accept, n, t),
        Fraction(0) if reject is None else 1 - _tail(reject - 1, n, t),
    )


def _tail(c: int, n: int, t: Fraction) -> Fraction:
    if n <= EXACT_MAX_N:
        return failures_at_most(c, n, t)
    from scipy.special import bdtr

    return Fraction(float(bdtr(c, n, float(1 - t)))) if c >= 0 else Fraction(0)


def _smallest_power(q: Fraction, limit: Fraction) -> int:
    """Return the smallest n >= 1 with q^n <= limit, by doubling and bisection on exact powers."""
    high = 1
    while q**high > limit:
        high *= 2
    return first_true(lambda n: q**n <= limit, high // 2, high)
