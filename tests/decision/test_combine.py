"""From several metrics to one: order, Holm, and what may never improve a verdict."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.decision import Reason, RunValidity, State, decide, inputs, results, states
from slaverify.decision.combine import Member, combine_states
from slaverify.decision.rules import Facts, guard_of, metric_state
from tests.decision.build import ACCURACY, HALLUCINATION, TIMED_OUT, WRONG, build, record, run

ALPHA = Fraction("0.025")
ORDER = [State.BREACH, State.INVALID_RUN, State.NOT_MEASURED, State.INCONCLUSIVE, State.PASS]

members = st.builds(
    Member,
    state=st.sampled_from([State.PASS, State.INCONCLUSIVE, State.NOT_MEASURED, State.INVALID_RUN]),
    p_breach=st.one_of(st.none(), st.integers(0, 1000).map(lambda k: Fraction(k, 1000))),
    binding=st.booleans(),
    tested=st.booleans(),
)


@given(st.lists(members, max_size=6))
@settings(max_examples=300, deadline=None)
def test_pass_needs_every_binding_metric(found: list[Member]) -> None:
    combined = combine_states(found, ALPHA)
    binding = [m for m in found if m.binding]
    if combined.state is State.PASS:
        assert binding
        assert all(m.state is State.PASS for m in binding)
    if not binding:
        assert combined.state is State.NOT_MEASURED
    assert (combined.state is State.BREACH) == bool(combined.breaching)
    assert combine_states(found, ALPHA, run_valid=False).state is State.INVALID_RUN
    assert combine_states(found, ALPHA, run_valid=False).breaching == ()


@given(st.lists(members, min_size=1, max_size=6), st.data())
@settings(max_examples=200, deadline=None)
def test_order_of_metrics_changes_nothing(found: list[Member], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(found))))
    one, two = combine_states(found, ALPHA), combine_states([found[i] for i in order], ALPHA)
    assert one.state == two.state
    assert set(one.breaching) == {order[i] for i in two.breaching}


def test_an_unmeasured_metric_stays_in_the_family() -> None:
    open_ = Member(state=State.INCONCLUSIVE, p_breach=Fraction("0.02"), binding=True)
    missing = Member(state=State.NOT_MEASURED, p_breach=None, binding=True)
    assert combine_states([open_], ALPHA).state is State.BREACH
    assert combine_states([open_, missing], ALPHA).state is State.NOT_MEASURED
    assert combine_states([open_, missing], ALPHA, holm=False).state is State.BREACH


def test_a_forced_breach_needs_no_p() -> None:
    forced = Member(state=State.INCONCLUSIVE, p_breach=Fraction(1), binding=True, forced=True)
    assert combine_states([forced], ALPHA).breaching == (0,)


BASE = {
    "run_valid": True,
    "judge_drift": False,
    "n": 100,
    "observations": 100,
    "unresolved": 0,
    "unresolved_max": Decimal("0.01"),
    "guard": None,
    "clusters": None,
    "provenance": "measured",
    "passes": True,
    "breaches": False,
}
LINES = [
    ({"run_valid": False, "judge_drift": True}, State.INVALID_RUN, Reason.RUN_INVALID),
    ({"judge_drift": True, "unresolved": 5}, State.INVALID_RUN, Reason.JUDGE_DRIFT),
    ({"unresolved": 2, "n": 0}, State.INVALID_RUN, Reason.UNRESOLVED_ABOVE_LIMIT),
    ({"unresolved": 1}, State.PASS, None),
    ({"n": 0, "clusters": 1}, State.NOT_MEASURED, Reason.NO_OBSERVATIONS),
    ({"observations": 0}, State.NOT_MEASURED, Reason.NO_OBSERVATIONS),
    ({"clusters": 1, "guard": Reason.DATA_ABSENT}, State.NOT_MEASURED, Reason.ONE_CLUSTER),
    ({"clusters": 0}, State.NOT_MEASURED, Reason.ONE_CLUSTER),
    (
        {"guard": Reason.JUDGE_NOT_INFORMATIVE, "provenance": "declared"},
        State.NOT_MEASURED,
        Reason.JUDGE_NOT_INFORMATIVE,
    ),
    ({"provenance": "declared", "clusters": 3}, State.NOT_MEASURED, Reason.PROVENANCE_DECLARED),
    ({"provenance": "insufficient"}, State.NOT_MEASURED, Reason.PROVENANCE_INSUFFICIENT),
    ({"provenance": "not_measured"}, State.NOT_MEASURED, Reason.PROVENANCE_NOT_MEASURED),
    ({"provenance": "sworn"}, State.NOT_MEASURED, Reason.PROVENANCE_NOT_MEASURED),
    ({"provenance": "derived"}, State.PASS, None),
    ({"clusters": 4}, State.INCONCLUSIVE, Reason.FEW_CLUSTERS),
    ({"clusters": 5}, State.PASS, None),
    ({"passes": False}, State.INCONCLUSIVE, None),
    ({"passes": False, "breaches": True}, State.BREACH, None),
    ({"passes": True, "breaches": True}, State.BREACH, None),
]


@pytest.mark.parametrize(("changes", "state", "reason"), LINES)
def test_lines_in_their_order(changes: dict, state: State, reason: Reason | None) -> None:
    ruling = metric_state(Facts(**{**BASE, **changes}))
    assert (ruling.state, ruling.reason) == (state, reason)


def test_a_guard_nobody_knows_still_measures_nothing() -> None:
    assert guard_of("calibration_too_small") is Reason.CALIBRATION_TOO_SMALL
    assert guard_of("all_is_well") is Reason.DATA_ABSENT
    assert guard_of("run_invalid") is Reason.DATA_ABSENT


def whole(contract, records: list) -> str:
    return states(contract, inputs(contract, records), RunValidity(True))["state"]


RANK = {"BREACH": 0, "INCONCLUSIVE": 1, "PASS": 2}
EVENTS = [WRONG, TIMED_OUT, {"outcome": "malformed"}, {"outcome": "refused"}, {"verdict": "incomplete"}]


@given(
    wrong=st.integers(0, 40),
    extra=st.sampled_from(EVENTS),
    direction=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_one_more_failure_never_improves_the_state(wrong: int, extra: dict, direction: bool) -> None:
    metric = (
        ACCURACY
        if direction
        else {**ACCURACY, "count": {"verdict": ["incorrect"]}, "direction": "at_most", "threshold": "0.10"}
    )
    contract = build([metric])
    records = run(wrong)
    worse = [record(i, **extra) if i == wrong else r for i, r in enumerate(records)]
    assert RANK[whole(contract, worse)] <= RANK[whole(contract, records)]


@given(wrong=st.integers(0, 120))
@settings(max_examples=60, deadline=None)
def test_at_most_mirrors_at_least(wrong: int) -> None:
    mirror = {**ACCURACY, "count": {"verdict": ["incorrect"]}, "direction": "at_most", "threshold": "0.10"}
    assert whole(build([mirror]), run(wrong)) == whole(build([ACCURACY]), run(wrong))


def test_gaming_by_time_outs() -> None:
    """Three quarters of the would-be errors timed out: the same verdict as answering them wrongly."""
    contract = build([ACCURACY])
    for wrong in range(0, 60, 3):
        records = run(wrong)
        timed = [record(i, **TIMED_OUT) if i < wrong * 3 // 4 else r for i, r in enumerate(records)]
        assert whole(contract, timed) == whole(contract, records)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda c: st.lists(c, max_size=3) | st.dictionaries(st.text(max_size=8), c, max_size=3),
        max_leaves=12,
    )
)
@settings(max_examples=100, deadline=None)
def test_hostile_inputs_raise_nothing_and_never_pass(tree: object) -> None:
    contract = build([ACCURACY, HALLUCINATION])
    hostile = {"metrics": [{"id": "accuracy", "n": tree, "x": tree, "clusters": tree, "events": tree}, tree]}
    for document in (hostile, {"metrics": tree}, {}):
        numbers = results(contract, document, RunValidity(True))
        assert decide(contract, numbers, RunValidity(True))["state"] != "PASS"
        assert states(contract, document, RunValidity(True))["state"] != "PASS"
    assert decide(contract, {"metrics": tree}, RunValidity(True))["state"] == "NOT_MEASURED"
    assert (
        decide(contract, {"metrics": [{"id": "accuracy", "state": tree}]}, RunValidity(True))["state"] == "NOT_MEASURED"
    )


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(sorted(record(1))),
            st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=6),
            max_size=8,
        ),
        max_size=8,
    )
)
@settings(max_examples=80, deadline=None)
def test_hostile_records_raise_nothing_and_never_pass(trees: list) -> None:
    contract = build([ACCURACY, HALLUCINATION])
    assert whole(contract, [*run(), *[{**record(i), **tree, "side": "current"} for i, tree in enumerate(trees)]]) == (
        "INVALID_RUN" if trees else "PASS"
    )
