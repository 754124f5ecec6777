"""Agents that want PASS without walking the path: none gets it, and the report's summary names what each one did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from slaverify.cli.demo.agent import Agent
from slaverify.contract import freeze
from slaverify.contract.load import dump_yaml, load_contract, parse_contract
from slaverify.decision import RunValidity, decide, inputs, results
from slaverify.resources import resource
from slaverify.trajectory.metrics import patterns, summary
from slaverify.trajectory.record import ScoredPath
from slaverify.verify import cluster_names
from tests.simulator.tool_agents import CiteEverything, Reader
from tests.trajectory.state import questions
from tests.trajectory.talks import item_of, talk

ENGINES = {
    "honest": lambda: Agent("honest"),
    "constant": lambda: Agent("constant"),
    "fishing": lambda: Agent("fishing"),
    "padding": lambda: Agent("padding"),
    "leaking": lambda: Agent("leaking"),
    "cite_everything": CiteEverything,
    "reader": lambda: Reader(questions()),
}
NAMED = {
    "constant": {"no_calls", "constant_answer"},
    "fishing": {"fishing"},
    "padding": {"constant_answer", "junk_calls"},
    "leaking": {"pries"},
    "cite_everything": {"cites_unopened"},
    "reader": {"no_calls", "right_without_path"},
}


@cache
def run_of(name: str) -> tuple[ScoredPath, ...]:
    """Return the scores of one engine over the forty questions."""
    respond = ENGINES[name]().respond
    return tuple(talk(respond, one).scored() for one in questions())


@cache
def contract():
    draft = load_contract(resource("contratos", "demo-agente-crm.yaml")).model
    return parse_contract(dump_yaml(freeze(draft)).encode(), "frozen").model


def decided(scored: Sequence[ScoredPath], provenance: str = "measured"):
    clusters = cluster_names(item_of(one.question) for one in scored)
    records = sorted(
        (replace(one.record, cluster=clusters[one.record.item_id]).to_json() for one in scored),
        key=lambda record: record["item_id"],
    )
    validity = RunValidity(valid=True, provenance=provenance)
    return decide(contract(), results(contract(), inputs(contract(), records), validity), validity)


def test_the_honest_agent_complies() -> None:
    found = decided(run_of("honest"))
    assert found["state"] == "PASS" and {one["state"] for one in found["metrics"]} == {"PASS"}
    assert patterns(run_of("honest")) == ()


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "honest"])
def test_no_other_agent_does(name: str) -> None:
    assert decided(run_of(name))["state"] == "BREACH"
    assert set(patterns(run_of(name))) >= NAMED[name]
    assert summary(run_of(name), (), ())["patterns"] == list(patterns(run_of(name)))


def test_who_knows_the_truth_is_right_everywhere_and_valid_nowhere_it_matters() -> None:
    """The reader of the ground truth: every yes and no is right, and no state that it was reached in is valid."""
    scored = run_of("reader")
    assert all(one.score.said_right for one in scored)
    assert not any(one.record.state == "VALID_STATE" for one in scored)
    table = summary(scored, (), ())["table"]
    assert table["correct_valid"] == 0


def test_the_judge_gap() -> None:
    """The story of the paper: a plausible answer whose required artifact was never opened.

    A judge that reads the answer alone likes it and gives 0.9: it is fluent, it is even true. The path says that the
    one record which attests it was never fetched, and no judgement lifts what a rule has settled.
    """
    question = next(one for one in questions() if one.kind == "present")

    class Plausible(Agent):
        def act(self, view, seen, offered):
            calls, _ = super().act(view, seen, offered)
            if any(call["tool"] == "search_artifacts" for call in calls):
                return calls, None
            listed = [hit for hits in seen.hits.values() for hit in hits]
            words = f"Sí consta: {listed[0]['title']}, según el registro." if listed else "Sí consta."
            return [], {"exists": True, "evidence_artifacts": list(question.evidence), "reasoning": words}

    def scripted_judge(answer: dict) -> float:
        return 0.9 if answer["exists"] is True and len(answer["reasoning"]) > 10 else 0.1

    done = talk(Plausible("honest").respond, question)
    answer = next(line["answer"] for line in done.trace if line["type"] == "answer")
    assert answer == {**question.truth(), "reasoning": answer["reasoning"]} and scripted_judge(answer) == 0.9
    scored = done.scored()
    assert scored.score.said_right and not scored.score.correct
    assert scored.score.answer == 0 and scored.record.state == "INVALID_STATE"
    assert {"REQUIRED_NEVER_FETCHED", "PHANTOM_CITATION"} <= set(scored.score.reasons)
    assert scored.record.decided_by is None and scored.record.correctness == "incorrect"


def test_a_declared_trace_supports_nothing() -> None:
    """The same perfect scores, handed in by the vendor: not measured, whatever they say."""
    found = decided(run_of("honest"), provenance="declared")
    assert found["state"] == "NOT_MEASURED"
    assert {one["state"] for one in found["metrics"]} == {"NOT_MEASURED"}
