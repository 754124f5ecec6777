"""Plans made of plans: two stages, of which the second is sent only where the first left the doubt; two sides. Pure.

Source: docs/spec/run.md, sections "Stages" and "Change check".
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import replace

from slaverify.run.plan import SIDES, Plan, PlannedExchange

_SIDES = b"slaverify/sides/v1\x00"

Call = tuple[str, int, str]
"""Item id, repetition, side."""


def in_stages(first: Plan, second: Plan) -> Plan:
    """Return one plan: the exchanges of `first`, then those of `second` as stage 2."""
    offset = len(first.exchanges)
    later = (replace(one, position=offset + one.position, stage=2) for one in second.exchanges)
    return Plan(first.run_id, (*first.exchanges, *later))


def reached(plan: Plan, calls: Collection[Call]) -> Plan:
    """Return the plan up to the last stage of which a call was sent: what was never due was not left out."""
    if all(one.stage == 1 for one in plan.exchanges):
        return plan
    known = set(calls)
    last = max(
        (one.stage for one in plan.exchanges if (one.item_id, one.repetition, one.side) in known),
        default=1,
    )
    return Plan(plan.run_id, tuple(one for one in plan.exchanges if one.stage <= last))


def on_both_sides(plan: Plan, seed: bytes) -> Plan:
    """Return a plan in which both versions answer each call, one right after the other.

    Which one is first follows from the draw's seed: the lowest bit of the first byte of
    SHA-256(domain ‖ run id ‖ 0 ‖ seed ‖ item id ‖ 0 ‖ u32 repetition); 1: the candidate.
    """
    made: list[PlannedExchange] = []
    for one in plan.exchanges:
        text = plan.run_id.encode() + b"\x00" + seed + one.item_id.encode() + b"\x00"
        new_first = hashlib.sha256(_SIDES + text + one.repetition.to_bytes(4, "big")).digest()[0] & 1
        for side in SIDES[::-1] if new_first else SIDES:
            made.append(replace(one, position=len(made), side=side))
    return Plan(plan.run_id, tuple(made))
