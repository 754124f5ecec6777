"""What a journal says, read from its rows: counts, what is left to do, attempts, batches, events. Part of the journal.

Totals are counted each time; long lists are streamed or read by pages.

Source: docs/spec/run.md, section "Journal".
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from slaverify.canonical import JsonObject
from slaverify.contract.words import Outcome
from slaverify.run.plan import PlannedExchange
from slaverify.run.rules import moment
from slaverify.run.stored import JournalExchange, PendingBatch, StoredAttempt, Stretches, Summary, record_of_row

Slice = tuple[str, str | None]
"""Items from an id (included) to another one (not included, None: to the end), in the order of the files."""
WHOLE: Slice = ("", None)
PAGE = 512
"""Exchanges that are read from a journal at a time (convention): memory does not grow with the run."""


class JournalRows:
    """One connection to a journal, and what can be read through it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    @property
    def state(self) -> str:
        """Return `open`, `stopped` or `complete`."""
        return str(self.connection.execute("SELECT state FROM run").fetchone()[0])

    def is_two_sided(self) -> bool:
        """Say whether any exchange is of the candidate: a change check."""
        return self.connection.execute("SELECT 1 FROM exchange WHERE side = 'candidate' LIMIT 1").fetchone() is not None

    def summary(self) -> Summary:
        """Count everything from rows."""
        ask = self.connection.execute
        groups = ask("SELECT state, outcome, COUNT(*) FROM exchange GROUP BY state, outcome").fetchall()
        attempts, doubt = ask(
            "SELECT COUNT(*), COALESCE(SUM(end_ns IS NULL AND fault IS NULL), 0) FROM attempt"
        ).fetchone()
        planned = sum(count for _, _, count in groups)
        counted = {Outcome(word): count for state, word, count in groups if state == "done"}
        done = sum(counted.values())
        return Summary(planned, done, planned - done, doubt, attempts, counted, self.state)

    def pending(self, after: int = -1, limit: int = PAGE) -> list[JournalExchange]:
        """Return up to `limit` exchanges that are not done and stand after a position, with their attempts so far."""
        rows = self.connection.execute(
            "SELECT exchange_id, item_id, repetition, side, position, state, not_before "
            "FROM exchange WHERE state <> 'done' AND position > ? ORDER BY position LIMIT ?",
            (after, limit),
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
        if found:
            between = (after + 1, max(row.position for row in found.values()))
            for stored in self.records("exchange.state <> 'done' AND position BETWEEN ? AND ?", between):
                found[stored.exchange_id].records.append(stored.record)
        return list(found.values())

    def all_pending(self) -> Iterator[JournalExchange]:
        """Stream the exchanges that are not done, by position; what is done meanwhile is left out or not, by page."""
        page = self.pending()
        while page:
            yield from page
            page = self.pending(page[-1].position)

    def pending_items(self) -> Iterator[str]:
        """Stream the item ids of the exchanges that are not done, by position."""
        rows = self.connection.execute("SELECT item_id FROM exchange WHERE state <> 'done' ORDER BY position")
        return (item for (item,) in rows)

    def unbatched_done(self) -> list[tuple[str, int]]:
        """Return (exchange id, position) of what is done and in no batch yet, by position."""
        held = Stretches(self.batches())
        # Below the first position that no batch holds there is nothing to find: a long journal is not read again.
        rows = self.connection.execute(
            "SELECT exchange_id, position FROM exchange WHERE position >= ? AND state = 'done' ORDER BY position",
            (held.first_free(),),
        )
        return [(exchange_id, position) for exchange_id, position in rows if held.number_of(position) is None]

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

    def asked(self) -> Iterator[tuple[str, int, str]]:
        """Stream (item id, repetition, side) of what an attempt was made of."""
        return iter(
            self.connection.execute(
                "SELECT item_id, repetition, side FROM exchange WHERE exchange_id IN (SELECT exchange_id FROM attempt)"
            )
        )

    def records_of(self, part: Slice) -> Iterator[StoredAttempt]:
        """Stream the attempts of a slice in the order of the files."""
        first, end = part
        if end is None:
            return self.records("item_id >= ?", (first,))
        return self.records("item_id >= ? AND item_id < ?", (first, end))

    def slices(self, size: int, first: int = 0) -> list[Slice]:
        """Cut the exchanges into slices of about `size` (all of an item in one), which hold them all.

        The first one is of about `first`, and the second the rest of `size`; 0 for a first one like the others.
        """
        items = self.connection.execute("SELECT item_id FROM exchange ORDER BY item_id, repetition, side")
        starts = list(
            dict.fromkeys(item for number, (item,) in enumerate(items) if number % size == 0 or number == first)
        )
        return list(zip(starts, [*starts[1:], None], strict=True))

    def batches(self) -> list[PendingBatch]:
        """Return the batch rows by number."""
        rows = self.connection.execute("SELECT number, first, last, root, ledger_seq FROM batch ORDER BY number")
        return [PendingBatch(*row) for row in rows]

    def events(self, kind: str | None = None) -> list[tuple[str, str, JsonObject]]:
        """Return events in order as (time, kind, detail)."""
        rows = self.connection.execute(
            "SELECT at, kind, detail FROM event WHERE kind = ? OR ? IS NULL ORDER BY seq", (kind, kind)
        )
        return [(at, word, json.loads(detail)) for at, word, detail in rows]

    def planned(self) -> Iterator[PlannedExchange]:
        """Stream the plan that the journal was made of, by position."""
        rows = self.connection.execute("SELECT position, item_id, repetition, side FROM exchange ORDER BY position")
        return (PlannedExchange(*row) for row in rows)

    def unbatched(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the items that no batch holds: those with a result, and those with an intent alone."""
        held = Stretches(self.batches())
        rows = self.connection.execute(
            "SELECT item_id, position, MAX(end_ns IS NOT NULL) FROM exchange"
            " CROSS JOIN attempt ON attempt.exchange_id = exchange.exchange_id"
            " WHERE position >= ? GROUP BY exchange.exchange_id",
            (held.first_free(),),
        )
        loose = [(item, bool(known)) for item, position, known in rows if held.number_of(position) is None]
        sent = {item for item, known in loose if known}
        return tuple(sorted(sent)), tuple(sorted({item for item, known in loose if not known} - sent))

    def _echoed(self) -> frozenset[tuple[str, int, int]]:
        return frozenset(
            (str(detail["exchange_id"]), int(str(detail.get("turn", 0))), int(str(detail["attempt"])))
            for _, _, detail in self.events("secret_echo")
        )
