"""A commit's joined statements do what the single ones do, row by row."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from slaverify.run import schema


@pytest.mark.parametrize("sql", schema.FIRST)
def test_a_row_of_the_joined_statement_takes_the_values_of_the_single_one(sql):
    assert schema.many(sql, 1).count("?") == sql.count("?")
    assert schema.many(sql, 3).count("?") == 3 * sql.count("?")


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


def test_joined_and_single_statements_write_the_same_rows():
    with closing(journal()) as one, closing(journal()) as many:
        for sql in schema.FIRST:
            for place in range(3):
                one.execute(sql, values(sql, place))
            many.execute(schema.many(sql, 3), [value for place in range(3) for value in values(sql, place)])
            assert rows(one) == rows(many), sql
        # What has a result keeps it, and what is done stays so, in both.
        for sql in (schema.RESULT, schema.STATE):
            changed = ("x", *values(sql, 0)[1:]) if sql == schema.RESULT else ("parked", None, "t", "e0")
            one.execute(sql, changed)
            many.execute(schema.many(sql, 1), changed)
        assert rows(one) == rows(many)
        assert rows(one)["exchange"][0][5:7] == ("done", "answered")
