"""Candidates for questions, derived from what happened. The same state contract gives the same ones anywhere.

No chance, no clock, no set order: candidates of a kind are ordered by SHA-256(seed ‖ 0 ‖ label ‖ 0 ‖ key).

Source: docs/spec/trajectory.md, section "Derivation".
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from slaverify.canonical import JsonObject
from slaverify.trajectory.event_paths import resolve
from slaverify.trajectory.question import Kind, Question, SearchPlace, Track
from slaverify.trajectory.state_contract import StateContract
from slaverify.trajectory.state_model import Event, Join, instant, plain
from slaverify.trajectory.templates import rendered, values_at

ORDER: Mapping[Track, tuple[Kind, ...]] = {
    Track.PERSPECTIVE: (
        Kind.NEGATIVE_PARTICIPATION,
        Kind.NEGATIVE_TEMPORAL,
        Kind.NEGATIVE_PERMISSION,
        Kind.POSITIVE,
    ),
    Track.COUNTERFACTUAL: (Kind.LINKED, Kind.ADJACENT_UNLINKED),
    Track.SILENCE: (Kind.PRESENT, Kind.ABSENT),
}
"""Kinds of each track, in the order in which they are filled."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What could be asked, by kind and in order; `skipped` counts what was left out because its truth is arguable."""

    by_kind: Mapping[Kind, Sequence[Question]]
    skipped: Mapping[str, int]

    def counts(self) -> dict[str, int]:
        """Return the number of candidates of each kind that has any, and what was skipped."""
        return {**{kind.value: len(members) for kind, members in self.by_kind.items()}, **self.skipped}


def derive(contract: StateContract, locale: str) -> Candidates:
    """Return every candidate. Raises: TrajectoryError SLV-T014 where a template finds no value."""
    work = _Derivation(contract, "en" if locale[:2] == "en" else "es")
    keyed: list[tuple[str, Question]] = []
    if contract.evaluation.perspective is not None:
        keyed += work.perspective()
    if contract.evaluation.counterfactual is not None:
        keyed += work.counterfactual()
    if contract.evaluation.silence is not None:
        keyed += work.silence()
    ordered: dict[Kind, list[Question]] = {}
    for track, kinds in ORDER.items():
        for kind in kinds:
            label = f"{track.value[0]}/{kind.value}"
            members = [(_ticket(contract.evaluation.seed, label, key), one) for key, one in keyed if one.kind is kind]
            if members:
                ordered[kind] = [one for _, one in sorted(members, key=lambda pair: pair[0])]
    return Candidates(ordered, dict(sorted(work.skipped.items())))


def _ticket(seed: str, label: str, key: str) -> str:
    return hashlib.sha256("\0".join((seed, label, key)).encode("utf-8")).hexdigest()


class _Derivation:
    """One derivation; `skipped` is filled on the way."""

    def __init__(self, contract: StateContract, language: str) -> None:
        self.contract, self.corpus, self.language = contract, contract.corpus, language
        self.skipped: Counter[str] = Counter()
        self.by_type: dict[str, list[Event]] = {}
        self.times: dict[str, list[datetime]] = {}
        self.trees: dict[str, JsonObject] = {}
        self.values: dict[tuple[str, str], frozenset[str]] = {}
        for event in contract.events:
            self.by_type.setdefault(event.type, []).append(event)
            self.times.setdefault(event.type, []).append(instant(event.timestamp))
            self.trees[event.id] = plain(event)

    def perspective(self) -> Iterator[tuple[str, Question]]:
        rules = self.contract.evaluation.perspective
        assert rules is not None  # noqa: S101 - asked by the caller
        for target in rules.targets:
            for event in self.by_type.get(target.event_type, ()):
                if not event.artifacts():
                    continue
                text = rendered(target.text, self.trees[event.id], f"targets.{target.event_type}")
                terms = tuple(
                    rendered(term, self.trees[event.id], f"targets.{target.event_type}") for term in target.terms
                )
                for actor in rules.actors:
                    for question in self._perspective(event, actor, text, terms):
                        yield f"{event.id}\0{actor}", question

    def _perspective(self, event: Event, actor: str, text: str, terms: tuple[str, ...]) -> Iterator[Question]:
        role = self.contract.policy.actors[actor]
        allowed = self.corpus.allowed(role)
        filed = [self.corpus.by_id[one] for one in event.artifacts()]
        later = max(one.at for one in filed) + timedelta(days=1)
        before = instant(event.timestamp) - timedelta(hours=1)
        inside = {one.subsystem in allowed for one in filed}
        seen = {self.corpus.visible(one, actor, role, later) for one in filed}
        early = any(self.corpus.visible(one, actor, role, before) for one in filed)
        kinds: tuple[tuple[Kind, datetime, bool], ...] = ()
        if inside == {False}:
            kinds = ((Kind.NEGATIVE_PERMISSION, later, False),)
        elif inside == {True, False}:
            self.skipped["mixed"] += 1
        elif seen == {True, False}:
            self.skipped["partial"] += 1
        elif seen == {False}:
            kinds = ((Kind.NEGATIVE_PARTICIPATION, later, False),)
        else:
            kinds = ((Kind.POSITIVE, later, True),)
            if early:
                self.skipped["early"] += 1
            else:
                kinds = (*kinds, (Kind.NEGATIVE_TEMPORAL, before, False))
        blocked = tuple(sorted({one.subsystem for one in filed} - allowed))
        for kind, moment, truth in kinds:
            evidence = event.artifacts() if truth else ()
            yield Question(
                track=Track.PERSPECTIVE,
                kind=kind,
                root_event_id=event.id,
                text=self._asked_perspective(actor, moment, text),
                actor=actor,
                role=role,
                as_of=moment.isoformat(),
                boolean=truth,
                evidence=evidence,
                blocked=blocked,
                required=evidence,
                need="any",
                places=tuple(SearchPlace(one, terms) for one in sorted(allowed)),
            )

    def counterfactual(self) -> Iterator[tuple[str, Question]]:
        rules = self.contract.evaluation.counterfactual
        assert rules is not None  # noqa: S101 - asked by the caller
        for link in rules.causal_links:
            gap = _days(link.max_gap_days)
            for cause in self.by_type.get(link.cause_event_type, ()):
                near = self._after(cause, link.effect_event_type, gap)
                effect = next((one for one in near if self._joined(cause, one, link.join)), None)
                linked = effect is not None
                effect = effect or next(iter(near), None)
                if effect is None:
                    continue
                evidence = tuple(sorted({*cause.artifacts(), *effect.artifacts()}))
                if not evidence:
                    continue
                as_of = max((self.corpus.by_id[one] for one in evidence), key=lambda one: (one.at, one.id))
                where = f"causal_links.{link.name}"
                said = (
                    rendered(link.cause_text, self.trees[cause.id], where),
                    rendered(link.effect_text, self.trees[effect.id], where),
                )
                yield (
                    f"{cause.id}\0{link.name}",
                    Question(
                        track=Track.COUNTERFACTUAL,
                        kind=Kind.LINKED if linked else Kind.ADJACENT_UNLINKED,
                        root_event_id=cause.id,
                        text=self._asked_counterfactual(*said),
                        actor=self.contract.evaluation.reviewer,
                        role=self.contract.policy.actors[self.contract.evaluation.reviewer],
                        as_of=as_of.at.isoformat(),
                        boolean=linked,
                        evidence=evidence,
                        mechanism=link.name if linked else "none",
                        aliases=link.aliases if linked else (),
                        cause_event_id=cause.id if linked else None,
                        effect_event_id=effect.id if linked else None,
                        direction="cause_to_effect" if linked else "no_causal_link",
                        actors=tuple(sorted({*cause.actors, *effect.actors})) if linked else (),
                        cause_artifacts=cause.artifacts(),
                        effect_artifacts=effect.artifacts(),
                        required=evidence,
                        baseline_term=_term(self.trees[cause.id], rules.baseline_term),
                    ),
                )

    def silence(self) -> Iterator[tuple[str, Question]]:
        rules = self.contract.evaluation.silence
        assert rules is not None  # noqa: S101 - asked by the caller
        last = max((one.at for one in self.corpus.ordered), default=None)
        for pair in rules.pairs:
            gap = _days(pair.max_gap_days)
            for trigger in self.by_type.get(pair.trigger_event_type, ()):
                end = instant(trigger.timestamp) + gap
                if last is None or end > last:
                    self.skipped["window_open"] += 1
                    continue
                near = self._after(trigger, pair.response_event_type, gap)
                response = next((one for one in near if self._joined(trigger, one, pair.join)), None)
                evidence = () if response is None else response.artifacts()
                if response is not None and not evidence:
                    self.skipped["unrecorded"] += 1
                    continue
                where = f"pairs.{pair.name}"
                yield (
                    f"{trigger.id}\0{pair.name}",
                    Question(
                        track=Track.SILENCE,
                        kind=Kind.ABSENT if response is None else Kind.PRESENT,
                        root_event_id=trigger.id,
                        text=self._asked_silence(rendered(pair.text, self.trees[trigger.id], where), end),
                        actor=self.contract.evaluation.reviewer,
                        role=self.contract.policy.actors[self.contract.evaluation.reviewer],
                        as_of=end.isoformat(),
                        boolean=response is not None,
                        evidence=evidence,
                        required=evidence,
                        need="all",
                        places=tuple(
                            SearchPlace(
                                one.subsystem,
                                tuple(rendered(term, self.trees[trigger.id], where) for term in one.any_terms),
                            )
                            for one in pair.search_space
                        ),
                    ),
                )

    def _joined(self, first: Event, second: Event, joins: tuple[Join, ...]) -> bool:
        """Say whether every join holds: both sides have a value in common."""
        return all(self._values(first, join.cause) & self._values(second, join.effect) for join in joins)

    def _values(self, event: Event, path: str) -> frozenset[str]:
        key = (event.id, path)
        if key not in self.values:
            self.values[key] = values_at(self.trees[event.id], path)
        return self.values[key]

    def _after(self, first: Event, kind: str, gap: timedelta) -> list[Event]:
        """Return the events of a type strictly after the first one and within the gap, in order."""
        start, times = instant(first.timestamp), self.times.get(kind, [])
        # Events are sorted by instant, and so are those of one type.
        return self.by_type.get(kind, [])[bisect_right(times, start) : bisect_right(times, start + gap)]

    def _asked_perspective(self, actor: str, moment: datetime, text: str) -> str:
        if self.language == "en":
            return f"As of {moment.isoformat()}, could {actor} have known that {text}?"
        return f"Al {moment.isoformat()}, ¿podía {actor} saber que {text}?"

    def _asked_counterfactual(self, cause: str, effect: str) -> str:
        if self.language == "en":
            return f"If it had not happened that {cause}, would it still have happened that {effect}?"
        return f"Si no hubiera ocurrido que {cause}, ¿habría ocurrido igual que {effect}?"

    def _asked_silence(self, text: str, end: datetime) -> str:
        if self.language == "en":
            return f"As of {end.isoformat()}, is it on record that {text}?"
        return f"Al {end.isoformat()}, ¿consta que {text}?"


def _days(text: str) -> timedelta:
    return timedelta(seconds=float(Decimal(text) * 86_400))


def _term(tree: JsonObject, path: str) -> str:
    value = resolve(tree, path)
    return value if isinstance(value, str) else ""
