"""Reading a bank: its public half as it lies in a folder, and, with an identity, its items.

Boundary: a folder from outside. Its public half is checked against the contract before anything else; what decrypts
is checked against the manifest's digest (SLV-K012) and each item against its commitments (SLV-K016) before any of
it is given out.

Not pure: a second door.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from slaverify.custody.agefile import decrypted
from slaverify.custody.entries import MAX_LINE, parse_entry
from slaverify.custody.faults import fault
from slaverify.custody.files import read_bounded
from slaverify.custody.ledger_file import NAME as LEDGER
from slaverify.custody.manifest import MAX_BYTES, Bank, check_bank
from slaverify.custody.package import (
    MAX_PACKAGE,
    PackageHeader,
    PackageItem,
    malformed,
    parse_attachment,
    parse_header,
    parse_item,
)
from slaverify.custody.shapes import text
from slaverify.custody.stanzas import MAX_HEADER, check_recipients
from slaverify.custody.terms import Terms

_MAX_INDEX = 128 * 1024 * 1024
_MAX_NOTE = 64 * 1024


def load_bank(folder: Path, terms: Terms | None = None) -> Bank:
    """Check the public half of a bank's folder, and that its ciphertext is the sealed one; no key is needed.

    Without a contract's `terms` the ledger's first line says which key signed: that proves agreement, not origin.
    Raises: CustodyError SLV-K010, K011 (ciphertext), K013, K014 (recipients), K018, K027, K028.
    """
    bank = check_bank(
        read_bounded(folder / "manifest.json", MAX_BYTES, 10),
        read_bounded(folder / "index.jsonl", _MAX_INDEX, 13),
        read_bounded(folder / "bank.checkpoint", _MAX_NOTE, 27),
        bank_digest=None if terms is None else terms.bank_digest,
        log_vkey=_stated_vkey(folder) if terms is None else terms.vkey,
    )
    path = folder / "bank.age"
    digest, head = _digest(path)
    if digest != bank.manifest.ciphertext_sha256:
        raise fault(11, "bank.age no es el archivo sellado", "bank.age is not the sealed file", where=str(path))
    check_recipients(head, len(bank.manifest.recipients))
    return bank


def _stated_vkey(folder: Path) -> str:
    with contextlib.suppress(OSError), (folder / LEDGER).open("rb") as stream:
        line = stream.readline(MAX_LINE + 1)
        entry = parse_entry(line.rstrip(b"\n"), f"{LEDGER}:1")
        if entry.type == "genesis":
            return text(entry.data, "log_vkey")
    raise fault(34, "la carpeta no tiene libro", "the folder has no ledger", where=str(folder))


def _digest(path: Path) -> tuple[str, bytes]:
    digest, head = hashlib.sha256(), b""
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                head = head or chunk[:MAX_HEADER]
                digest.update(chunk)
    except OSError as error:
        raise fault(11, "no se puede leer bank.age", "bank.age cannot be read", where=str(path)) from error
    return digest.hexdigest(), head


class OpenBank:
    """A decrypted package whose every commitment was checked. Lives inside `open_bank` only."""

    def __init__(
        self,
        stream: BinaryIO,
        header: PackageHeader,
        offsets: dict[str, tuple[int, int]],
        attached: dict[str, tuple[int, int]],
    ) -> None:
        self.header = header
        self._stream = stream
        self._offsets = offsets
        self._attached = attached

    def items(self, ids: Iterable[str]) -> list[PackageItem]:
        """Return the items of these sealed ids, by leaf number. Raises: CustodyError SLV-K054 for an unknown id."""
        found = []
        for item in ids:
            if item not in self._offsets:
                raise fault(54, f"el banco no tiene {item}", f"the bank does not have {item}", where=item)
            number, offset = self._offsets[item]
            self._stream.seek(offset)
            found.append(parse_item(self._stream.readline().rstrip(b"\n"), number))
        return sorted(found, key=lambda one: one.i)

    def attachments(self, digests: Iterable[str]) -> Iterator[bytes]:
        """Yield the package lines of those of these attachments (digests, hex) that the bank holds, ascending."""
        for digest in sorted(set(digests) & set(self._attached)):
            self._stream.seek(self._attached[digest][1])
            yield self._stream.readline()


@contextlib.contextmanager
def open_bank(folder: Path, bank: Bank, identity: str, private: Path) -> Iterator[OpenBank]:
    """Decrypt a bank's package, check all of it, and give it for as long as the block lasts.

    `identity` is the age identity, `private` a folder whose disk holds the nameless temporary file.
    Raises: CustodyError SLV-K012 (package), SLV-K015 (decryption), SLV-K016 (a commitment), SLV-K071, SLV-K072.
    """
    with decrypted(folder / "bank.age", identity, private, MAX_PACKAGE) as (stream, digest):
        if digest != bank.manifest.package_sha256:
            raise fault(12, "el contenido no es el sellado", "the content is not the sealed one", where="bank.age")
        yield _checked(stream, bank)


def _checked(stream: BinaryIO, bank: Bank) -> OpenBank:
    header = parse_header(stream.readline().rstrip(b"\n"))
    if (header.n, header.item_schema_sha256) != (bank.manifest.n, bank.manifest.item_schema_sha256):
        raise malformed(1)
    offsets: dict[str, tuple[int, int]] = {}
    for leaf in bank.index.leaves:
        number, offset = leaf.i + 2, stream.tell()
        item = parse_item(stream.readline().rstrip(b"\n"), number)
        if item.leaf(header.seed) != leaf:
            raise fault(
                16, f"{leaf.id} no es el ítem sellado", f"{leaf.id} is not the sealed item", where=f"bank.age:{number}"
            )
        offsets[leaf.id] = (number, offset)
    last, number = "", len(offsets) + 1
    attached: dict[str, tuple[int, int]] = {}
    offset = stream.tell()
    while line := stream.readline():
        number += 1
        digest, _ = parse_attachment(line.rstrip(b"\n"), number)
        attached[digest] = (number, offset)
        offset = stream.tell()
        if digest <= last:
            raise malformed(number)
        last = digest
    return OpenBank(stream, header, offsets, attached)


def check_items(folder: Path, bank: Bank, identity: str, private: Path) -> int:
    """Decrypt a bank and check every commitment; return how many items hold. Raises: as `open_bank`."""
    with open_bank(folder, bank, identity, private):
        return bank.manifest.n


def ledger_bytes(folder: Path) -> bytes:
    """Return the bytes of a bank's ledger. Raises: CustodyError SLV-K034 if it cannot be read."""
    return read_bounded(folder / LEDGER, 1 << 30, 34)
