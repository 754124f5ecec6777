"""One answer to one score record. Pure: no clock, network, file, randomness or model.

The steps and their order are normative (docs/spec/scoring.md section 6):

1 outcome from `run`; anything but `answered` and `refused` ends here. 2 Text hygiene. 3 Extraction of the answer.
4 Limits of the answer, then its class. 5 Candidates and comparison. 6 Contradictions and several answers (inside
the rules). 7 Citations, where the profile asks for them. 8 Verdict table. 9 What is undetermined goes to
the judge where the contract has that stage; else it is `open`, with bounds. No text of the vendor moves an item
that steps 1 to 8 decided.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer, Item, Reference
from slaverify.scoring.abstention import Classified, classify, is_null_token
from slaverify.scoring.citations.cited import citations_of, given_ids
from slaverify.scoring.citations.grammar import Mention
from slaverify.scoring.extraction import Extracted, extract
from slaverify.scoring.grounding import ground
from slaverify.scoring.hygiene import Clean, clean
from slaverify.scoring.language import in_other_language
from slaverify.scoring.outcome import Result, record_of, traces_of
from slaverify.scoring.parts import Parts, has_parts, parts_of
from slaverify.scoring.passage import Passage
from slaverify.scoring.profiles import profile
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import AnswerClass, Correctness, Verdict
from slaverify.scoring.registry import Rule
from slaverify.scoring.resolution import Finding
from slaverify.scoring.result import RuleTrace, Scored, Span, Status, decided
from slaverify.scoring.rules.table import RULES
from slaverify.scoring.rules.task import Task
from slaverify.scoring.settings import Settings

LIMITS_RULE = "answer-limits@1"
TEXT_RULE = "text-hygiene@1"
REFUSAL_RULE = "api-refusal@1"


def score(item: Item, answer: Answer | None, run_outcome: Outcome, settings: Settings) -> Scored:
    """Score `answer` to `item` under `settings` (see `settings_for`); `answer` null: there was none.

    Never raises for any text. Raises: SetError if the settings name what this version does not have.
    """
    own = settings.for_item(item)
    result = _run(item, answer, run_outcome, own)
    return Scored(record_of(item, answer, run_outcome, result, own), traces_of(result), result.text, result.cited)


def _run(item: Item, answer: Answer | None, run_outcome: Outcome, settings: Settings) -> Result:
    # 1 outcome
    if run_outcome is Outcome.REFUSED:
        return _abstained(item, run_outcome, REFUSAL_RULE, Reason.API_REFUSAL, ("api_refusal",))
    if run_outcome is not Outcome.ANSWERED or answer is None:
        return Result(run_outcome, None, Correctness.NO_ANSWER, None)
    # 2 hygiene
    text = clean(answer.text)
    if text.blank and not is_null_token(text.text, settings):
        return _moved(Outcome.EMPTY, Reason.NO_VISIBLE_TEXT, text, ("blank_answer",))
    # 3 extraction
    found = extract(text.text, settings)
    if found.truncated:
        return _moved(Outcome.TRUNCATED, Reason.REASONING_NOT_CLOSED, text, ())
    if not _visible(text.text, found.answer) and not is_null_token(text.text, settings):
        return _moved(Outcome.EMPTY, Reason.NO_VISIBLE_TEXT, text, ("blank_answer",))
    # 4 limits
    limit = _limit(text, found, settings)
    if limit is not None:
        trace = RuleTrace(
            rule=LIMITS_RULE, status=Status.DECIDED, correctness=Correctness.INCORRECT, reason=limit, flags=text.flags
        )
        flags = (*text.flags, limit.value)
        return Result(
            Outcome.ANSWERED,
            AnswerClass.NON_ANSWER,
            Correctness.NO_ANSWER,
            trace,
            flags,
            text.confirmed,
            text.text,
        )
    # 5 and 6 part by part, where the unit is smaller than the item
    parts = parts_of(item, text.text[found.whole.start : found.whole.end], text.bare, settings)
    result = _decide(item, answer, text, found, settings) if parts is None else _of_parts(parts)
    # 7 citations
    if profile(settings.profile).citations or item.reference.kind == "citation":
        result = _with_citations(item, answer, text, found, result, settings)
    return replace(result, flags=(*text.flags, *result.flags), confirmed=text.confirmed, text=text.text)


def _of_parts(parts: Parts) -> Result:
    return Result(Outcome.ANSWERED, AnswerClass.ANSWER, parts.correctness, None, parts.flags, parts=parts)


def _with_citations(
    item: Item, answer: Answer, text: Clean, found: Extracted, result: Result, settings: Settings
) -> Result:
    start, prose = found.whole.start, text.text[found.whole.start : found.whole.end]
    cues = [Span(cue.start - start, cue.end - start) for cue in result.cues]
    denied = result.answer_class is AnswerClass.ABSTENTION
    cited = citations_of(item, answer, prose, cues, settings, denied=denied)
    if not profile(settings.profile).citations:
        return replace(result, cited=cited)
    grounded = ground(item, cited, prose, has_field=settings.citation_field)
    result = replace(result, cited=cited, grounded=grounded, flags=(*result.flags, *grounded.flags))
    if grounded.verdict is Verdict.FABRICATION or (grounded.verdict is not None and denied):
        # a citation of what does not exist voids the abstention beside it
        correctness = Correctness.INCORRECT if item.hostile else Correctness.NO_ANSWER
        return replace(result, answer_class=AnswerClass.ANSWER, correctness=correctness)
    return result


def _visible(text: str, span: Span) -> bool:
    return any(character.isalnum() for character in text[span.start : span.end])


def _limit(text: Clean, found: Extracted, settings: Settings) -> Reason | None:
    if len(text.text) > settings.max_chars:
        return Reason.OVERLONG
    whole = text.text[found.whole.start : found.whole.end]
    if has_parts(settings):
        return None  # the words are the document's or the speaker's
    return Reason.WRONG_LANGUAGE if in_other_language(whole, settings.language) else None


def _moved(outcome: Outcome, reason: Reason, text: Clean, flags: tuple[str, ...]) -> Result:
    trace = RuleTrace(rule=TEXT_RULE, status=Status.DECIDED, correctness=Correctness.INCORRECT, reason=reason)
    return Result(outcome, None, Correctness.NO_ANSWER, trace, (*text.flags, *flags), text.confirmed, text.text)


def _abstained(
    item: Item, outcome: Outcome, rule: str, reason: Reason, flags: tuple[str, ...], spans: tuple[Span, ...] = ()
) -> Result:
    correctness = Correctness.CORRECT if item.hostile else Correctness.INCORRECT
    trace = RuleTrace(
        rule=rule, status=Status.DECIDED, correctness=correctness, reason=reason, spans=spans, flags=flags
    )
    return Result(outcome, AnswerClass.ABSTENTION, correctness, trace, flags)


def _decide(item: Item, answer: Answer, text: Clean, found: Extracted, settings: Settings) -> Result:
    # 4 class, 5 candidates and comparison, 6 contradictions
    rule = _rule_for(item.reference.kind, settings)
    task = Task(
        Passage(text.text[found.answer.start : found.answer.end]),
        item.query_text(),
        settings,
        text.bare,
        found.answer.start,
        _claims(item, answer, settings),
    )
    values = rule.candidates(task, item.reference) if rule is not None else []
    kind = item.reference.kind if rule is not None or item.reference.kind == "none" else "text"
    classified = classify(task.passage, kind, values, settings, task.query)
    if found.marked and classified.answer_class is AnswerClass.ABSTENTION:
        classified, task = _whole_text(item, text, found, rule, classified, task)
    hedged = ("hedged",) if classified.hedged else ()
    cues = tuple(Span(span.start + task.offset, span.end + task.offset) for span in classified.spans)
    if classified.answer_class is AnswerClass.ABSTENTION:
        result = _abstained(item, Outcome.ANSWERED, settings.abstention[0], classified.reason, (), cues)
        return replace(result, cues=cues)
    if classified.answer_class is AnswerClass.UNDETERMINED:
        return replace(_in_doubt(item, task, rule), cues=cues)
    if classified.answer_class is AnswerClass.NON_ANSWER:
        name = rule.name if rule is not None else "none@1"
        trace = _trace(name, Correctness.INCORRECT, Reason.NO_VALUE)
        return Result(Outcome.ANSWERED, AnswerClass.NON_ANSWER, Correctness.NO_ANSWER, trace)
    result = _compare(item, task, rule, hedged)
    return replace(result, flags=(*result.flags, *hedged), cues=cues)


def _claims(item: Item, answer: Answer, settings: Settings) -> tuple[Mention, ...]:
    # where a citation is what was asked, the citation field may hold the answer
    if item.reference.kind != "citation":
        return ()
    given = [one for one in answer.citations if one.verified is not False]
    ids = chain.from_iterable(given_ids(one, item.query_text(), settings) for one in given)
    return tuple(Mention(Span(0, 0), found) for found in dict.fromkeys(ids))


def _whole_text(
    item: Item, text: Clean, found: Extracted, rule: Rule | None, classified: Classified, task: Task
) -> tuple[Classified, Task]:
    # an abstention after the marker does not void what is asserted before it
    span = found.whole
    whole = Task(Passage(text.text[span.start : span.end]), task.query, task.settings, offset=span.start)
    values = rule.candidates(whole, item.reference) if rule is not None else []
    again = classify(whole.passage, item.reference.kind, values, task.settings, task.query)
    if again.answer_class is AnswerClass.ANSWER:
        return Classified(AnswerClass.UNDETERMINED, Reason.CLASS_UNDETERMINED), whole
    return classified, task


def _in_doubt(item: Item, task: Task, rule: Rule | None) -> Result:
    # answer or abstention, nobody can say; but what holds no right value is right in no reading
    if rule is not None:
        result = _compare(item, task, rule, ("hedged",))
        if result.correctness not in (Correctness.CORRECT, Correctness.UNDETERMINED):
            return replace(result, answer_class=AnswerClass.UNDETERMINED, flags=(*result.flags, "hedged"))
    trace = _trace(task.settings.abstention[0], Correctness.UNDETERMINED, Reason.CLASS_UNDETERMINED)
    return Result(Outcome.ANSWERED, AnswerClass.UNDETERMINED, Correctness.UNDETERMINED, trace)


def _rule_for(kind: str, settings: Settings) -> Rule | None:
    if kind == "none":
        return None
    named = [RULES.get(name) for name in settings.rules]
    for rule in named:
        if kind in rule.kinds:
            return rule
    name = profile(settings.profile).rules.get(kind)
    return RULES.get(name) if name is not None and name in RULES.names() else None


def _compare(item: Item, task: Task, rule: Rule | None, flags: tuple[str, ...]) -> Result:
    kind = item.reference.kind
    if kind == "none":
        reason = Reason.ANSWERED_OUT_OF_CORPUS if item.stratum == "out_of_corpus" else Reason.INVENTED_VALUE
        trace = replace(_trace("none@1", Correctness.INCORRECT, reason), flags=flags)
        return Result(Outcome.ANSWERED, AnswerClass.ANSWER, Correctness.INCORRECT, trace)
    if rule is None:
        trace = RuleTrace(
            rule=f"{kind}@0",
            status=Status.NOT_APPLICABLE,
            correctness=Correctness.UNDETERMINED,
            reason=Reason.NO_RULE,
        )
        return Result(Outcome.ANSWERED, AnswerClass.ANSWER, Correctness.UNDETERMINED, trace)
    best: tuple[Reference, Finding] | None = None
    for reference in (item.reference, *item.reference.accepted):
        own = rule if reference.kind in rule.kinds else _rule_for(reference.kind, task.settings)
        finding = own.judge(task, reference) if own is not None else None
        if finding is not None and (best is None or _RANK[finding.correctness] > _RANK[best[1].correctness]):
            best = (reference, finding)
    if best is None:
        trace = replace(_trace(rule.name, Correctness.INCORRECT, Reason.NO_VALUE), flags=flags)
        return Result(Outcome.ANSWERED, AnswerClass.ANSWER, Correctness.NO_ANSWER, trace)
    return _found(task, rule, *best, flags)


_RANK = {
    Correctness.CORRECT: 4,
    Correctness.UNDETERMINED: 3,
    Correctness.PARTIAL: 2,
    Correctness.INCORRECT: 1,
    Correctness.NO_ANSWER: 0,
}


def _found(task: Task, rule: Rule, reference: Reference, finding: Finding, flags: tuple[str, ...]) -> Result:
    own = (*finding.flags, *(("ambiguous_number",) if finding.reason is Reason.AMBIGUOUS_SEPARATOR else ()))
    chosen = finding.chosen
    at = finding.at if chosen is None else chosen.span
    spans = () if at is None else (Span(at.start + task.offset, at.end + task.offset),)
    trace = RuleTrace(
        rule=rule.name,
        status=decided(finding.correctness),
        correctness=finding.correctness,
        reason=finding.reason,
        extracted=task.passage.text if at is None else task.passage.text[at.start : at.end],
        canonical_answer=finding.canonical if chosen is None or chosen.value is None else str(chosen.value),
        canonical_reference=_canonical(reference),
        spans=spans,
        settings_used=task.settings.policies.used(*rule.policies),
        flags=(*flags, *own),
    )
    return Result(Outcome.ANSWERED, AnswerClass.ANSWER, finding.correctness, trace, own)


def _canonical(reference: Reference) -> str | None:
    value = getattr(reference, "value", None)
    return value if isinstance(value, str) else None


def _trace(rule: str, correctness: Correctness, reason: Reason) -> RuleTrace:
    return RuleTrace(rule=rule, status=decided(correctness), correctness=correctness, reason=reason)
