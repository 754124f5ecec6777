"""The questions of a set: quotas filled from the candidates, each reachable by the tools, none twice.

Source: docs/spec/trajectory.md, section "Derivation".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from slaverify.errors import ProblemsError, SlaverifyError, Text, TrajectoryError
from slaverify.trajectory.derive import ORDER, Candidates, derive
from slaverify.trajectory.question import Kind, Question, Track
from slaverify.trajectory.runtime import CONTEXT_CHARS, Tools, packed
from slaverify.trajectory.state_contract import StateContract
from slaverify.trajectory.state_model import instant

MIN_TERM = 3
"""Fewest characters of a required term."""
NONCE_BYTES = 32


def generate(contract: StateContract, locale: str, nonce: bytes) -> tuple[Question, ...]:
    """Return the questions of a set, by public id. `nonce`: 32 random bytes of the set, kept with the references.

    Raises: ProblemsError of SLV-T014 to T016, and SLV-T018 for one text with two truths.
    """
    if len(nonce) != NONCE_BYTES:
        raise ValueError("the nonce of a set has 32 bytes")
    chosen = choose(contract, derive(contract, locale))
    problems = [*unreachable(contract, chosen), *_ambiguous(chosen)]
    if problems:
        raise ProblemsError(problems)
    return tuple(sorted((one.named(nonce) for one in chosen), key=lambda one: one.public_id))


def counts_due(contract: StateContract) -> dict[Kind, int]:
    """Return how many questions of each kind the quotas ask for: shares rounded half to even."""
    evaluation = contract.evaluation
    due: dict[Kind, int] = {}
    if evaluation.perspective is not None:
        mix = evaluation.perspective.mix
        kinds = ORDER[Track.PERSPECTIVE]
        due |= {kind: _share(evaluation.quota.perspective, str(getattr(mix, kind.value))) for kind in kinds}
    if evaluation.counterfactual is not None:
        decoys = _share(evaluation.quota.counterfactual, evaluation.counterfactual.decoy_share)
        due |= {Kind.LINKED: evaluation.quota.counterfactual - decoys, Kind.ADJACENT_UNLINKED: decoys}
    if evaluation.silence is not None:
        half = _share(evaluation.quota.silence, "0.5")
        due |= {Kind.PRESENT: half, Kind.ABSENT: evaluation.quota.silence - half}
    return due


def choose(contract: StateContract, candidates: Candidates) -> tuple[Question, ...]:
    """Return the first candidates of each kind, one question per root event within a track.

    Raises: ProblemsError of SLV-T016 with every kind that falls short; nothing is filled with duplicates.
    """
    chosen: list[Question] = []
    problems: list[SlaverifyError] = []
    due = counts_due(contract)
    for kinds in ORDER.values():
        taken: set[str] = set()
        for kind in kinds:
            members = candidates.by_kind.get(kind, ())
            picked: list[Question] = []
            for one in members:
                if len(picked) < due.get(kind, 0) and one.root_event_id not in taken:
                    picked.append(one)
                    taken.add(one.root_event_id)
            if len(picked) < due.get(kind, 0):
                problems.append(_short(kind, due[kind], len(picked), candidates.counts()))
            chosen += picked
    if problems:
        raise ProblemsError(problems)
    return tuple(chosen)


def unreachable(contract: StateContract, questions: Sequence[Question]) -> Iterator[SlaverifyError]:
    """Name what an engine could not find with the tools: places, terms, required artifacts, a budget too small."""
    corpus, budget = contract.corpus, contract.evaluation.budget
    for one in questions:
        as_of = instant(one.as_of)
        for artifact in one.required:
            seen = corpus.by_id.get(artifact)
            if seen is None or not corpus.visible(seen, one.actor, one.role, as_of):
                yield _unreachable(one, artifact)
        if contract.evaluation.mode == "context":
            room = Tools(corpus, one.actor, one.role, one.as_of, budget)
            fits = {seen.id for seen in packed(room, CONTEXT_CHARS)}
            yield from (_unreachable(one, f"context: {name}") for name in one.required if name not in fits)
        for place in one.places:
            if place.subsystem not in corpus.allowed(one.role):
                yield _unreachable(one, place.subsystem)
            for term in place.terms:
                hits = [
                    hit
                    for hit in corpus.matches(term, place.subsystem)
                    if corpus.visible(hit, one.actor, one.role, as_of)
                ]
                if len(term.strip()) < max(MIN_TERM, budget.min_query_chars) or len(hits) > budget.search_limit:
                    yield _unreachable(one, f"{place.subsystem}: {term} ({len(hits)})")
        steps = len(one.required) + (len(one.places) if one.need == "all" else min(1, len(one.places)))
        # One more turn than calls: the answer is one too.
        if steps > budget.max_calls or budget.max_turns < 2:
            yield _unreachable(one, f"{steps} > {budget.max_calls} calls")


def _share(quota: int, share: str) -> int:
    return int((Decimal(quota) * Decimal(share)).to_integral_value(rounding=ROUND_HALF_EVEN))


def _ambiguous(questions: Sequence[Question]) -> Iterator[SlaverifyError]:
    said: dict[str, bool] = {}
    for one in questions:
        if said.setdefault(one.text, one.boolean) is not one.boolean:
            yield TrajectoryError(
                "SLV-T018",
                Text(f"un texto con dos verdades: {one.text}", f"one text with two truths: {one.text}"),
                fix=Text("haga que el texto distinga los casos", "let the text tell the cases apart"),
                where=one.root_event_id,
            )


def _short(kind: Kind, due: int, found: int, counts: Mapping[str, int]) -> TrajectoryError:
    known = ", ".join(f"{name} {count}" for name, count in counts.items())
    return TrajectoryError(
        "SLV-T016",
        Text(f"QUOTA_SHORT: {kind.value}: {found} de {due}", f"QUOTA_SHORT: {kind.value}: {found} of {due}"),
        why=Text(f"candidatos: {known}", f"candidates: {known}"),
        fix=Text("baje la cuota o amplíe el registro de hechos", "lower the quota or extend the event log"),
        where="evaluation: quota",
    )


def _unreachable(question: Question, what: str) -> TrajectoryError:
    return TrajectoryError(
        "SLV-T015",
        Text(
            f"SEARCH_UNREACHABLE: {question.kind.value} sobre {question.root_event_id}: {what}",
            f"SEARCH_UNREACHABLE: {question.kind.value} on {question.root_event_id}: {what}",
        ),
        why=Text("un motor honesto no podría recorrer ese camino", "an honest engine could not walk that path"),
        fix=Text("cambie el término, el lugar o el presupuesto", "change the term, the place or the budget"),
        where=question.root_event_id,
    )
