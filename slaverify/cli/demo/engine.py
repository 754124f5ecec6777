"""The demo's vendor: an engine that looks questions up in a fictional norm. It has the norm, never the bank.

How often it errs is fixed by its kind: every n-th new question about the norm gets a wrong value, the same one each
time it is asked again. So a demonstration always ends in the same state, whatever was drawn.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from threading import Lock

from slaverify.canonical import JsonObject, loads_object
from slaverify.resources import resource

VERSION = "asistente-demo-1.0.0"
_WORD = re.compile(r"\w+")
_OPTION = re.compile(r"([A-D])\) ([^;.]+)")
_STEM = 5
_SENTENCES = (
    "Según el artículo {article}, la respuesta es: {value}.",
    "El reglamento fija {value} (artículo {article}).",
    "De acuerdo con el artículo {article}, corresponde {value}.",
    "Gracias por su consulta. La respuesta es {value}, según el art. {article}.",
)
_ABSTENTIONS = (
    "El reglamento no contiene una regla sobre esa materia.",
    "No encontré una disposición sobre ese tema en el reglamento.",
    "Esa información no figura en el Reglamento de Transporte Lacustre.",
)


@dataclass(frozen=True)
class Kind:
    """How an engine errs: one new question in `wrong_each` gets another value; in `invents_each` it never abstains."""

    wrong_each: int
    invents_each: int


KINDS = {"honest": Kind(60, 0), "weak": Kind(3, 2), "borderline": Kind(7, 0)}


class DemoEngine:
    """Answers questions about the fictional norm; one object lives as long as its server."""

    def __init__(self, kind: str) -> None:
        self._kind = KINDS[kind]
        tree = loads_object(resource("contratos", "practica", "norma_ficticia.json").read_bytes())
        facts = tree["facts"]
        self._facts = [fact for fact in facts if isinstance(fact, dict)] if isinstance(facts, list) else []
        self._wrong: dict[str, bool] = {}
        self._invented: dict[str, bool] = {}
        self._lock = Lock()

    def respond(self, body: bytes) -> tuple[int, str, bytes]:
        """Answer one POST: {"query": …} with {"answer": …, "engine": {"version": …}}."""
        try:
            question = str(json.loads(body)["query"])
        except (ValueError, KeyError, TypeError):
            return 400, "application/json", b'{"error":{"code":"bad_request"}}'
        tree = {"answer": self.answer(question), "engine": {"version": VERSION}}
        return 200, "application/json", json.dumps(tree, ensure_ascii=False).encode("utf-8")

    def answer(self, question: str) -> str:
        """Return the sentence that answers `question`."""
        fact = self._find(question)
        if fact is None:
            if self._decide(self._invented, question, self._kind.invents_each):
                return "El plazo es de 45 días corridos, según el artículo 7."
            return _one_of(_ABSTENTIONS, question)
        wrong = self._decide(self._wrong, question, self._kind.wrong_each)
        if fact["kind"] == "choice":
            return _chosen(question, str(fact["value"]), wrong)
        shown = f"{_chilean(str(fact['value']), wrong)} {fact.get('unit') or ''}".rstrip()
        return _one_of(_SENTENCES, question).format(article=fact["article"], value=shown)

    def _find(self, question: str) -> JsonObject | None:
        """Return the fact all of whose keywords the question names; the longest phrase wins."""
        named = _stems(question.partition(" A) ")[0])
        best, size = None, 0
        for fact in self._facts:
            for phrase in map(_stems, map(str, _listed(fact["ask"]))):
                if phrase <= named and len(phrase) > size:
                    best, size = fact, len(phrase)
        return best

    def _decide(self, memory: dict[str, bool], question: str, each: int) -> bool:
        with self._lock:
            if question not in memory:
                memory[question] = each > 0 and len(memory) % each == each // 2
            return memory[question]


def _chosen(question: str, value: str, wrong: bool) -> str:
    options = _OPTION.findall(question)
    right = [label for label, text in options if _fold(text) == _fold(value)]
    others = [label for label, _ in options if label not in right]
    label = (others if wrong else right or others)[0]
    return f"La alternativa correcta es {label}."


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _stems(text: str) -> frozenset[str]:
    # Five letters keep forms of one word together and different words of this norm apart.
    return frozenset(word[:_STEM] for word in _WORD.findall(_fold(text)))


def _fold(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text.strip().lower()) if not unicodedata.combining(c))


def _one_of(sentences: tuple[str, ...], question: str) -> str:
    return sentences[sum(question.encode("utf-8")) % len(sentences)]


def _chilean(value: str, wrong: bool) -> str:
    whole, _, fraction = value.partition(".")
    number = int(whole) + (7 if wrong else 0)
    grouped = f"{number:,}".replace(",", ".")
    return f"{grouped},{fraction}" if fraction else grouped
