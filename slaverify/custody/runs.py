"""What the ledger says of one run: its entries, sorted by what they mean.

Source: docs/spec/ledger.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from slaverify.custody.entries import CHANGE_CHECK, Entry

SECOND_STAGE = "second_stage"
"""Reason of the entry `run_resumed` that opens a second stage, before anything of it is sent."""


@dataclass(frozen=True)
class RunRecord:
    """One run of one contract, with its entries by type."""

    contract_digest: str
    number: int
    opened: Entry
    by_type: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)

    def all(self, kind: str) -> tuple[Entry, ...]:
        """Return the run's entries of a type, in order."""
        return self.by_type.get(kind, ())

    def last(self, kind: str) -> Entry | None:
        """Return the run's last entry of a type, or None."""
        found = self.all(kind)
        return found[-1] if found else None

    @property
    def draw(self) -> Entry | None:
        """The draw."""
        return self.last("draw")

    @property
    def started(self) -> Entry | None:
        """The entry `run_started`."""
        return self.last("run_started")

    @property
    def terminal(self) -> Entry | None:
        """The entry `run_ended` or `run_aborted`; None while the run is open."""
        return self.last("run_ended") or self.last("run_aborted")

    @property
    def batches(self) -> tuple[Entry, ...]:
        """The batches, by number."""
        return self.all("batch")

    @property
    def scored(self) -> Entry | None:
        """The last entry `scored`."""
        return self.last("scored")

    @property
    def report(self) -> Entry | None:
        """The last entry `report_issued`."""
        return self.last("report_issued")

    @property
    def is_open(self) -> bool:
        """Whether the run has neither ended nor been aborted."""
        return self.terminal is None

    @property
    def aborted(self) -> bool:
        """Whether the run was aborted."""
        return self.last("run_aborted") is not None

    @property
    def purpose(self) -> str | None:
        """`change_check`, or None for an SLA run."""
        value = self.opened.data.get("purpose")
        return value if isinstance(value, str) else None

    @property
    def is_change_check(self) -> bool:
        """Whether two versions answer the run: it decides nothing of the contract."""
        return self.purpose == CHANGE_CHECK

    def delivery(self, part: str) -> Entry | None:
        """Return the last delivery of `part`, or None."""
        found = [entry for entry in self.all("delivery") if entry.data["part"] == part]
        return found[-1] if found else None

    def roles(self, kind: str) -> list[str]:
        """Return the roles that the entries of a type name, in order."""
        return [str(entry.data["role"]) for entry in self.all(kind)]

    def with_entry(self, entry: Entry) -> RunRecord:
        """Return the record with one more entry of this run."""
        return replace(self, by_type={**self.by_type, entry.type: (*self.all(entry.type), entry)})
