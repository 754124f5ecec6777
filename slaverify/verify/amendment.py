"""V19, amendments: what the evidence says that changed is its own decision, and the ledger says why it may change.

Source: docs/spec/verification.md (V19), docs/spec/report.md (amended reports).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import LoadedContract
from slaverify.custody import read_ledger, terms_of
from slaverify.errors import Text
from slaverify.evidence import AMENDMENT, AMENDMENT_TYPE, Bundle
from slaverify.verify.checks import Part, failed
from slaverify.verify.trees import count, objects, text

_KEYS = {"type", "number", "report_id", "signed_digest", "reason", "changes"}
_GROUNDS = ("dispute_resolved", "incident", "calibration")


def amendment_parts(bundle: Bundle, contract: LoadedContract, report: JsonObject | None) -> Iterator[Part]:
    """Yield what does not hold of an amendment. Raises: MalformedError and others, which fail the check."""
    if not bundle.has(AMENDMENT):
        if report is not None and report["amends"] is not None:
            yield failed(Text("enmienda sin evidencia", "an amendment without its evidence"), found="report.json")
        return
    tree = bundle.json(AMENDMENT)
    if set(tree) != _KEYS or tree["type"] != AMENDMENT_TYPE or count(tree, "number") < 1:
        yield failed(Text(f"{AMENDMENT}: otra forma", f"{AMENDMENT}: another form"))
        return
    decision = bundle.json("decision/decision.json")
    for change in objects(tree, "changes"):
        field = text(change, "field")
        if _value(decision, field) != change.get("new"):
            yield failed(
                Text(f"{AMENDMENT}: {field} no es lo decidido", f"{AMENDMENT}: {field} is not what was decided"),
                expected=str(_value(decision, field)),
                found=str(change.get("new")),
            )
    yield from _ground(bundle, contract, tree)
    stated = None if report is None else report["amends"]
    due = {key: tree[key] for key in ("report_id", "signed_digest", "reason", "changes")}
    if report is not None and stated != due:
        yield failed(Text("report.json enmienda otra cosa", "report.json amends something else"))


def _ground(bundle: Bundle, contract: LoadedContract, tree: JsonObject) -> Iterator[Part]:
    trust = terms_of(contract.tree, contract.digest).trust
    view = read_ledger(bundle.read("custody/ledger.jsonl"), trust)
    old = view.find("report_issued", contract_digest=contract.digest, signed_digest=text(tree, "signed_digest"))
    if old is None or old.data.get("report_id") != tree["report_id"]:
        yield failed(Text("el libro no conoce el informe enmendado", "the ledger does not know the amended report"))
        return
    if all(text(change, "field") != "state" for change in objects(tree, "changes")):
        return
    run = old.data.get("run")
    later = [entry for kind in _GROUNDS for entry in view.find_all(kind) if entry.seq > old.seq]
    if not any(
        entry.data.get("contract_digest", contract.digest) == contract.digest and entry.data.get("run", run) == run
        for entry in later
    ):
        yield failed(
            Text(
                "SLV-R030: cambia un estado publicado sin que el libro diga por qué",
                "SLV-R030: a published state changes without a ground in the ledger",
            )
        )


def _value(decision: JsonObject, field: str) -> JsonValue:
    if not field.startswith("metrics."):
        return decision.get(field)
    name, _, key = field.removeprefix("metrics.").rpartition(".")
    row: Mapping[str, JsonValue] = next((row for row in objects(decision, "metrics") if row.get("id") == name), {})
    return row.get(key)
