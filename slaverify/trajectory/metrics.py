"""What a run says of answers and paths together: the table of right against valid, reasons, rates, trivial engines.

Descriptive: states of metrics are decided from score records, never from here.

Source: docs/spec/trajectory.md, section "Summary".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue
from slaverify.trajectory.baselines import BaselineResult, best_baseline
from slaverify.trajectory.record import ScoredPath
from slaverify.trajectory.score_slaverify import REASONS, VALID, PathScore, six

SUMMARY_TYPE = "slaverify/trajectory-summary/1"
WORST = 3
"""How many of the worst questions are shown with their path."""
_MAX_STEPS = 24


def summary(scored: Sequence[ScoredPath], baselines: Sequence[BaselineResult], weak: Sequence[str]) -> JsonObject:
    """Return the document `trajectory/summary.json`; `weak` says what is lopsided in the set that was drawn."""
    known = [(one, one.score) for one in scored if one.score is not None]
    scores = [score for _, score in known]
    tracks = sorted({one.question.track.value for one in scored})
    kinds = sorted({one.question.kind.value for one in scored})
    best = best_baseline(baselines)
    return {
        "type": SUMMARY_TYPE,
        "questions": len(scored),
        "void": len(scored) - len(scores),
        "table": _table(scores),
        "reasons": _counts(reason for score in scores for reason in score.reasons),
        "flags": _flags(scores),
        "rates": _rates(scores),
        "fishing": _fishing(scored),
        "tracks": [_group(name, [s for one, s in known if one.question.track.value == name]) for name in tracks],
        "kinds": [_group(name, [s for one, s in known if one.question.kind.value == name]) for name in kinds],
        "baselines": [_baseline(one) for one in baselines],
        "skill": {
            "valid_state": _skill(_valid(scores), best.valid),
            "s_adj": _skill(_mean(one.adjusted for one in scores), best.adjusted),
        },
        "patterns": list(patterns(scored)),
        "lopsided": list(weak),
        "worst": [_worst(one) for one in _ranked(known)[:WORST]],
    }


def patterns(scored: Sequence[ScoredPath]) -> tuple[str, ...]:
    """Return what the behaviour over a whole run looks like, in words of `PATTERNS`; descriptive, it moves no state."""
    scores = [one.score for one in scored if one.score is not None]
    n = len(scores)
    if n < LEAST_FOR_PATTERN:
        return ()
    said = {one.said for one in scores if one.said is not None}
    calls, useful = sum(one.calls for one in scores), sum(one.distinct for one in scores)
    fetched, needless = sum(one.fetched for one in scores), sum(one.needless for one in scores)
    right = [one for one in scores if one.said_right]
    blind = sum(bool(_UNWALKED & set(one.reasons)) for one in right)
    holds = {
        "no_calls": 2 * sum("NO_PATH" in one.reasons for one in scores) >= n,
        "constant_answer": len(said) == 1,
        "junk_calls": calls >= n and 4 * (calls - useful) >= 3 * calls,
        "fishing": fetched >= n and 2 * needless >= fetched,
        "cites_unopened": 2 * sum(one.phantom > 0 for one in scores) >= n,
        "pries": 10 * sum(not one.clean for one in scores) >= n,
        "right_without_path": 4 * len(right) >= 3 * n and 2 * blind >= len(right),
    }
    return tuple(word for word in PATTERNS if holds[word])


PATTERNS = ("no_calls", "constant_answer", "junk_calls", "fishing", "cites_unopened", "pries", "right_without_path")
LEAST_FOR_PATTERN = 10
"""Fewest questions from which a pattern is named (convention)."""
_UNWALKED = frozenset({"NO_PATH", "REQUIRED_NEVER_FETCHED", "SEARCH_INCOMPLETE", "CAUSAL_UNGROUNDED"})


def _ranked(known: Sequence[tuple[ScoredPath, PathScore]]) -> list[ScoredPath]:
    bad = [(score.adjusted, one.record.item_id, one.record.repetition, one) for one, score in known if score.reasons]
    return [one for *_, one in sorted(bad, key=lambda row: row[:3])]


def _table(scores: Sequence[PathScore]) -> JsonObject:
    counted = Counter((one.correct, one.state == VALID) for one in scores)
    return {
        "correct_valid": counted[True, True],
        "correct_invalid": counted[True, False],
        "wrong_valid": counted[False, True],
        "wrong_invalid": counted[False, False],
    }


def _counts(words: Iterable[str]) -> JsonObject:
    counted = Counter(words)
    return {reason: counted[reason] for reason in REASONS if counted[reason]}


def _flags(scores: Sequence[PathScore]) -> JsonObject:
    return {
        "horizon": sum(one.horizon for one in scores),
        "subsystem": sum(one.subsystem for one in scores),
        "actor_gate": sum(one.actor_gate for one in scores),
    }


def _rates(scores: Sequence[PathScore]) -> JsonObject:
    distinct = sum(one.distinct for one in scores)
    pooled = Fraction(sum(one.flagged for one in scores), distinct) if distinct else Fraction(0)
    actor = Fraction(sum(one.actor_flagged for one in scores), distinct) if distinct else Fraction(0)
    combined = _mean(one.combined for one in scores)
    return {
        "s_answer": six(_mean(one.answer for one in scores)),
        "s_trajectory": six(_mean(one.trajectory for one in scores)),
        "s_adj": six(_mean(one.adjusted for one in scores)),
        "s_adj_pooled": six(combined * (1 - pooled) ** 2),
        "v_pooled": six(pooled),
        "v_max": six(max((one.rate for one in scores), default=Fraction(0))),
        "v_actor": six(actor),
    }


def _fishing(scored: Sequence[ScoredPath]) -> JsonObject:
    known = [(one.question, one.score) for one in scored if one.score is not None]
    shares = [Fraction(score.fetched, max(1, len(question.required))) for question, score in known]
    return {
        "fetched_per_required": six(_mean(shares)),
        "calls": sum(score.calls for _, score in known),
        "calls_max": max((score.calls for _, score in known), default=0),
    }


def _group(name: str, scores: Sequence[PathScore]) -> JsonObject:
    return {
        "name": name,
        "n": len(scores),
        "correct": sum(one.correct for one in scores),
        "valid": sum(one.correct and one.state == VALID for one in scores),
        "s_adj": six(_mean(one.adjusted for one in scores)),
    }


def _baseline(one: BaselineResult) -> JsonObject:
    return {"name": one.name, "valid": six(one.valid), "s_adj": six(one.adjusted), "weak": one.weak}


def _skill(reached: Fraction, baseline: Fraction) -> str | None:
    """Return how much of the way from the best trivial engine to perfection was gone; null where there is none."""
    return None if baseline >= 1 else six((reached - baseline) / (1 - baseline))


def _valid(scores: Sequence[PathScore]) -> Fraction:
    return _mean(Fraction(one.correct and one.state == VALID) for one in scores)


def _mean(values: Iterable[Fraction]) -> Fraction:
    listed = list(values)
    return sum(listed, Fraction(0)) / len(listed) if listed else Fraction(0)


def _worst(one: ScoredPath) -> JsonObject:
    steps: list[JsonValue] = []
    for entry in one.trace:
        if entry["type"] == "call" and len(steps) < _MAX_STEPS:
            # Ids, times and gates; queries and bodies stand in the parties' edition alone.
            steps.append({key: entry[key] for key in _STEP})
    score = one.score
    reasons: list[JsonValue] = [] if score is None else list(score.reasons)
    return {
        "item_id": one.record.item_id,
        "repetition": one.record.repetition,
        "track": one.question.track.value,
        "s_adj": one.record.value,
        "reasons": reasons,
        "steps": steps,
    }


_STEP = (
    *("turn", "at", "tool", "status", "result_ids", "withheld_ids"),
    *("horizon_violation", "subsystem_violation", "actor_gate_violation"),
)


def limits_of(results: Sequence[BaselineResult]) -> Mapping[str, Fraction]:
    """Return what a threshold has to exceed: the best trivial engine, by metric, with its margin."""
    best = best_baseline(results)
    return {"valid_state_rate": best.valid + Fraction(20, 100), "s_adj": best.adjusted + Fraction(10, 100)}
