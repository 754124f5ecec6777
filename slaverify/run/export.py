"""Writes the evidence of a run from its journal: plan, outcomes, exchanges. Nothing is deleted from a journal.

Source: docs/spec/run.md, section "Files".
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from slaverify.canonical import jcs
from slaverify.contract.words import Outcome
from slaverify.custody import Frontier, leaf_hash
from slaverify.engine import EndpointSpec
from slaverify.run.attribution import count_outcomes
from slaverify.run.derive import DerivedExchange, DerivedRun, complete_run, ended_exchange
from slaverify.run.faults import journal_error
from slaverify.run.journal import Journal
from slaverify.run.plan import Plan, PlannedExchange, plan_chunks
from slaverify.run.records import (
    EXCHANGES,
    OUTCOMES,
    PLAN,
    AttemptRecord,
    Cut,
    exchange_line,
    keyed,
)
from slaverify.run.rules import RunRules
from slaverify.run.sender import ending_now, exchange_lines
from slaverify.run.signals import signals_of
from slaverify.run.stages import reached
from slaverify.run.stored import StoredAttempt, Stretches

MAX_BODY = 262_144
"""Longest response that stands whole in the bundle, bytes."""
MAX_LINES = 384 * 1024 * 1024
"""Cap of `run/exchanges.jsonl`, bytes; beyond it the longest responses are cut."""
_LINE_OVERHEAD = 1024


def export_run(journal: Journal, spec: EndpointSpec, rules: RunRules, plan: Plan | None, folder: Path) -> None:
    """Write `run/plan.json`, `run/outcomes.jsonl` and `run/exchanges.jsonl` under `folder`, each whole or not at all.

    `plan` may be None: the journal's own rows are the plan, and its digest says so.
    Raises: EndpointError SLV-N030 if a stored outcome or batch root does not follow from the stored bytes.
    """
    cuts = _cuts(journal)
    held = Stretches(journal.batches())
    trees: dict[int, Frontier] = {}
    counted: Counter[Outcome] = Counter()
    with ExitStack() as stack:
        outcomes = stack.enter_context(_replacing(folder / OUTCOMES))
        exchanges = stack.enter_context(_replacing(folder / EXCHANGES))
        _write_plan(journal, plan, stack.enter_context(_replacing(folder / PLAN)))
        exchanges.write(jcs({"nonce": journal.nonce(EXCHANGES)}) + b"\n")
        for group in _grouped(journal):
            number = held.number_of(group[0].position)
            for line in _outcome_lines(journal, spec, rules, group, number, counted):
                if number is not None:
                    trees.setdefault(number, Frontier()).append(leaf_hash(line))
                outcomes.write(line + b"\n")
            for stored in group:
                cut = (stored.exchange_id, stored.record.key.turn, stored.record.key.attempt) in cuts
                kept = _cut(stored.record, journal.mac_key) if cut else stored.record
                exchanges.write(jcs(exchange_line(kept)) + b"\n")
        _check_batches(journal, trees)
        planned = journal.summary().planned
        counted[Outcome.NOT_SENT] += planned - counted.total()
        count_outcomes(counted.elements(), planned)


def journal_run(journal: Journal, spec: EndpointSpec, rules: RunRules, plan: Plan) -> DerivedRun:
    """Return the run as `derive_outcomes` would, from the journal: every body whole, also those cut in the files."""
    found: dict[tuple[str, int, str], DerivedExchange] = {}
    planned = {(one.item_id, one.repetition, one.side): one for one in plan.exchanges}
    kept: list[AttemptRecord] = []
    for one, record in _ended(journal, spec, rules):
        call = (one.planned.item_id, one.planned.repetition, one.planned.side)
        found[call] = replace(one, planned=planned[call])
        kept.append(record)
    whole = complete_run(plan, found)
    return DerivedRun(whole.exchanges, whole.counts, signals_of(reached(plan, found), kept, found))


def _write_plan(journal: Journal, plan: Plan | None, file: BinaryIO) -> None:
    digest = sha256()
    for chunk in plan_chunks(journal.header.run_id, journal.planned() if plan is None else plan.exchanges):
        digest.update(chunk)
        file.write(chunk)
    if digest.hexdigest() != journal.header.plan_sha256:
        raise journal_error("es de otro plan", "it is of another plan", str(journal.path))


def stream_run(journal: Journal, spec: EndpointSpec, rules: RunRules) -> Iterator[DerivedExchange]:
    """Stream the exchanges that were sent, in the order of the files: memory does not grow with the run."""
    return (one for one, _ in _ended(journal, spec, rules))


def _ended(journal: Journal, spec: EndpointSpec, rules: RunRules) -> Iterator[tuple[DerivedExchange, AttemptRecord]]:
    mac_key = journal.mac_key
    for group in _grouped(journal):
        records = [stored.record for stored in group]
        done = ending_now(spec, rules, records)
        if done is None:
            continue
        key = records[0].key
        planned = PlannedExchange(group[0].position, key.item_id, key.repetition, key.side)
        yield ended_exchange(planned, records, done, mac_key), records[-1]


def _grouped(journal: Journal) -> Iterator[list[StoredAttempt]]:
    for _, group in groupby(journal.records(), key=lambda stored: stored.exchange_id):
        yield list(group)


def _outcome_lines(
    journal: Journal,
    spec: EndpointSpec,
    rules: RunRules,
    group: list[StoredAttempt],
    number: int | None,
    counted: Counter[Outcome],
) -> list[bytes]:
    records = [stored.record for stored in group]
    done = ending_now(spec, rules, records)
    said = group[-1].outcome
    if done is None or (said is not None and said is not done.ending.outcome):
        item = records[-1].key.item_id
        raise journal_error(f"{item}: el resultado no sale de los bytes", f"{item}: the outcome does not follow", item)
    counted[done.ending.outcome] += 1
    return [jcs(line) for line in exchange_lines(records, done, number, journal.mac_key)]


def _check_batches(journal: Journal, trees: Mapping[int, Frontier]) -> None:
    for batch in journal.batches():
        tree = trees.get(batch.number)
        if tree is None or tree.root().hex() != batch.root:
            raise journal_error(
                f"el lote {batch.number} no da su raíz",
                f"batch {batch.number} does not give its root",
                str(journal.path),
            )


_SIZES = (
    " FROM attempt JOIN body AS request ON request.digest = request_digest"
    " LEFT JOIN body AS response ON response.digest = body_digest"
)


def _cuts(journal: Journal) -> frozenset[tuple[str, int, int]]:
    """Return the attempts (exchange id, turn, number) whose response does not stand whole in the bundle."""
    ask = journal.connection.execute
    over = f"SELECT exchange_id, turn, number{_SIZES} WHERE length(response.bytes) > ?"
    cuts = set(ask(over, (MAX_BODY,)).fetchall())
    whole = f"SELECT COUNT(*), TOTAL(length(request.bytes)), TOTAL(min(length(response.bytes), {MAX_BODY})){_SIZES}"
    count, sent, received = ask(whole).fetchone()
    total = count * _LINE_OVERHEAD + (sent + received) * 4 / 3
    if total > MAX_LINES:
        longest = (
            f"SELECT exchange_id, turn, number, length(response.bytes){_SIZES} WHERE length(response.bytes) <= ?"
            " ORDER BY 4 DESC, 1, 2, 3"
        )
        for exchange_id, turn, number, size in ask(longest, (MAX_BODY,)):
            if total <= MAX_LINES:
                break
            cuts.add((exchange_id, turn, number))
            total -= size * 4 / 3
    return frozenset(cuts)


def _cut(record: AttemptRecord, key: bytes) -> AttemptRecord:
    body = record.response or b""
    return replace(record, response=None, cut=Cut(len(body), keyed(key, body) or ""))


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes its name only when it is whole and on disk."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
