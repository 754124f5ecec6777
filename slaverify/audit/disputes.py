"""Disputes from claim to recomputed decision: ledger entries, what is opened to whom, three states, days left.

The claim's text stays in the run's private folder until a report cites it; the ledger holds its digest.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from slaverify.audit.opening import drawn_of, private
from slaverify.audit.scoring import SCORES
from slaverify.audit.session import Session
from slaverify.canonical import JsonObject, digest_of, jcs, jsonl, loads_canonical
from slaverify.custody import Dispute, Entry, Part, disputes_of, rulings
from slaverify.custody.acts import record_dispute, record_resolution
from slaverify.custody.deliver import open_items
from slaverify.custody.files import private_folder, write_whole
from slaverify.custody.keys import PartyKey
from slaverify.custody.shapes import read_time
from slaverify.decision import Disputed, RunValidity, decide, dispute_states, inputs, results
from slaverify.errors import ApplicationError, Text
from slaverify.evidence import calibrations, run_validity
from slaverify.evidence.read import open_folder

MAX_CLAIM = 5000
"""Characters of a claim."""
PARTIES = ("buyer", "vendor", "auditor", "custodian")
_CLAIMS = "claims"


@dataclass(frozen=True)
class DisputeStatus:
    """Where the disputes of a run stand: each one, until when more may be opened, and what they do to the verdict."""

    disputes: tuple[Dispute, ...]
    closes: datetime | None
    states: Disputed


@dataclass(frozen=True)
class Amended:
    """The decision counted again with what was upheld: the files of statistics and decision, and `disputes.jsonl`."""

    inputs: JsonObject
    results: JsonObject
    decision: JsonObject
    disputes: bytes


def open_dispute(session: Session, number: int, item: str, *, role: str, part: Part, claim: str) -> Entry:
    """Record a dispute and open the item to whom the contract says.

    Raises: ApplicationError SLV-A028 (no report yet, outside the window, too long a claim), SLV-A027 (not of the
    sample), CustodyError SLV-K071 (no key of that role).
    """
    closes, now = window(session, number), session.ports.clock()
    if closes is None or now > closes:
        raise _outside(closes)
    if not claim.strip() or len(claim) > MAX_CLAIM:
        raise ApplicationError(
            "SLV-A028", Text(f"el reclamo tiene de 1 a {MAX_CLAIM} letras", f"a claim has 1 to {MAX_CLAIM} characters")
        )
    if item not in drawn_of(session, number).selection.ids:
        raise ApplicationError(
            "SLV-A027", Text(f"{item} no está en la muestra", f"{item} is not in the sample"), exit_code=5
        )
    digest = digest_of(claim.encode())
    folder = private_folder(private(session, number) / _CLAIMS)
    told: JsonObject = {"item": item, "role": role, "claim": claim, "digest": digest}
    write_whole(folder / f"{item}.json", jcs(told), 0o600)
    party = session.keys.of_role(role, session.ledger.view.keys)
    entry = record_dispute(
        session.ledger, party, session.contract.digest, number, item=item, part=part.value, role=role, claim=digest
    )
    _disclose(session, number, item)
    return entry


def disclosed_to(session: Session) -> tuple[tuple[Part, str], ...]:
    """Return which part the contract opens to whom in a dispute."""
    return tuple((Part(one.part), one.to) for one in session.contract.model.disputes.disclosure)


def _disclose(session: Session, number: int, item: str) -> None:
    for part, to in disclosed_to(session):
        open_items(
            session.ledger,
            session.bank,
            [(item, part)],
            purpose="dispute",
            to=to,
            custodian=session.custodian,
            private=private(session, number),
        )


def resolve_dispute(
    session: Session, number: int, item: str, *, adjudicator: PartyKey, upheld: bool, reason: str
) -> Entry:
    """Record what the adjudicator decided.

    Raises: ApplicationError SLV-A028 (nobody was named to decide, another key, nothing open).
    """
    named = session.contract.model.disputes.adjudicator
    if named is None:
        raise ApplicationError(
            "SLV-A028",
            Text("el contrato no nombra quién resuelve", "the contract names nobody to decide"),
            fix=Text("acuerden un disputes.adjudicator y enmienden", "agree on disputes.adjudicator and amend"),
        )
    if named.key_id is not None and adjudicator.key_id != named.key_id:
        raise ApplicationError(
            "SLV-A028", Text(f"resuelve {named.name}, con otra clave", f"{named.name} decides, with another key")
        )
    if item not in [one.item for one in known_disputes(session, number) if one.state == "open"]:
        raise ApplicationError(
            "SLV-A028", Text(f"no hay disputa abierta sobre {item}", f"no dispute over {item} is open")
        )
    outcome = "upheld" if upheld else "rejected"
    return record_resolution(
        session.ledger, adjudicator, session.contract.digest, number, item=item, outcome=outcome, reason=reason
    )


def known_disputes(session: Session, number: int) -> tuple[Dispute, ...]:
    """Return the disputes of a run as the ledger tells them now."""
    return disputes_of(session.record(number), session.terms.adjudicator)


def window(session: Session, number: int) -> datetime | None:
    """Return until when a dispute may be opened, aware UTC; None before the first report."""
    issued = session.record(number).all("report_issued")
    if not issued:
        return None
    return read_time(issued[0].time) + timedelta(days=session.contract.model.disputes.window_days)


def status(session: Session, number: int) -> DisputeStatus:
    """Return where the disputes of a run stand, and the states as scored, for the vendor and against."""
    found, bundle = known_disputes(session, number), open_folder(session.run_folder(number))
    people = calibrations(bundle, session.contract, number, rulings(found)) if bundle.has(SCORES) else {}
    states = dispute_states(
        session.contract.model,
        list(bundle.lines(SCORES)) if bundle.has(SCORES) else [],
        run_validity(bundle, session.contract, number),
        disputed=[one.item for one in found if one.state == "open"],
        upheld=[one.item for one in found if one.state == "upheld"],
        calibrations=people,
    )
    return DisputeStatus(found, window(session, number), states)


def amended(session: Session, number: int) -> Amended:
    """Count the run again with what was upheld. What the run folder holds is left as it is.

    Raises: ApplicationError SLV-A028 while a dispute is open: the verdict could still move.
    """
    found, model = known_disputes(session, number), session.contract.model
    if any(one.state == "open" for one in found):
        raise ApplicationError(
            "SLV-A028",
            Text("hay disputas abiertas; el informe enmendado espera", "disputes are open; the amended report waits"),
            exit_code=6,
        )
    bundle = open_folder(session.run_folder(number))
    records = list(bundle.lines(SCORES)) if bundle.has(SCORES) else []
    upheld = [one.item for one in found if one.state == "upheld"]
    validity = run_validity(bundle, session.contract, number)
    # More upheld than the contract bears: the run as a whole does not count.
    people = calibrations(bundle, session.contract, number, rulings(found)) if records else {}
    states = dispute_states(model, records, validity, disputed=(), upheld=upheld, calibrations=people)
    if validity.valid and states.state.value == "INVALID_RUN":
        validity = RunValidity(valid=False, reason="disputes")
    counted = inputs(model, records, rulings(found))
    measured = results(model, counted, validity, people)
    lines = [{"item": one.item, "claim": _claim(session, number, one), "state": one.state} for one in found]
    return Amended(counted, measured, decide(model, measured, validity), jsonl(lines))


def _claim(session: Session, number: int, dispute: Dispute) -> str | None:
    """Return the text of a claim if it is here and is the one that the ledger recorded."""
    path = private(session, number) / _CLAIMS / f"{dispute.item}.json"
    if not path.is_file():
        return None
    claim = str(loads_canonical(path.read_bytes()).get("claim"))
    return claim if digest_of(claim.encode()) == dispute.claim else None


def _outside(closes: datetime | None) -> ApplicationError:
    if closes is None:
        return ApplicationError(
            "SLV-A028", Text("todavía no hay informe que disputar", "there is no report to dispute")
        )
    return ApplicationError(
        "SLV-A028",
        Text(
            f"el plazo para disputar cerró el {closes.date()}",
            f"the window for disputes closed on {closes.date()}",
        ),
        exit_code=5,
    )
