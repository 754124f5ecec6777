"""The journal of a judge's calls: JSON Lines, appended and flushed to disk one by one, read whole on resume.

A line is an intent (before the bytes leave) or a record (before it counts). A kill may leave a torn last line: it is
cut off. An intent without record was a call all the same: it counts against the budget.

Source: docs/spec/judging.md section 8.
"""

from __future__ import annotations

import os
from pathlib import Path

from slaverify.canonical import JsonObject, StrictJsonError, jcs, loads_canonical
from slaverify.custody.files import private_folder
from slaverify.errors import JudgeError, Text
from slaverify.judging import JudgementRecord

NAME = "calls.jsonl"


class JudgeJournal:
    """The journal of one run. Use as a context manager; one process a run holds it (`audit.alone`)."""

    def __init__(self, folder: Path) -> None:
        """Open, or make, the journal in `folder` (0700). Raises: JudgeError SLV-J048 for a line that is no line."""
        self._folder = private_folder(folder)
        self._path = folder / NAME
        self.records: list[JudgementRecord] = []
        self.intents = 0
        self._read()
        self._file = self._path.open("ab")
        self._path.chmod(0o600)

    def __enter__(self) -> JudgeJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def intend(self, key: str, request: int) -> None:
        """Note that a call is about to leave."""
        self.intents += 1
        self._append({"intent": key, "request": request})

    def add(self, record: JudgementRecord) -> None:
        """Note what came back."""
        self.records.append(record)
        self._append(record.to_json())

    def reject(self) -> None:
        """Set the calls of a judge that proved unfit aside: the next start asks everything again."""
        self._file.close()
        number = 1 + sum(1 for _ in self._folder.glob("rejected-*.jsonl"))
        self._path.rename(self._folder / f"rejected-{number}.jsonl")
        self._file = self._path.open("ab")
        self.records = []

    def _append(self, tree: JsonObject) -> None:
        self._file.write(jcs(tree) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self) -> None:
        for path in sorted(self._folder.glob("rejected-*.jsonl")):
            self.intents += path.read_bytes().count(b'{"intent":')
        if not self._path.is_file():
            return
        data = self._path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(self._path, len(whole))
        for number, line in enumerate(whole.splitlines(), 1):
            self._take(line, number)

    def _take(self, line: bytes, number: int) -> None:
        try:
            tree = loads_canonical(line)
            if "intent" in tree:
                self.intents += 1
            else:
                self.records.append(JudgementRecord.from_json(tree))
        except (StrictJsonError, ValueError) as error:
            raise JudgeError(
                "SLV-J048",
                Text("el diario del juez está dañado", "the judge's journal is damaged"),
                why=Text(str(error)[:80], str(error)[:80]),
                where=f"{self._path}:{number}",
                exit_code=5,
            ) from error
