"""The tables of a journal, and how a connection to one is opened.

Source: docs/spec/run.md, section "Journal".
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

APPLICATION_ID = 0x534C4156
"""`SLAV`: what `file` and SQLite tools see."""
USER_VERSION = 1
MIN_SQLITE = (3, 40, 0)

Statement = tuple[str, Sequence[object]]
"""SQL and its values."""

TABLES = """
CREATE TABLE run (
  run_id TEXT PRIMARY KEY,
  contract_digest TEXT NOT NULL,
  bank_digest TEXT NOT NULL,
  sample_sha256 TEXT NOT NULL,
  plan_sha256 TEXT NOT NULL,
  method_digest TEXT NOT NULL,
  product_version TEXT NOT NULL,
  run_secret BLOB NOT NULL CHECK (length(run_secret) = 32),
  started_at TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'stopped', 'complete'))
) STRICT;
CREATE TABLE exchange (
  exchange_id TEXT PRIMARY KEY,
  item_id TEXT NOT NULL,
  repetition INTEGER NOT NULL,
  side TEXT NOT NULL CHECK (side IN ('current', 'candidate')),
  position INTEGER NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('planned', 'in_flight', 'parked', 'done')),
  outcome TEXT CHECK ((outcome IS NULL) = (state <> 'done')),
  not_before TEXT,
  UNIQUE (item_id, repetition, side)
) STRICT;
CREATE TABLE attempt (
  exchange_id TEXT NOT NULL REFERENCES exchange (exchange_id),
  turn INTEGER NOT NULL,
  number INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  start_ns INTEGER NOT NULL,
  first_byte_ns INTEGER,
  end_ns INTEGER,
  request_digest TEXT NOT NULL,
  status INTEGER,
  headers TEXT,
  wire_bytes INTEGER,
  decoded_bytes INTEGER,
  body_digest TEXT,
  framing TEXT,
  fault TEXT,
  wait_s REAL,
  peer TEXT,
  spki TEXT,
  attribution TEXT,
  PRIMARY KEY (exchange_id, turn, number)
) STRICT;
CREATE TABLE body (
  digest TEXT PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE TABLE batch (
  number INTEGER PRIMARY KEY,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  root TEXT NOT NULL,
  previous_root TEXT,
  ledger_seq INTEGER
) STRICT;
"""

INTENT = (
    "INSERT INTO attempt (exchange_id, turn, number, started_at, start_ns, request_digest) VALUES (?, ?, ?, ?, ?, ?)"
)
IN_FLIGHT = "UPDATE exchange SET state = 'in_flight', not_before = NULL WHERE exchange_id = ?"
RESULT = (
    "UPDATE attempt SET started_at = ?, start_ns = ?, first_byte_ns = ?, end_ns = ?, status = ?, headers = ?, "
    "wire_bytes = ?, decoded_bytes = ?, body_digest = ?, framing = ?, fault = ?, wait_s = ?, peer = ?, spki = ?, "
    "attribution = ? WHERE exchange_id = ? AND turn = ? AND number = ? AND end_ns IS NULL"
)
BODY = "INSERT OR IGNORE INTO body (digest, bytes) VALUES (?, ?)"
STATE = "UPDATE exchange SET state = ?, outcome = ?, not_before = ? WHERE exchange_id = ? AND state <> 'done'"
BACK = "UPDATE exchange SET state = 'planned' WHERE state = 'in_flight'"
EVENT = "INSERT INTO event (at, kind, detail) VALUES (?, ?, ?)"
BATCH = "INSERT INTO batch (number, first, last, root, previous_root) VALUES (?, ?, ?, ?, ?)"
BATCH_SEQ = "UPDATE batch SET ledger_seq = ? WHERE number = ? AND ledger_seq IS NULL"
RUN_STATE = "UPDATE run SET state = ?"

TOGETHER = (BODY, INTENT, IN_FLIGHT, RESULT, STATE)
"""What a commit writes in one statement, and in this order: rows before what refers to them."""
WIDTH = max(sql.count("?") for sql in TOGETHER)
_PADDING = {sql: (kind, (None,) * (WIDTH - sql.count("?"))) for kind, sql in enumerate(TOGETHER)}
_NOTHING = (None,) * (WIDTH + 1)
"""A row that no trigger takes."""
_STEPS = (8, 64)
"""Rows of the statement for a commit are a multiple of the first up to the second, beyond it of the second: a statement
is kept with its program, and one for every number of rows would weigh 25 MB in a long run."""


def prepare_writing(connection: sqlite3.Connection) -> None:
    """Let a connection write rows of every statement of `TOGETHER` by one: see `together`.

    A view of the connection's own with a trigger for each of them; the file knows nothing of it.
    """
    columns = [f"c{place}" for place in range(1, WIDTH + 1)]
    connection.execute("PRAGMA temp_store = MEMORY")
    nothing = ", ".join(["NULL"] * (WIDTH + 1))
    connection.execute(f"CREATE TEMP VIEW IF NOT EXISTS work (kind, {', '.join(columns)}) AS SELECT {nothing}")
    for kind, sql in enumerate(TOGETHER):
        given = iter(columns)
        body = re.sub(r"\?", lambda _, given=given: f"NEW.{next(given)}", sql)  # type: ignore[misc]
        connection.execute(
            f"CREATE TEMP TRIGGER IF NOT EXISTS work_{kind} INSTEAD OF INSERT ON work WHEN NEW.kind = {kind} "
            f"BEGIN {body}; END"
        )


def together(rows: Sequence[Statement]) -> Statement:
    """Return one statement for rows of statements of `TOGETHER`, at least one."""
    small, large = _STEPS
    step = small if len(rows) <= large else large
    count = -(-len(rows) // step) * step
    given = [value for sql, values in rows for value in _padded(sql, values)]
    return _insert(count), [*given, *_NOTHING * (count - len(rows))]


@lru_cache(maxsize=16)
def _insert(count: int) -> str:
    return f"INSERT INTO work VALUES {', '.join(['(' + ', '.join(['?'] * (WIDTH + 1)) + ')'] * count)}"  # noqa: S608 - marks alone


def _padded(sql: str, values: Sequence[object]) -> tuple[object, ...]:
    kind, rest = _PADDING[sql]
    return (kind, *values, *rest)


def is_supported() -> bool:
    """Say whether the SQLite at hand knows what a journal needs."""
    return sqlite3.sqlite_version_info >= MIN_SQLITE


def connect(path: Path, *, read_only: bool = False, unchanging: bool = False) -> sqlite3.Connection:
    """Open a connection with the settings of a journal; `unchanging`: nobody writes now, the file alone is read.

    Raises: sqlite3.Error.
    """
    # Two processes of which one forked from the other share no lock and no shared memory of SQLite: it needs neither
    # where the file does not change.
    mode = "ro&immutable=1" if unchanging else "ro" if read_only else "rw"
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=5,
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        if not read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA wal_autocheckpoint = 2000")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def create_tables(connection: sqlite3.Connection) -> None:
    """Write the tables of an empty journal."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {USER_VERSION}")
    for statement in TABLES.split(";"):
        if statement.strip():
            connection.execute(statement)


def is_journal(connection: sqlite3.Connection) -> bool:
    """Say whether the file is a journal of this version, with exactly its tables."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        return False
    if connection.execute("PRAGMA user_version").fetchone()[0] != USER_VERSION:
        return False
    written = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}
    return written == {statement.strip() for statement in TABLES.split(";") if statement.strip()}
