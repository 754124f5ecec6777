"""The rules V13 and V14: dates that must agree, and the key's validity when it signed.

Source: docs/spec/verification.md; RFC 3161 (the token's time is the moment of every judgement).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from slaverify.errors import Text
from slaverify.evidence import SignatureFacts
from slaverify.verify.checks import EXIT_PIN, PASSED, Part, failed, noted, skipped


@dataclass(frozen=True, slots=True)
class KeyWindow:
    """When the contract says that the auditor's key is valid; None means without end."""

    valid_from: datetime | None
    valid_until: datetime | None


@dataclass(frozen=True, slots=True)
class Revocation:
    """A `key_revoked` entry of the ledger: the key (hex) and the moment from which it is void."""

    key: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What the rules of time and key read besides the signature. Absent (None) means: not given to the verifier.

    `closed_at` is the manifest's; `max_delay_s` and `tolerance_s` are seconds (the defaults of `contract/1`);
    `effective`, `expires` and `keys` need the contract; `started_at` (ledger), `first_exchange`, `last_exchange`,
    `manifest_token_at` and `revocations` need the bundle. Times are aware UTC.
    """

    closed_at: datetime | None = None
    max_delay_s: Decimal = Decimal("2592000")
    tolerance_s: Decimal = Decimal("300")
    contract_given: bool = False
    effective: datetime | None = None
    expires: datetime | None = None
    keys: tuple[KeyWindow, ...] = ()
    bundle_given: bool = False
    started_at: datetime | None = None
    first_exchange: datetime | None = None
    last_exchange: datetime | None = None
    manifest_token_at: datetime | None = None
    revocations: tuple[Revocation, ...] = ()


def time_parts(facts: SignatureFacts, given: Circumstances) -> list[Part]:
    """Return the parts of V13: token within its window, manifest's token not later, run inside term and ledger."""
    if facts.token is None or given.closed_at is None:
        return [skipped(Text("falta el sello o el manifiesto", "the token or the manifest is missing"))]
    at = facts.token.at
    return [
        PASSED,
        *_window(at, given, given.closed_at),
        *_manifest_token(at, given, given.closed_at),
        *_run(given),
        *_not_given(given),
    ]


def key_parts(facts: SignatureFacts, given: Circumstances) -> list[Part]:
    """Return the parts of V14: certificate, contract and ledger hold the key valid at the token's time."""
    if facts.token is None or facts.signer is None:
        return [skipped(Text("falta el sello o el certificado", "the token or the certificate is missing"))]
    at, signer = facts.token.at, facts.signer
    parts = [PASSED]
    if not signer.not_before <= at <= signer.not_after:
        reason = Text("el certificado no era válido entonces", "the certificate was not valid then")
        parts.append(_late(reason, f"{utc(signer.not_before)} - {utc(signer.not_after)}", at))
    if given.contract_given and not any(_within(window, at) for window in given.keys):
        reason = Text(
            "el contrato no da esa clave por válida entonces", "the contract does not hold that key valid then"
        )
        parts.append(_late(reason, "", at))
    for entry in given.revocations:
        if entry.key == signer.spki_sha256 and entry.since <= at:
            reason = Text("la clave estaba revocada", "the key had been revoked")
            parts.append(_late(reason, f"< {utc(entry.since)}", at))
        elif entry.key == signer.spki_sha256:
            when = utc(entry.since)
            parts.append(noted(Text(f"clave revocada después, el {when}", f"key revoked later, on {when}")))
    return [*parts, *_not_given(given)]


def utc(moment: datetime) -> str:
    """Return a moment as `YYYY-MM-DDThh:mm:ssZ`."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _window(at: datetime, given: Circumstances, closed_at: datetime) -> Iterator[Part]:
    earliest, latest = closed_at - _span(given.tolerance_s), closed_at + _span(given.max_delay_s)
    if at < earliest:
        reason = Text("el sello es anterior al cierre de la evidencia", "the timestamp is before the evidence closed")
        yield failed(reason, expected=f">= {utc(earliest)}", found=utc(at))
    if at > latest:
        reason = Text("el sello llegó tarde", "the timestamp is too late")
        yield failed(reason, expected=f"<= {utc(latest)}", found=utc(at))


def _manifest_token(at: datetime, given: Circumstances, closed_at: datetime) -> Iterator[Part]:
    token_at = given.manifest_token_at
    if token_at is None:
        return
    earliest = closed_at - _span(given.tolerance_s)
    if token_at > at:
        reason = Text("el manifiesto se selló después del informe", "the manifest was stamped after the report")
        yield failed(reason, expected=f"<= {utc(at)}", found=utc(token_at))
    if token_at < earliest:
        reason = Text("el manifiesto se selló antes de cerrarse", "the manifest was stamped before it closed")
        yield failed(reason, expected=f">= {utc(earliest)}", found=utc(token_at))


def _run(given: Circumstances) -> Iterator[Part]:
    first, last, started = given.first_exchange, given.last_exchange, given.started_at
    early = first is not None and given.effective is not None and first < given.effective
    late = last is not None and given.expires is not None and last > given.expires
    if early or late:
        yield failed(
            Text("la corrida está fuera de la vigencia del contrato", "the run is outside the contract's term")
        )
    if first is not None and (started is None or started > first):
        reason = Text("se preguntó antes de registrar el inicio", "questions were sent before the start was registered")
        yield failed(reason, expected="" if started is None else f">= {utc(started)}", found=utc(first))


def _not_given(given: Circumstances) -> Iterator[Part]:
    if not given.contract_given:
        reason = Text("sin contrato no se comparó con sus plazos", "without the contract its terms were not compared")
        yield skipped(reason, Text("agregue --contract", "add --contract"), optional=True)
    if not given.bundle_given:
        reason = Text("sin paquete no se miró el libro de custodia", "without the bundle the ledger was not read")
        yield skipped(reason, Text("agregue --bundle", "add --bundle"), optional=True)


def _late(reason: Text, expected: str, at: datetime) -> Part:
    return failed(reason, expected=expected, found=utc(at), exit_code=EXIT_PIN)


def _within(window: KeyWindow, at: datetime) -> bool:
    after = window.valid_from is None or window.valid_from <= at
    return after and (window.valid_until is None or at < window.valid_until)


def _span(seconds: Decimal) -> timedelta:
    return timedelta(microseconds=int(seconds * 1_000_000))
