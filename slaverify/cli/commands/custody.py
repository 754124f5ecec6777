"""`slaverify custody …`: seal a bank, look at it, verify it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.commands import custody_witness
from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

if TYPE_CHECKING:
    from slaverify.custody import Bank, LedgerView
    from slaverify.custody.keys import KeyStore, PartyKey
    from slaverify.custody.seal import SealedBank

group = typer.Typer(
    help=t("La custodia del banco: sellar, mirar, verificar.", "The escrow: seal, inspect, verify."),
    rich_markup_mode=None,
    no_args_is_help=True,
)
group.add_typer(custody_witness.group, name="witness")
_JSON = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document."))
_BANK = typer.Argument(..., metavar="BANK", help=t("Carpeta del banco.", "Folder of the bank."))


@group.command(help=t("Sella un conjunto canónico de preguntas.", "Seal a canonical set of items."))
def seal(
    file: Path = typer.Argument(..., metavar="SET", help=t("Conjunto (JSONL canónico).", "Set (canonical JSONL).")),
    bank_id: str = typer.Option("", "--id", help=t("Id del banco; si falta, el del archivo.", "Id of the bank.")),
    organisation: str = typer.Option("", "--org", help=t("Organización custodia.", "Custodian's organisation.")),
    author: str = typer.Option("", "--author", help=t("Quién escribió las preguntas.", "Who wrote the items.")),
    funding: str = typer.Option("", "--funding", help=t("Quién las pagó.", "Who paid for them.")),
    parent: Path = typer.Option(Path("custodia"), "--out", help=t("Carpeta que recibe el banco.", "Parent folder.")),
    yes: bool = typer.Option(False, "--yes", help=t("No pregunta.", "Do not ask.")),
    as_json: bool = _JSON,
) -> int:
    """Seal the set for the custodian and a recovery identity, begin its ledger, print what the contract needs."""
    from slaverify.cli.files import read
    from slaverify.cli.wiring import keys_folder, now
    from slaverify.custody import Access, Recipient, slug
    from slaverify.custody.keys import KeyStore, age_recipient
    from slaverify.custody.seal import SealItem, SealTerms
    from slaverify.custody.seal import seal as seal_items
    from slaverify.evalset import item_schema_sha256, read_bank, split

    items = read_bank(read(file), file.name)
    question = t(f"¿Sellar {len(items)} preguntas de {file.name}?", f"Seal {len(items)} items of {file.name}?")
    if not yes and sys.stdin.isatty() and not typer.confirm(question, default=True):
        raise typer.Abort
    store = KeyStore.create(keys_folder())
    custodian = _custodian(store, organisation)
    owner = custodian.organisation
    parts = [split(item) for item in items]
    sealed = seal_items(
        [
            SealItem(item.id, item.stratum, part.query, part.reference, item.twin_of, item.cluster)
            for item, part in zip(items, parts, strict=True)
        ],
        parent,
        SealTerms(
            bank_id=slug(bank_id or file.stem),
            name=file.stem,
            item_schema_sha256=item_schema_sha256(),
            author=author or owner,
            funding=funding,
            plaintext_access=[Access(author or owner, "author", now().strftime("%Y-%m-%d"))],
            recipients=[Recipient("recovery", age_recipient(store.get_or_make_identity("recovery")))],
        ),
        custodian=custodian,
        clock=now,
    )
    _say_sealed(sealed, as_json)
    return 0


@group.command(help=t("Qué es el banco y cuántas auditorías quedan.", "What the bank is; needs no key."))
def inspect(folder: Path = _BANK, as_json: bool = _JSON) -> int:
    """Say what manifest and ledger tell; no key is needed."""
    bank, view = _load(folder)
    runs = [entry for entry in view if entry.type == "run_opened"]
    if as_json:
        emit(
            {
                "type": "slaverify/inspect/1",
                "bank_id": bank.manifest.bank_id,
                "bank_digest": bank.digest,
                "n": bank.manifest.n,
                "strata": dict(bank.manifest.strata),
                "custodian": bank.manifest.custodian,
                "entries": view.size,
                "runs": len(runs),
            }
        )
        return 0
    manifest = bank.manifest
    out(f"{manifest.bank_id}: {manifest.n} " + t("preguntas", "items"))
    out("  " + ", ".join(f"{name} {n}" for name, n in sorted(manifest.strata.items())))
    out(f"  {bank.digest}")
    out(t(f"  custodia: {manifest.custodian}; autoría: {manifest.author}", f"  custodian: {manifest.custodian}"))
    out(t(f"  libro: {view.size} entradas, {len(runs)} corridas", f"  ledger: {view.size} entries, {len(runs)} runs"))
    return 0


@group.command(help=t("Verifica banco y libro; con el contrato, contra sus pines.", "Verify bank and ledger."))
def verify(
    folder: Path = _BANK,
    contract: Path | None = typer.Option(None, "--contract", help=t("Contrato que los fija.", "Contract.")),
    as_json: bool = _JSON,
) -> int:
    """Check every digest and the ledger; without a contract only internal agreement can be said (exit 3)."""
    from slaverify.contract.load import load_contract
    from slaverify.custody import read_ledger, terms_of
    from slaverify.custody.vault import ledger_bytes, load_bank

    if contract is None:
        bank, view = _load(folder)
    else:
        loaded = load_contract(contract)
        terms = terms_of(loaded.tree, loaded.digest)
        bank = load_bank(folder, terms)
        view = read_ledger(ledger_bytes(folder), terms.trust)
    if as_json:
        emit(
            {
                "type": "slaverify/custody-verify/1",
                "bank_digest": bank.digest,
                "entries": view.size,
                "root": view.root.hex(),
                "pinned": contract is not None,
            }
        )
    else:
        out(t(f"banco y libro concuerdan: {view.size} entradas", f"bank and ledger agree: {view.size} entries"))
        out(f"{bank.digest}")
    if contract is None:
        say(t("solo coherencia interna: falta --contract", "internally consistent only: give --contract"))
        return 3
    return 0


def _load(folder: Path) -> tuple[Bank, LedgerView]:
    from slaverify.custody import read_ledger
    from slaverify.custody.vault import ledger_bytes, load_bank

    return load_bank(folder), read_ledger(ledger_bytes(folder), None)


def _custodian(store: KeyStore, organisation: str) -> PartyKey:
    from slaverify.cli.wiring import now

    known = [store.get(name) for name in store.names()]
    found = [key for key in known if "custodian" in key.roles]
    if found and organisation in ("", found[0].organisation):
        return found[0]
    return store.make("custodian", organisation=organisation or "local", roles=["custodian"], now=now())


def _say_sealed(sealed: SealedBank, as_json: bool) -> None:
    """Print what the contract needs of a new bank."""
    manifest = sealed.manifest
    if as_json:
        emit(
            {
                "type": "slaverify/seal/1",
                "folder": str(sealed.folder),
                "bank_digest": sealed.bank_digest,
                "n": manifest.n,
                "strata": dict(manifest.strata),
                "origin": sealed.ledger_origin,
                "vkey": sealed.ledger_vkey,
            }
        )
        return
    out(f"bank_digest: {sealed.bank_digest}")
    out(f"size: {manifest.n}")
    out("strata: {" + ", ".join(f"{name}: {n}" for name, n in sorted(manifest.strata.items())) + "}")
    out("ledger:")
    out(f"  origin: {sealed.ledger_origin}")
    out(f"  vkey: {sealed.ledger_vkey}")
    say(t(f"banco en {sealed.folder}; copie esas líneas al contrato", f"bank in {sealed.folder}; copy those lines"))
    say(t("la identidad de recuperación (recovery.age) va fuera de línea", "keep recovery.age offline"))
