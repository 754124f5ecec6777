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
from slaverify.statistics.intervals import (
    Interval,
    ZeroBound,
    conformance_probability,
    exact_bound,
    exact_interval,
    jeffreys_interval,
    limits_at,
    real_tails,
    wilson_interval,
    zero_event_bound,
)
from slaverify.statistics.power import (
    Plan,
    detectable_rate,
    min_n_power,
    oc_accept,
    power,
    state_probability,
    two_point_plan,
)

__all__ = [
    "DIRECTIONS",
    "EXACT_MAX_N",
    "RULES",
    "Interval",
    "Numbers",
    "Plan",
    "Tails",
    "TwoPoint",
    "ZeroBound",
    "acceptance_numbers",
    "binomial_tails",
    "conformance_probability",
    "detectable_rate",
    "exact_bound",
    "exact_interval",
    "failures_at_most",
    "jeffreys_interval",
    "limits_at",
    "min_n_power",
    "min_n_zero_failures",
    "oc_accept",
    "power",
    "real_tails",
    "required_sample",
    "state_probability",
    "success_threshold",
    "two_point_plan",
    "wilson_interval",
    "zero_event_bound",
]
