"""What every step of an audit is given: contract, bank, ledger, keys, ports, and the run's folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from slaverify.audit.catalogue import catalogue_of
from slaverify.audit.supported import check_supported
from slaverify.canonical import JsonObject, jcs, loads_canonical
from slaverify.contract import LoadedContract, run_id
from slaverify.contract.load import parse_contract
from slaverify.custody import Bank, Clock, RunRecord, Terms, Timestamper, TimestampVerifier, terms_of
from slaverify.custody.checkpoints import CheckpointFile, covering, read_checkpoint, token_path
from slaverify.custody.files import private_folder, write_whole
from slaverify.custody.keys import KeyStore, PartyKey
from slaverify.custody.ledger_file import LedgerFile
from slaverify.custody.vault import load_bank
from slaverify.engine.plugins import load_plugins
from slaverify.errors import ApplicationError, ContractError, CustodyError, Text
from slaverify.evalset import Catalogue
from slaverify.evidence.envelope import SigningKey
from slaverify.readiness import refuse_undecidable
from slaverify.run.progress import Progress

POINTERS = "session.json"
"""File of `private/` that says where bank and keys of a run lie on this machine."""


@dataclass(frozen=True)
class Ports:
    """What the steps reach the world through; `language` is that of progress and next steps.

    `crls`: the revocation lists (DER) that a report at B-LTA keeps.
    """

    clock: Clock
    timestamper: Timestamper | None
    timestamps: TimestampVerifier
    signing_key: Callable[[], SigningKey]
    progress: Callable[[], Progress]
    language: str = "es"
    crls: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Session:
    """One audit on this machine. Folders: `bank_folder` (bank and ledger), `out` (one folder a run inside).

    `languages`: those to issue now, all of the contract's where it is empty.
    Of an amendment: `upto` is the size of the ledger that its evidence holds, `history_root` the first `out`.
    """

    contract: LoadedContract
    terms: Terms
    bank: Bank
    bank_folder: Path
    ledger: LedgerFile
    keys: KeyStore
    out: Path
    ports: Ports
    catalogue: Catalogue | None = None
    history_root: Path | None = None
    upto: int | None = None
    languages: tuple[str, ...] = ()

    @property
    def history(self) -> Path:
        """The file of the contract's public history; that of an amendment is the one of the first report."""
        return (self.history_root or self.out) / "history" / f"{self.contract.model.contract.id}.jsonl"

    @property
    def auditor(self) -> PartyKey:
        """The auditor's ledger key. Raises: CustodyError SLV-K071."""
        return self._key("auditor")

    @property
    def custodian(self) -> PartyKey:
        """The custodian's ledger key. Raises: CustodyError SLV-K071."""
        return self._key("custodian")

    @property
    def custodian_here(self) -> PartyKey | None:
        """The custodian's ledger key, None where it lies on another machine. Raises: CustodyError SLV-K071."""
        registered = self.ledger.view.keys
        found = self.keys.find_role("custodian", registered)
        return found if found is not None and found.key_id in registered else None

    def _key(self, role: str) -> PartyKey:
        return self.keys.of_role(role, self.ledger.view.keys)

    def checkpoint(self, seq: int | None = None, *, stamp: bool = False) -> CheckpointFile:
        """Return a checkpoint that covers entry `seq` (None: the last one), with a token if `stamp` asks for it.

        It is made now where the log key is here; else it must have come from the custodian.
        Raises: ApplicationError SLV-A036 (exit 6, resumable), ReportError SLV-R020 (no token: exit 6).
        """
        timestamper = self.ports.timestamper if stamp else None
        custodian = self.custodian_here
        if custodian is not None:
            return self.ledger.checkpoint(custodian, timestamper)
        size = self.ledger.refresh().size
        found = covering(self.bank_folder, size - 1 if seq is None else seq)
        if found is None:
            raise _pending_checkpoint(self.bank_folder, size)
        if timestamper is not None and found.token is None:
            write_whole(token_path(found.path), timestamper.stamp(found.body))
            found = read_checkpoint(found.path, found.size)
        return found

    def checkpoint_if_here(self) -> None:
        """Make a checkpoint that nobody has to wait for, where the log key is here."""
        if self.custodian_here is not None:
            self.checkpoint()

    def run_folder(self, number: int) -> Path:
        """Return the folder of run `number`."""
        return self.out / run_id(self.contract.digest, number)

    def last_run(self) -> RunRecord | None:
        """Return the last run of the contract that the ledger knows, or None."""
        runs = self.ledger.refresh().runs(self.contract.digest)
        return runs[-1] if runs else None

    def record(self, number: int) -> RunRecord:
        """Return what the ledger says of run `number` now. Raises: CustodyError SLV-K040."""
        found = self.ledger.refresh().run(self.contract.digest, number)
        if found is None:
            raise CustodyError("SLV-K040", Text("la corrida no está en el libro", "the run is not in the ledger"))
        return found


def _pending_checkpoint(folder: Path, size: int) -> ApplicationError:
    return ApplicationError(
        "SLV-A036",
        Text(
            f"falta el punto de control del custodio sobre {size} entradas",
            f"the custodian's checkpoint over {size} entries is missing",
        ),
        why=Text("su llave está en otra máquina", "the key is on another machine"),
        fix=Text(
            "envíele ledger.jsonl; él escribe «slaverify custody ledger accept» y «… checkpoint», y devuelve "
            "checkpoints/",
            "send ledger.jsonl; the custodian types `slaverify custody ledger accept` and `… checkpoint`, and returns "
            "checkpoints/",
        ),
        where=str(folder),
        exit_code=6,
    )


def open_session(
    contract: LoadedContract,
    bank_folder: Path,
    out: Path,
    keys: KeyStore,
    ports: Ports,
    *,
    bank: Bank | None = None,
    rehearsal: bool = False,
) -> Session:
    """Open an audit: the contract must be frozen, the bank the one that it pins, the ledger valid under its pins.

    A contract that can never decide is refused here too: there is no path around the decidability lint but a
    `rehearsal`, the vendor's self-check, which decides nothing.
    Raises: ContractError SLV-C053 (a draft, exit 2), ProblemsError (undecidable, not supported), CustodyError
    (bank or ledger, exit 5), ApplicationError SLV-A033 (catalogue).
    """
    if contract.model.contract.status != "frozen":
        raise ContractError(
            "SLV-C053",
            Text("el contrato es un borrador; solo se audita uno congelado", "the contract is a draft"),
            fix=Text("congélelo con «slaverify contract freeze»", "freeze it with `slaverify contract freeze`"),
            where=contract.source,
        )
    if not rehearsal:
        refuse_undecidable(contract, ports.clock())
    load_plugins(contract.model.method.plugins)
    check_supported(contract.model, rehearsal=rehearsal)
    catalogue = catalogue_of(contract)
    terms = terms_of(contract.tree, contract.digest)
    found = bank or load_bank(bank_folder, terms)
    ledger = LedgerFile.open(bank_folder, ports.clock, trust=terms.trust)
    _bank_fits(contract, found)
    return Session(contract, terms, found, bank_folder.resolve(), ledger, keys, out.resolve(), ports, catalogue)


def _bank_fits(contract: LoadedContract, bank: Bank) -> None:
    promised = dict(contract.model.evaluation_set.strata)
    sealed = {name: n for name, n in bank.manifest.strata.items() if name != "probe"}
    if promised != sealed or contract.model.evaluation_set.size != sum(sealed.values()):
        raise CustodyError(
            "SLV-K010",
            Text("los estratos del contrato no son los del banco", "the contract's strata are not those of the bank"),
            why=Text(f"contrato {promised}, banco {sealed}", f"contract {promised}, bank {sealed}"),
            fix=Text("corrija evaluation_set y congele otra vez", "mend evaluation_set and freeze again"),
            where="evaluation_set.strata",
        )


def write_pointers(folder: Path, bank_folder: Path, keys: Path, out: Path) -> None:
    """Remember in `private/` where bank, keys and output lie, for the commands that take a run alone."""
    private_folder(folder / "private")
    tree = {"bank": str(bank_folder), "keys": str(keys), "out": str(out)}
    write_whole(folder / "private" / POINTERS, jcs(tree), 0o600)


def read_pointers(folder: Path) -> dict[str, Path]:
    """Return what `write_pointers` remembered. Raises: ApplicationError SLV-A022 for a folder that is no run."""
    try:
        tree = loads_canonical((folder / "private" / POINTERS).read_bytes())
    except (OSError, ValueError) as error:
        raise ApplicationError(
            "SLV-A022",
            Text("no es la carpeta de una corrida de esta máquina", "not the folder of a run of this machine"),
            fix=Text("dé la carpeta que «slaverify audit» imprimió", "give the folder that `slaverify audit` printed"),
            where=str(folder),
        ) from error
    return {key: Path(str(value)) for key, value in tree.items()}


def contract_of_run(folder: Path) -> LoadedContract:
    """Return the frozen contract of a run's folder. Raises: ApplicationError SLV-A022, ProblemsError."""
    path = folder / "contract" / "contract.json"
    if not path.is_file():
        read_pointers(folder)
    return parse_contract(path.read_bytes(), str(path))


def put(path: Path, data: bytes) -> None:
    """Write a file of the run folder whole, flushed to disk; one that stands with these bytes is left alone."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data)


def put_json(path: Path, tree: JsonObject) -> None:
    """Write one JSON object, RFC 8785 bytes."""
    put(path, jcs(tree))


def free_bytes(folder: Path) -> int:
    """Return the free bytes of the disk of `folder`."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize
