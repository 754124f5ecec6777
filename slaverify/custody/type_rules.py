"""The rules that each type of ledger entry must satisfy beyond form, order, key and signature.

Source: docs/spec/ledger.md (rules of the types).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from slaverify.canonical import JsonValue
from slaverify.custody.blind import secret_of, start_of
from slaverify.custody.entries import CHANGE_CHECK, Entry
from slaverify.custody.faults import fault
from slaverify.custody.register import added_key
from slaverify.custody.runs import RunRecord
from slaverify.custody.seeds import draw_commitment, draw_seed
from slaverify.custody.shapes import integer, text
from slaverify.errors import CustodyError

if TYPE_CHECKING:
    from slaverify.custody.ledger_rules import LedgerState


def check_type(state: LedgerState, entry: Entry, where: str) -> None:
    """Apply the rules of the entry's type. Raises: CustodyError."""
    rule = _RULES.get(entry.type)
    if rule is not None:
        rule(state, entry, where)


def _genesis(state: LedgerState, entry: Entry, where: str) -> None:
    if state.entries:
        raise fault(34, "genesis solo puede ser la primera", "genesis can only be the first", where=where)


def _key_added(state: LedgerState, entry: Entry, where: str) -> None:
    known = state.register.get(added_key(entry).key_id)
    if known is not None:
        raise fault(23, "la clave ya está registrada", "the key is registered already", where=where)


def _bank_sealed(state: LedgerState, entry: Entry, where: str) -> None:
    if text(entry.data, "bank_digest") in state.banks:
        raise fault(10, "el banco ya está registrado", "the bank is registered already", where=where)


def _contract_registered(state: LedgerState, entry: Entry, where: str) -> None:
    if text(entry.data, "bank_digest") not in state.banks:
        raise fault(
            10,
            "el contrato nombra un banco que no está en el libro",
            "the contract names a bank not in the ledger",
            where=where,
        )
    # A second registration could raise the budget of runs.
    if entry.contract_digest in state.contracts:
        raise fault(41, "el contrato ya está registrado", "the contract is registered already", where=where)
    if state.blinds and state.contracts:
        raise _one_contract(where)


def _blind(state: LedgerState, entry: Entry, where: str) -> None:
    if len(state.contracts) > 1:
        raise _one_contract(where)


def _one_contract(where: str) -> CustodyError:
    # With a second contract nobody could tell whose start an entry that stays closed might be.
    return fault(
        42,
        "un libro con entradas ciegas sirve a un solo contrato",
        "a ledger with blind entries serves one contract",
        where=where,
    )


def _run_opened(state: LedgerState, entry: Entry, where: str) -> None:
    digest = text(entry.data, "contract_digest")
    contract = state.contracts.get(digest)
    records = [state.runs[key] for key in state.opened.get(digest, [])]
    if contract is None:
        raise _unassigned(where, "el contrato no está registrado", "the contract is not registered")
    if entry.run != len(records) + 1:
        raise _unassigned(
            where, f"la corrida debe ser la {len(records) + 1}", f"the run must be number {len(records) + 1}"
        )
    still_open = next((record for record in records if record.is_open), None)
    if still_open is not None:
        raise fault(
            45, f"la corrida {still_open.number} sigue abierta", f"run {still_open.number} is still open", where=where
        )
    budget = integer(contract.data, "run_budget")
    used = sum(record.purpose is None for record in records)
    if entry.data.get("purpose") != CHANGE_CHECK and used >= budget:
        raise fault(
            41,
            f"el contrato permite {budget} corridas y ya las usó",
            f"the contract's {budget} runs are used",
            where=where,
        )


def _commit(state: LedgerState, entry: Entry, where: str) -> None:
    record = _open(state, entry, where)
    role = _own_role(state, entry, where)
    if record.draw or record.all("draw_reveal") or role in record.roles("draw_commit"):
        raise _order(where, "compromiso tardío o repetido", "commitment late or repeated")


def _reveal(state: LedgerState, entry: Entry, where: str) -> None:
    record = _open(state, entry, where)
    role = _own_role(state, entry, where)
    commit = next((one for one in record.all("draw_commit") if one.data["role"] == role), None)
    if commit is None or record.draw or role in _settled(record):
        raise _order(
            where, "revelación sin compromiso, tardía o repetida", "reveal without commitment, late or repeated"
        )
    expected = draw_commitment(role, record.contract_digest, record.number, bytes.fromhex(text(entry.data, "nonce")))
    if expected.hex() != text(commit.data, "commitment"):
        raise fault(
            51, f"el número de {role} no es el comprometido", f"{role}'s nonce is not the committed one", where=where
        )


def _defaulted(state: LedgerState, entry: Entry, where: str) -> None:
    record = _open(state, entry, where)
    if record.draw or text(entry.data, "role") in _settled(record):
        raise _order(where, "no faltaba esa revelación", "that reveal was not missing")


def _settled(record: RunRecord) -> list[str]:
    return record.roles("draw_reveal") + record.roles("draw_defaulted")


def _own_role(state: LedgerState, entry: Entry, where: str) -> str:
    role = text(entry.data, "role")
    if role not in state.register[entry.actor].roles:
        raise fault(23, f"quien firma no es {role}", f"the signer is not {role}", where=where)
    return role


def _draw(state: LedgerState, entry: Entry, where: str) -> None:
    record = _open(state, entry, where)
    if record.draw is not None or record.started is not None:
        raise _order(where, "la corrida ya tiene sorteo", "the run has its draw already")
    if not record.opened.seq < integer(entry.data, "at_size") <= entry.seq:
        raise fault(53, "at_size no cae en esta corrida", "at_size is not within this run", where=where)
    missing = [role for role in record.roles("draw_commit") if role not in _settled(record)]
    if missing:
        raise _order(where, f"falta revelar: {', '.join(missing)}", f"not revealed: {', '.join(missing)}")
    committed = entry.data["method"] == "commit_reveal"
    if committed != bool(record.all("draw_commit")):
        raise _order(where, "el método no corresponde a los compromisos", "the method does not fit the commitments")
    if seed_of(state.banks, state.contracts, record, beacon_randomness(entry.data.get("beacon"), where)).hex() != text(
        entry.data, "seed"
    ):
        raise fault(53, "la semilla no es la que resulta", "the seed is not the one that results", where=where)


def seed_of(
    banks: Mapping[str, Entry], contracts: Mapping[str, Entry], record: RunRecord, beacon: bytes | None
) -> bytes:
    """Return the seed of a run's draw from what the ledger holds of it."""
    bank = banks[text(contracts[record.contract_digest].data, "bank_digest")]
    nonces = {text(one.data, "role"): bytes.fromhex(text(one.data, "nonce")) for one in record.all("draw_reveal")}
    return draw_seed(bytes.fromhex(text(bank.data, "root")), record.contract_digest, record.number, nonces, beacon)


def beacon_randomness(beacon: JsonValue, where: str) -> bytes | None:
    """Return the 32 bytes of the beacon that a `draw` entry holds, or None. Raises: CustodyError SLV-K055."""
    if beacon is None:
        return None
    value = beacon.get("randomness") if isinstance(beacon, Mapping) else None
    if not isinstance(value, str) or len(value) != 64:
        raise fault(55, "baliza mal formada", "malformed beacon", where=where)
    try:
        return bytes.fromhex(value)
    except ValueError as error:
        raise fault(55, "baliza mal formada", "malformed beacon", where=where) from error


def _started(state: LedgerState, entry: Entry, where: str) -> None:
    _check_start(_open(state, entry, where), entry, where)


def _check_start(record: RunRecord, entry: Entry, where: str) -> None:
    if record.started is not None:
        raise _unassigned(where, "la corrida ya comenzó", "the run has started already")
    if record.draw is None:
        raise _order(where, "comienza sin sorteo", "starts without a draw")
    if record.draw.data["sample_sha256"] != entry.data["sample_sha256"]:
        raise fault(53, "la muestra no es la sorteada", "the sample is not the drawn one", where=where)


def _batch(state: LedgerState, entry: Entry, where: str) -> None:
    record = _under_way(state, entry, where)
    bank = state.banks[text(state.contracts[record.contract_digest].data, "bank_digest")]
    last, number = record.last("batch"), integer(entry.data, "number")
    if number not in ((0, 1) if last is None else (integer(last.data, "number") + 1,)):
        raise _unassigned(where, f"lote {number} fuera de orden", f"batch {number} out of order")
    items = entry.data["items"]
    if isinstance(items, list) and items and items[-1] >= integer(bank.data, "n"):
        raise fault(61, "un ítem que el banco no tiene", "an item that the bank does not have", where=where)


def _running(state: LedgerState, entry: Entry, where: str) -> RunRecord:
    record = _open(state, entry, where)
    if record.started is None:
        raise _unassigned(where, "la corrida no ha comenzado", "the run has not started")
    return record


def _under_way(state: LedgerState, entry: Entry, where: str) -> RunRecord:
    """Return a run that has started, or that may have: a blind entry after its draw stays closed."""
    record = _open(state, entry, where)
    drawn = None if record.draw is None else record.draw.seq
    hidden = drawn is not None and any(seq > drawn and seq not in state.unblinded for seq in state.blinds)
    if record.started is None and not hidden:
        raise _unassigned(where, "la corrida no ha comenzado", "the run has not started")
    return record


def _ended(state: LedgerState, entry: Entry, where: str) -> None:
    _running(state, entry, where)


def _resumed(state: LedgerState, entry: Entry, where: str) -> None:
    _under_way(state, entry, where)


def _open(state: LedgerState, entry: Entry, where: str) -> RunRecord:
    record = _known(state, entry, where)
    if not record.is_open:
        raise _unassigned(where, f"la corrida {entry.run} ya terminó", f"run {entry.run} is over")
    return record


def _still_open(state: LedgerState, entry: Entry, where: str) -> None:
    _open(state, entry, where)


def _known(state: LedgerState, entry: Entry, where: str) -> RunRecord:
    record = state.runs.get((text(entry.data, "contract_digest"), integer(entry.data, "run")))
    if record is None:
        raise _unassigned(where, f"no hay corrida {entry.run}", f"there is no run {entry.run}")
    return record


def _of_run(state: LedgerState, entry: Entry, where: str) -> None:
    _known(state, entry, where)


def _after_end(state: LedgerState, entry: Entry, where: str) -> None:
    if _known(state, entry, where).is_open:
        raise _unassigned(where, f"la corrida {entry.run} no ha terminado", f"run {entry.run} is not over")


def _unblind(state: LedgerState, entry: Entry, where: str) -> None:
    seq = integer(entry.data, "seq")
    hidden = state.blinds.get(seq)
    if hidden is None or seq in state.unblinded:
        raise fault(43, "no abre ninguna entrada ciega", "opens no blind entry", where=where)
    started = start_of(hidden, secret_of(entry))
    if started is None:
        return
    record = _open(state, started, where)
    _check_start(record, started, where)
    if record.draw is None or record.draw.seq > seq:
        raise _order(where, "el inicio ciego precede al sorteo", "the blind start is before the draw")
    if record.batches and record.batches[0].seq < seq:
        raise _unassigned(where, "hay lotes antes del inicio ciego", "there are batches before the blind start")


def _unassigned(where: str, es: str, en: str) -> CustodyError:
    return fault(40, es, en, where=where)


def _order(where: str, es: str, en: str) -> CustodyError:
    return fault(52, f"orden del sorteo: {es}", f"order of the draw: {en}", where=where)


_Rule = Callable[["LedgerState", Entry, str], None]
_RULES: Mapping[str, _Rule] = {
    "genesis": _genesis,
    "key_added": _key_added,
    "bank_sealed": _bank_sealed,
    "contract_registered": _contract_registered,
    "run_opened": _run_opened,
    "draw_commit": _commit,
    "draw_reveal": _reveal,
    "draw_defaulted": _defaulted,
    "draw": _draw,
    "delivery": _of_run,
    "run_started": _started,
    "batch": _batch,
    "run_resumed": _resumed,
    "run_ended": _ended,
    "run_aborted": _still_open,
    "item_voided": _still_open,
    "scored": _after_end,
    "calibration": _after_end,
    "dispute": _of_run,
    "dispute_resolved": _of_run,
    "report_issued": _after_end,
    "blind": _blind,
    "unblind": _unblind,
}
