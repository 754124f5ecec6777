"""What the custody verbs share: bank, ledger and keys at hand, and how they say what they did."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import language, t
from slaverify.cli.output import emit, out, say
from slaverify.errors import ApplicationError, Text

if TYPE_CHECKING:
    from slaverify.canonical import JsonValue
    from slaverify.contract import LoadedContract
    from slaverify.custody import Bank, LedgerView, Terms
    from slaverify.custody.keys import KeyStore, PartyKey
    from slaverify.custody.ledger_file import LedgerFile

BANK = typer.Argument(..., metavar="BANK", help=t("Carpeta del banco.", "Folder of the bank."))
CONTRACT = typer.Option(..., "--contract", help=t("Contrato congelado.", "Frozen contract."))
JSON = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document."))
DRY = typer.Option(
    False, "--dry-run", help=t("Dice qué haría; no escribe nada.", "Say what it would do; write nothing.")
)
YES = typer.Option(False, "--yes", help=t("No pregunta.", "Do not ask."))
RUN = typer.Option(0, "--run", help=t("Número de corrida; si falta, la última.", "Number of the run; the last one."))


@dataclass(frozen=True)
class Desk:
    """A bank with its ledger, opened under a contract."""

    folder: Path
    contract: LoadedContract
    terms: Terms
    bank: Bank
    ledger: LedgerFile

    @cached_property
    def store(self) -> KeyStore:
        """The keys of this user; what needs none never opens their folder. Raises: CustodyError SLV-K071."""
        from slaverify.cli.wiring import key_store

        return key_store()

    @property
    def view(self) -> LedgerView:
        """The ledger as it stands."""
        return self.ledger.view

    def key(self, role: str) -> PartyKey:
        """Return the key of a role that is here. Raises: CustodyError SLV-K071."""
        return self.store.of_role(role, self.view.keys)

    def run(self, number: int) -> int:
        """Return a run's number, the last one for 0. Raises: ApplicationError SLV-A025 if there is none."""
        known = [record.number for record in self.view.runs(self.terms.contract_digest)]
        if not known or (number and number not in known):
            raise ApplicationError(
                "SLV-A025",
                Text("el contrato no tiene esa corrida", "the contract has no such run"),
                fix=Text("vea las corridas: slaverify custody ledger show", "see them: slaverify custody ledger show"),
                exit_code=5,
            )
        return number or known[-1]


def open_desk(folder: Path, contract: Path) -> Desk:
    """Open bank and ledger under a contract. Raises: CustodyError, ContractError."""
    from slaverify.cli.wiring import now
    from slaverify.contract.load import load_contract
    from slaverify.custody import terms_of
    from slaverify.custody.ledger_file import LedgerFile
    from slaverify.custody.vault import load_bank

    loaded = load_contract(contract)
    terms = terms_of(loaded.tree, loaded.digest)
    bank = load_bank(folder, terms)
    return Desk(folder, loaded, terms, bank, LedgerFile.open(folder, now, trust=terms.trust))


def open_ledger(folder: Path) -> LedgerFile:
    """Open a ledger at its own word."""
    from slaverify.cli.wiring import now
    from slaverify.custody.ledger_file import LedgerFile

    return LedgerFile.open(folder, now)


@contextmanager
def private_place() -> Iterator[Path]:
    """Give a private folder for what is decrypted, on the disk of the keys."""
    from slaverify.cli.wiring import keys_folder
    from slaverify.custody.files import private_folder

    yield private_folder(keys_folder())


def ask(question: Text, yes: bool) -> None:
    """Ask before something is exposed; `--yes` skips, and without a terminal it is needed. Raises: typer.Abort."""
    import sys

    if yes:
        return
    if not sys.stdin.isatty():
        raise ApplicationError(
            "SLV-A026",
            Text("esto expone material; confirme con --yes", "this exposes material; confirm with --yes"),
            why=question,
        )
    if not typer.confirm(question.in_language(language()), default=False):
        raise typer.Abort


def done(document: dict[str, JsonValue], did: Text, residue: Text, *, as_json: bool, dry: bool = False) -> int:
    """Say in plain words what was done and who could still cheat, and how; return 0."""
    told = Text(f"Ensayo, nada quedó escrito: {did.es}", f"Dry run, nothing was written: {did.en}") if dry else did
    spoken = language()
    if as_json:
        emit(
            {
                **document,
                "dry_run": dry,
                "did": told.in_language(spoken),
                "who_could_still_cheat": residue.in_language(spoken),
            }
        )
        return 0
    out(told.in_language(spoken))
    say(t(f"Queda posible: {residue.es}", f"Still possible: {residue.en}"))
    return 0
