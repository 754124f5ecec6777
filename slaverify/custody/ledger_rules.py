"""The verification of a ledger, line by line, as a state machine without input or output.

Order, for each line:
1. parse, cap, JCS, known type (SLV-K020);
2. line 0 against the trusted origin and log key (SLV-K034), then `seq`, `prev`, `time` (SLV-K021);
3. `actor` is the first signer; each signer is a registered key, valid at `time`, in the role that the type asks
   for (SLV-K023);
4. signatures (SLV-K022);
5. the rules of the type (SLV-K010, K034, K040, K041, K043, K045, K051 to K053);
6. after the last line, the expected checkpoint (SLV-K024 none, K025 shorter, K026 other root).

A line is first checked against the state and only then applied, so that a refused line leaves no trace.

Source: docs/spec/ledger.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from slaverify.custody.ed25519 import verifies
from slaverify.custody.entries import TYPES, Entry, parse_entry, split_lines
from slaverify.custody.faults import fault
from slaverify.custody.merkle import Frontier
from slaverify.custody.note import parse_vkey
from slaverify.custody.register import RegisteredKey, added_key, genesis_key, with_entry
from slaverify.custody.runs import RunRecord
from slaverify.custody.shapes import integer
from slaverify.custody.type_rules import check_type
from slaverify.custody.view import LedgerView, RunKey, fold_run
from slaverify.errors import Text


@dataclass(frozen=True, slots=True)
class Trust:
    """What the reader of a ledger believes beforehand: its origin and its log key (the contract pins both)."""

    origin: str
    log_vkey: str


@dataclass(frozen=True, slots=True)
class Expected:
    """A checkpoint that comes from elsewhere (report, contract, witness): so many lines under this root."""

    size: int
    root: bytes


def genesis_prev(origin: str, log_public_key: bytes) -> str:
    """Return the `prev` of line 0, hex: per ledger, never a constant."""
    return hashlib.sha256(b"slaverify/genesis/v1\x00" + origin.encode() + b"\x00" + log_public_key).hexdigest()


class LedgerState:
    """Everything that the next line is judged by. Grows by one line at a time."""

    def __init__(self, trust: Trust | None = None) -> None:
        self._trust = trust
        self.entries: list[Entry] = []
        self.frontier = Frontier()
        self.register: dict[str, RegisteredKey] = {}
        self.runs: dict[RunKey, RunRecord] = {}
        self.banks: dict[str, Entry] = {}
        self.contracts: dict[str, Entry] = {}
        self.opened: dict[str, list[RunKey]] = {}
        self.blinds: dict[int, Entry] = {}
        self.unblinded: set[int] = set()

    @property
    def size(self) -> int:
        """How many lines were taken."""
        return len(self.entries)

    def check(self, line: bytes) -> Entry:
        """Judge the next line (without LF) and change nothing. Raises: CustodyError with the code of the step."""
        where = f"ledger.jsonl:{self.size + 1}"
        entry = parse_entry(line, where)
        if not self.entries:
            self._check_genesis(entry, where)
        self._check_chain(entry, where)
        signers = self._signers(entry, where)
        for (_, signature), signer in zip(entry.sigs, signers, strict=True):
            if not verifies(signer.public, signature, entry.signed):
                raise fault(22, f"firma inválida de {signer.name}", f"invalid signature of {signer.name}", where=where)
        check_type(self, entry, where)
        return entry

    def apply(self, entry: Entry) -> None:
        """Take an entry that `check` has just returned."""
        self.entries.append(entry)
        self.frontier.append(entry.leaf)
        with_entry(self.register, entry)
        fold_run(self.runs, entry, self.entries)
        digest = entry.contract_digest
        if entry.type == "bank_sealed":
            self.banks[str(entry.data["bank_digest"])] = entry
        elif entry.type == "contract_registered" and digest is not None:
            self.contracts[digest] = entry
        elif entry.type == "run_opened" and digest is not None and entry.run is not None:
            self.opened.setdefault(digest, []).append((digest, entry.run))
        elif entry.type == "blind":
            self.blinds[entry.seq] = entry
        elif entry.type == "unblind":
            self.unblinded.add(integer(entry.data, "seq"))

    def view(self) -> LedgerView:
        """Return the ledger as it stands now. Raises: CustodyError SLV-K034 if there is no line."""
        if not self.entries:
            raise fault(34, "el libro está vacío", "the ledger is empty", where="ledger.jsonl")
        return LedgerView(self.entries, self.size)

    def _check_genesis(self, entry: Entry, where: str) -> None:
        try:
            key = genesis_key(entry) if entry.type == "genesis" else None
        except ValueError as error:
            raise fault(34, f"clave del libro: {error}", f"log key: {error}", where=where) from error
        if key is None:
            raise fault(34, "la primera entrada no es genesis", "the first entry is not genesis", where=where)
        origin = str(entry.data["origin"])
        trusted = self._trust or Trust(origin, key.vkey)
        if (origin, key.vkey) != (trusted.origin, trusted.log_vkey):
            raise fault(
                34,
                "no es el libro que el contrato fija (origen o clave)",
                "not the ledger that the contract pins (origin or key)",
                where=where,
            )
        if key.name != origin or entry.prev != genesis_prev(origin, key.public):
            raise fault(34, "comienzo falso del libro", "false beginning of the ledger", where=where)

    def _check_chain(self, entry: Entry, where: str) -> None:
        last = self.entries[-1] if self.entries else None
        if entry.seq != self.size:
            raise fault(21, f"seq {entry.seq} fuera de orden", f"seq {entry.seq} out of order", where=where)
        if last is None:
            return
        if entry.prev != last.digest:
            raise fault(21, "no sigue a la entrada anterior", "does not follow the entry before", where=where)
        if entry.time < last.time:
            raise fault(
                21,
                f"la hora retrocede: {entry.time} después de {last.time}",
                f"time goes back: {entry.time} after {last.time}",
                where=where,
                fix=Text("revise el reloj del equipo", "check the clock of the machine"),
            )

    def _signers(self, entry: Entry, where: str) -> list[RegisteredKey]:
        if entry.actor != entry.sigs[0][0]:
            raise fault(23, "actor no es el primer firmante", "actor is not the first signer", where=where)
        if entry.type == "genesis":
            return self._alone([genesis_key(entry)], entry, where)
        positions = TYPES[entry.type].signers
        registered = entry.sigs[:1] if entry.type == "key_added" else entry.sigs
        signers = [self._registered(name, entry, where) for name, _ in registered]
        if entry.type == "key_added":
            signers.append(self._new_key(entry, where))
        elif len(signers) == 1:
            # One key that holds every role of the entry signs once.
            signers = signers * len(positions)
        if len(signers) != len(positions):
            raise fault(23, "número de firmas", "number of signatures", where=where)
        for signer, roles in zip(signers, positions, strict=True):
            if not set(signer.roles) & set(roles):
                raise fault(
                    23,
                    f"{signer.name} no tiene el rol que exige {entry.type}: {', '.join(roles)}",
                    f"{signer.name} lacks the role that {entry.type} asks for: {', '.join(roles)}",
                    where=where,
                )
        return signers[: len(entry.sigs)]

    def _alone(self, signers: list[RegisteredKey], entry: Entry, where: str) -> list[RegisteredKey]:
        if len(entry.sigs) != 1 or entry.actor != signers[0].key_id:
            raise fault(23, "no firma la clave del libro", "not signed by the log key", where=where)
        return signers

    def _registered(self, name: str, entry: Entry, where: str) -> RegisteredKey:
        key = self.register.get(name)
        if key is None:
            raise fault(23, f"clave desconocida {name[:12]}…", f"unknown key {name[:12]}…", where=where)
        if not key.valid_at(entry.time):
            raise fault(
                23,
                f"la clave {key.name} no es válida a las {entry.time}",
                f"key {key.name} is not valid at {entry.time}",
                where=where,
            )
        return key

    def _new_key(self, entry: Entry, where: str) -> RegisteredKey:
        try:
            key = added_key(entry)
        except ValueError as error:
            raise fault(23, f"clave nueva: {error}", f"new key: {error}", where=where) from error
        same_key = len(entry.sigs) == 1 and entry.actor == key.key_id
        if not same_key and (len(entry.sigs) != 2 or entry.sigs[1][0] != key.key_id):
            raise fault(23, "la clave nueva no firma", "the new key does not sign", where=where)
        return key


def is_known_log_key(vkey: str) -> bool:
    """Tell whether `vkey` can be a log key at all."""
    try:
        parse_vkey(vkey)
    except ValueError:
        return False
    return True


def feed(lines: Iterable[bytes], trust: Trust | None = None) -> LedgerState:
    """Verify lines in order and return the state after the last. Raises: CustodyError."""
    state = LedgerState(trust)
    for line in lines:
        state.apply(state.check(line))
    return state


@lru_cache(maxsize=1)
def read_ledger(data: bytes, trust: Trust | None = None) -> LedgerView:
    """Verify the bytes of a ledger file by themselves. The last one read is remembered: several checks ask for it.

    Without `trust` it is taken at its own word. Nobody should print more of the result than "internally
    consistent only": use `verify_ledger` to compare with a checkpoint that comes from elsewhere.
    Raises: CustodyError.
    """
    return feed(split_lines(data), trust).view()


def verify_ledger(lines: Iterable[bytes], trust: Trust | None, expected: Expected | None) -> LedgerView:
    """Verify a ledger against what its reader trusts and the checkpoint that its reader expects.

    Raises: CustodyError; SLV-K024 (exit 3) if the ledger is consistent but no checkpoint was expected.
    """
    state = feed(lines, trust)
    if expected is not None and state.size < expected.size:
        raise fault(
            25,
            f"el libro tiene {state.size} entradas y se esperaban {expected.size}",
            f"the ledger has {state.size} entries where {expected.size} were expected",
        )
    view = state.view()
    if expected is None:
        raise fault(
            24,
            "el libro solo es coherente consigo mismo: falta un punto de control de otra fuente",
            "the ledger is internally consistent only: no checkpoint from elsewhere",
            fix=Text(
                "indique --checkpoint con el del informe o de un testigo",
                "give --checkpoint, from the report or a witness",
            ),
        )
    view.against(expected.size, expected.root)
    return view
