"""Profile `slaverify-1`: what an answer and its path are worth, and whether the state it was reached in was valid.

Order, carried out in `score_path`: (1) the answer gate; (2) the required-artifact gate; (3) distinct calls and the
violation rate; (4) the search requirement; (5) S_answer, P and S_traj of the track; (6) S_adj; (7) the state.
Exact rationals throughout; nothing here asks a judge.

Source: docs/spec/trajectory.md, section "slaverify-1".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.trajectory.answers import TrackAnswer
from slaverify.trajectory.corpus import Corpus, normalised, tokens_of
from slaverify.trajectory.question import Question, SearchPlace, Track
from slaverify.trajectory.runtime import FETCH, SEARCH, Call, Flags, Status, Tools, same_call
from slaverify.trajectory.state_model import Budget

VALID, INVALID = "VALID_STATE", "INVALID_STATE"
REASONS = (
    "NO_ANSWER",
    "ANSWER_SCHEMA",
    "VISIBILITY_ACTOR",
    "VISIBILITY_SUBSYSTEM",
    "HORIZON",
    "NO_PATH",
    "SEARCH_INCOMPLETE",
    "CAUSAL_UNGROUNDED",
    "REQUIRED_NEVER_FETCHED",
    "PHANTOM_CITATION",
    "EVIDENCE_NOT_CITED",
)
"""Why a state is invalid, in the order in which they are listed."""
WEIGHTS: Mapping[Track, tuple[Fraction, Fraction]] = {
    Track.PERSPECTIVE: (Fraction(4, 10), Fraction(6, 10)),
    Track.COUNTERFACTUAL: (Fraction(5, 10), Fraction(5, 10)),
    Track.SILENCE: (Fraction(3, 10), Fraction(7, 10)),
}
"""Weight of the answer and of the trajectory, by track."""
_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class PathRules:
    """What the contract fixes: `floor` in [0, 1], `quorum` `any` or `all`, `mode` `tool` or `context`."""

    floor: Fraction = Fraction(7, 10)
    quorum: str = "any"
    mode: str = "tool"


@dataclass(frozen=True, slots=True)
class Walk:
    """What an engine did on one question: `answer` is null where none fits its schema; `packed` in context mode."""

    calls: tuple[Call, ...]
    answer: TrackAnswer | None
    answered: bool
    packed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PathScore:
    """The scores of one question, exact and in [0, 1]; counts are of calls.

    `said` is the yes or no that was given, before any gate; `correct` is what both gates left of it.
    """

    track: Track
    correct: bool
    answer: Fraction
    trajectory: Fraction
    path: Fraction
    citation: Fraction
    rate: Fraction
    combined: Fraction
    adjusted: Fraction
    state: str
    reasons: tuple[str, ...]
    flagged: int
    distinct: int
    actor_flagged: int
    horizon: int
    subsystem: int
    actor_gate: int
    calls: int
    fetched: int
    needless: int
    phantom: int
    cited: int
    hit: int
    said: bool | None
    said_right: bool

    @property
    def clean(self) -> bool:
        """Say whether no gate was run against."""
        return not (self.horizon or self.subsystem or self.actor_gate)


def score_path(question: Question, corpus: Corpus, budget: Budget, walk: Walk, rules: PathRules) -> PathScore:
    """Return the scores of one question."""
    tools = Tools(corpus, question.actor, question.role, question.as_of, budget)
    facts = _Facts(question, tools, walk, rules)
    answer, correct = facts.answer_score()
    path = facts.path()
    trajectory = facts.trajectory(path)
    w_answer, w_path = WEIGHTS[question.track]
    combined = w_answer * answer + w_path * trajectory
    reasons = facts.reasons(path)
    return PathScore(
        track=question.track,
        correct=correct,
        answer=answer,
        trajectory=trajectory,
        path=path,
        citation=facts.citation,
        rate=facts.rate,
        combined=combined,
        adjusted=combined * (1 - facts.rate) ** 2,
        state=INVALID if reasons else VALID,
        reasons=reasons,
        flagged=facts.flagged,
        distinct=facts.distinct,
        actor_flagged=facts.actor_flagged,
        horizon=sum(one.horizon for one in facts.flags),
        subsystem=sum(one.subsystem for one in facts.flags),
        actor_gate=sum(one.actor_gate for one in facts.flags),
        calls=len(walk.calls),
        fetched=len(facts.fetched),
        needless=len(facts.fetched - frozenset(question.required)),
        phantom=len(facts.cited - facts.fetched),
        cited=len(facts.cited),
        hit=len(facts.evidence & facts.cited & facts.fetched),
        said=None if walk.answer is None else walk.answer.boolean,
        said_right=walk.answer is not None and walk.answer.boolean is question.boolean,
    )


def six(value: Fraction) -> str:
    """Return a score as it is printed: 6 places, half to even."""
    scaled = round(value * 10**6)
    return str(Decimal(scaled).scaleb(-6).quantize(Decimal("0.000001")))


def f1(due: frozenset[str], given: frozenset[str]) -> Fraction:
    """Return the F1 of two sets: 1 if both are empty, 0 if one is."""
    return _f1(len(due & given), len(due), len(given))


def _f1(hits: int, due: int, given: int) -> Fraction:
    if not due and not given:
        return _ONE
    return Fraction(2 * hits, due + given) if due and given else _ZERO


def mechanism_label(text: str) -> str:
    """Return a mechanism's name as names are compared."""
    folded = normalised(unicodedata.normalize("NFC", text))
    return folded.strip().replace("-", "_").replace(" ", "_")


class _Facts:
    """What follows from one walk, before any weight is put on it."""

    def __init__(self, question: Question, tools: Tools, walk: Walk, rules: PathRules) -> None:
        self.question, self.tools, self.walk, self.rules = question, tools, walk, rules
        self.context = rules.mode == "context"
        self.evidence = frozenset(question.evidence)
        self.cited = frozenset() if walk.answer is None else walk.answer.evidence
        self.fetched = walk.packed if self.context else _fetched(walk.calls)
        self.citation = _f1(len(self.evidence & self.cited & self.fetched), len(self.evidence), len(self.cited))
        self.flags: tuple[Flags, ...] = ()
        self.flagged = self.distinct = self.actor_flagged = 0
        if self.context:
            self._rate_of_citations()
        else:
            self._rate_of_calls()
        self.rate = Fraction(self.flagged, self.distinct) if self.distinct else _ZERO
        # A call that was never carried out is no path.
        self.walked = any(call.status in _CARRIED_OUT for call in walk.calls)
        self.missed = self._required_missed()

    def _rate_of_calls(self) -> None:
        groups: dict[str, list[bool]] = {}
        known: dict[str, set[str]] = {SEARCH: set(), FETCH: set()}
        flags: list[Flags] = []
        for call in self.walk.calls:
            group = groups.setdefault(same_call(call), [False, False, False])
            seen = known.setdefault(call.tool, set())
            group[0] |= bool(call.flags)
            group[1] |= any(one not in seen for one in call.result_ids)
            group[2] |= call.flags.actor_gate
            seen.update(call.result_ids)
            if call.flags:
                flags.append(call.flags)
        self.flags = tuple(flags)
        self.flagged = sum(flagged for flagged, _, _ in groups.values())
        self.distinct = sum(flagged or new for flagged, new, _ in groups.values())
        self.actor_flagged = sum(actor for _, _, actor in groups.values())

    def _rate_of_citations(self) -> None:
        known = [self.tools.corpus.by_id[one] for one in sorted(self.cited) if one in self.tools.corpus.by_id]
        outside = [self.tools.gates(one) for one in known if not self.tools.in_cone(one)]
        self.flags = tuple(one for one in outside if one)
        self.flagged, self.distinct = len(outside), len(self.cited)
        self.actor_flagged = sum(one.actor_gate for one in outside)

    def _required_missed(self) -> bool:
        required = frozenset(self.question.required)
        have = required & self.fetched & self.cited if self.context else required & self.fetched
        return bool(required) and (not have or (self.rules.quorum == "all" and have != required))

    @property
    def usable(self) -> bool:
        """Say whether there is an answer that fits its schema."""
        return self.walk.answer is not None

    def answer_score(self) -> tuple[Fraction, bool]:
        """Return S_answer and whether the answer is right, after both gates."""
        answer, question = self.walk.answer, self.question
        if answer is None or self.missed:
            return _ZERO, False
        if question.track is Track.COUNTERFACTUAL:
            return self._counterfactual(answer)
        if answer.boolean is not question.boolean:
            return _ZERO, False
        if question.track is Track.SILENCE:
            return Fraction(8, 10) + Fraction(2, 10) * self.citation, True
        blocked = f1(frozenset(question.blocked), answer.blocked)
        return Fraction(6, 10) + Fraction(2, 10) * blocked + Fraction(2, 10) * self.citation, True

    def _counterfactual(self, answer: TrackAnswer) -> tuple[Fraction, bool]:
        question = self.question
        names = {mechanism_label(one) for one in (question.mechanism, *question.aliases)}
        right = (
            answer.boolean is question.boolean,
            mechanism_label(answer.mechanism) in names,
            answer.cause_event_id == question.cause_event_id,
            answer.effect_event_id == question.effect_event_id,
            answer.direction == question.direction,
        )
        score = Fraction(2 * sum(right[:4]) + right[4], 10)
        actors = f1(frozenset(question.actors), answer.actors)
        return score + Fraction(5, 100) * (self.citation + actors), all(right)

    def path(self) -> Fraction:
        """Return P: how much of the path that the question needs was walked."""
        question, evidence = self.question, self.evidence
        if not self.usable:
            return _ZERO
        if self.context:
            found = evidence & self.cited & self.fetched
            return Fraction(len(found), len(evidence)) if evidence else _ONE
        share = Fraction(len(evidence & self.fetched), len(evidence)) if evidence else _ZERO
        if question.track is Track.COUNTERFACTUAL:
            cause, effect = frozenset(question.cause_artifacts), frozenset(question.effect_artifacts)
            # An id that both ends share proves neither end alone.
            ends = (cause - effect or cause, effect - cause or effect)
            proved = sum(bool(end & self.fetched) for end in ends)
            return Fraction(35, 100) * proved + Fraction(30, 100) * share
        if question.track is Track.SILENCE:
            return Fraction(bool(evidence & self.fetched)) if question.boolean else self._searched()
        return share if evidence else self._searched()

    def trajectory(self, path: Fraction) -> Fraction:
        """Return S_traj."""
        if not self.usable:
            return _ZERO
        if self.context:
            phantom = Fraction(len(self.cited - self.fetched), len(self.cited)) if self.cited else _ZERO
            return path * (1 - phantom)
        if not self.walked:
            return _ZERO
        if self.question.track is Track.PERSPECTIVE:
            return path * (Fraction(7, 10) * (1 - self.rate) + Fraction(3, 10) * self.citation)
        return path * (Fraction(8, 10) + Fraction(2, 10) * (1 - self.rate))

    def _searched(self) -> Fraction:
        places = self.question.places
        if not places:
            return _ZERO
        met = [self._met(place) for place in places]
        return Fraction(sum(met), len(met)) if self.question.need == "all" else Fraction(any(met))

    def _met(self, place: SearchPlace) -> bool:
        due = [(set(tokens_of(term)), self._hits(term, place.subsystem)) for term in place.terms]
        for call in self.walk.calls:
            if call.tool != SEARCH or call.arguments is None or call.status not in (Status.DELIVERED, Status.EMPTY):
                continue
            if call.flags or call.arguments["subsystem"] not in (None, place.subsystem):
                continue
            said = set(tokens_of(str(call.arguments["query"])))
            if any(said & tokens and hits <= set(call.result_ids) for tokens, hits in due):
                return True
        return False

    def _hits(self, term: str, subsystem: str) -> set[str]:
        return {one.id for one in self.tools.corpus.matches(term, subsystem) if self.tools.in_cone(one)}

    def reasons(self, path: Fraction) -> tuple[str, ...]:
        """Return every reason why the state is invalid; none if it is valid."""
        low, causal = path < self.rules.floor, self.question.track is Track.COUNTERFACTUAL
        holds = {
            "NO_ANSWER": not self.walk.answered,
            "ANSWER_SCHEMA": self.walk.answered and not self.usable,
            "VISIBILITY_ACTOR": any(one.actor_gate for one in self.flags),
            "VISIBILITY_SUBSYSTEM": any(one.subsystem for one in self.flags),
            "HORIZON": any(one.horizon for one in self.flags),
            "NO_PATH": not self.context and not self.walked,
            "SEARCH_INCOMPLETE": low and not causal,
            "CAUSAL_UNGROUNDED": low and causal,
            "REQUIRED_NEVER_FETCHED": self.missed,
            "PHANTOM_CITATION": bool(self.cited - self.fetched),
            "EVIDENCE_NOT_CITED": bool(self.evidence) and not self.evidence & self.cited & self.fetched,
        }
        return tuple(reason for reason in REASONS if holds[reason])


_CARRIED_OUT = frozenset({Status.DELIVERED, Status.EMPTY, Status.UNAVAILABLE})


def _fetched(calls: Sequence[Call]) -> frozenset[str]:
    return frozenset(
        one for call in calls if call.tool == FETCH and call.status is Status.DELIVERED for one in call.result_ids
    )
