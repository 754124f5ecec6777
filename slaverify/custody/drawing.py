"""The acts of a draw: parties commit and reveal, the custodian closes what nobody waits for, the auditor draws.

A nonce lies in the party's folder of keys (0600) from before its commitment is told until it is revealed.

Not pure: a second door.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from pathlib import Path

from slaverify.canonical import JsonObject
from slaverify.custody.append import record_draw
from slaverify.custody.checkpoints import covering, read_checkpoints
from slaverify.custody.draw import Draw
from slaverify.custody.draw_order import check_round, covered, due_round, waiting
from slaverify.custody.entries import Entry
from slaverify.custody.faults import fault
from slaverify.custody.files import PRIVATE, private_folder, read_bounded, write_whole
from slaverify.custody.index import Index
from slaverify.custody.keys import PartyKey
from slaverify.custody.ledger_file import LedgerFile
from slaverify.custody.runs import RunRecord
from slaverify.custody.seeds import draw_commitment
from slaverify.custody.shapes import time_text
from slaverify.custody.terms import Terms
from slaverify.errors import CustodyError, Text


def commit_nonce(ledger: LedgerFile, party: PartyKey, terms: Terms, run: int, role: str, keys: Path) -> Entry:
    """Make a nonce, keep it, and record the commitment to it; what stands already is left as it is.

    Raises: CustodyError SLV-K023 (not a key of that role), K052 (too late or out of order).
    """
    return ledger.append("draw_commit", commit_data(terms, run, role, keys), [party])


def commit_data(terms: Terms, run: int, role: str, keys: Path) -> JsonObject:
    """Make a nonce if there is none, keep it in the party's folder of keys, and return the data of its commitment."""
    path = _nonce_path(keys, terms, run, role)
    if not path.is_file():
        private_folder(path.parent)
        write_whole(path, secrets.token_hex(32).encode(), PRIVATE)
    told = draw_commitment(role, terms.contract_digest, run, _nonce(path)).hex()
    return {**_run(terms, run), "role": role, "commitment": told}


def reveal_nonce(ledger: LedgerFile, party: PartyKey, terms: Terms, run: int, role: str, keys: Path) -> Entry:
    """Record a party's nonce, once every commitment lies under a checkpoint. Raises: as `reveal_data`."""
    return ledger.append("draw_reveal", reveal_data(ledger, terms, run, role, keys), [party])


def reveal_data(ledger: LedgerFile, terms: Terms, run: int, role: str, keys: Path) -> JsonObject:
    """Return the data of a reveal.

    Raises: CustodyError SLV-K052 (a commitment is missing or not under a checkpoint), K071 (the nonce is not here).
    """
    record = _record(ledger, terms, run)
    commits = record.all("draw_commit")
    if waiting(record, terms).act == "commit" or not commits:
        raise fault(
            52, "falta el compromiso de otra parte: no revele", "another party has not committed: do not reveal"
        )
    sizes = [one.size for one in read_checkpoints(ledger.folder)]
    first = record.all("draw_reveal")
    if not covered(commits[-1].seq, first[0].seq if first else ledger.view.size, sizes):
        raise fault(
            52,
            "los compromisos no están bajo un punto de control: no revele",
            "the commitments are not under a checkpoint: do not reveal",
            fix=Text(
                "pida al custodio «slaverify custody ledger checkpoint»",
                "ask the custodian for `slaverify custody ledger checkpoint`",
            ),
        )
    nonce = _nonce(_nonce_path(keys, terms, run, role)).hex()
    return {**_run(terms, run), "role": role, "nonce": nonce}


def settle_draw(
    ledger: LedgerFile,
    index: Index,
    terms: Terms,
    run: int,
    *,
    custodian: PartyKey | None,
    auditor: PartyKey,
    now: datetime,
    light: JsonObject | None = None,
) -> Draw:
    """Draw, once nobody is waited for; a draw that is on record is computed again and compared.

    `light` is the round of the beacon, if the contract adds one.
    Raises: CustodyError SLV-K052 (a nonce is pending: exit 6), K055, K072 (the round is pending: exit 6), what
    `record_draw` raises.
    """
    record = _record(ledger, terms, run)
    if record.draw is None:
        _settle_nonces(ledger, terms, run, custodian, now)
        if terms.beacon is not None:
            if light is None:
                raise _no_light(due_round(record, terms))
            check_round(light, record, terms, terms.beacon)
        elif light is not None:
            raise fault(55, "el contrato no pacta baliza", "the contract agrees on no beacon")
    return record_draw(ledger, auditor, index, terms, run, light=light)


def _settle_nonces(ledger: LedgerFile, terms: Terms, run: int, custodian: PartyKey | None, now: datetime) -> None:
    record = _record(ledger, terms, run)
    left = waiting(record, terms)
    while left.roles:
        commits = record.all("draw_commit")
        if custodian is not None and left.act == "reveal" and covering(ledger.folder, commits[-1].seq) is None:
            ledger.checkpoint(custodian)
        if now < left.deadline:
            raise _pending(left.act, left.roles, left.deadline)
        if custodian is None:
            raise fault(71, "el custodio cierra lo que nadie espera", "the custodian closes what nobody waits for")
        for role in left.roles:
            data = {**_run(terms, run), "role": role, "deadline": time_text(left.deadline)}
            ledger.append("draw_defaulted", data, [custodian])
        record = _record(ledger, terms, run)
        left = waiting(record, terms)
    if terms.method == "commit_reveal" and not record.all("draw_reveal"):
        raise fault(
            52,
            "ninguna parte reveló su número: no hay con qué sortear",
            "no party revealed a nonce: there is nothing to draw with",
            fix=Text("cierre la corrida y abra otra", "close the run and open another"),
        )


def _pending(act: str, roles: tuple[str, ...], deadline: datetime) -> CustodyError:
    names, until = ", ".join(roles), time_text(deadline)
    verb = Text("comprometerse", "commit") if act == "commit" else Text("revelar", "reveal")
    error = fault(
        52,
        f"el sorteo espera a {names}, que debe {verb.es} su número antes de {until}",
        f"the draw waits for {names}, who must {verb.en} a nonce before {until}",
        fix=Text(
            f"cada parte escribe «slaverify custody draw BANCO --contract CONTRATO --{act} --role PAPEL»; luego",
            f"each party types `slaverify custody draw BANK --contract CONTRACT --{act} --role ROLE`; then",
        ),
    )
    # A step of other people: nothing is wrong, and the walk goes on later.
    error.exit_code = 6
    return error


def _no_light(due: int) -> CustodyError:
    return fault(
        72,
        f"falta la ronda {due} de la baliza",
        f"round {due} of the beacon is missing",
        fix=Text(
            "guarde su JSON y dibuje con «slaverify custody draw BANCO --contract CONTRATO --beacon ARCHIVO»; luego",
            "save its JSON and draw with `slaverify custody draw BANK --contract CONTRACT --beacon FILE`; then",
        ),
    )


def _record(ledger: LedgerFile, terms: Terms, run: int) -> RunRecord:
    found = ledger.refresh().run(terms.contract_digest, run)
    if found is None:
        raise fault(40, f"no hay corrida {run} de este contrato", f"this contract has no run {run}")
    return found


def _nonce_path(keys: Path, terms: Terms, run: int, role: str) -> Path:
    return keys / "nonces" / f"{terms.contract_digest.removeprefix('sha256:')[:16]}-{run:04d}-{role}"


def _nonce(path: Path) -> bytes:
    if not path.is_file():
        raise fault(
            71,
            "su número no está en esta carpeta de claves",
            "your nonce is not in this folder of keys",
            where=str(path),
        )
    try:
        nonce = bytes.fromhex(read_bounded(path, 64, 71).decode("ascii", "replace"))
    except ValueError:
        nonce = b""
    if len(nonce) != 32:
        raise fault(71, "su número está dañado", "your nonce is damaged", where=str(path))
    return nonce


def _run(terms: Terms, run: int) -> dict[str, str | int]:
    return {"contract_digest": terms.contract_digest, "run": run}
