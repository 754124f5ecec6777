"""Close the evidence: sealed annex, manifest, envelope, token. What is sealed or signed once is kept as it is."""

from __future__ import annotations

from pathlib import Path

from slaverify.audit.deciding import closing
from slaverify.audit.scoring import annex_files
from slaverify.audit.session import Session, put
from slaverify.canonical import JsonObject, jcs, loads_canonical
from slaverify.contract import method_digest
from slaverify.errors import ReportError, Text
from slaverify.evidence import ANNEX as ANNEX_PATH
from slaverify.evidence import (
    ENVELOPE,
    MANIFEST,
    TOKEN,
    AnnexEntry,
    Bundle,
    Header,
    LedgerHead,
    Recipient,
    Tool,
    close,
)
from slaverify.evidence.annex import seal_annex
from slaverify.evidence.envelope import SigningKey, sign_manifest
from slaverify.evidence.read import open_folder
from slaverify.evidence.write import close_folder

_ENTRY = "annex.json"


def close_run_evidence(session: Session, number: int) -> Bundle:
    """Seal the annex, write SHA256SUMS and the manifest, sign the manifest and have it timestamped.

    Raises: ReportError SLV-R020 (no token: exit 6, nothing half-written), SLV-R024 (not the contract's key).
    """
    folder = session.run_folder(number)
    key = fit_signing_key(session)
    annex = _annex(session, folder)
    if not (folder / MANIFEST).is_file():
        close_folder(folder, _header(session, number, folder), annex)
    bundle = open_folder(folder)
    if not (folder / ENVELOPE).is_file():
        assert bundle.manifest_bytes is not None  # noqa: S101 - just written
        put(folder / ENVELOPE, sign_manifest(bundle.manifest_bytes, key))
    if session.ports.timestamper is not None and not (folder / TOKEN).is_file():
        put(folder / TOKEN, session.ports.timestamper.stamp((folder / ENVELOPE).read_bytes()))
    return open_folder(folder)


def provisional_manifest(session: Session, number: int) -> tuple[bytes, str]:
    """Return the manifest of the evidence as it would close now, and its bundle id; nothing is closed or signed."""
    folder = session.run_folder(number)
    header, annex = _header(session, number, folder), _annex(session, folder)
    return close(open_folder(folder), header, annex).manifest, header.bundle_id


def fit_signing_key(session: Session) -> SigningKey:
    """Return the auditor's X.509 key, which must be the one that the contract pins. Raises: ReportError SLV-R024."""
    key = session.ports.signing_key()
    pinned = session.contract.model.report.signature.auditor_spki_sha256
    if key.spki_sha256 != pinned:
        raise ReportError(
            "SLV-R024",
            Text("la clave de firma no es la que fija el contrato", "the signing key is not the one in the contract"),
            why=Text(f"contrato {pinned}, clave {key.spki_sha256}", f"contract {pinned}, key {key.spki_sha256}"),
            fix=Text("use la clave del contrato (--key)", "use the key of the contract (--key)"),
            where="report.signature.auditor_spki_sha256",
            exit_code=5,
        )
    return key


def _annex(session: Session, folder: Path) -> AnnexEntry | None:
    recipients = dict(session.contract.model.report.annex_recipients)
    files = annex_files(folder)
    if not recipients or not files:
        return None
    record, sealed_path = folder / "private" / _ENTRY, folder / ANNEX_PATH
    if record.is_file() and sealed_path.is_file():
        entry = _read_entry(loads_canonical(record.read_bytes()))
        if sealed_path.stat().st_size == entry.size:
            return entry
    vendor = session.contract.model.parties.vendor
    # age is randomised: once the entry is on disk, this ciphertext is the evidence.
    sealed = seal_annex(files, recipients, vendor=frozenset({vendor.name, vendor.legal_id or vendor.name}))
    put(sealed_path, sealed.ciphertext)
    put(record, jcs(_entry_tree(sealed.entry)))
    return sealed.entry


def _entry_tree(entry: AnnexEntry) -> JsonObject:
    return {
        "path": entry.path,
        "size": entry.size,
        "sha256": entry.sha256,
        "plaintext_sha256": entry.plaintext_sha256,
        "plaintext_size": entry.plaintext_size,
        "recipients": [{"name": one.name, "age": one.age} for one in entry.recipients],
    }


def _read_entry(tree: JsonObject) -> AnnexEntry:
    recipients = tree["recipients"]
    assert isinstance(recipients, list)  # noqa: S101 - our own file
    size, plain = tree["size"], tree["plaintext_size"]
    assert isinstance(size, int)  # noqa: S101 - our own file
    assert isinstance(plain, int)  # noqa: S101 - our own file
    return AnnexEntry(
        path=str(tree["path"]),
        size=size,
        sha256=str(tree["sha256"]),
        plaintext_sha256=str(tree["plaintext_sha256"]),
        plaintext_size=plain,
        recipients=tuple(Recipient(str(one["name"]), str(one["age"])) for one in recipients if isinstance(one, dict)),
    )


def _header(session: Session, number: int, folder: Path) -> Header:
    last, size = closing(session, number)
    view = session.ledger.refresh().upto(size)
    known = loads_canonical((folder / "environment" / "environment.json").read_bytes())
    return Header(
        contract_id=session.contract.model.contract.id,
        contract_digest=session.contract.digest,
        bank_digest=session.bank.digest,
        method_digest=method_digest(session.contract.tree),
        run_id=folder.name,
        run_number=number,
        closed_at=last.time,
        ledger=LedgerHead(view.origin, size, view.root.hex()),
        tool=Tool("slaverify", str(known["harness_version"]), str(known["lock_sha256"])),
    )
