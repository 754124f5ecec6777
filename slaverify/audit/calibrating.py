"""Close the labels of a run: the calibration record, the queue that people settled, the entry in the ledger.

Order: the record first, whose labels say what was of the queue; then the scores; then the ledger. A kill between any
two is taken up where it stood.
"""

from __future__ import annotations

import shlex

from slaverify.audit.judging import is_judged
from slaverify.audit.labelling import labelling, stored_record
from slaverify.audit.scoring import SCORES
from slaverify.audit.session import Session, put, put_json
from slaverify.canonical import JsonObject, jcs, jsonl, loads_jsonl, sha256_hex
from slaverify.custody.append import record_calibration
from slaverify.errors import JudgeError, Text
from slaverify.evidence import CALIBRATION
from slaverify.judging.calibration import (
    EXTERNAL,
    Kind,
    Labelled,
    calibration_record,
    external_record,
    label_seed,
    read_back,
    ruled_records,
)


def calibrate_run(
    session: Session, number: int, *, close: bool = False, external: JsonObject | None = None
) -> JsonObject | None:
    """Close the labels and return the calibration record; None where the judge left nothing for people to read.

    `close` goes on with the labels that there are; without it a row without its label waits. `external`: the record
    whose labels the contract pins, under that design.
    Raises: JudgeError SLV-J068 (labels pending: exit 6, with the line to type), SLV-J070 (the record is not the one
    of the ledger: exit 5).
    """
    folder = session.run_folder(number)
    if session.contract.model.judge is None:
        return None
    stored = stored_record(folder)
    if stored is None:
        state = labelling(session, number)
        judge = state.run.judge
        if judge.calibration.design == EXTERNAL:
            stored = _carried_over(session, number, state.run, external, close=close)
            if stored is None:
                return None
            put_json(folder / CALIBRATION, stored)
            return _committed(session, number, stored)
        if not any(unit.kind in (Kind.JUDGED, Kind.QUEUE) for unit, _ in state.selection.rows):
            return None
        if not state.complete and not close:
            if judge.on_uncalibrated == "declared_limitation" and not state.readers:
                # Both parties accepted an uncalibrated judge in words, and nobody has begun to label.
                return None
            raise _pending(session, number)
        stored = calibration_record(state.run)
        put_json(folder / CALIBRATION, stored)
    entry = session.record(number).last("calibration")
    if entry is not None:
        _check(session, number, str(entry.data["record_sha256"]), stored)
        return stored
    if session.record(number).last("scored") is None and stored.get("design") != EXTERNAL:
        records = loads_jsonl((folder / SCORES).read_bytes())
        put(folder / SCORES, jsonl(ruled_records(_again(session, number, stored), records)))
    return _committed(session, number, stored)


def _carried_over(
    session: Session, number: int, run: Labelled, external: JsonObject | None, *, close: bool
) -> JsonObject | None:
    if external is not None:
        return external_record(session.contract.model, external, run.units, run.closed_on)
    if close or run.judge.on_uncalibrated == "declared_limitation":
        return None
    raise _pending(session, number)


def _committed(session: Session, number: int, stored: JsonObject) -> JsonObject:
    subjects = stored["subjects"]
    labels = sum(
        count
        for subject in (subjects if isinstance(subjects, list) else ())
        if isinstance(subject, dict) and isinstance(count := subject["labels"], int)
    )
    record_calibration(
        session.ledger,
        session.auditor,
        session.contract.digest,
        number,
        record_sha256=sha256_hex(jcs(stored)),
        judge_id=str(stored["judge_id"]),
        labels=labels,
    )
    return stored


def labels_due(session: Session, number: int) -> bool:
    """Whether the run waits for people: it was judged, something is to be read, and the labels are not closed."""
    folder = session.run_folder(number)
    if session.contract.model.judge is None or not is_judged(session, number) or (folder / CALIBRATION).is_file():
        return False
    if session.record(number).last("scored") is not None:
        return False
    state = labelling(session, number)
    if state.run.judge.calibration.design == EXTERNAL:
        return False
    judged = any(unit.kind in (Kind.JUDGED, Kind.QUEUE) for unit, _ in state.selection.rows)
    return judged and not state.complete


def _again(session: Session, number: int, stored: JsonObject) -> Labelled:
    ended = session.record(number).last("run_ended")
    assert ended is not None  # noqa: S101 - labels exist only of a run that ended
    folder = session.run_folder(number)
    return read_back(
        session.contract.model,
        stored,
        loads_jsonl((folder / SCORES).read_bytes()),
        label_seed(session.contract.digest, number, ended.leaf),
    )


def _check(session: Session, number: int, recorded: str, stored: JsonObject) -> None:
    if sha256_hex(jcs(stored)) != recorded:
        raise JudgeError(
            "SLV-J070",
            Text("el registro de calibración no es el del libro", "the calibration record is not the ledger's"),
            why=Text(f"el libro dice {recorded}", f"the ledger says {recorded}"),
            fix=Text("reponga el archivo original", "put the original file back"),
            where=str(session.run_folder(number) / CALIBRATION),
            exit_code=5,
        )


def _pending(session: Session, number: int) -> JudgeError:
    folder = shlex.quote(str(session.run_folder(number)))
    judge = session.contract.model.judge
    if judge is not None and judge.calibration.design == EXTERNAL:
        line = f"slaverify calibrate {folder} --external"
        return JudgeError(
            "SLV-J068",
            Text("faltan las etiquetas que fija el contrato", "the labels that the contract pins are pending"),
            fix=Text(f"{line} ARCHIVO", f"{line} FILE"),
            where=str(session.run_folder(number)),
            exit_code=6,
        )
    return JudgeError(
        "SLV-J068",
        Text("faltan etiquetas de personas", "labels of people are pending"),
        why=Text(
            "un juez decide sólo con su error medido; sin etiquetas sus métricas quedan sin medir",
            "a judge decides only with its error measured; without labels its metrics are not measured",
        ),
        fix=Text(
            f"vea qué falta: slaverify label status {folder}; para seguir sin ellas: "
            f"slaverify calibrate {folder} --close",
            f"see what is missing: slaverify label status {folder}; to go on without: "
            f"slaverify calibrate {folder} --close",
        ),
        where=str(session.run_folder(number)),
        exit_code=6,
    )
