"""The journal of a run: one SQLite file that a kill at any moment leaves whole. Second door of the room.

Intent is durable before bytes leave; a result is durable before it counts. Nothing is kept in counters: totals
are read from rows. Nothing is repaired: what does not fit is refused.

Source: docs/spec/run.md, section "Journal".
"""

from __future__ import annotations

import hmac
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path

from slaverify.canonical import JsonObject, jcs
from slaverify.contract.words import Attribution
from slaverify.engine import Fault
from slaverify.run import schema
from slaverify.run.faults import disk_error, journal_error
from slaverify.run.plan import Plan, plan_sha256
from slaverify.run.records import EXCHANGES
from slaverify.run.rows import JournalRows
from slaverify.run.rules import stamp
from slaverify.run.storage import local_folder, locked, sync_folder, unlock
from slaverify.run.stored import RunHeader, Summary

__all__ = ["Journal", "RunHeader", "Summary"]

_BLOCK = 4096


class Journal(JournalRows):
    """One open journal, locked for this process."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int) -> None:
        """Use `create` or `open`."""
        super().__init__(connection)
        self.path = path
        self._lock = lock
        row = connection.execute("SELECT * FROM run").fetchall()
        if len(row) != 1:
            raise journal_error("no tiene una sola corrida", "it does not hold one run", str(path))
        names = [column.name for column in fields(RunHeader)]
        values = dict(zip([*names[:-1], "run_secret", "started_at", "state"], row[0], strict=True))
        self._secret = bytes(values.pop("run_secret"))
        values.pop("state")
        self.header = RunHeader(**values)

    @classmethod
    def create(
        cls, path: Path, header: RunHeader, plan: Plan, *, events: Sequence[tuple[str, JsonObject]] = ()
    ) -> Journal:
        """Write a new journal for a plan; `events` (kind, detail) are its first rows, the preflight among them.

        Raises: EndpointError SLV-N030 (exists, or another plan), N032 (disk), N033 (network disk).
        """
        if header.plan_sha256 != plan_sha256(plan) or header.run_id != plan.run_id:
            raise journal_error("es de otro plan", "it is of another plan", str(path))
        local_folder(path.parent)
        lock = locked(path)
        draft = path.with_name(path.name + ".new")
        try:
            if path.exists():
                raise journal_error("ya existe", "it exists already", str(path))
            draft.unlink(missing_ok=True)
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            _fill(draft, header, plan, events)
            # Either a whole journal has the name, or none: a kill here leaves only the draft.
            draft.replace(path)
            sync_folder(path.parent)
            return cls(path, schema.connect(path), lock)
        except sqlite3.Error as error:
            unlock(lock)
            raise disk_error(error) from error
        except BaseException:
            unlock(lock)
            raise

    @classmethod
    def open(cls, path: Path, *, expected: RunHeader | None = None) -> Journal:
        """Open a journal to go on with it.

        Raises: EndpointError SLV-N030 (not a sound journal, or of another contract, bank, sample, plan or method;
        exit 5), N031 (a second process; exit 2), N033.
        """
        if not path.is_file():
            raise journal_error("no existe", "it does not exist", str(path))
        local_folder(path.parent)
        lock = locked(path)
        try:
            connection = schema.connect(path)
            if not schema.is_journal(connection):
                raise journal_error("no es un diario de esta versión", "no journal of this version", str(path))
            journal = cls(path, connection, lock)
            journal._check(expected)
        except sqlite3.Error as error:
            unlock(lock)
            raise journal_error(str(error), str(error), str(path)) from error
        except BaseException:
            unlock(lock)
            raise
        return journal

    def close(self) -> None:
        """Close the file and give up the lock."""
        super().close()
        unlock(self._lock)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def nonce(self, path: str) -> str:
        """Return the nonce of a file that only the parties get, hex: HMAC-SHA-256(run secret, path)."""
        return hmac.digest(self._secret, path.encode("utf-8"), "sha256").hex()

    @property
    def mac_key(self) -> bytes:
        """Return the key of `request_mac` and `response_mac`."""
        return bytes.fromhex(self.nonce(EXCHANGES))

    def reader(self, *, unchanging: bool = False) -> JournalRows:
        """Open a second, reading connection: it sees what is committed and waits for nobody. Close it.

        `unchanging`: after `settle`, while nobody writes; it takes no lock, so that a fork may open it too.
        """
        return JournalRows(schema.connect(self.path, read_only=True, unchanging=unchanging))

    def settle(self) -> bool:
        """Bring everything that is committed into the file itself; say whether it is all there."""
        busy, _, _ = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return int(busy) == 0

    def mark_interrupted(self, at: datetime) -> int:
        """Close every intent without result as interrupted, the auditor's, and return how many there were."""
        with self.transaction():
            count = self.connection.execute(
                "UPDATE attempt SET fault = ?, attribution = ? WHERE end_ns IS NULL AND fault IS NULL",
                (Fault.INTERRUPTED.value, Attribution.AUDITOR.value),
            ).rowcount
            self.connection.execute("UPDATE exchange SET state = 'planned' WHERE state = 'in_flight'")
            if count:
                self.connection.execute(schema.EVENT, (stamp(at), "interrupted", jcs({"attempts": count}).decode()))
        return count

    def write(self, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
        """Write rows durably, outside a run's writer thread. Raises: EndpointError SLV-N030, N032."""
        try:
            with self.transaction():
                for sql, values in statements:
                    self.connection.execute(sql, tuple(values))
        except sqlite3.Error as error:
            raise disk_error(error) from error

    def note(self, at: datetime, kind: str, detail: JsonObject) -> None:
        """Write an event that is no exchange, durably. Raises: EndpointError SLV-N030, N032."""
        self.write([(schema.EVENT, (stamp(at), kind, jcs(detail).decode("utf-8")))])

    def open_stage(self, plan: Plan, stage: int) -> bool:
        """Take in the exchanges of a later stage of the plan, once; say whether they were taken in now.

        Raises: EndpointError SLV-N030, N032."""
        if self.header.plan_sha256 != plan_sha256(plan):
            raise journal_error("es de otro plan", "it is of another plan", str(self.path))
        first = next((one.position for one in plan.exchanges if one.stage == stage and not one.shadow), None)
        if first is None or self.connection.execute("SELECT 1 FROM exchange WHERE position = ?", (first,)).fetchone():
            return False
        try:
            with self.transaction():
                _insert(self.connection, plan, stage)
        except sqlite3.Error as error:
            raise disk_error(error) from error
        return True

    def transaction(self) -> _Transaction:
        """Begin a transaction; it commits at the end of the block, and rolls back where that raises."""
        return _Transaction(self.connection)

    def _check(self, expected: RunHeader | None) -> None:
        if self.connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise journal_error("el archivo está dañado", "the file is damaged", str(self.path))
        if expected is not None:
            for column in ("run_id", "contract_digest", "bank_digest", "sample_sha256", "plan_sha256", "method_digest"):
                if getattr(self.header, column) != getattr(expected, column):
                    raise journal_error(f"cambió {column}", f"{column} changed", str(self.path))


class _Transaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._connection.execute("COMMIT" if kind is None else "ROLLBACK")


def _fill(path: Path, header: RunHeader, plan: Plan, events: Sequence[tuple[str, JsonObject]]) -> None:
    connection = schema.connect(path)
    try:
        connection.execute("BEGIN IMMEDIATE")
        schema.create_tables(connection)
        values = [getattr(header, column.name) for column in fields(RunHeader)]
        connection.execute(
            "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')",
            (*values[:-1], secrets.token_bytes(32), values[-1]),
        )
        _insert(connection, plan, 1)
        connection.executemany(
            schema.EVENT, ((header.started_at, kind, jcs(detail).decode("utf-8")) for kind, detail in events)
        )
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _insert(connection: sqlite3.Connection, plan: Plan, stage: int) -> None:
    connection.executemany(
        "INSERT INTO exchange (exchange_id, item_id, repetition, side, position, state) "
        "VALUES (?, ?, ?, ?, ?, 'planned')",
        (
            (exchange_id, one.item_id, one.repetition, one.side, one.position)
            for exchange_id, one in zip(_tokens(len(plan.exchanges)), plan.exchanges, strict=True)
            if not one.shadow and one.stage == stage
        ),
    )


def _tokens(count: int) -> Iterator[str]:
    for first in range(0, count, _BLOCK):
        block = secrets.token_bytes(16 * min(_BLOCK, count - first)).hex()
        yield from (block[start : start + 32] for start in range(0, len(block), 32))
