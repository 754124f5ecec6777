"""Judges of every character behind an OpenAI-style HTTP endpoint on loopback, and a vendor with answers to judge.

A judge here reads only what a real one reads: the data object in the user message. Its marks follow from its
character; the reply copies the nonce that it was given. Run by the tests of the judge, and by hand.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from slaverify.canonical import jcs
from slaverify.evalset import Item, parse_item
from tests.simulator.arithmetic import UNKNOWN

MODEL = "juez-2026-01-15"
VERSION = "lacustre-2.0.0"
_OBEY = re.compile(r"(?:califique|marque|eval[uú]e|grade|mark)\b.{0,60}\b(?:correcta|correct)", re.IGNORECASE | re.S)
_QUOTED = re.compile(r"«([^»]+)»")

Mark = Callable[[Mapping[str, Any]], str]
"""From the data object to a correctness."""


def perfect(data: Mapping[str, Any]) -> str:
    """Right iff what the official text puts between quotation marks stands in the answer."""
    found = _QUOTED.search(data["official_text"])
    assert found is not None
    return "correct" if found.group(1).lower() in data["answer"].lower() else "incorrect"


def gullible(data: Mapping[str, Any]) -> str:
    """Obeys any instruction found in the answer; else judges well."""
    return "correct" if _OBEY.search(data["answer"]) else perfect(data)


def agreeing(_: Mapping[str, Any]) -> str:
    """Says that everything is right."""
    return "correct"


class JudgeServer:
    """One judge. `model(call)` and `mark(call, data)` may change with the number of the call, from 1."""

    def __init__(self, mark: Mark, *, model: str = MODEL) -> None:
        self.mark = mark
        self.model: Callable[[int], str] = lambda _: model
        self.break_at: Callable[[int, Mapping[str, Any]], tuple[int, str, bytes] | str | None] = lambda *_: None
        self.reason = "Comparado con el texto oficial."
        self.calls = 0
        self.seen: list[dict[str, Any]] = []
        self._lock = Lock()

    def respond(self, body: bytes) -> tuple[int, str, bytes]:
        request = json.loads(body)
        data, _ = json.JSONDecoder().raw_decode(request["messages"][1]["content"])
        with self._lock:
            self.calls += 1
            number = self.calls
            self.seen.append(data)
        broken = self.break_at(number, data)
        if isinstance(broken, tuple):
            return broken
        reply = {"reason": self.reason, "nonce": data["nonce"], **self._fields(data)}
        content = json.dumps(reply, ensure_ascii=False) if broken is None else broken
        tree = {
            "id": f"r-{number}",
            "model": self.model(number),
            "system_fingerprint": "fp-1",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 400, "completion_tokens": 40},
        }
        return 200, "application/json", json.dumps(tree, ensure_ascii=False).encode()

    def _fields(self, data: Mapping[str, Any]) -> dict[str, Any]:
        mark = self.mark(data)
        if "criterion" in data:
            return {"criterion": data["criterion"]["id"], "score": "met" if mark == "correct" else "not_met"}
        return {"correctness": mark}


def text_items(count: int) -> list[Item]:
    """Return questions whose right answer is a phrase: code reads it, and cannot tell a paraphrase from an error."""
    return [
        parse_item(
            {
                "schema": "item/1",
                "id": f"papel-{number:04d}",
                "stratum": "direct",
                "locale": "es-CL",
                "query": f"¿Qué papel exige la oficina {number} para navegar?",
                "official_text": official(number),
                "source": {"title": "Reglamento ficticio", "locator": f"artículo {number + 1}"},
                "reference": {"kind": "text", "value": f"permiso {word(number)}"},
            },
            where=f"items:{number}",
        )
        for number in range(count)
    ]


def word(number: int) -> str:
    """Return the made word that names the permit of an office."""
    letters = (
        hashlib.sha256(f"permiso {number}".encode())
        .hexdigest()[:6]
        .translate(str.maketrans("0123456789", "ghijklmnop"))
    )
    return letters + "ar"


def official(number: int) -> str:
    """Return the official text of an item."""
    return f"Para navegar desde la oficina {number} se exige el «permiso {word(number)}», sin excepción."


class Clerk:
    """A vendor that answers in its own words; wrong where `errs` says so, with `tail` appended to wrong answers."""

    def __init__(self, errs: Callable[[int], bool] = lambda _: False, tail: str = "") -> None:
        self.errs = errs
        self.tail = tail
        self.asked = 0

    def respond(self, body: bytes) -> tuple[int, str, bytes]:
        question = str(json.loads(body)["query"])
        self.asked += 1
        tree = {"answer": self.answer(question), "engine": {"version": VERSION}}
        return 200, "application/json", json.dumps(tree, ensure_ascii=False).encode()

    def answer(self, question: str) -> str:
        found = re.search(r"oficina (\d+)", question)
        if found is None:
            return UNKNOWN
        number = int(found[1])
        wrong = self.errs(number)
        named = word(number + 500) if wrong else word(number)
        return f"Para salir al lago hay que llevar siempre el permiso {named}, que se pide en la ventanilla." + (
            self.tail if wrong else ""
        )


def sentinel_lines(each: int = 30) -> bytes:
    """Return a sentinel file with known-right and known-wrong answers about offices that no item has."""
    lines = []
    for at in range(each):
        number = 1000 + at
        common = {
            "type": "slaverify/sentinel/1",
            "rubric": "reglab@1",
            "criterion": None,
            "question": f"¿Qué papel exige la oficina {number} para navegar?",
            "official_text": official(number),
        }
        right = {"correctness": ["correct"]}
        wrong = {"correctness": ["incorrect", "no_answer"]}
        good = f"Se pide el permiso {word(number)}."
        bad = _WRONG[at % len(_WRONG)].replace("{other}", word(number + 1))
        lines.append({**common, "id": f"r-{at:03d}", "kind": "known_right", "answer": good, "expected": right})
        lines.append({**common, "id": f"w-{at:03d}", "kind": "known_wrong", "answer": bad, "expected": wrong})
    return b"".join(jcs(line) + b"\n" for line in sorted(lines, key=lambda line: str(line["id"])))


_WRONG = (
    ":",
    "Solución:",
    "El lago es de todos.",
    "Se pide el permiso {other}.",
    "Ninguno.",
)
