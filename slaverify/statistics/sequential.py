"""Look more than once without paying for it: two stages with spent risk, and early stop by one-sided e-processes.

Two one-sided e-processes, never one two-sided: each side stops at ln(1/alpha) of its own.

Source: Ville 1939 and Ramdas et al. 2023, Statistical Science 38:576-601 (*unverified*); the mixtures are one line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.errors import Text
from slaverify.statistics import domain
from slaverify.statistics.exact import Numbers, acceptance_numbers

SPENDING = (Decimal("0.005"), Decimal("0.0225"))
"""Default levels of stage 1 and of the pooled stage 2, of 0.025 per side (kind: derived, see the two-stage test)."""


@dataclass(frozen=True, slots=True)
class TwoStage:
    """Numbers of stage 1 (n1 items) and of both stages pooled (n items), counts of failures."""

    n1: int
    n: int
    first: Numbers
    pooled: Numbers


@dataclass(frozen=True, slots=True)
class StageRisks:
    """Exact probabilities of PASS and BREACH over both stages at one true rate, in [0, 1]."""

    p_pass: Fraction
    p_breach: Fraction


@dataclass(frozen=True, slots=True)
class Stop:
    """Where an early stop came: items read (a count from 0) and `pass`, `breach` or null (neither by the end)."""

    read: int
    side: str | None


def two_stage(
    n1: int,
    n2: int,
    threshold: Decimal | Fraction,
    spending_pass: tuple[Decimal | Fraction, Decimal | Fraction],
    spending_breach: tuple[Decimal | Fraction, Decimal | Fraction],
) -> TwoStage:
    """Return the guarded numbers of a design with n1 items and, if those leave it open, n2 more.

    `threshold` a success rate; levels one-sided per stage. Raises: StatisticsError SLV-S001, SLV-S002, SLV-S003.
    """
    first = acceptance_numbers(threshold, domain.count(n1, "n1", least=1), spending_pass[0], spending_breach[0])
    both = n1 + domain.count(n2, "n2", least=1)
    return TwoStage(n1, both, first, acceptance_numbers(threshold, both, spending_pass[1], spending_breach[1]))


def stage_risks(design: TwoStage, true_rate: Decimal | Fraction) -> StageRisks:
    """Return the exact probability of each state over both stages at a true success rate (joint binomial).

    Raises: StatisticsError SLV-S001.
    """
    rate = domain.share(true_rate, "true_rate", closed=True)
    accept1, reject1 = _edges(design.first, design.n1)
    accept, reject = _edges(design.pooled, design.n)
    one, two = _masses(design.n1, rate), _masses(design.n - design.n1, rate)
    below = _running(two)
    passed = sum(one[: accept1 + 1], 0) * below[-1]
    breached = sum(one[reject1:], 0) * below[-1]
    for f1 in range(accept1 + 1, reject1):
        passed += one[f1] * _up_to(below, accept - f1)
        breached += one[f1] * (below[-1] - _up_to(below, reject - f1 - 1))
    whole = rate.denominator**design.n
    return StageRisks(Fraction(passed, whole), Fraction(breached, whole))


def check_spending(
    design: TwoStage, threshold: Decimal | Fraction, alpha_pass: Decimal | Fraction, alpha_breach: Decimal | Fraction
) -> StageRisks:
    """Return the exact total risks at the threshold. Raises: StatisticsError SLV-S009 where a side spends too much."""
    risks = stage_risks(design, threshold)
    if risks.p_pass > domain.level(alpha_pass, "alpha_pass") or risks.p_breach > domain.level(
        alpha_breach, "alpha_breach"
    ):
        raise domain.refusal(
            "SLV-S009",
            Text("las dos etapas gastan más riesgo que el pactado", "both stages spend more risk than agreed"),
            "spending",
            Text('use "0.005" y "0.0225" para 0.025 por lado', 'use "0.005" and "0.0225" for 0.025 per side'),
        )
    return risks


def one_sided_log_e(
    successes: int, failures: int, threshold: Decimal | Fraction, a: float | Decimal, b: float | Decimal, side: str
) -> float:
    """Return ln of the e-value of one side: the Beta(a, b) mixture over rates above (pass) or below (breach) T.

    0 for an empty sample. Raises: StatisticsError SLV-S001, SLV-S002, SLV-S012.
    """
    from scipy.special import betainc, betaincc, betaln

    s, f = domain.count(successes, "successes"), domain.count(failures, "failures")
    t = float(domain.share(threshold, "threshold"))
    alpha, beta = domain.finite(a, "a"), domain.finite(b, "b")
    if alpha <= 0.0 or beta <= 0.0:
        raise domain.refusal("SLV-S002", Text("a y b positivos", "a and b positive"), "a")
    if side not in ("pass", "breach"):
        raise domain.refusal("SLV-S012", Text(f"lado desconocido: {side!r}", f"unknown side: {side!r}"), "side")
    part = betaincc if side == "pass" else betainc
    mixture = float(betaln(s + alpha, f + beta)) - float(betaln(alpha, beta)) - s * math.log(t) - f * math.log1p(-t)
    now, before = float(part(s + alpha, f + beta, t)), float(part(alpha, beta, t))
    return mixture + math.log(now) - math.log(before) if now > 0.0 else -math.inf


def early_stop(
    outcomes: Iterable[bool],
    threshold: Decimal | Fraction,
    a: float | Decimal,
    b: float | Decimal,
    alpha_pass: Decimal | Fraction,
    alpha_breach: Decimal | Fraction,
) -> Stop:
    """Return where the committed order of items (true = success) first reaches a bound.

    Raises: StatisticsError SLV-S001, SLV-S002, SLV-S003.
    """
    bar_pass = -math.log(float(domain.level(alpha_pass, "alpha_pass")))
    bar_breach = -math.log(float(domain.level(alpha_breach, "alpha_breach")))
    s = f = 0
    for success in outcomes:
        s, f = (s + 1, f) if success else (s, f + 1)
        if one_sided_log_e(s, f, threshold, a, b, "pass") >= bar_pass:
            return Stop(s + f, "pass")
        if one_sided_log_e(s, f, threshold, a, b, "breach") >= bar_breach:
            return Stop(s + f, "breach")
    return Stop(s + f, None)


def _edges(numbers: Numbers, n: int) -> tuple[int, int]:
    accept, reject = numbers.pass_max_failures, numbers.breach_min_failures
    return -1 if accept is None else accept, n + 1 if reject is None else reject


def _masses(n: int, rate: Fraction) -> list[int]:
    """Return C(n, f) a^(n-f) (b-a)^f for f = 0..n."""
    right, wrong = rate.numerator, rate.denominator - rate.numerator
    powers = [1]
    for _ in range(n):
        powers.append(powers[-1] * right)
    out, coefficient, failed = [], 1, 1
    for f in range(n + 1):
        out.append(coefficient * failed * powers[n - f])
        coefficient = coefficient * (n - f) // (f + 1)
        failed *= wrong
    return out


def _running(masses: list[int]) -> list[int]:
    out, total = [], 0
    for mass in masses:
        total += mass
        out.append(total)
    return out


def _up_to(running: list[int], k: int) -> int:
    return 0 if k < 0 else running[min(k, len(running) - 1)]
