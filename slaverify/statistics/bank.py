"""Decide about a frozen bank: hypergeometric numbers and intervals, exact in integers.

The bank holds `bank_size` items of which an unknown number is right; n of them were drawn without replacement.
Standard library alone.

Source: docs/spec/decision.md; the distribution is elementary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import comb

from slaverify.errors import Text
from slaverify.statistics import domain
from slaverify.statistics.exact import Numbers, Tails, success_threshold
from slaverify.statistics.search import first_true, last_true


@dataclass(frozen=True, slots=True)
class BankNumbers:
    """`count_required` right items that the bank must hold, and the numbers of the sample (counts of failures)."""

    count_required: int
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class BankInterval:
    """Counts of right items in the bank that the sample does not rule out, and the same as shares."""

    count_low: int
    count_high: int
    low: Fraction
    high: Fraction


def count_required(bank_size: int, threshold: Decimal | Fraction, direction: str = "at_least") -> int:
    """Return K0, the smallest count of right items that meets the threshold. Raises: SLV-S001, SLV-S002."""
    domain.count(bank_size, "bank_size", least=1)
    t = success_threshold(threshold, direction)
    return -(-t.numerator * bank_size // t.denominator)


def finite_bank_acceptance_numbers(
    bank_size: int,
    n: int,
    threshold: Decimal | Fraction,
    alpha_pass: Decimal | Fraction,
    alpha_breach: Decimal | Fraction,
    direction: str = "at_least",
) -> BankNumbers:
    """Return the guarded numbers for n items of a frozen bank.

    PASS needs P(X >= x | K0 - 1) <= alpha_pass, BREACH P(X <= x | K0) <= alpha_breach.
    Raises: StatisticsError SLV-S001, SLV-S002, SLV-S003, SLV-S004 (sample above bank).
    """
    required = count_required(bank_size, threshold, direction)
    _sample(n, bank_size)
    a_pass, a_breach = domain.level(alpha_pass, "alpha_pass"), domain.level(alpha_breach, "alpha_breach")
    wrong_pass, wrong_breach = bank_size - required + 1, bank_size - required
    accept = last_true(lambda c: failures_at_most(c, n, wrong_pass, bank_size) <= a_pass, -1, n + 1)
    keep = 1 - a_breach
    reject = first_true(lambda r: failures_at_most(r - 1, n, wrong_breach, bank_size) >= keep, 0, n + 1)
    return BankNumbers(
        required,
        Numbers(
            accept if accept >= 0 else None,
            reject if reject <= n else None,
            failures_at_most(accept, n, wrong_pass, bank_size),
            1 - failures_at_most(reject - 1, n, wrong_breach, bank_size) if reject <= n else Fraction(0),
        ),
    )


def bank_tails(
    f_pass: int, f_breach: int, n: int, bank_size: int, threshold: Decimal | Fraction, direction: str = "at_least"
) -> Tails:
    """Return (P(F <= f_pass) at K0 - 1, P(F >= f_breach) at K0) as `p_greater`, `p_less` of the successes.

    Raises: StatisticsError SLV-S001, SLV-S002, SLV-S004.
    """
    required = count_required(bank_size, threshold, direction)
    _sample(n, bank_size)
    return Tails(
        failures_at_most(f_pass, n, bank_size - required + 1, bank_size),
        1 - failures_at_most(f_breach - 1, n, bank_size - required, bank_size),
    )


def finite_bank_interval(x: int, n: int, bank_size: int, confidence: Decimal | Fraction) -> BankInterval:
    """Return every count of right items whose two hypergeometric tails at x both exceed (1 - confidence)/2.

    `confidence` in (0, 1). Raises: StatisticsError SLV-S001, SLV-S002, SLV-S004.
    """
    domain.counts(x, n)
    _sample(n, bank_size)
    a = (1 - domain.share(confidence, "confidence")) / 2
    least, most = x, bank_size - (n - x)
    # P(X >= x | K) rises with K and P(X <= x | K) falls: the kept counts are one stretch around the estimate.
    low = first_true(lambda k: failures_at_most(n - x, n, bank_size - k, bank_size) > a, least - 1, most)
    high = last_true(lambda k: 1 - failures_at_most(n - x - 1, n, bank_size - k, bank_size) > a, least, most + 1)
    return BankInterval(low, high, Fraction(low, bank_size), Fraction(high, bank_size))


def failures_at_most(c: int, n: int, wrong: int, bank_size: int) -> Fraction:
    """Return P(F <= c) for n items drawn from a bank with `wrong` wrong ones, exact."""
    first, last = max(0, n - (bank_size - wrong)), min(n, wrong)
    if c < first:
        return Fraction(0)
    if c >= last:
        return Fraction(1)
    total = 0
    for failures, term in enumerate(_terms(first, n, wrong, bank_size), first):
        total += term
        if failures == c:
            break
    return Fraction(total, comb(bank_size, n))


def _terms(first: int, n: int, wrong: int, bank_size: int) -> Iterator[int]:
    right = bank_size - wrong
    term = comb(wrong, first) * comb(right, n - first)
    for f in range(first, min(n, wrong) + 1):
        yield term
        if f < n:
            term = term * (wrong - f) * (n - f) // ((f + 1) * (right - n + f + 1))


def _sample(n: int, bank_size: int) -> None:
    domain.count(n, "n", least=1)
    domain.count(bank_size, "bank_size", least=1)
    if n > bank_size:
        raise domain.refusal(
            "SLV-S004",
            Text(
                f"la muestra ({n}) es mayor que el banco ({bank_size})",
                f"the sample ({n}) is larger than the bank ({bank_size})",
            ),
            "n",
            Text("baje n o amplíe el banco", "lower n or enlarge the bank"),
        )
