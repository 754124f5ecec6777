"""The rules of this version, registered."""

from __future__ import annotations

from slaverify.evalset import (
    ChoiceReference,
    EntityReference,
    NumberReference,
    Reference,
    TextReference,
)
from slaverify.scoring.abstention import Value
from slaverify.scoring.quantities import quantities
from slaverify.scoring.registry import Registry, Rule
from slaverify.scoring.resolution import Finding
from slaverify.scoring.rules import choice, entity, number, text
from slaverify.scoring.rules.task import Task

RULES = Registry()
"""All rules of this version."""

_SOURCE = "docs/spec/scoring.md"


def _number(task: Task, reference: Reference) -> Finding | None:
    return number.judge(task, reference) if isinstance(reference, NumberReference) else None


def _choice(task: Task, reference: Reference) -> Finding | None:
    return choice.judge(task, reference) if isinstance(reference, ChoiceReference) else None


def _entity(task: Task, reference: Reference) -> Finding | None:
    return entity.judge(task, reference) if isinstance(reference, EntityReference) else None


def _text(task: Task, reference: Reference) -> Finding | None:
    return text.judge(task, reference) if isinstance(reference, TextReference) else None


def _number_values(task: Task, reference: Reference) -> list[Value]:
    return [Value(one.span, one.assertion) for one in quantities(task.passage, task.settings)]


def _choice_values(task: Task, reference: Reference) -> list[Value]:
    if not isinstance(reference, ChoiceReference):
        return []
    return [Value(one.span, one.assertion) for one in choice.mentions(task.passage, reference.options)]


def _no_values(task: Task, reference: Reference) -> list[Value]:
    return []


for _rule in (
    Rule(
        name=number.NAME,
        kinds=("number",),
        policies=number.POLICIES,
        source=_SOURCE,
        judge=_number,
        candidates=_number_values,
    ),
    Rule(name=choice.NAME, kinds=("choice",), policies=(), source=_SOURCE, judge=_choice, candidates=_choice_values),
    Rule(
        name=entity.NAME,
        kinds=("entity",),
        policies=("fold_accents",),
        source=_SOURCE,
        judge=_entity,
        candidates=_no_values,
    ),
    Rule(
        name=text.NAME, kinds=("text",), policies=("fold_accents",), source=_SOURCE, judge=_text, candidates=_no_values
    ),
):
    RULES.add(_rule)
