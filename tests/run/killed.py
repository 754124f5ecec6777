"""The process that the kill test kills: one call of a run, with a ledger that survives."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from slaverify.run import Batch
from tests.engine.endpoints import endpoint_spec
from tests.run.world import World


class FileLedger:
    """Batches appended to a file, synced before the number is given."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def batches(self) -> list[Batch]:
        if not self.path.exists():
            return []
        lines = [line for line in self.path.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [Batch(**{**entry, "items": tuple(entry["items"])}) for entry in map(json.loads, lines)]

    def on_batch(self, batch: Batch) -> int:
        assert self.find_batch(batch.number) is None, "batched twice"
        with self.path.open("a") as file:
            file.write(json.dumps(asdict(batch)) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return batch.number

    def find_batch(self, number: int) -> int | None:
        return next((one.number for one in self.batches() if one.number == number), None)


def world(folder: str, url: str, count: int, concurrency: int) -> World:
    spec = endpoint_spec(url, call={"concurrency": concurrency})
    made = World(Path(folder), spec, count=count)
    made.ledger = FileLedger(Path(folder) / "ledger.jsonl")
    return made


def run_once(folder: str, url: str, count: int, concurrency: int) -> None:
    made = world(folder, url, count, concurrency)
    made.folder.mkdir(parents=True, exist_ok=True)
    made.run()
