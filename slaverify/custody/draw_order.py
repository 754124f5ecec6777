"""Commit and reveal: in which order, by whom, until when; and the round of the beacon, if the contract adds one.

Buyer and vendor each commit to a nonce; a checkpoint covers both commitments before anybody reveals. Who has not
committed or revealed `deadline_hours` after the run was opened has defaulted, and the seed uses the nonces revealed; a
reveal may come until 24 h after the commitments were complete or closed, if that is later.
The beacon's round is the first one published 60 s or more after that moment, so that nobody who reveals knows it.

Source: docs/spec/ledger.md (draw).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, loads_object
from slaverify.custody.beacon import beacon_randomness, beacon_round
from slaverify.custody.faults import fault
from slaverify.custody.runs import RunRecord
from slaverify.custody.shapes import integer, is_count, is_hex32, is_text, read_time, shape_fault, text, time_text
from slaverify.custody.terms import BeaconTerms, Terms
from slaverify.errors import CustodyError

DRAWERS = ("buyer", "vendor")
"""The parties whose nonces a draw by commitment waits for."""
_AFTER = timedelta(seconds=60)
_GRACE = timedelta(hours=24)
_ROUND = {"round": is_count, "signature": is_text, "randomness": is_hex32}
_MAX_ROUND = 4096


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a draw still waits for: the act (`commit`, `reveal` or nothing), the roles, and until when."""

    act: str
    roles: tuple[str, ...]
    deadline: datetime


def draw_deadline(record: RunRecord, terms: Terms) -> datetime:
    """Return until when a party may commit, and normally reveal, aware UTC."""
    return read_time(record.opened.time) + timedelta(hours=terms.deadline_hours)


def _reveal_deadline(record: RunRecord, terms: Terms) -> datetime:
    # Who was kept from revealing by another's late or missing commitment has a day from when that was settled.
    committed = record.roles("draw_commit")
    gone = [entry for entry in record.all("draw_defaulted") if text(entry.data, "role") not in committed]
    closed = max((read_time(entry.time) for entry in (*record.all("draw_commit"), *gone)), default=None)
    due = draw_deadline(record, terms)
    return due if closed is None else max(due, closed + _GRACE)


def waiting(record: RunRecord, terms: Terms) -> Waiting:
    """Return what the draw of a run waits for now."""
    gone = record.roles("draw_defaulted")
    steps = (("commit", "draw_commit", draw_deadline), ("reveal", "draw_reveal", _reveal_deadline))
    for act, kind, until in steps if terms.method == "commit_reveal" else ():
        missing = tuple(role for role in DRAWERS if role not in gone and role not in record.roles(kind))
        if missing:
            return Waiting(act, missing, until(record, terms))
    return Waiting("", (), draw_deadline(record, terms))


def check_draw_order(record: RunRecord, terms: Terms, checkpoint_sizes: Sequence[int]) -> None:
    """Check the order of a draw that is on record; `checkpoint_sizes` are those of valid checkpoints.

    Raises: CustodyError SLV-K052 (order, deadline, a drawer nobody waited for), K055 (beacon), K072 (beacon, and the
    extra that checks it is not installed).
    """
    if record.draw is None:
        return
    if terms.method == "commit_reveal":
        _check_parties(record, terms)
        _check_checkpoint(record, checkpoint_sizes)
    stated = record.draw.data.get("beacon")
    if terms.beacon is None and stated is None:
        return
    if terms.beacon is None or not isinstance(stated, Mapping):
        raise fault(55, "la baliza no es la pactada", "the beacon is not as agreed")
    check_round(stated, record, terms, terms.beacon)


def _check_parties(record: RunRecord, terms: Terms) -> None:
    left = waiting(record, terms)
    if left.roles:
        raise _order(f"no se esperó a: {', '.join(left.roles)}", f"nobody waited for: {', '.join(left.roles)}")
    for entry in record.all("draw_defaulted"):
        role = text(entry.data, "role")
        due = (_reveal_deadline if role in record.roles("draw_commit") else draw_deadline)(record, terms)
        if read_time(entry.time) < due:
            raise _order(
                f"{role} fue dado por ausente antes de {time_text(due)}",
                f"{role} was said to have defaulted before {time_text(due)}",
            )


def _check_checkpoint(record: RunRecord, sizes: Sequence[int]) -> None:
    commits, reveals = record.all("draw_commit"), record.all("draw_reveal")
    if reveals and not covered(commits[-1].seq, reveals[0].seq, sizes):
        raise _order(
            "ningún punto de control cubre los compromisos antes de la primera revelación",
            "no checkpoint covers the commitments before the first reveal",
        )


def covered(last_commit: int, before: int, sizes: Sequence[int]) -> bool:
    """Tell whether a checkpoint of one of `sizes` covers entry `last_commit` and lies before entry `before`."""
    return any(last_commit < size <= before for size in sizes)


def due_round(record: RunRecord, terms: Terms) -> int:
    """Return the round of the beacon that the draw of a run must use."""
    return beacon_round(int((draw_deadline(record, terms) + _AFTER).timestamp()))


def read_round(data: bytes) -> JsonObject:
    """Read a round as the beacon publishes it (JSON). Raises: CustodyError SLV-K055."""
    try:
        tree = loads_object(data[: _MAX_ROUND + 1], max_depth=2)
    except StrictJsonError as error:
        raise fault(55, "baliza mal formada", "malformed beacon") from error
    found: dict[str, JsonValue] = {name: tree.get(name) for name in _ROUND}
    if len(data) > _MAX_ROUND or shape_fault(found, _ROUND) is not None:
        raise fault(55, "baliza mal formada", "malformed beacon")
    return found


def check_round(stated: JsonObject, record: RunRecord, terms: Terms, beacon: BeaconTerms) -> None:
    """Check number, signature and randomness of a round. Raises: CustodyError SLV-K055, K072 (extra not installed)."""
    due = due_round(record, terms)
    if shape_fault(stated, _ROUND, closed=False) is not None or integer(stated, "round") != due:
        raise fault(55, f"la ronda de la baliza debe ser la {due}", f"the round of the beacon must be {due}")
    try:
        signature = bytes.fromhex(text(stated, "signature"))
    except ValueError as error:
        raise fault(55, "baliza mal formada", "malformed beacon") from error
    if beacon_randomness(due, signature, beacon.public_key).hex() != text(stated, "randomness"):
        raise fault(55, "el azar no es el de esa firma", "the randomness is not that of the signature")


def _order(es: str, en: str) -> CustodyError:
    return fault(52, f"orden del sorteo: {es}", f"order of the draw: {en}")
