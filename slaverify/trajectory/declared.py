"""Traces that a vendor hands in: read, replayed and scored like ours, and never more than declared.

Who ran the tools decides what a trace is worth: the gates of somebody else may have let anything through before they
wrote it down. Such scores are shown; no state follows from them.

Source: docs/spec/trajectory.md, section "Declared traces".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject
from slaverify.contract.words import Outcome
from slaverify.errors import TrajectoryError
from slaverify.evalset import Item
from slaverify.trajectory.public_view import PublicView
from slaverify.trajectory.question import Question, read_question
from slaverify.trajectory.record import Ground, ScoredPath, record_of, unknown_record, view_of
from slaverify.trajectory.runtime import Tools
from slaverify.trajectory.score_slaverify import score_path
from slaverify.trajectory.trace import VENDOR, read_trace, replay


@dataclass(frozen=True, slots=True)
class Declared:
    """What a vendor's traces say. `insufficient`: public ids whose chain breaks or whose calls do not replay, and why;
    `missing`: public ids without a trace."""

    scored: tuple[ScoredPath, ...]
    insufficient: Mapping[str, str]
    missing: tuple[str, ...]


def score_declared(items: Sequence[Item], traces: Mapping[str, Sequence[JsonObject]], ground: Ground) -> Declared:
    """Score vendor traces by public id over the items of a set. Raises: TrajectoryError for an item that is none."""
    scored: list[ScoredPath] = []
    insufficient: dict[str, str] = {}
    missing: list[str] = []
    for item in items:
        value = item.reference.value if item.reference.kind == "trajectory" else None
        question = read_question(value if isinstance(value, dict) else {}, where=item.id)
        lines = traces.get(question.public_id)
        if lines is None:
            missing.append(question.public_id)
            scored.append(ScoredPath(unknown_record(item, Outcome.NOT_SENT, ()), None, question, ()))
            continue
        try:
            scored.append(_scored(item, question, view_of(item.id, {"query": item.query}), lines, ground))
        except TrajectoryError as error:
            insufficient[question.public_id] = f"{error.code} {error.where}"
            scored.append(ScoredPath(unknown_record(item, Outcome.UNRESOLVED, ()), None, question, tuple(lines)))
    return Declared(tuple(scored), insufficient, tuple(missing))


def traces_by_question(lines: Sequence[JsonObject]) -> dict[str, list[JsonObject]]:
    """Return the entries of each question, in order, of a file with one entry a line."""
    found: dict[str, list[JsonObject]] = {}
    for entry in lines:
        found.setdefault(str(entry.get("public_id")), []).append(entry)
    return found


def _scored(
    item: Item, question: Question, view: PublicView, lines: Sequence[JsonObject], ground: Ground
) -> ScoredPath:
    trace = read_trace(lines, None)
    replay(trace, Tools(ground.contract.corpus, view.actor, view.role, view.as_of, view.budget))
    score = score_path(question, ground.contract.corpus, view.budget, trace.walk(view), ground.rules)
    outcome = Outcome.ANSWERED if trace.answered else Outcome.EMPTY
    # Whatever it calls itself, it was not recorded by our loop.
    return ScoredPath(record_of(item, outcome, VENDOR, score, ()), score, question, tuple(lines))
