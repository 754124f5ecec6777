"""Leak detectors with their power, and the power of a spot check. P-values are exact rationals.

None of these figures turns a PASS into a BREACH: a signal triggers what the contract says.

Source: Fisher's exact test (one-sided, greater), McNemar's exact test (one-sided), binomial tail, hypergeometric
detection probability; docs/spec/ledger.md (leaks).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, exp, lgamma, log

GAIN = 0.10
"""The advantage of exposed items whose detection is always printed."""
LEAST_TOKENS = 4
"""Honeytokens that must have been asked for their test to say something."""
LEAST_POWER = 0.80
"""Power below which a test that found nothing says nothing."""
NOISE = 0.04
"""Share of pairs in which only one is right by chance, each way, that the power of the twins assumes."""
VARIANTS = 16
"""Equiprobable variants of a honeytoken: a guess names the sealed one once in so many."""
_NEGLIGIBLE = 1e-18


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


def anchor_power(exposed_n: int, fresh_n: int, base: float, gain: float, alpha: Fraction) -> float:
    """Return how often `fresh_vs_exposed` is at most `alpha` when exposed items are right `gain` more often.

    `base` and `base + gain` are the rates of right answers in [0, 1]. Exact sum over both binomials, less the counts
    of fresh right answers whose probability is below 1e-18 each.
    Raises: ValueError for rates or sizes outside their range.
    """
    rates = _rates(base, gain)
    if exposed_n < 0 or fresh_n < 0:
        raise ValueError("sizes out of range")
    exposed, fresh = _binomial(exposed_n, rates[1]), _binomial(fresh_n, rates[0])
    likely = [k for k, chance in enumerate(fresh) if chance > _NEGLIGIBLE]
    power = 0.0
    for right in range(likely[0], exposed_n + likely[-1] + 1):
        first = _least_rejected(exposed_n, fresh_n, right, alpha)
        for k in range(max(first, right - likely[-1]), min(exposed_n, right - likely[0]) + 1):
            power += exposed[k] * fresh[right - k]
    return power


@lru_cache(maxsize=1 << 16)
def _least_rejected(exposed_n: int, fresh_n: int, right: int, alpha: Fraction) -> int:
    """Return the least count of right exposed answers, of `right` in all, whose p-value is at most `alpha`."""
    most, least = min(exposed_n, right), max(0, right - fresh_n)
    limit, ways = comb(exposed_n + fresh_n, right) * alpha.numerator, 0
    exposed, fresh = comb(exposed_n, most), comb(fresh_n, right - most)
    for k in range(most, least - 1, -1):
        ways += exposed * fresh
        exposed = exposed * k // (exposed_n - k + 1)
        fresh = fresh * (fresh_n - right + k) // (right - k + 1)
        if ways * alpha.denominator > limit:
            return k + 1
    return least


def _row(n: int) -> list[int]:
    row = [1]
    for k in range(n):
        row.append(row[-1] * (n - k) // (k + 1))
    return row


def twin_power(pairs: int, noise: float, gain: float, alpha: Fraction) -> float:
    """Return how often `twin_mcnemar` is at most `alpha` when originals are right `gain` more often than their twins.

    `noise` is the share of pairs in which only one is right by chance, each way. Exact sum over discordant pairs.
    Raises: ValueError for rates or sizes outside their range.
    """
    if pairs < 0 or noise < 0 or gain < 0 or 2 * noise + gain > 1:
        raise ValueError("rates or sizes out of range")
    discordant = 2 * noise + gain
    if discordant == 0:
        return 0.0
    power, counts = 0.0, _binomial(pairs, discordant)
    for number, chance in enumerate(counts):
        split = _binomial(number, (noise + gain) / discordant)
        # The least count whose tail of a fair coin is at most alpha; without discordant pairs p is 1.
        limit, ways, first = 2**number * alpha.numerator, 0, number + 1
        for ones, cases in zip(range(number, -1, -1), _row(number), strict=True):
            ways += cases
            if number == 0 or ways * alpha.denominator > limit:
                break
            first = ones
        power += chance * sum(split[first:])
    return power


def _rates(base: float, gain: float) -> tuple[float, float]:
    if not (0 <= base <= 1 and gain >= 0 and base + gain <= 1):
        raise ValueError("rates out of range")
    return base, base + gain


def _binomial(n: int, p: float) -> list[float]:
    if p in (0.0, 1.0):
        return [float(k == n * int(p)) for k in range(n + 1)]
    return [
        exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log(1 - p)) for k in range(n + 1)
    ]


@dataclass(frozen=True, slots=True)
class Integrity:
    """What the leak tests say together: `signal`, `no_signal` or `not_evaluable`, and each adjusted p-value."""

    word: str
    adjusted: Mapping[str, Fraction]
    power: float
    """Of the anchor test, at the sizes used, for 10 points above the base."""
    twin_power: float
    """Of the twin test, the same."""


def integrity(
    p_values: Mapping[str, Fraction],
    *,
    asked_tokens: int,
    anchor_n: int,
    fresh_n: int,
    base: float,
    alpha: Fraction,
    pairs: int = 0,
) -> Integrity:
    """Judge the leak tests that were carried out: `anchors`, `twins`, `honeytokens`, each with its p-value.

    Holm over those; a signal if any adjusted p is at most `alpha` (`ledger.alpha_leak`). Nothing can be said where
    fewer than four honeytokens were asked and neither anchors nor twins see 10 points as often as 0.80, each at the
    level that Holm leaves it, alpha / number of tests. A signal never turns a PASS into a BREACH. `base` is the rate
    of right answers of the fresh arm, in [0, 1].
    """
    level = alpha / max(1, len(p_values))
    power = anchor_power(anchor_n, fresh_n, base, min(GAIN, 1 - base), level) if anchor_n and fresh_n else 0.0
    paired = twin_power(pairs, NOISE, GAIN, level)
    adjusted, least = {}, Fraction(0)
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda pair: pair[1])):
        least = max(least, min(Fraction(1), p * (len(p_values) - rank)))
        adjusted[name] = least
    if any(p <= alpha for p in adjusted.values()):
        return Integrity("signal", adjusted, power, paired)
    blind = asked_tokens < LEAST_TOKENS and max(power, paired) < LEAST_POWER
    return Integrity("not_evaluable" if blind or not p_values else "no_signal", adjusted, power, paired)
