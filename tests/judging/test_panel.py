"""Votes to outcomes: against every completion of what is missing, and with no default mark within reach."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.contract.load import parse_contract
from slaverify.contract.model.judge import Facts, Scale
from slaverify.contract.words import Outcome
from slaverify.evalset import parse_item
from slaverify.judging import RUBRICS, GivenAnswer, Panel, Purpose, Vote, asks_of, instrument_of, judged
from slaverify.judging.by_criteria import weighted_value
from slaverify.judging.panel import eligibility_of, mean_ends, median_ends, of_member, of_panel, worst_and_best
from slaverify.resources import resource
from slaverify.scoring import AnswerClass, Correctness, Grounding, ScoreRecord, Verdict
from tests.judging.calibration.people import POINTS
from tests.judging.test_criteria import criterion

SCALE = ("accurate", "incomplete", "incorrect")
BINARY = Scale.model_validate_json(json.dumps({"kind": "binary", "points": POINTS}))


def most(votes: tuple[str, ...]) -> set[str]:
    counts = Counter(votes)
    return {value for value, count in counts.items() if count == max(counts.values())}


def test_three_members_with_any_votes_missing_equal_brute_force_over_completions() -> None:
    for votes in product((*SCALE, None), repeat=3):
        choices = [SCALE if vote is None else (vote,) for vote in votes]
        expected = set().union(*(most(one) for one in product(*choices)))
        members = [of_member([vote], SCALE) for vote in votes]
        assert of_panel("majority", members) == expected, votes


def test_the_votes_of_one_member_equal_brute_force_over_completions() -> None:
    for size in (1, 3, 5):
        for votes in product((*SCALE, None), repeat=size):
            choices = [SCALE if vote is None else (vote,) for vote in votes]
            expected = set().union(*(most(one) for one in product(*choices)))
            assert of_member(votes, SCALE) == expected, votes


def test_two_of_three_decide_whatever_the_third_would_say_and_a_tie_is_a_set() -> None:
    one, other = frozenset({"accurate"}), frozenset({"incorrect"})
    assert of_panel("majority", [one, one, frozenset(SCALE)]) == {"accurate"}
    assert of_panel("majority", [one, other]) == {"accurate", "incorrect"}
    assert of_panel("unanimous", [one, one, other]) == {"accurate", "incorrect"}
    assert of_panel("unanimous", [one, one]) == {"accurate"}
    with pytest.raises(ValueError, match="best"):
        of_panel("best", [one])


@given(st.lists(st.frozensets(st.integers(-3, 3), min_size=1), min_size=1, max_size=4))
def test_the_ends_of_a_median_hold_every_choice(members: list[frozenset[int]]) -> None:
    found = set()
    for choice in product(*members):
        ordered = sorted(choice)
        found |= {ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]}
    assert median_ends(members) == (min(found), max(found))


def test_eligibility_and_grounding_of_facts() -> None:
    yes, no, open_ = frozenset({True}), frozenset({False}), frozenset({True, False})
    assert eligibility_of("all_eligible", [yes, yes, no]) == {False}
    assert eligibility_of("majority", [yes, yes, open_]) == {True}
    assert eligibility_of("any_eligible", [no, open_]) == {True, False}
    assert mean_ends([yes, no, open_]) == (Fraction(1, 3), Fraction(2, 3))
    assert worst_and_best(["incomplete", "accurate", "incorrect"]) == ("incorrect", "accurate")


@pytest.fixture(scope="module")
def panel() -> Panel:
    judge = parse_contract(resource("contratos", "asistente-normativo-cl.yaml").read_bytes(), "example").model.judge
    assert judge is not None
    members = tuple(judge.panel[0].model_copy(update={"id": name}) for name in ("uno", "dos", "tres"))
    return Panel(
        judge=judge.model_copy(update={"panel": members, "aggregation": "majority"}), rubric=RUBRICS["reglab@1"]
    )


RECORD = ScoreRecord(
    item_id="it-1",
    repetition=0,
    side="current",
    stratum="direct",
    cluster=None,
    run_outcome=Outcome.ANSWERED,
    outcome=Outcome.ANSWERED,
    answer_class=AnswerClass.ANSWER,
    abstention=None,
    correctness=Correctness.UNDETERMINED,
    grounding=Grounding.NOT_APPLICABLE,
    verdict=None,
)


def vote(member: str, value: str | None, purpose: Purpose = Purpose.ITEM, failure: str = "not_json") -> Vote:
    return Vote(
        purpose=purpose,
        subject="it-1",
        repetition=0,
        side="current",
        member=member,
        criterion=None,
        asked=("correctness",),
        vote=0,
        key="k",
        attempts=1,
        values=None if value is None else {"correctness": value},
        failure=failure if value is None else None,
    )


def votes(*values: str | None, **more: str) -> list[Vote]:
    return [vote(name, value, **more) for name, value in zip(("uno", "dos", "tres"), values, strict=True)]


def test_a_majority_fills_in_what_code_left_open_and_nothing_else(panel: Panel) -> None:
    found = judged(panel, RECORD, votes("correct", "correct", "incorrect"))
    assert (found.verdict, found.correctness, found.grounding) == ("accurate", "correct", "not_applicable")
    assert found.decided_by == "judge"
    assert "split_panel" in found.flags
    assert judged(panel, RECORD, []) == RECORD


def test_a_missing_member_leaves_an_answer_open_with_both_ends(panel: Panel) -> None:
    found = judged(panel, RECORD, votes("correct", "incorrect", None))
    assert found.verdict is None
    assert found.bounds is not None
    assert (found.bounds.worst, found.bounds.best) == ("incorrect", "accurate")
    assert {"judge_unresolved", "human_queue"} <= set(found.flags)
    assert found.decided_by is None
    assert judged(panel, RECORD, votes("correct", "correct", None)).verdict == "accurate"


def test_no_pattern_of_failures_alone_makes_a_mark(panel: Panel) -> None:
    for failure in ("transport", "not_json", "off_scale", "nonce_mismatch", "refusal", "identity_mismatch"):
        found = judged(panel, RECORD, votes(None, None, None, failure=failure))
        assert found.verdict is None, failure


def test_an_answer_that_every_judge_refuses_and_whose_reference_none_does_is_not_right(panel: Panel) -> None:
    refused = votes(None, None, None, failure="refusal")
    accepted = [vote(name, "correct", Purpose.REFUSAL) for name in ("uno", "dos", "tres")]
    found = judged(panel, RECORD, [*refused, *accepted])
    assert found.verdict == "incomplete"
    assert "refusal_caused_by_answer" in found.flags
    again = [vote("uno", None, Purpose.REFUSAL, "refusal"), *accepted[1:]]
    assert judged(panel, RECORD, [*refused, *again]).verdict is None


def test_the_worse_of_two_copies_stands(panel: Panel) -> None:
    item = votes("correct", "correct", "correct")
    worse = [vote(name, "incorrect", Purpose.CUT) for name in ("uno", "dos", "tres")]
    found = judged(panel, RECORD, [*item, *worse])
    assert found.verdict == "incorrect"
    assert [(event.code, event.confirmed) for event in found.events] == [("judge_swayed", False)]
    better = [vote(name, "correct", Purpose.RAW) for name in ("uno", "dos", "tres")]
    swayed = judged(panel, RECORD, [*votes("incorrect", "incorrect", "incorrect"), *better])
    assert swayed.verdict == "incorrect"
    assert swayed.events


def test_both_halves_enter_the_pinned_table(panel: Panel) -> None:
    open_record = replace(RECORD, grounding=Grounding.UNDETERMINED)

    def both(correctness: str, grounding: str) -> list[Vote]:
        values = {"correctness": correctness, "grounding": grounding}
        return [
            replace(one, asked=("correctness", "grounding"), values=values)
            for one in votes("correct", "correct", "correct")
        ]

    table = RUBRICS["reglab@1"].table
    for correctness, cells in table.items():
        for grounding, verdict in cells.items():
            if verdict is not None:
                found = judged(panel, open_record, both(correctness, grounding))
                assert found.verdict == verdict, (correctness, grounding)
                assert (found.correctness, found.grounding) == (correctness, grounding)


def test_one_changed_weight_changes_the_score(panel: Panel) -> None:
    def score(points: int) -> str | None:
        criteria = tuple(criterion(id=name, points=value) for name, value in (("aa", points), ("bb", 5), ("cc", -2)))
        own = replace(panel, judge=panel.judge.model_copy(update={"criteria": criteria}), rubric=RUBRICS["weighted@1"])
        return weighted_value(own, {"aa": "met", "bb": "not_met", "cc": "met"})

    assert score(5) == "0.300000000"
    assert score(10) == "0.533333333"
    assert score(1) == "-0.166666667"


def test_an_abstention_is_never_the_judges(panel: Panel) -> None:
    item = parse_item(
        {
            "schema": "item/1",
            "id": "a-1",
            "stratum": "direct",
            "query": "¿Qué?",
            "reference": {"kind": "text", "value": "un permiso"},
        },
        where="t",
    )
    contract = parse_contract(resource("contratos", "asistente-normativo-cl.yaml").read_bytes(), "example").model
    stage = contract.method.judge_stage.model_copy(update={"strata": ("direct",), "ask": ("correctness",)})
    contract = contract.model_copy(update={"method": contract.method.model_copy(update={"judge_stage": stage})})
    instrument = instrument_of(contract, bytes(32))

    def asked(**changes: object) -> int:
        given_answer = GivenAnswer(record=replace(RECORD, **changes), item=item, raw_text="x", clean_text="x")
        return len(asks_of(contract, instrument, given_answer))

    assert asked() == 1
    assert asked(answer_class=AnswerClass.ABSTENTION, correctness=Correctness.INCORRECT) == 0
    assert asked(answer_class=AnswerClass.UNDETERMINED) == 0
    assert asked(correctness=Correctness.INCORRECT) == 0
    assert asked(flags=("cut_body",)) == 0
    assert asked(stratum="trap") == 0
    assert asked(verdict=Verdict.PHANTOM_CITATION) == 0


def test_no_vote_removes_a_phantom_citation_or_a_fabrication(panel: Panel) -> None:
    for verdict in (Verdict.PHANTOM_CITATION, Verdict.FABRICATION, Verdict.ABSTENTION):
        found = replace(RECORD, verdict=verdict, decided_by="rule")
        assert judged(panel, found, votes("correct", "correct", "correct")) == found


def fact(member: str, field: str, value: object) -> Vote:
    base = vote(member, "correct")
    values = None if value is None else {field: value}
    return replace(base, asked=(field,), values=values, failure="not_json" if value is None else None)


def facts(eligible: list[str | None], labels: list[list[str] | None]) -> list[Vote]:
    names = ("uno", "dos", "tres")
    found = [fact(name, "eligibility", value) for name, value in zip(names, eligible, strict=True)]
    return found + [fact(name, "sentences", value) for name, value in zip(names, labels, strict=True)]


GOOD, BAD, EMPTY = ["supported", "no_claim"], ["supported", "unsupported"], ["no_claim"]


@pytest.mark.parametrize(
    ("eligible", "labels", "rule", "value", "verdict"),
    [
        (["no_issues"] * 3, [GOOD] * 3, "all_eligible", "1.000000000", "accurate"),
        (["no_issues"] * 3, [GOOD, GOOD, BAD], "all_eligible", "0.666666667", "misgrounded"),
        (["no_issues", "minor_issues", "invalid"], [GOOD] * 3, "all_eligible", "0.000000000", "incomplete"),
        (["no_issues", "minor_issues", "invalid"], [GOOD] * 3, "majority", "1.000000000", "accurate"),
        (["invalid", "minor_issues", "invalid"], [GOOD] * 3, "any_eligible", "1.000000000", "accurate"),
        (["no_issues"] * 3, [EMPTY] * 3, "all_eligible", "0.000000000", "misgrounded"),
        (["no_issues"] * 3, [GOOD, GOOD, None], "all_eligible", None, None),
        (["invalid", "invalid", None], [GOOD] * 3, "majority", "0.000000000", "incomplete"),
        (["no_issues", "no_issues", None], [GOOD] * 3, "all_eligible", None, None),
    ],
)
def test_two_stages_and_the_rule_of_the_panel_make_the_score(
    panel: Panel, eligible: list[str | None], labels: list[list[str] | None], rule: str, value: str, verdict: str
) -> None:
    settings = Facts.model_validate({"eligibility_rule": rule})
    judge = panel.judge.model_copy(update={"facts": settings, "aggregation": "mean"})
    own = replace(panel, judge=judge, rubric=RUBRICS["facts@1"])
    found = judged(own, RECORD, facts(eligible, labels))
    assert (found.value, found.verdict) == (value, verdict)
    assert (found.bounds is None) == (verdict is not None)


@pytest.mark.parametrize(
    ("marks", "aggregation", "expected"),
    [
        ([4, 3, 0], "median", "met"),
        ([4, 0, 0], "median", "not_met"),
        ([4, 4, None], "median", "met"),
        ([4, 0, None], "median", "unresolved"),
        ([4, 3, 0], "majority", "met"),
        ([4, 4, 0], "unanimous", "unresolved"),
    ],
)
def test_a_criterion_is_met_by_its_own_scale_and_threshold(
    panel: Panel, marks: list[int | None], aggregation: str, expected: str
) -> None:
    judge = panel.judge.model_copy(update={"criteria": (criterion(),), "aggregation": aggregation})
    own = replace(panel, judge=judge, rubric=RUBRICS["criteria@1"])
    found = judged(
        own,
        RECORD,
        [
            replace(fact(name, "score", mark), criterion="tono")
            for name, mark in zip(("uno", "dos", "tres"), marks, strict=True)
        ],
    )
    assert dict(found.criteria) == {"tono": expected}
    assert found.verdict == {"met": "accurate", "not_met": "incomplete", "unresolved": None}[expected]


def facts_panel(panel: Panel) -> Panel:
    settings = Facts.model_validate({"eligibility_rule": "majority"})
    judge = panel.judge.model_copy(update={"facts": settings, "aggregation": "mean"})
    return replace(panel, judge=judge, rubric=RUBRICS["facts@1"])


def test_under_facts_the_worse_of_two_copies_stands_too(panel: Panel) -> None:
    good = facts(["no_issues"] * 3, [GOOD] * 3)
    cut = [replace(one, purpose=Purpose.CUT) for one in facts(["no_issues"] * 3, [BAD] * 3)]
    found = judged(facts_panel(panel), RECORD, [*good, *cut])
    assert (found.value, found.verdict, found.grounding) == ("0.000000000", "misgrounded", "misgrounded")
    assert [event.code for event in found.events] == ["judge_swayed"]
    # A copy shown in one stage alone reads as the answer itself in the other.
    stage = [one for one in cut if one.asked == ("sentences",)]
    assert judged(facts_panel(panel), RECORD, [*good, *stage]).value == "0.000000000"


def test_under_facts_an_answer_that_every_judge_refuses_is_worth_nothing(panel: Panel) -> None:
    refused = [replace(one, values=None, failure="refusal") for one in facts(["no_issues"] * 3, [GOOD] * 3)]
    again = [replace(one, purpose=Purpose.REFUSAL) for one in facts(["no_issues"] * 3, [GOOD] * 3)]
    found = judged(facts_panel(panel), RECORD, [*refused, *again])
    assert (found.value, found.verdict) == ("0.000000000", "incomplete")
    assert "refusal_caused_by_answer" in found.flags
    assert judged(facts_panel(panel), RECORD, refused).verdict is None


def test_where_code_found_the_value_only_the_sentences_are_asked(panel: Panel) -> None:
    settled = replace(RECORD, correctness=Correctness.CORRECT, grounding=Grounding.UNDETERMINED)
    sentences = [one for one in facts(["invalid"] * 3, [GOOD, GOOD, BAD]) if one.asked == ("sentences",)]
    found = judged(facts_panel(panel), settled, sentences)
    assert (found.value, found.verdict, found.correctness) == ("0.666666667", "misgrounded", "correct")


def marks(panel: Panel, copies: dict[Purpose, str], points: int) -> ScoreRecord:
    own = criterion(id="culpa", points=points, scale=BINARY, threshold=Decimal("0.9"))
    judge = panel.judge.model_copy(update={"criteria": (own,), "aggregation": "majority"})
    said = [
        replace(fact(name, "score", mark), criterion="culpa", purpose=purpose)
        for purpose, mark in copies.items()
        for name in ("uno", "dos", "tres")
    ]
    return judged(replace(panel, judge=judge, rubric=RUBRICS["weighted@1"]), RECORD, said)


def test_the_worse_mark_of_a_penalty_is_that_it_is_there(panel: Panel) -> None:
    shown = {Purpose.ITEM: "not_met", Purpose.CUT: "met"}
    assert dict(marks(panel, shown, -2).criteria) == {"culpa": "met"}
    assert dict(marks(panel, shown, 2).criteria) == {"culpa": "not_met"}
    assert marks(panel, {Purpose.ITEM: "not_met"}, -2).verdict == "accurate"
    assert marks(panel, {Purpose.ITEM: "met"}, -2).verdict == "incomplete"
