"""`coding@1`: the codes of an encounter. The principal one first; what is added and what is missing stay apart.

A reference is a `set` of entities, the principal code first; their `identifier` names code system and edition, such
as `icd-10:2019`. Codes are compared without dots, spaces and case.

Source: docs/spec/scoring.md section 9 (`coding@1`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from slaverify.canonical import StrictJsonError, loads_strict
from slaverify.evalset import EntityReference, Item, SetReference
from slaverify.scoring.assertion import Assertion, assertion
from slaverify.scoring.identifiers import canonical_identifier
from slaverify.scoring.parts.found import Parts, part
from slaverify.scoring.passage import Passage
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.result import RuleTrace, Span
from slaverify.scoring.settings import Settings

RULE = "code@1"
PRINCIPAL = "principal-code@1"
_CODE = re.compile(r"[A-Z][0-9][0-9A-Z]{1,6}|[0-9][0-9A-Z]{1,6}")
_WRITTEN = re.compile(r"(?<![\w.])[A-Za-z][0-9][0-9A-Za-z](?:\.?[0-9A-Za-z]{1,4})?(?![\w]|\.[0-9])")
_SEPARATOR = re.compile(r"[\s,;|]+(?:(?:y|e|and)\s+)?")
MOST = 200
"""Codes of one answer that are looked at; each one beyond is one too many."""


def weight_of(item: Item, settings: Settings) -> int:
    """Return how many codes the encounter has; 1 for an item of another kind."""
    members = _members(item)
    return 1 if members is None else len(members)


def parts_of(item: Item, text: str, bare: str, settings: Settings) -> Parts | None:
    """Compare the codes; null if the reference is no set of codes or the answer holds none."""
    members = _members(item)
    found = _codes(bare)
    if members is None or not found:
        return None
    names = [_names(member) for member in members]
    left = list(range(len(found)))
    traces: list[RuleTrace] = []
    missing = 0
    for accepted in names:
        at = next((index for index in left if found[index] in accepted), None)
        if at is None:
            missing += 1
            traces.append(part(RULE, Correctness.INCORRECT, Reason.MISSING_ELEMENT, accepted[0]))
        else:
            left.remove(at)
            traces.append(part(RULE, Correctness.CORRECT, Reason.EQUAL, accepted[0], got=found[at]))
    extras = [found[index] for index in left if found[index] not in {name for row in names for name in row}]
    traces += [part(RULE, Correctness.INCORRECT, Reason.EXTRA_ELEMENT, code, got=code) for code in extras]
    first = found[0] in names[0]
    traces.append(
        part(
            PRINCIPAL,
            Correctness.CORRECT if first else Correctness.INCORRECT,
            Reason.EQUAL if first else Reason.OTHER_ORDER if set(found) & set(names[0]) else Reason.OTHER_VALUE,
            names[0][0],
            got=found[0],
        )
    )
    right = first and not missing and not extras
    # a code in place of another is one error, not two
    return Parts(
        Correctness.CORRECT if right else Correctness.INCORRECT, tuple(traces), errors=max(missing, len(extras))
    )


def _members(item: Item) -> tuple[EntityReference, ...] | None:
    reference = item.reference
    if not isinstance(reference, SetReference):
        return None
    members = tuple(member for member in reference.value if isinstance(member, EntityReference))
    return members if len(members) == len(reference.value) else None


def _names(member: EntityReference) -> tuple[str, ...]:
    scheme = member.identifier or ""
    found = [canonical_identifier(name, scheme) for name in (member.value, *member.aliases)]
    return tuple(name for name in found if name is not None) or (member.value,)


def _codes(bare: str) -> list[str]:
    found: list[str] = []
    for word in _words(bare.strip().removesuffix(".")):
        code = canonical_identifier(word, "")
        if code is not None and _CODE.fullmatch(code) and code not in found:
            found.append(code)
        if len(found) >= MOST:
            break
    return found


def _words(text: str) -> Sequence[str]:
    if text.startswith("["):
        try:
            listed = loads_strict(text.encode("utf-8", "replace"), max_depth=2, numbers="text")
        except StrictJsonError:
            return ()
        return [word for word in listed if isinstance(word, str)] if isinstance(listed, list) else ()
    words = [word for word in _SEPARATOR.split(text) if word]
    if all(_CODE.fullmatch(canonical_identifier(word, "") or "") for word in words):
        return words
    # prose: only what is asserted, and only what no figure of the text could be
    passage = Passage(text)
    found = (Span(*match.span()) for match in _WRITTEN.finditer(text))
    return [text[one.start : one.end] for one in found if assertion(passage, one) is not Assertion.NEGATED]
