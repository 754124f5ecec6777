"""The calibration record, type `slaverify/calibration/1`: what was drawn, what people said, what follows from it.

It holds no text of a question or an answer. From the ledger, the score records and its labels everything else in it
is computed again by the same function; that people said so is attested.

Source: docs/spec/calibration.md section 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue, real9
from slaverify.contract import Contract
from slaverify.contract.model.judge import Calibration, Judge
from slaverify.errors import JudgeError, Text
from slaverify.judging.calibration.figures import Seen, figure_json, figures, figures_json, matrix
from slaverify.judging.calibration.gate import gate
from slaverify.judging.calibration.labels import (
    Book,
    Label,
    complete,
    differs,
    final_of,
    label_json,
    positive_of,
    read_label,
)
from slaverify.judging.calibration.selection import Plan, Selection, legible, select
from slaverify.judging.calibration.units import ANSWER, Kind, Unit, UnitKey, subjects_of, units_of
from slaverify.judging.identity import judge_digest
from slaverify.statistics import cohen_kappa, equivalent_labels, gwet_ac1

RECORD_TYPE = "slaverify/calibration/1"
CONFIDENCE = 0.95
"""Two-sided confidence of every limit in the record (convention)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One person's sheet: reader 1, 2 or 3, digests (hex) of the empty sheet and of the file that came back."""

    reader: int
    empty_sha256: str
    filled_sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A run as it was given to people: contract, units, seed, their labels and their sheets."""

    contract: Contract
    units: tuple[Unit, ...]
    seed: bytes
    book: Book
    sheets: tuple[Sheet, ...]
    closed_on: date

    @property
    def judge(self) -> Judge:
        """The judge. Raises: ValueError for a contract without one."""
        if self.contract.judge is None:
            raise ValueError("no judge")
        return self.contract.judge


def plan_of(terms: Calibration) -> Plan:
    """Return what the contract asks of the labels."""
    return Plan(
        design=terms.design,
        min_labels=terms.min_labels,
        min_per_class=terms.min_per_class,
        annotators=terms.annotators,
    )


def calibration_record(run: Labelled) -> JsonObject:
    """Return the record of a run. The same inputs give the same bytes."""
    selection = select(run.units, plan_of(run.judge.calibration), run.seed)
    rows = [unit.key for unit, _ in selection.rows if legible(unit)]
    return {
        "type": RECORD_TYPE,
        "design": run.judge.calibration.design,
        "judge_id": judge_digest(run.judge).removeprefix("sha256:"),
        "seed": run.seed.hex(),
        "closed_on": run.closed_on.isoformat(),
        "complete": complete(run.book, rows, selection.twice),
        "sheets": [_sheet(sheet, run.book) for sheet in run.sheets],
        "cells": [_cell(selection, number) for number in range(len(selection.cells))],
        "rows": [_row(run, selection, unit, cell) for unit, cell in selection.rows],
        "subjects": [_subject(run, selection, subject) for subject in subjects_of(run.contract)],
        "people": _people(run, selection),
        "detector": _detector(run, selection),
    }


def read_back(contract: Contract, record: JsonObject, records: Sequence[JsonObject], seed: bytes) -> Labelled:
    """Return the run behind a stored record: its labels, over the units that the score records give.

    Raises: JudgeError SLV-J069 for a record that is not of this form.
    """
    try:
        rows = read_rows(contract, record)
        book = {row.key: row.labels for row in rows}
        ruled = frozenset(row.key for row in rows if row.kind == Kind.QUEUE.value)
        sheets = tuple(_read_sheet(tree) for tree in _objects(record["sheets"]))
        closed_on = date.fromisoformat(str(record["closed_on"]))
    except (KeyError, TypeError, ValueError) as error:
        raise malformed(repr(error)) from error
    units = units_of(contract, records, ruled)
    return Labelled(contract=contract, units=units, seed=seed, book=book, sheets=sheets, closed_on=closed_on)


def malformed(detail: str) -> JudgeError:
    """Return the error of a record that cannot be read."""
    return JudgeError(
        "SLV-J069",
        Text(f"registro de calibración mal formado: {detail}", f"malformed calibration record: {detail}"),
        where="judging/calibration.json",
        exit_code=4,
    )


def seen_of(
    run: Labelled, selection: Selection, wanted: Sequence[Unit] | None = None, *, kinds: frozenset[Kind], subject: str
) -> list[Seen]:
    """Return the cells of a subject as people saw them, one per cell of the draw and verdict of the judge.

    `wanted` keeps the units of a part of the run (a metric's, a stratum's); null: all of them.
    """
    kept = None if wanted is None else {unit.key for unit in wanted}
    drawn = {unit.key for unit, _ in selection.rows}
    found: list[Seen] = []
    for members in selection.members:
        own = [
            unit
            for unit in members
            if unit.kind in kinds and unit.key.subject == subject and (kept is None or unit.key in kept)
        ]
        for verdict in (False, True):
            part = [unit for unit in own if unit.positive is verdict]
            labels = [final_label(run, selection, unit.key) for unit in part if unit.key in drawn]
            given = [label for label in labels if label is not None]
            right = sum(positive_of(run.contract, subject, label) for label in given)
            if part:
                found.append(Seen(verdict, len(part), len(given), right))
    return found


def final_label(run: Labelled, selection: Selection, key: UnitKey) -> Label | None:
    """Return the label of a unit that counts, null without one."""
    return final_of(run.book.get(key, {}), key in selection.twice)


def _subject(run: Labelled, selection: Selection, subject: str) -> JsonObject:
    terms = run.judge.calibration
    judged = frozenset({Kind.JUDGED})
    cells = seen_of(run, selection, kinds=judged, subject=subject)
    found = figures(cells, CONFIDENCE)
    drawn = [unit for unit, _ in selection.rows if unit.key.subject == subject and unit.kind is Kind.JUDGED]
    whole = complete(run.book, [unit.key for unit in drawn], selection.twice)
    own = [unit for unit in run.units if unit.key.subject == subject and unit.kind is Kind.JUDGED]
    strata: list[JsonValue] = []
    for stratum in sorted({unit.stratum for unit in own}):
        part = seen_of(run, selection, [u for u in own if u.stratum == stratum], kinds=judged, subject=subject)
        strata.append({"stratum": stratum, "matrix": matrix(part), **figures_json(figures(part, CONFIDENCE))})
    accepted = sum(unit.positive is True for unit in own)
    return {
        "subject": subject or None,
        "judged": len(own),
        "labels": sum(cell.labels for cell in cells),
        # What the judge alone would say, beside what follows once its error is measured.
        "uncorrected": real9(Fraction(accepted, len(own))) if own else None,
        "matrix": matrix(cells),
        **figures_json(found),
        "equivalent_labels": _worth(cells, found, len(own)),
        "gate": gate(terms, cells, found, complete=whole).to_json(),
        "strata": strata,
    }


def _worth(cells: Sequence[Seen], found: Mapping[str, object], n: int) -> str | None:
    values = [getattr(found[name], "value", None) for name in ("sensitivity", "specificity", "corrected")]
    right = sum(cell.right for cell in cells)
    wrong = sum(cell.labels - cell.right for cell in cells)
    if n == 0 or not right or not wrong or any(value is None for value in values):
        return None
    sensitivity, specificity, rate = (float(str(value)) for value in values)
    worth = equivalent_labels(n, sensitivity, specificity, rate, wrong, right)
    return None if worth is None else real9(worth)


def _people(run: Labelled, selection: Selection) -> JsonObject:
    """Return how far the two people agree, before anybody adjudicated: the ceiling of what a judge can reach."""
    read = [(key, run.book.get(key, {})) for key in sorted(selection.twice)]
    pairs = [(key, labels[1], labels[2]) for key, labels in read if 1 in labels and 2 in labels]
    if not pairs:
        return {"rows": 0, "differences": 0, "adjudicated": 0, "disagreement": None, "kappa": None, "ac1": None}
    said = [
        (positive_of(run.contract, key.subject, one), positive_of(run.contract, key.subject, two))
        for key, one, two in pairs
    ]
    table = [[sum(pair == (a, b) for pair in said) for b in (False, True)] for a in (False, True)]
    kappa, ac1 = cohen_kappa(table, CONFIDENCE), gwet_ac1([[a for a, _ in said], [b for _, b in said]], 2)
    apart = [labels for _, labels in read if differs(labels)]
    return {
        "rows": len(pairs),
        "differences": len(apart),
        "adjudicated": sum(3 in labels for labels in apart),
        "disagreement": real9(Fraction(len(apart), len(pairs))),
        "kappa": {
            "value": _real(kappa.kappa),
            "low": _real(kappa.low),
            "high": _real(kappa.high),
            "reason": kappa.reason,
        },
        "ac1": {"value": _real(ac1.ac1), "se": _real(ac1.se), "reason": ac1.reason},
    }


def _detector(run: Labelled, selection: Selection) -> JsonObject:
    """Return recall and precision of the detector of abstentions over the answers that joined the sheet."""
    first = subjects_of(run.contract)[0]
    drawn = {unit.key for unit, _ in selection.rows}
    cells: list[Seen] = []
    for members in selection.members:
        own = [unit for unit in members if legible(unit) and unit.key.subject in (first, ANSWER)]
        for said in (False, True):
            part = [unit for unit in own if (unit.kind is Kind.ABSTENTION) is said]
            labels = [final_label(run, selection, unit.key) for unit in part if unit.key in drawn]
            given = [label for label in labels if label is not None]
            right = sum(label.answer_class == "abstention" for label in given)
            # A cell that nobody read says nothing of the detector either way.
            if part and given:
                cells.append(Seen(said, len(part), len(given), right))
    found = figures(cells, CONFIDENCE)
    return {
        "labels": sum(cell.labels for cell in cells),
        "matrix": matrix(cells),
        "recall": figure_json(found["sensitivity"]),
        "precision": figure_json(found["precision"]),
    }


def _sheet(sheet: Sheet, book: Book) -> JsonObject:
    return {
        "reader": sheet.reader,
        "labels": sum(sheet.reader in labels for labels in book.values()),
        "empty_sha256": sheet.empty_sha256,
        "filled_sha256": sheet.filled_sha256,
    }


def _cell(selection: Selection, number: int) -> JsonObject:
    cell = selection.cells[number]
    return {
        "cell": number,
        "subject": cell.subject or None,
        "kind": cell.kind.value,
        "positive": cell.positive,
        "strata": list(cell.strata),
        "flagged": cell.flagged,
        "size": cell.size,
        "drawn": cell.drawn,
    }


def _row(run: Labelled, selection: Selection, unit: Unit, number: int) -> JsonObject:
    cell = selection.cells[number]
    labels = run.book.get(unit.key, {})
    return {
        "item_id": unit.key.item_id,
        "repetition": unit.key.repetition,
        "subject": unit.key.subject or None,
        "kind": unit.kind.value,
        "positive": unit.positive,
        "cell": number,
        "probability": real9(Fraction(cell.drawn, cell.size)),
        "twice": unit.key in selection.twice,
        "labels": [label_json(reader, labels[reader]) for reader in sorted(labels)],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRow:
    """One row of a stored record."""

    key: UnitKey
    kind: str
    positive: bool | None
    twice: bool
    labels: dict[int, Label]


def read_rows(contract: Contract, record: JsonObject) -> list[StoredRow]:
    """Read the rows of a record strictly. Raises: KeyError, TypeError, ValueError."""
    found: list[StoredRow] = []
    for row in _objects(record["rows"]):
        repetition, subject, positive = row["repetition"], row["subject"], row["positive"]
        if isinstance(repetition, bool) or not isinstance(repetition, int):
            raise TypeError("repetition")
        if positive is not None and not isinstance(positive, bool):
            raise TypeError("positive")
        key = UnitKey(str(row["item_id"]), repetition, "" if subject is None else str(subject))
        labels = dict(read_label(contract, key.subject, tree) for tree in _objects(row["labels"]))
        found.append(
            StoredRow(key=key, kind=str(row["kind"]), positive=positive, twice=row["twice"] is True, labels=labels)
        )
    return found


def _read_sheet(tree: JsonObject) -> Sheet:
    reader, filled = tree["reader"], tree["filled_sha256"]
    if isinstance(reader, bool) or not isinstance(reader, int):
        raise TypeError("reader")
    return Sheet(
        reader=reader, empty_sha256=str(tree["empty_sha256"]), filled_sha256=None if filled is None else str(filled)
    )


def _objects(value: JsonValue) -> list[JsonObject]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, dict) for one in value):
        raise TypeError("list of objects expected")
    return [one for one in value if isinstance(one, dict)]


def _real(value: float | None) -> str | None:
    return None if value is None else real9(value)
