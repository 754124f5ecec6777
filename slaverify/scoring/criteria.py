"""Criteria that code decides, and criteria that do not apply to an item: marks that no judge is asked for.

A check speaks of the clean copy of the answer: words in any case and with or without accents, as whole words; an
anchored expression over the whole text; a length in characters. All that a check holds has to be true.

Source: docs/spec/judging.md section 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.model.judge import Check, Criterion
from slaverify.evalset import Item
from slaverify.scoring.folding import fold

MET, NOT_MET, NOT_APPLICABLE = "met", "not_met", "not_applicable"


def marks_of(criteria: Iterable[Criterion], item: Item, text: str | None) -> tuple[tuple[str, str], ...]:
    """Return the marks of code, by criterion, sorted; `text` is the clean copy, null where no answer came."""
    fields = item_fields(item)
    marks: dict[str, str] = {}
    for criterion in criteria:
        if not applies(criterion, fields) or (item.criteria and criterion.id not in item.criteria):
            marks[criterion.id] = NOT_APPLICABLE
        elif criterion.check is not None and text is not None:
            marks[criterion.id] = MET if holds(criterion.check, text) else NOT_MET
    return tuple(sorted(marks.items()))


def holds(check: Check, text: str) -> bool:
    """Say whether a clean text meets a check."""
    folded = fold(text)
    return (
        all(re.search(rf"(?<!\w){re.escape(fold(word))}(?!\w)", folded) is not None for word in check.contains)
        and (check.pattern is None or re.fullmatch(check.pattern, text) is not None)
        and (check.min_chars is None or len(text) >= check.min_chars)
        and (check.max_chars is None or len(text) <= check.max_chars)
    )


def applies(criterion: Criterion, fields: JsonObject) -> bool:
    """Say whether a criterion applies to an item; `fields` are those that `applies_when` may name."""
    if criterion.applies_when is None:
        return True
    return all(_among(fields.get(key), wanted) for key, wanted in criterion.applies_when.items())


def item_fields(item: Item) -> JsonObject:
    """Return the fields of an item that `applies_when` may name: stratum, and the tags and scenario of `ext`."""
    ext = item.ext if isinstance(item.ext, dict) else {}
    tags, scenario = ext.get("tags"), ext.get("scenario")
    return {
        "stratum": item.stratum,
        "tags": tags if isinstance(tags, list) else [],
        "scenario": scenario if isinstance(scenario, str) else None,
    }


def _among(value: JsonValue, wanted: tuple[str, ...]) -> bool:
    if isinstance(value, list | tuple):
        return any(one in wanted for one in value)
    return value in wanted
