"""`slaverify contract …`: check, freeze, digest; the other verbs stand in the `contract_…` files beside this one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.commands import (
    contract_clause,
    contract_diff,
    contract_explain,
    contract_new,
    contract_plan,
    contract_plugin,
    contract_schema,
    contract_sign,
)
from slaverify.cli.language import language, t
from slaverify.cli.output import emit, fail, out, say

if TYPE_CHECKING:
    from slaverify.canonical import JsonObject
    from slaverify.contract import LoadedContract
    from slaverify.contract.load import Draft
    from slaverify.readiness import Readiness

group = typer.Typer(rich_markup_mode=None)


@group.command(
    help=t(
        "Revisa contratos: errores, qué se puede decidir, pendientes y firmas.",
        "Check contracts: faults, what can be decided, debts and signatures.",
    )
)
def check(
    files: list[Path] = typer.Argument(..., help=t("Contratos, YAML o JSON.", "Contracts, YAML or JSON.")),
    curves: bool = typer.Option(False, "--curves", help=t("Muestra las curvas de operación.", "Show the curves.")),
    group_size: int = typer.Option(
        5, "--group-size", min=1, help=t("Ítems por conglomerado supuestos.", "Items per cluster, assumed.")
    ),
    against: Path | None = typer.Option(
        None, "--against", help=t("Versión anterior, si es una enmienda.", "Earlier version, if it is an amendment.")
    ),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Check each file; the exit code is the worst of all."""
    from slaverify.contract.load import load_contract
    from slaverify.errors import SlaverifyError

    old = None if against is None else load_contract(against)
    worst, documents = 0, []
    for path in files:
        try:
            code, document = _check(path, old, group_size, None if as_json else curves)
        except SlaverifyError as error:
            code, document = fail(error), _refusal(path, error)
        worst = max(worst, code)
        documents.append(document)
    if as_json:
        emit({"type": "slaverify/contract-check/1", "contracts": documents})
    return worst


@group.command(help=t("Congela un borrador: fija cada clave y su digest.", "Freeze a draft: fix each key and digest."))
def freeze(
    file: Path = typer.Argument(..., help=t("Borrador.", "Draft.")),
    destination: Path | None = typer.Option(
        None, "--out", help=t("Archivo congelado (por defecto, <id>.frozen.yaml al lado).", "Frozen file.")
    ),
) -> int:
    """Write the frozen contract beside its draft, never over it."""
    from slaverify.cli.files import write_new
    from slaverify.cli.wiring import now
    from slaverify.contract import freeze as frozen_tree
    from slaverify.contract.load import dump_yaml, load_contract, parse_contract
    from slaverify.readiness import refuse_undecidable

    loaded = load_contract(file)
    refuse_undecidable(loaded, now())
    text = dump_yaml(frozen_tree(loaded.model))
    frozen = parse_contract(text.encode(), file.name)
    target = destination or file.with_name(f"{frozen.model.contract.id}.frozen.yaml")
    write_new(target, text.encode())
    say(t(f"congelado en {target}", f"frozen into {target}"))
    out(frozen.digest)
    return 0


@group.command(help=t("Imprime el digest del contrato.", "Print the digest of the contract."))
def digest(
    file: Path = typer.Argument(..., help=t("Contrato.", "Contract.")),
    canonical: Path | None = typer.Option(
        None,
        "--bytes",
        help=t(
            "Escribe además los bytes exactos que se firman (RFC 8785).", "Also write the exact bytes that are signed."
        ),
    ),
) -> int:
    """Print the digest alone."""
    from slaverify.canonical import jcs
    from slaverify.cli.files import write_new
    from slaverify.contract.load import load_contract

    loaded = load_contract(file)
    if loaded.model.contract.status == "draft":
        say(t("borrador: el digest cambia al congelar", "draft: the digest changes at the freeze"))
    if canonical is not None:
        write_new(canonical, jcs(loaded.tree))
    out(loaded.digest)
    return 0


contract_new.register(group)
contract_explain.register(group)
contract_plan.register(group)
contract_diff.register(group)
contract_sign.register(group)
contract_clause.register(group)
contract_schema.register(group)
contract_plugin.register(group)


def _check(path: Path, old: LoadedContract | None, group_size: int, curves: bool | None) -> tuple[int, JsonObject]:
    """Check one file; `curves` null prints nothing. Raises: SlaverifyError for a file that cannot be read at all."""
    from slaverify.cli.commands.contract_sign import Standing, signature_lines, standing_of
    from slaverify.cli.wiring import now
    from slaverify.contract.load import load_draft
    from slaverify.readiness import Advice, Level, amendment, examine

    draft = load_draft(path)
    code = 2 if draft.problems or draft.owed else 0
    for problem in draft.problems:
        code = max(code, fail(problem))
    seen: Readiness | None = None
    standing: Standing | None = None
    document: dict[str, object] = {"file": str(path), "problems": _problems(draft.problems), "owed": _owed(draft)}
    if draft.loaded is not None:
        seen = _without_owed(examine(draft.loaded, now(), group_size), draft)
        more = () if old is None else tuple(amendment(old.tree, draft.loaded.tree))
        advice = (*seen.advice, *(Advice(Level.WARNING, one, draft.loaded.place(one.path)) for one in more))
        code = max(code, 2 if seen.refused else 0)
        standing = None if draft.owed else standing_of(path, draft.loaded)
        code = max(code, 0 if standing is None else standing.exit_code)
        document |= _summary(draft.loaded, seen, whole=not draft.owed)
        if standing is not None:
            document["signatures"] = standing.to_json()
        if curves is not None:
            _print(path, draft, seen, curves, bad_signature=standing is not None and bool(standing.faulty))
            for line in signature_lines(standing):
                out(line)
        for entry in advice:
            _say_finding(entry)
    if curves is not None:
        for line in _owed_lines(draft):
            out(line)
    return code, document  # type: ignore[return-value]  # a JSON tree, built up key by key


def _without_owed(seen: Readiness, draft: Draft) -> Readiness:
    """Drop the findings that speak of stand-ins, and the outlooks of metrics that are not whole."""
    from dataclasses import replace

    if not draft.owed:
        return seen
    owed = [debt.path for debt in draft.owed]
    broken = {path[1] for path in owed if path[0] == "metrics" and len(path) > 1}
    kept = tuple(
        entry
        for entry in seen.advice
        if not any(
            entry.finding.path[: len(path)] == path or path[: len(entry.finding.path)] == entry.finding.path
            for path in owed
        )
        and not (entry.finding.path[0] == "metrics" and len(entry.finding.path) > 1 and entry.finding.path[1] in broken)
    )
    return replace(seen, advice=kept, metrics=tuple(one for one in seen.metrics if one.index not in broken))


def _print(path: Path, draft: Draft, seen: Readiness, curves: bool, *, bad_signature: bool) -> None:
    from slaverify.cli.commands.contract_table import table

    assert draft.loaded is not None  # noqa: S101 - asked only where it was put together
    identity = draft.loaded.model.contract
    word = t("INCOMPLETO", "INCOMPLETE") if draft.owed else "OK"
    if bad_signature:
        word = t("FIRMA NO VÁLIDA", "BAD SIGNATURE")
    if seen.refused:
        word = t("RECHAZADO", "REFUSED")
    digest_ = "" if draft.owed else f" {draft.loaded.digest}"
    out(f"{word} {path}: {identity.id} v{identity.version} ({identity.status}){digest_}")
    for line in table(seen, curves=curves):
        out(line)


def _say_finding(entry: object) -> None:
    from slaverify.cli.commands.contract_table import finding_lines
    from slaverify.readiness import Advice

    if isinstance(entry, Advice):
        for line in finding_lines(entry):
            say(line)


def _owed_lines(draft: Draft) -> list[str]:
    from slaverify.contract import dotted

    lines: list[str] = []
    for role in dict.fromkeys(debt.role for debt in draft.owed):
        mine = [debt for debt in draft.owed if debt.role == role]
        lines.append(t(f"   pendiente de {role} ({len(mine)}):", f"   owed by {role} ({len(mine)}):"))
        for debt in mine:
            place = draft.place(debt.path, True)
            lines.append(f"     {dotted(debt.path)}  ({place})")
            lines.append(f"       {debt.question.in_language(language())}")
            lines.append(f"       {t('ejemplo', 'example')}: {debt.example}")
    return lines


def _owed(draft: Draft) -> list[JsonObject]:
    from slaverify.contract import dotted

    return [
        {
            "path": dotted(debt.path),
            "role": debt.role,
            "where": draft.place(debt.path, True),
            "question": debt.question.in_language(language()),
            "example": debt.example,
        }
        for debt in draft.owed
    ]


def _summary(loaded: LoadedContract, seen: Readiness, *, whole: bool) -> JsonObject:
    from slaverify.cli.commands.contract_table import readiness_json

    return {
        "id": loaded.model.contract.id,
        "status": loaded.model.contract.status,
        "digest": loaded.digest if whole else None,
        "metrics": [
            {
                "id": metric.id,
                "direction": metric.direction,
                "threshold": str(metric.threshold),
                "severity": metric.severity,
                "n": None if metric.derived is None else metric.derived.n,
                "pass_max_failures": None if metric.derived is None else metric.derived.pass_max_failures,
                "breach_min_failures": None if metric.derived is None else metric.derived.breach_min_failures,
            }
            for metric in loaded.model.metrics
        ],
        "readiness": readiness_json(seen),
    }


def _refusal(path: Path, error: Exception) -> JsonObject:
    from slaverify.errors import ProblemsError, SlaverifyError

    problems = error.problems if isinstance(error, ProblemsError) else (error,)
    return {
        "file": str(path),
        "problems": _problems(tuple(problem for problem in problems if isinstance(problem, SlaverifyError))),
    }


def _problems(problems: object) -> list[JsonObject]:
    from slaverify.errors import SlaverifyError

    found = problems if isinstance(problems, tuple) else ()
    return [
        {"code": problem.code, "where": problem.where, "what": problem.what.in_language(language())}
        for problem in found
        if isinstance(problem, SlaverifyError)
    ]
