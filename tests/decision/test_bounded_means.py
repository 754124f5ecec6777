"""Means of bounded scores from score records to the decision, against what the definitions give by hand."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.decision import inputs
from slaverify.decision.betting import bets
from slaverify.decision.terms import terms_of
from tests.decision.build import ACCURACY, TIMED_OUT, build, record
from tests.decision.test_corpora import UNKNOWN, bet

STARS = {
    **ACCURACY,
    "count": None,
    "kind": "mean",
    "value": "value",
    "scale": ["1", "5"],
    "threshold": "4",
}
BAR = math.log(2 / (1 - 0.95))


@settings(max_examples=80)
@given(
    st.lists(
        st.tuples(st.sampled_from(["right", "right", "failed", "unknown"]), st.integers(10, 50), st.integers(0, 5)),
        min_size=1,
        max_size=40,
    ),
    st.booleans(),
    st.sampled_from(["at_least", "at_most"]),
)
def test_the_bets_of_a_mean_follow_from_its_records(
    of: list[tuple[str, int, int]], clustered: bool, direction: str
) -> None:
    """A failed call has the worst score of the scale; an unknown one the worst at the worst, the best at the best.

    A unit is an item, or a cluster: the mean over its calls. All shares count from the bad end of the scale.
    """
    sense = {**STARS, "direction": direction, "threshold": "4" if direction == "at_least" else "2"}
    contract = build([{**sense, "cluster": {"by": "norm", "icc_floor": "0.2"}} if clustered else sense])
    (terms,) = terms_of(contract)
    records, units = [], defaultdict(list)
    for i, (kind, tenths, group) in enumerate(of):
        cluster = f"c-{group:04d}"
        changes = {"right": {}, "failed": TIMED_OUT, "unknown": UNKNOWN}[kind]
        value = f"{tenths / 10:.1f}" if kind == "right" else None
        records.append(record(i, value=value, cluster=cluster, **changes))
        good = Fraction(tenths - 10, 40) if direction == "at_least" else Fraction(50 - tenths, 40)
        share = {"right": good, "failed": Fraction(0), "unknown": None}[kind]
        units[cluster if clustered else i].append(share)
    worst = [sum(one or 0 for one in unit) / len(unit) for unit in units.values()]
    best = [sum(1 if one is None else one for one in unit) / len(unit) for unit in units.values()]
    found = bets(terms, inputs(contract, records)["metrics"][0])
    assert found is not None
    assert (found.units, found.unknown) == (len(units), sum(unit.count(None) for unit in units.values()))
    average = float(sum(worst)) / len(worst)
    assert found.rate == pytest.approx(1 + 4 * average if direction == "at_least" else 5 - 4 * average)
    t = 0.75
    assert found.log_e_pass == pytest.approx(bet([float(y) for y in worst], t), abs=1e-6)
    assert found.log_e_breach == pytest.approx(bet([1 - float(y) for y in best], 1 - t), abs=1e-6)
    assert found.log_e_against == pytest.approx(bet([1 - float(y) for y in worst], 1 - t), abs=1e-6)
    low, high = ((edge - 1) / 4 for edge in (found.low, found.high))
    if direction == "at_most":
        low, high = 1 - high, 1 - low
    assert -1e-9 <= low <= high <= 1 + 1e-9
    if low > 1e-9:
        assert bet([float(y) for y in worst], low) == pytest.approx(BAR, abs=1e-4)
    if high < 1 - 1e-9:
        assert bet([1 - float(y) for y in best], 1 - high) == pytest.approx(BAR, abs=1e-4)


@pytest.mark.parametrize(
    "row",
    [
        ["0.9", 0, 1],  # below the scale, once counted
        ["5.1", 0, 1],  # above it
        ["3", 1, 1],  # a score where nothing is known
        ["5", 2, 2],
        [None, 0, 1],  # off the scale when it was counted
        ["3", 0, 0],  # a unit of no calls
        ["3", None, 1],
        ["3", 0, None],
        ["x", 0, 1],
        ["3", 0],
        "row",
    ],
)
def test_a_forged_score_leaves_nothing_to_bet_on(row: object) -> None:
    contract = build([STARS])
    (terms,) = terms_of(contract)
    good = inputs(contract, [record(i, value="5") for i in range(120)])["metrics"][0]
    assert bets(terms, good) is not None
    assert bets(terms, {**good, "units": [*good["units"], row]}) is None


@pytest.mark.parametrize("threshold", ["1", "5"])
def test_a_promise_at_an_end_of_the_scale_has_no_room_for_a_bet(threshold: str) -> None:
    contract = build([STARS])
    entry = inputs(contract, [record(i, value="5") for i in range(120)])["metrics"][0]
    (terms,) = terms_of(build([{**STARS, "threshold": threshold}]))
    assert bets(terms, entry) is None


def test_a_score_off_its_scale_is_never_clipped() -> None:
    contract = build([STARS])
    records = [record(0, value="5.5"), record(1, value="5")]
    assert inputs(contract, records)["metrics"][0]["units"] == [[None, 0, 1], ["5.000000000", 0, 1]]
