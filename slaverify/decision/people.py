"""From what people said of a run to the calibration of each metric, in the metric's own sense of success.

1. A metric rests on the judge if what it counts names something that a judge fills in; on one criterion at most.
2. Each cell of the draw is cut to the items of the metric; a label counts as what the same rule of success says of
   the item as people see it.
3. The cells have to hold exactly the judged items that were counted; else nothing is corrected.
The gate of the judge goes before all of it.

Source: docs/spec/decision.md; docs/spec/calibration.md section 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from slaverify.canonical import JsonObject
from slaverify.contract import Contract, matches
from slaverify.decision.calibrated import MetricCalibration
from slaverify.decision.missing import Fate, fate_of
from slaverify.decision.terms import Terms, terms_of
from slaverify.decision.words import Reason
from slaverify.judging.calibration import (
    ANSWER,
    EXTERNAL,
    Kind,
    Labelled,
    Selection,
    Unit,
    as_people_see,
    calibration_record,
    confusion_of,
    final_label,
    plan_of,
    select,
)
from slaverify.statistics import Cell

_Records = Mapping[tuple[str, int], JsonObject]


def metric_calibrations(
    run: Labelled, records: Sequence[JsonObject], rulings: Mapping[str, str] | None = None
) -> dict[str, MetricCalibration]:
    """Return the calibration of each metric that rests on the judge, by metric id; `records` as they were scored.

    `rulings` as in `inputs`: an item of an upheld dispute is none of the metric's. Raises nothing: what cannot be
    calibrated has a guard.
    """
    upheld = {item for item, word in (rulings or {}).items() if word == "upheld"}
    by_key: dict[tuple[str, int], JsonObject] = {}
    for record in records:
        repetition = record.get("repetition")
        counts = record.get("side") == "current" and record.get("item_id") not in upheld
        if counts and isinstance(repetition, int):
            by_key[str(record.get("item_id")), repetition] = record
    selection = select(run.units, plan_of(run.judge.calibration), run.seed)
    gates = _gates(calibration_record(run))
    return {
        terms.id: _calibration(terms, run, selection, by_key, gates)
        for terms in terms_of(run.contract)
        if terms.rests_on_judge
    }


def external_calibrations(contract: Contract, record: JsonObject) -> dict[str, MetricCalibration]:
    """Return the calibration of each metric that rests on the judge, by labels of another run (its record inside).

    Confusion counts speak of *accurate* or *met* alone: a metric that counts anything else has a guard.
    Raises: JudgeError SLV-J069.
    """
    source, gates = record["source"], _gates(record)
    own = source if isinstance(source, dict) else {}
    return {
        terms.id: _carried_over(contract, terms, own, gates) for terms in terms_of(contract) if terms.rests_on_judge
    }


def _carried_over(
    contract: Contract, terms: Terms, source: JsonObject, gates: Mapping[str, str | None]
) -> MetricCalibration:
    criteria = contract.judge is not None and bool(contract.judge.criteria)
    counted = dict(terms.count or {})
    words = [str(word) for word in counted.pop("criteria" if criteria else "verdict", ())]
    subject = words[0].removesuffix(":met") if criteria and words else ANSWER
    plain = [f"{subject}:met"] if criteria else ["accurate"]
    if counted or words != plain or terms.direction != "at_least" or terms.judged_among:
        return MetricCalibration(design=EXTERNAL, guard=Reason.DATA_ABSENT.value)
    guard = gates.get(subject, Reason.JUDGE_UNCALIBRATED.value)
    if guard is not None:
        return MetricCalibration(design=EXTERNAL, guard=guard)
    return MetricCalibration(design=EXTERNAL, confusion=confusion_of(contract, source, subject))


def _gates(record: JsonObject) -> dict[str, str | None]:
    subjects = record["subjects"]
    found: dict[str, str | None] = {}
    for subject in subjects if isinstance(subjects, list) else ():
        gate = subject["gate"] if isinstance(subject, dict) else None
        if isinstance(subject, dict) and isinstance(gate, dict):
            reason = gate.get("reason")
            found[str(subject["subject"] or ANSWER)] = None if reason is None else str(reason)
    return found


def _calibration(
    terms: Terms, run: Labelled, selection: Selection, records: _Records, gates: Mapping[str, str | None]
) -> MetricCalibration:
    design = run.judge.calibration.design
    subject = _subject(terms, run)
    if subject is None or terms.judged_among:
        return MetricCalibration(design=design, guard=Reason.DATA_ABSENT.value)
    guard = gates.get(subject, Reason.JUDGE_UNCALIBRATED.value)
    if guard is not None:
        return MetricCalibration(design=design, guard=guard)
    if design == "random_audit" and subject == ANSWER:
        return MetricCalibration(design=design, pairs=_pairs(terms, run, selection, records))
    cells = tuple(_cells(terms, run, selection, records, subject))
    if sum(cell.size for cell in cells) != _judged(terms, records):
        return MetricCalibration(design=design, guard=Reason.DATA_ABSENT.value)
    return MetricCalibration(design="stratified_audit", cells=cells)


def _subject(terms: Terms, run: Labelled) -> str | None:
    """Return the one thing that the metric rests on; null where it is several."""
    if not run.judge.criteria:
        return ANSWER
    named = {str(word).rpartition(":")[0] for word in (terms.count or {}).get("criteria", ())}
    return named.pop() if len(named) == 1 else None


def _judged(terms: Terms, records: _Records) -> int:
    return sum(_counted(terms, record) for record in records.values())


def _counted(terms: Terms, record: JsonObject) -> bool:
    """Say whether the judge decided a record that the metric counts with a known fate."""
    if record.get("decided_by") != "judge" or not matches(terms.among, record):
        return False
    return fate_of(terms, record) in (Fate.SUCCESS, Fate.FAILURE, Fate.VENDOR)


def _cells(terms: Terms, run: Labelled, selection: Selection, records: _Records, subject: str) -> Iterator[Cell]:
    drawn = {unit.key for unit, _ in selection.rows}
    for members in selection.members:
        own = [unit for unit in members if unit.kind in (Kind.JUDGED, Kind.QUEUE) and unit.key.subject == subject]
        inside = [(unit, record) for unit in own if (record := _record(unit, records)) and _counted(terms, record)]
        for verdict in (False, True, None):
            part = [(unit, record) for unit, record in inside if unit.positive is verdict]
            seen = [
                fate_of(terms, as_people_see(run.contract, record, subject, label)) is Fate.SUCCESS
                for unit, record in part
                if unit.key in drawn and (label := final_label(run, selection, unit.key)) is not None
            ]
            if part:
                yield Cell(len(part), len(seen), sum(seen))


def _pairs(terms: Terms, run: Labelled, selection: Selection, records: _Records) -> tuple[int, int, int, int]:
    """Return the audited items by (people, pipeline): both right, people alone, pipeline alone, both wrong."""
    counts = [0, 0, 0, 0]
    for unit, number in selection.rows:
        record = _record(unit, records)
        if record is None or selection.cells[number].kind is not Kind.SETTLED or not matches(terms.among, record):
            continue
        fate = fate_of(terms, record)
        if fate is Fate.EXCLUDED:
            continue
        label = final_label(run, selection, unit.key)
        seen = record if label is None else as_people_see(run.contract, record, ANSWER, label)
        people = fate_of(terms, seen) is Fate.SUCCESS
        counts[2 * (not people) + (people is not (fate is Fate.SUCCESS))] += 1
    both, people_alone, none, pipeline_alone = counts
    return both, people_alone, pipeline_alone, none


def _record(unit: Unit, records: _Records) -> JsonObject | None:
    return records.get((unit.key.item_id, unit.key.repetition))
