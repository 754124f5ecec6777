"""Filters over score records: alternatives within a key, all keys together, null matches nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.contract import FIELDS, LIBRARY, Outcome, matches
from slaverify.contract.library import with_library

RECORD = {
    "type": "slaverify/score/1",
    "stratum": "direct",
    "cluster": None,
    "run_outcome": "answered",
    "outcome": "answered",
    "class": "answer",
    "abstention": None,
    "correctness": "incorrect",
    "grounding": "not_applicable",
    "verdict": "incorrect",
    "rules": [
        {"rule": "number@1", "status": "decided", "correctness": "incorrect", "reason": "other_value", "flags": []},
        {"rule": "cite@1", "status": "not_applicable", "correctness": "undetermined", "reason": "phantom", "flags": []},
    ],
    "citations": {"claimed": 3, "phantom": 1, "expected_hit": 0},
    "criteria": {"exacta": "met", "amable": "unresolved"},
    "state": None,
    "flags": ["hedged"],
    "events": [{"code": "markup", "level": "manipulation", "confirmed": False}],
    "decided_by": "rule",
}


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        ({}, True),
        ({"verdict": ["accurate"]}, False),
        ({"verdict": ["accurate", "incorrect"]}, True),
        ({"verdict": ["incorrect"], "stratum": ["direct"]}, True),
        ({"verdict": ["incorrect"], "stratum": ["trap"]}, False),
        ({"abstention": ["necessary", "unnecessary"]}, False),
        ({"state": ["VALID_STATE"]}, False),
        ({"cluster": ["c-0001"]}, False),
        ({"rules": ["phantom"]}, True),
        ({"rules": ["equal"]}, False),
        ({"rules": ["number@1"]}, False),
        ({"citations": ["phantom"]}, True),
        ({"citations": ["expected_hit"]}, False),
        ({"citations": ["expected_hit", "claimed"]}, True),
        ({"criteria": ["exacta:met"]}, True),
        ({"criteria": ["exacta:not_met"]}, False),
        ({"criteria": ["amable:unresolved", "otra:met"]}, True),
        ({"flags": ["hedged"]}, True),
        ({"flags": ["overlong"]}, False),
        ({"events": ["markup"]}, True),
        ({"events": ["manipulation"]}, False),
        ({"decided_by": ["judge", "rule"]}, True),
        ({"verdict": []}, False),
    ],
)
def test_what_matches(filter_: dict, expected: bool) -> None:
    assert matches(filter_, RECORD) is expected


def test_a_field_that_no_filter_may_name() -> None:
    for key in ("latency_ms", "answer_mac", "value", "item_id", "verdicts"):
        assert key not in FIELDS
        with pytest.raises(KeyError):
            matches({key: ["x"]}, RECORD)


def test_true_is_not_one() -> None:
    assert not matches({"stratum": [True]}, {"stratum": 1})
    assert not matches({"citations": ["phantom"]}, {"citations": {"phantom": True}})


@given(st.dictionaries(st.sampled_from(sorted(FIELDS)), st.lists(st.text(max_size=5), max_size=3), max_size=4))
def test_keys_must_all_hold_and_values_are_alternatives(filter_: dict) -> None:
    assert matches(filter_, RECORD) == all(matches({key: values}, RECORD) for key, values in filter_.items())
    for key, values in filter_.items():
        assert matches({key: values}, RECORD) == any(matches({key: [value]}, RECORD) for value in values)
        assert not matches({key: values}, {**RECORD, key: None})
        assert not matches({key: values}, {})


def test_every_ready_metric_names_known_fields_and_words() -> None:
    words = {outcome.value for outcome in Outcome}
    for name, ready in LIBRARY.items():
        assert ready.definition.es and ready.definition.en and ready.example.es and ready.source, name
        filled = ready.fills(["direct", "applied", "trap", "out_of_corpus", "adversarial"])
        for key, values in {**(filled.get("count") or {}), **filled["among"]}.items():
            field = FIELDS[key]
            assert field.values is None or set(values) <= set(field.values), (name, key)
            if key in ("run_outcome", "outcome"):
                assert set(values) <= words


def test_which_strata_a_ready_metric_takes() -> None:
    strata = {"direct": 1, "trap": 1, "otra": 1}

    def among(library: str, **written: object) -> object:
        tree = {"evaluation_set": {"strata": strata}, "metrics": [{"library": library, **written}]}
        return with_library(tree)["metrics"][0]["among"]

    assert among("accuracy@1") == {"stratum": ["direct", "otra"]}
    assert among("necessary_abstention_recall@1") == {"stratum": ["trap"]}
    assert among("attempt_availability@1") == among("availability@1")
    assert among("availability@1") == {"stratum": ["direct", "otra", "trap"]}
    assert among("accuracy@1", among={"stratum": ["otra"]}) == {"stratum": ["otra"]}
    assert among("accuracy_of_answered@1") == {"stratum": ["direct", "otra"], "class": ["answer"]}
    for odd in ({"metrics": None}, {"metrics": [None, {"library": 3}]}, {}):
        assert with_library(odd) == odd


def test_a_text_where_a_list_is_due_holds_no_words() -> None:
    assert not matches({"flags": ("a",)}, {"flags": "abc"})
    assert not matches({"rules": ("a",)}, {"rules": {"reason": "a"}})
