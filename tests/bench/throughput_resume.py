"""How soon a journal of 200,000 exchanges, all but the last 1,000 done, sends again, and how much memory that takes.

`python -m tests.bench.throughput_resume FOLDER URL ITEMS CONNECTIONS` prints one line of JSON. The rows of what is done
are written by SQL, the rest is a real resume.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from unittest.mock import patch

from slaverify.canonical import sha256_hex
from slaverify.contract.load import load_contract
from slaverify.engine import WireRequest, WireResult
from slaverify.run import batches, runner
from slaverify.run.journal import Journal
from slaverify.run.progress import Progress
from slaverify.run.relay import Relay
from tests.bench.memory import peak_mb
from tests.bench.throughput_ours import inputs_of, open_journal, write_contract
from tests.run.world import RUN_ID, Ledger

LEFT = 1_000


class Stopwatch(Relay):
    """The wire of a run, which notes when the first request leaves."""

    first: float | None = None

    async def send(self, request: WireRequest) -> WireResult:
        if Stopwatch.first is None:
            Stopwatch.first = time.perf_counter()
        return await super().send(request)


def fill(journal: Journal, count: int) -> None:
    """Write what a run has written when all but the last exchanges are done, in full batches."""
    done = count - LEFT
    ask = journal.connection.execute
    rows = ask("SELECT exchange_id, position FROM exchange WHERE position < ? ORDER BY position", (done,)).fetchall()
    ask("BEGIN")
    for exchange_id, position in rows:
        request = json.dumps({"model": "stub-1", "n": position, "messages": "x" * 120}).encode()
        body = json.dumps({"id": f"c{position}", "choices": [{"message": {"content": "x" * 300}}]}).encode()
        sent, got = sha256_hex(request), sha256_hex(body)
        ask("INSERT INTO body VALUES (?, ?), (?, ?)", (sent, request, got, body))
        ask(
            "INSERT INTO attempt VALUES (?, 0, 1, '2026-01-01T00:00:00.000Z', 1, 2, 3, ?, 200, '{}', 9, 9, ?, 'length',"
            " NULL, NULL, '127.0.0.1', NULL, NULL)",
            (exchange_id, sent, got),
        )
    ask("UPDATE exchange SET state = 'done', outcome = 'answered' WHERE position < ?", (done,))
    for number in range(1, done // batches.SIZE + 1):
        first = (number - 1) * batches.SIZE
        values = (number, first, first + batches.SIZE - 1, "00" * 32, None, number)
        ask("INSERT INTO batch VALUES (?, ?, ?, ?, ?, ?)", values)
    ask("COMMIT")


def main(folder: Path, url: str, count: int, connections: int) -> None:
    write_contract(folder / "contract.yaml", url, connections)
    path = folder / f"{RUN_ID}.journal"
    if not path.exists():
        # In a process of its own memory: what is made here must not count as the resume's.
        with open_journal(folder, count) as journal:
            fill(journal, count)
        print(json.dumps({"journal_mb": path.stat().st_size / 1e6}))
        return
    began = time.perf_counter()
    model = load_contract(folder / "contract.yaml").model
    with Journal.open(path) as journal:
        inputs = inputs_of(model, journal, count, Ledger(), Progress())
        with patch.object(runner, "Relay", Stopwatch):
            runner.carry_out_run(journal, inputs)
    assert Stopwatch.first is not None
    told = {
        "first_request_s": Stopwatch.first - began,
        "rss_mb": peak_mb(),
        "wall_s": time.perf_counter() - began,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
