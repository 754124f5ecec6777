"""Who has seen which item: a pure function of the index and the ledger.

A state belongs to an item and an exposure group (a vendor and its affiliates): `unused`, `drawn`, `sent`; an item
is `disclosed` for all groups at once. Sent: in a batch, or in `sent` or `in_flight` of a terminal entry; while a
run has started and has no terminal entry, its whole sample counts as sent.

Source: docs/spec/ledger.md (exposure).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from slaverify.canonical import JsonObject
from slaverify.custody.index import PROBE, Index


class ItemState(IntEnum):
    """How far an item has gone, in order."""

    UNUSED = 0
    DRAWN = 1
    SENT = 2
    DISCLOSED = 3

    @property
    def word(self) -> str:
        """The state as it is written."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class ExposureEvent:
    """One fact of the ledger that moves items: `draw`, `run_started`, `batch`, `ended`, `disclosed` or `voided`.

    `seq` is the entry, `run` names the run (contract and number), `items` the ids it touches.
    """

    kind: str
    seq: int
    run: tuple[str, int]
    items: tuple[str, ...] = ()


def item_states(events: Iterable[ExposureEvent]) -> dict[str, ItemState]:
    """Return the state of each item that is not unused."""
    drawn: dict[tuple[str, int], tuple[str, ...]] = {}
    started: set[tuple[str, int]] = set()
    found: dict[str, ItemState] = {}

    def reach(items: Iterable[str], state: ItemState) -> None:
        for item in items:
            found[item] = max(state, found.get(item, ItemState.UNUSED))

    for event in events:
        if event.kind == "draw":
            drawn[event.run] = event.items
            reach(event.items, ItemState.DRAWN)
        elif event.kind == "run_started":
            started.add(event.run)
        elif event.kind in ("batch", "ended"):
            reach(event.items, ItemState.SENT)
            if event.kind == "ended":
                started.discard(event.run)
        elif event.kind == "disclosed":
            reach(event.items, ItemState.DISCLOSED)
    for run in started:
        reach(drawn.get(run, ()), ItemState.SENT)
    return found


def voided(events: Iterable[ExposureEvent]) -> set[str]:
    """Return the items that were taken out for good."""
    return {item for event in events if event.kind == "voided" for item in event.items}


def eligible(index: Index, events: Sequence[ExposureEvent], *, reuse: bool = False) -> dict[str, list[str]]:
    """Return the ids that may be drawn as fresh, by stratum: no plants, no twins, nothing sent, disclosed or voided.

    Under `reuse` an item that was sent may be drawn again.
    """
    states, out = item_states(events), voided(events)
    limit = ItemState.SENT if reuse else ItemState.DRAWN
    found: dict[str, list[str]] = {stratum: [] for stratum in index.strata if stratum != PROBE}
    for leaf in index.leaves:
        if leaf.stratum == PROBE or leaf.twin_of is not None or leaf.id in out:
            continue
        if states.get(leaf.id, ItemState.UNUSED) <= limit:
            found[leaf.stratum].append(leaf.id)
    return found


def remaining_audits(available: Mapping[str, int], n_per_stratum: Mapping[str, int]) -> int:
    """Return how many more samples the eligible items allow: the least over strata with n > 0; 0 if there is none."""
    return min((available.get(stratum, 0) // n for stratum, n in n_per_stratum.items() if n > 0), default=0)


def exposure_tree(
    index: Index,
    events: Sequence[ExposureEvent],
    n_per_stratum: Mapping[str, int],
    *,
    group: str,
    at_size: int,
    reuse: bool,
) -> JsonObject:
    """Return the object of `exposure.json`."""
    states = item_states(events)
    totals = {state.word: 0 for state in ItemState}
    for leaf in index.leaves:
        totals[states.get(leaf.id, ItemState.UNUSED).word] += 1
    available = {stratum: len(ids) for stratum, ids in eligible(index, events, reuse=reuse).items()}
    return {
        "type": "slaverify/exposure/1",
        "vendor_group": group,
        "states": totals,
        "eligible": available,
        "remaining_audits": remaining_audits(available, n_per_stratum),
        "at_size": at_size,
    }
