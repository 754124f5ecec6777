"""`slaverify bank questions`: derive the questions of an engine with tools from a state contract."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

if TYPE_CHECKING:
    from slaverify.contract import Contract
    from slaverify.trajectory import BaselineResult

_MAX_FILE = 64 * 1024 * 1024
_MAX_FILES = 10_100


def register(group: typer.Typer) -> None:
    """Add the command to its group."""
    group.command(
        name="questions",
        help=t("Deriva preguntas de un contrato de estado.", "Derive questions from a state contract."),
    )(questions)


def questions(
    folder: Path = typer.Argument(..., metavar="STATE", help=t("Carpeta del contrato de estado.", "Its folder.")),
    destination: Path = typer.Option(..., "--out", help=t("Carpeta que se crea.", "Folder to make.")),
    contract: Path | None = typer.Option(
        None, "--contract", help=t("Contrato que las usará.", "Contract that uses them.")
    ),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Write `items.jsonl` and `state_contract.json`; a set that trivial engines pass is refused."""
    import secrets

    from slaverify.cli.files import write_new
    from slaverify.contract.load import load_contract
    from slaverify.evalset import write_bank
    from slaverify.trajectory import PathRules, derive, generate, run_baselines
    from slaverify.trajectory.items import ATTACHMENT, question_items
    from slaverify.trajectory.record import path_rules
    from slaverify.trajectory.state_files import read_state_files

    state, locale = read_state_files(_files(folder))
    nonce = secrets.token_bytes(32)
    made = generate(state, locale, nonce)
    agreed = None if contract is None else load_contract(contract).model
    rules = PathRules(mode=state.evaluation.mode) if agreed is None else path_rules(agreed)
    results = run_baselines(state, made, rules)
    _refuse_weak(results, agreed)
    items = question_items(state, made, locale, nonce, lambda: f"q-{secrets.token_hex(8)}")
    destination.mkdir(parents=True)
    write_new(destination / "items.jsonl", write_bank(items))
    write_new(destination / ATTACHMENT, state.content)
    counts = derive(state, locale).counts()
    if as_json:
        shown = [{"name": one.name, "valid": _share(one.valid), "s_adj": _share(one.adjusted)} for one in results]
        emit(
            {
                "type": "slaverify/questions/1",
                "questions": len(items),
                "state_contract_digest": state.digest,
                "candidates": counts,
                "baselines": list(shown),
            }
        )
        return 0
    out(t(f"{len(items)} preguntas en {destination}", f"{len(items)} questions in {destination}"))
    out(f"method.trajectory.state_contract_digest: {state.digest}")
    for one in results:
        say(f"  {one.name}: {_share(one.valid)} {_share(one.adjusted)}")
    return 0


def _files(folder: Path) -> dict[str, bytes]:
    from slaverify.cli.files import read
    from slaverify.errors import Text, TrajectoryError

    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()) or len(found) > _MAX_FILES:
            raise TrajectoryError(
                "SLV-T001",
                Text("enlace, dispositivo o demasiados archivos", "a link, a device or too many files"),
                where=str(path),
            )
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = read(path, _MAX_FILE)
    return found


def _refuse_weak(results: tuple[BaselineResult, ...], contract: Contract | None) -> None:
    from slaverify.errors import ProblemsError, SlaverifyError, Text, TrajectoryError
    from slaverify.trajectory.metrics import limits_of

    problems: list[SlaverifyError] = [
        TrajectoryError(
            "SLV-T017",
            Text(
                f"WEAK_QUESTION_SET: el motor trivial {one.name} llega a {_share(one.valid)} y {_share(one.adjusted)}",
                f"WEAK_QUESTION_SET: the trivial engine {one.name} reaches {_share(one.valid)}, {_share(one.adjusted)}",
            ),
            why=Text(f"más le dieron: {', '.join(one.gave)}", f"what gave it most: {', '.join(one.gave)}"),
            fix=Text("cambie mezcla, términos o cuotas", "change mix, terms or quotas"),
            where=one.name,
        )
        for one in results
        if one.weak
    ]
    least = limits_of(results)
    for metric in () if contract is None else contract.metrics:
        name = (metric.library or "").partition("@")[0]
        if name in least and metric.severity == "binding" and metric.threshold < least[name]:
            due = _share(least[name])
            problems.append(
                TrajectoryError(
                    "SLV-T019",
                    Text(
                        f"el umbral de {metric.id} tiene que llegar al menos a {due}",
                        f"the threshold of {metric.id} has to be at least {due}",
                    ),
                    why=Text("un motor trivial quedaría demasiado cerca", "a trivial engine would come too close"),
                    fix=Text("suba el umbral o mejore el conjunto", "raise the threshold or mend the set"),
                    where=f"metrics.{metric.id}.threshold",
                )
            )
    if problems:
        raise ProblemsError(problems)


def _share(value: object) -> str:
    from fractions import Fraction

    from slaverify.trajectory import six

    return six(value) if isinstance(value, Fraction) else str(value)
