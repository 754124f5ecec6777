"""Signals of a run that change no outcome and are reported: identical answers, cached repeats, drift. Pure.

Source: docs/spec/run.md, section "Signals".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slaverify.canonical import sha256_hex
from slaverify.contract.words import Outcome
from slaverify.run.plan import Plan
from slaverify.run.records import AttemptRecord

if TYPE_CHECKING:
    from slaverify.run.derive import DerivedExchange

PARTIAL_SHARE = 0.01
"""Share of exchanges with a cut body above which that is a pattern."""
INPUT_SHARE = 0.6
"""Share of our own estimate of the input tokens below which the input seems cut."""
_HITS = ("hit", "HIT")


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal: its word and the items that it concerns, in plan order (first and last for drift)."""

    code: str
    items: tuple[str, ...]


def signals_of(
    plan: Plan,
    records: Sequence[AttemptRecord],
    ended: Mapping[tuple[str, int, str], DerivedExchange],
    estimates: Mapping[str, int] | None = None,
) -> tuple[Signal, ...]:
    """Return the signals of a run, in a fixed order; `estimates` are input tokens by item id, if anybody has them."""
    last = {(record.key.item_id, record.key.repetition, record.key.side): record for record in records}
    in_order = [
        (ended[call], last[call])
        for planned in plan.exchanges
        if (call := (planned.item_id, planned.repetition, planned.side)) in ended
    ]
    alone = [(one, record) for one, record in in_order if one.planned.side == "current"]
    found = [
        _identical(in_order),
        _cached(in_order),
        _partial([one for one, _ in in_order], len(plan.exchanges)),
        _input_cut([one for one, _ in in_order], estimates or {}),
        _drift("drift_echo", [(one.planned.item_id, one.engine_version) for one, _ in alone]),
        _drift("drift_fingerprint", [(one.planned.item_id, one.fingerprint) for one, _ in alone]),
        _drift("drift_spki", [(one.planned.item_id, record.spki) for one, record in alone]),
    ]
    return tuple(signal for signal in found if signal is not None)


def _identical(in_order: Sequence[tuple[DerivedExchange, AttemptRecord]]) -> Signal | None:
    by_text: dict[str, list[str]] = {}
    for one, _ in in_order:
        if one.outcome is Outcome.ANSWERED and one.answer is not None:
            items = by_text.setdefault(sha256_hex(one.answer.text.encode("utf-8", "replace")), [])
            if one.planned.item_id not in items:
                items.append(one.planned.item_id)
    shared = [item for items in by_text.values() if len(items) > 1 for item in items]
    return Signal("identical_answers", tuple(shared)) if shared else None


def _cached(in_order: Sequence[tuple[DerivedExchange, AttemptRecord]]) -> Signal | None:
    # Equal bytes alone may be an engine that is deterministic: the identifier or the cache must say so.
    seen: dict[str, set[bytes]] = {}
    repeated: list[str] = []
    for one, record in in_order:
        item, body = one.planned.item_id, record.response or b""
        bodies = seen.setdefault(item, set())
        if body and body in bodies and (one.response_id is not None or _from_cache(record.headers)):
            repeated.append(item)
        bodies.add(body)
    return Signal("cached_repeat", tuple(dict.fromkeys(repeated))) if repeated else None


def _partial(exchanges: Sequence[DerivedExchange], planned: int) -> Signal | None:
    cut = [one.planned.item_id for one in exchanges if "cut_body" in one.flags]
    return Signal("partial_body", tuple(dict.fromkeys(cut))) if len(cut) > PARTIAL_SHARE * planned else None


def _input_cut(exchanges: Sequence[DerivedExchange], estimates: Mapping[str, int]) -> Signal | None:
    short = [
        one.planned.item_id
        for one in exchanges
        if one.input_tokens is not None
        and one.planned.item_id in estimates
        and one.input_tokens < INPUT_SHARE * estimates[one.planned.item_id]
    ]
    return Signal("input_cut", tuple(dict.fromkeys(short))) if short else None


def _from_cache(headers: Mapping[str, str]) -> bool:
    age = headers.get("age", "0").strip()
    hit = any(headers.get(name, "").startswith(_HITS) for name in ("x-cache", "cf-cache-status"))
    return hit or (age.isdigit() and age.isascii() and age.strip("0") != "")


def _drift(code: str, values: Sequence[tuple[str, str | None]]) -> Signal | None:
    known = [(item, value) for item, value in values if value is not None]
    changed = [item for item, value in known if value != known[0][1]]
    return Signal(code, (changed[0], changed[-1])) if changed else None
