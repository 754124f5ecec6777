"""The rules of this version, registered."""

from __future__ import annotations

from slaverify.evalset import (
    AmountReference,
    ChoiceReference,
    CitationReference,
    DateReference,
    EntityReference,
    JsonReference,
    NumberReference,
    Reference,
    SetReference,
    TextReference,
)
from slaverify.scoring.abstention import Value
from slaverify.scoring.asked import candidates
from slaverify.scoring.registry import Candidates, Judge, Registry, Rule
from slaverify.scoring.resolution import Finding
from slaverify.scoring.rules import amount, choice, citation, date, entity, json_object, number, set_of, text
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


def _amount(task: Task, reference: Reference) -> Finding | None:
    return amount.judge(task, reference) if isinstance(reference, AmountReference) else None


def _date(task: Task, reference: Reference) -> Finding | None:
    return date.judge(task, reference) if isinstance(reference, DateReference) else None


def _citation(task: Task, reference: Reference) -> Finding | None:
    return citation.judge(task, reference) if isinstance(reference, CitationReference) else None


def _json(task: Task, reference: Reference) -> Finding | None:
    return json_object.judge(task, reference) if isinstance(reference, JsonReference) else None


def _set(task: Task, reference: Reference) -> Finding | None:
    return set_of.judge(task, reference, _element) if isinstance(reference, SetReference) else None


def _element(task: Task, reference: Reference) -> Finding | None:
    for judge in (_number, _amount, _date, _choice, _citation, _entity, _text):
        finding = judge(task, reference)
        if finding is not None:
            return finding
    return None


def _date_values(task: Task, reference: Reference) -> list[Value]:
    return date.values(task, reference) if isinstance(reference, DateReference) else []


def _citation_values(task: Task, reference: Reference) -> list[Value]:
    return citation.values(task)


def _json_values(task: Task, reference: Reference) -> list[Value]:
    return json_object.values(task)


def _set_values(task: Task, reference: Reference) -> list[Value]:
    return set_of.values(task, reference) if isinstance(reference, SetReference) else []


def _number_values(task: Task, reference: Reference) -> list[Value]:
    return [Value(one.span, one.assertion) for one in candidates(task.passage, task.query, task.settings)]


def _choice_values(task: Task, reference: Reference) -> list[Value]:
    if not isinstance(reference, ChoiceReference):
        return []
    return [Value(one.span, one.assertion) for one in choice.mentions(task.passage, reference.options)]


def _no_values(task: Task, reference: Reference) -> list[Value]:
    return []


def _rule(name: str, policies: tuple[str, ...], judge: Judge, candidates: Candidates) -> Rule:
    kinds = (name.partition("@")[0],)
    return Rule(name=name, kinds=kinds, policies=policies, source=_SOURCE, judge=judge, candidates=candidates)


for _entry in (
    _rule(number.NAME, number.POLICIES, _number, _number_values),
    _rule(amount.NAME, amount.POLICIES, _amount, _number_values),
    _rule(date.NAME, date.POLICIES, _date, _date_values),
    _rule(choice.NAME, (), _choice, _choice_values),
    _rule(entity.NAME, ("fold_accents",), _entity, _no_values),
    _rule(text.NAME, ("fold_accents",), _text, _no_values),
    _rule(citation.NAME, citation.POLICIES, _citation, _citation_values),
    _rule(set_of.NAME, set_of.POLICIES, _set, _set_values),
    _rule(json_object.NAME, json_object.POLICIES, _json, _json_values),
):
    RULES.add(_entry)
