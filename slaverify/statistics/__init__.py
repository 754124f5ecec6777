"""Pure numerics on counts: exact decisions, intervals, planning. Nothing here reads a clock, a file or a network.

Importing this face loads the standard library alone; scipy is imported inside the functions that need it.
"""

from slaverify.statistics.exact import (
    DIRECTIONS,
    EXACT_MAX_N,
    RULES,
    Numbers,
    Tails,
    TwoPoint,
    acceptance_numbers,
    binomial_tails,
    failures_at_most,
    min_n_zero_failures,
    required_sample,
    success_threshold,
)

__all__ = [
    "DIRECTIONS",
    "EXACT_MAX_N",
    "RULES",
    "Numbers",
    "Tails",
    "TwoPoint",
    "acceptance_numbers",
    "binomial_tails",
    "failures_at_most",
    "min_n_zero_failures",
    "required_sample",
    "success_threshold",
]
