"""How many verdicts would change a state where clusters leave an effective sample, against scipy's tails."""

from __future__ import annotations

import pytest
from scipy.stats import beta

from slaverify.decision import RunValidity, inputs, results
from tests.decision.build import ACCURACY, HALLUCINATION, WRONG, build, record, run

CLUSTER = {"cluster": {"by": "norm", "icc_floor": "0.2"}}


def entries(wrong: int, corrected: str) -> list[dict]:
    records = [record(i, cluster=f"c-{i % 40:04d}", **(WRONG if i < wrong else {})) for i in range(120)]
    records += [{**one, "cluster": f"c-{40 + i:04d}"} for i, one in enumerate(run()[120:])]
    contract = build([{**ACCURACY, **CLUSTER}, {**HALLUCINATION, **CLUSTER}], verdict={"multiplicity": corrected})
    return results(contract, inputs(contract, records), RunValidity(True))["metrics"]


def accepted(n: int, n_eff: float, t: float, level: float) -> int | None:
    """The most failures whose share of the effective sample has P(at least so many right | t) within the level."""
    held = [
        f for f in range(n + 1) if float(beta.cdf(t, (n - f) / n * n_eff, n_eff - (n - f) / n * n_eff + 1)) <= level
    ]
    return max(held, default=None)


def rejected(n: int, n_eff: float, t: float, level: float) -> int | None:
    """The fewest failures with P(at most so many right | t) within the level."""
    held = [
        f
        for f in range(n + 1)
        if f > 0 and float(beta.sf(t, (n - f) / n * n_eff + 1, n_eff - (n - f) / n * n_eff)) <= level
    ]
    return min(held, default=None)


@pytest.mark.parametrize("corrected", ["holm", "none"])
@pytest.mark.parametrize("wrong", [1, 4, 12, 30, 60])
def test_verdicts_that_would_change_a_state_over_clusters(wrong: int, corrected: str) -> None:
    (entry, other) = entries(wrong, corrected)
    n_eff, failures = float(entry["n_eff"]), entry["failures"]
    accept = accepted(120, n_eff, 0.9, 0.025)
    reject = rejected(120, n_eff, 0.9, 0.0125 if corrected == "holm" and other["state"] != "BREACH" else 0.025)
    found = entry["tipping"]
    if entry["state"] == "PASS":
        assert (found["to_pass"], found["to_change"]) == (0, accept + 1 - failures)
        assert found["to_breach"] == reject - failures
    elif entry["state"] == "BREACH":
        assert (found["to_breach"], found["to_pass"]) == (0, None if accept is None else failures - accept)
    else:
        assert (found["to_pass"], found["to_breach"]) == (
            None if accept is None else failures - accept,
            reject - failures,
        )


def test_limits_of_an_error_rate_are_those_of_the_successes_turned() -> None:
    (_, error) = entries(12, "holm")
    for interval in ("exact", "wilson"):
        low, high = float(error[interval]["low"]), float(error[interval]["high"])
        assert 0.0 <= low < float(error["rate"]) < high < 0.3
