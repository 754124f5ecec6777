"""Steps 8 and 9 of scoring: from what the rules found to the score record.

Source: docs/spec/scoring.md section 5.
"""

from __future__ import annotations

from dataclasses import dataclass

from slaverify.canonical import real9
from slaverify.contract.words import Outcome
from slaverify.evalset import Answer, Item
from slaverify.scoring.citations.cited import Citations
from slaverify.scoring.criteria import marks_of
from slaverify.scoring.events import events_of
from slaverify.scoring.grounding import Grounded
from slaverify.scoring.parts import Parts, weight_of
from slaverify.scoring.profiles import profile
from slaverify.scoring.record import (
    AnswerClass,
    CitationCounts,
    Correctness,
    Grounding,
    ScoreRecord,
    Verdict,
)
from slaverify.scoring.result import RuleTrace, Span
from slaverify.scoring.settings import Settings
from slaverify.scoring.verdicts import bounds_of, verdict_of

UNKNOWN_OUTCOMES = frozenset({Outcome.UNRESOLVED, Outcome.AUDITOR_FAILURE, Outcome.NOT_SENT})
"""Outcomes that are nobody's or the auditor's: the verdict could have been any, so the record has bounds."""

_WON = frozenset({Correctness.CORRECT, Correctness.UNDETERMINED})
_GOOD = frozenset({Verdict.ACCURATE, Verdict.ABSTENTION, None})


@dataclass(frozen=True, slots=True)
class Result:
    """What the steps found, before it becomes a record."""

    outcome: Outcome
    answer_class: AnswerClass | None
    correctness: Correctness
    trace: RuleTrace | None
    flags: tuple[str, ...] = ()
    confirmed: frozenset[str] = frozenset()
    text: str | None = None
    cues: tuple[Span, ...] = ()
    parts: Parts | None = None
    cited: Citations | None = None
    grounded: Grounded | None = None


def record_of(
    item: Item, answer: Answer | None, run_outcome: Outcome, result: Result, settings: Settings
) -> ScoreRecord:
    """Return the record: 8 the verdict by its table, 9 what is open, or left to the judge."""
    flags = {*result.flags, *(answer.flags if answer is not None else ())}
    correctness, answer_class = result.correctness, result.answer_class
    grounding = _grounding(result, settings)
    verdict = None if result.grounded is None else result.grounded.verdict
    if answer_class is not None and verdict is None:
        verdict = verdict_of(settings.verdict_table, answer_class, correctness, grounding)
    # a body that was cut bought a second try: what that try got wrong stays wrong, what it got right stays open
    if "cut_body" in flags and answer_class is not None and correctness in _WON and verdict in _GOOD:
        verdict, correctness = None, Correctness.UNDETERMINED
        flags.add("open")
    elif answer_class is not None and verdict is None and not _to_judge(correctness, grounding, settings):
        flags.add("open")
    unknown = verdict is None and (answer_class is not None or result.outcome in UNKNOWN_OUTCOMES)
    weight = weight_of(item, settings)
    necessary = "necessary" if item.hostile else "unnecessary"
    return ScoreRecord(
        item_id=item.id,
        repetition=0,
        side="current",
        stratum=item.stratum,
        cluster=None,
        run_outcome=run_outcome,
        outcome=result.outcome,
        answer_class=answer_class,
        abstention=necessary if answer_class is AnswerClass.ABSTENTION else None,
        correctness=correctness,
        grounding=grounding,
        verdict=verdict,
        rules=tuple(trace.summary() for trace in traces_of(result)),
        citations=_counts(answer, result),
        criteria=marks_of(settings.criteria, item, result.text if answer_class is not None else None),
        value=_value(result, verdict, item, settings),
        errors=_errors(result, correctness, weight),
        weight=weight,
        bounds=bounds_of(settings.verdict_table, correctness, grounding, nothing=item.reference.kind == "none")
        if unknown
        else None,
        flags=tuple(sorted(flags)),
        events=events_of(flags, result.confirmed),
        decided_by="rule" if verdict is not None else None,
    )


def _errors(result: Result, correctness: Correctness, weight: int | None) -> int | None:
    # without an answer nothing was counted: the decision takes the whole weight as wrong; what is open is unknown
    if weight is None or result.outcome is not Outcome.ANSWERED or correctness is Correctness.UNDETERMINED:
        return None
    if result.parts is not None:
        return result.parts.errors
    return 0 if correctness is Correctness.CORRECT else max(weight, 1)


def _grounding(result: Result, settings: Settings) -> Grounding:
    if result.answer_class not in (AnswerClass.ANSWER, AnswerClass.UNDETERMINED):
        return Grounding.NOT_APPLICABLE
    if profile(settings.profile).document:
        return Grounding.UNDETERMINED
    return Grounding.NOT_APPLICABLE if result.grounded is None else result.grounded.grounding


def _value(result: Result, verdict: Verdict | None, item: Item, settings: Settings) -> str | None:
    # the adjusted score of a document's answer that code settles: worth nothing, but where to abstain was right
    if verdict is None or not profile(settings.profile).document:
        return None
    return real9(result.answer_class is AnswerClass.ABSTENTION and item.hostile)


def _to_judge(correctness: Correctness, grounding: Grounding, settings: Settings) -> bool:
    asked = (
        (correctness is Correctness.UNDETERMINED, settings.judged),
        (
            grounding is Grounding.UNDETERMINED,
            settings.judged_grounding,
        ),
    )
    return all(judged for is_open, judged in asked if is_open)


def _counts(answer: Answer | None, result: Result) -> CitationCounts:
    if result.cited is None:
        return CitationCounts(claimed=len(answer.citations) if answer is not None else 0)
    return result.cited.counts


def traces_of(result: Result) -> tuple[RuleTrace, ...]:
    """Return the results of the rules, part by part where the unit is smaller than the item."""
    grounded = result.grounded
    if result.parts is not None:
        return result.parts.traces
    return tuple(trace for trace in (result.trace, None if grounded is None else grounded.trace) if trace is not None)
