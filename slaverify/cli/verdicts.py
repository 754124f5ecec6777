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
    """Return the exit code of a run's decision."""
    return exit_code(str(decision_of(folder)["state"]))


def show_decision(folder: Path) -> int:
    """Print the decision of a run and return its exit code."""
    decision = decision_of(folder)
    for line in decision_lines(decision):
        out(line)
    return exit_code(str(decision["state"]))


def decision_lines(decision: JsonObject) -> list[str]:
    """Return the verdict and one line a metric."""
    lines = [t(f"Veredicto: {state_words(str(decision['state']))}", f"Verdict: {state_words(str(decision['state']))}")]
    metrics = decision.get("metrics")
    found = metrics if isinstance(metrics, list) else []
    return lines + [_metric_line(metric) for metric in found if isinstance(metric, dict)]


def show_verdict(done: Progressed, as_json: bool) -> int:
    """Print what was issued and return the exit code of the verdict."""
    decision = decision_of(done.folder)
    reports = sorted((done.folder / "report").glob("*.pdf"))
    code = exit_code(str(decision["state"]))
    if as_json:
        emit(
            {
                "type": "slaverify/audit/1",
                "run": done.number,
                "folder": str(done.folder),
                "state": decision["state"],
                "exit_code": code,
                "decision": decision,
                "reports": [str(path) for path in reports],
            }
        )
        return code
    for line in decision_lines(decision):
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
