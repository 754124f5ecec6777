"""Digests of finished exchanges for the ledger: RFC 6962 roots over lines of `run/outcomes.jsonl`. Pure.

Source: docs/spec/run.md, section "Batches"; RFC 6962 2.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, StrictJsonError, jcs, loads_jsonl
from slaverify.custody import Frontier, leaf_hash
from slaverify.errors import EvidenceError, Text
from slaverify.run.derive import RecordFile
from slaverify.run.plan import Plan
from slaverify.run.records import OUTCOMES, read_key

SIZE = 25
"""Exchanges of a batch (convention)."""
PERIOD_S = 60.0
"""Longest that a finished exchange waits for its batch, seconds (convention)."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch: `first` and `last` are plan positions, `items` the ids that it holds, `root` hex."""

    number: int
    first: int
    last: int
    items: tuple[str, ...]
    root: str


def batch_root(lines: Iterable[bytes]) -> str:
    """Return the root over record lines (without LF) in the order of the file, hex."""
    tree = Frontier()
    for line in lines:
        tree.append(leaf_hash(line))
    return tree.root().hex()


def make_batch(number: int, positions: Sequence[int], lines: Iterable[JsonObject]) -> Batch:
    """Return the batch of the exchanges at `positions`, given all their lines (which name `number`)."""
    ordered = sorted(((read_key(line), line) for line in lines), key=lambda pair: pair[0].order)
    items = dict.fromkeys(key.item_id for key, _ in ordered)
    root = batch_root(jcs(line) for _, line in ordered)
    return Batch(number, min(positions), max(positions), tuple(items), root)


def batches_of(plan: Plan, outcomes: RecordFile) -> tuple[Batch, ...]:
    """Recompute every batch that `run/outcomes.jsonl` names, by number.

    Raises: EvidenceError SLV-E042 if a line names an exchange outside the plan or an exchange stands in two batches.
    """
    positions: Mapping[tuple[str, int, str], int] = {
        (exchange.item_id, exchange.repetition, exchange.side): exchange.position for exchange in plan.exchanges
    }
    lines_of: dict[int, list[JsonObject]] = {}
    places: dict[int, set[int]] = {}
    batch_at: dict[int, object] = {}
    try:
        for line in loads_jsonl(outcomes) if isinstance(outcomes, bytes) else outcomes:
            key, number = read_key(line), line["batch"]
            position = positions[(key.item_id, key.repetition, key.side)]
            if batch_at.setdefault(position, number) != number:
                raise ValueError(f"{key.item_id}: two batches")
            if isinstance(number, int):
                lines_of.setdefault(number, []).append(line)
                places.setdefault(number, set()).add(position)
    except (StrictJsonError, KeyError, ValueError) as error:
        raise EvidenceError(
            "SLV-E042",
            Text(f"los lotes de la corrida no cuadran: {error}", f"the batches of the run do not fit: {error}"),
            where=OUTCOMES,
        ) from error
    return tuple(make_batch(number, sorted(places[number]), lines_of[number]) for number in sorted(lines_of))
