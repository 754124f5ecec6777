"""`slaverify custody dispute …`: from a claim to the decision counted again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.commands.custody_desk import DRY, JSON, YES, ask, done
from slaverify.cli.language import language, t
from slaverify.cli.output import emit, out
from slaverify.errors import Text

if TYPE_CHECKING:
    from slaverify.audit.disputes import DisputeStatus
    from slaverify.canonical import JsonValue

group = typer.Typer(
    help=t("Disputas: abrir, resolver, ver.", "Disputes: open, resolve, status."),
    rich_markup_mode=None,
    no_args_is_help=True,
)
_RUN = typer.Argument(..., metavar="RUN", help=t("Carpeta de la corrida.", "Folder of the run."))
_ITEM = typer.Argument(..., metavar="ITEM", help=t("Id del ítem.", "Id of the item."))
_ONE_SIDE = Text(
    "se disputa lo que conviene: solo quien ve todo el detalle sabe qué no se disputó",
    "people dispute what suits them: only who sees all of the detail knows what was not disputed",
)


@group.command("open", help=t("Disputa un ítem y lo abre a quien diga el contrato.", "Dispute one item."))
def open_(
    run_folder: Path = _RUN,
    item: str = _ITEM,
    by: str = typer.Option(..., "--by", help=t("Papel de quien disputa.", "Role of who disputes.")),
    claim: Path = typer.Option(..., "--claim", help=t("Archivo de texto con el reclamo.", "Text file of the claim.")),
    part: str = typer.Option("reference", "--part", help="query, reference"),
    yes: bool = YES,
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Record the dispute in the ledger and open the item to whom the contract says."""
    from slaverify.audit.disputes import PARTIES, disclosed_to, open_dispute, window
    from slaverify.cli.files import read
    from slaverify.cli.wiring import session_of_run
    from slaverify.custody import Part

    if by not in PARTIES or part not in list(Part):
        raise typer.BadParameter(t("--by o --part no válidos", "--by or --part not valid"))
    session, number = session_of_run(run_folder)
    text = read(claim, 64 * 1024).decode("utf-8", "replace")
    shown = ", ".join(f"{one.value} → {to}" for one, to in disclosed_to(session)) or t("a nadie", "to nobody")
    if not dry:
        ask(Text(f"¿Disputar {item}? Se abre: {shown}", f"Dispute {item}? Opened: {shown}"), yes)
        open_dispute(session, number, item, role=by, part=Part(part), claim=text)
    closes = window(session, number)
    return done(
        {
            "type": "slaverify/dispute/1",
            "item": item,
            "by": by,
            "opened": shown,
            "closes": None if closes is None else closes.isoformat(),
        },
        Text(
            f"{by} disputa {item}; se abre: {shown}; el ítem ya no se sortea",
            f"{by} disputes {item}; opened: {shown}; the item is never drawn again",
        ),
        _ONE_SIDE,
        as_json=as_json,
        dry=dry,
    )


@group.command(help=t("Anota lo que resolvió el adjudicador.", "Record what the adjudicator decided."))
def resolve(
    run_folder: Path = _RUN,
    item: str = _ITEM,
    outcome: str = typer.Option(..., "--outcome", help="upheld, rejected"),
    reason: str = typer.Option("", "--reason", help=t("Por qué, en una frase.", "Why, in a sentence.")),
    key: str = typer.Option("adjudicator", "--key", help=t("Clave del adjudicador.", "Adjudicator's key.")),
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Record the resolution, signed by the adjudicator; an upheld item leaves the count."""
    from slaverify.audit.disputes import resolve_dispute
    from slaverify.cli.wiring import key_store, session_of_run

    if outcome not in ("upheld", "rejected"):
        raise typer.BadParameter(t("--outcome es upheld o rejected", "--outcome is upheld or rejected"))
    session, number = session_of_run(run_folder)
    if not dry:
        adjudicator = key_store().get(key)
        resolve_dispute(session, number, item, adjudicator=adjudicator, upheld=outcome == "upheld", reason=reason)
    word = Text("acogida", "upheld") if outcome == "upheld" else Text("rechazada", "rejected")
    return done(
        {"type": "slaverify/dispute-resolved/1", "item": item, "outcome": outcome},
        Text(f"disputa de {item} {word.es}", f"dispute over {item} {word.en}"),
        Text(
            "quien resuelve decide solo; su razón queda en el libro, firmada",
            "who decides does so alone; the reason stands in the ledger, signed",
        ),
        as_json=as_json,
        dry=dry,
    )


@group.command(help=t("Los tres estados y los días que quedan.", "The three states and the days left."))
def status(run_folder: Path = _RUN, as_json: bool = JSON) -> int:
    """Say each dispute, the verdict as scored, for the vendor and against, and until when more may be opened."""
    from slaverify.audit.disputes import status as find
    from slaverify.cli.wiring import now, session_of_run

    session, number = session_of_run(run_folder)
    found = find(session, number)
    days = None if found.closes is None else max(0, (found.closes - now()).days)
    if as_json:
        emit(_json(found, days))
        return 0
    for one in found.disputes:
        out(f"{one.item}  {one.role}  {one.state}  {one.time}")
    _say(found, days)
    return 0


def _json(found: DisputeStatus, days: int | None) -> dict[str, JsonValue]:
    states = found.states
    return {
        "type": "slaverify/dispute-status/1",
        "disputes": [
            {"item": one.item, "by": one.role, "state": one.state, "since": one.time} for one in found.disputes
        ],
        "as_scored": states.as_scored.value,
        "all_for_vendor": states.in_favour.value,
        "all_against_vendor": states.against.value,
        "state": states.state.value,
        "reason": None if states.reason is None else states.reason.value,
        "days_left": days,
    }


def _say(found: DisputeStatus, days: int | None) -> None:
    from slaverify.cli.verdicts import state_words

    rows = (
        (Text("como se puntuó", "as scored"), found.states.as_scored),
        (Text("todo a favor del proveedor", "all for the vendor"), found.states.in_favour),
        (Text("todo en contra", "all against"), found.states.against),
        (Text("estado", "state"), found.states.state),
    )
    for words, state in rows:
        out(f"{words.in_language(language())}: {state_words(state.value)}")
    left = t("sin informe todavía", "no report yet") if days is None else t(f"quedan {days} días", f"{days} days left")
    out(left)
    if found.disputes and all(one.state != "open" for one in found.disputes):
        out(
            t(
                "resueltas: siga con «slaverify report RUN --amends»",
                "resolved: go on with `slaverify report RUN --amends`",
            )
        )
