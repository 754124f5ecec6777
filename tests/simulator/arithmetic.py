"""A small vendor that really computes, and the items to ask it: sums in words of Spanish. It never sees a reference."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from threading import Lock

from slaverify.cli.demo.servers import Respond
from slaverify.evalset import Item, parse_item

VERSION = "aritmetica-1.0.0"
_SUM = re.compile(r"suman? (\d+) (?:y|más) (\d+)")
UNKNOWN = "No tengo información sobre eso en mi corpus."


def items(direct: int, outside: int = 0) -> list[Item]:
    """Return `direct` sums and `outside` questions that a calculator cannot answer."""
    found = []
    for number in range(direct):
        left, right = 100 + 7 * number, 3 + number
        found.append(
            {
                "schema": "item/1",
                "id": f"suma-{number:04d}",
                "stratum": "direct",
                "locale": "es-CL",
                "query": f"¿Cuánto suman {left} y {right}?",
                "reference": {"kind": "number", "value": str(left + right)},
            }
        )
    for number in range(outside):
        found.append(
            {
                "schema": "item/1",
                "id": f"fuera-{number:04d}",
                "stratum": "out_of_corpus",
                "locale": "es-CL",
                "query": f"¿Qué dijo el testigo número {number + 1}?",
                "reference": {"kind": "none", "because": "out_of_corpus"},
            }
        )
    return [parse_item(tree, where=f"items:{line}") for line, tree in enumerate(found, 1)]


class Calculator:
    """Answers sums; wrong where `errs` says so. Counts how often it was asked each question."""

    def __init__(self, errs: Callable[[int, int], bool] = lambda left, right: False, delay_s: float = 0.0) -> None:
        self.errs = errs
        self.delay_s = delay_s
        self.version = VERSION
        self.asked: Counter[str] = Counter()
        self.bodies: list[bytes] = []
        self._lock = Lock()

    def respond(self, body: bytes) -> tuple[int, str, bytes]:
        question = str(json.loads(body)["query"])
        with self._lock:
            self.asked[question] += 1
            self.bodies.append(body)
        time.sleep(self.delay_s)
        tree = {"answer": self.answer(question), "engine": {"version": self.version}}
        return 200, "application/json", json.dumps(tree, ensure_ascii=False).encode()

    def answer(self, question: str) -> str:
        match = _SUM.search(question)
        if match is None:
            return UNKNOWN
        left, right = int(match[1]), int(match[2])
        total = left + right + (1 if self.errs(left, right) else 0)
        return f"La suma es {total}."


def respond(calculator: Calculator) -> Respond:
    """Return the function that a server of the demo kind calls."""
    return calculator.respond
