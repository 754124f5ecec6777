"""A verified ledger, read-only: entries, key register, size, root, runs by contract.

A view stands still while the ledger grows: it shares the entries and knows its own size.

Source: docs/spec/ledger.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from slaverify.canonical import JsonValue
from slaverify.custody import merkle
from slaverify.custody.blind import revealed
from slaverify.custody.entries import Entry
from slaverify.custody.faults import fault
from slaverify.custody.register import RegisteredKey, with_entry
from slaverify.custody.runs import RunRecord
from slaverify.custody.shapes import text

RunKey = tuple[str, int]


class LedgerView:
    """The first `size` entries of a ledger that was verified line by line."""

    def __init__(self, entries: Sequence[Entry], size: int | None = None) -> None:
        self._entries = entries
        self.size = len(entries) if size is None else size
        if not 0 < self.size <= len(entries):
            raise ValueError("a view has at least the first line and at most all")

    def __iter__(self) -> Iterator[Entry]:
        """Walk the entries in order."""
        return (self._entries[seq] for seq in range(self.size))

    def __getitem__(self, seq: int) -> Entry:
        """Return entry number `seq`. Raises: IndexError."""
        if not 0 <= seq < self.size:
            raise IndexError(seq)
        return self._entries[seq]

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries of the view, in order."""
        return self._entries[: self.size]

    @property
    def origin(self) -> str:
        """The name of the ledger."""
        return text(self._entries[0].data, "origin")

    @property
    def log_vkey(self) -> str:
        """The verifier key of the log, as the first line states it."""
        return text(self._entries[0].data, "log_vkey")

    @property
    def demo(self) -> bool:
        """Whether this is the ledger of a demonstration bank (its name says so): level 0 whatever else holds."""
        return self.origin.startswith("demo")

    def upto(self, size: int) -> LedgerView:
        """Return the view of the first `size` entries. Raises: ValueError."""
        return LedgerView(self._entries, size) if size <= self.size else LedgerView(self._entries[: self.size], size)

    def file_bytes(self) -> bytes:
        """Return the bytes of `ledger.jsonl` up to this view's size."""
        return b"".join(entry.line + b"\n" for entry in self)

    @cached_property
    def root(self) -> bytes:
        """The root of the tree over the lines."""
        return merkle.root(entry.leaf for entry in self)

    def root_at(self, size: int) -> bytes:
        """Return the root over the first `size` lines. Raises: CustodyError SLV-K025 if there are fewer."""
        if size > self.size:
            raise fault(
                25,
                f"el libro tiene {self.size} entradas y se esperaban {size}",
                f"the ledger has {self.size} entries where {size} were expected",
            )
        return merkle.root(self._entries[seq].leaf for seq in range(size))

    def against(self, size: int, root: bytes) -> None:
        """Compare with an expected checkpoint. Raises: CustodyError SLV-K025 (shorter), SLV-K026 (other root)."""
        if self.root_at(size) != root:
            raise fault(
                26,
                f"la raíz de las primeras {size} entradas no es la esperada: otra historia",
                f"the root of the first {size} entries is not the expected one: another history",
            )

    def find_all(
        self, kind: str, *, contract_digest: str | None = None, run: int | None = None, **data: JsonValue
    ) -> tuple[Entry, ...]:
        """Return the entries of a type, in order, whose data has each given value."""
        wanted: dict[str, JsonValue] = dict(data)
        if contract_digest is not None:
            wanted["contract_digest"] = contract_digest
        if run is not None:
            wanted["run"] = run
        return tuple(
            entry
            for entry in self
            if entry.type == kind and all(entry.data.get(key) == value for key, value in wanted.items())
        )

    def find(
        self, kind: str, *, contract_digest: str | None = None, run: int | None = None, **data: JsonValue
    ) -> Entry | None:
        """Return the last entry of a type whose data has each given value, or None."""
        found = self.find_all(kind, contract_digest=contract_digest, run=run, **data)
        return found[-1] if found else None

    @cached_property
    def keys(self) -> dict[str, RegisteredKey]:
        """The register: each key by its id."""
        register: dict[str, RegisteredKey] = {}
        for entry in self:
            with_entry(register, entry)
        return register

    @cached_property
    def _runs(self) -> dict[RunKey, RunRecord]:
        found: dict[RunKey, RunRecord] = {}
        for entry in self:
            fold_run(found, entry, self._entries)
        return found

    def runs(self, contract_digest: str) -> tuple[RunRecord, ...]:
        """Return every run of a contract, by number; those that decide nothing too."""
        return tuple(record for (digest, _), record in self._runs.items() if digest == contract_digest)

    def run(self, contract_digest: str, number: int) -> RunRecord | None:
        """Return one run, or None."""
        return self._runs.get((contract_digest, number))

    def contract(self, contract_digest: str) -> Entry | None:
        """Return the entry that registered a contract, or None."""
        return self.find("contract_registered", contract_digest=contract_digest)

    def bank(self, bank_digest: str) -> Entry | None:
        """Return the entry that sealed a bank, or None."""
        return self.find("bank_sealed", bank_digest=bank_digest)

    def deciding_run(self, contract_digest: str) -> RunRecord | None:
        """Return the run that decides (`first_complete`): the SLA run whose `run_ended` came first, or None."""
        ended = [
            record
            for record in self.runs(contract_digest)
            if record.purpose is None and record.terminal is not None and not record.aborted
        ]
        return min(ended, key=lambda record: record.terminal.seq if record.terminal else 0, default=None)

    def tainted(self, anchors: Sequence[tuple[int, str]] = ()) -> tuple[int, ...]:
        """Return the entries that a later revocation took down.

        An entry signed by a revoked key stands only if its time is before `from` and it lies under a checkpoint
        that was witnessed or timestamped before `from`: `anchors` are (size, time) of such checkpoints, verified.
        The entry that registered a key and the one that revoked it make no claim of that key's owner.
        """
        taken = []
        for entry in self:
            for signer, _ in entry.sigs:
                since = self.keys[signer].revoked_from
                if since is None or entry.type == "key_added":
                    continue
                covered = any(size > entry.seq and at < since for size, at in anchors)
                if entry.time >= since or not covered:
                    taken.append(entry.seq)
        return tuple(dict.fromkeys(taken))


def fold_run(runs: dict[RunKey, RunRecord], entry: Entry, entries: Sequence[Entry]) -> None:
    """Bring the runs up to date with one verified entry (in place); a start that was blind counts once it is opened."""
    if entry.type == "unblind":
        started = revealed(entries, entry)
        if started is not None:
            fold_run(runs, started, entries)
        return
    digest, number = entry.contract_digest, entry.run
    if digest is None or number is None:
        return
    if entry.type == "run_opened":
        runs[digest, number] = RunRecord(digest, number, entry)
    elif (digest, number) in runs:
        runs[digest, number] = runs[digest, number].with_entry(entry)
