"""The order of the exchanges of a run: a permutation that nobody chose, fixed before the first request. Pure.

Source: docs/spec/run.md, section "Plan".
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonValue, StrictJsonError, jcs, loads_canonical, sha256_hex
from slaverify.errors import EvidenceError, Text

TYPE = "slaverify/plan/1"
SIDES = ("current", "candidate")
_KEYS = {"position", "item_id", "repetition", "side", "stage", "shadow"}
_DOMAIN = b"slaverify/plan/v1\x00"
_SLOT = b"slaverify/slot/v1\x00"


@dataclass(frozen=True, slots=True)
class PlannedExchange:
    """One exchange of the plan; `position` and `repetition` count from 0, `stage` from 1."""

    position: int
    item_id: str
    repetition: int = 0
    side: str = "current"
    stage: int = 1
    shadow: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """All exchanges of a run, by position."""

    run_id: str
    exchanges: tuple[PlannedExchange, ...]


def build_plan(run_id: str, sample: Mapping[str, Sequence[str]], repetitions: int, seed: bytes) -> Plan:
    """Return the plan of a run: item ids by stratum, `repetitions` calls of each, order from the draw's seed.

    Every repetition is a round over all items, each round with its own order; strata are mixed by the order.
    Ticket of a call: HMAC-SHA-256(SHA-256(domain ‖ run id ‖ 0 ‖ seed), item id ‖ 0 ‖ repetition).
    """
    key = hashlib.sha256(_DOMAIN + run_id.encode() + b"\x00" + seed).digest()
    items = [item for stratum in sorted(sample) for item in sample[stratum]]
    if len(set(items)) != len(items) or repetitions < 1:
        raise ValueError("each item once, at least one repetition")
    order = sorted(
        (repetition, _ticket(key, item, repetition), item) for item in items for repetition in range(repetitions)
    )
    return Plan(run_id, tuple(PlannedExchange(position, item, rep) for position, (rep, _, item) in enumerate(order)))


def _ticket(key: bytes, item: str, repetition: int) -> bytes:
    return hmac.digest(key, item.encode("utf-8") + b"\x00" + repetition.to_bytes(4, "big"), "sha256")


def slot(plan_digest: str, position: int, planned: int) -> float:
    """Return when an exchange of a run that is spread is due, as a share of the time, from 0 to below 1.

    Each position has a slot of 1 / `planned`, and a place in it that follows from the plan's digest (hex): SHA-256 of
    (domain ‖ digest ‖ u32 position), first 6 bytes / 2^48. The order is that of the plan; nobody chose the moment.
    """
    block = hashlib.sha256(_SLOT + bytes.fromhex(plan_digest) + position.to_bytes(4, "big")).digest()
    return (position + int.from_bytes(block[:6], "big") / 2**48) / planned


def plan_bytes(plan: Plan) -> bytes:
    """Return the bytes of `run/plan.json`."""
    exchanges: list[JsonValue] = [
        {
            "position": exchange.position,
            "item_id": exchange.item_id,
            "repetition": exchange.repetition,
            "side": exchange.side,
            "stage": exchange.stage,
            "shadow": exchange.shadow,
        }
        for exchange in plan.exchanges
    ]
    return jcs({"type": TYPE, "run_id": plan.run_id, "exchanges": exchanges})


def plan_sha256(plan: Plan) -> str:
    """Return the digest of the plan as the ledger holds it, hex."""
    return sha256_hex(plan_bytes(plan))


def read_plan(data: bytes) -> Plan:
    """Read `run/plan.json` strictly. Raises: EvidenceError SLV-E040."""
    try:
        tree = loads_canonical(data)
        listed = tree["exchanges"]
        run_id = tree["run_id"]
        if set(tree) != {"type", "run_id", "exchanges"} or tree["type"] != TYPE or not isinstance(run_id, str):
            raise ValueError("keys")
        if not isinstance(listed, list):
            raise ValueError("exchanges")
        exchanges = tuple(_read(position, node) for position, node in enumerate(listed))
    except (StrictJsonError, KeyError, ValueError) as error:
        raise EvidenceError(
            "SLV-E040",
            Text(f"el plan de la corrida está mal formado: {error}", f"the plan of the run is malformed: {error}"),
            where="run/plan.json",
        ) from error
    return Plan(run_id, exchanges)


def _read(position: int, node: JsonValue) -> PlannedExchange:
    if not isinstance(node, dict) or set(node) != _KEYS or node["position"] != position:
        raise ValueError(f"exchange {position}")
    item, repetition, side, stage, shadow = (node[key] for key in ("item_id", "repetition", "side", "stage", "shadow"))
    if not isinstance(item, str) or side not in SIDES or not isinstance(shadow, bool):
        raise ValueError(f"exchange {position}")
    if type(repetition) is not int or type(stage) is not int or repetition < 0 or stage < 1:
        raise ValueError(f"exchange {position}")
    return PlannedExchange(position, item, repetition, str(side), stage, shadow)
