"""The chance of PASS in the real audit: the contract's n and rule, if the true rate were the one that was seen. Pure.

Source: docs/spec/self-check.md; acceptance numbers: docs/spec/contract.md section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from slaverify.contract import Contract, Metric, derived_numbers
from slaverify.statistics.binomial import at_most


@dataclass(frozen=True, slots=True)
class Chance:
    """P(PASS) of one metric at three true rates of success: the lower end of the interval, observed, upper end."""

    metric: str
    n: int
    pass_max_failures: int
    low: Fraction
    observed: Fraction
    high: Fraction


def chance_of_pass(contract: Contract, metric: Metric, rates: tuple[Fraction, Fraction, Fraction]) -> Chance | None:
    """Return the chance at the rates (of success, ascending, 0 to 1); None where the rule has no integers.

    Items are taken as independent and each asked once, as the acceptance number itself takes them.
    """
    numbers = derived_numbers(contract, metric)
    accept = numbers.pass_max_failures
    if accept is None:
        return None
    low, observed, high = (at_most(accept, numbers.n, rate) for rate in rates)
    return Chance(metric.id, numbers.n, accept, low, observed, high)
