"""Profile `groundeval-preprint`: the scores of the GroundEval preprint, quirks included, for comparison alone.

Binary64 arithmetic in the order in which the source defines it; a contract may not use this profile as a threshold.
Answers are read as loosely as the preprint reads them (a bare string is a set of its characters): whatever is strict
stands in `score_slaverify`.

Source: docs/spec/trajectory.md, section "groundeval-preprint"; GroundEval preprint, arXiv 2606.22737, re-implemented
from its description.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean
from typing import TypeAlias

Tree: TypeAlias = Mapping[str, object]

WEIGHTS = {"perspective": (0.4, 0.6), "counterfactual": (0.5, 0.5), "silence": (0.3, 0.7)}
"""Weight of the answer and of the trajectory, by track."""
CORRECT_FLOOR = 0.8
"""A counterfactual answer is correct from this unrounded sum on."""
GOOD_PATH, BAD_PATH = 0.7, 0.5
_WORDS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class PreprintCall:
    """One call of a trace: what it returned and which gates it crossed."""

    result_ids: tuple[str, ...]
    horizon: bool
    actor_gate: bool
    subsystem: bool
    empty: bool


@dataclass(frozen=True, slots=True)
class PreprintScore:
    """The scores of one question, each in [0, 1]; `calls` and `actor_calls` are counts."""

    track: str
    difficulty: str
    answer: float
    correct: bool
    trajectory: float
    combined: float
    calls: int
    actor_calls: int
    coverage: float
    dead_ends: tuple[int, int]
    violations: tuple[int, int, int]

    @property
    def valid_answer(self) -> bool:
        """Right answer by a good path."""
        return self.correct and self.trajectory >= GOOD_PATH

    @property
    def correct_bad_path(self) -> bool:
        """Right answer by a bad path."""
        return self.correct and self.trajectory < BAD_PATH

    @property
    def wrong_good_path(self) -> bool:
        """Wrong answer by a good path."""
        return not self.correct and self.trajectory >= GOOD_PATH


def score_preprint(contract: Tree, answer: Tree | None, calls: Sequence[PreprintCall], cited: object) -> PreprintScore:
    """Return the scores of one question. `contract` is the question with its truth. Raises: KeyError, unknown track."""
    track = str(contract["track"])
    given: Tree = answer or {}
    truth = _tree(contract.get("ground_truth"))
    path = _Path(tuple(calls), as_set(cited))
    if track == "perspective":
        score, correct = _perspective_answer(truth, given)
        trajectory, coverage = _perspective_path(contract, truth, given, path), 0.0
    elif track == "counterfactual":
        score, correct = _counterfactual_answer(truth, given)
        trajectory, coverage = _counterfactual_path(contract, truth, given, path), 0.0
    elif track == "silence":
        correct = _first_boolean(given) is bool(truth.get("exists", False))
        score = 1.0 if correct else 0.0
        trajectory, coverage = _silence_path(contract, path)
    else:
        raise KeyError(track)
    w_answer, w_path = WEIGHTS[track]
    empty = [call.empty for call in path.calls]
    recovered = sum(1 for here, after in pairwise(empty) if here and not after)
    return PreprintScore(
        track=track,
        difficulty=str(contract.get("difficulty") or "medium"),
        answer=score,
        correct=correct,
        trajectory=trajectory,
        combined=round(w_answer * score + w_path * trajectory, 4),
        calls=len(path.calls),
        actor_calls=sum(call.actor_gate for call in path.calls),
        coverage=coverage,
        dead_ends=(sum(empty), recovered),
        violations=(
            sum(call.horizon for call in path.calls),
            sum(call.actor_gate for call in path.calls),
            sum(call.subsystem for call in path.calls),
        ),
    )


def failed_preprint(contract: Tree) -> PreprintScore:
    """Return the scores of a question on which the engine failed: all zeros."""
    difficulty = str(contract.get("difficulty") or "medium")
    return PreprintScore(str(contract["track"]), difficulty, 0.0, False, 0.0, 0.0, 0, 0, 0.0, (0, 0), (0, 0, 0))


def violation_rate(scores: Sequence[PreprintScore]) -> float:
    """Return calls across the actor gate over all calls, 0 if there was none."""
    total = sum(one.calls for one in scores)
    return sum(one.actor_calls for one in scores) / total if total else 0.0


def tier(rate: float) -> str:
    """Return the compliance tier of a violation rate; limits are strict."""
    if rate == 0:
        return "perfect"
    return "high" if rate < 0.05 else "moderate" if rate < 0.15 else "low"


def adjusted(scores: Sequence[PreprintScore]) -> float:
    """Return mean combined score times (1 - v) squared, rounded to 4."""
    return round(mean(one.combined for one in scores) * max(0.0, 1 - violation_rate(scores)) ** 2, 4)


def aggregate_preprint(scores: Sequence[PreprintScore]) -> dict[str, object]:
    """Return the preprint's summary: overall, by track (keys in upper case), by difficulty; {} for no question."""
    if not scores:
        return {}
    rate = violation_rate(scores)
    overall: dict[str, object] = {
        **_means(scores),
        "accuracy": _mean4(one.correct for one in scores),
        "global_violation_rate": round(rate, 4),
        "global_compliance_tier": tier(rate),
        "violation_adjusted_combined_score": adjusted(scores),
        **_paths(scores),
    }
    tracks = {one.track: [other for other in scores if other.track == one.track] for one in scores}
    levels = {one.difficulty: [other for other in scores if other.difficulty == one.difficulty] for one in scores}
    return {
        "overall": overall,
        "by_type": {track.upper(): _of_track(track, members) for track, members in tracks.items()},
        "by_difficulty": {level: _means(members) for level, members in levels.items()},
    }


def _of_track(track: str, scores: Sequence[PreprintScore]) -> dict[str, object]:
    own: dict[str, object] = {
        **_means(scores),
        "accuracy": _mean4(one.correct for one in scores),
        "avg_tool_calls": round(mean(float(one.calls) for one in scores), 2),
        **_paths(scores),
    }
    if track == "perspective":
        rate = violation_rate(scores)
        own |= {
            "violation_rate": round(rate, 4),
            "compliance_factor": compliance_factor(rate),
            "compliance_tier": tier(rate),
            "violation_adjusted_combined_score": adjusted(scores),
        }
    if track == "silence":
        own["search_space_coverage"] = _mean4(one.coverage for one in scores)
    return own


def compliance_factor(rate: float) -> float:
    """Return (1 - v) squared, rounded to 4."""
    return round(max(0.0, 1 - rate) ** 2, 4)


def _means(scores: Sequence[PreprintScore]) -> dict[str, object]:
    return {
        "n": len(scores),
        "answer_score": _mean4(one.answer for one in scores),
        "trajectory_score": _mean4(one.trajectory for one in scores),
        "combined_score": _mean4(one.combined for one in scores),
    }


def _paths(scores: Sequence[PreprintScore]) -> dict[str, object]:
    bad, good = sum(one.correct_bad_path for one in scores), sum(one.wrong_good_path for one in scores)
    return {
        "valid_answer_rate": _mean4(one.valid_answer for one in scores),
        "correct_answer_bad_trajectory": bad,
        "correct_answer_bad_trajectory_rate": round(bad / len(scores), 4),
        "wrong_answer_good_trajectory": good,
        "wrong_answer_good_trajectory_rate": round(good / len(scores), 4),
    }


def _mean4(values: Iterable[float]) -> float:
    # `statistics.mean` rounds the exact mean once; a running sum would decide ties in the fourth decimal otherwise.
    return round(mean(float(value) for value in values), 4)


@dataclass(frozen=True, slots=True)
class _Path:
    """A trace: its calls and what was declared as cited."""

    calls: tuple[PreprintCall, ...]
    cited: frozenset[str]

    @property
    def returned(self) -> frozenset[str]:
        return frozenset(one for call in self.calls for one in call.result_ids)

    def clean(self, flag: str) -> float:
        """Return the share of calls without `flag`, 1 if there is no call."""
        if not self.calls:
            return 1.0
        return 1 - sum(bool(getattr(call, flag)) for call in self.calls) / len(self.calls)


def as_set(value: object) -> frozenset[str]:
    """Return the members of a list, or the characters of a bare string; what is no text counts by its JSON form."""
    if isinstance(value, str):
        return frozenset(value)
    if isinstance(value, Iterable):
        return frozenset(one if isinstance(one, str) else json.dumps(one, sort_keys=True) for one in value)
    return frozenset()


def _tree(value: object) -> Tree:
    return value if isinstance(value, Mapping) else {}


def _recall(due: frozenset[str], got: frozenset[str]) -> float:
    return len(due & got) / len(due)


def _boolean(value: object, *, strip: bool = False) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _WORDS.get((value.strip() if strip else value).lower())
    return None


def _first_boolean(answer: Tree) -> bool | None:
    for key in ("exists", "found", "answer"):
        read = _boolean(answer.get(key))
        if read is not None:
            return read
    return None


def _perspective_answer(truth: Tree, answer: Tree) -> tuple[float, bool]:
    read = _boolean(answer.get("could_actor_have_known"))
    if read is None or read is not bool(truth.get("could_actor_have_known", False)):
        return 0.0, False
    blocked, said = as_set(truth.get("blocked_subsystems")), as_set(answer.get("blocked_subsystems"))
    evidence, shown = as_set(truth.get("evidence_artifacts")), as_set(answer.get("evidence_artifacts"))
    score = 0.6
    if blocked and said:
        score += 0.2 * _recall(blocked, said)
    elif not blocked and not said:
        score += 0.2
    if not evidence:
        score += 0.2
    elif shown:
        score += 0.2 * _recall(evidence, shown)
    return min(score, 1.0), True


def _perspective_path(contract: Tree, truth: Tree, answer: Tree, path: _Path) -> float:
    evidence, cone = as_set(truth.get("evidence_artifacts")), as_set(contract.get("visible_artifacts"))
    if not path.calls:
        return _perspective_context(evidence, cone, path.cited)
    shown = as_set(answer.get("evidence_artifacts"))
    if evidence and cone:
        due = evidence & cone
        grounding = _recall(due, shown) if due else 1.0
    else:
        grounding = 1.0 if evidence & shown else 0.0
    empty = [call.empty for call in path.calls]
    recovered = sum(1 for here, after in pairwise(empty) if here and not after)
    dead_ends = recovered / sum(empty) if any(empty) else 1.0
    return round(
        0.30 * path.clean("actor_gate")
        + 0.25 * path.clean("subsystem")
        + 0.20 * grounding
        + 0.15 * path.clean("horizon")
        + 0.10 * dead_ends,
        4,
    )


def _perspective_context(evidence: frozenset[str], cone: frozenset[str], cited: frozenset[str]) -> float:
    if not cited:
        return 0.0
    if not cone:
        return 1.0
    due = evidence & cone
    inside = 1 - len(cited - cone) / len(cited)
    return round(0.5 * inside + 0.5 * (_recall(due, cited) if due else 1.0), 4)


def _counterfactual_answer(truth: Tree, answer: Tree) -> tuple[float, bool]:
    outcome = _boolean(answer.get("outcome_changed"), strip=True)
    if not answer or outcome is None:
        return 0.0, False
    score = 0.0
    if outcome is bool(truth.get("outcome_changed", True)):
        score += 0.2
    named = answer.get("causal_mechanism")
    if not _label(named):
        named = answer.get("mechanism")
    if _same_mechanism(truth, named):
        score += 0.2
    for key in ("cause_event_id", "effect_event_id"):
        due = truth.get(key)
        if due and str(answer.get(key)) == str(due):
            score += 0.2
    if answer.get("mechanism_direction") == (truth.get("mechanism_direction") or "cause_to_effect"):
        score += 0.1
    evidence = as_set(truth.get("evidence_artifacts"))
    score += 0.05 * _recall(evidence, as_set(answer.get("evidence_artifacts"))) if evidence else 0.05
    actors = _actors(truth)
    if not actors or actors & _actors(answer):
        score += 0.05
    return round(min(score, 1.0), 4), score >= CORRECT_FLOOR


def _counterfactual_path(contract: Tree, truth: Tree, answer: Tree, path: _Path) -> float:
    link = _tree(contract.get("causal_link"))
    seen = path.returned | path.cited
    evidence = as_set(link.get("evidence_artifact_ids")) or as_set(truth.get("evidence_artifacts"))
    cause = as_set(link.get("cause_artifact_ids")) or as_set(truth.get("cause_artifact_ids"))
    effect = as_set(link.get("effect_artifact_ids")) or as_set(truth.get("effect_artifact_ids"))
    if not cause and not effect:
        cause = effect = evidence
    named = answer["causal_mechanism"] if "causal_mechanism" in answer else answer.get("mechanism")
    return round(
        0.2 * bool(cause & seen)
        + 0.2 * bool(effect & seen)
        + (0.35 * _recall(evidence, seen) if evidence else 0.35)
        + 0.15 * path.clean("horizon")
        + 0.1 * _same_mechanism(truth, named),
        4,
    )


def _label(value: object) -> str:
    return "" if value is None else str(value).strip().lower().replace("-", "_").replace(" ", "_")


def _same_mechanism(truth: Tree, named: object) -> bool:
    aliases = truth.get("mechanism_aliases")
    known = {_label(truth.get("causal_mechanism"))}
    known |= (
        {_label(one) for one in aliases} if isinstance(aliases, Sequence) and not isinstance(aliases, str) else set()
    )
    said = _label(named)
    return bool(said) and said in known


def _actors(tree: Tree) -> frozenset[str]:
    named = tree.get("actors") or tree.get("involved_actors")
    return frozenset((named,)) if isinstance(named, str) else as_set(named)


def _silence_path(contract: Tree, path: _Path) -> tuple[float, float]:
    space = as_set(contract.get("expected_search_space"))
    if not path.calls and path.cited:
        if not space:
            return 1.0, 0.0
        covered = _recall(space, path.cited)
        return round(0.5 * covered + 0.5 * (covered >= 0.5), 4), 0.0
    covered = _recall(space, path.returned | path.cited) if space else 1.0
    return round(0.8 * covered + 0.2 * path.clean("horizon"), 4), covered
