"""Profile slaverify-1: worked cases, gates and states, and what no engine can gain by playing with calls."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.trajectory import INVALID, VALID, Kind, PathRules, Question, Track, TrackAnswer, Walk, score_path, six
from tests.trajectory.state import crm, of_kind, questions
from tests.trajectory.walks import PLENTY, Walker, citing, honest, right

TWO_PLACES = lambda one: len(one.places) == 2  # noqa: E731
NO = TrackAnswer(False, frozenset())


def forbidden(question: Question) -> str:
    """Return an artifact that the question's actor may not see."""
    tools = Walker(question).tools
    return next(one.id for one in crm().corpus.ordered if not tools.in_cone(one))


class TestWorkedCases:
    """Silence, nothing there, two places to look."""

    question = of_kind(Kind.ABSENT, TWO_PLACES)

    def test_both_searched(self) -> None:
        score = Walker(self.question).searches().score(NO)
        assert (score.answer, score.trajectory, score.adjusted, score.state) == (1, 1, 1, VALID)

    def test_one_place(self) -> None:
        place = self.question.places[0]
        score = Walker(self.question).search(place.terms[0], place.subsystem).score(NO)
        assert (score.path, score.trajectory, score.adjusted) == (Fraction(1, 2), Fraction(1, 2), Fraction(65, 100))
        assert score.reasons == ("SEARCH_INCOMPLETE",)

    def test_no_call(self) -> None:
        score = Walker(self.question).score(NO)
        assert (score.trajectory, score.adjusted) == (0, Fraction(3, 10))
        assert score.reasons == ("NO_PATH", "SEARCH_INCOMPLETE")

    def test_a_forbidden_fetch_costs_whatever_else_was_done(self) -> None:
        walk = Walker(self.question)
        first, second = self.question.places
        # One search delivers something new, the other delivers what is known; the fetch is the flagged one.
        walk.search(first.terms[0], first.subsystem).search(second.terms[0], second.subsystem)
        new = walk.score(NO).distinct
        walk.fetch(forbidden(self.question))
        score = walk.score(NO)
        assert score.distinct == new + 1 and score.flagged == 1 and score.state == INVALID
        rate = Fraction(1, new + 1)
        assert score.trajectory == Fraction(8, 10) + Fraction(2, 10) * (1 - rate)
        assert score.adjusted == (Fraction(3, 10) + Fraction(7, 10) * score.trajectory) * (1 - rate) ** 2
        for number in range(200):
            walk.search(f"zzqx{number}")
        assert walk.score(NO).adjusted == score.adjusted

    def test_the_document_s_number(self) -> None:
        """v .5, S_traj .9: 0.2325."""
        assert six((Fraction(3, 10) + Fraction(63, 100)) * Fraction(1, 4)) == "0.232500"

    def test_the_truth_was_there_and_nobody_opened_it(self) -> None:
        score = Walker(of_kind(Kind.PRESENT)).searches().score(NO)
        assert (score.answer, score.trajectory, score.adjusted) == (0, 0, 0)
        assert "REQUIRED_NEVER_FETCHED" in score.reasons


@pytest.mark.parametrize("question", questions(), ids=lambda one: f"{one.kind.value}-{one.public_id[:6]}")
def test_who_walks_the_path_and_says_the_truth_gets_everything(question: Question) -> None:
    score = honest(question).score(right(question))
    assert (score.correct, score.adjusted, score.state, score.reasons) == (True, 1, VALID, ())


def test_searching_and_saying_nothing_earns_nothing() -> None:
    for kind in Kind:
        score = honest(of_kind(kind)).score(None)
        assert (score.answer, score.trajectory, score.adjusted) == (0, 0, 0) and score.reasons[0] == "NO_ANSWER"


def test_an_answer_outside_its_schema_is_none() -> None:
    question = of_kind(Kind.ABSENT)
    walk = Walk(tuple(honest(question).calls), None, answered=True)
    score = score_path(question, crm().corpus, PLENTY, walk, PathRules())
    assert score.adjusted == 0 and score.reasons[0] == "ANSWER_SCHEMA"


def test_citing_what_was_never_opened_is_a_phantom() -> None:
    question = of_kind(Kind.POSITIVE)
    score = Walker(question).searches().score(right(question))
    assert {"PHANTOM_CITATION", "REQUIRED_NEVER_FETCHED"} <= set(score.reasons) and score.answer == 0
    everything = citing(right(question), *crm().corpus.by_id)
    assert "PHANTOM_CITATION" in honest(question).score(everything).reasons


def test_evidence_that_is_not_cited() -> None:
    question = of_kind(Kind.LINKED)
    score = honest(question).score(citing(right(question)))
    assert score.correct and score.reasons == ("EVIDENCE_NOT_CITED",)


def test_every_required_artifact_where_the_contract_asks_for_all() -> None:
    question = of_kind(Kind.LINKED)
    walk = Walker(question).fetch(question.required[0])
    assert walk.score(right(question)).answer > 0
    assert walk.score(right(question), PathRules(quorum="all")).answer == 0


def test_a_shared_artifact_proves_one_end_alone() -> None:
    """Fetching only the cause's own records does not prove the effect."""
    question = of_kind(Kind.LINKED, lambda one: set(one.cause_artifacts) != set(one.effect_artifacts))
    own = sorted(set(question.cause_artifacts) - set(question.effect_artifacts))
    score = Walker(question).fetch(*own).score(right(question))
    share = Fraction(len(own), len(question.evidence))
    assert score.path == Fraction(35, 100) + Fraction(30, 100) * share


def test_a_query_that_finds_nothing_is_no_search_for_the_term() -> None:
    question = of_kind(Kind.ABSENT, TWO_PLACES)
    walk = Walker(question)
    for place in question.places:
        walk.search(f"{place.terms[0]} zzz", place.subsystem)
    assert "SEARCH_INCOMPLETE" in walk.score(NO).reasons


def test_a_blank_query_earns_nothing() -> None:
    question = of_kind(Kind.ABSENT)
    assert Walker(question).search("  ").search("").score(NO).reasons == ("NO_PATH", "SEARCH_INCOMPLETE")


def test_mechanism_names_and_aliases() -> None:
    question = of_kind(Kind.LINKED, lambda one: one.mechanism == "incidencia_genera_nota_credito")
    for name in ("Incidencia-genera nota crédito ", "NOTA DE CREDITO POR INCIDENCIA"):
        answer = TrackAnswer(
            question.boolean,
            frozenset(question.evidence),
            frozenset(),
            name,
            question.cause_event_id,
            question.effect_event_id,
            question.direction,
            frozenset(question.actors),
        )
        assert honest(question).score(answer).correct


def test_context_mode_gates_citations() -> None:
    question, rules = of_kind(Kind.POSITIVE), PathRules(mode="context")
    tools = Walker(question).tools
    packed = frozenset(one.id for one in crm().corpus.ordered if tools.in_cone(one))
    good = score_path(question, crm().corpus, PLENTY, Walk((), right(question), True, packed), rules)
    assert (good.adjusted, good.state) == (1, VALID)
    blocked = citing(right(question), *question.evidence, forbidden(question))
    bad = score_path(question, crm().corpus, PLENTY, Walk((), blocked, True, packed), rules)
    assert bad.rate == Fraction(1, len(blocked.evidence)) and bad.state == INVALID and bad.adjusted < good.adjusted


IDS = st.sampled_from(sorted(crm().corpus.by_id))
QUESTIONS = st.sampled_from(questions())
ANSWERS = st.builds(
    TrackAnswer,
    st.booleans(),
    st.frozensets(IDS, max_size=4),
    st.frozensets(st.sampled_from(sorted(crm().policy.subsystems)), max_size=3),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("fetch"), IDS, st.none()),
        st.tuples(
            st.just("search"),
            st.sampled_from(["R-501", "Viñedos", "I-302", "cuenta", "no hay", "a", " "]),
            st.sampled_from([None, *sorted(crm().policy.subsystems)]),
        ),
    ),
    max_size=8,
)


def walked(question: Question, steps: list[tuple[str, str, str | None]]) -> Walker:
    walk = Walker(question)
    for kind, what, where in steps:
        walk = walk.fetch(what) if kind == "fetch" else walk.search(what, where)
    return walk


@settings(max_examples=150, deadline=None)
@given(QUESTIONS, ANSWERS, STEPS, st.data())
def test_playing_with_calls_gains_nothing(question: Question, answer: TrackAnswer, steps: list, data) -> None:
    """Repeats, refusals and junk raise no score and lower no v; a flagged call never raises S_adj."""
    walk = walked(question, steps)
    before = walk.score(answer)
    assert 0 <= before.adjusted <= 1
    repeats = data.draw(st.lists(st.sampled_from(walk.calls), max_size=5)) if walk.calls else []
    walk.calls += repeats
    walk.search("").search("zzqx").search("zz qx", "crm" if "crm" in walk.tools.allowed else None)
    padded = walk.score(answer)
    assert padded.adjusted <= before.adjusted and padded.rate >= before.rate
    assert padded.answer <= before.answer and padded.trajectory <= before.trajectory
    walk.fetch(forbidden(question))
    assert walk.score(answer).adjusted <= padded.adjusted
    assert walk.score(answer).state == INVALID


def test_every_track_has_a_question_of_each_truth() -> None:
    for track in Track:
        assert {one.boolean for one in questions() if one.track is track} == {True, False}
