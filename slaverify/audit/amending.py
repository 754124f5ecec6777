"""Amended reports: a further complete document, with its own number, that names what it replaces and what changed.

The first report, its evidence and its line in the history stay as they are. The evidence of an amendment lies in
`<run>/amended/<k>/<run>/`: the same tree with the ledger of now, the disputes, and the decision counted again.

Order: 1. the PDF is a report that this ledger says was issued; 2. count again; 3. a changed state needs a ground in the
ledger (SLV-R030); 4. copy the evidence, ledger and disputes of now beside it; 5. close, sign, issue, register.
Each step looks for its own files: a second call goes on.

Source: docs/spec/report.md (amended reports); ISO/IEC 17025:2017 7.8.8.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from slaverify.audit.closing import close_run_evidence
from slaverify.audit.deciding import DECISION, copy_custody
from slaverify.audit.disputes import Amended, amended
from slaverify.audit.opening import open_blind_entries
from slaverify.audit.reporting import Issued, issue_reports
from slaverify.audit.session import Session, put, put_json
from slaverify.audit.witnessing import await_witnesses
from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, loads_canonical
from slaverify.custody.checkpoints import covering
from slaverify.decision import limitations
from slaverify.errors import ReportError, Text
from slaverify.evidence import AMENDMENT, AMENDMENT_TYPE, TOKEN, limitation_facts
from slaverify.evidence.layout import ENVELOPE_FILES, FOLDERS, SUMS
from slaverify.evidence.pades import pdf_facts
from slaverify.evidence.read import open_folder
from slaverify.report.history import ground, no_ground

MAX_REASON = 500
FOLDER = "amended"
_DONE = "done"
_FIGURES = ("state", "reason", "n", "failures", "failures_vendor", "unresolved", "open")


def amend_report(session: Session, number: int, pdf: bytes, reason: str) -> list[Issued]:
    """Issue an amended report of run `number` that replaces the report `pdf`.

    Raises: ReportError SLV-R037 (not a report of this run, or no reason), SLV-R030 (a state without a ground),
    ApplicationError SLV-A028 (a dispute is open, exit 6), and what closing and issuing raise.
    """
    if not reason.strip() or len(reason) > MAX_REASON:
        raise _unfit(Text(f"el motivo tiene de 1 a {MAX_REASON} letras", f"a reason has 1 to {MAX_REASON} characters"))
    old, digest = _published(session, number, pdf)
    counted = amended(session, number)
    changes = list(_changes(old, counted.decision))
    moved = any(change["field"] == "state" for change in changes)
    view = session.ledger.refresh()
    if moved and ground(view, session.contract.digest, number, digest) is None:
        raise no_ground(str(old["report_id"]))
    index, place = _place(session.run_folder(number))
    later = _copied(session, number, place)
    tree: JsonObject = {
        "type": AMENDMENT_TYPE,
        "number": index,
        "report_id": old["report_id"],
        "signed_digest": digest,
        "reason": reason,
        "changes": [*changes],
    }
    if not (later.run_folder(number) / TOKEN).is_file():
        _write(later, number, counted, tree)
        close_run_evidence(later, number)
    issued = issue_reports(later, number)
    put(place / _DONE, b"")
    return issued


def _published(session: Session, number: int, pdf: bytes) -> tuple[JsonObject, str]:
    """Return report.json and the signed digest of a report that the ledger says was issued for this run."""
    facts = pdf_facts(pdf, None)
    model = facts.attachment("report.json")
    issued = {str(entry.data.get("signed_digest")) for entry in session.record(number).all("report_issued")}
    if model is None or facts.signed_digest not in issued:
        raise _unfit(Text("no es un informe emitido de esta corrida", "not an issued report of this run"))
    try:
        return loads_canonical(model, max_depth=64), facts.signed_digest
    except StrictJsonError as error:
        raise _unfit(Text("report.json ilegible", "report.json is not readable")) from error


def _changes(old: JsonObject, new: JsonObject) -> Iterator[dict[str, JsonValue]]:
    """Yield what differs between the decision of a report and another: the whole, then metric by metric."""
    before = old["decision"] if isinstance(old["decision"], Mapping) else {}
    if before.get("state") != new["state"]:
        yield {"field": "state", "old": before.get("state"), "new": new["state"]}
    rows = {str(row["id"]): row for row in _rows(before)}
    for row in _rows(new):
        name = str(row["id"])
        for key in _FIGURES:
            was = rows.get(name, {}).get(key)
            if was != row.get(key):
                yield {"field": f"metrics.{name}.{key}", "old": was, "new": row.get(key)}


def _rows(decision: JsonObject) -> list[JsonObject]:
    rows = decision.get("metrics")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _place(folder: Path) -> tuple[int, Path]:
    """Return the number and the folder of the next amendment, or of one that was begun and not ended."""
    index = 1
    while (folder / FOLDER / str(index) / _DONE).is_file():
        index += 1
    return index, folder / FOLDER / str(index)


def _copied(session: Session, number: int, place: Path) -> Session:
    """Return a session whose run folder is the copy, over the ledger as it stands now (or stood when it was begun)."""
    source = session.run_folder(number)
    later = replace(session, out=place, history_root=session.history_root or session.out)
    target = later.run_folder(number)
    ledger = target / "custody" / "ledger.jsonl"
    if not (target / DECISION).is_file():
        shutil.rmtree(target, ignore_errors=True)
        # Heartbeats made since the first report would make this one invalid while they are closed.
        open_blind_entries(session)
        size = session.ledger.checkpoint(session.custodian, session.ports.timestamper).size
        (target / "private").mkdir(parents=True, mode=0o700)
        for name in FOLDERS:
            if (source / name).is_dir():
                shutil.copytree(source / name, target / name, copy_function=shutil.copy)
        for name in ("annex", "annex.json"):
            _copy(source / "private" / name, target / "private" / name)
        later = replace(later, upto=size)
        copy_custody(later, number)
        return later
    return replace(later, upto=ledger.read_bytes().count(b"\n"))


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.is_file():
        shutil.copy2(source, target)


def _write(later: Session, number: int, counted: Amended, tree: JsonObject) -> None:
    folder, model = later.run_folder(number), later.contract.model
    covered = covering(later.bank_folder, (later.upto or 1) - 1)
    assert covered is not None  # noqa: S101 - made when the copy was
    await_witnesses(later, covered)
    copy_custody(later, number)
    for name in (*ENVELOPE_FILES, SUMS):
        (folder / name).unlink(missing_ok=True)
    if counted.disputes:
        put(folder / "replies" / "disputes.jsonl", counted.disputes)
    put_json(folder / "statistics" / "inputs.json", counted.inputs)
    put_json(folder / "statistics" / "results.json", counted.results)
    put_json(folder / DECISION, counted.decision)
    put_json(folder / AMENDMENT, tree)
    facts = limitation_facts(open_folder(folder), later.contract, number)
    put_json(folder / "decision" / "limitations.json", limitations(model, facts))


def _unfit(detail: Text) -> ReportError:
    return ReportError(
        "SLV-R037",
        Text("no hay qué enmendar con eso", "that gives nothing to amend"),
        why=detail,
        fix=Text("dé el PDF emitido y --reason con el motivo", "give the issued PDF, and --reason with the reason"),
        where="--amends",
    )
