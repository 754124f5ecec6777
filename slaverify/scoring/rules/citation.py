"""`citation@1`: a norm, or an article or part of it, equal at the granularity of the reference.

The suffix, the transitory numbering and the norm belong to the identity. A norm that the answer leaves out is the one
of the question, or the only one of the catalogue; else the answer is undetermined. What the answer
denies does not count;
a list, a range or a dump around the right article is no answer.

Source: docs/spec/citations.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from slaverify.evalset import CitationReference
from slaverify.scoring.abstention import Value
from slaverify.scoring.assertion import Assertion, assertion, last_correction
from slaverify.scoring.citations.cited import expansion_of, granularity_of, in_range, mentions_in, norm_in_context
from slaverify.scoring.citations.grammar import Mention
from slaverify.scoring.citations.ids import CitationId, Fit, compare, parse_id
from slaverify.scoring.citations.numbering import FIGURE, figure
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.resolution import DUMP, Finding, joined
from slaverify.scoring.result import Span
from slaverify.scoring.rules.task import Task

NAME = "citation@1"
POLICIES = ("granularity", "range_expansion")

_NUMBER = re.compile(
    rf"\W{{0,3}}(?:(?:la|el|es|n[°º]\.?|nro\.?|numero)\s{{0,3}}){{0,4}}({FIGURE})(?:/([0-9]{{4}}))?[.!]?"
)
_REASONS = {
    Fit.OTHER_NORM: Reason.OTHER_NORM,
    Fit.OTHER_SUFFIX: Reason.OTHER_SUFFIX,
    Fit.OTHER_ARTICLE: Reason.OTHER_VALUE,
    Fit.OTHER_PART: Reason.OTHER_VALUE,
}


@dataclass(frozen=True, slots=True)
class _Compared:
    mention: Mention
    fit: Fit
    ranged: bool = False


def values(task: Task) -> list[Value]:
    """Return the citations of the answer as values of the slot; what the citation field claims stands at its start."""
    found = [Value(one.span, assertion(task.passage, one.span)) for one in _mentions(task)]
    return found or [Value(one.span, Assertion.ASSERTED) for one in task.claims]


def judge(task: Task, reference: CitationReference) -> Finding | None:
    """Return what the answer comes to; null if it cites nothing."""
    wanted = parse_id(reference.value)
    if wanted is None:
        return Finding(Correctness.UNDETERMINED, Reason.NO_RULE, None)
    wanted = _in_context(wanted, task)
    found = _mentions(task) if wanted.parts else _norms(task, wanted)
    asserted = [one for one in found if assertion(task.passage, one.span) is not Assertion.NEGATED] if found else []
    doubtful = [one for one in asserted if assertion(task.passage, one.span) is Assertion.DOUBTFUL]
    if not found:
        asserted = list(task.claims)
    if not asserted:
        return Finding(Correctness.INCORRECT, Reason.NEGATED, None, at=found[0].span) if found else None
    granularity = granularity_of(reference, task.settings)
    compared = [_compared(one, wanted, granularity, task) for one in asserted]
    finding = _resolve(task, compared, wanted)
    if finding.correctness is Correctness.CORRECT and doubtful:
        return Finding(Correctness.UNDETERMINED, Reason.QUALIFIED, None, at=finding.at, canonical=finding.canonical)
    return finding


def _in_context(wanted: CitationId, task: Task) -> CitationId:
    norm = norm_in_context(task.query, task.settings) if wanted.norm == "?" else None
    return wanted if norm is None else wanted.of(norm)


def _norms(task: Task, wanted: CitationId) -> list[Mention]:
    # where a norm is asked for, a mere number ("21.719") is a norm of that type
    if mentions_in(task.passage.text, task.query, task.settings):
        return _mentions(task)
    bare = _NUMBER.fullmatch(task.passage.folded.strip())
    kind = wanted.norm.rpartition(":")[0]
    if bare is None or kind.count(":") != 1:
        return []
    year = f"-{bare.group(2)}" if bare.group(2) else ""
    return [Mention(Span(0, len(task.passage.text)), CitationId(f"{kind}:{figure(bare.group(1))}{year}"))]


def _mentions(task: Task) -> list[Mention]:
    found = list(mentions_in(task.passage.text, task.query, task.settings, bare=True))
    cut = last_correction(task.passage)
    if cut is not None and any(one.span.start >= cut for one in found):
        found = [one for one in found if one.span.start >= cut]
    told = [one for one in found if not task.passage.in_question(one.span.start)]
    return told or found


def _compared(one: Mention, wanted: CitationId, granularity: str, task: Task) -> _Compared:
    if one.last is None:
        return _Compared(one, compare(one.id, wanted, granularity))
    size = expansion_of(task.settings.policies.range_expansion)
    if in_range(one.id, one.last, wanted, size):
        return _Compared(one, Fit.EQUAL, ranged=True)
    return _Compared(one, Fit.OTHER_ARTICLE, ranged=True)


def _resolve(task: Task, compared: Sequence[_Compared], wanted: CitationId) -> Finding:
    equal = [one for one in compared if one.fit is Fit.EQUAL]
    right = equal or [one for one in compared if one.fit in (Fit.OPEN, Fit.LESS)]
    rivals = [one for one in compared if one not in right and _is_rival(one, right, wanted)]
    around = any(
        one.ranged and in_range(one.mention.id, one.mention.last or one.mention.id, wanted, 10**7) for one in rivals
    )
    chosen = right[0] if right else compared[0]
    at, canonical = chosen.mention.span, str(chosen.mention.id)
    if not right:
        reason = Reason.MULTIPLE_ANSWERS if around else _REASONS[_likest(compared)]
        return Finding(Correctness.INCORRECT, reason, None, at=at, canonical=canonical)
    if rivals:
        return Finding(*_against(task, right, rivals, compared), None, at=at, canonical=canonical)
    if equal:
        reason = Reason.HIT_BY_RANGE if chosen.ranged else Reason.EQUAL
        return Finding(Correctness.CORRECT, reason, None, at=at, canonical=canonical)
    if any(one.fit is Fit.OPEN for one in right):
        return Finding(Correctness.UNDETERMINED, Reason.NORM_NOT_SAID, None, at=at, canonical=canonical)
    return Finding(Correctness.PARTIAL, Reason.LESS_PRECISE, None, at=at, canonical=canonical)


def _is_rival(one: _Compared, right: Sequence[_Compared], wanted: CitationId) -> bool:
    # a norm named beside an article of it is no second answer; neither is the article beside its own paragraph
    if wanted.parts and not one.mention.id.parts:
        return False
    return one.fit not in (Fit.LESS, Fit.OPEN) or not right


def _likest(compared: Sequence[_Compared]) -> Fit:
    order = (Fit.OTHER_SUFFIX, Fit.OTHER_NORM, Fit.OTHER_PART, Fit.OTHER_ARTICLE)
    return next(fit for fit in order if any(one.fit is fit for one in compared))


def _against(
    task: Task, right: Sequence[_Compared], rivals: Sequence[_Compared], compared: Sequence[_Compared]
) -> tuple[Correctness, Reason]:
    asked = {str(one.id) for one in mentions_in(task.query, "", task.settings)}
    left = [one for one in rivals if str(one.mention.id) not in asked]
    if not left:
        return Correctness.CORRECT, Reason.EQUAL
    if len({str(one.mention.id) for one in (*right, *left)}) >= DUMP or any(one.ranged for one in left):
        return Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS
    ordered = sorted(compared, key=lambda one: one.mention.span.start)
    folded = task.passage.folded
    for first, second in pairwise(ordered):
        apart = (first in right) != (second in right)
        if apart and second.mention.span.start <= first.mention.span.end:
            return Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS  # "incisos primero y segundo"
        if apart and joined(folded, first.mention.span.end, second.mention.span.start):
            return Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS
    return Correctness.UNDETERMINED, Reason.UNRESOLVED_CANDIDATES
