"""Rubrics: what a judge is asked, on which scale, and which verdict follows. Data, by `name@version`.

A judge returns the asked fields alone: no threshold, no pass flag, no weight, no overall mark.

Source: docs/spec/judging.md section 2; `reglab@1` arXiv 2405.20362, `facts@1` arXiv 2501.03200, `weighted@1`
arXiv 2505.08775 (papers read in abstract only: unverified).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue, digest_of, jcs
from slaverify.contract.model.judge import Criterion, Judge
from slaverify.errors import JudgeError, Text
from slaverify.judging.criteria import values_of
from slaverify.judging.data import load

REGLAB = "reglab@1"
FACTS = "facts@1"
CRITERIA = "criteria@1"
WEIGHTED = "weighted@1"

FORBIDDEN_FIELDS = frozenset({"threshold", "pass", "passed", "weight", "verdict", "overall", "mark", "success"})
"""Fields that no rubric may ask of a judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """One rubric. `scales`: admitted values by field; `table`: correctness → grounding → verdict, null a contradiction.

    `data`: what the judge sees beyond question, official text, cited texts and answer. `digest` covers all of it.
    """

    name: str
    asks: tuple[str, ...]
    scales: Mapping[str, tuple[str, ...]]
    data: tuple[str, ...]
    table: Mapping[str, Mapping[str, str | None]]
    text: Mapping[str, str]
    anchors: Mapping[str, Mapping[str, Mapping[str, str]]]
    digest: str

    @property
    def per_criterion(self) -> bool:
        """Whether one call asks one criterion."""
        return "criterion" in self.data


def rubric(name: str) -> Rubric:
    """Return the rubric `name@version`. Raises: JudgeError SLV-J007 if this version of the product has none."""
    found = RUBRICS.get(name)
    if found is None:
        known = ", ".join(RUBRICS)
        raise JudgeError(
            "SLV-J007",
            Text(f"la rúbrica {name} no está en esta versión", f"rubric {name} is not in this version"),
            fix=Text(f"use una de: {known}", f"use one of: {known}"),
        )
    return found


def rubric_of(judge: Judge) -> Rubric:
    """Return the rubric of a contract: the named one, or that of its own criteria.

    Raises: JudgeError SLV-J007 (unknown), SLV-J008 (the pinned digest is another rubric's).
    """
    if judge.rubric is None:
        return rubric(WEIGHTED if any(one.points is not None for one in judge.criteria) else CRITERIA)
    found = rubric(judge.rubric.name)
    if found.digest != judge.rubric.digest:
        raise JudgeError(
            "SLV-J008",
            Text(f"el digest pactado no es el de {found.name}", f"the pinned digest is not that of {found.name}"),
            fix=Text(f"si la rúbrica es la de esta versión: {found.digest}", f"that of this version: {found.digest}"),
            where="judge.rubric.digest",
            exit_code=5,
        )
    return found


def scale_of(found: Rubric, field: str, criterion: Criterion | None) -> tuple[str | int, ...]:
    """Return the admitted values of a field; `score` of criteria@1 has the criterion's own."""
    if field == "score" and criterion is not None and field not in found.scales:
        return values_of(criterion)
    return found.scales[field]


def _rubric(name: str, tree: JsonObject) -> Rubric:
    asks = _words(tree["asks"])
    if FORBIDDEN_FIELDS.intersection(asks):
        raise JudgeError(
            "SLV-J004",
            Text(
                f"la rúbrica {name} pide al juez lo que fija el contrato", f"rubric {name} asks what the contract fixes"
            ),
            where=name,
        )
    return Rubric(
        name=name,
        asks=asks,
        scales={key: _words(values) for key, values in _object(tree["scales"]).items()},
        data=_words(tree["data"]),
        table={row: {key: _cell(cell) for key, cell in _object(cells).items()} for row, cells in _rows(tree["table"])},
        text=_texts(tree["text"]),
        anchors={
            language: {field: _texts(texts) for field, texts in _object(fields).items()}
            for language, fields in _object(tree["anchors"]).items()
        },
        digest=digest_of(jcs({"name": name, **tree})),
    )


def _object(value: JsonValue) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError("object expected")
    return value


def _rows(value: JsonValue) -> list[tuple[str, JsonValue]]:
    return list(_object(value).items())


def _words(value: JsonValue) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("list expected")
    return tuple(str(word) for word in value)


def _texts(value: JsonValue) -> dict[str, str]:
    return {key: str(text) for key, text in _object(value).items()}


def _cell(value: JsonValue) -> str | None:
    return None if value is None else str(value)


RUBRICS: dict[str, Rubric] = {name: _rubric(name, _object(tree)) for name, tree in load("rubrics.json").items()}
"""All rubrics of this version, by `name@version`."""
