"""What the rules of time and key (V13, V14) read besides the signature: contract, manifest, ledger, run.

Source: docs/spec/verification.md (V13, V14).
"""

from __future__ import annotations

from datetime import UTC, datetime

from slaverify.contract import LoadedContract, instant
from slaverify.custody import LedgerView
from slaverify.evidence import EnvelopeFacts
from slaverify.verify.custody_set import CustodySet
from slaverify.verify.material import Material
from slaverify.verify.signature_times import Circumstances, KeyWindow, Revocation
from slaverify.verify.trees import text

_OUTCOMES = "run/outcomes.jsonl"


def circumstances(material: Material, envelope: EnvelopeFacts | None, custody: CustodySet | None) -> Circumstances:
    """Return what is known of contract, ledger and run; a ledger that does not hold counts as not given (V18 fails)."""
    contract = _pinned_contract(material)
    started = None if custody is None else custody.run.started
    first, last = _exchanges(custody)
    signature = None if contract is None else contract.model.report.signature
    identity = None if contract is None else contract.model.contract
    terms = (
        {} if signature is None else {"max_delay_s": signature.max_delay_s, "tolerance_s": signature.clock_tolerance_s}
    )
    return Circumstances(
        closed_at=None if material.manifest is None else _time(material.manifest.header.closed_at),
        **terms,
        contract_given=contract is not None,
        effective=None if identity is None or identity.effective is None else instant(identity.effective),
        expires=None if identity is None or identity.expires is None else instant(identity.expires),
        keys=() if contract is None else _windows(contract),
        bundle_given=custody is not None,
        started_at=None if started is None else _time(started.time),
        first_exchange=first,
        last_exchange=last,
        manifest_token_at=None if envelope is None or envelope.token is None else envelope.token.at,
        revocations=() if custody is None else _revocations(custody.view),
    )


def _pinned_contract(material: Material) -> LoadedContract | None:
    """Return the contract that the caller vouches for: given, or of the bundle under the digest that was given."""
    trust = material.request.trust
    if trust.contract is not None:
        return trust.contract
    own = material.contract
    return own if own is not None and own.digest == trust.contract_digest else None


def _windows(contract: LoadedContract) -> tuple[KeyWindow, ...]:
    pinned = contract.model.report.signature.auditor_spki_sha256
    return tuple(
        KeyWindow(
            None if key.valid_from is None else instant(key.valid_from),
            None if key.valid_until is None else instant(key.valid_until),
        )
        for key in contract.model.parties.auditor.keys
        if key.spki_sha256 == pinned
    )


def _revocations(view: LedgerView) -> tuple[Revocation, ...]:
    return tuple(
        Revocation(text(entry.data, "key_id"), _time(text(entry.data, "from")))
        for entry in view.find_all("key_revoked")
    )


def _exchanges(custody: CustodySet | None) -> tuple[datetime | None, datetime | None]:
    if custody is None:
        return None, None
    try:
        times = [_time(text(line, "started_at")) for line in custody.bundle.lines(_OUTCOMES)]
    except Exception:  # noqa: BLE001 - V17 or V18 says what is wrong with the file
        return None, None
    return (min(times), max(times)) if times else (None, None)


def _time(value: str) -> datetime:
    return datetime.fromisoformat(value).astimezone(UTC)
