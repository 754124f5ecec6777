"""The journal of a run: one SQLite file that a kill at any moment leaves whole. Second door of the room.

Intent is durable before bytes leave; a result is durable before it counts. Nothing is kept in counters: totals
are read from rows. Nothing is repaired: what does not fit is refused.

Source: docs/spec/run.md, section "Journal".
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import sqlite3
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path

from slaverify.canonical import JsonObject, jcs
from slaverify.contract.words import Attribution, Outcome
from slaverify.engine import Fault
from slaverify.run import schema
from slaverify.run.faults import disk_error, journal_error
from slaverify.run.plan import Plan, plan_sha256
from slaverify.run.records import EXCHANGES
from slaverify.run.rules import moment, stamp
from slaverify.run.storage import local_folder, locked, sync_folder, unlock
from slaverify.run.stored import (
    JournalExchange,
    PendingBatch,
    RunHeader,
    StoredAttempt,
    Summary,
    record_of_row,
)

__all__ = ["Journal", "RunHeader", "Summary"]


class Journal:
    """One open journal, locked for this process."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int) -> None:
        """Use `create` or `open`."""
        self.path = path
        self.connection = connection
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
        self.connection.close()
        unlock(self._lock)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def state(self) -> str:
        """Return `open`, `stopped` or `complete`."""
        return str(self.connection.execute("SELECT state FROM run").fetchone()[0])

    def nonce(self, path: str) -> str:
        """Return the nonce of a file that only the parties get, hex: HMAC-SHA-256(run secret, path)."""
        return hmac.digest(self._secret, path.encode("utf-8"), "sha256").hex()

    @property
    def mac_key(self) -> bytes:
        """Return the key of `request_mac` and `response_mac`."""
        return bytes.fromhex(self.nonce(EXCHANGES))

    def summary(self) -> Summary:
        """Count everything from rows."""
        ask = self.connection.execute
        states = dict(ask("SELECT state, COUNT(*) FROM exchange GROUP BY state").fetchall())
        outcomes = dict(ask("SELECT outcome, COUNT(*) FROM exchange WHERE state = 'done' GROUP BY outcome").fetchall())
        attempts, doubt = ask(
            "SELECT COUNT(*), COALESCE(SUM(end_ns IS NULL AND fault IS NULL), 0) FROM attempt"
        ).fetchone()
        planned, done = sum(states.values()), states.get("done", 0)
        counted = {Outcome(word): count for word, count in outcomes.items()}
        return Summary(planned, done, planned - done, doubt, attempts, counted, self.state)

    def pending(self) -> list[JournalExchange]:
        """Return the exchanges that are not done, by position, with their attempts so far."""
        rows = self.connection.execute(
            "SELECT exchange_id, item_id, repetition, side, position, state, not_before "
            "FROM exchange WHERE state <> 'done' ORDER BY position"
        )
        found = {
            row[0]: JournalExchange(
                exchange_id=row[0],
                item_id=row[1],
                repetition=row[2],
                side=row[3],
                position=row[4],
                state=row[5],
                outcome=None,
                not_before=None if row[6] is None else moment(row[6]),
                records=[],
            )
            for row in rows
        }
        for stored in self.records("exchange.state <> 'done'"):
            found[stored.exchange_id].records.append(stored.record)
        return list(found.values())

    def unbatched_done(self) -> list[tuple[str, int]]:
        """Return (exchange id, position) of what is done and in no batch yet, by position."""
        stretches = deque(sorted((batch.first, batch.last) for batch in self.batches()))
        found: list[tuple[str, int]] = []
        rows = self.connection.execute(
            "SELECT exchange_id, position FROM exchange WHERE state = 'done' ORDER BY position"
        )
        for exchange_id, position in rows:
            while stretches and stretches[0][1] < position:
                stretches.popleft()
            if not stretches or position < stretches[0][0]:
                found.append((exchange_id, position))
        return found

    def records(
        self, where: str = "1", values: Sequence[object] = (), *, bodies: bool = True
    ) -> Iterator[StoredAttempt]:
        """Stream attempts in the order of the files; `where` is SQL of this room."""
        echoed = self._echoed()
        response = "response.bytes" if bodies else "NULL"
        rows = self.connection.execute(
            "SELECT exchange.exchange_id, item_id, repetition, side, turn, number, started_at, start_ns, first_byte_ns,"  # noqa: S608 - `where` is a constant of this room
            f" end_ns, status, headers, fault, attribution, peer, spki, request.bytes, {response},"
            " position, outcome"
            # CROSS keeps the order of the tables: from few exchanges to their attempts, never the other way.
            " FROM exchange CROSS JOIN attempt ON attempt.exchange_id = exchange.exchange_id"
            " JOIN body AS request ON request.digest = attempt.request_digest"
            " LEFT JOIN body AS response ON response.digest = attempt.body_digest"
            f" WHERE {where} ORDER BY item_id, repetition, side, turn, number",
            tuple(values),
        )
        for row in rows:
            yield StoredAttempt(
                row[0], row[18], None if row[19] is None else Outcome(row[19]), record_of_row(row[:18], echoed)
            )

    def batches(self) -> list[PendingBatch]:
        """Return the batch rows by number."""
        rows = self.connection.execute("SELECT number, first, last, root, ledger_seq FROM batch ORDER BY number")
        return [PendingBatch(*row) for row in rows]

    def events(self, kind: str | None = None) -> list[tuple[str, str, JsonObject]]:
        """Return events in order as (time, kind, detail)."""
        rows = self.connection.execute("SELECT at, kind, detail FROM event ORDER BY seq")
        return [(at, word, json.loads(detail)) for at, word, detail in rows if kind in (None, word)]

    def unbatched(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the items that no batch holds: those with a result, and those with an intent alone."""
        held = [range(batch.first, batch.last + 1) for batch in self.batches()]
        places = {place for stretch in held for place in stretch}
        rows = self.connection.execute(
            "SELECT item_id, position, MAX(end_ns IS NOT NULL) FROM attempt"
            " JOIN exchange ON exchange.exchange_id = attempt.exchange_id GROUP BY exchange.exchange_id"
        )
        loose = [(item, bool(known)) for item, position, known in rows if position not in places]
        sent = {item for item, known in loose if known}
        return tuple(sorted(sent)), tuple(sorted({item for item, known in loose if not known} - sent))

    def mark_interrupted(self, at: datetime) -> int:
        """Close every intent without result as interrupted, the auditor's, and return how many there were."""
        with self._transaction():
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
            with self._transaction():
                for sql, values in statements:
                    self.connection.execute(sql, tuple(values))
        except sqlite3.Error as error:
            raise disk_error(error) from error

    def _transaction(self) -> _Transaction:
        return _Transaction(self.connection)

    def _echoed(self) -> frozenset[tuple[str, int]]:
        return frozenset(
            (str(detail["exchange_id"]), int(str(detail["attempt"]))) for _, _, detail in self.events("secret_echo")
        )

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
        connection.executemany(
            "INSERT INTO exchange (exchange_id, item_id, repetition, side, position, state) "
            "VALUES (?, ?, ?, ?, ?, 'planned')",
            (
                (exchange_id, one.item_id, one.repetition, one.side, one.position)
                for exchange_id, one in zip(_tokens(len(plan.exchanges)), plan.exchanges, strict=True)
                if not one.shadow
            ),
        )
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


def _tokens(count: int) -> Iterator[str]:
    block = secrets.token_bytes(16 * count).hex()
    return (block[start : start + 32] for start in range(0, len(block), 32))
