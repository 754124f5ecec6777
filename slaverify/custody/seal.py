"""Sealing: items become a bank that everybody can check and nobody without a key can read.

The whole bank is made in a folder beside its place and takes its name at the end: a seal that is broken off leaves
nothing that could be taken for a bank.

Not pure: a second door.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import tempfile
import uuid
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from slaverify.canonical import JsonObject, sha256_hex
from slaverify.custody.agefile import encrypt
from slaverify.custody.append import register_key
from slaverify.custody.faults import fault
from slaverify.custody.files import staged, sync_folder, write_whole
from slaverify.custody.gather import Gathered, SealItem, gather
from slaverify.custody.index import IndexTally
from slaverify.custody.keys import PartyKey
from slaverify.custody.ledger_file import LedgerFile
from slaverify.custody.manifest import Access, Manifest, Recipient
from slaverify.custody.note import bank_origin, sign_checkpoint, slug
from slaverify.custody.package import (
    MAX_ATTACHMENT,
    MAX_PACKAGE,
    PackageHeader,
    attachment_line,
)
from slaverify.custody.ports import Clock, Timestamper
from slaverify.custody.recovery import IDENTITY_FILE, Shared
from slaverify.custody.shapes import is_hex32, is_id, time_text

__all__ = ["RECIPIENT_ROLES", "SealItem", "SealTerms", "SealedBank", "seal"]

RECIPIENT_ROLES = ("custodian", "recovery")
"""Who may be able to decrypt a bank; vendor, buyer and auditor as such may not."""


@dataclass(frozen=True)
class SealTerms:
    """What the manifest says besides the items. `recipients` are (role, age recipient) besides the custodian."""

    bank_id: str
    name: str
    item_schema_sha256: str
    author: str
    funding: str = ""
    limits: str = ""
    plaintext_access: Sequence[Access] = ()
    recipients: Sequence[Recipient] = ()
    replaces: str | None = None
    recovery: Shared | None = None
    """Recovery by shares; its identity file goes beside the bank, its recipient among those of the bank."""
    attachments: Mapping[str, bytes] = field(default_factory=dict)
    """Content of each attachment by its SHA-256 (hex)."""


@dataclass(frozen=True)
class SealedBank:
    """What a seal made: where it lies, what the contract must pin, and the sealed id of each author's id."""

    folder: Path
    bank_digest: str
    manifest: Manifest
    ledger_origin: str
    ledger_vkey: str
    sealed_ids: Mapping[str, str]


def seal(
    items: Iterable[SealItem],
    parent: Path,
    terms: SealTerms,
    *,
    custodian: PartyKey,
    clock: Clock,
    register: Sequence[PartyKey] = (),
    timestamper: Timestamper | None = None,
) -> SealedBank:
    """Seal items into `parent`/<bank_id>, with a ledger that begins with the custodian's key and the keys to register.

    Raises: CustodyError SLV-K001 (item bytes), SLV-K002 (ids), SLV-K003 (twin), SLV-K004 (empty, or over a cap),
    SLV-K005 (recipients), SLV-K072 (disk).
    """
    recipients = _recipients(terms, custodian)
    folder = parent / terms.bank_id
    if not is_id(terms.bank_id):
        raise fault(2, f"id de banco no válido: {terms.bank_id}", f"not a bank id: {terms.bank_id}")
    if not is_hex32(terms.item_schema_sha256):
        raise ValueError("item_schema_sha256 is 64 hex digits")
    if folder.exists():
        raise fault(
            2, f"ya hay un banco «{terms.bank_id}»", f"there is a bank `{terms.bank_id}` already", where=str(folder)
        )
    # A file without a name: whatever happens, a kill -9 too, nothing of it stays on the disk.
    with _new_folder(folder) as work, tempfile.TemporaryFile(prefix="clear.", dir=work) as clear:
        gathered = gather(items, clear)
        return _seal(gathered, work, folder, terms, recipients, custodian, clock, register, timestamper)


def _seal(
    gathered: Gathered,
    work: Path,
    folder: Path,
    terms: SealTerms,
    recipients: tuple[Recipient, ...],
    custodian: PartyKey,
    clock: Clock,
    register: Sequence[PartyKey],
    timestamper: Timestamper | None,
) -> SealedBank:
    header, index = PackageHeader(secrets.token_bytes(32), len(gathered), terms.item_schema_sha256), IndexTally()
    with staged(work / "bank.age") as stream, staged(work / "index.jsonl") as leaves:
        ages = [one.age for one in recipients]
        lines = _lines(header, gathered, index, leaves, terms.attachments)
        plain, cipher = encrypt(lines, stream, ages, MAX_PACKAGE)
    root = index.root()
    manifest = Manifest(
        bank_id=terms.bank_id,
        name=terms.name,
        created=time_text(clock())[:10],
        n=len(gathered),
        strata=index.strata(),
        root=root.hex(),
        index_sha256=index.sha256(),
        ciphertext_sha256=cipher,
        package_sha256=plain,
        recipients=recipients,
        item_schema_sha256=terms.item_schema_sha256,
        author=terms.author,
        custodian=custodian.organisation,
        funding=terms.funding,
        plaintext_access=tuple(terms.plaintext_access),
        limits=terms.limits,
        replaces=terms.replaces,
        recovery=None if terms.recovery is None else (terms.recovery.k, len(terms.recovery.shares)),
    )
    write_whole(work / "manifest.json", manifest.file_bytes())
    origin = bank_origin(custodian.organisation, terms.bank_id)
    write_whole(work / "verify_item.sh", (Path(__file__).parent / "verify_item.sh").read_bytes(), 0o755)
    if terms.recovery is not None:
        write_whole(work / IDENTITY_FILE, terms.recovery.identity_file)
    write_whole(work / "bank.checkpoint", sign_checkpoint(origin, manifest.n, root, custodian))
    ledger = _begin_ledger(work, manifest, custodian, clock, register)
    ledger.checkpoint(custodian, timestamper)
    view = ledger.view
    return SealedBank(folder, manifest.digest(), manifest, view.origin, view.log_vkey, gathered.sealed_ids)


def _begin_ledger(
    work: Path, manifest: Manifest, custodian: PartyKey, clock: Clock, register: Sequence[PartyKey]
) -> LedgerFile:
    origin = f"{slug(custodian.organisation)}/ledger/{secrets.token_hex(4)}"
    ledger = LedgerFile.create(work, clock, origin=origin, organisation=custodian.organisation, log_key=custodian)
    for key in register:
        register_key(ledger, custodian, key, now=clock())
    data: JsonObject = {
        "bank_digest": manifest.digest(),
        "root": manifest.root,
        "n": manifest.n,
        "ciphertext_sha256": manifest.ciphertext_sha256,
    }
    ledger.append("bank_sealed", data, [custodian])
    return ledger


def _recipients(terms: SealTerms, custodian: PartyKey) -> tuple[Recipient, ...]:
    shared = () if terms.recovery is None else (Recipient("recovery", terms.recovery.recipient),)
    found = (Recipient("custodian", custodian.age_recipient), *terms.recipients, *shared)
    for one in found:
        if one.role not in RECIPIENT_ROLES:
            raise fault(
                5,
                f"un banco no se cifra para el rol «{one.role}»",
                f"a bank is not encrypted to the role `{one.role}`",
            )
    if len({one.age for one in found}) != len(found):
        raise fault(5, "destinatario repetido", "repeated recipient")
    return found


def _lines(
    header: PackageHeader,
    gathered: Gathered,
    index: IndexTally,
    leaves: BinaryIO,
    attachments: Mapping[str, bytes],
) -> Iterator[bytes]:
    # what is encrypted, line by line; the public line of each item goes to `leaves` on the way
    yield header.line(str(uuid.uuid4()))
    for item in gathered.items():
        leaves.write(index.add(item.leaf(header.seed)))
        yield item.line()
    for digest, content in sorted(attachments.items()):
        if len(content) > MAX_ATTACHMENT or sha256_hex(content) != digest:
            raise fault(4, f"adjunto {digest[:12]}…", f"attachment {digest[:12]}…", where=digest)
        yield attachment_line(content, b64encode(content).decode())


@contextlib.contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield work
        work.chmod(0o755)
        work.rename(folder)
        sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
