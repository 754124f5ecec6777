"""Leak detectors and the power of a spot check, in exact rationals.

None of these figures turns a PASS into a BREACH: a signal triggers what the contract says.

Source: Fisher's exact test (one-sided, greater), McNemar's exact test (one-sided), binomial tail, hypergeometric
detection probability; docs/spec/ledger.md (leaks).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb


def fresh_vs_exposed(exposed_right: int, exposed_n: int, fresh_right: int, fresh_n: int) -> Fraction:
    """Return the p-value that exposed items are answered right more often: Fisher, one-sided, margins fixed.

    Counts of right answers and of answers in each arm. Raises: ValueError for counts outside their range.
    """
    if not (0 <= exposed_right <= exposed_n and 0 <= fresh_right <= fresh_n):
        raise ValueError("counts out of range")
    right, total = exposed_right + fresh_right, exposed_n + fresh_n
    ways = sum(comb(exposed_n, k) * comb(fresh_n, right - k) for k in range(exposed_right, min(exposed_n, right) + 1))
    return Fraction(ways, comb(total, right))


def twin_mcnemar(original_only_right: int, twin_only_right: int) -> Fraction:
    """Return the p-value that originals are right where their twins are not: P(Bin(b+c, 1/2) >= b); 1 if b+c = 0.

    Raises: ValueError for a negative count.
    """
    if original_only_right < 0 or twin_only_right < 0:
        raise ValueError("counts out of range")
    n = original_only_right + twin_only_right
    return Fraction(sum(comb(n, k) for k in range(original_only_right, n + 1)), 2**n)


def honeytoken(asked: int, hits: int, variants: int) -> Fraction:
    """Return P(Bin(asked, 1/variants) >= hits): how often a guess names the sealed variant that many times.

    Raises: ValueError for counts outside their range.
    """
    if not 0 <= hits <= asked or variants < 1:
        raise ValueError("counts out of range")
    ways = sum(comb(asked, k) * (variants - 1) ** (asked - k) for k in range(hits, asked + 1))
    return Fraction(ways, variants**asked)


def spot_check_power(bank_size: int, bad_items: int, opened: int) -> Fraction:
    """Return the probability that opening `opened` of `bank_size` items meets at least one of `bad_items`.

    Raises: ValueError for counts outside their range.
    """
    if not (0 <= bad_items <= bank_size and 0 <= opened <= bank_size):
        raise ValueError("counts out of range")
    return 1 - Fraction(comb(bank_size - bad_items, opened), comb(bank_size, opened))
