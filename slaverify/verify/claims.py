"""What a verification prints beside its checks: verdict as declared, identities, times, digests, and non-claims.

Read from the same files as the checks, and believed as far as those hold: what cannot be read is left out here and
fails there.

Source: docs/spec/verification.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from slaverify.canonical import JsonObject
from slaverify.errors import Text
from slaverify.evidence import CertificateFacts, EnvelopeFacts, TokenFacts
from slaverify.verify.custody_set import CustodySet
from slaverify.verify.material import Material
from slaverify.verify.trees import count_or_none, obj, objects, text, text_or_none
from slaverify.verify.verification import Identity, MetricVerdict, Moment, Verdict

_DECISION = "decision/decision.json"
_FORM = "%Y-%m-%dT%H:%M:%SZ"

NON_CLAIMS = (
    Text(
        "quien tenga el archivo puede reemplazar el sello de tiempo por uno posterior, nunca por uno anterior",
        "who holds the file can replace the token by a later one, never by an earlier one",
    ),
    Text(
        "una autoridad de sellado y un auditor en colusión pueden antedatar hasta el último punto con testigo",
        "a timestamp authority and an auditor who collude can back-date up to the last witnessed checkpoint",
    ),
    Text(
        "se muestra qué se respondió y que el veredicto sale de ahí; no que el banco de preguntas tenga razón",
        "it shows what was answered and that the verdict follows; not that the bank of questions is right",
    ),
)
"""What no verification shows; always printed."""


def verdict_of(material: Material) -> Verdict | None:
    """Return the verdict that the report declares, else the bundle; None if neither can be read."""
    try:
        if material.report is not None:
            return _verdict(obj(material.report, "decision"))
        if material.bundle is not None and material.bundle.has(_DECISION):
            return _verdict(material.bundle.json(_DECISION))
    except Exception:  # noqa: BLE001 - bytes from anybody; V16, V17 or V19 says what is wrong with them
        return None
    return None


def _verdict(decision: JsonObject) -> Verdict:
    return Verdict(text(decision, "state"), tuple(_metric(row) for row in objects(decision, "metrics")))


def _metric(row: JsonObject) -> MetricVerdict:
    failures, vendor = count_or_none(row, "failures"), count_or_none(row, "failures_vendor")
    return MetricVerdict(
        id=text(row, "id"),
        state=text(row, "state"),
        reason=text_or_none(row, "reason"),
        binding=row.get("binding") is True,
        n=count_or_none(row, "n"),
        failures=None if failures is None else failures + (vendor or 0),
        pass_max_failures=count_or_none(row, "pass_max_failures"),
        breach_min_failures=count_or_none(row, "breach_min_failures"),
    )


def identities_of(
    material: Material, envelope: EnvelopeFacts | None, custody: CustodySet | None, witnesses: tuple[str, ...]
) -> tuple[Identity, ...]:
    """Return who signed: auditor, timestamp authority, custodian, witnesses."""
    facts = material.facts
    signer = None if facts is None else facts.signer
    token = None if facts is None else facts.token
    if envelope is not None:
        signer = signer or (None if envelope.cms is None else envelope.cms.signer)
        token = token or envelope.token
    found = [*_certificate("auditor", signer), *_certificate("tsa", None if token is None else token.cms.signer)]
    if custody is not None:
        found.append(Identity("custodian", custody.terms.parties.get("custodian", ""), key=custody.terms.vkey))
        found += [Identity("witness", name) for name in witnesses]
    return tuple(found)


def _certificate(role: str, facts: CertificateFacts | None) -> Iterator[Identity]:
    if facts is not None:
        yield Identity(role, facts.subject, facts.spki_sha256, facts.sha256, facts.key)


def times_of(material: Material, envelope: EnvelopeFacts | None, custody: CustodySet | None) -> tuple[Moment, ...]:
    """Return the moments that the evidence states, in UTC and in the contract's zone, in the order of the line."""
    named: list[tuple[str, str | datetime | None]] = []
    if custody is not None:
        started, terminal = custody.run.started, custody.run.terminal
        named.append(("run_started", None if started is None else started.time))
        named.append(("run_ended", None if terminal is None else terminal.time))
    if material.manifest is not None:
        named.append(("closed", material.manifest.header.closed_at))
    if custody is not None:
        named.append(("checkpoint", custody.view[custody.view.size - 1].time))
    named.append(("manifest_token", None if envelope is None else _at(envelope.token)))
    named.append(("token", None if material.facts is None else _at(material.facts.token)))
    zone = None if material.contract is None else material.contract.model.contract.time_zone
    return tuple(_moment(name, at, zone) for name, at in named if at is not None)


def _at(token: TokenFacts | None) -> datetime | None:
    return None if token is None else token.at


def _moment(name: str, at: str | datetime, zone: str | None) -> Moment:
    if isinstance(at, str):
        try:
            moment = datetime.fromisoformat(at)
        except ValueError:
            return Moment(name, at)
    else:
        moment = at
    utc = moment.astimezone(UTC)
    try:
        local = "" if zone is None else f"{utc.astimezone(ZoneInfo(zone)).isoformat()} {zone}"
    except (KeyError, ValueError, OSError):
        # A machine without that zone still prints UTC.
        local = ""
    return Moment(name, utc.strftime(_FORM), local)


def digests_of(material: Material) -> tuple[tuple[str, str], ...]:
    """Return the digests that identify what was verified, by name."""
    found: list[tuple[str, str]] = []
    if material.facts is not None and material.facts.signed_digest:
        found.append(("signed_digest", f"sha256:{material.facts.signed_digest}"))
    if material.report is not None:
        found.append(("bundle_digest", str(material.report["bundle_digest"])))
    elif material.bundle is not None:
        found.append(("bundle_digest", material.bundle.digest))
    if material.manifest is not None:
        header = material.manifest.header
        found += [
            ("contract_digest", header.contract_digest),
            ("bank_digest", header.bank_digest),
            ("method_digest", header.method_digest),
        ]
    return tuple(found)


def names_of(material: Material) -> tuple[tuple[str, str], ...]:
    """Return the names of what was verified: report, contract, run."""
    found: list[tuple[str, str]] = []
    stated = None if material.report is None else material.report["report_id"]
    if isinstance(stated, str):
        found.append(("report_id", stated))
    if material.manifest is not None:
        header = material.manifest.header
        found += [("contract_id", header.contract_id), ("run_id", header.run_id)]
    return tuple(found)
