"""The order of the exchanges of a run: a permutation that nobody chose, fixed before the first request. Pure.

Source: docs/spec/run.md, section "Plan".
"""

from __future__ import annotations

import hashlib
import hmac
from array import array
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice
from operator import eq
from typing import overload

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, jcs, loads_canonical
from slaverify.contract.model.bank import DispersionSample
from slaverify.errors import EvidenceError, Text
from slaverify.run.spacing import keep_apart

TYPE = "slaverify/plan/1"
SIDES = ("current", "candidate")
_KEYS = {"position", "item_id", "repetition", "side", "stage", "shadow"}
_CHUNK = 256
"""Exchanges that are written at a time (convention): memory does not grow with the plan."""
_DOMAIN = b"slaverify/plan/v1\x00"
_SLOT = b"slaverify/slot/v1\x00"
_AGAIN = b"slaverify/dispersion/v1\x00"


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
    exchanges: Sequence[PlannedExchange]


@dataclass(frozen=True, slots=True)
class Again:
    """Items of the sample that are asked again, and how many times each: how much an engine varies, and no more."""

    items: tuple[str, ...]
    calls: int


class _Rounds(Sequence[PlannedExchange]):
    """The exchanges of a plan that was drawn, made when they are looked at: 200,000 of them weigh 1 MB."""

    def __init__(self, items: Sequence[str], rounds: Sequence[array[int]]) -> None:
        self._items, self._rounds = items, rounds
        self._starts = [0, *accumulate(map(len, rounds))]

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> PlannedExchange: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[PlannedExchange]: ...

    def __getitem__(self, index: int | slice) -> PlannedExchange | Sequence[PlannedExchange]:
        if isinstance(index, slice):
            return tuple(self[position] for position in range(*index.indices(len(self))))
        position = range(len(self))[index]
        repetition = bisect_right(self._starts, position) - 1
        place = position - self._starts[repetition]
        return PlannedExchange(position, self._items[self._rounds[repetition][place]], repetition)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))


def build_plan(
    run_id: str,
    sample: Mapping[str, Sequence[str]],
    repetitions: int,
    seed: bytes,
    *,
    beside: Sequence[str] = (),
    apart: Sequence[tuple[str, str]] = (),
    again: Again | None = None,
) -> Plan:
    """Return the plan of a run: item ids by stratum, `repetitions` calls of each, order from the draw's seed.

    Every repetition is a round over all items, each round with its own order; strata, and the items `beside` the
    sample, are mixed by the order. The two of a pair in `apart` lie 20 positions apart or more, if the plan has room.
    What is asked `again` follows, in rounds of its own.
    Ticket of a call: HMAC-SHA-256(SHA-256(domain ‖ run id ‖ 0 ‖ seed), item id ‖ 0 ‖ repetition).
    """
    key = hashlib.sha256(_DOMAIN + run_id.encode() + b"\x00" + seed).digest()
    items = [*(item for stratum in sorted(sample) for item in sample[stratum]), *beside]
    if len(set(items)) != len(items) or repetitions < 1:
        raise ValueError("each item once, at least one repetition")
    rounds = [_round(key, items, repetition) for repetition in range(repetitions)]
    if apart:
        place = {item: index for index, item in enumerate(items)}
        keep_apart(rounds, [(place[one], place[other]) for one, other in apart])
    if again is not None:
        asked = frozenset(again.items)
        more = range(repetitions, repetitions + again.calls)
        rounds += [_round(key, items, repetition, asked) for repetition in more]
    return Plan(run_id, _Rounds(items, rounds))


def again_of(
    run_id: str, sample: Mapping[str, Sequence[str]], seed: bytes, agreed: DispersionSample | None
) -> Again | None:
    """Return what of a sample is asked again: the items of the lowest tickets, so that nobody chose them.

    Ticket: HMAC-SHA-256(SHA-256(domain ‖ run id ‖ 0 ‖ seed), item id ‖ 0 ‖ 0). None where nothing is agreed.
    """
    if agreed is None:
        return None
    key = hashlib.sha256(_AGAIN + run_id.encode() + b"\x00" + seed).digest()
    drawn = sorted((item for items in sample.values() for item in items), key=lambda item: _ticket(key, item, 0))
    return Again(tuple(drawn[: agreed.items]), agreed.repeats)


def _round(key: bytes, items: Sequence[str], repetition: int, asked: Container[str] | None = None) -> array[int]:
    # Ticket and index in one string of bytes: tickets of 256 bits do not tie, so the index decides nothing.
    tickets = sorted(
        _ticket(key, item, repetition) + index.to_bytes(4, "big")
        for index, item in enumerate(items)
        if asked is None or item in asked
    )
    return array("L", (int.from_bytes(ticket[-4:], "big") for ticket in tickets))


def _ticket(key: bytes, item: str, repetition: int) -> bytes:
    return hmac.digest(key, item.encode("utf-8") + b"\x00" + repetition.to_bytes(4, "big"), "sha256")


def slot(plan_digest: str, position: int, planned: int) -> float:
    """Return when an exchange of a run that is spread is due, as a share of the time, from 0 to below 1.

    Each position has a slot of 1 / `planned`, and a place in it that follows from the plan's digest (hex): SHA-256 of
    (domain ‖ digest ‖ u32 position), first 6 bytes / 2^48. The order is that of the plan; nobody chose the moment.
    """
    block = hashlib.sha256(_SLOT + bytes.fromhex(plan_digest) + position.to_bytes(4, "big")).digest()
    return (position + int.from_bytes(block[:6], "big") / 2**48) / planned


def plan_chunks(run_id: str, exchanges: Iterable[PlannedExchange]) -> Iterator[bytes]:
    """Yield the bytes of `run/plan.json` piece by piece, as RFC 8785 has them."""
    left = iter(exchanges)
    lead = b'{"exchanges":['
    while some := [_entry(exchange) for exchange in islice(left, _CHUNK)]:
        yield lead + jcs(some)[1:-1]
        lead = b","
    yield (b"" if lead == b"," else lead) + b"]," + jcs({"run_id": run_id, "type": TYPE})[1:]


def _entry(exchange: PlannedExchange) -> JsonObject:
    return {
        "position": exchange.position,
        "item_id": exchange.item_id,
        "repetition": exchange.repetition,
        "side": exchange.side,
        "stage": exchange.stage,
        "shadow": exchange.shadow,
    }


def plan_bytes(plan: Plan) -> bytes:
    """Return the bytes of `run/plan.json`."""
    return b"".join(plan_chunks(plan.run_id, plan.exchanges))


def plan_sha256(plan: Plan) -> str:
    """Return the digest of the plan as the ledger holds it, hex."""
    digest = hashlib.sha256()
    for chunk in plan_chunks(plan.run_id, plan.exchanges):
        digest.update(chunk)
    return digest.hexdigest()


@lru_cache(maxsize=1)
def read_plan(data: bytes) -> Plan:
    """Read `run/plan.json` strictly; the last one read is remembered. Raises: EvidenceError SLV-E040."""
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
