"""`json@1`: an object, read strictly and compared by structure and type.

Policy `json`: `strict` takes the whole answer as one object; `fenced_allowed` takes one fenced block, and a fence
inside a string closes nothing. Duplicate keys are malformed under both.

Source: docs/spec/scoring.md sections 2, 7 and 10.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from slaverify.canonical import JsonObject, JsonValue, NumberText, StrictJsonError, loads_strict
from slaverify.evalset import JsonReference, satisfies
from slaverify.scoring.abstention import Value
from slaverify.scoring.assertion import Assertion
from slaverify.scoring.extraction import extract
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.resolution import Finding
from slaverify.scoring.result import Span
from slaverify.scoring.rules.task import Task
from slaverify.scoring.settings import Settings

NAME = "json@1"
POLICIES = ("json",)

_FENCE = re.compile(r"^```[a-zA-Z0-9]{0,16}[ \t]*\n", re.MULTILINE)


def values(task: Task) -> list[Value]:
    """Return the whole answer as a value if it holds an object at all."""
    text = task.passage.text
    return [Value(Span(0, len(text)), Assertion.ASSERTED)] if "{" in text else []


def judge(task: Task, reference: JsonReference) -> Finding:
    """Return whether the answer is the object."""
    found = read_object(task.bare, task.settings)
    if found is None:
        return Finding(Correctness.INCORRECT, Reason.ANSWER_MALFORMED, None)
    wanted = reference.value
    reason = _difference(found, wanted if isinstance(wanted, Mapping) else {}, "$", frozenset(reference.ignore))
    if reason is None and reference.schema_ is not None and not satisfies(found, reference.schema_):
        reason = Reason.OTHER_TYPE
    if reason is None:
        return Finding(Correctness.CORRECT, Reason.EQUAL, None)
    return Finding(Correctness.INCORRECT, reason, None)


def read_object(bare: str, settings: Settings) -> JsonObject | None:
    """Return the object that an answer is, by the policy `json`; null if it is none. `bare` keeps its markup."""
    whole = extract(bare, settings).whole
    text = bare[whole.start : whole.end].strip()
    if settings.policies.json == "fenced_allowed" and not text.startswith("{"):
        text = _fenced(text) or ""
    try:
        found = loads_strict(text.encode("utf-8"), max_depth=32, numbers="text")
    except (StrictJsonError, UnicodeEncodeError):
        return None
    return found if isinstance(found, dict) else None


def _fenced(text: str) -> str | None:
    blocks: list[str] = []
    position = 0
    while (fence := _FENCE.search(text, position)) is not None:
        try:
            _, end = json.JSONDecoder().raw_decode(text[fence.end() :].lstrip())
        except (ValueError, RecursionError):
            return None
        start = fence.end() + len(text[fence.end() :]) - len(text[fence.end() :].lstrip())
        rest = text[start + end :].lstrip()
        if not rest.startswith("```"):
            return None
        blocks.append(text[start : start + end])
        position = len(text) - len(rest) + 3
    return blocks[0] if len(blocks) == 1 else None


def _difference(found: JsonValue, wanted: object, path: str, ignored: frozenset[str]) -> Reason | None:
    if path in ignored:
        return None
    if isinstance(wanted, Mapping):
        return _objects(found, wanted, path, ignored)
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return _lists(found, wanted, path, ignored)
    return _scalars(found, wanted)


def _objects(found: JsonValue, wanted: Mapping[object, object], path: str, ignored: frozenset[str]) -> Reason | None:
    if not isinstance(found, dict):
        return Reason.OTHER_TYPE
    for key, value in wanted.items():
        place = f"{path}.{key}"
        if key not in found:
            if place in ignored:
                continue
            return Reason.MISSING_ELEMENT
        reason = _difference(found[str(key)], value, place, ignored)
        if reason is not None:
            return reason
    extra = [key for key in found if key not in wanted and f"{path}.{key}" not in ignored]
    return Reason.EXTRA_ELEMENT if extra else None


def _lists(found: JsonValue, wanted: Sequence[object], path: str, ignored: frozenset[str]) -> Reason | None:
    if not isinstance(found, list):
        return Reason.OTHER_TYPE
    if len(found) != len(wanted):
        return Reason.MISSING_ELEMENT if len(found) < len(wanted) else Reason.EXTRA_ELEMENT
    for index, (one, other) in enumerate(zip(found, wanted, strict=True)):
        reason = _difference(one, other, f"{path}[{index}]", ignored)
        if reason is not None:
            return reason
    return None


def _scalars(found: JsonValue, wanted: object) -> Reason | None:
    if isinstance(wanted, bool) or wanted is None:
        return None if found is wanted else Reason.OTHER_TYPE if type(found) is not type(wanted) else Reason.OTHER_VALUE
    if isinstance(wanted, int):
        if not isinstance(found, NumberText):
            return Reason.OTHER_TYPE
        return None if _number(found) == wanted else Reason.OTHER_VALUE
    if isinstance(found, NumberText) or not isinstance(found, str):
        return Reason.OTHER_TYPE
    return None if found == wanted else Reason.OTHER_VALUE


def _number(text: NumberText) -> Decimal | None:
    # an exponent of a hostile answer could ask for a gigabyte of digits
    value = Decimal(str(text))
    return value if value.adjusted() <= 64 else None
