"""The fate of one record: the table of outcomes, both bounds, and hostile records."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.contract import Outcome
from slaverify.contract.library import LIBRARY
from slaverify.contract.words import OUTCOME_ATTRIBUTION, Attribution
from slaverify.decision import inputs
from slaverify.decision.missing import NOBODYS, VENDORS, Fate, decimal_of, fate_of, match_of
from slaverify.decision.terms import terms_of
from tests.decision.build import ACCURACY, HALLUCINATION, WRONG, build, record

ACC, HALL = terms_of(build([ACCURACY, HALLUCINATION]))
GRADED = terms_of(build([{**ACCURACY, "count": {"criteria": ["tono:met"]}}]))[0]
RIGHT = terms_of(build([{**ACCURACY, "count": {"correctness": ["correct"], "grounding": ["grounded"]}}]))[0]

TABLE = [
    ("answered", Fate.SUCCESS, Fate.SUCCESS),
    ("refused", Fate.VENDOR, Fate.SUCCESS),
    ("truncated", Fate.VENDOR, Fate.SUCCESS),
    ("empty", Fate.VENDOR, Fate.SUCCESS),
    ("malformed", Fate.VENDOR, Fate.SUCCESS),
    ("vendor_failure", Fate.VENDOR, Fate.SUCCESS),
    ("auditor_failure", Fate.UNRESOLVED, Fate.UNRESOLVED),
    ("engine_mismatch", Fate.UNRESOLVED, Fate.UNRESOLVED),
    ("unresolved", Fate.UNRESOLVED, Fate.UNRESOLVED),
    ("not_sent", Fate.UNRESOLVED, Fate.UNRESOLVED),
]


@pytest.mark.parametrize(("outcome", "accuracy", "hallucination"), TABLE)
def test_outcomes(outcome: str, accuracy: Fate, hallucination: Fate) -> None:
    changes = {"verdict": "abstention", "abstention": "unnecessary"} if outcome == "refused" else {}
    found = record(1, outcome=outcome, **changes)
    assert (fate_of(ACC, found), fate_of(HALL, found)) == (accuracy, hallucination)


def test_every_outcome_has_an_owner_and_a_fate() -> None:
    assert {row[0] for row in TABLE} == {outcome.value for outcome in Outcome}
    assert set(OUTCOME_ATTRIBUTION) == set(Outcome)
    assert not NOBODYS & VENDORS
    for outcome, owner in OUTCOME_ATTRIBUTION.items():
        assert (owner is Attribution.VENDOR) == (outcome not in NOBODYS)


def test_what_was_not_sent_is_the_vendors_only_where_its_fault_stopped_the_run() -> None:
    available = terms_of(build([{**ACCURACY, "count": {"run_outcome": ["answered"]}}]))[0]
    stopped = record(1, outcome="not_sent", run_outcome="not_sent", verdict=None, flags=["vendor_stop"])
    assert fate_of(ACC, stopped) is Fate.VENDOR
    assert fate_of(HALL, stopped) is Fate.SUCCESS
    # Availability is of what was asked.
    assert fate_of(available, stopped) is Fate.EXCLUDED
    # The flag alone moves nothing else: what the auditor failed in stays the auditor's.
    assert fate_of(ACC, {**stopped, "outcome": "auditor_failure"}) is Fate.UNRESOLVED
    assert fate_of(ACC, {**stopped, "flags": []}) is Fate.UNRESOLVED
    assert fate_of(ACC, {**stopped, "flags": "vendor_stop"}) is Fate.UNRESOLVED


def test_a_metric_of_first_attempts_shows_what_retries_hide() -> None:
    (metric,) = terms_of(build([{**ACCURACY, **LIBRARY["attempt_availability@1"].fills(["direct"])}]))
    cases = [
        ({}, 1, Fate.SUCCESS),
        ({}, 2, Fate.FAILURE),
        ({"outcome": "truncated", "run_outcome": "truncated"}, 1, Fate.SUCCESS),
        ({"outcome": "truncated", "run_outcome": "truncated"}, 2, Fate.VENDOR),
        ({"outcome": "vendor_failure", "run_outcome": "vendor_failure"}, 3, Fate.VENDOR),
        ({"outcome": "unresolved", "run_outcome": "unresolved"}, 3, Fate.UNRESOLVED),
        ({"outcome": "auditor_failure", "run_outcome": "auditor_failure"}, 0, Fate.EXCLUDED),
    ]
    for changes, attempts, fate in cases:
        assert fate_of(metric, record(1, attempts=attempts, **changes)) is fate, (changes, attempts)
    # Connections that broke off before are nobody's; an exchange that then failed has failed all the same.
    flags = ["unattributed_retry"]
    assert fate_of(metric, record(1, attempts=2, flags=flags)) is Fate.UNRESOLVED
    assert fate_of(metric, record(1, attempts=2, flags=flags, outcome="vendor_failure")) is Fate.VENDOR
    assert fate_of(ACC, record(1, attempts=2, flags=flags)) is Fate.SUCCESS
    # True is no 1, and a count that is missing is no first attempt.
    for odd in (True, "1", None, 1.0):
        assert fate_of(metric, record(1, attempts=odd)) is Fate.FAILURE


def test_no_contract_may_excuse_what_the_vendor_left_unasked() -> None:
    excused = {"failed_calls": {"not_sent": {"counts_as": {"excluded_up_to": 5}}}}
    contract = build([ACCURACY], **excused)
    rows = [record(n) for n in range(119)]
    unsent = record(119, outcome="not_sent", run_outcome="not_sent", verdict=None)
    (ours,) = inputs(contract, [*rows, unsent])["metrics"]
    (theirs,) = inputs(contract, [*rows, {**unsent, "flags": ["vendor_stop"]}])["metrics"]
    assert (ours["excluded"], ours["failures_vendor"]) == (1, 0)
    assert (theirs["excluded"], theirs["failures_vendor"]) == (0, 1)


def test_a_necessary_refusal_may_be_right() -> None:
    rewarded = terms_of(build([{**ACCURACY, "count": {"abstention": ["necessary"]}}]))[0]
    refused = record(1, outcome="refused", verdict="abstention", abstention="necessary")
    assert fate_of(rewarded, refused) is Fate.SUCCESS
    assert fate_of(rewarded, record(1, outcome="empty", abstention="necessary")) is Fate.VENDOR


BOUNDS = [
    ("incorrect", "accurate", None, None),
    ("accurate", "accurate", True, False),
    ("incorrect", "misgrounded", False, True),
    ("incomplete", "accurate", None, False),
]


@pytest.mark.parametrize(("worst", "best", "accuracy", "hallucination"), BOUNDS)
def test_bounds_that_agree_are_neither(worst: str, best: str, accuracy: bool, hallucination: bool) -> None:
    found = record(1, verdict=None, correctness="undetermined", bounds={"worst": worst, "best": best})
    assert match_of(ACC.count, found) is accuracy
    assert match_of(HALL.count, found) is hallucination
    if accuracy is None:
        assert fate_of(ACC, found) is Fate.UNRESOLVED
        assert fate_of(ACC, {**found, "flags": ["open"]}) is Fate.OPEN


def test_an_answer_without_verdict_or_bounds_is_never_guessed() -> None:
    assert fate_of(ACC, record(1, verdict=None)) is Fate.UNRESOLVED
    assert fate_of(HALL, record(1, verdict=None)) is Fate.UNRESOLVED


def test_a_cut_body_never_wins() -> None:
    for terms in (ACC, HALL):
        assert fate_of(terms, record(1, flags=["cut_body"])) is Fate.OPEN
    unknown = {"verdict": None, "correctness": "undetermined", "bounds": {"worst": "incorrect", "best": "accurate"}}
    for terms in (ACC, HALL):
        assert fate_of(terms, record(1, flags=["cut_body", "open"], **unknown)) is Fate.OPEN


def test_a_wrong_second_try_after_a_cut_body_is_a_failure() -> None:
    for terms in (ACC, HALL):
        assert fate_of(terms, record(1, flags=["cut_body"], **WRONG)) is Fate.FAILURE


@pytest.mark.parametrize("verdict", ["abstention", "incomplete"])
def test_a_second_try_that_says_nothing_hides_what_the_first_one_said(verdict: str) -> None:
    found = record(1, flags=["cut_body"], verdict=verdict, correctness="incorrect")
    assert fate_of(ACC, found) is Fate.FAILURE
    assert fate_of(HALL, found) is Fate.OPEN


def test_undetermined_words_are_unknown_unless_another_key_settles() -> None:
    assert match_of(RIGHT.count, record(1, correctness="undetermined", grounding="grounded")) is None
    assert match_of(RIGHT.count, record(1, correctness="undetermined", grounding="misgrounded")) is False
    assert match_of(RIGHT.count, record(1, correctness="correct", grounding="undetermined")) is None
    assert match_of(RIGHT.count, record(1, correctness="correct", grounding="grounded")) is True
    asks = {"correctness": ("undetermined",)}
    assert match_of(asks, record(1, correctness="undetermined")) is None


def test_criteria() -> None:
    assert fate_of(GRADED, record(1, criteria={"tono": "met"})) is Fate.SUCCESS
    assert fate_of(GRADED, record(1, criteria={"tono": "not_met"})) is Fate.FAILURE
    assert fate_of(GRADED, record(1, criteria={"tono": "unresolved"})) is Fate.UNRESOLVED
    assert fate_of(GRADED, record(1, criteria={})) is Fate.FAILURE
    assert fate_of(GRADED, record(1, criteria=None)) is Fate.FAILURE


def test_criteria_may_have_a_colon() -> None:
    terms = terms_of(build([{**ACCURACY, "count": {"criteria": ["a:b:met"]}}]))[0]
    assert fate_of(terms, record(1, criteria={"a:b": "met"})) is Fate.SUCCESS
    assert fate_of(terms, record(1, criteria={"a:b": "unresolved"})) is Fate.UNRESOLVED
    assert fate_of(terms, record(1, criteria={"a": "unresolved"})) is Fate.FAILURE


def test_an_error_rate_may_count_failures() -> None:
    failing = {**HALLUCINATION, "count": {"outcome": ["vendor_failure", "malformed"]}}
    terms = terms_of(build([failing]))[0]
    assert fate_of(terms, record(1, outcome="vendor_failure")) is Fate.VENDOR
    assert fate_of(terms, record(1, outcome="truncated")) is Fate.SUCCESS
    assert fate_of(terms, record(1)) is Fate.SUCCESS


LIMITED = {
    **ACCURACY,
    "kind": "quantile",
    "limit_s": "2",
    "count": {"correctness": ["correct"]},
}
OPEN_WORD = {"correctness": "undetermined"}


@pytest.mark.parametrize(
    ("changes", "fate"),
    [
        ({"latency_ms": 1}, Fate.SUCCESS),
        ({"latency_ms": 3000}, Fate.FAILURE),
        ({"latency_ms": None}, Fate.UNRESOLVED),
        ({"latency_ms": True}, Fate.UNRESOLVED),
        ({"latency_ms": 1, **OPEN_WORD}, Fate.UNRESOLVED),
        ({"latency_ms": 3000, **OPEN_WORD}, Fate.FAILURE),
        ({"latency_ms": None, "correctness": "incorrect"}, Fate.FAILURE),
    ],
)
def test_a_limit_and_a_filter_must_both_hold(changes: dict, fate: Fate) -> None:
    assert fate_of(terms_of(build([LIMITED]))[0], record(1, **changes)) is fate


CUT = {**ACCURACY, "cut": "0.7", "value": "value", "scale": ["0", "1"], "count": {"correctness": ["correct"]}}


@pytest.mark.parametrize(
    ("changes", "fate"),
    [
        ({"value": "0.7"}, Fate.SUCCESS),
        ({"value": "0.69"}, Fate.FAILURE),
        ({"value": None}, Fate.UNRESOLVED),
        ({"value": "0.7", **OPEN_WORD}, Fate.UNRESOLVED),
        ({"value": "0.6", **OPEN_WORD}, Fate.FAILURE),
        ({"value": None, "correctness": "incorrect"}, Fate.FAILURE),
        ({"value": None, "outcome": "refused", "verdict": "abstention", "correctness": "correct"}, Fate.VENDOR),
    ],
)
def test_a_cut_and_a_filter_must_both_hold(changes: dict, fate: Fate) -> None:
    assert fate_of(terms_of(build([CUT]))[0], record(1, **changes)) is fate


@pytest.mark.parametrize("outcome", [None, "", "ANSWERED", "pass", 1, True, ["answered"]])
def test_a_word_that_is_no_outcome_proves_nothing(outcome: object) -> None:
    assert fate_of(ACC, {**record(1), "outcome": outcome}) is Fate.UNRESOLVED


junk = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=5), st.lists(st.text(max_size=3), max_size=2)
)
WORDS = {
    "outcome": [o.value for o in Outcome],
    "verdict": ["accurate", "incorrect", "abstention", None],
    "correctness": ["correct", "incorrect", "undetermined"],
}


@given(
    changes=st.dictionaries(st.sampled_from(sorted(record(1))), junk, max_size=6),
    outcome=st.sampled_from(WORDS["outcome"]),
    verdict=st.sampled_from(WORDS["verdict"]),
)
@settings(max_examples=300, deadline=None)
def test_hostile_records_raise_nothing_and_never_beat_an_accurate_one(
    changes: dict, outcome: str, verdict: str | None
) -> None:
    found = {**record(1), "outcome": outcome, "verdict": verdict, **changes}
    fate = fate_of(ACC, found)
    if fate is Fate.SUCCESS:
        bounds = found.get("bounds")
        assert found["outcome"] in ("answered", "refused")
        assert found["verdict"] == "accurate" or (isinstance(bounds, dict) and bounds["worst"] == "accurate")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "x", "", None, 1, True, 0.5])
def test_what_is_no_decimal_is_null(value: object) -> None:
    assert decimal_of(value) is None


def test_a_verdict_whose_class_is_in_doubt_buys_no_invalid_run() -> None:
    abstains = terms_of(build([{**ACCURACY, "count": {"class": ["abstention"]}}]))[0]
    found = record(1, **{**WRONG, "class": "undetermined"})
    assert fate_of(abstains, found) is Fate.OPEN
    assert fate_of(ACC, found) is Fate.FAILURE
    assert fate_of(HALL, found) is Fate.FAILURE
