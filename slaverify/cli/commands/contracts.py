"""`slaverify contract …`: check, freeze, digest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import language, t
from slaverify.cli.output import emit, fail, out, say

if TYPE_CHECKING:
    from slaverify.canonical import JsonObject
    from slaverify.contract import LoadedContract

group = typer.Typer(
    help=t("El contrato: revisar, congelar, digest.", "The contract: check, freeze, digest."),
    rich_markup_mode=None,
    no_args_is_help=True,
)


@group.command(help=t("Revisa contratos y muestra sus números de decisión.", "Check contracts; show their numbers."))
def check(
    files: list[Path] = typer.Argument(..., help=t("Contratos, YAML o JSON.", "Contracts, YAML or JSON.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Check each file; the exit code is the worst of all."""
    from slaverify.contract.load import load_contract
    from slaverify.errors import SlaverifyError

    worst, documents = 0, []
    for path in files:
        try:
            loaded = load_contract(path)
        except SlaverifyError as error:
            worst = max(worst, fail(error))
            documents.append(_refusal(path, error))
            continue
        documents.append(_summary(path, loaded))
        if not as_json:
            _print_numbers(path, loaded)
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
    from slaverify.contract import freeze as frozen_tree
    from slaverify.contract.load import dump_yaml, load_contract, parse_contract

    loaded = load_contract(file)
    text = dump_yaml(frozen_tree(loaded.model))
    frozen = parse_contract(text.encode(), file.name)
    target = destination or file.with_name(f"{frozen.model.contract.id}.frozen.yaml")
    write_new(target, text.encode())
    say(t(f"congelado en {target}", f"frozen into {target}"))
    out(frozen.digest)
    return 0


@group.command(help=t("Imprime el digest del contrato.", "Print the digest of the contract."))
def digest(file: Path = typer.Argument(..., help=t("Contrato.", "Contract."))) -> int:
    """Print the digest alone."""
    from slaverify.contract.load import load_contract

    loaded = load_contract(file)
    if loaded.model.contract.status == "draft":
        say(t("borrador: el digest cambia al congelar", "draft: the digest changes at the freeze"))
    out(loaded.digest)
    return 0


def _summary(path: Path, loaded: LoadedContract) -> JsonObject:
    return {
        "file": str(path),
        "id": loaded.model.contract.id,
        "status": loaded.model.contract.status,
        "digest": loaded.digest,
        "problems": [],
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
    }


def _refusal(path: Path, error: Exception) -> JsonObject:
    from slaverify.errors import ProblemsError, SlaverifyError

    problems = error.problems if isinstance(error, ProblemsError) else (error,)
    return {
        "file": str(path),
        "problems": [
            {"code": problem.code, "where": problem.where, "what": problem.what.in_language(language())}
            for problem in problems
            if isinstance(problem, SlaverifyError)
        ],
    }


def _print_numbers(path: Path, loaded: LoadedContract) -> None:
    from slaverify.contract.numbers import derived_numbers

    identity = loaded.model.contract
    out(f"OK {path}: {identity.id} v{identity.version} ({identity.status}) {loaded.digest}")
    for metric in loaded.model.metrics:
        numbers = metric.derived or derived_numbers(loaded.model, metric)
        sign = ">=" if metric.direction == "at_least" else "<="
        passes = "-" if numbers.pass_max_failures is None else f"<= {numbers.pass_max_failures}"
        breaches = "-" if numbers.breach_min_failures is None else f">= {numbers.breach_min_failures}"
        out(
            f"   {metric.id} {sign} {metric.threshold}  n {numbers.n}  "
            + t(
                f"CUMPLE con fallas {passes}, NO CUMPLE con {breaches}", f"PASS at failures {passes}, BREACH {breaches}"
            )
            + ("" if metric.severity == "binding" else t("  (informada)", "  (reported)"))
        )
