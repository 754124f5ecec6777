"""Calibration by labels of another run of the same judge: confusion counts that are carried over, an assumption.

The labels are those of a closed `random_audit`: drawn simply at random, so that plain counts say what the judge does
with right and wrong answers. The parties pin their digest before the run. The whole record is kept inside the new
one: whoever verifies counts again.

Source: docs/spec/calibration.md section 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue, digest_of, jcs, real9
from slaverify.contract import Contract
from slaverify.contract.model.judge import Judge
from slaverify.errors import JudgeError, Text
from slaverify.judging.calibration.figures import Seen, figures, figures_json, matrix
from slaverify.judging.calibration.gate import gate
from slaverify.judging.calibration.labels import final_of, positive_of
from slaverify.judging.calibration.record import CONFIDENCE, RECORD_TYPE, malformed, read_rows
from slaverify.judging.calibration.units import Kind, Unit, subjects_of
from slaverify.judging.identity import judge_digest
from slaverify.statistics import Confusion, Designed, equivalent_labels, exact_interval, judge_corrected

EXTERNAL = "external"


def external_record(contract: Contract, source: JsonObject, units: Sequence[Unit], closed_on: date) -> JsonObject:
    """Return the calibration record of a run whose contract pins the labels of another one.

    `source` is that run's record. Raises: JudgeError SLV-J074 (not those labels, another judge, too old, not drawn at
    random), SLV-J069 (malformed).
    """
    judge = _judge(contract)
    _check(judge, source, closed_on)
    return {
        "type": RECORD_TYPE,
        "design": EXTERNAL,
        "judge_id": judge_digest(judge).removeprefix("sha256:"),
        "seed": None,
        "closed_on": closed_on.isoformat(),
        "complete": True,
        "sheets": source["sheets"],
        "cells": [],
        "rows": [],
        "subjects": [_subject(contract, source, units, subject) for subject in subjects_of(contract)],
        "people": source["people"],
        "detector": source["detector"],
        "source": source,
    }


def confusion_of(contract: Contract, source: JsonObject, subject: str) -> Confusion:
    """Return how often the judge was right on what people found right and wrong. Raises: JudgeError SLV-J069."""
    cells = _cells(contract, source, subject)
    accepted = sum(cell.right for cell in cells)
    rejected = sum(cell.labels - cell.right for cell in cells)
    return Confusion(
        y0=sum(cell.labels - cell.right for cell in cells if not cell.judged),
        m0=rejected,
        y1=sum(cell.right for cell in cells if cell.judged),
        m1=accepted,
    )


def _judge(contract: Contract) -> Judge:
    if contract.judge is None:
        raise malformed("no judge")
    return contract.judge


def _check(judge: Judge, source: JsonObject, closed_on: date) -> None:
    terms = judge.calibration
    try:
        age = (closed_on - date.fromisoformat(str(source["closed_on"]))).days
    except (KeyError, ValueError) as error:
        raise malformed(repr(error)) from error
    wrong = (
        (source.get("type") != RECORD_TYPE, "no es un registro de calibración", "it is no calibration record"),
        (
            digest_of(jcs(source)) != terms.labels_digest,
            "no son las etiquetas que fija el contrato (labels_digest)",
            "they are not the labels that the contract pins (labels_digest)",
        ),
        (
            source.get("design") != "random_audit" or source.get("complete") is not True,
            "no se sortearon al azar, o quedaron a medias",
            "they were not drawn simply at random, or are not whole",
        ),
        (
            source.get("judge_id") != judge_digest(judge).removeprefix("sha256:"),
            "son de otro juez, o de otra redacción",
            "they are of another judge, or of another wording",
        ),
        (
            not 0 <= age <= terms.max_age_days,
            f"tienen {age} días; el contrato admite {terms.max_age_days}",
            f"they are {age} days old; the contract admits {terms.max_age_days}",
        ),
    )
    for is_wrong, es, en in wrong:
        if is_wrong:
            raise JudgeError(
                "SLV-J074",
                Text("estas etiquetas no sirven para esta corrida", "these labels are not for this run"),
                why=Text(es, en),
                fix=Text("dé el registro que pactaron las partes", "give the record that the parties agreed on"),
                where="--external",
                exit_code=5,
            )


def _cells(contract: Contract, source: JsonObject, subject: str) -> list[Seen]:
    try:
        rows = [row for row in read_rows(contract, source) if row.kind == Kind.JUDGED.value]
    except (KeyError, TypeError, ValueError) as error:
        raise malformed(repr(error)) from error
    found: list[Seen] = []
    for verdict in (False, True):
        own = [row for row in rows if row.key.subject == subject and row.positive is verdict]
        labels = [label for row in own if (label := final_of(row.labels, row.twice)) is not None]
        right = sum(positive_of(contract, subject, label) for label in labels)
        if labels:
            found.append(Seen(verdict, len(labels), len(labels), right))
    return found


def _subject(contract: Contract, source: JsonObject, units: Sequence[Unit], subject: str) -> JsonObject:
    judge = _judge(contract)
    cells = _cells(contract, source, subject)
    counts = confusion_of(contract, source, subject)
    found = {
        **figures(cells, CONFIDENCE),
        "sensitivity": _exact(counts.y1, counts.m1),
        "specificity": _exact(counts.y0, counts.m0),
    }
    own = [unit for unit in units if unit.key.subject == subject and unit.kind is Kind.JUDGED]
    accepted = sum(unit.positive is True for unit in own)
    corrected = judge_corrected(accepted, len(own), counts, CONFIDENCE) if own else None
    # The rate of this run, not that of the labels' run.
    found["corrected"] = (
        Designed(None, None, None, reason="no_items")
        if corrected is None
        else Designed(corrected.theta, corrected.low, corrected.high, reason=corrected.guard)
    )
    strata: list[JsonValue] = []
    return {
        "subject": subject or None,
        "judged": len(own),
        "labels": counts.m0 + counts.m1,
        "uncorrected": real9(Fraction(accepted, len(own))) if own else None,
        "matrix": matrix(cells),
        **figures_json(found),
        "equivalent_labels": _worth(counts, len(own), found["corrected"].value),
        "gate": gate(judge.calibration, cells, found, complete=True).to_json(),
        "strata": strata,
    }


def _exact(right: int, of: int) -> Designed:
    if of == 0:
        return Designed(None, None, None, reason="one_class")
    limits = exact_interval(right, of, CONFIDENCE)
    return Designed(right / of, limits.low, limits.high, float(of))


def _worth(counts: Confusion, n: int, rate: float | None) -> str | None:
    if n == 0 or rate is None or counts.m0 == 0 or counts.m1 == 0:
        return None
    worth = equivalent_labels(n, counts.y1 / counts.m1, counts.y0 / counts.m0, rate, counts.m0, counts.m1)
    return None if worth is None else real9(worth)
