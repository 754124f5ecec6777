"""`slaverify custody ledger …`: list, append what happened outside a run, checkpoint, register of keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.commands.custody_desk import BANK, CONTRACT, DRY, JSON, done, open_desk, open_ledger
from slaverify.cli.language import t
from slaverify.cli.output import emit, out
from slaverify.errors import ApplicationError, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slaverify.canonical import JsonValue
    from slaverify.custody import Bank, Entry
    from slaverify.custody.keys import KeyStore, PartyKey
    from slaverify.custody.ledger_file import LedgerFile

group = typer.Typer(
    help=t("El libro: ver, anotar, punto de control, claves.", "The ledger: show, append, checkpoint, keys."),
    rich_markup_mode=None,
    no_args_is_help=True,
)
KINDS = ("incident", "deposit", "custody_transfer", "exposure", "key_revoked", "bank_rotated", "destruction")
_LIMIT = 64 * 1024
_MAX_LEDGER = 64 * 1024 * 1024
_ONE_HISTORY = Text(
    "el custodio puede mostrar otro libro entero; solo lo descubre quien compara con un testigo o un sello",
    "the custodian can show another whole ledger; only who compares with a witness or a token finds out",
)


@group.command(help=t("Lista las entradas.", "List the entries."))
def show(folder: Path = BANK, as_json: bool = JSON) -> int:
    """Verify the ledger line by line and list it."""
    view = open_ledger(folder).view
    rows = [(entry, view.keys[entry.actor].name) for entry in view]
    if as_json:
        entries: list[JsonValue] = [
            {"seq": one.seq, "time": one.time, "type": one.type, "by": name, "data": dict(one.data)}
            for one, name in rows
        ]
        emit({"type": "slaverify/ledger/1", "origin": view.origin, "root": view.root.hex(), "entries": entries})
        return 0
    for one, name in rows:
        run = "" if one.run is None else t(f"corrida {one.run}  ", f"run {one.run}  ")
        out(f"{one.seq:>5}  {one.time}  {one.type:<20}  {run}{name}")
    return 0


@group.command(help=t("La firma del custodio sobre el libro de hoy.", "The custodian signs the ledger of today."))
def checkpoint(
    folder: Path = BANK,
    contract: Path | None = typer.Option(None, "--contract", help=t("Pide además su sello.", "Ask its token too.")),
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Write the checkpoint of the ledger as it stands, with a token of the contract's authority if one is given."""
    from slaverify.cli.wiring import key_store, stamper
    from slaverify.contract.load import load_contract

    ledger = open_ledger(folder)
    size, authority = ledger.view.size, None if contract is None else stamper(load_contract(contract))
    log_key = _log_key(ledger, key_store())
    made = None if dry else ledger.checkpoint(log_key, authority)
    stamped = made is not None and made.token is not None
    return done(
        {"type": "slaverify/checkpoint/1", "size": size, "root": ledger.root.hex(), "stamped": stamped},
        Text(
            f"punto de control de {size} entradas firmado{' y sellado' if stamped else ''}",
            f"checkpoint of {size} entries signed{' and stamped' if stamped else ''}",
        ),
        _ONE_HISTORY,
        as_json=as_json,
        dry=dry,
    )


@group.command(help=t("Latido: entrada ciega, igual a un inicio.", "Heartbeat: a blind entry, like a start."))
def heartbeat(folder: Path = BANK, contract: Path = CONTRACT, dry: bool = DRY, as_json: bool = JSON) -> int:
    """Append a blind entry with its checkpoint, if the cadence of the contract has come to it; else do nothing."""
    from slaverify.cli.wiring import now, stamper
    from slaverify.custody.append import register_key
    from slaverify.custody.blind import next_slot
    from slaverify.custody.blinding import heartbeat as beat

    desk = open_desk(folder, contract)
    if not desk.terms.blind:
        raise typer.BadParameter(t("el contrato no pacta inicios ciegos", "the contract agrees on no blind starts"))
    due, hours = next_slot(desk.view, desk.terms.heartbeat_hours), desk.terms.heartbeat_hours
    is_due = due is None or now() >= due
    if is_due and not dry:
        log_key, auditor = _log_key(desk.ledger, desk.store), desk.key("auditor")
        register_key(desk.ledger, log_key, auditor, now=now())
        beat(desk.ledger, auditor, desk.store.folder)
        stamped = desk.terms.start_anchor in ("timestamp", "both")
        desk.ledger.checkpoint(log_key, stamper(desk.contract) if stamped else None)
    return done(
        {"type": "slaverify/heartbeat/1", "appended": is_due, "heartbeat_hours": hours},
        Text("latido anotado", "heartbeat recorded")
        if is_due
        else Text("todavía no toca un latido", "no heartbeat is due yet"),
        Text("la cadencia se ve; lo que cada entrada dice, no", "the cadence is visible; what each entry says is not"),
        as_json=as_json,
        dry=dry,
    )


@group.command(help=t("Registro de claves; agrega una o revoca otra.", "Register of keys; add one or revoke one."))
def keys(
    folder: Path = BANK,
    add: str = typer.Option("", "--add", help=t("Nombre de la clave por registrar.", "Name of the key to register.")),
    invite: Path | None = typer.Option(
        None, "--invite", help=t("Lo que imprimió «keys new --json» en otra parte.", "What `keys new --json` printed.")
    ),
    target: Path | None = typer.Option(None, "--out", help=t("Archivo de la propuesta.", "File of the proposal.")),
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """List who may sign what, from when until when; register a key that is here (`--add`) or elsewhere (`--invite`)."""
    from slaverify.cli.wiring import key_store, now
    from slaverify.custody.append import register_key

    ledger = open_ledger(folder)
    if invite is not None:
        return _invite(ledger, invite, target, dry=dry, as_json=as_json)
    if add:
        store = key_store()
        key = store.get(add)
        if not dry:
            register_key(ledger, _log_key(ledger, store), key, now=now())
        roles = ", ".join(key.roles)
        return done(
            {"type": "slaverify/key-added/1", "key_id": key.key_id, "roles": list(key.roles)},
            Text(f"clave registrada: {key.key_name} ({roles})", f"key registered: {key.key_name} ({roles})"),
            Text(
                "quien roba esta clave firma por su dueño hasta que se revoque",
                "who steals this key signs for its owner until it is revoked",
            ),
            as_json=as_json,
            dry=dry,
        )
    held = sorted(ledger.view.keys.values(), key=lambda one: one.seq)
    if as_json:
        listed: list[JsonValue] = [
            {
                "key_id": one.key_id,
                "name": one.name,
                "organisation": one.organisation,
                "roles": list(one.roles),
                "valid_from": one.valid_from,
                "valid_until": one.valid_until,
                "revoked_from": one.revoked_from,
            }
            for one in held
        ]
        emit({"type": "slaverify/register/1", "keys": listed})
        return 0
    for one in held:
        end = one.revoked_from or one.valid_until
        until = "" if end is None else t(f" hasta {end}", f" until {end}")
        out(f"{one.key_id[:16]}  {', '.join(one.roles):<24} {one.organisation} ({one.name}){until}")
    return 0


def _invite(ledger: LedgerFile, card: Path, target: Path | None, *, dry: bool, as_json: bool) -> int:
    from slaverify.canonical import loads_object
    from slaverify.cli.files import read, write_new
    from slaverify.cli.wiring import key_store, now
    from slaverify.custody.append import key_data

    if target is None:
        raise typer.BadParameter(t("indique --out", "give --out"))
    try:
        told = loads_object(read(card, _LIMIT))
        names = [str(told[name]) for name in ("ledger_key", "role", "organisation", "age")]
        data = key_data(names[0], [names[1]], names[2], names[3], now=now())
    except (ValueError, KeyError) as error:
        raise typer.BadParameter(t("no es una tarjeta de «keys new --json»", "not a card of `keys new`")) from error
    if not dry:
        write_new(target, ledger.propose("key_added", data, _log_key(ledger, key_store())) + b"\n")
    return done(
        {"type": "slaverify/proposal/1", "file": str(target), "organisation": names[2]},
        Text(
            f"propuesta para {names[2]} en {target}: su dueño la firma con «custody ledger countersign» y la devuelve",
            f"proposal for {names[2]} in {target}: its owner signs with `custody ledger countersign` and returns it",
        ),
        Text(
            "compruebe por otro camino que la tarjeta es de quien dice ser",
            "check by another way that the card is of whom it says",
        ),
        as_json=as_json,
        dry=dry,
    )


@group.command(help=t("Firma una propuesta con la llave propia.", "Sign a proposal with your own key."))
def countersign(
    file: Path = typer.Argument(..., metavar="PROPOSAL", help=t("Propuesta recibida.", "The proposal.")),
    key: str = typer.Option(..., "--key", help=t("Nombre de su llave.", "Name of your key.")),
    target: Path = typer.Option(..., "--out", help=t("Archivo firmado, para devolver.", "Signed file, to return.")),
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Show what an entry says and add this party's signature; nobody else ever holds its key."""
    from slaverify.cli.files import read, write_new
    from slaverify.cli.wiring import key_store
    from slaverify.custody.entries import countersign as sign
    from slaverify.custody.entries import parse_entry

    line = read(file, _LIMIT).rstrip(b"\n")
    entry = parse_entry(line, str(file))
    signed = sign(line, key_store().get(key))
    if not dry:
        write_new(target, signed + b"\n")
    return done(
        {"type": "slaverify/countersigned/1", "kind": entry.type, "seq": entry.seq, "data": dict(entry.data)},
        Text(f"firmó {entry.type} (entrada {entry.seq})", f"signed {entry.type} (entry {entry.seq})"),
        Text(
            "lea los datos antes de devolverlo: la firma los hace suyos",
            "read the data: the signature makes them yours",
        ),
        as_json=as_json,
        dry=dry,
    )


@group.command(help=t("Anota en el libro una entrada firmada en otra parte.", "Append an entry signed elsewhere."))
def accept(
    folder: Path = BANK,
    file: Path = typer.Argument(..., metavar="FILE", help=t("Entrada firmada, o un libro.", "Signed entry; a ledger.")),
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Judge entries as a stranger's and append those that are new: one, or all that a copy of the ledger has more."""
    from slaverify.cli.files import read
    from slaverify.custody.entries import parse_entry

    ledger = open_ledger(folder)
    held = {entry.line for entry in ledger.view}
    given = read(file, _MAX_LEDGER).rstrip(b"\n").split(b"\n")
    # What brings nothing new is judged all the same: the ledger says why it does not fit.
    new = [line for line in given if line not in held] or given[-1:]
    entries = [parse_entry(line, str(file)) if dry else ledger.accept(line) for line in new]
    entry, more = entries[-1], len(entries) - 1
    return done(
        {
            "type": "slaverify/entry/1",
            "seq": entry.seq,
            "kind": entry.type,
            "data": dict(entry.data),
            "accepted": len(entries),
        },
        Text(
            f"{entry.type} anotado como entrada {entry.seq}" + (f", y {more} antes" if more else ""),
            f"{entry.type} recorded as entry {entry.seq}" + (f", and {more} before it" if more else ""),
        ),
        _ONE_HISTORY,
        as_json=as_json,
        dry=dry,
    )


@group.command("register", help=t("Anota un contrato congelado.", "Record a frozen contract."))
def register_(folder: Path = BANK, contract: Path = CONTRACT, dry: bool = DRY, as_json: bool = JSON) -> int:
    """Record, as custodian, the contract under which runs may be opened; nothing of it can be changed afterwards."""
    from slaverify.custody.append import register_contract

    desk = open_desk(folder, contract)
    custodian = desk.key("custodian")
    if not dry:
        register_contract(desk.ledger, custodian, desk.terms)
    return done(
        {"type": "slaverify/contract-registered/1", "contract_digest": desk.terms.contract_digest},
        Text(
            f"contrato {desk.terms.contract_digest[:19]}… anotado",
            f"contract {desk.terms.contract_digest[:19]}… recorded",
        ),
        _ONE_HISTORY,
        as_json=as_json,
        dry=dry,
    )


@group.command(
    help=t(
        "Anota un incidente, depósito, traspaso, exposición, revocación, rotación o destrucción.",
        "Record an incident, deposit, transfer, exposure, revocation, rotation or destruction.",
    )
)
def append(
    folder: Path = BANK,
    kind: str = typer.Argument(..., metavar="TYPE", help=", ".join(KINDS)),
    values: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help=t("Dato de la entrada.", "Datum.")),
    items: list[str] = typer.Option([], "--item", help=t("Ítem que toca.", "Item that it touches.")),
    receiver: str = typer.Option("", "--to", help=t("Clave de quien recibe (traspaso).", "Receiver's key.")),
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Append one entry of the custodian; nothing of it can be changed afterwards."""
    from slaverify.cli.wiring import key_store
    from slaverify.custody.vault import load_bank

    if kind not in KINDS:
        raise typer.BadParameter(t(f"tipo desconocido: {kind}", f"unknown type: {kind}"))
    ledger, store, bank = open_ledger(folder), key_store(), load_bank(folder)
    told = dict(value.partition("=")[::2] for value in values)
    act = _act(kind, told, items, receiver, ledger, bank, store)
    entry = None if dry else act(_holder(ledger, store))
    seq = ledger.view.size if entry is None else entry.seq
    return done(
        {"type": "slaverify/entry/1", "seq": seq, "kind": kind, "data": dict(told)},
        Text(f"{kind} anotado como entrada {seq}", f"{kind} recorded as entry {seq}"),
        Text(
            "el libro dice que se anotó, no que sea cierto; lo que no se anota no se ve",
            "the ledger says that it was written, not that it is true; what is not written is not seen",
        ),
        as_json=as_json,
        dry=dry,
    )


def _act(
    kind: str,
    told: Mapping[str, str],
    items: list[str],
    receiver: str,
    ledger: LedgerFile,
    bank: Bank,
    store: KeyStore,
) -> Callable[[PartyKey], Entry]:
    from slaverify.cli.wiring import now
    from slaverify.custody import acts, append

    numbers = [_number(bank, item) for item in items]
    word = _word(kind, told)
    calls: dict[str, Callable[[PartyKey], Entry]] = {
        "incident": lambda key: append.record_incident(ledger, key, what=word("what"), items=numbers),
        "deposit": lambda key: acts.record_deposit(ledger, key, bank, place=word("place"), medium=word("medium")),
        "custody_transfer": lambda key: acts.record_transfer(
            ledger, key, store.get(receiver), bank, purpose=word("purpose"), clause=told.get("clause", "")
        ),
        "exposure": lambda key: append.record_exposure(
            ledger, key, party=word("party"), role=word("role"), items=numbers, channel=told.get("channel", "")
        ),
        "key_revoked": lambda key: append.revoke_key(
            ledger, key, word("key_id"), since=now(), reason=told.get("reason", "")
        ),
        "bank_rotated": lambda key: acts.record_rotation(ledger, key, old=bank.digest, new=word("new_digest")),
        "destruction": lambda key: acts.record_destruction(
            ledger, key, what=word("what"), method=word("method"), clause=told.get("clause", "")
        ),
    }
    return calls[kind]


def _word(kind: str, told: Mapping[str, str]) -> Callable[[str], str]:
    def word(name: str) -> str:
        if not told.get(name):
            raise typer.BadParameter(t(f"{kind} necesita --set {name}=…", f"{kind} needs --set {name}=…"))
        return told[name]

    return word


def _number(bank: Bank, item: str) -> int:
    leaf = bank.index.by_id.get(item)
    if leaf is None:
        raise ApplicationError(
            "SLV-A027", Text(f"el banco no tiene {item}", f"the bank does not have {item}"), exit_code=5
        )
    return leaf.i


def _log_key(ledger: LedgerFile, store: KeyStore) -> PartyKey:
    """Return the key that began the ledger: it alone signs its checkpoints."""
    first = ledger.view[0].actor
    return store.of_role("custodian", {first})


def _holder(ledger: LedgerFile, store: KeyStore) -> PartyKey:
    return store.of_role("custodian", ledger.view.keys)
