"""Corpus rates and clusters from score records to the decision, against what the definitions give by hand."""

from __future__ import annotations

import math
from collections import defaultdict
from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from slaverify.decision import RunValidity, inputs, results
from slaverify.decision.betting import bets
from slaverify.decision.terms import terms_of
from tests.decision.build import ACCURACY, TIMED_OUT, WRONG, build, record, run

VALID = RunValidity(True)
WER = {
    **ACCURACY,
    "count": None,
    "kind": "corpus_rate",
    "direction": "at_most",
    "threshold": "0.30",
    "w_max": 50,
    "r_max": "2",
}
CLUSTERED = {**ACCURACY, "cluster": {"by": "norm", "icc_floor": "0.2"}}
STAKES = (0.03, 0.1, 0.3, 0.6, 0.85)
UNKNOWN = {"outcome": "unresolved", "verdict": None}
rows = st.lists(
    st.tuples(
        st.sampled_from(["right", "right", "failed", "unknown"]),
        st.integers(0, 60),
        st.integers(0, 20),
        st.integers(0, 9),
    ),
    min_size=1,
    max_size=40,
)


def bet(shares: list[float], t: float) -> float:
    logs = [sum(math.log1p(stake * (y / t - 1)) for y in shares) for stake in STAKES]
    top = max(logs)
    return top + math.log(sum(math.exp(one - top) for one in logs) / len(STAKES))


@settings(max_examples=80)
@given(rows, st.booleans())
def test_the_bets_of_a_corpus_follow_from_its_records(of: list[tuple[str, int, int, int]], clustered: bool) -> None:
    """Errors up to twice the weight (of a silence: two); a failed call has all of its weight wrong; an unknown one
    is all wrong at the worst and not there at the best. A unit is an item, or a cluster: the mean over its calls."""
    metric = {**WER, "cluster": {"by": "norm", "icc_floor": "0.2"}} if clustered else WER
    contract = build([metric])
    (terms,) = terms_of(contract)
    records, units = [], defaultdict(list)
    for i, (kind, errors, weight, group) in enumerate(of):
        cluster = f"c-{group:04d}"
        changes = {"right": {}, "failed": TIMED_OUT, "unknown": UNKNOWN}[kind]
        wrong = None if kind == "failed" else errors
        records.append(record(i, errors=wrong, weight=weight, cluster=cluster, **changes))
        known = None if kind == "unknown" else (weight if wrong is None else min(errors, 2 * max(weight, 1)), weight)
        units[cluster if clustered else i].append(known)
    known = [one for unit in units.values() for one in unit if one is not None]
    assume(sum(weight for _, weight in known) > 0)
    found = bets(terms, inputs(contract, records)["metrics"][0])
    assert found is not None
    worst, best = [], []
    for unit in units.values():
        size, hidden = len(unit), unit.count(None)
        wrong, words = (sum(one[k] for one in unit if one is not None) for k in (0, 1))
        full = (words + hidden * 50) / size
        worst.append(((wrong + hidden * 2 * 50) / size, full))
        best.append((wrong / size, full))

    def shares(rows: list[tuple[float, float]], t: float) -> list[float]:
        return [min(1.0, max(0.0, (e - t * w + t * 50) / (2 * 50))) for e, w in rows]

    assert (found.units, found.unknown) == (len(units), sum(unit.count(None) for unit in units.values()))
    assert found.rate == pytest.approx(sum(e for e, _ in known) / sum(w for _, w in known))
    assert found.log_e_pass == pytest.approx(bet([1 - y for y in shares(worst, 0.3)], 1 - 0.3 / 2), abs=1e-6)
    assert found.log_e_breach == pytest.approx(bet(shares(best, 0.3), 0.3 / 2), abs=1e-6)
    assert found.log_e_against == pytest.approx(bet(shares(worst, 0.3), 0.3 / 2), abs=1e-6)
    bar = math.log(2 / (1 - 0.95))
    if found.low > 1e-9:
        assert bet(shares(best, found.low), found.low / 2) == pytest.approx(bar, abs=1e-4)
    if found.high < 2 - 1e-9:
        assert bet([1 - y for y in shares(worst, found.high)], 1 - found.high / 2) == pytest.approx(bar, abs=1e-4)
    assert found.low <= found.high


def test_words_said_in_a_silence_count_and_measure() -> None:
    """One recording of silence with an invented word: the rate has its error, and nobody escapes the measurement."""
    records = [record(0, errors=1, weight=0)] + [record(i, errors=0, weight=20) for i in range(1, 120)] + run()[120:]
    contract = build([WER])
    entry = results(contract, inputs(contract, records), VALID)["metrics"][0]
    assert (entry["state"], entry["reason"]) == ("PASS", None)
    assert (
        0 <= Decimal(entry["exact"]["low"]) < Decimal(entry["rate"]) < Decimal(entry["exact"]["high"]) < Decimal("0.3")
    )
    assert Decimal(entry["rate"]) == (Decimal(1) / (119 * 20)).quantize(Decimal("0.000000001"))


@pytest.mark.parametrize(
    "row",
    [
        ["7", 2, 0, 1],  # more errors than r_max allows
        ["0", 51, 0, 1],  # a unit longer than w_max
        [None, 20, 0, 1],  # off the scale when it was counted
        ["1", 20, 0, 0],  # a unit of no calls
        ["x", 20, 0, 1],
        ["1", None, 0, 1],
        ["1", 20, None, 1],
        ["1", 20, 0, None],
        ["1", 20, 0],
        "row",
    ],
)
def test_a_forged_unit_leaves_nothing_to_bet_on(row: object) -> None:
    contract = build([WER])
    (terms,) = terms_of(contract)
    good = inputs(contract, [record(i, errors=0, weight=20) for i in range(120)])["metrics"][0]
    assert bets(terms, good) is not None
    assert bets(terms, {**good, "units": [*good["units"], row]}) is None
    assert bets(terms, {**good, "units": [["0", 0, 0, 1]]}) is None  # no weight at all


@pytest.mark.parametrize("missing", ["w_max", "r_max"])
def test_without_a_scale_there_is_no_bet(missing: str) -> None:
    contract = build([{**WER, missing: None}])
    (terms,) = terms_of(contract)
    entry = inputs(contract, [record(i, errors=0, weight=20) for i in range(120)])["metrics"][0]
    assert entry["units"][0][0] is None
    assert bets(terms, {**entry, "units": [["0", 20, 0, 1]] * 120}) is None


@pytest.mark.parametrize("field", ["errors", "weight"])
@pytest.mark.parametrize("value", [True, -1, "3", 2.5])
def test_a_count_that_is_none_is_unknown(field: str, value: object) -> None:
    contract = build([WER])
    records = [record(0, **{"errors": 1, "weight": 20, field: value})]
    assert inputs(contract, records)["metrics"][0]["units"] == [["0.000000000", 0, 1, 1]]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["right", "wrong", "unknown", "not_sent"]), st.none() | st.integers(0, 5)),
        min_size=1,
        max_size=40,
    ),
    st.integers(0, 3),
)
def test_clusters_are_counted_and_what_is_excused_leaves_its_own(
    of: list[tuple[str, int | None]], allowed: int
) -> None:
    contract = build([CLUSTERED], failed_calls={"not_sent": {"counts_as": {"excluded_up_to": allowed}}})
    kinds = {"right": {}, "wrong": WRONG, "unknown": UNKNOWN, "not_sent": {"outcome": "not_sent"}}
    records = [
        record(i, cluster=None if group is None else f"c-{group:04d}", **kinds[kind])
        for i, (kind, group) in enumerate(of)
    ]
    entry = inputs(contract, records)["metrics"][0]
    groups: dict[object, list[str]] = defaultdict(list)
    for i, (kind, group) in enumerate(of):
        groups[f"i{i}" if group is None else group].append(kind)
    unsent = sum(kind == "not_sent" for kind, _ in of)
    excused = min(allowed, unsent)
    total = [sum(row[k] for row in entry["clusters"]) for k in range(3)]
    assert total[2] == len(of) - excused
    assert total[0] == sum(kind == "right" for kind, _ in of)
    assert total[1] == sum(kind == "unknown" for kind, _ in of) + unsent - excused
    if excused == 0 or excused == unsent:
        gone = () if excused == 0 else ("not_sent",)
        expected = sorted(
            [kinds.count("right"), len([k for k in kinds if k in ("unknown", "not_sent") and k not in gone]),
             len([k for k in kinds if k not in gone])]
            for kinds in groups.values()
        )  # fmt: skip
        assert sorted(entry["clusters"]) == [row for row in expected if row[2] > 0]
    assert all(size > 0 for _, _, size in entry["clusters"])
