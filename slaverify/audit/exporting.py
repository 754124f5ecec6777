"""Exports of an issued report for other software: an in-toto statement in DSSE, signed evaluation receipts.

The key of the receipts is its own, named `receipt`, made at the first export and put in the ledger's register: it
signs nothing else. Nothing that is exported is read by a verification.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from slaverify.audit.closing import fit_signing_key
from slaverify.audit.reporting import FOLDER, bundle_id
from slaverify.audit.scoring import ANNEX_FOLDER
from slaverify.audit.session import Session, put
from slaverify.canonical import loads_jsonl, sha256_hex
from slaverify.custody import terms_of
from slaverify.custody.append import register_key
from slaverify.custody.keys import RECEIPTS, PartyKey
from slaverify.errors import ReportError, Text
from slaverify.evidence import Bundle, ledger_view
from slaverify.evidence.dsse import envelope, statement
from slaverify.evidence.read import open_folder
from slaverify.evidence.receipt import SALTS, NoReceipt, ReceiptFacts, read_salts, receipts


class Export(StrEnum):
    """What a report can be exported as."""

    DSSE = "dsse"
    RECEIPT = "receipt"


@dataclass(frozen=True)
class Exported:
    """What was written: files, the lines that check the receipts, and the metrics that have no receipt."""

    files: tuple[Path, ...]
    commands: tuple[str, ...] = ()
    missing: tuple[NoReceipt, ...] = ()


def export_report(session: Session, number: int, kinds: frozenset[Export]) -> Exported:
    """Write the exports of run `number` beside its reports. Raises: ReportError SLV-R032 (nothing issued yet)."""
    folder = session.run_folder(number)
    bundle = open_folder(folder)
    pdfs = sorted((folder / FOLDER).glob(f"{bundle_id(bundle)}*.pdf")) if bundle.manifest is not None else []
    if not pdfs:
        raise ReportError(
            "SLV-R032",
            Text("no hay informe que exportar", "there is no report to export"),
            fix=Text("emítalo primero, sin --export", "issue it first, without --export"),
            where=str(folder / FOLDER),
        )
    files: list[Path] = []
    done = Exported(())
    if Export.DSSE in kinds:
        files.append(_dsse(session, bundle, pdfs))
    if Export.RECEIPT in kinds:
        done = _receipts(session, number, bundle)
    return Exported((*files, *done.files), done.commands, done.missing)


def _dsse(session: Session, bundle: Bundle, pdfs: list[Path]) -> Path:
    target = pdfs[0].with_name(f"{bundle_id(bundle)}.dsse.json")
    named = {pdf.name: sha256_hex(pdf.read_bytes()) for pdf in pdfs}
    if not target.is_file():
        put(target, envelope(statement(bundle, named), fit_signing_key(session)))
    return target


def _receipts(session: Session, number: int, bundle: Bundle) -> Exported:
    key = receipt_key(session)
    register_key(session.ledger, session.custodian, key, now=session.ports.clock())
    view = ledger_view(bundle, terms_of(session.contract.tree, session.contract.digest))
    record = view.run(session.contract.digest, number)
    assert record is not None  # noqa: S101 - the evidence is closed over this run
    signature, reply = bundle.envelope()
    assert signature is not None and reply is not None  # noqa: S101 - a report was issued over it
    roots = session.contract.model.report.signature.tsa_roots or ()
    facts = ReceiptFacts(
        bundle=bundle,
        contract=session.contract.model,
        view=view,
        record=record,
        salts=_salts(session.run_folder(number)),
        stamped_at=session.ports.timestamps.time(signature, reply, roots).at,
    )
    made, missing = receipts(facts, key)
    files, commands = [], []
    for receipt in made:
        path = session.run_folder(number) / FOLDER / f"{bundle_id(bundle)}.{receipt.metric}.receipt.json"
        put(path, receipt.file)
        files.append(path)
        commands.append(f"proofbundle verify {path} --expected-root {receipt.root} --expected-tree-size 1")
    return Exported(tuple(files), tuple(commands), tuple(missing))


def receipt_key(session: Session) -> PartyKey:
    """Return the key of the receipts, made now if it is not there."""
    auditor = session.auditor
    return session.keys.get_or_make(
        RECEIPTS, organisation=auditor.organisation, roles=["auditor"], now=session.ports.clock()
    )


def _salts(folder: Path) -> dict[str, bytes]:
    path = folder / "private" / ANNEX_FOLDER / SALTS
    try:
        _, line = loads_jsonl(path.read_bytes())
        return read_salts(line)
    except (OSError, ValueError) as error:
        raise ReportError(
            "SLV-R033",
            Text("faltan las sales de los recibos", "the salts of the receipts are missing"),
            why=Text("quedan en el anexo al puntuar", "they are put in the annex when the answers are scored"),
            where=str(path),
        ) from error
