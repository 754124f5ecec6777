"""Short ways to build an item, settings and a score in the tests of this room."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer, Item, Policies, parse_item
from slaverify.scoring import Scored, Settings, default_settings, score


def item(reference: dict[str, Any], *, query: str = "¿Cuál es?", stratum: str = "direct", **more: Any) -> Item:
    tree = {"schema": "item/1", "id": "x", "stratum": stratum, "query": query, "reference": reference, **more}
    return parse_item(tree, where="test")


def settings(locale: str | None = "es-CL", **changes: Any) -> Settings:
    base = default_settings("qa@1", locale)
    fields = {key: changes.pop(key) for key in list(changes) if key in Settings.__dataclass_fields__}
    if changes:
        base = replace(base, policies=base.policies.changed(Policies.model_validate(changes)))
    return replace(base, **fields)


def scored(
    reference: dict[str, Any],
    answer: str,
    *,
    query: str = "¿Cuál es?",
    stratum: str = "direct",
    locale: str | None = "es-CL",
    **changes: Any,
) -> Scored:
    given = item(reference, query=query, stratum=stratum)
    return score(given, Answer(answer), Outcome.ANSWERED, settings(locale, **changes))


def outcome_of(got: Scored) -> tuple[str, str | None]:
    """Return correctness and first reason."""
    rules = got.record.rules
    return got.record.correctness.value, rules[0].reason if rules else None


def number(value: str, unit: str = "none", **more: Any) -> dict[str, Any]:
    return {"kind": "number", "value": value, "unit": unit, **more}


def entity(value: str, *aliases: str, **more: Any) -> dict[str, Any]:
    return {"kind": "entity", "value": value, "aliases": list(aliases), **more}


def text(value: str, *aliases: str) -> dict[str, Any]:
    return {"kind": "text", "value": value, "aliases": list(aliases)}


def choice(value: str, **options: str) -> dict[str, Any]:
    return {"kind": "choice", "value": value, "options": options or dict.fromkeys("", "")}


def amount(value: str, unit: str, **more: Any) -> dict[str, Any]:
    return {"kind": "amount", "value": value, "unit": unit, **more}


def date(value: str, **more: Any) -> dict[str, Any]:
    return {"kind": "date", "value": value, **more}


NONE = {"kind": "none", "because": "out_of_corpus"}
