"""Compare binomial tails with levels in certified integers, fast for any n, with the standard library alone.

The number of failures F ~ Bin(n, 1 - t), t = a/b. Weights relative to the mode follow from one another:
w(f+1) = w(f) (n-f)(b-a) / ((f+1) a). Each is kept twice, rounded down and rounded up, as an integer of about
`BITS` bits; sums of the two bracket every tail to within 2^-250. A comparison that a bracket cannot settle is made
again with the full integers (`exact_at_most`), so that no rounding ever decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from slaverify.errors import Text
from slaverify.statistics import domain

BITS = 320
"""Bits of the weight at the mode (derived: 2^-320 times any n stays far below 2^-250)."""

EXACT_MAX_N = 20_000
"""Largest n whose tails are computed in full integers where a bracket leaves a comparison open."""

_FULL_BITS = 4096
"""Size of b^n up to which full integers are as fast as brackets."""


@dataclass(frozen=True, slots=True)
class Table:
    """Bracketed sums of weights for f = first, first + 1, …: `low[i]` <= true sum up to first + i <= `high[i]`."""

    first: int
    low: tuple[int, ...]
    high: tuple[int, ...]
    total_low: int
    total_high: int

    def sums(self, c: int) -> tuple[int, int]:
        """Return the bracket of the summed weight of f <= c."""
        if c < self.first:
            return 0, self.high[0]
        index = c - self.first
        return (self.low[index], self.high[index]) if index < len(self.low) else (self.low[-1], self.total_high)


def at_most(c: int, n: int, t: Fraction) -> Fraction:
    """Return P(F <= c): exact for small n, else within 2^-250 from above; 0 for c < 0 and 1 for c >= n."""
    if c < 0:
        return Fraction(0)
    if c >= n:
        return Fraction(1)
    if not 0 < t < 1 or n * t.denominator.bit_length() <= _FULL_BITS:
        return exact_at_most(c, n, t)
    table = table_of(t, n)
    return min(Fraction(1), Fraction(table.sums(c)[1], table.total_low))


def is_at_most(c: int, n: int, t: Fraction, alpha: Fraction) -> bool:
    """Tell whether P(F <= c) <= alpha, exactly. Raises: StatisticsError SLV-S003 (a tie at a huge n)."""
    if c < 0:
        return alpha >= 0
    if c >= n:
        return alpha >= 1
    table = table_of(t, n)
    low, high = table.sums(c)
    if high * alpha.denominator <= alpha.numerator * table.total_low:
        return True
    if low * alpha.denominator > alpha.numerator * table.total_high:
        return False
    if n > EXACT_MAX_N:
        raise domain.refusal(
            "SLV-S003",
            Text("una cola queda demasiado cerca de alfa", "a tail lies too close to alpha"),
            "n",
            Text("mueva n en una unidad", "move n by one"),
        )
    return exact_at_most(c, n, t) <= alpha


def exact_at_most(c: int, n: int, t: Fraction) -> Fraction:
    """Return P(F <= c) in full integers over b^n."""
    if c < 0:
        return Fraction(0)
    if c >= n:
        return Fraction(1)
    if 2 * c > n:
        # Fewer terms from the other end: n - F ~ Bin(n, t).
        return 1 - exact_at_most(n - c - 1, n, 1 - t)
    total = 0
    for failures, term in enumerate(terms(t, n)):
        total += term
        if failures == c:
            break
    return Fraction(total, t.denominator**n)


def terms(t: Fraction, n: int) -> Iterator[int]:
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


@lru_cache(maxsize=64)
def table_of(t: Fraction, n: int) -> Table:
    """Return the bracketed sums for t in (0, 1) and n >= 1."""
    right, wrong = t.numerator, t.denominator - t.numerator
    mode = min(n, (n + 1) * wrong // t.denominator)
    up = _weights(mode, n, lambda f: ((n - f) * wrong, (f + 1) * right), 1)
    down = _weights(mode, n, lambda f: (f * right, (n - f + 1) * wrong), -1)
    first, last = mode - len(down) + 1, mode + len(up) - 1
    pairs = [*reversed(down[1:]), *up]
    # What lies outside of the stored stretch: each weight there is below the outermost one.
    below, above = first * pairs[0][1], (n - last) * pairs[-1][1]
    low = tuple(accumulate(pair[0] for pair in pairs))
    high = tuple(below + total for total in accumulate(pair[1] for pair in pairs))
    return Table(first, low, high, low[-1], high[-1] + above)


def _weights(mode: int, n: int, ratio: Callable[[int], tuple[int, int]], step: int) -> list[tuple[int, int]]:
    """Return (rounded down, rounded up) weights from the mode outward, to the first that vanishes or the end."""
    low = high = 1 << BITS
    out = [(low, high)]
    f = mode
    while low > 0 and 0 <= f + step <= n:
        numerator, denominator = ratio(f)
        low = low * numerator // denominator
        high = -(-high * numerator // denominator)
        out.append((low, high))
        f += step
    return out
