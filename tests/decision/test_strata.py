"""The descriptive rows of the strata: counts, rate and intervals of each, in the contract's own sense, no state."""

from __future__ import annotations

from fractions import Fraction

import pytest
from scipy.stats import beta, norm

from slaverify.canonical import real9
from slaverify.decision import RunValidity, inputs, results
from tests.decision.build import ACCURACY, TIMED_OUT, WRONG, build, record

VAGUE = {"flags": ["cut_body"]}


def wilson(x: int, n: int, z: float, sign: int) -> float:
    """The root of |x/n - p| = z sqrt(p (1 - p) / n) on one side: Wilson's limit, solved as a quadratic."""
    b = 2 * x + z * z
    return (b + sign * (b * b - 4 * (n + z * z) * x * x / n) ** 0.5) / (2 * (n + z * z))


@pytest.mark.parametrize("direction", ["at_least", "at_most"])
@pytest.mark.parametrize("confidence", ["0.95", "0.80"])
@pytest.mark.parametrize(
    ("n", "wrong", "vague", "lost"), [(1, 0, 0, 0), (1, 1, 0, 0), (29, 3, 2, 1), (30, 4, 1, 2), (31, 0, 0, 0)]
)
def test_a_stratum_is_shown_by_its_own_counts(
    n: int, wrong: int, vague: int, lost: int, confidence: str, direction: str
) -> None:
    metric = {
        **ACCURACY,
        "among": {"stratum": ["direct", "out_of_corpus"]},
        "decision": {"confidence": confidence},
    }
    if direction == "at_most":
        metric |= {"count": {"verdict": ["incorrect"]}, "direction": direction, "threshold": "0.10"}
    kinds = [WRONG] * wrong + [VAGUE] * vague + [TIMED_OUT] * lost + [{}] * (n - wrong - vague - lost)
    records = [record(i) for i in range(120)]
    records += [record(1000 + i, "out_of_corpus", **kind) for i, kind in enumerate(kinds)]
    contract = build([metric], evaluation_set={"sample": {"per_stratum": {"direct": 120, "out_of_corpus": n}}})
    rows = results(contract, inputs(contract, records), RunValidity(True))["strata"]
    entry = next(row for row in rows if row["stratum"] == "out_of_corpus")
    # What never came is no error that was said: of a rate of errors it is none.
    right = n - wrong - vague - (lost if direction == "at_least" else 0)
    assert (entry["n"], entry["observations"], entry["x"], entry["open"]) == (n, n, right, vague)
    assert (entry["state"], entry["provenance"], entry["method"]) == (None, "measured", "exact")
    assert entry["limitations"] == (["L10"] if n < 30 else [])
    tail = (1 - float(confidence)) / 2
    z = float(norm.ppf(1 - tail))
    low = 0.0 if right == 0 else float(beta.ppf(tail, right, n - right + 1))
    best = right + vague
    high = 1.0 if best == n else float(beta.ppf(1 - tail, best + 1, n - best))
    limits, shown = (low, high), (wilson(right, n, z, -1), wilson(best, n, z, 1))
    rate = Fraction(right, n)
    if direction == "at_most":
        rate, limits, shown = Fraction(wrong, n), (1 - high, 1 - low), (1 - shown[1], 1 - shown[0])
    assert entry["rate"] == real9(rate)
    assert [float(entry["exact"][end]) for end in ("low", "high")] == pytest.approx(limits, abs=1e-8)
    assert [float(entry["wilson"][end]) for end in ("low", "high")] == pytest.approx(shown, abs=1e-8)


def test_a_stratum_that_nobody_drew_measures_nothing() -> None:
    metric = {**ACCURACY, "among": {"stratum": ["direct", "out_of_corpus"]}}
    contract = build([metric])
    rows = results(contract, inputs(contract, [record(i) for i in range(120)]), RunValidity(True))["strata"]
    entry = next(row for row in rows if row["stratum"] == "out_of_corpus")
    assert (entry["n"], entry["rate"], entry["exact"], entry["provenance"]) == (0, None, None, "not_measured")
    assert entry["limitations"] == ["L10"]


def test_a_mean_has_counts_and_no_rate_by_stratum() -> None:
    mean = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"]}
    contract = build([mean])
    records = [record(i, value="0.5") for i in range(120)]
    (entry,) = results(contract, inputs(contract, records), RunValidity(True))["strata"]
    assert (entry["n"], entry["rate"], entry["exact"], entry["wilson"]) == (120, None, None, None)
