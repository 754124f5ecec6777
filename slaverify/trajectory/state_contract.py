"""A state contract as a value: strict reading of its four inputs, what makes it contradictory, and its digest.

TRUST BOUNDARY: these files are written by people. Reading names every problem with its place; nothing is repaired.

Source: docs/spec/trajectory.md, section "State contract".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from pydantic import ValidationError

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, digest_of, jcs, loads_object
from slaverify.errors import NOTHING, ProblemsError, SlaverifyError, Text, TrajectoryError
from slaverify.evalset.fields import Strict
from slaverify.trajectory.corpus import Corpus
from slaverify.trajectory.state_model import (
    MAX_ARTIFACTS,
    MAX_EVENTS,
    Artifact,
    CausalLink,
    Evaluation,
    Event,
    Policy,
    SilencePair,
    instant,
    plain,
)

_Model = TypeVar("_Model", bound=Strict)
_KEYS = {"events", "artifacts", "policy", "evaluation"}
_MAX_SHOWN = 50
"""Most problems that are reported of one folder."""


@dataclass(frozen=True, slots=True)
class StateContract:
    """The four inputs, read and found consistent. `digest` is `sha256:` + hex of the JCS of all four."""

    events: tuple[Event, ...]
    artifacts: tuple[Artifact, ...]
    policy: Policy
    evaluation: Evaluation
    corpus: Corpus
    content: bytes

    @property
    def digest(self) -> str:
        """Return the digest that the parties' contract pins."""
        return digest_of(self.content)


def state_contract(
    events: Iterable[Event], artifacts: Iterable[Artifact], policy: Policy, evaluation: Evaluation
) -> StateContract:
    """Put a state contract together. Raises: ProblemsError of SLV-T010 to T013 where its parts disagree."""
    ordered = tuple(sorted(events, key=lambda one: (instant(one.timestamp), one.id)))
    filed = tuple(sorted(artifacts, key=lambda one: one.id))
    problems = list(_contradictions(ordered, filed, policy, evaluation))
    if problems:
        raise ProblemsError(problems[:_MAX_SHOWN])
    content = jcs(
        {
            "artifacts": [plain(one) for one in filed],
            "evaluation": plain(evaluation),
            "events": [plain(one) for one in ordered],
            "policy": plain(policy),
        }
    )
    return StateContract(ordered, filed, policy, evaluation, Corpus(filed, ordered, policy), content)


def read_state_contract(data: bytes, *, where: str = "state_contract") -> StateContract:
    """Read a state contract as it travels with a bank: the JCS of its four inputs.

    Raises: ProblemsError of SLV-T001 (form) and SLV-T010 to T013.
    """
    try:
        tree = loads_object(data)
    except StrictJsonError as error:
        raise ProblemsError([malformed(where, str(error))]) from error
    if set(tree) != _KEYS or not isinstance(tree["events"], list) or not isinstance(tree["artifacts"], list):
        raise ProblemsError([malformed(where, "keys")])
    problems: list[SlaverifyError] = []
    events = [
        read_record(Event, node, f"{where}: events[{index}]", problems) for index, node in enumerate(tree["events"])
    ]
    filed = tree["artifacts"]
    artifacts = [read_record(Artifact, node, f"{where}: artifacts[{i}]", problems) for i, node in enumerate(filed)]
    policy = read_record(Policy, tree["policy"], f"{where}: policy", problems)
    evaluation = read_record(Evaluation, tree["evaluation"], f"{where}: evaluation", problems)
    if problems or policy is None or evaluation is None:
        raise ProblemsError(problems[:_MAX_SHOWN])
    return state_contract([one for one in events if one], [one for one in artifacts if one], policy, evaluation)


def read_record(model: type[_Model], node: JsonValue, where: str, problems: list[SlaverifyError]) -> _Model | None:
    """Read one record strictly; what is wrong with it is added to `problems`."""
    try:
        return model.model_validate(node)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            context: Mapping[str, object] = detail.get("ctx", {})
            place = ".".join(str(step) for step in detail["loc"])
            at = f"{where}: {place}" if place else where
            if detail["type"] == "slaverify":
                words = Text(str(context["es"]), str(context["en"]))
                problems.append(TrajectoryError(str(context["code"]), words, where=at))
            else:
                problems.append(malformed(at, detail["msg"]))
        return None


def malformed(where: str, detail: str) -> TrajectoryError:
    """Return the problem of a record that breaks its form."""
    return TrajectoryError(
        "SLV-T001",
        Text(f"contrato de estado mal formado: {detail}", f"malformed state contract: {detail}"),
        fix=Text("corrija ese lugar", "mend that place"),
        where=where,
    )


def _contradictions(
    events: Sequence[Event], artifacts: Sequence[Artifact], policy: Policy, evaluation: Evaluation
) -> Iterator[SlaverifyError]:
    if len(events) > MAX_EVENTS or len(artifacts) > MAX_ARTIFACTS:
        yield malformed("state_contract", f"{len(events)} events, {len(artifacts)} artifacts")
        return
    yield from _dangling(events, artifacts, policy, evaluation)
    yield from _repeated(events, artifacts, policy)
    yield from _unjoined(evaluation)


def _dangling(
    events: Sequence[Event], artifacts: Sequence[Artifact], policy: Policy, evaluation: Evaluation
) -> Iterator[SlaverifyError]:
    filed = {one.id: one for one in artifacts}
    naming: dict[str, set[str]] = {}
    for event in events:
        for subsystem, ids in event.artifact_ids.items():
            for one in ids:
                naming.setdefault(one, set()).add(event.id)
                if one not in filed or filed[one].subsystem != subsystem:
                    yield dangling(event.id, f"{subsystem}/{one}")
    for artifact in artifacts:
        if set(artifact.recorded_events) != naming.get(artifact.id, set()):
            yield dangling(artifact.id, "recorded_events")
        rules = policy.subsystems.get(artifact.subsystem)
        if rules is None or not artifact.id.startswith(rules.id_prefix):
            yield dangling(artifact.id, artifact.subsystem)
    for role, rules_of_role in policy.roles.items():
        for name in rules_of_role.subsystems:
            if name not in policy.subsystems:
                yield dangling(f"roles.{role}", name)
    for name in policy.restricted_subsystems:
        if name not in policy.subsystems:
            yield dangling("restricted_subsystems", name)
    for actor, role in policy.actors.items():
        if role not in policy.roles:
            yield dangling(f"actors.{actor}", role)
    yield from _unknown_words(events, policy, evaluation)


def _unknown_words(events: Sequence[Event], policy: Policy, evaluation: Evaluation) -> Iterator[SlaverifyError]:
    actors = [("reviewer", evaluation.reviewer)]
    types: list[tuple[str, str]] = []
    places: list[tuple[str, str]] = []
    if evaluation.perspective is not None:
        actors += [("perspective.actors", actor) for actor in evaluation.perspective.actors]
        types += [("perspective.targets", target.event_type) for target in evaluation.perspective.targets]
    for link in () if evaluation.counterfactual is None else evaluation.counterfactual.causal_links:
        types += [(link.name, link.cause_event_type), (link.name, link.effect_event_type)]
    for pair in () if evaluation.silence is None else evaluation.silence.pairs:
        types += [(pair.name, pair.trigger_event_type), (pair.name, pair.response_event_type)]
        places += [(pair.name, place.subsystem) for place in pair.search_space]
    known = {event.type for event in events}
    yield from (dangling(where, actor) for where, actor in actors if actor not in policy.actors)
    yield from (dangling(where, kind) for where, kind in types if kind not in known)
    yield from (dangling(where, place) for where, place in places if place not in policy.subsystems)


def _repeated(events: Sequence[Event], artifacts: Sequence[Artifact], policy: Policy) -> Iterator[SlaverifyError]:
    for names in ([one.id for one in events], [one.id for one in artifacts]):
        for name in sorted({name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()):
            yield _duplicate(name)
    prefixes = sorted(rules.id_prefix for rules in policy.subsystems.values())
    for first, second in pairwise(prefixes):
        if second.startswith(first):
            yield _duplicate(first)


def _unjoined(evaluation: Evaluation) -> Iterator[SlaverifyError]:
    links = () if evaluation.counterfactual is None else evaluation.counterfactual.causal_links
    pairs = () if evaluation.silence is None else evaluation.silence.pairs
    joined: list[CausalLink | SilencePair] = [*links, *pairs]
    for one in joined:
        if not one.join:
            yield TrajectoryError(
                "SLV-T013",
                Text(f"JOIN_MISSING: {one.name} no dice qué une los dos hechos", f"JOIN_MISSING: {one.name}: no join"),
                why=Text("que algo ocurra después no es evidencia", "that something came later is no evidence"),
                fix=Text("agregue `join`", "add `join`"),
                where=f"evaluation: {one.name}",
            )


def dangling(where: str, name: str) -> TrajectoryError:
    """Return the problem of something that is named and not there."""
    return TrajectoryError(
        "SLV-T011",
        Text(f"STATE_DANGLING: {name} no existe o no concuerda", f"STATE_DANGLING: {name} is absent or disagrees"),
        fix=Text("corrija el nombre o agregue lo que falta", "mend the name or add what is missing"),
        where=where,
    )


def _duplicate(name: str) -> TrajectoryError:
    return TrajectoryError(
        "SLV-T012",
        Text(f"STATE_DUPLICATE: {name} está repetido", f"STATE_DUPLICATE: {name} stands twice"),
        fix=NOTHING,
        where=name,
    )


def content_tree(contract: StateContract) -> JsonObject:
    """Return the four inputs as one JSON object."""
    return loads_object(contract.content)
