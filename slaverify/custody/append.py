"""The entries of an audit, one function each: what audit and the custody verbs write to a ledger.

Each function may be called again: where the entry stands already, it is returned and nothing is written. `open_run`
alone always opens a run, and has no parameter for its number: the ledger assigns it under the lock.

Not pure: a second door.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from slaverify.canonical import JsonObject, JsonValue
from slaverify.custody.checkpoints import CheckpointFile, checkpoint_path, covering, read_checkpoints, token_path
from slaverify.custody.draw import Draw, draw_data, draw_run
from slaverify.custody.ed25519 import key_id
from slaverify.custody.entries import CHANGE_CHECK, Entry
from slaverify.custody.faults import fault
from slaverify.custody.index import Index
from slaverify.custody.keys import PartyKey
from slaverify.custody.ledger_file import Draft, LedgerFile
from slaverify.custody.note import parse_vkey
from slaverify.custody.overlaps import check_overlaps
from slaverify.custody.runs import RunRecord
from slaverify.custody.shapes import time_text
from slaverify.custody.terms import Terms
from slaverify.custody.view import LedgerView
from slaverify.errors import Text

__all__ = [
    "CheckpointFile",
    "LedgerFile",
    "RunStart",
    "Tally",
    "abort_run",
    "checkpoint_path",
    "covering",
    "end_run",
    "key_data",
    "open_run",
    "read_checkpoints",
    "record_batch",
    "record_calibration",
    "record_draw",
    "record_exposure",
    "record_incident",
    "record_report",
    "record_scored",
    "register_contract",
    "register_key",
    "resume_run",
    "revoke_key",
    "start_data",
    "start_run",
    "token_path",
    "void_item",
]


@dataclass(frozen=True)
class RunStart:
    """What is fixed before the first request. Hex digests are bare; None where a thing does not exist."""

    plan_sha256: str
    engine_version: str
    harness_version: str
    lock_sha256: str | None
    python: str
    os: str
    endpoint_host_sha256: str
    judge_id: str | None = None


@dataclass(frozen=True)
class Tally:
    """What is said of a run when it resumes or ends.

    `sent` and `in_flight` are leaf numbers that no batch holds; `outcomes` counts exchanges by outcome.
    """

    reason: str = ""
    sent: Sequence[int] = ()
    in_flight: Sequence[int] = ()
    outcomes: Mapping[str, int] | None = None

    def data(self) -> dict[str, JsonValue]:
        """Return the part of an entry's data."""
        return {
            "reason": self.reason,
            "sent": sorted(set(self.sent)),
            "in_flight": sorted(set(self.in_flight)),
            "outcomes": dict(self.outcomes or {}),
        }


def register_key(
    ledger: LedgerFile, custodian: PartyKey, key: PartyKey, *, now: datetime, valid_until: datetime | None = None
) -> Entry:
    """Register a key, signed by the custodian and by the key itself; a registered key is left as it is."""

    def build(view: LedgerView) -> Draft | Entry:
        known = view.keys.get(key.key_id)
        if known is not None:
            return view[known.seq]
        data = key_data(key.vkey, key.roles, key.organisation, key.age_recipient, now=now, valid_until=valid_until)
        return Draft("key_added", data, (custodian, key))

    return ledger.transact(build)


def key_data(
    vkey: str,
    roles: Sequence[str],
    organisation: str,
    age: str | None,
    *,
    now: datetime,
    valid_until: datetime | None = None,
) -> JsonObject:
    """Return the data of `key_added` for a public key. Raises: ValueError if `vkey` is none."""
    key = parse_vkey(vkey)
    return {
        "key_id": key_id(key.public),
        "name": key.name,
        "roles": list(roles),
        "organisation": organisation,
        "vkey": vkey,
        "age": age,
        "ssh": None,
        "valid_from": time_text(now),
        "valid_until": None if valid_until is None else time_text(valid_until),
    }


def revoke_key(ledger: LedgerFile, custodian: PartyKey, revoked: str, *, since: datetime, reason: str) -> Entry:
    """Revoke a key of the register, or an X.509 key of a contract by its SPKI digest (hex)."""
    return ledger.append("key_revoked", {"key_id": revoked, "from": time_text(since), "reason": reason}, [custodian])


def register_contract(ledger: LedgerFile, custodian: PartyKey, terms: Terms) -> Entry:
    """Register a signed contract in the ledger of the bank that it names.

    Raises: CustodyError SLV-K005 (roles overlap), SLV-K010 (another bank), SLV-K034 (another ledger), SLV-K041.
    """

    def build(view: LedgerView) -> Draft | Entry:
        if (terms.origin, terms.vkey) != (view.origin, view.log_vkey):
            raise fault(
                34,
                "el contrato fija otro libro",
                "the contract pins another ledger",
                fix=Text(
                    f"en ledger ponga origin: {view.origin} y vkey: {view.log_vkey}",
                    f"under ledger write origin: {view.origin} and vkey: {view.log_vkey}",
                ),
            )
        check_overlaps(terms, view.keys.values())
        known = view.contract(terms.contract_digest)
        if known is not None:
            return known
        data: JsonObject = {
            "contract_digest": terms.contract_digest,
            "bank_digest": terms.bank_digest,
            "vendor": terms.parties.get("vendor", ""),
            "exposure_group": terms.exposure_group,
            "run_budget": terms.run_budget,
        }
        return Draft("contract_registered", data, (custodian,))

    return ledger.transact(build)


def open_run(ledger: LedgerFile, auditor: PartyKey, terms: Terms, *, candidate: JsonObject | None = None) -> RunRecord:
    """Open a run and return its record; its number is the ledger's. With a `candidate` it is a change check.

    Raises: CustodyError SLV-K040 (contract not registered), SLV-K041 (budget used), SLV-K045 (a run is open).
    """

    def build(view: LedgerView) -> Draft:
        data: dict[str, JsonValue] = {
            "contract_digest": terms.contract_digest,
            "run": len(view.runs(terms.contract_digest)) + 1,
        }
        if candidate is not None:
            data |= {"purpose": CHANGE_CHECK, "candidate": candidate}
        return Draft("run_opened", data, (auditor,))

    entry = ledger.transact(build)
    return RunRecord(terms.contract_digest, entry.run or 0, entry)


def record_draw(
    ledger: LedgerFile, auditor: PartyKey, index: Index, terms: Terms, run: int, *, light: JsonObject | None = None
) -> Draw:
    """Draw for a run and record it, with the round of a beacon; a draw on record is computed again and compared.

    Raises: as `custody.draw_run`.
    """
    found: list[Draw] = []

    def build(view: LedgerView) -> Draft | Entry:
        drawn = draw_run(index, view, terms, run, light=light)
        found[:] = [drawn]
        record = view.run(terms.contract_digest, run)
        if record is not None and record.draw is not None:
            return record.draw
        return Draft("draw", draw_data(drawn), (auditor,))

    ledger.transact(build)
    return found[0]


def start_run(ledger: LedgerFile, auditor: PartyKey, drawn: Draw, start: RunStart) -> Entry:
    """Record the start of a run. Raises: CustodyError SLV-K040 if it started with other particulars or is over."""
    return ledger.append("run_started", start_data(drawn, start), [auditor])


def start_data(drawn: Draw, start: RunStart) -> JsonObject:
    """Return the data of the start of a run: of its entry, or of the content of a blind one."""
    return {
        **_run(drawn.contract_digest, drawn.run),
        "sample_sha256": drawn.sample_sha256,
        "plan_sha256": start.plan_sha256,
        "engine_version": start.engine_version,
        "harness_version": start.harness_version,
        "lock_sha256": start.lock_sha256,
        "python": start.python,
        "os": start.os,
        "endpoint_host_sha256": start.endpoint_host_sha256,
        "judge_id": start.judge_id,
    }


def record_batch(
    ledger: LedgerFile,
    auditor: PartyKey,
    contract_digest: str,
    run: int,
    *,
    number: int,
    first: int,
    last: int,
    items: Sequence[int],
    root: bytes,
) -> Entry:
    """Record a batch of exchanges: plan positions `first` to `last`, leaf numbers `items`, root over the records."""
    data = {
        **_run(contract_digest, run),
        "number": number,
        "first": first,
        "last": last,
        "items": sorted(set(items)),
        "root": root.hex(),
    }
    return ledger.append("batch", data, [auditor])


def resume_run(ledger: LedgerFile, auditor: PartyKey, contract_digest: str, run: int, tally: Tally) -> Entry:
    """Record that a run goes on after an interruption; each resumption is an entry of its own."""
    draft = Draft("run_resumed", {**_run(contract_digest, run), **tally.data()}, (auditor,))
    return ledger.transact(lambda view: draft)


def end_run(ledger: LedgerFile, auditor: PartyKey, contract_digest: str, run: int, tally: Tally) -> Entry:
    """Record the end of a run."""
    return ledger.append("run_ended", {**_run(contract_digest, run), **tally.data()}, [auditor])


def abort_run(ledger: LedgerFile, auditor: PartyKey, contract_digest: str, run: int, tally: Tally) -> Entry:
    """Record that a run was given up. It stays in the report and uses up the budget."""
    return ledger.append("run_aborted", {**_run(contract_digest, run), **tally.data()}, [auditor])


def void_item(
    ledger: LedgerFile, auditor: PartyKey, drawn: Draw, item: str, *, reason: str, substitute: str | None
) -> Entry:
    """Take an item out before it is sent, for the next one of the reserve if there is one."""
    data = {**_run(drawn.contract_digest, drawn.run), "item": item, "reason": reason, "substitute": substitute}
    return ledger.append("item_voided", data, [auditor])


def record_scored(
    ledger: LedgerFile,
    auditor: PartyKey,
    contract_digest: str,
    run: int,
    scores_sha256: str,
    arms_sha256: str | None = None,
) -> Entry:
    """Record the digest of the scores, and of those of the arms if there are any, before any result is shown."""
    data = {**_run(contract_digest, run), "scores_sha256": scores_sha256}
    if arms_sha256 is not None:
        data["arms_sha256"] = arms_sha256
    return ledger.append("scored", data, [auditor])


def record_calibration(
    ledger: LedgerFile,
    auditor: PartyKey,
    contract_digest: str,
    run: int,
    *,
    record_sha256: str,
    judge_id: str | None,
    labels: int,
) -> Entry:
    """Record the digest of a judge's calibration."""
    data = {
        **_run(contract_digest, run),
        "record_sha256": record_sha256,
        "judge_id": judge_id,
        "labels": labels,
    }
    return ledger.append("calibration", data, [auditor])


def record_report(
    ledger: LedgerFile,
    auditor: PartyKey,
    contract_digest: str,
    run: int,
    *,
    report_id: str,
    signed_digest: str,
    bundle_digest: str,
    history_sha256: str | None,
    size: int,
    language: str,
) -> Entry:
    """Record that a report was issued, one entry a language; `size` is the ledger size that its bundle holds."""
    data = {
        **_run(contract_digest, run),
        "report_id": report_id,
        "signed_digest": signed_digest,
        "bundle_digest": bundle_digest,
        "history_sha256": history_sha256,
        "size": size,
        "language": language,
    }
    return ledger.append("report_issued", data, [auditor])


def record_exposure(
    ledger: LedgerFile, signer: PartyKey, *, party: str, role: str, items: Sequence[int], channel: str
) -> Entry:
    """Record who else saw items (leaf numbers), and through what."""
    data: JsonObject = {"party": party, "role": role, "items": sorted(set(items)), "channel": channel}
    return ledger.append("exposure", data, [signer])


def record_incident(ledger: LedgerFile, custodian: PartyKey, *, what: str, items: Sequence[int] = ()) -> Entry:
    """Record something that went wrong, and the leaf numbers that it touches."""
    return ledger.append("incident", {"what": what, "items": sorted(set(items))}, [custodian])


def _run(contract_digest: str, run: int) -> dict[str, JsonValue]:
    return {"contract_digest": contract_digest, "run": run}
