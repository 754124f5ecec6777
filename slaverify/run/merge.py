"""Parts of one run, each carried out by a process of its own, and their merging. Second door of the room.

A part is a copy of the journal that nothing was sent from yet: same run, same plan, same secret, same identifiers of
exchanges. Parts merge by key: exchange, turn, attempt. An exchange that two parts asked is refused, since to keep one
of two answers would be a choice.

Source: docs/spec/run.md, section "Parts".
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from slaverify.run.faults import disk_error, journal_error
from slaverify.run.journal import Journal, RunHeader
from slaverify.run.storage import local_folder, sync_folder

_KEY = "exchange_id, item_id, repetition, side, position"
_FRESH = (
    "exchange_id IN (SELECT exchange_id FROM part.attempt)"
    " AND exchange_id NOT IN (SELECT exchange_id FROM main.attempt)"
)
_STRAY = f"SELECT item_id FROM (SELECT {_KEY} FROM part.exchange EXCEPT SELECT {_KEY} FROM main.exchange) LIMIT 1"  # noqa: S608 - constants
_TWICE = (
    "SELECT item_id FROM part.exchange WHERE exchange_id IN (SELECT exchange_id FROM main.attempt) AND exchange_id IN"
    " (SELECT exchange_id FROM (SELECT * FROM part.attempt EXCEPT SELECT * FROM main.attempt)) LIMIT 1"
)
_TAKE_STATE = (
    "UPDATE main.exchange SET (state, outcome, not_before) = (SELECT state, outcome, not_before FROM part.exchange AS"  # noqa: S608 - constants
    f" other WHERE other.exchange_id = main.exchange.exchange_id) WHERE {_FRESH}"
)
_TAKE_EVENTS = (
    "INSERT INTO main.event (at, kind, detail) SELECT at, kind, detail FROM part.event AS other WHERE NOT EXISTS"
    " (SELECT 1 FROM main.event AS own WHERE own.at = other.at AND own.kind = other.kind AND own.detail = other.detail)"
    " ORDER BY seq"
)
_TAKE_BODIES = "INSERT OR IGNORE INTO main.body SELECT * FROM part.body"
_TAKE_ATTEMPTS = "INSERT OR IGNORE INTO main.attempt SELECT * FROM part.attempt"


def copy_journal(journal: Journal, path: Path) -> None:
    """Write a part: a copy of a journal from which nothing was sent yet.

    Raises: EndpointError SLV-N030 (something was sent, or the file exists), N032, N033.
    """
    if journal.summary().attempts:
        raise journal_error("ya se envió algo", "something was sent already", str(journal.path))
    if path.exists():
        raise journal_error("ya existe", "it exists already", str(path))
    local_folder(path.parent)
    try:
        journal.connection.execute("VACUUM INTO ?", (str(path.resolve()),))
    except sqlite3.Error as error:
        raise disk_error(error) from error
    path.chmod(0o600)
    sync_folder(path.parent)


def merge_journals(journal: Journal, parts: Sequence[Path]) -> int:
    """Take what the parts hold into `journal`, each whole or not at all, and return how many exchanges are done.

    A part that was taken already changes nothing. Batches are those of `journal` alone: the next call of the runner
    on it registers what the parts did.

    Raises: EndpointError SLV-N030 (another run or plan, an exchange asked twice, a part with batches; exit 5), N031 (a
    part in use), N032, N037.
    """
    for path in parts:
        with Journal.open(path) as part:
            _same_run(journal, part)
            _take(journal, path)
    return journal.summary().done


def _same_run(journal: Journal, part: Journal) -> None:
    for column in fields(RunHeader):
        if getattr(journal.header, column.name) != getattr(part.header, column.name):
            raise journal_error(f"cambió {column.name}", f"{column.name} changed", str(part.path))
    if part.mac_key != journal.mac_key:
        raise journal_error("tiene otro secreto", "it has another secret", str(part.path))
    if part.batches():
        raise journal_error("tiene lotes propios", "it has batches of its own", str(part.path))


def _take(journal: Journal, path: Path) -> None:
    ask = journal.connection.execute
    try:
        ask("ATTACH DATABASE ? AS part", (str(path.resolve()),))
        try:
            if (found := ask(_STRAY).fetchone()) is not None:
                raise journal_error(f"{found[0]} no es de este plan", f"{found[0]} is not of this plan", str(path))
            if (found := ask(_TWICE).fetchone()) is not None:
                raise journal_error(f"{found[0]} se preguntó dos veces", f"{found[0]} was asked twice", str(path))
            with journal.transaction():
                for sql in (_TAKE_STATE, _TAKE_BODIES, _TAKE_ATTEMPTS, _TAKE_EVENTS):
                    ask(sql)
        finally:
            ask("DETACH DATABASE part")
    except sqlite3.Error as error:
        raise disk_error(error) from error
