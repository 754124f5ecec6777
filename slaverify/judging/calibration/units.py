"""What people may be asked to read of a run: one unit per answer, or per answer and criterion, by what code made of it.

Source: docs/spec/calibration.md section 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import Contract
from slaverify.judging.calibration.asked import columns_for
from slaverify.judging.readings import HUMAN_QUEUE, SPLIT

ANSWER = ""
"""The subject of a unit that is a whole answer; other subjects are ids of criteria."""
_PLANTS = "probe"
_WATCHED = (SPLIT, HUMAN_QUEUE)
_SUSPECT = frozenset({"pattern", "manipulation", "identity"})


class Kind(StrEnum):
    """How code left a unit. `judged` by the judge; `queue` the judge gave no result; the other three without a judge:
    `abstention`, `undetermined` (an answer or an abstention?), `settled` by a rule; `silent`: nothing to read."""

    JUDGED = "judged"
    QUEUE = "queue"
    ABSTENTION = "abstention"
    UNDETERMINED = "undetermined"
    SETTLED = "settled"
    SILENT = "silent"


@dataclass(frozen=True, slots=True, order=True)
class UnitKey:
    """Which unit: repetition from 0, subject `""` or the id of a criterion."""

    item_id: str
    repetition: int
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One unit. `positive`: accurate, or the criterion met, in the pipeline's view; null where it has none."""

    key: UnitKey
    kind: Kind
    stratum: str
    positive: bool | None = None
    flagged: bool = False


def subjects_of(contract: Contract) -> tuple[str, ...]:
    """Return what is labelled apart: each criterion, or the answer as a whole."""
    judge = contract.judge
    if judge is None:
        return ()
    return tuple(criterion.id for criterion in judge.criteria if criterion.check is None) or (ANSWER,)


def units_of(
    contract: Contract, records: Iterable[JsonObject], ruled: frozenset[UnitKey] = frozenset()
) -> tuple[Unit, ...]:
    """Return the units of a run from its score records (`slaverify/score/1`), sorted by key.

    `ruled` names the units that the judge left open and a person has settled since: they are of the queue whatever
    the record says now. Raises nothing.
    """
    subjects, asked = subjects_of(contract), columns_for(contract, ANSWER)
    found: list[Unit] = []
    for record in records:
        if record.get("side") != "current" or record.get("stratum") == _PLANTS:
            continue
        found.extend(_units(subjects, record, asked))
    queued = [replace(unit, kind=Kind.QUEUE, positive=None) if unit.key in ruled else unit for unit in found]
    return tuple(sorted(queued, key=lambda unit: unit.key))


def _units(subjects: Sequence[str], record: JsonObject, asked: tuple[str, ...]) -> Iterable[Unit]:
    item, repetition = str(record.get("item_id")), record.get("repetition")
    number = repetition if isinstance(repetition, int) else 0
    flagged = _suspect(record.get("events")) or _flagged(record, *_WATCHED)
    stratum = str(record.get("stratum"))
    if record.get("class") is None:
        yield Unit(key=UnitKey(item, number, ANSWER), kind=Kind.SILENT, stratum=stratum, positive=False)
        return
    for subject in subjects:
        kind, positive = _criterion(record, subject) if subject else _answer(record, asked)
        if kind is not None:
            yield Unit(
                key=UnitKey(item, number, subject), kind=kind, stratum=stratum, positive=positive, flagged=flagged
            )
    if subjects != (ANSWER,) and record.get("class") in ("abstention", "undetermined"):
        # Where people mark criteria, the detector of abstentions gets a row of its own.
        kind = Kind.ABSTENTION if record.get("class") == "abstention" else Kind.UNDETERMINED
        yield Unit(key=UnitKey(item, number, ANSWER), kind=kind, stratum=stratum)


def _answer(record: JsonObject, asked: tuple[str, ...]) -> tuple[Kind | None, bool | None]:
    verdict, decided_by = record.get("verdict"), record.get("decided_by")
    accurate = None if verdict is None else verdict == "accurate" or _as_asked(record, asked)
    if decided_by == "judge":
        return Kind.JUDGED, accurate
    if decided_by == "person":
        return Kind.QUEUE, None
    if record.get("class") == "abstention":
        return Kind.ABSTENTION, accurate
    if verdict is None and not _flagged(record, "open"):
        return Kind.QUEUE, None
    if record.get("class") == "undetermined":
        return Kind.UNDETERMINED, accurate
    return Kind.SETTLED, bool(accurate)


def _as_asked(record: JsonObject, asked: tuple[str, ...]) -> bool:
    """Say whether the one half that is asked of the judge is right: the other is code's, and no error of the judge."""
    best = {"correctness": "correct", "grounding": "grounded"}
    return len(asked) == 1 and asked[0] in best and record.get(asked[0]) == best[asked[0]]


def _criterion(record: JsonObject, subject: str) -> tuple[Kind | None, bool | None]:
    criteria = record.get("criteria")
    word = criteria.get(subject) if isinstance(criteria, dict) else None
    if word == "unresolved":
        return Kind.QUEUE, None
    if word not in ("met", "not_met"):
        return None, None
    return Kind.JUDGED, word == "met"


def _flagged(record: JsonObject, *words: str) -> bool:
    flags = record.get("flags")
    return isinstance(flags, list | tuple) and any(word in flags for word in words)


def _suspect(events: JsonValue) -> bool:
    rows = events if isinstance(events, list | tuple) else ()
    return any(isinstance(event, dict) and event.get("level") in _SUSPECT for event in rows)
