"""The dispersion sample: what varies among repeated calls, by metric, and what nobody decided."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.decision import dispersion
from tests.decision.build import ACCURACY, WRONG, build, record

SAMPLE = {"dispersion_sample": {"items": 30, "repeats": 4}}


def calls(item: int, *right: bool | None) -> list:
    """Return the repeated calls of an item: right, wrong, or undecided."""
    unknown = {"verdict": None, "correctness": "undetermined", "decided_by": None, "outcome": "unresolved"}
    words = {True: {}, False: WRONG, None: unknown}
    return [record(item, repetition=1 + at, **words[one]) for at, one in enumerate(right)]


def entry(records: list, metric: dict = ACCURACY) -> dict:
    found = dispersion(build([metric], repetitions=SAMPLE), records)
    assert found is not None and (found["items"], found["repeats"]) == (30, 4)
    return found["metrics"][0]


def test_none_is_agreed() -> None:
    assert dispersion(build([ACCURACY]), calls(0, True, True, True, False)) is None


def test_what_varies_within_a_question_and_between_questions() -> None:
    # One-way analysis by hand: k = 4, four items with 4, 4, 2 and 0 right.
    records = [
        *calls(0, *[True] * 4),
        *calls(1, *[True] * 4),
        *calls(2, True, False, True, False),
        *calls(3, *[False] * 4),
    ]
    found = entry(records)
    means, grand = [1.0, 1.0, 0.5, 0.0], 0.625
    between = 4 * sum((mean - grand) ** 2 for mean in means) / 3
    within = 4 * 0.25 / 12
    assert float(found["icc"]) == pytest.approx((between - within) / (between + 3 * within), abs=1e-9)
    assert found["histogram"] == {"0": 1, "2": 1, "4": 2} and (found["items"], found["undecided"]) == (4, 0)
    assert float(found["low"]) < float(found["icc"]) < float(found["high"])


def test_what_nobody_decided_is_no_part_of_it() -> None:
    records = [*calls(0, *[True] * 4), *calls(1, True, True, None, True), *calls(2, False, True, True, True)]
    found = entry([*records, *calls(3, True, True)])
    assert (found["items"], found["undecided"], found["histogram"]) == (2, 2, {"3": 1, "4": 1})
    alone = entry(calls(0, *[True] * 4))
    assert (alone["icc"], alone["reason"]) == (None, "too_few_items")
    assert (entry([])["items"], entry([])["reason"]) == (0, "too_few_items")


def test_no_variation_is_no_perfect_agreement() -> None:
    found = entry([*calls(0, *[True] * 4), *calls(1, *[True] * 4)])
    assert (found["icc"], found["low"], found["reason"]) == (None, None, "no_variation")


def test_a_failed_call_is_a_failure_of_the_vendor_here_too() -> None:
    failed = [record(5, repetition=1 + at, outcome="vendor_failure", verdict=None) for at in range(4)]
    assert entry([*failed, *calls(1, *[True] * 4)])["histogram"] == {"0": 1, "4": 1}


def test_only_the_questions_of_a_metric_are_its_own() -> None:
    other = [{**one, "stratum": "out_of_corpus"} for one in calls(7, *[False] * 4)]
    assert entry([*other, *calls(0, *[True] * 4), *calls(1, *[True] * 4)])["items"] == 2


@given(st.lists(st.lists(st.sampled_from([True, False, None]), max_size=6), max_size=6))
def test_every_item_is_either_counted_or_undecided(drawn: list) -> None:
    found = entry([one for item, right in enumerate(drawn) for one in calls(item, *right)])
    assert found["items"] == sum(found["histogram"].values())
    assert found["items"] + found["undecided"] == sum(bool(right) for right in drawn)
