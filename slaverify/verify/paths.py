"""V19 for engines with tools: from recorded bytes to turns, traces, path scores and their summary, again.

1. edition of the parties: each trace is a chain, of this run and question, and ends in the hash that its exchange has;
2. always: the public path scores agree with the score records;
3. with the annex: the turns are walked again over the agreed state contract, every call is replayed, and traces,
   scores and summary follow to the byte.

Source: docs/spec/verification.md (V19), docs/spec/trajectory.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from slaverify.canonical import JsonObject, JsonValue, jcs, jsonl, loads_jsonl
from slaverify.contract import LoadedContract
from slaverify.errors import SlaverifyError, Text
from slaverify.evalset import Item
from slaverify.evidence import Bundle
from slaverify.run import PLAN, DerivedExchange, read_plan
from slaverify.scoring import ScoreRecord
from slaverify.trajectory import balance, read_trace, run_baselines
from slaverify.trajectory.dialects import dialect_of
from slaverify.trajectory.loop import LoopTerms, TrajectoryConversation, loop_terms
from slaverify.trajectory.metrics import summary
from slaverify.trajectory.record import Ground, ScoredPath, binding_of, path_rules, score_item, score_line, view_of
from slaverify.trajectory.state_lines import read_state_lines
from slaverify.verify.checks import Part, failed, refused

PATH_SCORES, PATH_TRACES, PATH_SUMMARY = "trajectory/scores.jsonl", "trajectory/traces.jsonl", "trajectory/summary.json"
STATE = "trajectory/state_contract.jsonl"
"""File of the annex with the state contract."""
_ENVIRONMENT = "environment/environment.json"


def path_of(item: Item, exchange: DerivedExchange, ground: Ground) -> ScoredPath:
    """Return an exchange as scored by its path. Raises: as `score_item`."""
    planned = exchange.planned
    return score_item(item, exchange.answer, exchange.outcome, ground, planned.repetition, planned.side)


def path_traces(nonce: JsonValue, scored: Sequence[ScoredPath]) -> bytes:
    """Return the bytes of `trajectory/traces.jsonl`."""
    return jsonl([{"nonce": nonce}, *(line for one in scored for line in _lines(one))])


def path_scores(ground: Ground, scored: Sequence[ScoredPath]) -> bytes:
    """Return the bytes of `trajectory/scores.jsonl`."""
    return jsonl(score_line(one, ground.contract.evaluation.budget.max_calls) for one in scored)


def path_summary(ground: Ground, scored: Sequence[ScoredPath]) -> bytes:
    """Return the bytes of `trajectory/summary.json`, trivial engines on the same questions included."""
    questions = tuple({one.question.question_id: one.question for one in scored}.values())
    return jcs(summary(scored, run_baselines(ground.contract, questions, ground.rules), balance(questions)))


def in_order(scored: Sequence[ScoredPath]) -> list[ScoredPath]:
    """Return path scores in the order of the files."""
    return sorted(scored, key=lambda one: (one.record.item_id, one.record.repetition, one.record.side))


def ground_of_annex(bundle: Bundle, contract: LoadedContract, annex: Mapping[str, bytes]) -> Ground:
    """Return what the questions were scored on, if the annex holds the agreed state contract.

    Raises: ProblemsError of SLV-T, StrictJsonError; EvidenceError where files are missing.
    """
    state = read_state_lines(loads_jsonl(annex.get(STATE, b""))[1:])
    agreed = contract.model.method.trajectory
    if agreed is None or state.digest != agreed.state_contract_digest:
        raise ValueError("state_contract_digest")
    return Ground(state, _terms(bundle, contract), path_rules(contract.model))


def conversation_of_annex(
    ground: Ground, contract: LoadedContract, items: Mapping[str, Item]
) -> TrajectoryConversation:
    """Return the loop that walks the recorded turns again."""
    views = {one.id: view_of(one.id, {"query": one.query}) for one in items.values()}
    return TrajectoryConversation(ground.contract, views, dialect_of(contract.model.endpoint.adapter), ground.terms)


def chain_parts(bundle: Bundle, contract: LoadedContract) -> Iterator[Part]:
    """Yield what is wrong with the chains of the traces (edition of the parties)."""
    if not bundle.has(PATH_TRACES):
        return
    agreed = contract.model.method.trajectory
    digest, terms = "" if agreed is None else agreed.state_contract_digest, _terms(bundle, contract)
    due = {
        (str(line["item_id"]), line["repetition"], line["side"]): line["trace_sha256"]
        for line in bundle.lines("run/outcomes.jsonl")
        if line["outcome"] is not None
    }
    lines = [line for line in bundle.lines(PATH_TRACES) if "nonce" not in line]
    seen = set()
    for key, group in groupby(lines, key=lambda line: (str(line["item_id"]), line["repetition"], line["side"])):
        entries = [entry for line in group if isinstance(entry := line["entry"], dict)]
        item, repetition, side = key
        seen.add(key)
        public_id = str(entries[0].get("public_id")) if entries else ""
        number = repetition if isinstance(repetition, int) else -1
        first = binding_of(digest, public_id, terms, item, number, str(side)).digest()
        try:
            last = read_trace(entries, first).last_hash
        except SlaverifyError as error:
            yield refused(error, f"{PATH_TRACES} {item}")
            continue
        if last != due.get(key):
            yield failed(
                Text(f"{PATH_TRACES} {item}: no es la traza anotada", f"{PATH_TRACES} {item}: not the trace on record"),
                expected=str(due.get(key)),
                found=last,
            )
    lacking = {key for key, trace in due.items() if trace is not None} - seen
    if lacking:
        yield failed(Text(f"faltan {len(lacking)} trazas", f"{len(lacking)} traces are missing"))


def path_parts(bundle: Bundle, records: Sequence[ScoreRecord]) -> Iterator[Part]:
    """Yield where the public path scores and the score records disagree."""
    told = {(line["item_id"], line["repetition"], line["side"]): line for line in bundle.lines(PATH_SCORES)}
    if len(told) != len(records):
        yield failed(
            Text(
                f"{PATH_SCORES}: {len(told)} líneas para {len(records)} puntajes",
                f"{PATH_SCORES}: {len(told)} lines for {len(records)} scores",
            )
        )
        return
    for record in records:
        line = told.get((record.item_id, record.repetition, record.side), {})
        due = (record.state, record.value, record.outcome.value)
        found = (line.get("state"), line.get("s_adj"), line.get("outcome"))
        if due != found:
            yield failed(
                Text(f"{PATH_SCORES} {record.item_id}: no concuerda", f"{PATH_SCORES} {record.item_id} disagrees"),
                expected=str(due),
                found=str(found),
            )


def replayed_paths(bundle: Bundle, ground: Ground, scored: Sequence[ScoredPath]) -> Iterator[Part]:
    """Yield which file of `trajectory/` does not follow from bytes and state contract."""
    rows = in_order(scored)
    nonce: JsonValue = next(iter(bundle.lines(PATH_TRACES)), {}).get("nonce")
    for path, data in (
        (PATH_TRACES, path_traces(nonce, rows)),
        (PATH_SCORES, path_scores(ground, rows)),
        (PATH_SUMMARY, path_summary(ground, rows)),
    ):
        if bundle.read(path) != data:
            yield failed(
                Text(f"{path} no sale de los bytes recibidos", f"{path} does not follow from the recorded bytes")
            )


def _terms(bundle: Bundle, contract: LoadedContract) -> LoopTerms:
    version = str(bundle.json(_ENVIRONMENT).get("harness_version"))
    return loop_terms(contract.model, read_plan(bundle.read(PLAN)).run_id, version)


def _lines(scored: ScoredPath) -> list[JsonObject]:
    record = scored.record
    key: dict[str, JsonValue] = {"item_id": record.item_id, "repetition": record.repetition, "side": record.side}
    return [{**key, "entry": entry} for entry in scored.trace]
