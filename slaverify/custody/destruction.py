"""Destroying what opens a bank: the identity files that lie here, and a plain account of what can still open it.

Manifest, index and ledger stay: what was audited can be verified for ever, only nobody opens the items any more.

Not pure: stands behind the second door `custody.keys`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from slaverify.custody.files import PRIVATE, sync_folder, write_whole
from slaverify.custody.keys import DESTROYED, age_recipient, read_age_identity
from slaverify.custody.manifest import Bank, Recipient
from slaverify.custody.shapes import time_text
from slaverify.errors import CustodyError

_BLOCK = 1 << 16


@dataclass(frozen=True)
class Found:
    """What lies in a folder of keys and opens a bank: identity files by recipient, and files of shares."""

    identities: tuple[tuple[Recipient, Path], ...]
    shares: tuple[Path, ...]

    def __bool__(self) -> bool:
        return bool(self.identities or self.shares)


@dataclass(frozen=True)
class StillOpen:
    """What can open items without the files found: recipients whose identity is not here, deliveries, openings."""

    recipients: tuple[Recipient, ...]
    deliveries: int
    openings: int


def find(bank: Bank, keys: Path) -> Found:
    """Find the files of a folder of keys that open `bank`: by what they open, never by their names."""
    wanted = {one.age: one for one in bank.manifest.recipients}
    held = []
    for path in sorted(keys.glob("*.age")):
        try:
            recipient = age_recipient(read_age_identity(path))
        except CustodyError:
            # Not an identity, or not ours to read: it opens nothing here.
            continue
        if recipient in wanted:
            held.append((wanted[recipient], path))
    shares = sorted(path for path in (keys / f"shares-{bank.manifest.bank_id}").glob("*") if path.is_file())
    return Found(tuple(held), tuple(shares))


def still_open(bank: Bank, folder: Path, found: Found) -> StillOpen:
    """Say what opens items of the bank in `folder` once what was found is gone."""
    gone = {one.age for one, _ in found.identities}
    return StillOpen(
        tuple(one for one in bank.manifest.recipients if one.age not in gone),
        len(list((folder / "deliveries").glob("*.age"))),
        len(list((folder / "openings").glob("*/opening.json"))),
    )


def destroy(found: Found, now: datetime) -> None:
    """Write over each file and delete it; in the place of an identity a line says that it was destroyed.

    A copy elsewhere, or one that the disk kept, is out of reach. Raises: OSError, CustodyError SLV-K072.
    """
    for path in (*(path for _, path in found.identities), *found.shares):
        with path.open("r+b") as stream:
            left = os.fstat(stream.fileno()).st_size
            while left > 0:
                left -= stream.write(os.urandom(min(left, _BLOCK)))
            stream.flush()
            os.fsync(stream.fileno())
        path.unlink()
        sync_folder(path.parent)
    for recipient, path in found.identities:
        write_whole(path, DESTROYED + f" {time_text(now)}: {recipient.age}\n".encode(), PRIVATE)
