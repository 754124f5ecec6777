"""`statistics/inputs.json` counted again, record by record: departures from the plan add up, they never cancel out."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.decision import RunValidity, inputs, results
from tests.decision.build import ACCURACY, JUDGE, TIMED_OUT, WRONG, build, record, run
from tests.decision.test_limitations import PREDICTED
from tests.decision.test_methods import EXTEND

VALID = RunValidity(True)
RULES = [{"rule": "text@1", "status": "decided", "correctness": "incorrect", "reason": "sign", "flags": []}]
LEAK = {"code": "constant_output", "level": "pattern", "confirmed": False}
MANIPULATION = {"code": "markup", "level": "manipulation", "confirmed": True}
KINDS = {
    "right": {},
    "wrong": {**WRONG, "rules": RULES},
    "silent": {**WRONG, "rules": []},
    "lost": TIMED_OUT,
    "unknown": {"outcome": "unresolved"},
    "open": {"flags": ["cut_body"]},
    "unsent": {"outcome": "not_sent"},
}
FATES = {
    "right": "x", "wrong": "failures", "silent": "failures", "lost": "failures_vendor", "unknown": "unresolved",
    "open": "open", "unsent": "unresolved",
}  # fmt: skip
WORST_FIRST = ("failures", "failures_vendor", "open", "unresolved", "x")
calls = st.tuples(
    st.sampled_from(["right", "right", "right", *KINDS]),
    st.sampled_from([(), (LEAK,), (MANIPULATION,), (LEAK, MANIPULATION, LEAK)]),
    st.sampled_from(["rule", "judge"]),
)


@st.composite
def samples(draw: st.DrawFn) -> tuple[int, list]:
    """Calls per item, and items: stratum, cluster, what became of each call."""
    k = draw(st.integers(1, 3))
    item = st.tuples(
        st.sampled_from(["direct", "out_of_corpus"]), st.integers(0, 4), st.lists(calls, min_size=k, max_size=k)
    )
    return k, draw(st.lists(item, max_size=12))


@settings(max_examples=80)
@given(samples(), st.sampled_from(["each_call", "all_of_k"]), st.booleans(), st.integers(0, 3))
def test_counts_are_those_of_the_records(of: tuple[int, list], aggregate: str, narrow: bool, allowed: int) -> None:
    per_item, items = of
    metric = {**ACCURACY, "among": {"stratum": ["direct"] if narrow else ["direct", "out_of_corpus"]}}
    contract = build(
        [{**metric, "cluster": {"by": "norm", "icc_floor": "0.2"}}],
        **JUDGE,
        repetitions={"per_item": per_item, "aggregate": aggregate},
        failed_calls={"not_sent": {"counts_as": {"excluded_up_to": allowed}}},
    )
    records, counted, clusters = [], [], defaultdict(list)
    left = allowed if per_item == 1 else 0
    for i, (stratum, cluster, own) in enumerate(items):
        made = [
            record(i, stratum, repetition=k, cluster=f"c-{cluster:04d}", events=[*events], decided_by=by, **KINDS[kind])
            for k, (kind, events, by) in enumerate(own)
        ]
        records += made
        if narrow and stratum != "direct":
            continue
        pairs = [(kind, one) for (kind, _, _), one in zip(own, made, strict=True)]
        if aggregate == "all_of_k":
            pairs = [min(pairs, key=lambda pair: WORST_FIRST.index(FATES[pair[0]]))]  # of equals the first
        for kind, one in pairs:
            if kind == "unsent" and left > 0:
                left -= 1
                counted.append(("excluded", one))
            else:
                counted.append((FATES[kind], one))
                clusters[cluster].append(FATES[kind])
    entry = inputs(contract, records)["metrics"][0]
    found = Counter(fate for fate, _ in counted)
    inside = [(fate, one) for fate, one in counted if fate != "excluded"]
    for fate in ("x", "failures", "failures_vendor", "unresolved", "open", "excluded"):
        assert entry[fate] == found[fate], fate
    asked = [one for one in items if not narrow or one[0] == "direct"]
    pinned = 120 if narrow else 150
    assert entry["missing"] == pinned - len(asked)
    assert entry["n"] == pinned - (found["excluded"] if per_item == 1 else 0)
    assert entry["by_outcome"] == Counter(one["outcome"] for _, one in inside)
    assert entry["by_verdict"] == Counter("none" if one["verdict"] is None else one["verdict"] for _, one in inside)
    reasons = Counter("sign" if one["rules"] else "none" for fate, one in inside if fate == "failures")
    assert entry["by_reason"] == reasons
    by_judge = Counter(fate for fate, one in inside if one["decided_by"] == "judge")
    assert entry["judged"] == (
        {
            "x": by_judge["x"],
            "failures": by_judge["failures"] + by_judge["failures_vendor"],
            "unknown": by_judge["unresolved"] + by_judge["open"],
        }
        if by_judge
        else None
    )
    assert entry["events"] == {
        "confirmed": sum(MANIPULATION in one["events"] for _, one in inside),
        "patterns": {"constant_output": leaks} if (leaks := sum(LEAK in one["events"] for _, one in inside)) else {},
    }
    for name in ("direct",) if narrow else ("direct", "out_of_corpus"):
        own = Counter(fate for fate, one in inside if one["stratum"] == name)
        assert entry["strata"][name] == {
            "n": sum(own.values()),
            **{fate: own[fate] for fate in ("x", "failures", "failures_vendor", "unresolved", "open")},
        }
    assert sorted(entry["clusters"]) == sorted(
        [own.count("x"), own.count("unresolved") + own.count("open"), len(own)] for own in clusters.values()
    )
    rights = Counter(str([kind for kind, _, _ in own].count("right")) for _, _, own in asked)
    assert entry["repeats"] == (None if per_item == 1 else {"calls": per_item, "histogram": rights})
    assert entry["units"] is None


def test_departures_from_the_plan_add_up_and_never_cancel_out() -> None:
    """A question too many and a call too few are two faults: together they make no valid run."""
    twice = build([ACCURACY], repetitions={"per_item": 2})
    whole = [record(i, repetition=k) for i in range(120) for k in range(2)]

    def missing(records: list[dict]) -> int:
        return inputs(twice, records)["metrics"][0]["missing"]

    assert missing(whole) == 0
    # One call short; and a question of a stratum that nobody drew.
    assert missing([*whole[1:], record(500, "other")]) == 2
    assert missing([record(0), record(0), *whole[2:]]) == 2  # the same call twice, the other never
    assert missing([record(0), record(0, repetition=None), *whole[2:]]) == 2  # a call of no repetition stands for none
    assert missing([*whole[1:], record(0, repetition=1, side="neither")]) == 2
    faults = [*whole[1:], record(0, repetition=7)]
    entry = results(twice, inputs(twice, faults), VALID)["metrics"][0]
    assert (entry["state"], entry["reason"]) == ("INVALID_RUN", "run_invalid")


def test_between_two_stages_the_items_pinned_stay_the_denominator() -> None:
    contract = build([ACCURACY], verdict=EXTEND)
    for n, due in ((120, 120), (240, 240), (170, 120)):
        records = [record(i) for i in range(n)]
        assert inputs(contract, records)["metrics"][0]["n"] == due


def test_where_all_items_are_excused_none_is_left() -> None:
    contract = build([ACCURACY], failed_calls={"not_sent": {"counts_as": {"excluded_up_to": 120}}})
    counted = inputs(contract, [record(i, outcome="not_sent") for i in range(120)])
    assert (counted["metrics"][0]["n"], counted["metrics"][0]["excluded"]) == (0, 120)
    entry = results(contract, counted, VALID)["metrics"][0]
    assert (entry["state"], entry["reason"]) == ("NOT_MEASURED", "no_observations")


def test_a_mean_has_units_of_its_own_items_and_no_clusters_of_right_ones() -> None:
    mean = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"]}
    mean["cluster"] = {"by": "norm", "icc_floor": "0.2"}
    records = [record(i, value="0.5", cluster=f"c-{i % 40:04d}") for i in range(120)]
    records += [record(1000 + i, "out_of_corpus", value="0.1") for i in range(30)]
    entry = inputs(build([mean]), records)["metrics"][0]
    assert (entry["clusters"], entry["units"]) == (None, [["1.500000000", 0, 3]] * 40)
    plain = inputs(build([ACCURACY]), run())["metrics"][0]
    assert (plain["clusters"], plain["units"], plain["repeats"]) == (None, None, None)


@pytest.mark.parametrize(
    ("other", "vague", "clusters", "codes"),
    [
        (30, 0, None, set()),
        (30, 1, None, {"L18"}),
        (29, 0, None, {"L10"}),
        (1, 0, None, {"L10"}),
        (0, 0, None, set()),
        (30, 0, 10, set()),
        (30, 0, 9, {"L11"}),
    ],
)
@pytest.mark.parametrize("studied", [False, True])
def test_the_limitations_of_one_figure(
    other: int, vague: int, clusters: int | None, codes: set[str], studied: bool
) -> None:
    """Always: one run of each item, and of whom the rate speaks. Else what its own counts say."""
    metric = {**ACCURACY, "among": {"stratum": ["direct", "out_of_corpus"]}, "predicts": PREDICTED if studied else None}
    metric["cluster"] = None if clusters is None else {"by": "norm", "icc_floor": "0.2"}
    records = [record(i, **({"flags": ["cut_body"]} if i < vague else {})) for i in range(120)]
    records += [record(1000 + i, "out_of_corpus") for i in range(other)]
    records = [{**one, "cluster": f"c-{i % (clusters or 1):04d}"} for i, one in enumerate(records)]
    contract = build(
        [metric], evaluation_set={"sample": {"per_stratum": {"direct": 120, "out_of_corpus": max(1, other)}}}
    )
    entry = results(contract, inputs(contract, records), VALID)["metrics"][0]
    powers = [entry["power_at_margin"], entry["power_breach_at_margin"]]
    weak = entry["margin"] is not None and any(power is None or float(power) < 0.8 for power in powers)
    due = {"L03", "L08", *codes, *(() if studied else ("L27",)), *(("L12",) if weak else ())}
    assert set(entry["limitations"]) == due


def test_a_figure_without_a_margin_is_not_called_weak() -> None:
    mean = {**ACCURACY, "count": None, "kind": "mean", "value": "value", "scale": ["0", "1"], "predicts": PREDICTED}
    entry = results(build([mean]), inputs(build([mean]), [record(i, value="1") for i in range(120)]), VALID)["metrics"][
        0
    ]
    assert (entry["margin"], set(entry["limitations"])) == (None, {"L03", "L08"})
    strong = build([{**ACCURACY, "threshold": "0.5", "margin": "0.4", "predicts": PREDICTED}])
    entry = results(strong, inputs(strong, run()), VALID)["metrics"][0]
    assert set(entry["limitations"]) == {"L03", "L08"}


def test_what_is_excused_hides_nothing_that_comes_after_it() -> None:
    """The first question was never sent and is excused: words, patterns and reasons of all others are counted."""
    contract = build([ACCURACY], failed_calls={"not_sent": {"counts_as": {"excluded_up_to": 1}}})
    rest = [record(i, **KINDS["wrong"], events=[LEAK, MANIPULATION]) for i in range(1, 4)]
    entry = inputs(contract, [record(0, outcome="not_sent", events=[LEAK]), *rest])["metrics"][0]
    assert (entry["excluded"], entry["by_outcome"], entry["by_reason"]) == (1, {"answered": 3}, {"sign": 3})
    assert entry["events"] == {"confirmed": 3, "patterns": {"constant_output": 3}}


def test_a_denominator_that_nobody_pinned_still_counts_what_departs_from_the_plan() -> None:
    """How many answers are abstentions is not known before; that a call is short, and a stratum nobody's, is."""
    answers = {**ACCURACY, "among": {"class": ["answer"]}}
    contract = build([answers], repetitions={"per_item": 2})
    records = [record(i, repetition=k) for i in range(120) for k in range(2)]
    assert inputs(contract, records)["metrics"][0]["missing"] == 0
    assert inputs(contract, [*records[1:], record(0, repetition=9)])["metrics"][0]["missing"] == 2


@pytest.mark.parametrize("calls_", [2, 3])
def test_each_of_two_calls_is_no_item(calls_: int) -> None:
    contract = build([ACCURACY], repetitions={"per_item": calls_, "aggregate": "each_call"})
    records = [record(i, repetition=k) for i in range(120) for k in range(calls_)]
    entry = results(contract, inputs(contract, records), VALID)["metrics"][0]
    assert (entry["method"], entry["n_eff"], entry["pass_max_failures"]) == ("repeats", "120.000000000", None)
