"""Engines with tools in the line: the state contract that came with the queries, the loop over it, the path scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from slaverify.audit.opening import delivered, drawn_of, private
from slaverify.audit.session import Session, put
from slaverify.canonical import jsonl, loads_canonical
from slaverify.contract import Contract
from slaverify.custody import Draw, Part
from slaverify.custody.deliver import delivery_path, open_attachments
from slaverify.errors import ContractError, Text
from slaverify.run import RunRules, rules_of
from slaverify.trajectory import StateContract, read_state_contract
from slaverify.trajectory.dialects import dialect_of
from slaverify.trajectory.loop import LoopTerms, TrajectoryConversation, has_tools, loop_terms
from slaverify.trajectory.record import Ground, ScoredPath, path_rules, view_of
from slaverify.trajectory.state_lines import state_lines
from slaverify.verify import in_order, path_scores, path_summary, path_traces

SCORES = "trajectory/scores.jsonl"
TRACES = "trajectory/traces.jsonl"
SUMMARY = "trajectory/summary.json"
STATE = "trajectory/state_contract.jsonl"
"""File of the annex with the state contract, a record a line."""


def run_rules(session: Session, number: int) -> RunRules:
    """Return the rules of a run, with the loop where its engine has tools.

    Raises: ContractError SLV-T005 (another state contract than the agreed one, exit 5), ProblemsError of SLV-T.
    """
    model = session.contract.model
    rules = rules_of(model)
    if not has_tools(model):
        return rules
    drawn = drawn_of(session, number)
    contract = state_contract_of(session, drawn)
    views = {item.id: view_of(item.id, item.content) for item in delivered(session, drawn, Part.QUERY)}
    terms = _terms(model, session.run_folder(number))
    loop = TrajectoryConversation(contract, views, dialect_of(model.endpoint.adapter), terms)
    return replace(rules, conversation=loop)


def ground_of(session: Session, number: int) -> Ground:
    """Return what the questions of a run are scored on."""
    model = session.contract.model
    contract = state_contract_of(session, drawn_of(session, number))
    return Ground(contract, _terms(model, session.run_folder(number)), path_rules(model))


def _terms(contract: Contract, folder: Path) -> LoopTerms:
    # The version is that which prepared the run: a newer one that scores it reads the same traces.
    known = loads_canonical((folder / "environment" / "environment.json").read_bytes())
    return loop_terms(contract, folder.name, str(known["harness_version"]))


def state_contract_of(session: Session, drawn: Draw) -> StateContract:
    """Return the state contract that was delivered with the queries, if it is the agreed one."""
    agreed = session.contract.model.method.trajectory
    digest = "" if agreed is None else agreed.state_contract_digest
    path = delivery_path(session.bank_folder, session.ledger.refresh(), drawn, Part.QUERY)
    attached = open_attachments(path, session.auditor.age_identity, session.bank, drawn, private(session, drawn.run))
    data = attached.get(digest.removeprefix("sha256:"))
    if data is None:
        raise _other_state(digest)
    contract = read_state_contract(data)
    if contract.digest != digest:
        raise _other_state(digest)
    return contract


@dataclass(frozen=True)
class Nonces:
    """First lines of the two files that only the parties, or the annex, hold."""

    traces: str
    state: str


def write_paths(session: Session, number: int, ground: Ground, scored: Sequence[ScoredPath], nonces: Nonces) -> None:
    """Write `trajectory/`, and the state contract among the plain files of the annex."""
    folder = session.run_folder(number)
    rows = in_order(scored)
    put(folder / TRACES, path_traces(nonces.traces, rows))
    put(folder / SUMMARY, path_summary(ground, rows))
    put(folder / SCORES, path_scores(ground, rows))
    plain = private(session, number) / "annex" / STATE
    put(plain, jsonl([{"nonce": nonces.state}, *state_lines(ground.contract)]))


def _other_state(digest: str) -> ContractError:
    return ContractError(
        "SLV-T005",
        Text(
            f"el banco no trae el contrato de estado pactado ({digest[:19]}…)",
            f"the bank does not hold the agreed state contract ({digest[:19]}…)",
        ),
        fix=Text(
            "selle el banco con --attachment, y pacte su digest en method.trajectory.state_contract_digest",
            "seal the bank with --attachment, and agree on its digest in method.trajectory.state_contract_digest",
        ),
        where="method.trajectory.state_contract_digest",
        exit_code=5,
    )
