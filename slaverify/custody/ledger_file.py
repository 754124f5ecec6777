"""The ledger of a bank folder, opened for appending.

Every append: exclusive lock; lines that others wrote meanwhile are verified and taken in; a torn last line, which
nobody was told of, is cut; the own line is verified as a stranger's would be; then it is written and synced, and only
then told. The verified state stays in memory, so that an append costs the same in a ledger of any size.

Not pure. Local file systems only (`flock`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from slaverify.canonical import JsonObject, jcs, loads_object
from slaverify.custody.checkpoints import CheckpointFile, checkpoint_path, read_checkpoint, token_path
from slaverify.custody.ed25519 import SigningKey, key_id
from slaverify.custody.entries import Entry, write_line
from slaverify.custody.faults import acting, fault
from slaverify.custody.files import disk_fault, write_whole
from slaverify.custody.ledger_rules import LedgerState, Trust, genesis_prev
from slaverify.custody.note import LOG, NoteKey, log_policy, parse_vkey, sign_checkpoint, verify_checkpoint
from slaverify.custody.ports import Clock, Timestamper
from slaverify.custody.shapes import time_text
from slaverify.custody.view import LedgerView
from slaverify.errors import CustodyError

NAME = "ledger.jsonl"


@dataclass(frozen=True)
class Draft:
    """An entry to be written: its type, its data, and who signs it, in order."""

    kind: str
    data: JsonObject
    signers: tuple[SigningKey, ...]


Build = Callable[[LedgerView], "Draft | Entry"]


class LedgerFile:
    """A ledger on disk with its verified state. `clock_offset_ms` (None: not measured) goes into each entry."""

    def __init__(self, folder: Path, clock: Clock, trust: Trust | None) -> None:
        self.folder = folder
        self.clock_offset_ms: int | None = None
        self._path = folder / NAME
        self._clock = clock
        self._state = LedgerState(trust)
        self._offset = 0

    @classmethod
    def create(cls, folder: Path, clock: Clock, *, origin: str, organisation: str, log_key: SigningKey) -> LedgerFile:
        """Begin a ledger with its first line, signed by the custodian's first key.

        Raises: CustodyError SLV-K034 if the folder has a ledger.
        """
        path = folder / NAME
        try:
            path.touch(mode=0o644, exist_ok=False)
        except FileExistsError as error:
            raise fault(
                34, "la carpeta ya tiene un libro", "the folder has a ledger already", where=str(path)
            ) from error
        log_vkey = NoteKey(origin, LOG, log_key.public).vkey()
        ledger = cls(folder, clock, Trust(origin, log_vkey))
        data = {"origin": origin, "log_vkey": log_vkey, "organisation": organisation}
        ledger._write_first(data, genesis_prev(origin, log_key.public), log_key)
        (folder / "checkpoints").mkdir(exist_ok=True)
        return ledger

    @classmethod
    def open(cls, folder: Path, clock: Clock, *, trust: Trust | None = None) -> LedgerFile:
        """Open a ledger and verify it whole, once. Without `trust` it is taken at its own word.

        A torn last line is left for the next append to cut. Raises: CustodyError SLV-K020 to K023, K034, K040 ….
        """
        ledger = cls(folder, clock, trust)
        try:
            with ledger._path.open("rb") as stream:
                ledger._take_in(stream)
        except OSError as error:
            raise fault(
                34, "no se puede leer el libro", "the ledger cannot be read", where=str(ledger._path)
            ) from error
        ledger._state.view()
        return ledger

    @property
    def view(self) -> LedgerView:
        """The ledger as this process last saw it."""
        return self._state.view()

    @property
    def root(self) -> bytes:
        """The root over the lines, from the edge of the tree."""
        return self._state.frontier.root()

    def refresh(self) -> LedgerView:
        """Take in what others appended since, and return the view."""
        with self._locked() as stream:
            self._take_in(stream)
        return self._state.view()

    def append(self, kind: str, data: JsonObject, signers: Sequence[SigningKey]) -> Entry:
        """Append an entry, or return the one of the same type and data that stands already.

        Raises: CustodyError if the rules refuse it, SLV-K072 (exit 6) if the disk does.
        """
        return self.transact(lambda view: self._standing(kind, data) or Draft(kind, data, tuple(signers)))

    def transact(self, build: Build) -> Entry:
        """Under the lock, show `build` the ledger as it is now and append the entry that it drafts.

        `build` may return an entry that stands already; then nothing is written.
        Raises: CustodyError if the rules refuse the draft (K040, K041 and K045 with exit 5), SLV-K072 (disk).
        """
        with self._locked() as stream:
            self._take_in(stream)
            self._cut_torn(stream)
            draft = build(self._state.view())
            if isinstance(draft, Entry):
                return draft
            return self._write(stream, draft.kind, draft.data, self._state.entries[-1].digest, draft.signers)

    def propose(self, kind: str, data: JsonObject, actor: SigningKey) -> bytes:
        """Return the next entry signed by its first signer, as a line to be countersigned or appended elsewhere."""
        return write_line(self._tree(kind, data, self._state.entries[-1].digest, actor), [actor])

    def accept(self, line: bytes) -> Entry:
        """Append a line that was proposed over the ledger as it stands; it is judged as a stranger's would be.

        Raises: CustodyError; SLV-K021 if the ledger has grown since: let it be proposed again.
        """
        with self._locked() as stream:
            self._take_in(stream)
            self._cut_torn(stream)
            return self._write_line(stream, line)

    def checkpoint(self, log_key: SigningKey, timestamper: Timestamper | None = None) -> CheckpointFile:
        """Write the checkpoint of the ledger as it is now, and its token if a `timestamper` is given.

        What lies there already is kept, so that a step broken off between the two can be walked again.
        Raises: CustodyError SLV-K071 (not the log key), SLV-K026 (another checkpoint of this size lies there), what
        the timestamper raises.
        """
        with self._locked() as stream:
            self._take_in(stream)
            size, root = self._state.size, self.root
        view = self._state.view()
        if parse_vkey(view.log_vkey).public != log_key.public:
            raise fault(71, "no es la clave del libro", "not the log key", where=str(self.folder))
        path = checkpoint_path(self.folder, size)
        if not path.is_file():
            path.parent.mkdir(exist_ok=True)
            write_whole(path, sign_checkpoint(view.origin, size, root, log_key))
        found = read_checkpoint(path, size)
        proven = verify_checkpoint(found.data, log_policy(view.origin, view.log_vkey))
        if (proven.size, proven.root) != (size, root):
            raise fault(
                26, "hay otro punto de control de este tamaño", "another checkpoint of this size", where=str(path)
            )
        if timestamper is not None and found.token is None:
            write_whole(token_path(path), timestamper.stamp(found.body))
            found = read_checkpoint(path, size)
        return found

    def _standing(self, kind: str, data: JsonObject) -> Entry | None:
        wanted = loads_object(jcs(data))
        digest, number = wanted.get("contract_digest"), wanted.get("run")
        candidates: Sequence[Entry] = self._state.entries
        if isinstance(digest, str) and isinstance(number, int):
            record = self._state.runs.get((digest, number))
            candidates = () if record is None else record.all(kind)
        return next((entry for entry in reversed(candidates) if entry.type == kind and entry.data == wanted), None)

    def _write_first(self, data: JsonObject, prev: str, log_key: SigningKey) -> None:
        with self._locked() as stream:
            self._write(stream, "genesis", data, prev, (log_key,))

    def _write(self, stream: BinaryIO, kind: str, data: JsonObject, prev: str, signers: Sequence[SigningKey]) -> Entry:
        return self._write_line(stream, write_line(self._tree(kind, data, prev, signers[0]), signers))

    def _tree(self, kind: str, data: JsonObject, prev: str, actor: SigningKey) -> JsonObject:
        return {
            "v": 1,
            "seq": self._state.size,
            "type": kind,
            "actor": key_id(actor.public),
            "time": time_text(self._clock()),
            "clock_offset_ms": self.clock_offset_ms,
            "prev": prev,
            "data": data,
        }

    def _write_line(self, stream: BinaryIO, line: bytes) -> Entry:
        try:
            entry = self._state.check(line)
        except CustodyError as error:
            raise acting(error) from None
        try:
            stream.seek(self._offset)
            stream.write(line + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(stream.fileno(), self._offset)
            raise disk_fault(error, self._path) from error
        self._apply(entry)
        return entry

    def _apply(self, entry: Entry) -> None:
        self._state.apply(entry)
        self._offset += len(entry.line) + 1

    def _take_in(self, stream: BinaryIO) -> None:
        if self._state.entries:
            # What was verified must still stand there: a ledger is never shortened nor replaced.
            last = self._state.entries[-1].line + b"\n"
            stream.seek(self._offset - len(last))
            if stream.read(len(last)) != last:
                raise fault(
                    26, "el libro fue cambiado o acortado", "the ledger was changed or cut", where=str(self._path)
                )
        stream.seek(self._offset)
        for line in stream:
            if not line.endswith(b"\n"):
                return
            self._apply(self._state.check(line[:-1]))

    def _cut_torn(self, stream: BinaryIO) -> None:
        if os.fstat(stream.fileno()).st_size > self._offset:
            os.ftruncate(stream.fileno(), self._offset)
            os.fsync(stream.fileno())

    @contextlib.contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        try:
            stream = self._path.open("r+b")
        except OSError as error:
            raise disk_fault(error, self._path) from error
        with stream:
            # Released by the kernel when the file is closed, also when the process is killed.
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield stream
