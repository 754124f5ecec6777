"""What a label makes of a score record: the item as people see it, and the queue that people settle.

Source: docs/spec/calibration.md section 8; docs/spec/judging.md (human queue).
"""

from __future__ import annotations

from collections.abc import Sequence

from slaverify.canonical import JsonObject, JsonValue, real9
from slaverify.contract import Contract
from slaverify.judging.calibration.labels import Label, verdict_of
from slaverify.judging.calibration.record import Labelled, final_label, plan_of
from slaverify.judging.calibration.selection import select
from slaverify.judging.calibration.units import ANSWER, Kind, UnitKey


def as_people_see(contract: Contract, record: JsonObject, subject: str, label: Label) -> dict[str, JsonValue]:
    """Return a score record with what people found in the place of what the judge found."""
    if subject:
        criteria = record.get("criteria")
        known = dict(criteria) if isinstance(criteria, dict) else {}
        return {**record, "criteria": {**known, subject: label.value("met")}}
    abstains, verdict = label.answer_class == "abstention", verdict_of(contract, label, record)
    silent = label.answer_class != "answer"
    return {
        **record,
        "class": label.answer_class,
        # The judge is asked of answers to what has an answer: not to give one is never necessary there.
        "abstention": "unnecessary" if abstains else None,
        "correctness": "no_answer" if silent else label.value("correctness") or record.get("correctness"),
        "grounding": "not_applicable" if silent else label.value("grounding") or record.get("grounding"),
        "verdict": verdict,
        "value": _value(contract, record, verdict),
        "bounds": None,
    }


def _value(contract: Contract, record: JsonObject, verdict: str | None) -> JsonValue:
    """Return the score as one person gives it under `facts@1`, all or nothing; under another rubric as it was."""
    if contract.judge is None or contract.judge.facts is None or verdict is None:
        return record.get("value")
    return real9(verdict == "accurate")


def ruled_records(run: Labelled, records: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the score records with the queue settled by people; every other record as it was.

    A criterion that a person settled leaves the record `judge`'s where the judge decided another one of it.
    """
    selection = select(run.units, plan_of(run.judge.calibration), run.seed)
    rulings: dict[tuple[str, int], list[tuple[UnitKey, Label]]] = {}
    for unit, _ in selection.rows:
        label = final_label(run, selection, unit.key)
        if unit.kind is Kind.QUEUE and label is not None:
            rulings.setdefault((unit.key.item_id, unit.key.repetition), []).append((unit.key, label))
    found: list[JsonObject] = []
    for record in records:
        repetition = record.get("repetition")
        place = (str(record.get("item_id")), repetition if isinstance(repetition, int) else -1)
        ruled: JsonObject = record
        if record.get("side") == "current":
            for key, label in rulings.get(place, ()):
                ruled = _settled(run.contract, ruled, key, label)
        found.append(ruled)
    return found


def _settled(contract: Contract, record: JsonObject, key: UnitKey, label: Label) -> JsonObject:
    seen = as_people_see(contract, record, key.subject, label)
    if key.subject == ANSWER:
        # The class is the detector's word and stays: people's reading of it is in the calibration record.
        return {**seen, "class": record.get("class"), "abstention": record.get("abstention"), "decided_by": "person"}
    return {**seen, "decided_by": record.get("decided_by") or "person"}
