"""A commit's joined statements do what the single ones do, row by row."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from slaverify.run import schema


def rows(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    return {
        name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall()
        for name in ("exchange", "attempt", "body")
    }


def journal() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    schema.create_tables(connection)
    for place in range(4):
        connection.execute(
            "INSERT INTO exchange (exchange_id, item_id, repetition, side, position, state) "
            "VALUES (?, ?, 0, 'current', ?, 'planned')",
            (f"e{place}", f"i{place}", place),
        )
    return connection


def values(sql: str, place: int) -> tuple[object, ...]:
    return {
        schema.BODY: (f"d{place}", bytes([place])),
        schema.INTENT: (f"e{place}", place % 2, 1, f"t{place}", 10 + place, f"d{place}"),
        schema.IN_FLIGHT: (f"e{place}",),
        schema.RESULT: (
            *(f"u{place}", 20 + place, 30, 40, 200, "{}", 5, 6, f"d{place}", "length", None, 0.5, "p", None, "vendor"),
            *(f"e{place}", place % 2, 1),
        ),
        schema.STATE: ("done", "answered", None, f"e{place}"),
    }[sql]


def together(connection: sqlite3.Connection, *given: tuple[str, tuple[object, ...]]) -> None:
    connection.execute(*schema.together(given))


def test_a_long_run_keeps_few_statements():
    """Each one is kept compiled: one for every number of rows would weigh more than the run."""
    row = (schema.IN_FLIGHT, ("e0",))
    assert len({schema.together([row] * count)[0] for count in range(1, 400)}) <= 16


def test_rows_written_by_one_statement_are_those_of_the_single_ones():
    with closing(journal()) as one, closing(journal()) as many, closing(journal()) as whole:
        schema.prepare_writing(many)
        schema.prepare_writing(whole)
        schema.prepare_writing(whole)
        for sql in schema.TOGETHER:
            for place in range(3):
                one.execute(sql, values(sql, place))
            together(many, *((sql, values(sql, place)) for place in range(3)))
            assert rows(one) == rows(many), sql
        together(whole, *((sql, values(sql, place)) for sql in schema.TOGETHER for place in range(3)))
        assert rows(one) == rows(whole)
        # A body that is there stays, what has a result keeps it, and what is done stays so, in both.
        again = {
            schema.BODY: ("d0", b"other"),
            schema.RESULT: ("x", *values(schema.RESULT, 0)[1:]),
            schema.STATE: ("parked", None, "t", "e0"),
        }
        for sql, changed in again.items():
            one.execute(sql, changed)
            together(many, (sql, changed))
        assert rows(one) == rows(many)
        assert rows(one)["exchange"][0][5:7] == ("done", "answered")


def test_a_row_that_breaks_a_rule_undoes_the_whole_statement():
    with closing(journal()) as connection:
        schema.prepare_writing(connection)
        intent = (schema.INTENT, values(schema.INTENT, 0))
        with pytest.raises(sqlite3.IntegrityError):
            together(connection, (schema.BODY, values(schema.BODY, 0)), intent, intent)
        with pytest.raises(sqlite3.IntegrityError):
            together(connection, (schema.STATE, ("lost", None, None, "e0")))
        assert rows(connection)["attempt"] == rows(connection)["body"] == []
        assert schema.is_journal(connection)
