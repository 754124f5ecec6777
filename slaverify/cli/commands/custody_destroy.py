"""`slaverify custody destroy`: at the end of the term, what opens a bank is destroyed and the ledger says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.commands.custody_desk import BANK, DRY, JSON, YES, ask, done, open_ledger
from slaverify.cli.language import t
from slaverify.errors import CustodyError, Text

if TYPE_CHECKING:
    from slaverify.canonical import JsonValue
    from slaverify.custody import Bank
    from slaverify.custody.destruction import Found, StillOpen


def register(group: typer.Typer) -> None:
    """Add the verb to `slaverify custody`."""
    group.command(help=t("Destruye lo que abre un banco, al final del plazo.", "Destroy what opens a bank."))(destroy)


def destroy(
    folder: Path = BANK,
    clause: str = typer.Option(..., "--clause", help=t("Cláusula que lo manda.", "Clause that orders it.")),
    yes: bool = YES,
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Delete the identities and shares that are here, record it, and say what can still be opened and by whom."""
    from slaverify.cli.wiring import key_store, now
    from slaverify.custody import destruction
    from slaverify.custody.acts import record_destruction
    from slaverify.custody.vault import load_bank

    ledger, bank, store = open_ledger(folder), load_bank(folder), key_store()
    custodian = store.of_role("custodian", ledger.view.keys)
    found = destruction.find(bank, store.folder)
    if not found:
        raise _nothing(store.folder)
    left, what = destruction.still_open(bank, folder, found), _what(found)
    if not dry:
        ask(
            Text(
                f"¿Destruir {what.es}? Ningún banco cifrado para lo mismo se podrá abrir, y no tiene vuelta atrás",
                f"Destroy {what.en}? No bank encrypted to the same can be opened any more; it cannot be undone",
            ),
            yes,
        )
        destruction.destroy(found, now())
        record_destruction(ledger, custodian, what=what.en, method="overwritten and deleted", clause=clause)
    return done(
        _document(bank, found, left, clause),
        Text(
            f"destruido: {what.es}; manifiesto, índice y libro se quedan, y lo auditado se verifica igual",
            f"destroyed: {what.en}; manifest, index and ledger stay, and what was audited is verified as before",
        ),
        _residue(left),
        as_json=as_json,
        dry=dry,
    )


def _what(found: Found) -> Text:
    roles = [one.role for one, _ in found.identities]
    names = {"custodian": Text("custodia", "custodian"), "recovery": Text("recuperación", "recovery")}
    es = [f"identidad de {names[role].es}" for role in roles]
    en = [f"{names[role].en} identity" for role in roles]
    if found.shares:
        es.append(f"partes: {len(found.shares)}")
        en.append(f"shares: {len(found.shares)}")
    return Text(", ".join(es), ", ".join(en))


def _residue(left: StillOpen) -> Text:
    es = ["lo abre quien tenga una copia de esas llaves (respaldos, otro disco, papel)"]
    en = ["whoever has a copy of those keys opens it (backups, another disk, paper)"]
    for one in left.recipients:
        es.append(f"la identidad «{one.role}» ({one.age[:16]}…) no está aquí y sigue abriendo el banco")
        en.append(f"the identity `{one.role}` ({one.age[:16]}…) is not here and still opens the bank")
    if left.deliveries:
        es.append(f"{left.deliveries} entregas siguen abiertas para quien las recibió")
        en.append(f"{left.deliveries} deliveries stay open to who received them")
    if left.openings:
        es.append(f"{left.openings} aperturas ya son públicas")
        en.append(f"{left.openings} openings are public already")
    return Text("; ".join(es), "; ".join(en))


def _document(bank: Bank, found: Found, left: StillOpen, clause: str) -> dict[str, JsonValue]:
    return {
        "type": "slaverify/destruction/1",
        "bank_digest": bank.digest,
        "clause": clause,
        "destroyed": [{"role": one.role, "age": one.age, "file": path.name} for one, path in found.identities],
        "shares": len(found.shares),
        "still_open_to": [{"role": one.role, "age": one.age} for one in left.recipients],
        "deliveries": left.deliveries,
        "openings": left.openings,
    }


def _nothing(keys: Path) -> CustodyError:
    return CustodyError(
        "SLV-K071",
        Text("aquí no hay nada que abra este banco", "nothing here opens this bank"),
        fix=Text(
            "lo que se destruyó en otra parte se anota con «slaverify custody ledger append BANCO destruction»",
            "what was destroyed elsewhere is recorded by `slaverify custody ledger append BANK destruction`",
        ),
        where=str(keys),
        exit_code=5,
    )
