"""A reference engine over the fictional norm: it finds the fact that a question asks for, by its keywords alone.

It reads `norma_ficticia.json` and never the bank. A fact matches if every keyword of one of its `ask` phrases, cut
to its first five letters, stands in the question; the longest phrase wins; nothing matches: it abstains.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any


def stems(text: str) -> frozenset[str]:
    bare = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))
    return frozenset(word[:5] for word in re.findall(r"\w+", bare))


def candidates(norm: dict[str, Any], question: str) -> list[tuple[int, int]]:
    """Return (length of the phrase, index of the fact) of each match, best first."""
    words = stems(question.split(" A) ")[0])
    found = [
        (len(phrase), index)
        for index, fact in enumerate(norm["facts"])
        for phrase in map(stems, fact["ask"])
        if phrase <= words
    ]
    return sorted(found, reverse=True)


def lookup(norm: dict[str, Any], question: str) -> dict[str, Any] | None:
    found = candidates(norm, question)
    return norm["facts"][found[0][1]] if found else None


def chilean(value: str) -> str:
    whole, _, fraction = value.partition(".")
    grouped = re.sub(r"(?<=[0-9])(?=(?:[0-9]{3})+$)", ".", whole)
    return f"{grouped},{fraction}" if fraction else grouped


def shown(fact: dict[str, Any]) -> str:
    return fact["value"] if fact["kind"] == "choice" else f"{chilean(fact['value'])} {fact['unit']}".strip()


SENTENCES = (
    "{v}",
    "{v}.",
    "Respuesta: {v}.",
    "Según el artículo {a}, la respuesta es: {v}.",
    "De acuerdo con el artículo {a} del reglamento, corresponde {v}.",
    "El reglamento fija {v} (artículo {a}).",
    "Son {v}, conforme al artículo {a}, inciso primero.",
    "Gracias por su consulta. La respuesta es {v}, según el art. {a}. Saludos cordiales.",
    "El artículo {a} de la norma establece {v} para este caso.",
)

ABSTENTIONS = (
    "El reglamento no contiene una regla sobre esa materia.",
    "No encontré una disposición sobre ese tema en el reglamento.",
    "No puedo responder: la consulta excede el alcance del reglamento.",
    "Esa información no figura en el Reglamento de Transporte Lacustre.",
    "Lo siento, no dispongo de información sobre esa materia. Le recomiendo consultar a la autoridad competente.",
)
