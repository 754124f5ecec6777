"""What people said of a judged run, read from a bundle: the auditor and the verifier call the same.

The record of the calibration says which labels were given; all that follows from them is computed again here.

Source: docs/spec/calibration.md sections 7 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from slaverify.canonical import JsonObject, JsonValue, sha256_hex
from slaverify.contract import LoadedContract
from slaverify.custody import LedgerView, RunRecord, terms_of
from slaverify.decision import CalibrationFacts, MetricCalibration, external_calibrations, metric_calibrations
from slaverify.evidence.bundle import Bundle
from slaverify.evidence.problems import bad_record
from slaverify.evidence.reading import SCORES, json_if_there, lines_if_there, run_number
from slaverify.evidence.validity import dispute_rulings, ledger_view
from slaverify.judging.calibration import (
    EXTERNAL,
    Kind,
    Labelled,
    calibration_record,
    external_record,
    label_seed,
    read_back,
    ruled_records,
    units_of,
)

CALIBRATION = "judging/calibration.json"


def labelled_run(bundle: Bundle, contract: LoadedContract, number: int | None = None) -> Labelled | None:
    """Return the run as people read it, or None where nobody did.

    Raises: EvidenceError, JudgeError SLV-J069 for a malformed record, CustodyError for a ledger that does not hold.
    """
    record = json_if_there(bundle, CALIBRATION)
    if record is None or contract.model.judge is None or record.get("design") == EXTERNAL:
        return None
    entry = _entries(bundle, contract, number).last("run_ended")
    if entry is None:
        raise bad_record(CALIBRATION, "run_ended")
    seed = label_seed(contract.digest, run_number(bundle, number), entry.leaf)
    return read_back(contract.model, record, list(lines_if_there(bundle, SCORES)), seed)


def calibrations(
    bundle: Bundle, contract: LoadedContract, number: int | None = None, rulings: Mapping[str, str] | None = None
) -> Mapping[str, MetricCalibration]:
    """Return the calibration of each judged metric; empty where no person read anything.

    `rulings`: what disputes upheld since make of the count by item id; None: what the bundle's own ledger says.
    Raises: as `labelled_run`.
    """
    record = json_if_there(bundle, CALIBRATION)
    if record is not None and record.get("design") == EXTERNAL:
        return external_calibrations(contract.model, record)
    run = labelled_run(bundle, contract, number)
    if run is None or not any(run.book.values()):
        return {}
    upheld = dispute_rulings(bundle, contract, number) if rulings is None else rulings
    return metric_calibrations(run, list(bundle.lines(SCORES)), upheld)


def record_again(bundle: Bundle, contract: LoadedContract, number: int | None = None) -> JsonObject | None:
    """Return the calibration record computed again from its labels, or None without one. Raises: as `labelled_run`."""
    record = json_if_there(bundle, CALIBRATION)
    if record is not None and record.get("design") == EXTERNAL:
        source, units = record.get("source"), units_of(contract.model, lines_if_there(bundle, SCORES))
        if not isinstance(source, dict):
            raise bad_record(CALIBRATION, "source")
        return external_record(contract.model, source, units, date.fromisoformat(str(record.get("closed_on"))))
    run = labelled_run(bundle, contract, number)
    return None if run is None else calibration_record(run)


def unfounded_rulings(bundle: Bundle, contract: LoadedContract, number: int | None = None) -> set[str]:
    """Return the items whose score is a person's without a label that says so, or not what the label says.

    Raises: as `labelled_run`.
    """
    run = labelled_run(bundle, contract, number)
    records = list(lines_if_there(bundle, SCORES))
    if run is None:
        return {str(one.get("item_id")) for one in records if one.get("decided_by") == "person"}
    ruled = ruled_records(run, records)
    wrong = {str(one.get("item_id")) for one, other in zip(records, ruled, strict=True) if one != other}
    labelled = {unit.key.item_id for unit in run.units if unit.kind is Kind.QUEUE and run.book.get(unit.key)}
    people = {str(one.get("item_id")) for one in records if one.get("decided_by") == "person"}
    return wrong | (people - labelled)


def calibration_committed(bundle: Bundle, contract: LoadedContract, number: int | None = None) -> str | None:
    """Return what is wrong with the ledger's entry of the calibration, in one word; None if nothing.

    `absent`: no entry; `digest`: of another record; `order`: after the scores were committed.
    """
    record = _entries(bundle, contract, number)
    entry, scored = record.last("calibration"), record.last("scored")
    if entry is None:
        return "absent"
    if entry.data.get("record_sha256") != sha256_hex(bundle.read(CALIBRATION)):
        return "digest"
    return "order" if scored is not None and scored.seq < entry.seq else None


def calibration_facts(record: JsonObject) -> tuple[CalibrationFacts | None, int]:
    """Return what the limitations say of a calibration, and how many abstentions a person read.

    Of several criteria the one that people and judge agree on least speaks for all.
    """
    rows, subjects = _objects(record.get("rows")), _objects(record.get("subjects"))
    read = sum(row.get("kind") == "abstention" and bool(row.get("labels")) for row in rows)
    labels = sum(count for subject in subjects if isinstance(count := subject.get("labels"), int))
    if not labels:
        return None, read
    worst = min(subjects, key=lambda subject: _informative(subject))
    people, kappa = _object(record.get("people")), _object(worst.get("kappa"))
    facts = CalibrationFacts(
        design=str(record.get("design")),
        labels=labels,
        annotators=min(2, len(_objects(record.get("sheets")))),
        sensitivity=_text(_object(worst.get("sensitivity")).get("value")),
        specificity=_text(_object(worst.get("specificity")).get("value")),
        kappa=_text(kappa.get("value")),
        kappa_low=_text(kappa.get("low")),
        disagreement=_text(people.get("disagreement")),
        equivalent_labels=_text(worst.get("equivalent_labels")),
    )
    return facts, read


def _informative(subject: JsonObject) -> float:
    values = [_text(_object(subject.get(name)).get("value")) for name in ("sensitivity", "specificity")]
    return sum(0.0 if value is None else float(value) for value in values)


def _entries(bundle: Bundle, contract: LoadedContract, number: int | None) -> RunRecord:
    view: LedgerView = ledger_view(bundle, terms_of(contract.tree, contract.digest))
    record = view.run(contract.digest, run_number(bundle, number))
    if record is None:
        raise bad_record(CALIBRATION, "run")
    return record


def _objects(value: JsonValue) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list | tuple) else []


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
