"""Say a verdict: one `decision.json` drives text, `--json` and exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slaverify.canonical import JsonObject, loads_canonical
from slaverify.cli.language import language, t
from slaverify.cli.output import emit, out
from slaverify.errors import ApplicationError, Text

if TYPE_CHECKING:
    from slaverify.audit.walk import Progressed

STATES = {
    "PASS": Text("CUMPLE", "PASS"),
    "BREACH": Text("NO CUMPLE", "BREACH"),
    "INCONCLUSIVE": Text("NO CONCLUYENTE", "INCONCLUSIVE"),
    "NOT_MEASURED": Text("NO MEDIDO", "NOT MEASURED"),
    "INVALID_RUN": Text("CORRIDA INVÁLIDA", "INVALID RUN"),
}
_EXIT = {"PASS": 0, "BREACH": 1}


def exit_code(state: str) -> int:
    """Return the exit code of a state: 0 PASS, 1 BREACH, 3 for everything else, a word that is unknown too."""
    return _EXIT.get(state, 3)


def state_words(state: str) -> str:
    """Return the word for a state in the reader's language."""
    return STATES.get(state, Text(state, state)).in_language(language())


def decision_of(folder: Path) -> JsonObject:
    """Read the decision of a run folder. Raises: ApplicationError SLV-A021 if there is none yet."""
    path = folder / "decision" / "decision.json"
    try:
        return loads_canonical(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ApplicationError(
            "SLV-A021",
            Text("la corrida no tiene decisión todavía", "the run has no decision yet"),
            fix=Text(f"vea qué falta: slaverify status {folder}", f"see what is missing: slaverify status {folder}"),
            where=str(path),
        ) from error


def exit_of(folder: Path) -> int:
    """Return the exit code of what a run found."""
    decision, comparison = decision_of(folder), comparison_of(folder)
    return exit_code(str(decision["state"])) if comparison is None else change_exit(decision, comparison)


def found_lines(folder: Path) -> list[str]:
    """Return what a run found in words: its verdict, or that of a change check, which is none."""
    decision, comparison = decision_of(folder), comparison_of(folder)
    return decision_lines(decision) if comparison is None else change_lines(decision, comparison)


def show_decision(folder: Path) -> int:
    """Print what a run found and return its exit code."""
    for line in found_lines(folder):
        out(line)
    return exit_of(folder)


def decision_lines(decision: JsonObject) -> list[str]:
    """Return the verdict and one line a metric."""
    lines = [t(f"Veredicto: {state_words(str(decision['state']))}", f"Verdict: {state_words(str(decision['state']))}")]
    metrics = decision.get("metrics")
    found = metrics if isinstance(metrics, list) else []
    return lines + [_metric_line(metric) for metric in found if isinstance(metric, dict)]


def comparison_of(folder: Path) -> JsonObject | None:
    """Return what a change check found; None for a run that measures the contract."""
    path = folder / "statistics" / "comparison.json"
    return loads_canonical(path.read_bytes()) if path.is_file() else None


def change_exit(decision: JsonObject, comparison: JsonObject) -> int:
    """Return the exit code of a change check: 0 accepted, 3 for everything else. It is never a breach."""
    accepted = comparison.get("state") == "accepted" and decision.get("state") != "INVALID_RUN"
    return 0 if accepted else 3


def change_lines(decision: JsonObject, comparison: JsonObject) -> list[str]:
    """Return what a change check found, and one line a metric."""
    if decision.get("state") == "INVALID_RUN":
        head = Text("Comprobación de cambio: corrida inválida", "Change check: invalid run")
    elif comparison.get("state") == "accepted":
        head = Text("Comprobación de cambio: aceptado", "Change check: accepted")
    else:
        head = Text("Comprobación de cambio: no aceptado", "Change check: not accepted")
    metrics = comparison.get("metrics")
    found = [one for one in metrics if isinstance(one, dict)] if isinstance(metrics, list) else []
    lines = [
        t(
            f"  {one['id']}: {one['n']} pares, pierde {one['b']}, gana {one['c']}",
            f"  {one['id']}: {one['n']} pairs, loses {one['b']}, gains {one['c']}",
        )
        for one in found
    ]
    no_verdict = t("No dice si alguna versión cumple el contrato.", "It does not say whether any version complies.")
    return [head.in_language(language()), *lines, no_verdict]


def show_verdict(done: Progressed, as_json: bool) -> int:
    """Print what was issued and return the exit code of the verdict."""
    decision, comparison = decision_of(done.folder), comparison_of(done.folder)
    reports = sorted((done.folder / "report").glob("*.pdf"))
    code = exit_of(done.folder)
    if as_json:
        emit(
            {
                "type": "slaverify/audit/1",
                "run": done.number,
                "folder": str(done.folder),
                "state": decision["state"],
                "exit_code": code,
                "decision": decision,
                **({} if comparison is None else {"comparison": comparison}),
                "reports": [str(path) for path in reports],
            }
        )
        return code
    for line in found_lines(done.folder):
        out(line)
    for path in reports:
        out(t(f"Informe: {path}", f"Report: {path}"))
    out(t(f"Evidencia: {done.folder}", f"Evidence: {done.folder}"))
    return code


def _metric_line(metric: JsonObject) -> str:
    numbers = t(
        f"{metric.get('failures')} fallas de {metric.get('n')}",
        f"{metric.get('failures')} failures of {metric.get('n')}",
    )
    limits = f"Ac {_or_dash(metric.get('pass_max_failures'))}, Re {_or_dash(metric.get('breach_min_failures'))}"
    reason = f" ({metric.get('reason')})" if metric.get("reason") else ""
    return f"  {metric.get('id')}: {state_words(str(metric.get('state')))}{reason} · {numbers} · {limits}"


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)
