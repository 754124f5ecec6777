"""What enters the leak tests: first calls that code alone decided, in the sample and in the arms alike."""

from __future__ import annotations

import pytest

from slaverify.canonical import jcs, jsonl
from slaverify.contract import LoadedContract, edited
from slaverify.contract.load import load_contract, parse_contract
from slaverify.errors import EvidenceError
from slaverify.evidence import Bundle, integrity_of, leak_signal
from slaverify.resources import resource

ARMS = {"anchor": 4, "twin": 3, "probe": 5}


def contract(arms: dict[str, int]) -> LoadedContract:
    draft = load_contract(resource("contratos", "demo-normativa-cl.yaml"))
    return parse_contract(jcs(edited(draft.tree, {"evaluation_set.sample.arms": arms})), "asked")


def record(item: str, **fields: object) -> dict:
    right = {"item_id": item, "repetition": 0, "side": "current", "outcome": "answered", "correctness": "correct"}
    return {**right, "decided_by": "rule", **fields}


WRONG = {"correctness": "incorrect"}
LEFT_OPEN = {"correctness": "undetermined", "decided_by": None}


def bundle(sample: list[dict], arms: dict[str, list], lines: list[tuple[str, dict]], **more: bytes | None) -> Bundle:
    files: dict[str, bytes | None] = {
        "custody/draw.json": jcs({"arms": arms}),
        "scoring/scores.jsonl": jsonl(sample),
        "scoring/arms.jsonl": jsonl({"arm": arm, "record": row} for arm, row in lines),
        **{path.replace("__", "/").replace("_j", ".j"): data for path, data in more.items()},
    }
    return Bundle.of_files({path: data for path, data in files.items() if data is not None})


def drawn(anchor: list[str], twin: list[tuple[str, str]], probe: list[str]) -> dict[str, list]:
    return {"anchor": anchor, "twin": [{"original": a, "twin": b} for a, b in twin], "probe": probe}


def by_name(found: object) -> dict[str, dict]:
    assert isinstance(found, dict)
    return {one["name"]: one for one in found["tests"]}


def test_what_a_judge_decided_and_what_nobody_did_leave_the_tests_on_both_sides() -> None:
    sample = [
        record("f1"),
        record("f2", **WRONG),
        record("f3", decided_by="judge"),
        record("f4", decided_by="person"),
        record("f5", **LEFT_OPEN),
        record("f6", outcome="auditor_failure", correctness="no_answer", decided_by=None),
        record("f7", outcome="vendor_failure", correctness="no_answer", decided_by=None),
        record("f1", repetition=1, **WRONG),
        record("f2", side="candidate"),
    ]
    lines = [
        ("anchor", record("a1")),
        ("anchor", record("a2", **LEFT_OPEN)),
        ("anchor", record("a3", outcome="refused", correctness="no_answer", decided_by=None)),
        ("anchor", record("a3", repetition=1)),
        ("original", record("o1")),
        ("original", record("o2", **WRONG)),
        ("original", record("o3")),
        ("honeytoken", record("p1")),
        ("honeytoken", record("p2", **WRONG)),
        ("honeytoken", record("p3", outcome="unresolved", correctness="undetermined", decided_by=None)),
        ("probe", record("p4")),
        ("twin", record("t1", **WRONG)),
        ("twin", record("t2")),
        ("twin", record("t3", **LEFT_OPEN)),
    ]
    arms = drawn(["a1", "a2", "a3"], [("o1", "t1"), ("o2", "t2"), ("o3", "t3")], ["p1", "p2", "p3", "p4"])
    found = by_name(integrity_of(bundle(sample, arms, lines), contract(ARMS)))
    anchors, twins, tokens = found["anchors"], found["twins"], found["honeytokens"]
    assert (anchors["right"], anchors["n"], anchors["fresh_right"], anchors["fresh_n"]) == (1, 2, 1, 3)
    assert (anchors["agreed"], anchors["drawn"], anchors["undecided"]) == (4, 3, 1)
    assert (twins["original_only"], twins["twin_only"], twins["n"], twins["undecided"]) == (1, 1, 2, 1)
    # a probe that is no honeytoken counts nothing, whatever its answer
    assert (tokens["n"], tokens["repeated"], tokens["undecided"]) == (2, ["p1"], 1)


def test_a_test_without_anything_to_test_says_why_and_the_whole_says_nothing() -> None:
    found = integrity_of(
        bundle([record("f1")], drawn([], [], []), [], scoring__arms_jsonl=None), contract({"anchor": 9})
    )
    assert found is not None and found["integrity"] == "not_evaluable"
    reasons = {name: (one["p"], one["reason"]) for name, one in by_name(found).items()}
    assert reasons == {
        "anchors": (None, "nothing_to_draw"),
        "twins": (None, "not_agreed"),
        "honeytokens": (None, "not_agreed"),
    }


def test_four_repeated_honeytokens_are_a_signal() -> None:
    names = [f"p{number}" for number in range(8)]
    lines = [("honeytoken", record(name, **({} if name < "p4" else WRONG))) for name in names]
    made = bundle([record("f1")], drawn([], [], names), lines)
    assert leak_signal(made, contract({"probe": 8}))
    fewer = [("honeytoken", record(name, **({} if name < "p2" else WRONG))) for name in names]
    assert not leak_signal(bundle([record("f1")], drawn([], [], names), fewer), contract({"probe": 8}))


def test_a_run_that_drew_arms_and_lacks_their_scores_is_an_error_never_no_signal() -> None:
    made = bundle([record("f1")], drawn(["a1"], [], []), [], scoring__arms_jsonl=None)
    with pytest.raises(EvidenceError):
        integrity_of(made, contract(ARMS))
    for spoilt in ({"anchor": "a1", "twin": [], "probe": []}, {"anchor": [], "twin": [{"original": "o"}], "probe": []}):
        with pytest.raises(EvidenceError):
            integrity_of(bundle([record("f1")], spoilt, [("anchor", record("a1"))]), contract(ARMS))


def test_no_arm_agreed_makes_no_claim() -> None:
    assert integrity_of(bundle([record("f1")], drawn([], [], []), []), contract({})) is None
