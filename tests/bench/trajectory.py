"""How long path scores take: 10,000 questions of 50 calls each, and a corpus of 10,000 artifacts; one core.

    python -m tests.bench.trajectory

Calls are made by the real tools and scored from their recorded form, as an audit does once its traces are read.
"""

from __future__ import annotations

import os
import platform
import random
import time
from itertools import cycle, islice
from typing import Any

from slaverify.trajectory import PathRules, Question, Tools, TrackAnswer, Walk, derive, generate, score_path
from slaverify.trajectory.corpus import Corpus
from slaverify.trajectory.runtime import Call
from slaverify.trajectory.state_contract import StateContract, state_contract
from slaverify.trajectory.state_model import Artifact, Event
from tests.trajectory.state import NONCE, crm, questions
from tests.trajectory.walks import right

QUESTIONS, CALLS, ARTIFACTS = 10_000, 50, 10_000


def calls_of(question: Question, seed: int) -> tuple[Call, ...]:
    """Return 50 calls: the path, then searches and fetches at random, some forbidden."""
    chance = random.Random(seed)
    budget = crm().evaluation.budget.model_copy(update={"max_calls": CALLS})
    tools = Tools(crm().corpus, question.actor, question.role, question.as_of, budget)
    ids, words = sorted(crm().corpus.by_id), ["R-501", "I-302", "Viñedos", "cuenta", "T-2004", "ticket"]
    asked: list[tuple[str, dict[str, Any]]] = [
        ("search_artifacts", {"query": place.terms[0], "subsystem": place.subsystem}) for place in question.places
    ]
    asked += [("fetch_artifact", {"artifact_id": one}) for one in question.required]
    while len(asked) < CALLS:
        if chance.random() < 0.5:
            asked.append(("fetch_artifact", {"artifact_id": chance.choice(ids)}))
        else:
            asked.append(("search_artifacts", {"query": chance.choice(words), "subsystem": None}))
    return tuple(tools.execute(tool, arguments).call for tool, arguments in asked[:CALLS])


def score_many() -> float:
    """Return the seconds that scoring takes."""
    walks: list[tuple[Question, Walk]] = []
    made = [(one, calls_of(one, number)) for number, one in enumerate(islice(cycle(questions()), 400))]
    answers: dict[str, TrackAnswer] = {one.question_id: right(one) for one in questions()}
    for question, calls in islice(cycle(made), QUESTIONS):
        walks.append((question, Walk(calls, answers[question.question_id], True)))
    rules, budget, corpus = PathRules(), crm().evaluation.budget, crm().corpus
    started = time.process_time()
    total = sum(score_path(question, corpus, budget, walk, rules).calls for question, walk in walks)
    spent = time.process_time() - started
    assert total == QUESTIONS * CALLS
    return spent


def grown() -> StateContract:
    """Return the example state contract with copies of its records, up to 10,000 artifacts."""
    base = crm()
    copies = ARTIFACTS // len(base.artifacts)
    artifacts: list[Artifact] = []
    events: list[Event] = []
    for number in range(copies):
        mark = f"-{number}" if number else ""
        artifacts += [
            one.model_copy(
                update={
                    "id": one.id + mark,
                    "recorded_events": tuple(event + mark for event in one.recorded_events),
                    "fields": _marked(one.fields, mark),
                    "body": one.body.replace(".", f"{mark}.") if mark else one.body,
                    "title": one.title + mark,
                }
            )
            for one in base.artifacts
        ]
        events += [
            one.model_copy(
                update={
                    "id": one.id + mark,
                    "facts": _marked(one.facts, mark),
                    "artifact_ids": {
                        name: tuple(filed + mark for filed in ids) for name, ids in one.artifact_ids.items()
                    },
                }
            )
            for one in base.events
        ]
    return state_contract(events, artifacts, base.policy, base.evaluation)


def _marked(tree: object, mark: str) -> object:
    assert isinstance(tree, dict)
    return {key: f"{value}{mark}" if isinstance(value, str) else value for key, value in tree.items()}


def search_time(corpus: Corpus) -> float:
    """Return the seconds of one search that nobody made before, mean of 20."""
    started = time.process_time()
    for number in range(20):
        corpus.matches(f"viñedos quilamuta-{number} r-501")
    return (time.process_time() - started) / 20


def main() -> None:
    """Measure and print."""
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    )
    spent = score_many()
    print(f"{QUESTIONS} questions of {CALLS} calls: {spent:.2f} s, {spent / QUESTIONS * 1000:.3f} ms a question")
    large = grown()
    print(f"one search over {len(large.artifacts)} artifacts: {search_time(large.corpus) * 1000:.1f} ms")
    started = time.process_time()
    derive(large, "es-CL")
    print(f"candidates of {len(large.events)} events: {time.process_time() - started:.2f} s")
    started = time.process_time()
    made = generate(crm(), "es-CL", NONCE)
    print(f"{len(made)} questions of the example set: {time.process_time() - started:.2f} s")


if __name__ == "__main__":
    main()
