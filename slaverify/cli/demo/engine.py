"""The demo's vendor: an engine that looks questions up in a fictional norm. It has the norm, never the bank.

How often it errs is fixed by its kind: every n-th new question about the norm is answered wrongly (in turn: another
value, the article next to the right one, an article that does not exist), the same way each time it is asked again.
So a demonstration always ends in the same state, whatever was drawn.
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
_DENIALS = (
    "No existe {named} en mis fuentes.",
    "No encontré {named} en el corpus consultado.",
    "El corpus no contiene {named}.",
)
_TITLE = "Reglamento de Transporte Lacustre"
_NAMED = re.compile(
    r"(?:art[íi]culo|art\.)\s(?P<article>[0-9]+(?:\s(?:bis|ter|quáter|[A-Z]\b))?|\w+\stransitorio)"
    r"|(?:ley|decreto\sley|decreto\ssupremo|d\.?s\.|d\.?f\.?l\.?|d\.?l\.?)\s(?:n[°º]\s)?[0-9.]+(?:,?\sde\s[0-9]{4})?"
    r"|(?:causa\s|fallo\s|sentencia\s)?rol\s(?:n[°º]\s)?[0-9.-]+[0-9]|dictamen\s(?:n[°º]\s)?[0-9.]+(?:,?\sde\s[0-9]{4})?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Kind:
    """How an engine errs: one new question in `wrong_each` is answered wrongly; of those without an answer, one in
    `invents_each` gets an invented one."""

    wrong_each: int
    invents_each: int


KINDS = {"honest": Kind(60, 0), "weak": Kind(3, 2), "borderline": Kind(8, 0)}


@dataclass(frozen=True)
class Said:
    """One answer; `norm` and `article` are what its citation field names, null where it cites nothing."""

    text: str
    norm: str | None = None
    article: str | None = None


class DemoEngine:
    """Answers questions about the fictional norm; one object lives as long as its server."""

    def __init__(self, kind: str) -> None:
        self._kind = KINDS[kind]
        tree = loads_object(resource("contratos", "practica", "norma_ficticia.json").read_bytes())
        facts = tree["facts"]
        self._facts = [
            (fact, tuple(map(_stems, map(str, _listed(fact["ask"])))))
            for fact in (facts if isinstance(facts, list) else [])
            if isinstance(fact, dict)
        ]
        self._wrong: dict[str, int | None] = {}
        self._invented: dict[str, int | None] = {}
        self._lock = Lock()

    def respond(self, body: bytes) -> tuple[int, str, bytes]:
        """Answer one POST: {"query": …} with {"answer": …, "citations": […], "engine": {"version": …}}."""
        try:
            question = str(json.loads(body)["query"])
        except (ValueError, KeyError, TypeError):
            return 400, "application/json", b'{"error":{"code":"bad_request"}}'
        said = self.answer(question)
        cited = [{"norm": said.norm, "article": said.article, "verified": True}] if said.norm else []
        tree = {"answer": said.text, "citations": cited, "engine": {"version": VERSION}}
        return 200, "application/json", json.dumps(tree, ensure_ascii=False).encode("utf-8")

    def answer(self, question: str) -> Said:
        """Return the answer to `question` and what it cites."""
        fact = self._find(question)
        if fact is None:
            return self._without_fact(question)
        wrong = self._decide(self._wrong, question, self._kind.wrong_each)
        article = str(
            {1: int(str(fact["article"])) % 80 + 1, 2: 93}.get(-1 if wrong is None else wrong, fact["article"])
        )
        if fact["kind"] == "choice":
            return Said(_chosen(question, str(fact["value"]), wrong == 0), _TITLE, article)
        shown = f"{_chilean(str(fact['value']), wrong == 0)} {fact.get('unit') or ''}".rstrip()
        return Said(_one_of(_SENTENCES, question).format(article=article, value=shown), _TITLE, article)

    def _without_fact(self, question: str) -> Said:
        named = _NAMED.search(question)
        if self._decide(self._invented, question, self._kind.invents_each) is not None:
            if named is None:
                return Said("El plazo es de 45 días corridos, según el artículo 7.", _TITLE, "7")
            text = f"Conforme al {named.group()}, el plazo es de 45 días corridos."
            return Said(text, _TITLE if named["article"] else named.group(), named["article"])
        if named is None:
            return Said(_one_of(_ABSTENTIONS, question))
        what = named.group().replace("art.", "artículo")
        article = "la" if what.lower().startswith(("ley", "causa", "sentencia")) else "el"
        return Said(_one_of(_DENIALS, question).format(named=f"{article} {what}"))

    def _find(self, question: str) -> JsonObject | None:
        """Return the fact all of whose keywords the question names; the longest phrase wins."""
        named = _stems(question.partition(" A) ")[0])
        best, size = None, 0
        for fact, phrases in self._facts:
            for phrase in phrases:
                if phrase <= named and len(phrase) > size:
                    best, size = fact, len(phrase)
        return best

    def _decide(self, memory: dict[str, int | None], question: str, each: int) -> int | None:
        """Return null for a good answer, else which of the three ways of erring is next."""
        with self._lock:
            if question not in memory:
                errs = each > 0 and len(memory) % each == each // 2
                memory[question] = len(memory) // each % 3 if errs else None
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
