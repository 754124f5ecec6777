"""Trivial engines, run on a question set before it is sealed: a set that they pass does not measure.

Each baseline is a walk through the same tools and scores as an audit; the report prints them beside the engine.

Source: docs/spec/trajectory.md, section "Question sets that do not measure".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from slaverify.trajectory.answers import TrackAnswer
from slaverify.trajectory.question import Question, Track
from slaverify.trajectory.runtime import CONTEXT_CHARS, FETCH, SEARCH, Call, Tools, packed
from slaverify.trajectory.score_slaverify import VALID, PathRules, PathScore, Walk, score_path
from slaverify.trajectory.state_contract import StateContract

PADDING = 200
"""Junk searches of the baseline `padding`."""
_UNLIMITED = 10_000


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that a baseline may reach: mean valid-state rate and mean S_adj."""

    valid: Fraction
    adjusted: Fraction


_BLIND = Limit(Fraction(0), Fraction(30, 100))
_CATCH = {"tool": Limit(Fraction(50, 100), Fraction(75, 100)), "context": Limit(Fraction(60, 100), Fraction(80, 100))}


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """What one baseline reached; `gave` are the public ids that gave it most, at most ten."""

    name: str
    valid: Fraction
    adjusted: Fraction
    weak: bool
    gave: tuple[str, ...]


def run_baselines(
    contract: StateContract, questions: Sequence[Question], rules: PathRules, names: Iterable[str] | None = None
) -> tuple[BaselineResult, ...]:
    """Run every baseline of the mode over the questions; `names` alone where given."""
    chosen = BASELINES if names is None else {name: BASELINES[name] for name in names}
    scored: dict[str, list[PathScore]] = {}
    for name, walk_of in chosen.items():
        budget = contract.evaluation.budget
        scored[name] = [
            score_path(one, contract.corpus, budget, walk_of(_Ground(contract, one, rules)), rules) for one in questions
        ]
    blind = scored.get("no_blind")
    return tuple(_result(name, questions, scores, rules, blind) for name, scores in scored.items())


def best_baseline(results: Sequence[BaselineResult]) -> Limit:
    """Return the most that any baseline but the oracle reached, in either measure."""
    others = [one for one in results if one.name != "oracle"]
    return Limit(
        max((one.valid for one in others), default=Fraction(0)),
        max((one.adjusted for one in others), default=Fraction(0)),
    )


def balance(questions: Sequence[Question]) -> tuple[str, ...]:
    """Return what is lopsided in a set: truths, decoys, roots of a track."""
    found: list[str] = []
    for track in Track:
        members = [one for one in questions if one.track is track]
        if not members:
            continue
        true = Fraction(sum(one.boolean for one in members), len(members))
        if track is Track.COUNTERFACTUAL:
            if not Fraction(25, 100) <= 1 - true <= Fraction(40, 100):
                found.append(f"counterfactual: decoys {float(1 - true):.2f}")
        elif not Fraction(40, 100) <= true <= Fraction(60, 100):
            found.append(f"{track.value}: true {float(true):.2f}")
        if len({one.root_event_id for one in members}) < 5:
            found.append(f"{track.value}: fewer than 5 roots")
    return tuple(found)


def _result(
    name: str, questions: Sequence[Question], scores: Sequence[PathScore], rules: PathRules, blind: object
) -> BaselineResult:
    n = max(1, len(scores))
    worth = [(one.correct and one.state == VALID, one.adjusted) for one in scores]
    valid = Fraction(sum(good for good, _ in worth), n)
    adjusted = sum((value for _, value in worth), Fraction(0)) / n
    if name == "oracle":
        weak = valid != 1 or adjusted != 1
    elif name in _BLIND_NAMES:
        weak = valid > _BLIND.valid or adjusted > _BLIND.adjusted
    else:
        limit = _CATCH[rules.mode]
        weak = valid > limit.valid or adjusted > limit.adjusted
        if name.endswith("cite_everything"):
            weak = weak or valid > 0
    if name == "padding" and blind is not None and rules.mode == "tool":
        weak = weak or [_worth(one) for one in scores] != [_worth(one) for one in _scores(blind)]
    ranked = sorted(zip(worth, questions, strict=True), key=lambda pair: (-pair[0][0], -pair[0][1], pair[1].public_id))
    gave = tuple(one.public_id for (good, value), one in ranked if good or value)[:10] if weak else ()
    return BaselineResult(name, valid, adjusted, weak, gave)


def _worth(score: PathScore) -> tuple[Fraction, Fraction, Fraction]:
    return score.answer, score.trajectory, score.adjusted


def _scores(value: object) -> Sequence[PathScore]:
    return value if isinstance(value, list) else []


class _Ground:
    """One question as a baseline meets it: the tools, and what an answer has to hold."""

    def __init__(self, contract: StateContract, question: Question, rules: PathRules) -> None:
        self.contract, self.question, self.rules = contract, question, rules
        # A trivial engine is given every call it wants: a limit would flatter the set.
        budget = contract.evaluation.budget.model_copy(update={"max_calls": _UNLIMITED})
        self.tools = Tools(contract.corpus, question.actor, question.role, question.as_of, budget)
        self.calls: list[Call] = []

    def search(self, query: str, subsystem: str | None = None) -> tuple[str, ...]:
        done = self.tools.execute(SEARCH, {"query": query, "subsystem": subsystem}).call
        self.calls.append(done)
        return done.result_ids

    def fetch(self, artifact_id: str) -> None:
        self.calls.append(self.tools.execute(FETCH, {"artifact_id": artifact_id}).call)

    def catch_all(self) -> None:
        question = self.question
        terms = {place.subsystem: place.terms[0] for place in question.places}
        found: list[str] = []
        for place in sorted(self.tools.allowed):
            term = terms.get(place, question.baseline_term or next(iter(terms.values()), ""))
            found += self.search(term, place)
        for one in dict.fromkeys(found):
            self.fetch(one)

    def fetched(self) -> frozenset[str]:
        return frozenset(one for call in self.calls if call.tool == FETCH for one in call.result_ids)

    def packed(self) -> frozenset[str]:
        if self.rules.mode != "context":
            return frozenset()
        return frozenset(one.id for one in packed(self.tools, CONTEXT_CHARS))

    def walk(self, answer: TrackAnswer | None) -> Walk:
        calls = tuple(self.calls) if self.rules.mode == "tool" else ()
        return Walk(calls, answer, answer is not None, self.packed())

    def constant(self, yes: bool, cited: frozenset[str]) -> TrackAnswer:
        if self.question.track is not Track.COUNTERFACTUAL:
            return TrackAnswer(yes, cited)
        direction = "cause_to_effect" if yes else "no_causal_link"
        return TrackAnswer(yes, cited, mechanism="" if yes else "none", direction=direction)


def _empty(ground: _Ground) -> Walk:
    return ground.walk(None)


def _blind(yes: bool) -> Callable[[_Ground], Walk]:
    return lambda ground: ground.walk(ground.constant(yes, frozenset()))


def _padding(ground: _Ground) -> Walk:
    ground.search(" ")
    for number in range(PADDING):
        ground.search(f"zzqx{number}")
    return ground.walk(ground.constant(False, frozenset()))


def _catch_all(yes: bool, cite: str) -> Callable[[_Ground], Walk]:
    def walk(ground: _Ground) -> Walk:
        ground.catch_all()
        cited = frozenset[str]()
        if cite == "fetched":
            cited = ground.fetched() | ground.packed()
        elif cite == "everything":
            cited = frozenset(ground.contract.corpus.by_id)
        return ground.walk(ground.constant(yes, cited))

    return walk


def _oracle(ground: _Ground) -> Walk:
    question = ground.question
    for place in question.places if question.need == "all" or not question.required else ():
        for term in place.terms:
            ground.search(term, place.subsystem)
            break
        if question.need == "any":
            break
    for one in question.required:
        ground.fetch(one)
    evidence = frozenset(question.evidence)
    return ground.walk(
        TrackAnswer(
            question.boolean,
            evidence,
            frozenset(question.blocked),
            question.mechanism,
            question.cause_event_id,
            question.effect_event_id,
            question.direction,
            frozenset(question.actors),
        )
    )


_BLIND_NAMES = ("empty", "yes_blind", "no_blind", "zero_shot", "padding")
BASELINES: Mapping[str, Callable[[_Ground], Walk]] = {
    "empty": _empty,
    "yes_blind": _blind(True),
    "no_blind": _blind(False),
    "zero_shot": _blind(False),
    "padding": _padding,
    "yes_catch_all": _catch_all(True, "nothing"),
    "no_catch_all": _catch_all(False, "nothing"),
    "yes_catch_all_cite_fetched": _catch_all(True, "fetched"),
    "no_catch_all_cite_fetched": _catch_all(False, "fetched"),
    "yes_catch_all_cite_everything": _catch_all(True, "everything"),
    "no_catch_all_cite_everything": _catch_all(False, "everything"),
    "oracle": _oracle,
}
"""Every baseline by name."""
