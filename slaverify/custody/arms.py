"""The arms of a run beside its sample: anchors, twins and probes. They are sent in the same order and feed no metric.

* `anchor`: items that the exposure group has been sent before, in the mix of strata of the sample;
* `twin`: items never sent whose original was; original and twin are both asked, once each;
* `probe`: items of stratum `probe` never sent, among them the honeytokens.

An arm takes as many items as the contract asks for, or as many as there are: what was not there to draw is said with
the result of its test, never made up with items of another kind.

Source: docs/spec/ledger.md (arms).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject
from slaverify.custody.commitments import Leaf
from slaverify.custody.exposure import ExposureEvent, ItemState, item_states, voided
from slaverify.custody.index import PROBE, Index
from slaverify.custody.seeds import ticket

ARM_NAMES = ("anchor", "twin", "probe")
"""The arms that a contract may ask for."""


@dataclass(frozen=True, slots=True)
class Arms:
    """The items of each arm, in ticket order; a twin stands as (original, twin)."""

    anchor: tuple[str, ...] = ()
    twin: tuple[tuple[str, str], ...] = ()
    probe: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Every item that the arms send."""
        return (*self.anchor, *(item for pair in self.twin for item in pair), *self.probe)

    @property
    def counts(self) -> dict[str, int]:
        """How many anchors, pairs and probes there are, by arm."""
        return {"anchor": len(self.anchor), "twin": len(self.twin), "probe": len(self.probe)}

    def to_json(self) -> JsonObject:
        """Return the object that stands in `draw.json`."""
        pairs = [{"original": original, "twin": twin} for original, twin in self.twin]
        return {"anchor": list(self.anchor), "twin": [*pairs], "probe": list(self.probe)}


def select_arms(
    index: Index,
    events: Sequence[ExposureEvent],
    seed: bytes,
    asked: Mapping[str, int],
    n_per_stratum: Mapping[str, int],
) -> Arms:
    """Draw the arms by ticket from what the ledger says of each item. Raises nothing: a short arm is short."""
    if not any(asked.get(name, 0) for name in ARM_NAMES):
        return Arms()
    states, out = item_states(events), voided(events)
    usable = [
        leaf for leaf in index.leaves if leaf.id not in out and (leaf.stratum == PROBE or _n(leaf, n_per_stratum))
    ]
    state = {leaf.id: states.get(leaf.id, ItemState.UNUSED) for leaf in usable}
    unsent = {name for name, at in state.items() if at < ItemState.SENT}
    sent = {name for name, at in state.items() if at == ItemState.SENT}
    twins = [leaf for leaf in usable if leaf.id in unsent and leaf.twin_of in sent]
    pairs = _pairs(_by_ticket(seed, "twin", twins), asked.get("twin", 0))
    taken = {original for original, _ in pairs}
    exposed = [
        leaf
        for leaf in usable
        if leaf.id in sent and leaf.twin_of is None and leaf.stratum != PROBE and leaf.id not in taken
    ]
    probes = [leaf for leaf in usable if leaf.id in unsent and leaf.stratum == PROBE]
    return Arms(
        anchor=_mixed(_by_ticket(seed, "anchor", exposed), asked.get("anchor", 0), n_per_stratum),
        twin=pairs,
        probe=tuple(leaf.id for leaf in _by_ticket(seed, "probe", probes)[: asked.get("probe", 0)]),
    )


def _n(leaf: Leaf, n_per_stratum: Mapping[str, int]) -> int:
    return n_per_stratum.get(leaf.stratum, 0)


def _by_ticket(seed: bytes, arm: str, leaves: Iterable[Leaf]) -> list[Leaf]:
    return sorted(leaves, key=lambda leaf: (ticket(seed, arm, leaf.id), leaf.id))


def _pairs(twins: Iterable[Leaf], most: int) -> tuple[tuple[str, str], ...]:
    # Of several twins of one original the first alone: two pairs with one original would not be two observations.
    found: dict[str, str] = {}
    for leaf in twins:
        if len(found) < most and leaf.twin_of is not None:
            found.setdefault(leaf.twin_of, leaf.id)
    return tuple(found.items())


def _mixed(exposed: Sequence[Leaf], asked: int, n_per_stratum: Mapping[str, int]) -> tuple[str, ...]:
    """Return the largest number up to `asked` that keeps the mix of strata of the sample, strata ascending."""
    there: dict[str, list[str]] = {}
    for leaf in exposed:
        there.setdefault(leaf.stratum, []).append(leaf.id)
    for total in range(min(asked, len(exposed)), 0, -1):
        quota = quotas(total, n_per_stratum)
        if all(n <= len(there.get(stratum, ())) for stratum, n in quota.items()):
            return tuple(item for stratum, n in quota.items() for item in there.get(stratum, ())[:n])
    return ()


def quotas(total: int, n_per_stratum: Mapping[str, int]) -> dict[str, int]:
    """Share `total` among strata in proportion to `n_per_stratum`, by largest remainder; ties go to the first name."""
    whole = sum(n_per_stratum.values())
    shares = {stratum: divmod(total * n, whole) for stratum, n in sorted(n_per_stratum.items())}
    found = {stratum: share for stratum, (share, _) in shares.items()}
    by_rest = sorted(shares, key=lambda stratum: (-shares[stratum][1], stratum))
    for stratum in by_rest[: total - sum(found.values())]:
        found[stratum] += 1
    return found
