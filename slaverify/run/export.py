"""Writes the evidence of a run from its journal: plan, outcomes, exchanges. Nothing is deleted from a journal.

Source: docs/spec/run.md, section "Files".
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
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
from slaverify.run.plan import Plan, plan_bytes, plan_sha256
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

MAX_BODY = 262_144
"""Longest response that stands whole in the bundle, bytes."""
MAX_LINES = 384 * 1024 * 1024
"""Cap of `run/exchanges.jsonl`, bytes; beyond it the longest responses are cut."""
_LINE_OVERHEAD = 1024


@dataclass(frozen=True, slots=True)
class _Place:
    position: int
    outcome: Outcome | None


def export_run(journal: Journal, spec: EndpointSpec, rules: RunRules, plan: Plan, folder: Path) -> None:
    """Write `run/plan.json`, `run/outcomes.jsonl` and `run/exchanges.jsonl` under `folder`, each whole or not at all.

    Raises: EndpointError SLV-N030 if a stored outcome or batch root does not follow from the stored bytes.
    """
    if plan_sha256(plan) != journal.header.plan_sha256:
        raise journal_error("es de otro plan", "it is of another plan", str(journal.path))
    places = _places(journal)
    cuts = _cuts(journal)
    batch_of = _batch_numbers(journal)
    trees: dict[int, Frontier] = {}
    ended: list[Outcome] = []
    with ExitStack() as stack:
        outcomes = stack.enter_context(_replacing(folder / OUTCOMES))
        exchanges = stack.enter_context(_replacing(folder / EXCHANGES))
        (stack.enter_context(_replacing(folder / PLAN))).write(plan_bytes(plan))
        exchanges.write(jcs({"nonce": journal.nonce(EXCHANGES)}) + b"\n")
        for exchange_id, records in _grouped(journal):
            place = places[exchange_id]
            number = batch_of(place.position)
            for line in _outcome_lines(journal, spec, rules, place, records, number, ended):
                if number is not None:
                    trees.setdefault(number, Frontier()).append(leaf_hash(line))
                outcomes.write(line + b"\n")
            for record in records:
                kept = _cut(record, journal.mac_key) if (exchange_id, record.key.attempt) in cuts else record
                exchanges.write(jcs(exchange_line(kept)) + b"\n")
        _check_batches(journal, trees)
        sent = len(ended)
        ended.extend(Outcome.NOT_SENT for _ in range(len(places) - sent))
        count_outcomes(ended, len(places))


def journal_run(journal: Journal, spec: EndpointSpec, rules: RunRules, plan: Plan) -> DerivedRun:
    """Return the run as `derive_outcomes` would, from the journal: every body whole, also those cut in the files."""
    found: dict[tuple[str, int, str], DerivedExchange] = {}
    planned = {(one.item_id, one.repetition, one.side): one for one in plan.exchanges}
    kept: list[AttemptRecord] = []
    for _, records in _grouped(journal):
        key = records[0].key
        call = (key.item_id, key.repetition, key.side)
        done = ending_now(spec, rules, records)
        if done is None:
            continue
        last = exchange_lines(records, done, None, journal.mac_key)[-1]
        found[call] = ended_exchange(planned[call], records, done, last)
        kept.append(records[-1])
    whole = complete_run(plan, found)
    return DerivedRun(whole.exchanges, whole.counts, signals_of(plan, kept, found))


def _grouped(journal: Journal) -> Iterator[tuple[str, list[AttemptRecord]]]:
    for exchange_id, group in groupby(journal.records(), key=lambda pair: pair[0]):
        yield exchange_id, [record for _, record in group]


def _outcome_lines(
    journal: Journal,
    spec: EndpointSpec,
    rules: RunRules,
    place: _Place,
    records: list[AttemptRecord],
    number: int | None,
    ended: list[Outcome],
) -> list[bytes]:
    done = ending_now(spec, rules, records)
    if done is None or (place.outcome is not None and place.outcome is not done.ending.outcome):
        item = records[0].key.item_id if records else ""
        raise journal_error(f"{item}: el resultado no sale de los bytes", f"{item}: the outcome does not follow", item)
    ended.append(done.ending.outcome)
    return [jcs(line) for line in exchange_lines(records, done, number, journal.mac_key)]


def _places(journal: Journal) -> Mapping[str, _Place]:
    rows = journal.connection.execute("SELECT exchange_id, position, outcome FROM exchange")
    return {row[0]: _Place(row[1], None if row[2] is None else Outcome(row[2])) for row in rows}


def _batch_numbers(journal: Journal) -> _BatchNumbers:
    return _BatchNumbers([(batch.first, batch.last, batch.number) for batch in journal.batches()])


class _BatchNumbers:
    """Which batch holds a position: batches are disjoint stretches of positions."""

    def __init__(self, stretches: list[tuple[int, int, int]]) -> None:
        self._stretches = sorted(stretches)
        self._starts = [first for first, _, _ in self._stretches]

    def __call__(self, position: int) -> int | None:
        index = bisect_right(self._starts, position) - 1
        if index < 0 or position > self._stretches[index][1]:
            return None
        return self._stretches[index][2]


def _check_batches(journal: Journal, trees: Mapping[int, Frontier]) -> None:
    for batch in journal.batches():
        tree = trees.get(batch.number)
        if tree is None or tree.root().hex() != batch.root:
            raise journal_error(
                f"el lote {batch.number} no da su raíz",
                f"batch {batch.number} does not give its root",
                str(journal.path),
            )


def _cuts(journal: Journal) -> frozenset[tuple[str, int]]:
    """Return the attempts whose response does not stand whole in the bundle."""
    rows = journal.connection.execute(
        "SELECT exchange_id, number, length(request.bytes), coalesce(length(response.bytes), 0) FROM attempt"
        " JOIN body AS request ON request.digest = request_digest"
        " LEFT JOIN body AS response ON response.digest = body_digest"
    )
    total, sizes = 0, []
    cuts: set[tuple[str, int]] = set()
    for exchange_id, number, request, response in rows:
        total += (request * 4) // 3 + _LINE_OVERHEAD
        if response > MAX_BODY:
            cuts.add((exchange_id, number))
        else:
            total += (response * 4) // 3
            sizes.append((response, exchange_id, number))
    if total > MAX_LINES:
        for response, exchange_id, number in sorted(sizes, reverse=True):
            if total <= MAX_LINES:
                break
            cuts.add((exchange_id, number))
            total -= (response * 4) // 3
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
