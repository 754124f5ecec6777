"""`slaverify custody draw | deliver`: choose the items of a run, by commitment where agreed, and hand them over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.commands.custody_desk import (
    BANK,
    CONTRACT,
    DRY,
    JSON,
    RUN,
    YES,
    Desk,
    ask,
    done,
    open_desk,
    private_place,
)
from slaverify.cli.language import t
from slaverify.errors import Text

if TYPE_CHECKING:
    from slaverify.custody import Draw, Part

_SEEDED = Text(
    "quien editó el contrato al final pudo probar variantes hasta que la muestra le gustara",
    "whoever edited the contract last could try variants until the sample pleased",
)
_REFUSER = Text(
    "quien revela último puede callar y elegir así entre dos muestras; queda escrito, y una baliza lo impide",
    "who reveals last can stay silent and so choose between two samples; it is on record, and a beacon prevents it",
)
_LIT = Text("todos los que sortean, juntos", "all who draw, together")

_PROPOSE = typer.Option(
    None, "--propose", help=t("No escribe en el libro: deja aquí su entrada firmada.", "Write the signed entry here.")
)


def register(group: typer.Typer) -> None:
    """Add the verbs to `slaverify custody`."""
    group.command(help=t("Abre la corrida y sortea; o compromete o revela.", "Open the run and draw."))(draw)
    group.command(help=t("Entrega al auditor lo sorteado, cifrado.", "Deliver what was drawn, encrypted."))(deliver)


def draw(
    folder: Path = BANK,
    contract: Path = CONTRACT,
    commit: bool = typer.Option(False, "--commit", help=t("Compromete su número.", "Commit to your nonce.")),
    reveal: bool = typer.Option(False, "--reveal", help=t("Revela su número.", "Reveal your nonce.")),
    role: str = typer.Option("buyer", "--role", help=t("Su papel (con --commit o --reveal).", "Your role.")),
    propose: Path | None = _PROPOSE,
    beacon: Path | None = typer.Option(None, "--beacon", help=t("JSON de la ronda pactada.", "JSON of the round.")),
    target: Path | None = typer.Option(None, "--out", help=t("Archivo draw.json.", "File draw.json.")),
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Open the run if none is open, draw its sample and reserve; or give this party's part of the seed."""
    desk = open_desk(folder, contract)
    if commit or reveal:
        return _nonce(desk, role, propose, reveal=reveal, dry=dry, as_json=as_json)
    number = _open_run(desk, dry=dry)
    if number is None:
        return done(
            {"type": "slaverify/draw-verb/1", "run": None},
            Text("abriría la corrida siguiente y sortearía", "it would open the next run and draw"),
            _residue(desk),
            as_json=as_json,
            dry=True,
        )
    return _draw(desk, number, beacon, target, dry=dry, as_json=as_json)


def _open_run(desk: Desk, *, dry: bool) -> int | None:
    from slaverify.audit.supported import check_supported
    from slaverify.cli.wiring import now
    from slaverify.custody.append import open_run, register_contract, register_key

    check_supported(desk.contract.model)
    known = [record for record in desk.view.runs(desk.terms.contract_digest) if record.is_open]
    if known:
        return known[-1].number
    if dry:
        return None
    custodian, auditor = desk.key("custodian"), desk.key("auditor")
    register_key(desk.ledger, custodian, auditor, now=now())
    register_contract(desk.ledger, custodian, desk.terms)
    return open_run(desk.ledger, auditor, desk.terms).number


def _draw(desk: Desk, number: int, beacon: Path | None, target: Path | None, *, dry: bool, as_json: bool) -> int:
    from slaverify.cli.files import read, write_new
    from slaverify.cli.wiring import now
    from slaverify.custody import draw_json, draw_run, read_round
    from slaverify.custody.drawing import settle_draw

    light = None if beacon is None else read_round(read(beacon, 64 * 1024))
    if dry:
        found = draw_run(desk.bank.index, desk.view, desk.terms, number, light=light)
    else:
        found = settle_draw(
            desk.ledger,
            desk.bank.index,
            desk.terms,
            number,
            custodian=desk.key("custodian"),
            auditor=desk.key("auditor"),
            now=now(),
            light=light,
        )
        if target is not None:
            write_new(target, draw_json(found))
    left, spare = found.remaining_audits, sum(len(ids) for ids in found.selection.reserve.values())
    return done(
        {
            "type": "slaverify/draw-verb/1",
            "run": number,
            "seed": found.seed,
            "sample": {name: list(ids) for name, ids in found.selection.sample.items()},
            "reserve": {name: list(ids) for name, ids in found.selection.reserve.items()},
            "arms": found.beside.to_json(),
            "sample_sha256": found.sample_sha256,
            "remaining_audits": left,
        },
        _drawn(found, number, spare, left),
        _residue(desk),
        as_json=as_json,
        dry=dry,
    )


def _drawn(found: Draw, number: int, spare: int, left: int) -> Text:
    n, control = len(found.selection.ids), len(found.beside.ids)
    return Text(
        f"corrida {number}: {n} ítems sorteados, {control} de control y {spare} de reserva; quedan {left} auditorías",
        f"run {number}: {n} items drawn, {control} control items and {spare} in reserve; {left} audits left",
    )


def _nonce(desk: Desk, role: str, propose: Path | None, *, reveal: bool, dry: bool, as_json: bool) -> int:
    from slaverify.cli.files import write_new
    from slaverify.custody.drawing import commit_data, commit_nonce, reveal_data, reveal_nonce

    number, keys = desk.run(0), desk.store.folder
    if propose is not None and not dry:
        data = (
            reveal_data(desk.ledger, desk.terms, number, role, keys)
            if reveal
            else commit_data(desk.terms, number, role, keys)
        )
        kind = "draw_reveal" if reveal else "draw_commit"
        write_new(propose, desk.ledger.propose(kind, data, desk.key(role)) + b"\n")
    elif not dry:
        act = reveal_nonce if reveal else commit_nonce
        act(desk.ledger, desk.key(role), desk.terms, number, role, keys)
    if reveal:
        did = Text(f"número de {role} revelado en la corrida {number}", f"nonce of {role} revealed in run {number}")
    else:
        did = Text(
            f"compromiso de {role} anotado; guarde su carpeta de claves hasta revelar",
            f"commitment of {role} recorded; keep your folder of keys until you reveal",
        )
    return done(
        {"type": "slaverify/nonce/1", "run": number, "role": role, "act": "reveal" if reveal else "commit"},
        did,
        _residue(desk),
        as_json=as_json,
        dry=dry,
    )


def _residue(desk: Desk) -> Text:
    if desk.terms.beacon is not None:
        return _LIT
    return _REFUSER if desk.terms.method == "commit_reveal" else _SEEDED


def _hand_over(desk: Desk, found: Draw, part: Part, propose: Path | None) -> Path:
    from slaverify.cli.files import write_new
    from slaverify.custody.deliver import deliver as hand_over
    from slaverify.custody.deliver import propose_delivery

    place = (desk.ledger, desk.bank, desk.terms, found, part)
    custodian = desk.key("custodian")
    with private_place() as private:
        if propose is None:
            return hand_over(*place, custodian=custodian, auditor=desk.key("auditor"), private=private).path
        path, line = propose_delivery(*place, custodian=custodian, private=private)
        write_new(propose, line + b"\n")
        return path


def deliver(
    folder: Path = BANK,
    contract: Path = CONTRACT,
    run: int = RUN,
    part: str = typer.Option("query", "--part", help="query, reference"),
    propose: Path | None = _PROPOSE,
    yes: bool = YES,
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Encrypt one part of the drawn items to the auditor and record it, signed by both; or leave that to be signed."""
    from slaverify.custody import Part, draw_run
    from slaverify.custody.deliver import delivery_path

    if part not in list(Part):
        raise typer.BadParameter(t("--part es query o reference", "--part is query or reference"))
    desk = open_desk(folder, contract)
    number = desk.run(run)
    found = draw_run(desk.bank.index, desk.view, desk.terms, number)
    path = delivery_path(folder, desk.view, found, Part(part))
    if not dry:
        n = len(found.all_ids)
        ask(Text(f"¿Entregar {part} de {n} ítems al auditor?", f"Deliver {part} of {n} items to the auditor?"), yes)
        path = _hand_over(desk, found, Part(part), propose)
    return done(
        {"type": "slaverify/delivery-verb/1", "run": number, "part": part, "file": str(path)},
        Text(f"{part} de la corrida {number} en {path}", f"{part} of run {number} in {path}"),
        Text(
            "auditor y custodio juntos pueden probar el motor fuera del libro; el proveedor cuenta sus consultas",
            "auditor and custodian together can try the engine off the ledger; the vendor counts its requests",
        ),
        as_json=as_json,
        dry=dry,
    )
