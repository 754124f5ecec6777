"""`extraction@1`: the fields of a document, each by the rule of its kind.

A reference is a `json` object. Each value is a reference of its own (an object with `kind`), a text (an entity), an
integer or a truth value, null (the document has no such value), or a list of rows. `{"kind": "rows", "key": K,
"value": [...]}` aligns rows by the value of K; a plain list aligns them by order.

A field is correct, wrong, missing or invented. What a rule leaves undetermined is wrong here: a document states its
value, and nobody paraphrases a field.

Source: docs/spec/scoring.md section 9 (`extraction@1`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from slaverify.canonical import JsonValue, NumberText
from slaverify.evalset import AmountReference, Item, JsonReference, NoneReference, NumberReference, Reference
from slaverify.scoring.abstention import is_null_token
from slaverify.scoring.hygiene import clean
from slaverify.scoring.numerals import symbols
from slaverify.scoring.parts.found import Parts, part
from slaverify.scoring.passage import Passage
from slaverify.scoring.profiles import profile
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.result import RuleTrace
from slaverify.scoring.rules.json_object import read_object
from slaverify.scoring.rules.table import RULES
from slaverify.scoring.rules.task import Task
from slaverify.scoring.settings import Settings

FIELD = "field@1"
_REFERENCE: TypeAdapter[Reference] = TypeAdapter(Reference)
_ROWS = "rows"
_EITHER = re.compile(r"\s(?:o|u|y/o|or|and/or)\s", re.IGNORECASE)
MOST = 2_000
"""Fields of one document that are compared."""


@dataclass(frozen=True, slots=True)
class _Field:
    """One field: its path, what is right (null: nothing), and what the answer has (null: nothing)."""

    path: str
    due: object
    got: JsonValue


def weight_of(item: Item, settings: Settings) -> int:
    """Return how many fields the document has a value for; 1 for an item that asks for one field."""
    if not isinstance(item.reference, JsonReference):
        return 0 if isinstance(item.reference, NoneReference) else 1
    return sum(one.due is not None for one in _paired(item.reference.value, {}))


def parts_of(item: Item, text: str, bare: str, settings: Settings) -> Parts | None:
    """Compare field by field; null if the reference is no object, or the answer is no object of the agreed form."""
    if not isinstance(item.reference, JsonReference):
        return None
    answer = read_object(bare, settings)
    if answer is None:
        return None
    ignored = {path.removeprefix("$.") for path in item.reference.ignore}
    fields = [one for one in _paired(item.reference.value, answer) if one.path not in ignored]
    traces = [_judged(one, settings) for one in fields[:MOST]]
    wrong = [trace.part or "" for trace in traces if trace.correctness is not Correctness.CORRECT]
    critical = settings.critical_fields
    decisive = wrong if not critical else [path for path in wrong if _named(path) in critical or path in critical]
    correctness = Correctness.INCORRECT if decisive else Correctness.CORRECT
    return Parts(correctness, tuple(traces), errors=len(wrong), flags=_undeclared(item.reference.value, answer))


def _named(path: str) -> str:
    return path.partition("[")[0].partition(".")[0]


def _undeclared(due: object, answer: Mapping[str, JsonValue]) -> tuple[str, ...]:
    known = due if isinstance(due, Mapping) else {}
    return ("undeclared_field",) if any(key not in known and answer[key] is not None for key in answer) else ()


def _paired(due: object, got: JsonValue, path: str = "") -> Iterator[_Field]:
    answer = got if isinstance(got, Mapping) else {}
    for key, value in due.items() if isinstance(due, Mapping) else ():
        own = f"{path}.{key}" if path else str(key)
        rows, row_key = _rows(value)
        if rows is not None:
            yield from _paired_rows(rows, answer.get(str(key)), row_key, own)
        elif isinstance(value, Mapping) and "kind" not in value:
            yield from _paired(value, answer.get(str(key)), own)
        else:
            none = isinstance(value, Mapping) and value.get("kind") == "none"
            yield _Field(own, None if none else value, answer.get(str(key)))


def _rows(value: object) -> tuple[Sequence[object] | None, str | None]:
    if isinstance(value, Mapping) and value.get("kind") == _ROWS:
        rows = value.get("value")
        return (rows if isinstance(rows, Sequence) and not isinstance(rows, str) else ()), str(value.get("key"))
    return (value, None) if isinstance(value, Sequence) and not isinstance(value, str) else (None, None)


def _paired_rows(rows: Sequence[object], got: JsonValue, key: str | None, path: str) -> Iterator[_Field]:
    # by key where there is one, then by order
    left = list(got) if isinstance(got, Sequence) and not isinstance(got, str) else []
    taken: dict[int, JsonValue] = {}
    if key is not None:
        for at, row in enumerate(rows):
            match = next((one for one in left if _key(one, key) is not None and _key(one, key) == _key(row, key)), None)
            if match is not None:
                taken[at] = match
                left.remove(match)
    for at, row in enumerate(rows):
        other = taken.get(at)
        if other is None and left:
            other = left.pop(0)
        own = f"{path}[{at}]"
        if isinstance(row, Mapping) and "kind" not in row:
            yield from _paired(row, other, own)
        else:
            yield _Field(own, row, other)
    for index, extra in enumerate(left):
        cells = extra.items() if isinstance(extra, Mapping) else (("", extra),)
        yield from (_Field(f"{path}[{len(rows) + index}].{name}", None, value) for name, value in cells)


def _key(row: object, key: str) -> str | None:
    value = row.get(key) if isinstance(row, Mapping) else None
    if isinstance(value, Mapping):
        value = value.get("value")
    return None if value is None else " ".join(str(value).split()).casefold()


def _judged(one: _Field, settings: Settings) -> RuleTrace:
    empty = _is_null(one.got, settings)
    got = None if empty else _shown(one.got)
    if one.due is None:
        correctness = Correctness.CORRECT if empty else Correctness.INCORRECT
        return part(FIELD, correctness, Reason.EQUAL if empty else Reason.INVENTED_VALUE, one.path, got=got)
    if empty:
        return part(FIELD, Correctness.INCORRECT, Reason.MISSING_ELEMENT, one.path)
    reference = _reference(one.due)
    if reference is None:
        same = type(one.due) is type(one.got) and one.due == one.got
        wrong = Reason.OTHER_VALUE if isinstance(one.got, bool) else Reason.OTHER_TYPE
        correctness = Correctness.CORRECT if same else Correctness.INCORRECT
        return part(FIELD, correctness, Reason.EQUAL if same else wrong, one.path, got=got)
    return _by_kind(one.path, reference, one.got, settings)


def _by_kind(path: str, reference: Reference, got: JsonValue, settings: Settings) -> RuleTrace:
    name = profile(settings.profile).rules.get(reference.kind)
    text = _text(got, settings, listed=reference.kind == "set")
    if name is None or text is None:
        return part(FIELD, Correctness.INCORRECT, Reason.OTHER_TYPE, path, got=_shown(got))
    # a field has its unit: what it leaves out is said by its name
    unit = f" {reference.unit} {reference.day_kind or ''}" if isinstance(reference, AmountReference) else ""
    percent = f" {reference.unit}" if isinstance(reference, NumberReference) and reference.unit != "none" else ""
    seen = clean(text)
    task = Task(Passage(seen.text), f"{path}{unit}{percent}", settings, seen.bare)
    findings = [RULES.get(name).judge(task, other) for other in (reference, *reference.accepted)]
    found = [one for one in findings if one is not None]
    right = next((one for one in found if one.correctness is Correctness.CORRECT), None)
    if right is not None and reference.kind not in ("set", "text", "entity") and _EITHER.search(seen.text):
        return part(name, Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS, path, got=text)
    due = str(getattr(reference, "value", ""))
    if right is not None:
        return part(name, Correctness.CORRECT, right.reason, path, got=text, due=due)
    reason = found[0].reason if found else Reason.OTHER_VALUE
    return part(name, Correctness.INCORRECT, reason, path, got=text, due=due)


def _reference(due: object) -> Reference | None:
    if isinstance(due, bool):
        return None
    if isinstance(due, int):
        return _REFERENCE.validate_python({"kind": "number", "value": str(due)})
    if isinstance(due, str):
        return _REFERENCE.validate_python({"kind": "entity", "value": due})
    try:
        return _REFERENCE.validate_python(due)
    except ValidationError:
        return None


def _text(got: JsonValue, settings: Settings, *, listed: bool) -> str | None:
    if isinstance(got, NumberText):
        # a JSON number has a point and no groups, whatever the locale
        signs = symbols(settings.locale)
        plain = got.lower().partition("e")
        return None if plain[1] else str(got).replace(".", "." if signs is None else signs.decimal)
    if isinstance(got, str):
        return got
    if listed and isinstance(got, Sequence) and all(isinstance(one, str) for one in got):
        return "\n".join(str(one) for one in got)
    return None


def _is_null(got: JsonValue, settings: Settings) -> bool:
    if got is None:
        return True
    if isinstance(got, NumberText) or not isinstance(got, str):
        return False
    return not any(character.isalnum() for character in clean(got).text) or is_null_token(got, settings)


def _shown(got: JsonValue) -> str | None:
    return None if got is None else str(got)[:2_000]
