"""Ledger entries: the form of a line, the closed list of types, what each type carries and who signs it.

Boundary: a line of `ledger.jsonl` comes from outside. Here its form alone is judged (SLV-K020); who may have
written it, and when, is judged in `ledger_rules`.

Source: docs/spec/ledger.md.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from slaverify.canonical import JsonObject, StrictJsonError, jcs, loads_canonical, sha256_hex
from slaverify.custody import merkle
from slaverify.custody.ed25519 import SigningKey, key_id
from slaverify.custody.faults import fault
from slaverify.custody.shapes import (
    Kind,
    ascending,
    constant,
    integer,
    is_count,
    is_digest,
    is_hex32,
    is_id,
    is_integer,
    is_name,
    is_object,
    is_text,
    is_time,
    list_of,
    map_of,
    nullable,
    objects,
    shape_fault,
    strict_base64,
    text,
    word,
)

MAX_LINE = 64 * 1024
"""Bytes of one line, without LF."""
ROLES = ("author", "custodian", "auditor", "buyer", "vendor", "witness", "judge_operator")
CHANGE_CHECK = "change_check"
"""The only purpose of a run that is not an SLA run."""

_LINE = {
    "v": constant(1),
    "seq": is_count,
    "type": is_text,
    "actor": is_hex32,
    "time": is_time,
    "clock_offset_ms": nullable(is_integer),
    "prev": is_hex32,
    "data": is_object,
    "sigs": list_of(is_object),
}
_SIGNATURE = {"key": is_hex32, "sig": is_text}
_ROLE = word(*ROLES)
_PART = word("query", "reference")
_SIGN = b"slaverify/entry/v1\n"

Shape: TypeAlias = Mapping[str, Kind]


@dataclass(frozen=True, slots=True)
class EntryType:
    """One type: who signs (roles, by position), what `data` must carry and what it may."""

    signers: tuple[tuple[str, ...], ...]
    required: Shape
    optional: Shape
    of_run: bool = False


CUSTODIAN, AUDITOR, ANY = ("custodian",), ("auditor",), ROLES
_DISPUTANT = ("buyer", "vendor", "auditor", "custodian")
_CONTRACT: Shape = {"contract_digest": is_digest}
_RUN: Shape = {"contract_digest": is_digest, "run": is_count}
_ITEM_LISTS: Shape = {"sent": ascending, "in_flight": ascending}


def _by(*signers: tuple[str, ...], needs: Shape, may: Shape | None = None) -> EntryType:
    optional = {"contract_digest": is_digest, "run": is_count, **(may or {})}
    return EntryType(signers, needs, {key: kind for key, kind in optional.items() if key not in needs})


def _run(*signers: tuple[str, ...], needs: Shape | None = None, may: Shape | None = None) -> EntryType:
    return EntryType(signers, {**_RUN, **(needs or {})}, may or {}, of_run=True)


TYPES: Mapping[str, EntryType] = {
    "genesis": _by(CUSTODIAN, needs={"origin": is_name, "log_vkey": is_name, "organisation": is_name}),
    "key_added": _by(
        CUSTODIAN,
        ANY,
        needs={
            "key_id": is_hex32,
            "name": is_name,
            "roles": list_of(_ROLE),
            "organisation": is_name,
            "vkey": is_name,
            "valid_from": is_time,
        },
        may={"age": nullable(is_name), "ssh": nullable(is_name), "valid_until": nullable(is_time)},
    ),
    "key_revoked": _by(CUSTODIAN, needs={"key_id": is_hex32, "from": is_time, "reason": is_text}),
    "bank_sealed": _by(
        CUSTODIAN, needs={"bank_digest": is_digest, "root": is_hex32, "n": is_count, "ciphertext_sha256": is_hex32}
    ),
    "deposit": _by(CUSTODIAN, needs={"place": is_text, "medium": is_text, "ciphertext_sha256": is_hex32}),
    "contract_registered": _by(
        CUSTODIAN,
        needs={
            **_CONTRACT,
            "bank_digest": is_digest,
            "vendor": is_name,
            "exposure_group": is_name,
            "run_budget": is_count,
        },
    ),
    "run_opened": _run(AUDITOR, may={"purpose": word(CHANGE_CHECK), "candidate": is_object}),
    "draw_commit": _run(ANY, needs={"role": _ROLE, "commitment": is_hex32}),
    "draw_reveal": _run(ANY, needs={"role": _ROLE, "nonce": is_hex32}),
    "draw_defaulted": _run(CUSTODIAN, needs={"role": _ROLE}, may={"deadline": is_time}),
    "draw": _run(
        AUDITOR,
        needs={
            "seed": is_hex32,
            "method": word("full", "seeded", "commit_reveal"),
            "at_size": is_count,
            "n_per_stratum": map_of(is_count),
            "sample_sha256": is_hex32,
        },
        may={
            "beacon": nullable(is_object),
            "arms": map_of(is_count),
            "extension": map_of(is_count),
            "reserve": is_count,
        },
    ),
    "delivery": _run(
        CUSTODIAN, AUDITOR, needs={"file_sha256": is_hex32, "part": _PART}, may={"purpose": is_text, "clause": is_text}
    ),
    "custody_transfer": _by(
        CUSTODIAN, ANY, needs={}, may={"file_sha256": is_hex32, "part": _PART, "purpose": is_text, "clause": is_text}
    ),
    "run_started": _run(
        AUDITOR,
        needs={"sample_sha256": is_hex32, "plan_sha256": is_hex32},
        may={
            "engine_version": is_text,
            "harness_version": is_text,
            "lock_sha256": nullable(is_hex32),
            "python": is_text,
            "os": is_text,
            "endpoint_host_sha256": is_hex32,
            "judge_id": nullable(is_hex32),
        },
    ),
    "batch": _run(
        AUDITOR,
        needs={"number": is_count, "first": is_count, "last": is_count, "items": ascending, "root": is_hex32},
    ),
    "run_resumed": _run(AUDITOR, may={"reason": is_text, "outcomes": map_of(is_count), **_ITEM_LISTS}),
    "run_ended": _run(AUDITOR, may={"reason": is_text, "outcomes": map_of(is_count), **_ITEM_LISTS}),
    "run_aborted": _run(AUDITOR, may={"reason": is_text, "outcomes": map_of(is_count), **_ITEM_LISTS}),
    "item_voided": _run(AUDITOR, needs={"item": is_id}, may={"reason": is_text, "substitute": nullable(is_id)}),
    "scored": _run(AUDITOR, needs={"scores_sha256": is_hex32}, may={"arms_sha256": is_hex32}),
    "calibration": _run(
        AUDITOR, needs={"record_sha256": is_hex32}, may={"judge_id": nullable(is_hex32), "labels": is_count}
    ),
    "dispute": _run(_DISPUTANT, needs={"item": is_id, "part": _PART}, may={"claim": is_text}),
    "dispute_resolved": _run(ANY, needs={"item": is_id, "outcome": word("upheld", "rejected")}),
    "item_opened": _by(CUSTODIAN, needs={"item": is_id}, may={"part": _PART, "purpose": is_text, "to": is_text}),
    "exposure": _by(
        ("custodian", "auditor"),
        needs={"party": is_text, "role": is_text},
        may={"items": ascending, "channel": is_text},
    ),
    "spot_check": _by(CUSTODIAN, needs={"items": ascending}, may={"findings": is_count}),
    "report_issued": _run(
        AUDITOR,
        needs={"report_id": is_text, "signed_digest": is_text, "bundle_digest": is_digest},
        may={"history_sha256": nullable(is_hex32), "size": is_count},
    ),
    "bank_rotated": _by(CUSTODIAN, needs={"old_digest": is_digest, "new_digest": is_digest}),
    "blind": _by(AUDITOR, needs={"commitment": is_hex32}),
    "unblind": _by(AUDITOR, needs={"seq": is_count, "salt": is_hex32, "content": is_text}),
    "drill": _by(CUSTODIAN, needs={}, may={"what": is_text, "result": is_text}),
    "incident": _by(CUSTODIAN, needs={"what": is_text}, may={"items": ascending}),
    "destruction": _by(CUSTODIAN, needs={}, may={"what": is_text, "method": is_text, "clause": is_text}),
}
"""Every type that a ledger of version 1 knows. A key of `data` that stands in neither shape makes no claim."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger, whose form was checked."""

    seq: int
    type: str
    actor: str
    time: str
    prev: str
    data: JsonObject
    sigs: tuple[tuple[str, bytes], ...]
    line: bytes
    signed: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of the line, hex: the next line's `prev`."""
        return sha256_hex(self.line)

    @property
    def leaf(self) -> bytes:
        """The hash of the line as a leaf of the ledger's tree."""
        return merkle.leaf_hash(self.line)

    @property
    def contract_digest(self) -> str | None:
        """The contract that the entry belongs to, if any."""
        value = self.data.get("contract_digest")
        return value if isinstance(value, str) else None

    @property
    def run(self) -> int | None:
        """The run that the entry belongs to, if any."""
        value = self.data.get("run")
        return value if isinstance(value, int) else None


def parse_entry(line: bytes, where: str) -> Entry:
    """Read one line, without LF: cap, strict JSON, JCS, keys, known type. Raises: CustodyError SLV-K020."""
    if len(line) > MAX_LINE:
        raise _malformed(where, "línea demasiado larga", "line too long")
    try:
        tree = loads_canonical(line, max_depth=16)
    except StrictJsonError as error:
        raise _malformed(where, str(error), str(error)) from error
    wrong = shape_fault(tree, _LINE)
    if wrong is not None:
        raise _malformed(where, f"campo {wrong}", f"field {wrong}")
    data = tree["data"]
    kind = TYPES.get(text(tree, "type"))
    if kind is None or not isinstance(data, Mapping):
        raise _malformed(where, f"tipo desconocido: {tree['type']}", f"unknown type: {tree['type']}")
    wrong = shape_fault(data, kind.required, kind.optional, closed=False)
    if wrong is not None:
        raise _malformed(where, f"campo data.{wrong}", f"field data.{wrong}")
    return Entry(
        seq=integer(tree, "seq"),
        type=text(tree, "type"),
        actor=text(tree, "actor"),
        time=text(tree, "time"),
        prev=text(tree, "prev"),
        data=data,
        sigs=_signatures(objects(tree, "sigs"), where),
        line=line,
        signed=signed_bytes(tree),
    )


def _signatures(sigs: Sequence[JsonObject], where: str) -> tuple[tuple[str, bytes], ...]:
    found: list[tuple[str, bytes]] = []
    for one in sigs:
        raw = None if shape_fault(one, _SIGNATURE) else strict_base64(text(one, "sig"), 64)
        if raw is None:
            raise _malformed(where, "firma mal formada", "malformed signature")
        found.append((text(one, "key"), raw))
    if not 1 <= len(found) <= 2 or len({key for key, _ in found}) != len(found):
        raise _malformed(where, "una o dos firmas, de claves distintas", "one or two signatures, of different keys")
    return tuple(found)


def signed_bytes(tree: JsonObject) -> bytes:
    """Return the bytes that each signature of an entry covers."""
    return _SIGN + jcs({key: value for key, value in tree.items() if key != "sigs"})


def write_line(tree: JsonObject, signers: Sequence[SigningKey]) -> bytes:
    """Return the line of an entry signed by `signers` in order, without LF. `tree` has every key but `sigs`."""
    message = signed_bytes(tree)
    sigs = [
        {"key": key_id(signer.public), "sig": base64.b64encode(signer.sign(message)).decode()} for signer in signers
    ]
    return jcs({**tree, "sigs": sigs})


def countersign(line: bytes, signer: SigningKey) -> bytes:
    """Return a proposed line with one more signature. Raises: CustodyError SLV-K020 if it is none or has two."""
    entry = parse_entry(line, "proposal")
    tree = loads_canonical(line, max_depth=16)
    if len(entry.sigs) != 1:
        raise _malformed("proposal", "ya tiene dos firmas", "has two signatures already")
    mine = {"key": key_id(signer.public), "sig": base64.b64encode(signer.sign(entry.signed)).decode()}
    return jcs({**tree, "sigs": [*objects(tree, "sigs"), mine]})


def split_lines(data: bytes) -> list[bytes]:
    """Return the lines of a ledger file. Raises: CustodyError SLV-K020 for a torn last line."""
    if not data:
        return []
    if not data.endswith(b"\n"):
        raise _malformed("ledger.jsonl", "última línea cortada (sin LF)", "last line torn (no LF)")
    return data[:-1].split(b"\n")


def _malformed(where: str, es: str, en: str) -> Exception:
    return fault(20, f"entrada del libro mal formada: {es}", f"malformed ledger entry: {en}", where=where)
