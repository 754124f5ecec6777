"""`slaverify custody …`: seal a bank, look at it, verify it."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.commands import (
    custody_destroy,
    custody_dispute,
    custody_draw,
    custody_ledger,
    custody_open,
    custody_witness,
)
from slaverify.cli.commands.custody_desk import BANK, DRY, JSON, YES
from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slaverify.custody.keys import KeyStore, PartyKey
    from slaverify.custody.recovery import Shared
    from slaverify.custody.seal import SealedBank, SealItem
    from slaverify.evalset import Item

group = typer.Typer(rich_markup_mode=None)
group.add_typer(custody_ledger.group, name="ledger")
group.add_typer(custody_witness.group, name="witness")
group.add_typer(custody_dispute.group, name="dispute")


@group.command(help=t("Sella un conjunto canónico de preguntas.", "Seal a canonical set of items."))
def seal(
    file: Path = typer.Argument(..., metavar="SET", help=t("Conjunto (JSONL canónico).", "Set (canonical JSONL).")),
    bank_id: str = typer.Option("", "--id", help=t("Id del banco; si falta, el del archivo.", "Id of the bank.")),
    organisation: str = typer.Option("", "--org", help=t("Organización custodia.", "Custodian's organisation.")),
    author: str = typer.Option("", "--author", help=t("Quién escribió las preguntas.", "Who wrote the items.")),
    funding: str = typer.Option("", "--funding", help=t("Quién las pagó.", "Who paid for them.")),
    parent: Path = typer.Option(Path("custodia"), "--out", help=t("Carpeta que recibe el banco.", "Parent folder.")),
    recovery: str = typer.Option("", "--recovery", help=t("Recuperación en partes: slip39:2of3.", "Shares.")),
    recipients: list[str] = typer.Option([], "--recipient", help=t("Otro de recuperación.", "One more (age1…).")),
    replaces: str = typer.Option("", "--replaces", help=t("Digest del banco que reemplaza.", "Old bank's digest.")),
    attachments: list[Path] = typer.Option([], "--attachment", help=t("Archivo adjunto.", "Attached file.")),
    yes: bool = YES,
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Seal the set for the custodian and a recovery identity, begin its ledger, print what the contract needs."""
    from slaverify.canonical import sha256_hex
    from slaverify.cli.files import read
    from slaverify.cli.wiring import keys_folder, now
    from slaverify.custody import Access, Recipient, slug
    from slaverify.custody.keys import KeyStore, age_recipient
    from slaverify.custody.recovery import parse_plan, share_recovery
    from slaverify.custody.seal import SealTerms
    from slaverify.custody.seal import seal as seal_items
    from slaverify.evalset import item_schema_sha256, read_bank

    items = read_bank(read(file), file.name)
    plan = parse_plan(recovery) if recovery else None
    if dry:
        return _would_seal(len(items), parent / slug(bank_id or file.stem), as_json)
    if not yes:
        _ask_to_seal(len(items), file.name)
    _refuse_keys_inside(parent, keys_folder())
    store = KeyStore.create(keys_folder())
    custodian = _custodian(store, organisation)
    owner = custodian.organisation
    shared = None if plan is None else share_recovery(*plan)
    alone = [] if shared else [age_recipient(store.get_or_make_identity("recovery"))]
    sealed = seal_items(
        _to_seal(items),
        parent,
        SealTerms(
            bank_id=slug(bank_id or file.stem),
            name=file.stem,
            item_schema_sha256=item_schema_sha256(),
            author=author or owner,
            funding=funding,
            plaintext_access=[Access(author or owner, "author", now().strftime("%Y-%m-%d"))],
            recipients=[Recipient("recovery", one) for one in (*alone, *recipients)],
            replaces=replaces or None,
            recovery=shared,
            attachments={sha256_hex(data): data for data in map(read, attachments)},
        ),
        custodian=custodian,
        clock=now,
    )
    _say_sealed(sealed, as_json)
    if shared is not None:
        _keep_shares(shared, store.folder, sealed.manifest.bank_id)
    return 0


def _ask_to_seal(count: int, name: str) -> None:
    question = t(f"¿Sellar {count} preguntas de {name}?", f"Seal {count} items of {name}?")
    if sys.stdin.isatty() and not typer.confirm(question, default=True):
        raise typer.Abort


def _to_seal(items: Sequence[Item]) -> list[SealItem]:
    from slaverify.custody.seal import SealItem
    from slaverify.evalset import split, with_variant

    # Which variant of a honeytoken is the sealed one is drawn here: who wrote it cannot tell.
    chosen = (with_variant(item, secrets.randbelow) for item in items)
    rows = ((item, split(item)) for item in chosen)
    return [SealItem(one.id, one.stratum, of.query, of.reference, one.twin_of, one.cluster) for one, of in rows]


custody_draw.register(group)
custody_open.register(group)
custody_destroy.register(group)


@group.command(help=t("Qué es el banco, su nivel y qué le falta.", "What the bank is, its level and what is missing."))
def inspect(
    folder: Path = BANK,
    contract: Path | None = typer.Option(None, "--contract", help=t("Contrato que los fija.", "Contract.")),
    as_json: bool = JSON,
) -> int:
    """Say what manifest and ledger tell; no key is needed."""
    from slaverify.cli.commands.custody_look import look

    return look(folder, contract, as_json)


@group.command(help=t("Verifica banco y libro; con el contrato, contra sus pines.", "Verify bank and ledger."))
def verify(
    folder: Path = BANK,
    contract: Path | None = typer.Option(None, "--contract", help=t("Contrato que los fija.", "Contract.")),
    checkpoint: Path | None = typer.Option(
        None, "--checkpoint", help=t("Punto de control obtenido aparte.", "Checkpoint from elsewhere.")
    ),
    identity: Path | None = typer.Option(
        None, "--identity", help=t("Identidad age: abre y comprueba cada ítem.", "Identity: check every item.")
    ),
    as_json: bool = JSON,
) -> int:
    """Check digests, ledger, holder, witnesses and tokens; exit 3 where nothing from outside pins them."""
    from slaverify.cli.commands.custody_look import check

    return check(folder, contract, checkpoint, identity, as_json)


def _refuse_keys_inside(parent: Path, keys: Path) -> None:
    """Refuse to keep private keys where banks lie: that folder is handed around. Raises: CustodyError SLV-K071."""
    from slaverify.errors import CustodyError, Text

    if keys.resolve().is_relative_to(parent.resolve()):
        raise CustodyError(
            "SLV-K071",
            Text("las llaves quedarían dentro de la carpeta de los bancos", "the keys would lie among the banks"),
            why=Text("esa carpeta se copia y se entrega entera", "that folder is copied and handed over whole"),
            fix=Text(
                "indique otra carpeta con SLAVERIFY_KEYS, o con --out", "name another with SLAVERIFY_KEYS or --out"
            ),
            where=str(keys),
        )


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
    if manifest.recovery is None:
        say(t("la identidad de recuperación (recovery.age) va fuera de línea", "keep recovery.age offline"))
    say(t("queda posible: quien escribió las preguntas puede guardar una copia", "still possible: authors keep copies"))


def _would_seal(n: int, folder: Path, as_json: bool) -> int:
    from slaverify.cli.commands.custody_desk import done
    from slaverify.errors import Text

    return done(
        {"type": "slaverify/seal/1", "folder": str(folder), "n": n},
        Text(f"{n} preguntas se sellarían en {folder}", f"{n} items would be sealed in {folder}"),
        Text("quien escribió las preguntas puede guardar una copia", "whoever wrote the items can keep a copy"),
        as_json=as_json,
        dry=True,
    )


def _keep_shares(shared: Shared, keys: Path, bank_id: str) -> None:
    """Write each share to a private file of its own; nothing of them is printed."""
    from slaverify.cli.files import write_new
    from slaverify.custody.files import private_folder

    folder = private_folder(keys / f"shares-{bank_id}")
    for number, words in enumerate(shared.shares, 1):
        note = f"# {bank_id}: {number}/{len(shared.shares)}, {shared.k}-of-{len(shared.shares)}\n"
        write_new(folder / f"share-{number}.txt", f"{note}{words}\n".encode(), mode=0o600)
    say(
        t(
            f"{len(shared.shares)} partes en {folder}: entregue una a cada persona y bórrelas de aquí",
            f"{len(shared.shares)} shares in {folder}: give one to each person and delete them here",
        )
    )
