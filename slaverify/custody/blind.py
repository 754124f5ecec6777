"""Blind entries: a commitment in the ledger whose content is told later, so that cosigning warns nobody.

The content is the JCS of {`type`, `data`}: a `heartbeat` says nothing, a `run_started` is the start of a run with the
data of the entry that it stands for. From its opening on the start counts as of the blind entry: its place, its time.

Source: docs/spec/ledger.md (blind starts).
"""

from __future__ import annotations

import hmac
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from slaverify.canonical import JsonObject, StrictJsonError, jcs, loads_canonical
from slaverify.custody.entries import TYPES, Entry
from slaverify.custody.faults import fault
from slaverify.custody.shapes import integer, is_object, is_text, read_time, shape_fault, text
from slaverify.errors import CustodyError

if TYPE_CHECKING:
    from slaverify.custody.view import LedgerView

HEARTBEAT = "heartbeat"
STARTED = "run_started"
_CONTENT = {"type": is_text, "data": is_object}


@dataclass(frozen=True, slots=True)
class BlindSecret:
    """What opens a blind entry: its salt (32 bytes) and its content."""

    salt: bytes
    content: bytes


def blind_commitment(salt: bytes, content: bytes) -> bytes:
    """Return the commitment (32 bytes) to `content`, the JCS of {type, data}."""
    return hmac.digest(salt, b"slaverify/blind/v1\x00" + content, "sha256")


def blind_content(kind: str, data: JsonObject) -> bytes:
    """Return the content of a blind entry."""
    return jcs({"type": kind, "data": data})


def read_content(content: bytes, where: str = "") -> tuple[str, JsonObject]:
    """Return type and data of the content of a blind entry.

    Raises: CustodyError SLV-K043 for anything but a heartbeat or a start.
    """
    try:
        tree = loads_canonical(content, max_depth=16)
    except StrictJsonError as error:
        raise _malformed(where) from error
    data = tree.get("data")
    if shape_fault(tree, _CONTENT) is not None or not isinstance(data, Mapping):
        raise _malformed(where)
    kind = text(tree, "type")
    if kind == STARTED:
        shape = TYPES[STARTED]
        sound = shape_fault(data, shape.required, shape.optional, closed=False) is None
    else:
        sound = kind == HEARTBEAT and not data
    if not sound:
        raise _malformed(where)
    return kind, data


def _malformed(where: str) -> CustodyError:
    return fault(
        43, "una entrada ciega que no es latido ni inicio", "a blind entry that is no heartbeat nor start", where=where
    )


def start_of(blind: Entry, secret: BlindSecret) -> Entry | None:
    """Return the start that a blind entry hides, as of its place and time; None for a heartbeat.

    Raises: CustodyError SLV-K043 if the secret opens another entry.
    """
    where = f"ledger.jsonl:{blind.seq + 1}"
    if blind.data.get("commitment") != blind_commitment(secret.salt, secret.content).hex():
        raise fault(43, "no abre esa entrada ciega", "does not open that blind entry", where=where)
    kind, data = read_content(secret.content, where)
    return replace(blind, type=STARTED, data=data) if kind == STARTED else None


def secret_of(unblind: Entry) -> BlindSecret:
    """Return what an `unblind` entry tells."""
    return BlindSecret(bytes.fromhex(text(unblind.data, "salt")), text(unblind.data, "content").encode())


def revealed(entries: Sequence[Entry], unblind: Entry) -> Entry | None:
    """Return the start that an `unblind` entry, verified before, opens; None for a heartbeat."""
    return start_of(entries[integer(unblind.data, "seq")], secret_of(unblind))


def unopened(view: LedgerView) -> tuple[Entry, ...]:
    """Return the blind entries that nobody opened."""
    opened = {integer(entry.data, "seq") for entry in view.find_all("unblind")}
    return tuple(entry for entry in view.find_all("blind") if entry.seq not in opened)


def check_blinds_opened(view: LedgerView) -> None:
    """Refuse a ledger that holds a blind entry nobody opened. Raises: CustodyError SLV-K042."""
    closed = [entry.seq for entry in unopened(view)]
    if closed:
        raise fault(
            42,
            f"entradas ciegas sin abrir: {', '.join(map(str, closed))}",
            f"blind entries not opened: {', '.join(map(str, closed))}",
            where=f"ledger.jsonl:{closed[0] + 1}",
        )


def next_slot(view: LedgerView, hours: int) -> datetime | None:
    """Return when the next blind entry is due on a cadence of `hours`; None before the first one."""
    last = view.find("blind")
    return None if last is None else read_time(last.time) + timedelta(hours=hours)


def longest_gap(view: LedgerView, upto: int) -> timedelta | None:
    """Return the longest time between blind entries up to entry `upto`; None where there are fewer than two."""
    times = [read_time(entry.time) for entry in view.find_all("blind") if entry.seq <= upto]
    return max((later - earlier for earlier, later in itertools.pairwise(times)), default=None)
