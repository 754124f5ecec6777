"""`slaverify custody witness …`: ask a witness, sign as one, lay its signature beside the checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.commands.custody_desk import BANK, CONTRACT, DRY, JSON, done, open_desk, open_ledger
from slaverify.cli.language import t
from slaverify.cli.output import out
from slaverify.errors import ApplicationError, Text

if TYPE_CHECKING:
    from slaverify.custody.checkpoints import CheckpointFile

group = typer.Typer(
    help=t("Los testigos del libro.", "The witnesses of the ledger."), rich_markup_mode=None, no_args_is_help=True
)
_SIZE = typer.Option(0, "--size", help=t("Punto de control de tantas entradas; si falta, el último.", "Checkpoint."))
_LIMIT = 256 * 1024


@group.command(
    help=t("Escribe la petición para un testigo, y el texto que firma ssh-keygen.", "Write a witness's request.")
)
def request(
    folder: Path = BANK,
    old: int = typer.Option(0, "--old", help=t("Entradas que ese testigo ya firmó.", "Entries it signed before.")),
    size: int = _SIZE,
    target: Path = typer.Option(Path(), "--out", help=t("Carpeta que recibe los archivos.", "Folder for the files.")),
    as_json: bool = JSON,
) -> int:
    """Write `<size>.request` (C2SP add-checkpoint) and `<size>.body` (what an SSH witness signs)."""
    from slaverify.cli.files import write_new
    from slaverify.custody.witnessing import request_for

    ledger = open_ledger(folder)
    checkpoint = _checkpoint(folder, size)
    data = request_for(ledger.view, checkpoint, old)
    stem = f"{checkpoint.size:08d}"
    write_new(target / f"{stem}.request", data)
    write_new(target / f"{stem}.body", checkpoint.body)
    return done(
        {
            "type": "slaverify/witness-request/1",
            "size": checkpoint.size,
            "old": old,
            "request": str(target / f"{stem}.request"),
            "body": str(target / f"{stem}.body"),
        },
        Text(
            f"petición escrita para {checkpoint.size} entradas: envíe {stem}.request, o {stem}.body a quien firma con "
            "«ssh-keygen -Y sign -n slaverify-checkpoint -f CLAVE»",
            f"request written for {checkpoint.size} entries: send {stem}.request, or {stem}.body to who signs with "
            "`ssh-keygen -Y sign -n slaverify-checkpoint -f KEY`",
        ),
        Text(
            "el custodio puede mostrar otra historia a quien nadie compara; compare con otro testigo",
            "the custodian can show another history to whom nobody compares with; compare with another witness",
        ),
        as_json=as_json,
    )


@group.command(help=t("Como testigo: comprueba la petición y firma.", "As a witness: check the request and sign."))
def sign(
    file: Path = typer.Argument(..., metavar="REQUEST", help=t("Petición del custodio.", "The custodian's request.")),
    contract: Path = CONTRACT,
    name: str = typer.Option("witness", "--key", help=t("Nombre de su clave.", "Name of your key.")),
    target: Path | None = typer.Option(None, "--out", help=t("Archivo de la cofirma.", "File for the cosignature.")),
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Check that the ledger has only grown since this witness last signed, remember it, cosign."""
    from slaverify.cli.files import read, write_new
    from slaverify.cli.wiring import key_store, now
    from slaverify.contract.load import load_contract
    from slaverify.custody import terms_of
    from slaverify.custody.note import log_policy, parse_vkey
    from slaverify.custody.witness import check_request, parse_request
    from slaverify.custody.witnessing import last_seen, sign_request

    loaded = load_contract(contract)
    terms = terms_of(loaded.tree, loaded.digest)
    policy = log_policy(terms.origin, terms.vkey)
    store, data = key_store(), read(file, _LIMIT)
    key = store.get(name)
    if dry:
        proven, line = check_request(parse_request(data), last_seen(store.folder, terms.origin), policy), ""
    else:
        proven, line = sign_request(data, store.folder, policy, key, parse_vkey(key.vkey).name, now())
        if target is not None:
            write_new(target, line.encode())
        elif not as_json:
            out(line.rstrip("\n"))
    return done(
        {
            "type": "slaverify/witness-sign/1",
            "origin": terms.origin,
            "size": proven.size,
            "root": proven.root.hex(),
            "cosignature": line,
        },
        Text(
            f"el libro solo creció desde la última firma: {proven.size} entradas atestiguadas",
            f"the ledger has only grown since the last signature: {proven.size} entries witnessed",
        ),
        Text(
            "atestigua que esta historia existía; no que lo anotado sea cierto",
            "it attests that this history existed; not that what it says is true",
        ),
        as_json=as_json,
        dry=dry,
    )


@group.command(help=t("Agrega una cofirma, una firma SSH o un sello de tiempo.", "Add a signature or a token."))
def add(
    folder: Path = BANK,
    file: Path = typer.Argument(..., metavar="FILE", help=t("Lo que devolvió el testigo.", "What came back.")),
    contract: Path = CONTRACT,
    size: int = _SIZE,
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Check what a witness or a timestamp authority gave, and lay it beside the checkpoint."""
    from slaverify.cli.files import read
    from slaverify.cli.wiring import now
    from slaverify.custody.witnessing import add_signature
    from slaverify.evidence.timestamp import TokenReader

    desk = open_desk(folder, contract)
    checkpoint = _checkpoint(folder, size)
    added = add_signature(
        checkpoint, read(file, _LIMIT), desk.terms, now=now(), timestamps=TokenReader(), write=not dry
    )
    names = ", ".join(f"{one.name} ({one.kind})" for one in added.signed) or t("ninguno", "none")
    return done(
        {
            "type": "slaverify/witness-add/1",
            "size": checkpoint.size,
            "kind": added.kind,
            "signed": [{"name": one.name, "role": one.role, "kind": one.kind} for one in added.signed],
            "quorum": desk.terms.quorum,
        },
        Text(
            f"{added.kind} válida sobre {checkpoint.size} entradas; firman {names}; quórum {desk.terms.quorum}",
            f"{added.kind} holds over {checkpoint.size} entries; signed by {names}; quorum {desk.terms.quorum}",
        ),
        Text(
            "custodio y testigos juntos pueden sostener una historia falsa",
            "custodian and witnesses together can uphold a false history",
        ),
        as_json=as_json,
        dry=dry,
    )


def _checkpoint(folder: Path, size: int) -> CheckpointFile:
    from slaverify.custody.checkpoints import read_checkpoints

    found = [one for one in read_checkpoints(folder) if size in (0, one.size)]
    if not found:
        raise ApplicationError(
            "SLV-A025",
            Text("no hay tal punto de control", "there is no such checkpoint"),
            fix=Text("hágalo con «slaverify custody ledger checkpoint»", "`slaverify custody ledger checkpoint`"),
            where=str(folder / "checkpoints"),
            exit_code=5,
        )
    return found[-1]
