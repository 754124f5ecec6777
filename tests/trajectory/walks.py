"""Walks of engines that the tests make: calls through the real tools, and an answer."""

from __future__ import annotations

from dataclasses import replace

from slaverify.trajectory import PathRules, PathScore, Question, Tools, TrackAnswer, Walk, score_path
from slaverify.trajectory.runtime import Call
from tests.trajectory.state import crm

PLENTY = crm().evaluation.budget.model_copy(update={"max_calls": 10_000})


class Walker:
    """One question under way."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.tools = Tools(crm().corpus, question.actor, question.role, question.as_of, PLENTY)
        self.calls: list[Call] = []

    def search(self, query: str, subsystem: str | None = None) -> Walker:
        self.calls.append(self.tools.execute("search_artifacts", {"query": query, "subsystem": subsystem}).call)
        return self

    def fetch(self, *ids: str) -> Walker:
        self.calls += [self.tools.execute("fetch_artifact", {"artifact_id": one}).call for one in ids]
        return self

    def searches(self) -> Walker:
        for place in self.question.places:
            self.search(place.terms[0], place.subsystem)
        return self

    def score(self, answer: TrackAnswer | None, rules: PathRules | None = None) -> PathScore:
        walk = Walk(tuple(self.calls), answer, answer is not None)
        return score_path(self.question, crm().corpus, PLENTY, walk, rules or PathRules())


def right(question: Question) -> TrackAnswer:
    """Return the right answer, all evidence cited."""
    return TrackAnswer(
        question.boolean,
        frozenset(question.evidence),
        frozenset(question.blocked),
        question.mechanism,
        question.cause_event_id,
        question.effect_event_id,
        question.direction,
        frozenset(question.actors),
    )


def citing(answer: TrackAnswer, *ids: str) -> TrackAnswer:
    """Return the answer with other citations."""
    return replace(answer, evidence=frozenset(ids))


def honest(question: Question) -> Walker:
    """Return the walk that the question needs."""
    return Walker(question).searches().fetch(*question.required)
