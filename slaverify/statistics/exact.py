"""Decide in exact integers: binomial tails, acceptance and rejection numbers, smallest decidable samples.

Standard library alone, so that an integer verdict can be derived again without any numerical package. Every
comparison of a tail with a level is exact (`binomial`): no rounding decides.

Source: ISO 2859-4:2020 and JCGM 106:2012 for the use of the numbers (*unverified*); the arithmetic is elementary.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.errors import Text
from slaverify.statistics import domain
from slaverify.statistics.binomial import at_most, is_at_most
from slaverify.statistics.search import first_true, last_true

RULES = ("guarded", "guarded_rejection", "simple", "two_point", "zero_observed")
DIRECTIONS = ("at_least", "at_most")


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
    reject = rejection_number(t, n, a_breach)
    if rule == "guarded":
        return _with_risks(t, n, _largest(t, n, a_pass), reject)
    return _with_risks(t, n, None if reject is None else reject - 1, reject)


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
    return Tails(p_greater=at_most(n - x, n, t), p_less=at_most(x, n, 1 - t))


def failures_at_most(c: int, n: int, threshold: Fraction) -> Fraction:
    """Return P(F <= c) for F ~ Bin(n, 1 - threshold): exact for small n, else within 2^-250."""
    return at_most(c, n, threshold)


def rejection_number(t: Fraction, n: int, alpha: Fraction) -> int | None:
    """Return the smallest r <= n with P(F >= r) <= alpha at the success rate t in (0, 1), null if none.

    Raises: StatisticsError SLV-S003 (a tie at a huge n).
    """
    # P(F >= r) <= alpha  <=>  P(n - F <= n - r) <= alpha, a lower tail of the successes.
    accept = _largest(1 - t, n, alpha)
    return None if accept is None else n - accept


def _largest(t: Fraction, n: int, alpha: Fraction) -> int | None:
    """Return the largest c with P(F <= c) <= alpha, null if none."""
    found = last_true(lambda c: is_at_most(c, n, t, alpha), -1, n)
    return None if found < 0 else found


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
    reject = rejection_number(1 - good, n, r0)
    if reject is None or not is_at_most(reject - 1, n, 1 - bad, r1):
        raise domain.refusal(
            "SLV-S007",
            Text(
                f"con n = {n} ningún número de aceptación cumple los dos riesgos",
                f"with n = {n} no acceptance number keeps both risks",
            ),
            "n",
            Text("suba n o separe f0 y f1", "raise n or set f0 and f1 further apart"),
        )
    return reject - 1


def _with_risks(t: Fraction, n: int, accept: int | None, reject: int | None) -> Numbers:
    return Numbers(
        accept,
        reject,
        Fraction(0) if accept is None else at_most(accept, n, t),
        Fraction(0) if reject is None else at_most(n - reject, n, 1 - t),
    )


def _smallest_power(q: Fraction, limit: Fraction) -> int:
    """Return the smallest n >= 1 with q^n <= limit, by doubling and bisection on exact powers."""
    high = 1
    while q**high > limit:
        high *= 2
    return first_true(lambda n: q**n <= limit, high // 2, high)
