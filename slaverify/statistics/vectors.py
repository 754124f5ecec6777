"""Run the language-neutral vectors of the room: one function per method name over plain JSON inputs.

A vector is `{id, method, inputs, expected, tolerance, source}`; numbers of `expected` are compared with the absolute
`tolerance`, 0 = exact equality. Methods of role O (oracles) are not part of the product and live with the tests.

Source: docs/spec/decision.md and the vector file itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from slaverify import statistics as room
from slaverify.statistics.judge import Confusion

Inputs: TypeAlias = Mapping[str, object]
Outputs: TypeAlias = Mapping[str, object]

ORACLES = frozenset(
    {
        "agresti_coull_interval",
        "cluster_standard_error",
        "judge_known_rates",
        "mcnemar_chi2",
        "midp_interval",
        "mixture_log_e",
        "ppi_mean",
        "wilson_continuity_interval",
    }
)
"""Methods that check ours and decide nothing."""


@dataclass(frozen=True, slots=True)
class VectorOutcome:
    """What one vector showed: `passed`, `failed` or `not_performed`, and why."""

    id: str
    result: str
    differences: tuple[str, ...] = ()


def differences(expected: Mapping[str, object], got: Outputs, tolerance: float) -> list[str]:
    """Return one line per key of `expected` that the outputs do not meet; none if the vector passes."""
    return [
        f"{key}: expected {value!r}, got {got.get(key)!r}"
        for key, value in expected.items()
        if key not in got or not same(value, got[key], tolerance)
    ]


def same(expected: object, got: object, tolerance: float) -> bool:
    """Tell whether what came is what was expected; `tolerance` is absolute, 0 = equal."""
    if isinstance(expected, list):
        return (
            isinstance(got, list | tuple)
            and len(got) == len(expected)
            and all(same(a, b, tolerance) for a, b in zip(expected, got, strict=True))
        )
    if isinstance(expected, Mapping):
        return (
            isinstance(got, Mapping)
            and expected.keys() == got.keys()
            and all(same(value, got[key], tolerance) for key, value in expected.items())
        )
    if expected is None or isinstance(expected, bool | str):
        return bool(expected == got) and type(expected) is type(got)
    if isinstance(expected, int | float) and isinstance(got, int | float | Fraction) and not isinstance(got, bool):
        return bool(expected == got) if tolerance == 0 else abs(float(got) - float(expected)) <= tolerance
    return False


def integer(inputs: Inputs, key: str) -> int:
    """Return an integer input. Raises: ValueError."""
    value = inputs.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{key}: an integer is due")
    return value


def real(inputs: Inputs, key: str, default: float | None = None) -> float:
    """Return a number as a float. Raises: ValueError."""
    value = inputs.get(key, default)
    if isinstance(value, str):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{key}: a number is due")
    return float(value)


def decimal(inputs: Inputs, key: str) -> Decimal:
    """Return a decimal: exact from text, and from a JSON number by its shortest text. Raises: ValueError."""
    value = inputs.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{key}: a decimal is due")
    return Decimal(value) if isinstance(value, str) else Decimal(repr(value))


def text(inputs: Inputs, key: str, default: str = "") -> str:
    """Return a text. Raises: ValueError."""
    value = inputs.get(key, default)
    if not isinstance(value, str):
        raise ValueError(f"{key}: a text is due")
    return value


def texts(inputs: Inputs, key: str) -> list[str]:
    """Return a list of texts. Raises: ValueError."""
    return [text({key: member}, key) for member in _list(inputs.get(key), key)]


def reals(inputs: Inputs, key: str) -> list[float]:
    """Return a list of numbers. Raises: ValueError."""
    return [real({key: member}, key) for member in _list(inputs.get(key), key)]


def integers(inputs: Inputs, key: str) -> list[int]:
    """Return a list of integers. Raises: ValueError."""
    return [integer({key: member}, key) for member in _list(inputs.get(key), key)]


def _list(value: object, key: str) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"{key}: a list is due")
    return value


def _values(value: object) -> dict[str, object]:
    """Return the fields of a result."""
    if not is_dataclass(value):
        raise TypeError("a result is due")
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _acceptance(i: Inputs) -> Outputs:
    return _values(
        room.acceptance_numbers(
            decimal(i, "threshold"),
            integer(i, "n"),
            decimal(i, "alpha_pass"),
            decimal(i, "alpha_breach"),
            text(i, "direction", "at_least"),
            text(i, "rule", "guarded"),
        )
    )


def _bank_numbers(i: Inputs) -> Outputs:
    found = room.finite_bank_acceptance_numbers(
        integer(i, "bank_size"),
        integer(i, "n"),
        decimal(i, "threshold"),
        decimal(i, "alpha_pass"),
        decimal(i, "alpha_breach"),
    )
    return {"count_required": found.count_required, **_values(found.numbers)}


def _bank_interval(i: Inputs) -> Outputs:
    return _values(
        room.finite_bank_interval(integer(i, "x"), integer(i, "n"), integer(i, "bank_size"), decimal(i, "confidence"))
    )


def _bound(i: Inputs) -> Outputs:
    found = room.exact_bound(integer(i, "x"), integer(i, "n"), real(i, "confidence"))
    return {"lower_bound": found.low, "upper_bound": found.high}


def _two_point(i: Inputs) -> Outputs:
    plan = room.TwoPoint(
        f0=decimal(i, "failures_good"),
        r0=decimal(i, "risk_reject_good"),
        f1=decimal(i, "failures_bad"),
        r1=decimal(i, "risk_accept_bad"),
    )
    found = room.two_point_plan(plan)
    return {"n": None, "pass_max_failures": None} if found is None else _values(found)


def _clustered(i: Inputs) -> Outputs:
    floor = None if i.get("icc_floor") is None else real(i, "icc_floor")
    return _values(room.clustered_decision(reals(i, "successes"), reals(i, "sizes"), floor, real(i, "alpha")))


def _cluster_interval(i: Inputs) -> Outputs:
    successes, sizes, confidence = reals(i, "successes"), reals(i, "sizes"), real(i, "confidence", 0.95)
    found = room.clustered_interval(successes, sizes, confidence)
    logit = room.logit_interval(successes, sizes, confidence)
    return {
        "mean": found.mean,
        "se_cr": found.se_cr,
        "korn_graubard_low": found.low,
        "korn_graubard_high": found.high,
        "logit_low": logit.low,
        "logit_high": logit.high,
    }


def confusion(i: Inputs) -> Confusion:
    """Return the calibration counts of a vector."""
    return Confusion(integer(i, "y0"), integer(i, "m0"), integer(i, "y1"), integer(i, "m1"))


def _mixed(i: Inputs) -> Outputs:
    return _values(
        room.mixed_interval(
            real(i, "x_rule"),
            real(i, "n_rule"),
            real(i, "k"),
            real(i, "n_judged"),
            confusion(i),
            real(i, "confidence"),
        )
    )


def _equivalent(i: Inputs) -> Outputs:
    labels = room.equivalent_labels(
        integer(i, "n"),
        real(i, "sensitivity"),
        real(i, "specificity"),
        real(i, "true_rate"),
        None if i.get("m0") is None else integer(i, "m0"),
        None if i.get("m1") is None else integer(i, "m1"),
    )
    return {"labels": labels}


def _kappa(i: Inputs) -> Outputs:
    table = [integers({"row": row}, "row") for row in _list(i.get("table"), "table")]
    found = room.cohen_kappa(table, real(i, "confidence", 0.95))
    return {**_values(found), "ase": found.se}


def _raters(i: Inputs, key: str) -> list[list[int | None]]:
    return [
        [None if value is None else integer({key: value}, key) for value in _list(row, key)]
        for row in _list(i.get(key), key)
    ]


def _paired_size(i: Inputs) -> Outputs:
    return _values(
        room.paired_sample_size(
            real(i, "omega2"),
            real(i, "sigma2_a"),
            real(i, "sigma2_b"),
            integer(i, "k_a"),
            integer(i, "k_b"),
            real(i, "delta"),
            real(i, "alpha"),
            real(i, "power"),
        )
    )


def _bounded_log_e(i: Inputs) -> Outputs:
    return _values(
        room.bounded_mean_log_e(reals(i, "scores"), real(i, "scale_low"), real(i, "scale_high"), real(i, "threshold"))
    )


def _bounded_interval(i: Inputs) -> Outputs:
    return _values(
        room.bounded_mean_interval(
            reals(i, "scores"), real(i, "scale_low"), real(i, "scale_high"), real(i, "confidence")
        )
    )


def _log_e(i: Inputs) -> Outputs:
    successes, failures = integer(i, "successes"), integer(i, "failures")
    return {
        "log_e": room.one_sided_log_e(
            successes, failures, decimal(i, "threshold"), real(i, "a"), real(i, "b"), text(i, "side")
        )
    }


def _audit(i: Inputs) -> Outputs:
    return _values(
        room.human_audit(
            reals(i, "human"), reals(i, "judge_labelled"), reals(i, "judge_unlabelled"), real(i, "confidence")
        )
    )


def _interval(method: Callable[[int, int, float], object]) -> Callable[[Inputs], Outputs]:
    return lambda i: _values(method(integer(i, "x"), integer(i, "n"), real(i, "confidence")))


def _pairs(method: Callable[[int, int], object]) -> Callable[[Inputs], Outputs]:
    return lambda i: _values(method(integer(i, "b"), integer(i, "c")))


METHODS: Mapping[str, Callable[[Inputs], Outputs]] = {
    "acceptance_numbers": _acceptance,
    "binomial_tails": lambda i: _values(room.binomial_tails(integer(i, "x"), integer(i, "n"), decimal(i, "threshold"))),
    "bounded_mean_interval": _bounded_interval,
    "bounded_mean_log_e": _bounded_log_e,
    "calibration_allocation": lambda i: _values(
        room.calibration_allocation(
            integer(i, "m"), real(i, "p"), real(i, "q0_pilot"), real(i, "q1_pilot"), integer(i, "m_pilot")
        )
    ),
    "change_check": lambda i: _values(
        room.change_check(real(i, "b"), real(i, "c"), real(i, "n"), decimal(i, "max_loss"), decimal(i, "alpha"))
    ),
    "clustered_decision": _clustered,
    "clustered_interval": _cluster_interval,
    "cohen_kappa": _kappa,
    "cohen_kappa_interval": _kappa,
    "equivalent_labels": _equivalent,
    "exact_bound": _bound,
    "exact_interval": _interval(room.exact_interval),
    "finite_bank_acceptance_numbers": _bank_numbers,
    "finite_bank_interval": _bank_interval,
    "gwet_ac1": lambda i: _values(room.gwet_ac1(_raters(i, "raters"))),
    "holm_adjust": lambda i: {"adjusted": room.holm_adjust(reals(i, "p"))},
    "human_audit": _audit,
    "icc_one_way": lambda i: _values(
        room.icc_one_way([reals({"row": row}, "row") for row in _list(i.get("matrix"), "matrix")])
    ),
    "independent_difference": lambda i: _values(
        room.independent_difference(
            integer(i, "x1"), integer(i, "n1"), integer(i, "x2"), integer(i, "n2"), real(i, "confidence")
        )
    ),
    "jeffreys_interval": _interval(room.jeffreys_interval),
    "judge_corrected": lambda i: _values(
        room.judge_corrected(real(i, "k"), real(i, "n"), confusion(i), real(i, "confidence"))
    ),
    "krippendorff_alpha": lambda i: _values(room.krippendorff_alpha(_raters(i, "reliability_data"))),
    "landis_koch": lambda i: {"label": room.landis_koch(real(i, "kappa"), real(i, "low"))},
    "mcnemar_exact": _pairs(room.mcnemar_exact),
    "mcnemar_midp": _pairs(room.mcnemar_midp),
    "min_n_power": lambda i: {
        "n": room.min_n_power(
            decimal(i, "threshold"), decimal(i, "true_rate"), decimal(i, "alpha"), real(i, "power"), text(i, "side")
        )
    },
    "min_n_zero_failures": lambda i: {"n": room.min_n_zero_failures(decimal(i, "threshold"), decimal(i, "alpha"))},
    "mixed_interval": _mixed,
    "oc_accept": lambda i: {"accept": room.oc_accept(integer(i, "n"), integer(i, "c"), real(i, "p_nonconforming"))},
    "one_sided_log_e": _log_e,
    "paired_difference": lambda i: _values(room.paired_difference(reals(i, "a"), reals(i, "b"))),
    "paired_sample_size": _paired_size,
    "power": lambda i: {
        "power": room.power(
            decimal(i, "threshold"), decimal(i, "true_rate"), integer(i, "n"), decimal(i, "alpha"), text(i, "side")
        )
    },
    "required_sample": lambda i: {"n": room.required_sample(decimal(i, "quantile"), decimal(i, "confidence"))},
    "two_point_plan": _two_point,
    "wilson_interval": _interval(room.wilson_interval),
    "zero_event_bound": lambda i: _values(room.zero_event_bound(integer(i, "n"), real(i, "confidence"))),
}
"""Methods of roles C and R of this room; `slaverify.decision.vectors` adds its own."""


def run(methods: Mapping[str, Callable[[Inputs], Outputs]], vector: Mapping[str, object]) -> Sequence[str]:
    """Return the differences of one vector; a method that nobody knows is a difference, never a pass."""
    method, inputs, expected = vector.get("method"), vector.get("inputs"), vector.get("expected")
    function = methods.get(method) if isinstance(method, str) else None
    if function is None:
        return [f"unknown method: {method!r}"]
    if not isinstance(inputs, dict) or not isinstance(expected, dict):
        return ["inputs and expected are due"]
    return differences(expected, function(inputs), real(vector, "tolerance"))
