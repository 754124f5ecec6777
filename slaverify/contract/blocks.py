"""Validate a tree block by block, so that one faulty block does not hide the problems of the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.findings import Finding, Path
from slaverify.contract.model.bank import EvaluationSet, Method, Repetitions
from slaverify.contract.model.engine import Endpoint, Engine
from slaverify.contract.model.identity import Identity, Parties, Scope
from slaverify.contract.model.judge import Judge
from slaverify.contract.model.metrics import FailedCalls, Metric, VerdictRules
from slaverify.contract.model.report import Ledger, Report
from slaverify.contract.model.root import Contract
from slaverify.contract.model.terms import Confidentiality, Disputes, Remedies, Schedule
from slaverify.contract.problems import field_findings
from slaverify.contract.shape import field_at

B = TypeVar("B", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks that are valid by themselves; None where one is not (or is absent). Metrics keep their index."""

    contract: Identity | None
    parties: Parties | None
    scope: Scope | None
    engine: Engine | None
    endpoint: Endpoint | None
    evaluation_set: EvaluationSet | None
    method: Method | None
    repetitions: Repetitions | None
    judge: Judge | None
    metrics: tuple[Metric | None, ...]
    failed_calls: FailedCalls | None
    verdict: VerdictRules | None
    schedule: Schedule | None
    remedies: Remedies | None
    disputes: Disputes | None
    confidentiality: Confidentiality | None
    report: Report | None
    ledger: Ledger | None
    judged: bool
    """Whether the file has a judge, valid or not."""

    @property
    def purpose(self) -> str:
        """Return what the contract is for (`audit` where its block is faulty)."""
        return "audit" if self.contract is None else self.contract.purpose


def validated(tree: JsonObject) -> tuple[Contract | None, list[Finding]]:
    """Return the model of the whole tree, or None and every fault of a field."""
    try:
        return Contract.model_validate_json(json.dumps(tree)), []
    except ValidationError as error:
        return None, field_findings(error, tree)


def blocks_of(tree: JsonObject) -> Blocks:
    """Return the blocks of a tree that are valid by themselves."""
    metrics = tree.get("metrics")
    return Blocks(
        contract=_block(Identity, tree, "contract"),
        parties=_block(Parties, tree, "parties"),
        scope=_block(Scope, tree, "scope"),
        engine=_block(Engine, tree, "engine"),
        endpoint=_block(Endpoint, tree, "endpoint"),
        evaluation_set=_block(EvaluationSet, tree, "evaluation_set"),
        method=_block(Method, tree, "method"),
        repetitions=_block(Repetitions, tree, "repetitions"),
        judge=_block(Judge, tree, "judge"),
        metrics=tuple(_one(Metric, metric) for metric in metrics) if isinstance(metrics, list) else (),
        failed_calls=_block(FailedCalls, tree, "failed_calls"),
        verdict=_block(VerdictRules, tree, "verdict"),
        schedule=_block(Schedule, tree, "schedule", {}),
        remedies=_block(Remedies, tree, "remedies", {}),
        disputes=_block(Disputes, tree, "disputes", {}),
        confidentiality=_block(Confidentiality, tree, "confidentiality", {}),
        report=_block(Report, tree, "report"),
        ledger=_block(Ledger, tree, "ledger"),
        judged=tree.get("judge") is not None,
    )


def without_faults(tree: JsonObject, faults: Sequence[Finding]) -> JsonObject:
    """Return the tree without its unknown keys and its refused optional values: they hide nothing else then.

    What is missing, or refused where a value is required, stays: its block stays faulty.
    """
    mended: JsonObject = tree
    for fault in faults:
        field = field_at(fault.path)
        optional = field is not None and not field.is_required()
        if fault.path and (fault.code == "SLV-C011" or (optional and fault.code != "SLV-C010")):
            mended = _dropped(mended, fault.path)
    return mended


def under(finding: Finding, paths: list[Path]) -> bool:
    """Return whether the finding lies at or below one of the paths."""
    return any(finding.path[: len(path)] == path for path in paths)


def _dropped(node: JsonObject, path: Path) -> JsonObject:
    key, rest = str(path[0]), path[1:]
    if key not in node:
        return node
    if not rest:
        return {name: value for name, value in node.items() if name != key}
    return {**node, key: _dropped_inside(node[key], rest)}


def _dropped_inside(node: JsonValue, path: Path) -> JsonValue:
    if isinstance(node, dict):
        return _dropped(node, path)
    index = path[0]
    if isinstance(node, list) and isinstance(index, int) and index < len(node) and len(path) > 1:
        return [*node[:index], _dropped_inside(node[index], path[1:]), *node[index + 1 :]]
    return node


def _block(kind: type[B], tree: JsonObject, name: str, absent: JsonValue = None) -> B | None:
    return _one(kind, tree.get(name, absent))


def _one(kind: type[B], value: JsonValue) -> B | None:
    try:
        return kind.model_validate_json(json.dumps(value))
    except ValidationError:
        return None
