"""`set@1`: several references, matched one to one with the elements of the answer.

Elements are parted by commas, semicolons, line ends, bullets and `y/e/o/u/and/or`. Extras count under `equal` and
`f1`. An answer that is prose and no list is not decided.

Source: docs/spec/scoring.md sections 2 and 7.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from slaverify.evalset import EntityReference, Reference, SetReference, TextReference
from slaverify.scoring.abstention import Value
from slaverify.scoring.assertion import Assertion
from slaverify.scoring.folding import fold
from slaverify.scoring.normalisers import normaliser
from slaverify.scoring.passage import Passage
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.resolution import Finding
from slaverify.scoring.result import Span
from slaverify.scoring.rules.task import Task

NAME = "set@1"
POLICIES = ("ordering", "fold_accents")
ElementJudge = Callable[[Task, Reference], Finding | None]

_LEAD = re.compile(
    r"^[^\n:]{0,200}?(?::|\b(?:son|incluyen?|exigen?|requieren?|comprenden?|piden?|se\sexigen?|se\srequieren?|se\spiden?|are"
    r"|includes?|requires?)\b:?)\s"
)
_SEPARATOR = re.compile(
    r"\s?[,;]\s?(?:(?:y|e|o|u|and|or)\s)?|\n\s{0,8}(?:[-•*]|[0-9]{1,2}[.)])?\s{0,4}|\s(?:y|e|o|u|and|or)\s|\s•\s|\s[0-9]{1,2}[.)]\s"
)
_BULLET = re.compile(r"^\s{0,8}(?:[-•*]|[0-9]{1,2}[.)])\s{1,4}")
_PROSE_WORDS = 8
_OPENING = 400
_DENIAL = re.compile(
    r"\b(?:no|ni|tampoco|nunca|jamas|nada|nadie|ningun[oa]?s?|sin|menos|excepto|salvo|fals[oa]s?|incorrect[oa]s?|mentira|niego"
    r"|descarto|excluy\w{1,4}|prescind\w{1,4}|eximid\w{1,3}|exent\w{1,2}|en\s(?:vez|lugar)\sde"
    r"|not|never|neither|nor|none|nobody|nothing|cannot|without|except|excluding|excludes?|false|wrong|untrue|instead|rather"
    r"|other\sthan)\b|n't\b|\b(?:un[oa]|algun[oa]|cualquiera|dos|one|any|either|some)\s(?:de|of)\s(?:estos|estas|los|las|ellos|ellas|these|the|them)\b"
)
_NO_DENIAL = re.compile(
    r"\b(?:no\ssol[oa](?:mente)?|no\sobstante|sin\s(?:embargo|perjuicio|dudas?)|nada\smas|al\smenos|por\slo\smenos|not\sonly"
    r"|without\sdoubt|ni\smas\sni\smenos)\b|^\s?no,\s"
)
_TURN = re.compile(
    r"[.;:?!\n]\s?(?=(?:[^.;:?!\n]{0,80}\b(?:son|se\s\w+|exige\w?|requiere\w?|incluyen?|are|requires?)\b))|\b(?:sino|but|pero\ssi)\b"
)


def values(task: Task, reference: SetReference) -> list[Value]:
    """Return the answer as one value if it looks like a list of at least one short element."""
    if not any(len(element.split()) <= _PROSE_WORDS for element in elements(task, reference)):
        return []
    return [Value(Span(0, len(task.passage.text)), Assertion.ASSERTED)]


def judge(task: Task, reference: SetReference, element_judge: ElementJudge) -> Finding:
    """Return what the elements come to."""
    found = elements(task, reference)
    ordering = reference.ordering or task.settings.policies.ordering
    pairs = _matched(task, found, reference.value, element_judge, sequence=ordering == "sequence")
    used = {index for index, _ in pairs}
    extras = [element for index, element in enumerate(found) if index not in used]
    if ordering == "set":
        wanted = {_plain(task, found[index]) for index in used}
        extras = [element for element in extras if _plain(task, element) not in wanted]
    missing = len(reference.value) - len(pairs)
    if any(len(element.split()) > _PROSE_WORDS for element in extras) and not (missing and not pairs):
        return Finding(Correctness.UNDETERMINED, Reason.UNRESOLVED_CANDIDATES, None)
    if ordering == "sequence" and not missing and [at for _, at in sorted(pairs)] != sorted(at for _, at in pairs):
        return Finding(Correctness.INCORRECT, Reason.OTHER_ORDER, None)
    if pairs and not missing:
        denied = _denied(task, extras, [found[index] for index in sorted(used)])
        if denied is not None:
            return denied
    if reference.set_rule == "at_least" and not missing and len(extras) > len(reference.value):
        return Finding(Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS, None)
    return _by_rule(reference.set_rule, bool(pairs), missing, len(extras))


def _denied(task: Task, extras: Sequence[str], right: Sequence[str]) -> Finding | None:
    # "No son: a y b", "Todo menos a y b", "a y b, pero ninguno se exige": a list that is denied is no list
    folded = task.passage.folded
    first = min((at for element in right if (at := folded.find(fold(element))) >= 0), default=0)
    ahead = _NO_DENIAL.sub(" ", folded[:first])
    turned = list(_TURN.finditer(ahead))
    if _DENIAL.search(ahead[turned[-1].end() :] if turned else ahead):
        return Finding(Correctness.INCORRECT, Reason.NEGATED, None)
    if any(_DENIAL.search(_NO_DENIAL.sub(" ", fold(element))) for element in extras):
        return Finding(Correctness.UNDETERMINED, Reason.UNRESOLVED_CANDIDATES, None)
    return None


def _by_rule(rule: str, some: bool, missing: int, extras: int) -> Finding:
    if not missing and (not extras or rule == "at_least"):
        return Finding(Correctness.CORRECT, Reason.EQUAL, None)
    reason = Reason.MISSING_ELEMENT if missing else Reason.EXTRA_ELEMENT
    if rule == "f1" and some:
        return Finding(Correctness.PARTIAL, reason, None)
    return Finding(Correctness.INCORRECT, reason, None)


def elements(task: Task, reference: SetReference) -> list[str]:
    """Return the elements of the answer, in order."""
    text = task.passage.text
    lead = _lead(task.passage.folded)
    if lead is not None and any(character.isalnum() for character in text[lead.end() :]):
        text = text[lead.end() :]
    text = _BULLET.sub("", text)
    # a name with a separator of its own is one element
    keep = [name for member in reference.value for name in _names(member) if _SEPARATOR.search(name)]
    for index, name in enumerate(keep):
        text = re.sub(re.escape(name), chr(0xE000 + index), text, flags=re.IGNORECASE)
    parts = [part.strip(" .\n\t") for part in _SEPARATOR.split(text)]
    for index, name in enumerate(keep):
        parts = [part.replace(chr(0xE000 + index), name) for part in parts]
    return [part for part in parts if any(character.isalnum() for character in part)]


def _lead(folded: str) -> re.Match[str] | None:
    # "No tengo información. Los requisitos son: …": the first sentences are no elements
    start = 0
    for end in re.finditer(r"[.;]\s(?=[a-z])", folded[:_OPENING]):
        later = _LEAD.match(folded[end.end() :])
        if later is not None and _SEPARATOR.search(folded[end.end() :][: later.end() - 1].rstrip()) is None:
            start = end.end()
    return _LEAD.match(" " * start + folded[start:]) if start else _LEAD.match(folded)


def _names(member: Reference) -> tuple[str, ...]:
    return (member.value, *member.aliases) if isinstance(member, EntityReference | TextReference) else ()


def _plain(task: Task, text: str) -> str:
    return normaliser(task.settings.normaliser)(text)


def _matched(
    task: Task, found: Sequence[str], members: Sequence[Reference], element_judge: ElementJudge, *, sequence: bool
) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    free = list(range(len(members)))
    for index, element in enumerate(found):
        own = replace(task, passage=Passage(element), bare=element)
        for at in free:
            finding = element_judge(own, members[at])
            if finding is not None and finding.correctness is Correctness.CORRECT:
                pairs.append((index, at))
                free.remove(at)
                break
    return pairs
