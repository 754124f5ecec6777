"""Score the answers of a run against the references that were delivered after it, and commit the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slaverify.audit.opening import (
    deliver_part,
    delivered,
    drawn_of,
    journal_path,
    open_blind_entries,
    plan_of,
    private,
)
from slaverify.audit.session import Session, put
from slaverify.audit.trajectories import STATE, Nonces, ground_of, run_rules, write_paths
from slaverify.audit.trajectories import TRACES as PATH_TRACES
from slaverify.canonical import JsonObject, JsonValue, jsonl, loads_object, sha256_hex
from slaverify.custody import Part
from slaverify.custody.append import record_scored
from slaverify.custody.deliver import DeliveredItem
from slaverify.decision import leaves_doubt
from slaverify.engine import compile_endpoint
from slaverify.evalset import Item, join
from slaverify.evidence import ARM_SCORES, Beside
from slaverify.evidence.receipt import SALTS, salt_line
from slaverify.judging import GivenAnswer
from slaverify.run import SIGNALS, DerivedExchange, patterns_of
from slaverify.run.journal import Journal
from slaverify.run.rows import JournalRows, Slice
from slaverify.run.runner import PlannedRun, journal_run, over_slices
from slaverify.scoring import Scored, ScoreRecord, Settings, score, settings_for
from slaverify.trajectory.loop import has_tools
from slaverify.trajectory.record import Ground, ScoredPath, score_line
from slaverify.verify import AnnexItem, Patterns, annex_index, cluster_names, finished, path_of

INDEX = "index.jsonl"
SCORES = "scoring/scores.jsonl"
TRACES = "scoring/traces.jsonl"
RULES = "scoring/rules.jsonl"
"""File of the annex with the full results of the rules: they name references."""
ANNEX_FOLDER = "annex"
"""Folder of `private/` with the files that the sealed annex will hold."""
_ANSWER_ONLY = ("rule", "status", "reason", "extracted", "canonical_answer", "spans", "flags", "part")


@dataclass(frozen=True)
class _Opened:
    """One drawn item, both parts as they were delivered."""

    item: Item
    query: DeliveredItem
    reference: DeliveredItem


def deliver_references(session: Session, number: int) -> None:
    """Deliver the references of the drawn items, now that the run has ended."""
    deliver_part(session, drawn_of(session, number), Part.REFERENCE)


def score_run(session: Session, number: int) -> None:
    """Score every planned exchange and write `scoring/`, and the plain files of the annex under `private/`."""
    folder = session.run_folder(number)
    opened = open_items(session, number)
    with Journal.open(journal_path(folder)) as journal:
        names = (TRACES, INDEX, RULES, SALTS, PATH_TRACES, STATE)
        nonces = {path: journal.nonce(path) for path in names}
    ground = _ground(session, number)
    beside = _beside(session, number)
    if ground is None:
        asked, lines = _score_slices(session, number, opened, beside)
    else:
        scored = _score_all(session, number, opened, ground, _patterns(session, number))
        asked = {one.record.item_id for one in scored}
        lines = [_lines(scored, beside, opened)]
        paths = [one.path for one in _sample(scored, beside) if one.path is not None]
    annex = private(session, number) / ANNEX_FOLDER
    items = [_annex_item(one) for name, one in opened.items() if name in asked]
    put(annex / INDEX, annex_index(nonces[INDEX], items))
    put(annex / SALTS, jsonl([{"nonce": nonces[SALTS]}, salt_line(nonces[SALTS])]))
    put(annex / RULES, b"".join((jsonl([{"nonce": nonces[RULES]}]), *(rules for _, _, rules, _ in lines))))
    put(folder / TRACES, b"".join((jsonl([{"nonce": nonces[TRACES]}]), *(traces for _, traces, _, _ in lines))))
    if ground is not None:
        write_paths(session, number, ground, paths, Nonces(nonces[PATH_TRACES], nonces[STATE]))
    if beside.ids or session.contract.model.repetitions.dispersion_sample is not None:
        put(folder / ARM_SCORES, b"".join(arms for _, _, _, arms in lines))
    # Last: its presence says that the step is done.
    put(folder / SCORES, b"".join(scores for scores, _, _, _ in lines))


def given_answers(session: Session, number: int) -> list[GivenAnswer]:
    """Return every answer of a run's sample as code left it, scored again: what a judge is asked about, in order."""
    opened = open_items(session, number)
    rows = _score_all(session, number, opened, _ground(session, number), _patterns(session, number))
    return [
        GivenAnswer(
            record=one.record,
            item=opened[one.record.item_id].item,
            raw_text=None if one.exchange.answer is None else one.exchange.answer.text,
            clean_text=one.scored.clean_text,
            cited=() if one.scored.citations is None else one.scored.citations.existing,
        )
        for one in _sample(rows, _beside(session, number))
    ]


@dataclass(frozen=True)
class _Row:
    """One exchange as code left it; `path` where its engine has tools."""

    record: ScoreRecord
    scored: Scored
    exchange: DerivedExchange
    path: ScoredPath | None


def _ground(session: Session, number: int) -> Ground | None:
    return ground_of(session, number) if has_tools(session.contract.model) else None


def _patterns(session: Session, number: int) -> Patterns:
    """Return the patterns that the run as a whole shows; its files are written when it ends."""
    folder = session.run_folder(number)
    return patterns_of(loads_object((folder / SIGNALS).read_bytes()), plan_of(folder))


def _score_all(
    session: Session, number: int, opened: dict[str, _Opened], ground: Ground | None, patterns: Patterns
) -> list[_Row]:
    folder, model = session.run_folder(number), session.contract.model
    with Journal.open(journal_path(folder)) as journal:
        run = journal_run(journal, compile_endpoint(model), run_rules(session, number), plan_of(folder))
    scorer = _Scorer.of(session, opened, {one.planned.item_id for one in run.exchanges}, ground, patterns)
    rows = [scorer.row(exchange) for exchange in run.exchanges]
    return sorted(rows, key=lambda one: (one.record.item_id, one.record.repetition, one.record.side))


def _score_slices(
    session: Session, number: int, opened: dict[str, _Opened], beside: Beside
) -> tuple[set[str], list[Sequence[bytes]]]:
    """Return the items of the run, and slice by slice the lines of what `_score_all` gives, made on every core."""
    folder, model = session.run_folder(number), session.contract.model
    with Journal.open(journal_path(folder)) as journal:
        run = PlannedRun.of(journal, compile_endpoint(model), run_rules(session, number), plan_of(folder))
        asked = set(run.planned)
        scorer = _Scorer.of(session, opened, asked, None, _patterns(session, number))

        def work(rows: JournalRows, part: Slice) -> Sequence[bytes]:
            # All are derived before the first is scored: the two by turns drive each other out of the caches.
            exchanges = list(run.of_slice(rows, part))
            return _lines([scorer.row(exchange) for exchange in exchanges], beside, opened)

        return asked, list(over_slices(journal, work))


@dataclass(frozen=True)
class _Scorer:
    """What it takes to score one exchange."""

    opened: dict[str, _Opened]
    clusters: Mapping[str, str | None]
    settings: Mapping[str, Settings]
    ground: Ground | None
    patterns: Patterns

    @classmethod
    def of(
        cls, session: Session, opened: dict[str, _Opened], asked: set[str], ground: Ground | None, patterns: Patterns
    ) -> _Scorer:
        strata = {one.item.stratum for one in opened.values()} if ground is None else set()
        settings = {one: settings_for(session.contract.model, one, session.catalogue) for one in strata}
        clusters = cluster_names(one.item for name, one in opened.items() if name in asked)
        return cls(opened, clusters, settings, ground, patterns)

    def row(self, exchange: DerivedExchange) -> _Row:
        item = self.opened[exchange.planned.item_id].item
        path = None if self.ground is None else path_of(item, exchange, self.ground)
        if path is not None:
            scored = Scored(path.record, (), None)
        else:
            scored = score(item, exchange.answer, exchange.outcome, self.settings[item.stratum])
        return _Row(finished(scored.record, exchange, self.clusters[item.id], self.patterns), scored, exchange, path)


def _lines(rows: Sequence[_Row], beside: Beside, opened: dict[str, _Opened]) -> tuple[bytes, bytes, bytes, bytes]:
    """Return the lines of the sample's scores, traces and rules of the annex, and of the scores of the arms."""
    sample = _sample(rows, beside)
    return (
        jsonl(one.record.to_json() for one in sample),
        jsonl(_trace(one.record, one.scored) for one in sample),
        jsonl(_rules(one.record, one.scored) for one in sample),
        jsonl(_arm_line(one, beside, opened) for one in rows if _is_beside(one, beside)),
    )


def _beside(session: Session, number: int) -> Beside:
    return Beside.of(drawn_of(session, number).beside, session.contract)


def _is_beside(row: _Row, beside: Beside) -> bool:
    return beside.holds(row.record.item_id, row.record.repetition)


def _sample(rows: Sequence[_Row], beside: Beside) -> list[_Row]:
    return [row for row in rows if not _is_beside(row, beside)]


def _arm_line(row: _Row, beside: Beside, opened: dict[str, _Opened]) -> JsonObject:
    name = row.record.item_id
    return {"arm": beside.word(name, honeytoken=opened[name].item.honeytoken), "record": row.record.to_json()}


def commit_scores(session: Session, number: int) -> None:
    """Record the digest of the scores in the ledger, under a timestamped checkpoint, before any result is shown."""
    folder = session.run_folder(number)
    data, beside = (folder / SCORES).read_bytes(), folder / ARM_SCORES
    arms = sha256_hex(beside.read_bytes()) if beside.is_file() else None
    open_blind_entries(session)
    digest = sha256_hex(data)
    scored = record_scored(session.ledger, session.auditor, session.contract.digest, number, digest, arms)
    session.checkpoint(scored.seq, stamp=True)


def second_stage_due(session: Session, number: int) -> bool:
    """Score what was answered so far, and say whether it leaves the doubt that a second stage is agreed for."""
    opened = open_items(session, number)
    # Patterns are of the whole run, which is not over: they leave no doubt that more questions would settle.
    rows = _score_all(session, number, opened, _ground(session, number), {})
    sample = _sample(rows, _beside(session, number))
    return leaves_doubt(session.contract.model, [row.record.to_json() for row in sample])


def annex_files(folder: Path) -> dict[str, bytes]:
    """Return the plain files of a run's annex, by path inside it; empty where the run was not scored."""
    plain = folder / "private" / ANNEX_FOLDER
    return {path.relative_to(plain).as_posix(): path.read_bytes() for path in sorted(plain.rglob("*.jsonl"))}


def explain(session: Session, number: int, item_id: str) -> list[JsonObject]:
    """Return, for one item, the answer as it was read and the full result of each rule. It names the reference."""
    opened = open_items(session, number)
    folder, model = session.run_folder(number), session.contract.model
    with Journal.open(journal_path(folder)) as journal:
        run = journal_run(journal, compile_endpoint(model), run_rules(session, number), plan_of(folder))
    ground = _ground(session, number)
    found: list[JsonObject] = []
    for exchange in run.exchanges:
        if exchange.planned.item_id == item_id:
            item = opened[item_id].item
            if ground is not None:
                path = path_of(item, exchange, ground)
                found.append({**score_line(path, 0), "trace": list(path.trace)})
                continue
            scored = score(
                item, exchange.answer, exchange.outcome, settings_for(model, item.stratum, session.catalogue)
            )
            found.append(_explained(exchange, scored))
    return found


def open_items(session: Session, number: int) -> dict[str, _Opened]:
    """Return the drawn items of a run, of its second stage and of its arms, both parts as delivered, by id."""
    drawn = drawn_of(session, number)
    wanted = {*drawn.selection.ids, *drawn.selection.extension_ids, *drawn.beside.ids}
    queries = {item.id: item for item in delivered(session, drawn, Part.QUERY)}
    found: dict[str, _Opened] = {}
    for reference in delivered(session, drawn, Part.REFERENCE):
        query = queries[reference.id]
        if reference.id in wanted:
            item = join(
                query.content, reference.content, reference.id, reference.stratum, reference.twin_of, where=reference.id
            )
            found[reference.id] = _Opened(item, query, reference)
    return found


def _annex_item(one: _Opened) -> AnnexItem:
    from slaverify.canonical import jcs

    return AnnexItem(
        id=one.item.id,
        query=jcs(one.query.content),
        query_salt=bytes.fromhex(one.query.salt),
        reference=jcs(one.reference.content),
        reference_salt=bytes.fromhex(one.reference.salt),
    )


def _key(record: ScoreRecord) -> dict[str, JsonValue]:
    return {"item_id": record.item_id, "repetition": record.repetition, "side": record.side}


def _rules(record: ScoreRecord, scored: Scored) -> JsonObject:
    return {**_key(record), "rules": [trace.to_json() for trace in scored.traces], **_cited(scored, expected=True)}


def _trace(record: ScoreRecord, scored: Scored) -> JsonObject:
    # Of each rule only what speaks of the answer: references stand in the sealed annex alone.
    seen = [{key: trace.to_json()[key] for key in _ANSWER_ONLY} for trace in scored.traces]
    return {**_key(record), "answer": scored.clean_text, "rules": seen, **_cited(scored, expected=False)}


def _cited(scored: Scored, *, expected: bool) -> JsonObject:
    found = scored.citations
    if found is None:
        return {}
    return {"citations": [row.to_json(found.expected if expected else None) for row in found.rows]}


def _explained(exchange: DerivedExchange, scored: Scored) -> JsonObject:
    return {
        "repetition": exchange.planned.repetition,
        "outcome": exchange.outcome.value,
        "raw": None if exchange.answer is None else exchange.answer.text,
        "clean": scored.clean_text,
        "verdict": None if scored.record.verdict is None else scored.record.verdict.value,
        "rules": [trace.to_json() for trace in scored.traces],
        **_cited(scored, expected=True),
    }
