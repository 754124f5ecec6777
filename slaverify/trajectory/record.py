"""From the trace of one exchange to its score record, its line of `trajectory/scores.jsonl`, and back.

The auditor and the verifier call the same function on the same trace and state contract: what it gives is compared
to the byte. A trace is read and replayed before anything of it is scored.

Source: docs/spec/trajectory.md, section "Records"; docs/spec/score-record.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, loads_jsonl, loads_object
from slaverify.contract import Contract
from slaverify.contract.words import Outcome
from slaverify.errors import Text, TrajectoryError
from slaverify.evalset import Answer, Item
from slaverify.scoring import (
    AnswerClass,
    Bounds,
    CitationCounts,
    Correctness,
    Event,
    Grounding,
    RuleSummary,
    ScoreRecord,
    Verdict,
)
from slaverify.trajectory.loop import LoopTerms
from slaverify.trajectory.public_view import PublicView, read_view
from slaverify.trajectory.question import Question, read_question
from slaverify.trajectory.runtime import Tools
from slaverify.trajectory.score_slaverify import VALID, PathRules, PathScore, score_path, six
from slaverify.trajectory.state_contract import StateContract
from slaverify.trajectory.trace import AUDITOR, Binding, read_trace, replay

SCORE_TYPE = "slaverify/trajectory-score/1"
ANSWER_RULE, PATH_RULE, GATES_RULE = "trajectory-answer@1", "trajectory-path@1", "trajectory-gates@1"
_UNKNOWN = frozenset({Outcome.UNRESOLVED, Outcome.AUDITOR_FAILURE, Outcome.NOT_SENT, Outcome.ENGINE_MISMATCH})


@dataclass(frozen=True, slots=True)
class Ground:
    """What every question of a run is scored on."""

    contract: StateContract
    terms: LoopTerms
    rules: PathRules


@dataclass(frozen=True, slots=True)
class ScoredPath:
    """One exchange as scored: public record, path scores (null where nothing can be known), question and trace."""

    record: ScoreRecord
    score: PathScore | None
    question: Question
    trace: tuple[JsonObject, ...]


def path_rules(contract: Contract) -> PathRules:
    """Return the rules of a contract's `method.trajectory`."""
    agreed = contract.method.trajectory
    assert agreed is not None  # noqa: S101 - the loader asks for it under this profile
    return PathRules(Fraction(agreed.path_floor), agreed.required_quorum, agreed.mode)


def view_of(item_id: str, query: JsonObject) -> PublicView:
    """Return the public view that a query part holds. Raises: TrajectoryError SLV-T003."""
    text = query.get("query")
    try:
        return read_view(loads_object(str(text).encode("utf-8")), where=item_id)
    except StrictJsonError as error:
        raise TrajectoryError(
            "SLV-T003",
            Text(f"la pregunta no es una vista pública: {error}", f"the query is no public view: {error}"),
            where=item_id,
        ) from error


def score_item(
    item: Item, answer: Answer | None, outcome: Outcome, ground: Ground, repetition: int = 0, side: str = "current"
) -> ScoredPath:
    """Score one exchange of an item whose reference is a question contract; `answer` holds its trace.

    Raises: TrajectoryError SLV-T002, T003 (the item), T020, T021 (the trace, exit 4).
    """
    scored = _scored(item, answer, outcome, ground, repetition, side)
    return replace(scored, record=replace(scored.record, repetition=repetition, side=side))


def _scored(
    item: Item, answer: Answer | None, outcome: Outcome, ground: Ground, repetition: int, side: str
) -> ScoredPath:
    value = item.reference.value if item.reference.kind == "trajectory" else None
    question = read_question(value if isinstance(value, dict) else {}, where=item.id)
    view = view_of(item.id, {"query": item.query})
    _same_question(item.id, question, view)
    if answer is None or outcome in _UNKNOWN:
        lines = () if answer is None else tuple(loads_jsonl(answer.text.encode("utf-8")))
        flags = () if answer is None else answer.flags
        return ScoredPath(unknown_record(item, outcome, flags), None, question, lines)
    lines = tuple(loads_jsonl(answer.text.encode("utf-8")))
    terms = ground.terms
    binding = binding_of(ground.contract.digest, view.public_id, terms, item.id, repetition, side)
    trace = read_trace(lines, binding.digest())
    replay(trace, Tools(ground.contract.corpus, view.actor, view.role, view.as_of, view.budget))
    score = score_path(question, ground.contract.corpus, view.budget, trace.walk(view), ground.rules)
    return ScoredPath(record_of(item, outcome, trace.origin, score, answer.flags), score, question, lines)


def binding_of(
    state_contract_digest: str, public_id: str, terms: LoopTerms, item_id: str, repetition: int, side: str
) -> Binding:
    """Return what a trace of a run is of."""
    return Binding(
        run_id=terms.run_id,
        item_id=item_id,
        repetition=repetition,
        side=side,
        public_id=public_id,
        state_contract_digest=state_contract_digest,
        profile=terms.profile,
        engine_digest=terms.engine_digest,
        version=terms.version,
    )


def score_line(scored: ScoredPath, budget_calls: int) -> JsonObject:
    """Return the public line of one exchange: numbers and reasons, nothing of its text, kind or truth."""
    record, score = scored.record, scored.score
    head: dict[str, JsonValue] = {
        "type": SCORE_TYPE,
        "item_id": record.item_id,
        "repetition": record.repetition,
        "side": record.side,
        "track": scored.question.track.value,
        "outcome": record.outcome.value,
        "state": record.state,
    }
    if score is None:
        return {**head, **dict.fromkeys(_NUMBERS), "reasons": []}
    return {
        **head,
        "correct": score.correct,
        "s_answer": six(score.answer),
        "s_trajectory": six(score.trajectory),
        "path": six(score.path),
        "s_adj": six(score.adjusted),
        "combined": six(score.combined),
        "flagged_calls": score.flagged,
        "distinct_calls": score.distinct,
        "actor_gate_calls": score.actor_flagged,
        "horizon_flags": score.horizon,
        "subsystem_flags": score.subsystem,
        "actor_gate_flags": score.actor_gate,
        "calls": score.calls,
        "budget_calls": budget_calls,
        "fetched": score.fetched,
        "cited": score.cited,
        "phantom": score.phantom,
        "reasons": list(score.reasons),
    }


_NUMBERS = (
    *("correct", "s_answer", "s_trajectory", "path", "s_adj", "combined", "flagged_calls", "distinct_calls"),
    *("actor_gate_calls", "horizon_flags", "subsystem_flags", "actor_gate_flags", "calls", "budget_calls"),
    *("fetched", "cited", "phantom"),
)


def _same_question(where: str, question: Question, view: PublicView) -> None:
    asked = (question.public_id, question.track, question.actor, question.role, question.as_of, question.text)
    if asked != (view.public_id, view.track, view.actor, view.role, view.as_of, view.tree["text"]):
        raise TrajectoryError(
            "SLV-T004",
            Text("la pregunta y su referencia no son la misma", "the question and its reference are not the same"),
            where=where,
            exit_code=5,
        )


def unknown_record(item: Item, outcome: Outcome, flags: tuple[str, ...]) -> ScoreRecord:
    """Return the record of an exchange of which nothing can be known: it could have been anything."""
    return _new(
        item,
        outcome,
        correctness=Correctness.NO_ANSWER,
        bounds=Bounds(Verdict.INCORRECT, Verdict.ACCURATE),
        flags=flags,
    )


def record_of(item: Item, outcome: Outcome, origin: str, score: PathScore, flags: tuple[str, ...]) -> ScoreRecord:
    """Return the score record of a path; `origin` says who executed the tools."""
    answered = outcome is Outcome.ANSWERED
    fits = "ANSWER_SCHEMA" not in score.reasons and "NO_ANSWER" not in score.reasons
    correctness = Correctness.NO_ANSWER
    if answered and fits:
        correctness = Correctness.CORRECT if score.correct else Correctness.INCORRECT
    verdict = {Correctness.CORRECT: Verdict.ACCURATE, Correctness.INCORRECT: Verdict.INCORRECT}.get(correctness)
    answer_class = None
    if answered:
        answer_class = AnswerClass.ANSWER if fits else AnswerClass.NON_ANSWER
    words = [reason.lower() for reason in score.reasons]
    events = [] if score.clean else [Event("access_violation", "format", True)]
    events += [Event("unfetched_evidence", "format", True)] if score.phantom else []
    if origin != AUDITOR:
        events.append(Event("declared_trace_only", "pattern", True))
    return _new(
        item,
        outcome,
        answer_class=answer_class,
        correctness=correctness,
        verdict=verdict,
        rules=_rules(score, correctness, words),
        citations=CitationCounts(claimed=score.cited, phantom=score.phantom, expected_hit=score.hit),
        value=six(score.adjusted),
        state=score.state,
        flags=tuple(sorted({*flags, *words})),
        events=tuple(sorted(events, key=lambda event: event.code)),
    )


def _rules(score: PathScore, correctness: Correctness, words: list[str]) -> tuple[RuleSummary, ...]:
    good, bad = Correctness.CORRECT.value, Correctness.INCORRECT.value
    answer = "right_answer" if score.correct else "wrong_answer"
    if correctness is Correctness.NO_ANSWER:
        answer = words[0] if words and words[0] in ("no_answer", "answer_schema") else "no_answer"
    elif "required_never_fetched" in words:
        answer = "required_never_fetched"
    valid = score.state == VALID
    return (
        RuleSummary(ANSWER_RULE, "decided", correctness.value, answer),
        RuleSummary(PATH_RULE, "decided", good if valid else bad, "valid_state" if valid else words[0], tuple(words)),
        RuleSummary(
            GATES_RULE, "decided", good if score.clean else bad, "violation_free" if score.clean else "violation"
        ),
    )


def _new(
    item: Item,
    outcome: Outcome,
    *,
    correctness: Correctness,
    answer_class: AnswerClass | None = None,
    verdict: Verdict | None = None,
    rules: tuple[RuleSummary, ...] = (),
    citations: CitationCounts = CitationCounts(),  # noqa: B008 - frozen
    bounds: Bounds | None = None,
    value: str | None = None,
    state: str | None = None,
    flags: tuple[str, ...] = (),
    events: tuple[Event, ...] = (),
) -> ScoreRecord:
    return ScoreRecord(
        item_id=item.id,
        repetition=0,
        side="current",
        stratum=item.stratum,
        cluster=None,
        run_outcome=outcome,
        outcome=outcome,
        answer_class=answer_class,
        abstention=None,
        correctness=correctness,
        grounding=Grounding.NOT_APPLICABLE,
        verdict=verdict,
        rules=rules,
        citations=citations,
        bounds=bounds,
        value=value,
        state=state,
        flags=flags,
        events=events,
    )
