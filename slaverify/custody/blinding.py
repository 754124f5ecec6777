"""The acts of blind entries: heartbeats, a start in the place of one, and their opening.

What opens an entry lies in the auditor's folder of keys (0600) from before its commitment is told until it is opened.

Not pure: a second door.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from pathlib import Path

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, jcs, loads_canonical
from slaverify.custody.blind import (
    HEARTBEAT,
    STARTED,
    BlindSecret,
    blind_commitment,
    blind_content,
    next_slot,
    read_content,
    start_of,
    unopened,
)
from slaverify.custody.entries import Entry
from slaverify.custody.faults import fault
from slaverify.custody.files import PRIVATE, private_folder, read_bounded, require_private, write_whole
from slaverify.custody.keys import PartyKey
from slaverify.custody.ledger_file import LedgerFile
from slaverify.custody.shapes import time_text
from slaverify.custody.terms import Terms
from slaverify.errors import CustodyError, Text

_LIMIT = 64 * 1024


def heartbeat(ledger: LedgerFile, auditor: PartyKey, keys: Path) -> Entry:
    """Append a blind entry that says nothing; nobody can tell it from a start."""
    return _append(ledger, auditor, keys, HEARTBEAT, {})


def blind_start(
    ledger: LedgerFile, auditor: PartyKey, terms: Terms, run: int, data: JsonObject, *, keys: Path, now: datetime
) -> tuple[Entry, BlindSecret]:
    """Append the start of a run as a blind entry in the place of a heartbeat; the one that stands is returned.

    Raises: CustodyError SLV-K040 (exit 6) while the next place of the cadence is not due; before the first heartbeat
    one is appended, for a start without any before it would be seen.
    """
    known = standing_start(ledger, terms, run, keys)
    if known is not None:
        return known
    due = next_slot(ledger.refresh(), terms.heartbeat_hours)
    if due is None:
        heartbeat(ledger, auditor, keys)
        due = next_slot(ledger.view, terms.heartbeat_hours)
    if due is None or now < due:
        raise _not_due(now if due is None else due)
    _append(ledger, auditor, keys, STARTED, data)
    known = standing_start(ledger, terms, run, keys)
    assert known is not None  # noqa: S101 - just appended
    return known


def standing_start(ledger: LedgerFile, terms: Terms, run: int, keys: Path) -> tuple[Entry, BlindSecret] | None:
    """Return the blind entry, not opened yet, that is the start of a run, and what opens it; None if there is none."""
    for entry in unopened(ledger.refresh()):
        path = _path(keys, str(entry.data["commitment"]))
        if not path.is_file():
            continue
        secret = _read(path)
        started = start_of(entry, secret)
        if started is not None and (started.contract_digest, started.run) == (terms.contract_digest, run):
            return entry, secret
    return None


def open_blinds(ledger: LedgerFile, auditor: PartyKey, keys: Path) -> list[Entry]:
    """Open every blind entry that nobody opened. Raises: CustodyError SLV-K071 for one whose secret is not here."""
    opened = []
    for entry in unopened(ledger.refresh()):
        secret = _read(_path(keys, str(entry.data["commitment"])))
        data: dict[str, JsonValue] = {
            "seq": entry.seq,
            "salt": secret.salt.hex(),
            "content": secret.content.decode("utf-8"),
        }
        opened.append(ledger.append("unblind", data, [auditor]))
    return opened


def _append(ledger: LedgerFile, auditor: PartyKey, keys: Path, kind: str, data: JsonObject) -> Entry:
    secret = BlindSecret(secrets.token_bytes(32), blind_content(kind, data))
    commitment = blind_commitment(secret.salt, secret.content).hex()
    path = _path(keys, commitment)
    private_folder(path.parent)
    # Before the entry: a commitment that nobody can open would invalidate every later report.
    write_whole(path, jcs({"salt": secret.salt.hex(), "content": secret.content.decode("utf-8")}), PRIVATE)
    return ledger.append("blind", {"commitment": commitment}, [auditor])


def _path(keys: Path, commitment: str) -> Path:
    return keys / "blinds" / f"{commitment}.json"


def _read(path: Path) -> BlindSecret:
    if not path.is_file():
        raise fault(
            71,
            "lo que abre una entrada ciega no está en esta carpeta de claves",
            "what opens a blind entry is not in this folder of keys",
            where=str(path),
        )
    require_private(path)
    try:
        tree = loads_canonical(read_bounded(path, _LIMIT, 71))
        salt, content = bytes.fromhex(str(tree["salt"])), str(tree["content"]).encode()
        read_content(content)
    except (StrictJsonError, KeyError, ValueError, CustodyError) as error:
        raise fault(
            71, "lo que abre una entrada ciega está dañado", "what opens a blind entry is damaged", where=str(path)
        ) from error
    return BlindSecret(salt, content)


def _not_due(due: datetime) -> CustodyError:
    at = time_text(due)
    error = fault(
        40,
        f"el inicio ciego toma el lugar del latido de las {at}",
        f"the blind start takes the place of the heartbeat of {at}",
        why=Text("antes se notaría que parte una corrida", "earlier, it would be seen that a run starts"),
        fix=Text(f"repita con --resume desde {at}", f"repeat with --resume from {at} on"),
    )
    # Nothing is wrong, and the walk goes on later.
    error.exit_code = 6
    return error
