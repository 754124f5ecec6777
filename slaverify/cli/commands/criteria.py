"""`slaverify criteria try`: the drafting bench of a criteria contract."""

from __future__ import annotations

from pathlib import Path

import typer

from slaverify.canonical import JsonObject, JsonValue
from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

group = typer.Typer(
    help=t("Banco de redacción de criterios.", "Drafting bench of criteria."),
    rich_markup_mode=None,
    no_args_is_help=True,
)


@group.callback()
def _root() -> None:
    # With one command alone the group would vanish from the line.
    pass


@group.command(name="try", help=t("Prueba la redacción con el juez y personas.", "Try a wording on judge and people."))
def try_(
    file: Path = typer.Argument(..., metavar="FILE", help=t("Contrato o borrador.", "Contract or draft.")),
    labels: Path = typer.Option(..., "--labels", help=t("Conjunto de desarrollo etiquetado.", "Development set.")),
    against: Path | None = typer.Option(None, "--against", help=t("Contrato con la redacción vieja.", "Old wording.")),
    repeats: int = typer.Option(3, "--repeats", min=1, help=t("Consultas por respuesta.", "Calls per answer.")),
    keep: Path | None = typer.Option(None, "--keep", help=t("Carpeta que guarda lo contestado.", "Folder of replies.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Ask about probes and development rows; exit 0 if every probe came out as written, else 3."""
    from slaverify.audit.trying import try_criteria
    from slaverify.cli.files import read
    from slaverify.contract.load import load_contract
    from slaverify.judging.calibration import read_development

    model = load_contract(file).model
    older = None if against is None else load_contract(against).model
    named = () if model.judge is None else model.judge.criteria
    rows = read_development(read(labels), labels.name, named)
    folder = keep or Path(f"{file.stem}.try")
    trial = try_criteria(model, rows, folder, repeats=repeats, against=older)
    if as_json:
        emit(trial)
    else:
        for one in _criteria(trial):
            for line in _lines(one):
                out(line)
        say(t(f"respuestas guardadas en {folder}", f"replies kept in {folder}"))
    return 3 if any(_list(_dict(one["probes"])["failed"]) for one in _criteria(trial)) else 0


def _lines(one: JsonObject) -> list[str]:
    probes, people, flips, cut = (_dict(one[key]) for key in ("probes", "people", "flips", "cut"))
    failed = [str(row["id"]) for row in _list(probes["failed"])]
    upper = "" if flips["upper"] is None else f" (≤ {_short(flips['upper'])})"
    lines = [
        f"{one['criterion']} v{one['version']}",
        t(
            f"  sondas: {len(failed)} fallidas de {probes['asked']} {', '.join(failed)}".rstrip(),
            f"  probes: {len(failed)} failed of {probes['asked']} {', '.join(failed)}".rstrip(),
        ),
        t(
            f"  personas: de acuerdo en {people['agreed']} de {people['rows']}, sin resultado {people['unresolved']}, "
            f"kappa {_short(people['kappa'])}",
            f"  people: agree on {people['agreed']} of {people['rows']}, no result {people['unresolved']}, "
            f"kappa {_short(people['kappa'])}",
        ),
        t(
            f"  cambia entre consultas: {flips['flipped']} de {flips['rows']}{upper}",
            f"  changes between calls: {flips['flipped']} of {flips['rows']}{upper}",
        ),
    ]
    if cut["best"] not in (None, cut["contract"]):
        lines.append(
            t(
                f"  corte con más acuerdo: {cut['best']} (el contrato fija {cut['contract']})",
                f"  cut of best agreement: {cut['best']} (the contract fixes {cut['contract']})",
            )
        )
    return [*lines, *map(_apart, _list(one["disagreements"])), *_changes(one["against"])]


def _apart(row: JsonObject) -> str:
    # The judge's words are foreign text: nothing in them may reach a terminal as a control.
    reason = "".join(one if one.isprintable() else " " for one in str(row["reason"]))[:160]
    people, said = row["people"], row["judge"]
    es, en = f"personas {people}, juez {said}: {reason}", f"people {people}, judge {said}: {reason}"
    return f"  {row['id']}: {t(es, en)}"


def _changes(against: JsonValue) -> list[str]:
    if not isinstance(against, dict):
        return []
    mended, broken = (", ".join(map(str, found)) if isinstance(found := against[key], list) else "" for key in _CHANGES)
    before, now, rows = against["agreed_before"], against["agreed_now"], against["rows"]
    return [
        t(f"  antes {before}, ahora {now} de {rows}", f"  before {before}, now {now} of {rows}"),
        t(f"  corrige: {mended or '-'}; rompe: {broken or '-'}", f"  mends: {mended or '-'}; breaks: {broken or '-'}"),
    ]


_CHANGES = ("mended", "broken")


def _criteria(trial: JsonObject) -> list[JsonObject]:
    return _list(trial["criteria"])


def _list(value: JsonValue) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _dict(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _short(value: JsonValue) -> str:
    return "-" if value is None else f"{float(str(value)):.3f}"
