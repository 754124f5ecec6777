"""Labels of people: blind sheets out, filled sheets in, and what is still to be done.

A person gets a role by the order in which the sheets leave: the first one or two read, the next one settles the
differences. What left and what came back is noted in the run's journal by its digest, before anybody sees a result.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from slaverify.audit.judging import is_judged
from slaverify.audit.opening import journal_path, plan_of
from slaverify.audit.people import Reader, named, readers_of, refuse_vendor, store
from slaverify.audit.scoring import SCORES, open_items
from slaverify.audit.session import Session
from slaverify.canonical import JsonObject, loads_canonical, loads_jsonl, sha256_hex
from slaverify.engine import compile_endpoint
from slaverify.errors import NOTHING, JudgeError, Text
from slaverify.evalset import Item
from slaverify.evidence import CALIBRATION
from slaverify.judging import numbered_sentences, question_of, words_of_reference
from slaverify.judging.calibration import (
    ADJUDICATOR,
    ANSWER,
    EXTERNAL,
    FIRST,
    SECOND,
    UNSUPPORTED,
    BlindSheet,
    Label,
    Labelled,
    Selection,
    Sheet,
    Shown,
    UnitKey,
    blind_sheet,
    columns_for,
    complete,
    differs,
    label_seed,
    legible,
    read_sheet,
    refuse_shared,
    select,
    sheet_csv,
    sheet_html,
    sheet_xlsx,
    units_of,
)
from slaverify.judging.calibration import (
    plan_of as label_plan,
)
from slaverify.run import rules_of
from slaverify.run.journal import Journal
from slaverify.run.runner import journal_run
from slaverify.scoring import clean

_UNSEEN = ("Cf", "Cc", "Co", "Cn")
FORMATS = {"csv": sheet_csv, "xlsx": sheet_xlsx, "html": sheet_html}


@dataclass(frozen=True, kw_only=True)
class Labelling:
    """The labels of a run as they stand: the run with its book, the draw, and the people."""

    run: Labelled
    selection: Selection
    readers: tuple[Reader, ...]

    @property
    def rows(self) -> list[UnitKey]:
        """Every unit that somebody has to read."""
        return [unit.key for unit, _ in self.selection.rows if legible(unit)]

    @property
    def differences(self) -> list[UnitKey]:
        """The units on which the two readers said different things."""
        return [key for key in self.rows if differs(self.run.book.get(key, {}))]

    @property
    def complete(self) -> bool:
        """Whether every unit has the label that counts."""
        return complete(self.run.book, self.rows, self.selection.twice)

    def due(self, reader: int) -> list[UnitKey]:
        """Return the units that a reader has to read."""
        if reader == FIRST:
            return self.rows
        return [key for key in self.rows if key in self.selection.twice] if reader == SECOND else self.differences

    def pending(self, reader: int) -> list[UnitKey]:
        """Return the units that a reader still has to read."""
        return [key for key in self.due(reader) if reader not in self.run.book.get(key, {})]


@dataclass(frozen=True, kw_only=True)
class Exported:
    """A sheet that leaves."""

    data: bytes
    reader: Reader
    rows: int


@dataclass(frozen=True, kw_only=True)
class ImportedLabels:
    """What a sheet that came back held: labels, and the names of the rows still open."""

    reader: Reader
    labels: int
    pending: tuple[str, ...]


def labelling(session: Session, number: int) -> Labelling:
    """Return the labels of a run as they stand. Raises: JudgeError SLV-J067 where there is nothing to label yet."""
    judge, folder = session.contract.model.judge, session.run_folder(number)
    if judge is None:
        raise _no_labels(session, number, Text("el contrato no tiene juez", "the contract has no judge"))
    ended = session.record(number).last("run_ended")
    if ended is None or not (folder / SCORES).is_file() or not is_judged(session, number):
        raise _no_labels(
            session,
            number,
            Text("el juez todavía no juzga esta corrida", "the judge has not judged this run yet"),
            Text(f"primero: slaverify judge {folder}", f"first: slaverify judge {folder}"),
        )
    readers = tuple(readers_of(session, number))
    book: dict[UnitKey, dict[int, Label]] = {}
    for reader in readers:
        for key, label in reader.labels.items():
            book.setdefault(key, {})[reader.number] = label
    records = loads_jsonl((folder / SCORES).read_bytes())
    run = Labelled(
        contract=session.contract.model,
        units=units_of(session.contract.model, records),
        seed=label_seed(session.contract.digest, number, ended.leaf),
        book=book,
        sheets=tuple(_sheet(reader) for reader in readers),
        closed_on=session.ports.clock().date(),
    )
    return Labelling(run=run, selection=select(run.units, label_plan(judge.calibration), run.seed), readers=readers)


def export_sheet(
    session: Session,
    number: int,
    name: str,
    organisation: str,
    form: str,
    language: str,
    developed: Sequence[str] = (),
) -> Exported:
    """Return the sheet of a person, who gets a role with the first one. The same person gets the same sheet again.

    `developed`: questions on which the criteria were worded. Raises: JudgeError SLV-J020 (one of them is drawn),
    SLV-J021 (of the vendor), SLV-J066 (no role left), SLV-J067 (nothing to label).
    """
    refuse_vendor(session.contract.model, name, organisation)
    state = labelling(session, number)
    _open(session, number)
    known = named(list(state.readers), name)
    role = known.number if known is not None else _role(session, state)
    sheet = _blind(session, number, state.due(role), role)
    refuse_shared(developed, ((row.key.item_id, row.cells["question"]) for row in sheet.rows))
    if not sheet.rows:
        raise _no_labels(session, number, Text("no hay filas que leer", "there are no rows to read"))
    if known is None:
        known = Reader(number=role, name=name, organisation=organisation, empty_sha256=sheet.digest)
        _note(session, number, "label_sheet", {"reader": role, "rows": len(sheet.rows), "sha256": sheet.digest})
        store(session, number, known)
    data = FORMATS[form](session.contract.model, sheet, language)
    return Exported(data=data, reader=known, rows=len(sheet.rows))


def import_sheet(session: Session, number: int, name: str, data: bytes, filename: str) -> ImportedLabels:
    """Keep what a filled sheet says; a later sheet of the same person replaces an earlier one.

    Raises: ProblemsError (SLV-J061 to J065, with places), JudgeError SLV-J066 (nobody of that name has a sheet).
    """
    state = labelling(session, number)
    _open(session, number)
    reader = named(list(state.readers), name)
    if reader is None:
        names = ", ".join(one.name for one in state.readers)
        raise JudgeError(
            "SLV-J066",
            Text(f"«{name}» no tiene hoja en esta corrida", f"`{name}` has no sheet of this run"),
            why=Text(f"tienen hoja: {names or 'nadie'}", f"with a sheet: {names or 'nobody'}"),
            fix=Text("exporte primero su hoja: slaverify label export", "export their sheet: slaverify label export"),
            where=filename,
        )
    sheet = _blind(session, number, state.due(reader.number), reader.number)
    if sheet.digest != reader.empty_sha256:
        raise JudgeError(
            "SLV-J066",
            Text("esta hoja ya no corresponde: cambió lo que hay que leer", "this sheet is stale: what is due changed"),
            why=Text("se importó otra hoja después de exportar esta", "another sheet was imported after this one left"),
            fix=Text("exporte otra vez la de esta persona", "export that person's sheet again"),
            where=filename,
        )
    others = {
        row.row: other.name
        for other in state.readers
        if other.number != reader.number
        for row in _blind(session, number, state.due(other.number), other.number).rows
    }
    found = read_sheet(session.contract.model, sheet, data, filename, others)
    digest = sha256_hex(data)
    _note(session, number, "label_filled", {"reader": reader.number, "labels": len(found.labels), "sha256": digest})
    kept = replace(reader, filled_sha256=digest, labels=dict(found.labels), comments=dict(found.comments))
    store(session, number, kept)
    return ImportedLabels(reader=kept, labels=len(found.labels), pending=found.pending)


def _role(session: Session, state: Labelling) -> int:
    judge = session.contract.model.judge
    wanted = 1 if judge is None else judge.calibration.annotators
    taken = {reader.number for reader in state.readers}
    free = [role for role in (FIRST, SECOND)[:wanted] if role not in taken]
    if free:
        return free[0]
    names = ", ".join(reader.name for reader in state.readers)
    if ADJUDICATOR in taken or wanted == 1:
        raise _no_role(Text("no queda papel para otra persona", "no role is left for another person"), names)
    if any(state.pending(role) for role in (FIRST, SECOND)):
        why = Text("faltan filas de las dos primeras personas", "rows of the first two people are missing")
        raise _no_role(
            Text("todavía no hay diferencias que resolver", "there are no differences to settle yet"), names, why
        )
    return ADJUDICATOR


def _no_role(what: Text, names: str, why: Text | None = None) -> JudgeError:
    return JudgeError(
        "SLV-J066",
        what,
        why=why or Text(f"leen: {names}", f"readers: {names}"),
        fix=Text("vea quién falta: slaverify label status", "see who is missing: slaverify label status"),
        where="--annotator",
    )


def _blind(session: Session, number: int, keys: Sequence[UnitKey], reader: int) -> BlindSheet:
    with Journal.open(journal_path(session.run_folder(number))) as journal:
        key = bytes.fromhex(journal.nonce(f"judging/labels/{reader}"))
    wanted = {(unit.item_id, unit.repetition) for unit in keys}
    return blind_sheet(session.contract.model, keys, _texts(session, number, wanted), key, reader)


def _texts(session: Session, number: int, wanted: set[tuple[str, int]]) -> dict[tuple[str, int], Shown]:
    opened = open_items(session, number)
    folder, model = session.run_folder(number), session.contract.model
    with Journal.open(journal_path(folder)) as journal:
        run = journal_run(journal, compile_endpoint(model), rules_of(model), plan_of(folder))
    found: dict[tuple[str, int], Shown] = {}
    for exchange in run.exchanges:
        place = (exchange.planned.item_id, exchange.planned.repetition)
        if place in wanted and exchange.planned.side == "current" and exchange.answer is not None:
            raw = exchange.answer.text
            found[place] = _shown(opened[place[0]].item, raw, numbered=UNSUPPORTED in columns_for(model, ANSWER))
    return found


def _shown(item: Item, raw: str, *, numbered: bool) -> Shown:
    text = clean(raw).text
    return Shown(
        question=question_of(item),
        # Whoever names sentences by their number sees the numbers, cut as for the judge.
        answer=numbered_sentences(text) if numbered else text,
        hidden_marks=_hidden(raw),
        # What the judge reads; where an item has no official text, its reference in words.
        official_text=item.official_text if item.official_text is not None else words_of_reference(item),
    )


def _hidden(raw: str) -> str:
    """Return the code points of an answer that nobody sees, each with how often it stands there."""
    unseen = Counter(one for one in raw if unicodedata.category(one) in _UNSEEN and one not in "\t\r\n")
    return ", ".join(f"<U+{ord(one):04X}> ×{count}" for one, count in sorted(unseen.items()))


def _sheet(reader: Reader) -> Sheet:
    return Sheet(reader=reader.number, empty_sha256=reader.empty_sha256, filled_sha256=reader.filled_sha256)


def _open(session: Session, number: int) -> None:
    """Refuse labels once the calibration is closed: nobody labels after seeing a result. Raises: SLV-J067."""
    folder, judge = session.run_folder(number), session.contract.model.judge
    if judge is not None and judge.calibration.design == EXTERNAL:
        raise _no_labels(
            session,
            number,
            Text("el contrato pactó etiquetas de otra corrida", "the contract agreed on labels of another run"),
            Text(f"slaverify calibrate {folder} --external ARCHIVO", f"slaverify calibrate {folder} --external FILE"),
        )
    if (folder / CALIBRATION).is_file() or session.record(number).last("scored") is not None:
        raise _no_labels(
            session,
            number,
            Text("las etiquetas ya se cerraron", "the labels are closed"),
            Text("quien las objeta abre una disputa", "who objects to them opens a dispute"),
        )


def _no_labels(session: Session, number: int, what: Text, fix: Text = NOTHING) -> JudgeError:
    return JudgeError("SLV-J067", what, fix=fix, where=str(session.run_folder(number)))


def _note(session: Session, number: int, kind: str, detail: JsonObject) -> None:
    with Journal.open(journal_path(session.run_folder(number))) as journal:
        journal.note(session.ports.clock(), kind, detail)


def stored_record(folder: Path) -> JsonObject | None:
    """Return the calibration record of a run folder, or None."""
    path = folder / CALIBRATION
    return loads_canonical(path.read_bytes()) if path.is_file() else None
