"""V19 for a PDF alone: the states follow from the counts of report.json by the rules of the contract given.

Integers alone: no scipy is loaded. A metric whose rule has no integers (clusters, weights, means, a judge) keeps the
state that the report declares, and the check says so. So does one that events of the run decided, which counts do
not hold; but PASS always has to follow from counts.

Source: docs/spec/verification.md (V19), docs/spec/decision.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import Contract, Metric, derived_numbers, has_integers, metric_n
from slaverify.decision import Reason, RunValidity, State, decide, states
from slaverify.errors import Text
from slaverify.verify.checks import PASSED, Part, failed, noted
from slaverify.verify.trees import count, count_or_none, objects, text, text_or_none

_COUNTS = ("failures", "failures_vendor", "unresolved", "open")
_ATTESTED = frozenset(
    (
        Reason.RUN_INVALID,
        Reason.JUDGE_DRIFT,
        Reason.MANIPULATION_CONFIRMED,
        Reason.BINDING_PATTERN,
        Reason.LEAK_SIGNAL,
        Reason.DISPUTE_SENSITIVE,
        Reason.ENGINE_MISMATCH,
    )
)
"""Reasons that rest on more than counts."""


def recount_parts(contract: Contract, decision: JsonObject, *, amended: bool = False) -> list[Part]:
    """Return the parts of V19 over the `decision` of report.json. Raises: MalformedError.

    `amended`: items whose dispute was upheld may have left the count, so that n may be smaller than the sample.
    """
    rows = {text(row, "id"): row for row in objects(decision, "metrics")}
    if list(rows) != [metric.id for metric in contract.metrics]:
        return [failed(Text("las cláusulas no son las del contrato", "the clauses are not the contract's"))]
    open_ids = [metric.id for metric in contract.metrics if not _counted(contract, metric, rows[metric.id])]
    parts = [part for metric in contract.metrics for part in _terms(contract, metric, rows[metric.id], amended)]
    parts += _states(contract, rows, open_ids)
    parts += _whole(contract, decision, rows)
    if open_ids:
        ids = ", ".join(open_ids)
        es = f"sin el paquete no se recalcula el estado de: {ids}"
        parts.append(noted(Text(es, f"without the bundle these states are not computed again: {ids}")))
    return parts or [PASSED]


def _counted(contract: Contract, metric: Metric, row: JsonObject) -> bool:
    return has_integers(contract, metric) and text_or_none(row, "reason") not in _ATTESTED


def _terms(contract: Contract, metric: Metric, row: JsonObject, amended: bool) -> Iterator[Part]:
    binding = metric.severity == "binding"
    if row.get("binding") is not binding or row.get("rule") != metric.decision.rule:
        yield failed(Text(f"{metric.id}: otra regla que la del contrato", f"{metric.id}: not the contract's rule"))
    if text(row, "state") == State.PASS and text_or_none(row, "reason") is not None:
        yield failed(Text(f"{metric.id}: CUMPLE con un motivo", f"{metric.id}: PASS with a reason"))
    if text_or_none(row, "reason") == Reason.ENGINE_MISMATCH and not _mismatch_breaches(contract, row):
        yield failed(
            Text(f"{metric.id}: el contrato no da esa consecuencia", f"{metric.id}: not the contract's consequence"),
            expected=f"on_mismatch {contract.engine.on_mismatch}",
            found=text(row, "state"),
        )
    if not _counted(contract, metric, row):
        return
    n, planned = count(row, "n"), metric_n(contract, metric)
    if n != planned and not _may_differ(contract) and not (amended and n < planned):
        yield failed(
            Text(f"{metric.id}: n no es la del contrato", f"{metric.id}: n is not the contract's"),
            expected=f"n {planned}",
            found=f"n {n}",
        )
    elif n == planned:
        due = derived_numbers(contract, metric)
        stated = (count_or_none(row, "pass_max_failures"), count_or_none(row, "breach_min_failures"))
        if stated != (due.pass_max_failures, due.breach_min_failures):
            yield failed(
                Text(f"{metric.id}: otros números de aceptación", f"{metric.id}: other acceptance numbers"),
                expected=f"{due.pass_max_failures}/{due.breach_min_failures}",
                found=f"{stated[0]}/{stated[1]}",
            )


def _mismatch_breaches(contract: Contract, row: JsonObject) -> bool:
    return contract.engine.on_mismatch == "breach" and text(row, "state") == State.BREACH


def _may_differ(contract: Contract) -> bool:
    """Say whether the contract lets n depart from the sample: a second stage, or exchanges that may be excluded."""
    calls = contract.failed_calls
    countings = (calls.auditor_failure, calls.unresolved, calls.not_sent)
    staged = not isinstance(contract.verdict.inconclusive, str)
    return staged or any(not isinstance(one.counts_as, str) for one in countings)


def _states(contract: Contract, rows: Mapping[str, JsonObject], open_ids: list[str]) -> Iterator[Part]:
    entries: list[JsonValue] = [_inputs(row) for name, row in rows.items() if name not in open_ids]
    found = objects(states(contract, {"metrics": entries}, RunValidity(valid=True)), "metrics")
    for derived in found:
        name, state = text(derived, "id"), text(derived, "state")
        declared = text(rows[name], "state")
        if name in open_ids:
            continue
        # The family's correction needs every p: with one of them unknown, a breach of another cannot be denied.
        unsure = bool(open_ids) and declared == State.BREACH and state == State.INCONCLUSIVE
        if declared != state and not unsure:
            yield failed(
                Text(
                    f"{name}: el estado no es el que dan sus conteos",
                    f"{name}: the state is not the one that its counts give",
                ),
                expected=state,
                found=declared,
            )


def _inputs(row: JsonObject) -> JsonObject:
    counts = {key: count(row, key) for key in _COUNTS}
    n = count(row, "n")
    return {"id": text(row, "id"), "n": n, "calls": 1, "missing": 0, "x": n - sum(counts.values()), **counts}


def _whole(contract: Contract, decision: JsonObject, rows: Mapping[str, JsonObject]) -> Iterator[Part]:
    declared = text(decision, "state")
    if declared == State.INVALID_RUN:
        yield noted(Text("la corrida se declara inválida", "the run is declared invalid"))
        return
    stated: JsonObject = {"metrics": list(rows.values())}
    mismatch = declared == State.BREACH and contract.engine.on_mismatch == "breach"
    state = text(decide(contract, stated, RunValidity(valid=True)), "state")
    if state != declared and not mismatch:
        yield failed(
            Text("el veredicto no es el que dan sus cláusulas", "the verdict is not the one that its clauses give"),
            expected=state,
            found=declared,
        )
