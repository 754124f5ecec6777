"""Agents that try to pass without walking: they cite everything, or know the truth and open nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from slaverify.cli.demo.agent import VERSION, Agent
from slaverify.trajectory import Question

PREFIXES = {"COR-": 117, "CRM-": 107, "FAC-": 104, "INC-": 114, "TCK-": 117, "WIK-": 105}


class CiteEverything(Agent):
    """Walks the path, then cites every id that there could be: some have to be right."""

    def __init__(self) -> None:
        super().__init__("honest")

    def act(self, question, seen, offered):
        calls, answer = super().act(question, seen, offered)
        if answer is None:
            return calls, None
        every = [f"{prefix}{number}" for prefix, last in PREFIXES.items() for number in range(101, last + 1)]
        return [], {**answer, "evidence_artifacts": every}


class Reader:
    """Has the question contracts, as a leak would give them, and answers at once with what they say."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._truth: Mapping[str, Any] = {one.public_id: one.truth() for one in questions}

    def respond(self, body: bytes) -> tuple[int, str, bytes]:
        turn = json.loads(body)
        truth = self._truth.get(turn["question"]["public_id"])
        look = {"calls": [{"id": "c", "tool": "search_artifacts", "arguments": {"query": "bienvenida"}}]}
        said = {"answer": {**truth, "reasoning": "lo sé"}} if truth is not None else look
        return 200, "application/json", json.dumps({**said, "engine": {"version": VERSION}}).encode()
