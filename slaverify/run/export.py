"""Writes the evidence of a run from its journal: plan, outcomes, exchanges. Nothing is deleted from a journal.

Source: docs/spec/run.md, section "Files".
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from slaverify.canonical import jcs
from slaverify.contract.words import Attribution, Outcome
from slaverify.custody import Frontier, leaf_hash
from slaverify.engine import EndpointSpec
from slaverify.run.attribution import Ended, count_outcomes
from slaverify.run.derive import DerivedExchange, DerivedRun, complete_run, ended_exchange, not_sent, seen_of, unsent_of
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
from slaverify.run.rows import WHOLE, JournalRows, Slice
from slaverify.run.rules import RunRules
from slaverify.run.sender import ending_now, exchange_lines
from slaverify.run.signals import SIGNALS, signals_json, signals_of, size_of
from slaverify.run.slices import FIRST, SIZE, carried_out
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
    work = _Lines(journal.path, spec, rules, journal.mac_key, _cuts(journal), Stretches(journal.batches()))
    trees: dict[int, Frontier] = {}
    counted: Counter[Outcome] = Counter()
    with ExitStack() as stack:
        outcomes = stack.enter_context(_replacing(folder / OUTCOMES))
        exchanges = stack.enter_context(_replacing(folder / EXCHANGES))
        _write_plan(journal, plan, stack.enter_context(_replacing(folder / PLAN)))
        signals = stack.enter_context(_replacing(folder / SIGNALS))
        rows = stack.enter_context(TemporaryFile(dir=folder / "run"))
        exchanges.write(jcs({"nonce": journal.nonce(EXCHANGES)}) + b"\n")
        for written, wire, facts, row in over_slices(journal, work.of_slice):
            outcomes.write(written)
            exchanges.write(wire)
            rows.write(row)
            told = json.loads(facts)
            counted.update({Outcome(word): count for word, count in told["outcomes"].items()})
            for line, number in zip(written.splitlines(), told["batches"], strict=True):
                if number is not None:
                    trees.setdefault(number, Frontier()).append(leaf_hash(line))
        _check_batches(journal, trees)
        planned = journal.summary().planned
        counted[Outcome.NOT_SENT] += planned - counted.total()
        count_outcomes(counted.elements(), planned)
        signals.write(jcs(signals_json(journal.header.run_id, signals_of(rows, size_of(_reached(journal, plan))))))


def over_slices(journal: Journal, work: Callable[[JournalRows, Slice], Sequence[bytes]]) -> Iterator[Sequence[bytes]]:
    """Yield what `work` makes of each slice of a journal, in the order of the files, by as many processes as cores.

    `work` is given a reading connection of its own; nothing may be written to the journal meanwhile.
    """
    slices = journal.slices(SIZE, FIRST)
    settled = journal.settle()

    def one(index: int) -> Sequence[bytes]:
        rows = journal.reader(unchanging=settled)
        try:
            return work(rows, slices[index])
        finally:
            rows.close()

    return carried_out(one, len(slices), None if settled else 1)


@dataclass(frozen=True)
class _Lines:
    """What a line of the evidence needs to be written."""

    path: Path
    spec: EndpointSpec
    rules: RunRules
    key: bytes
    cuts: frozenset[tuple[str, int, int]]
    held: Stretches

    def of_slice(self, rows: JournalRows, part: Slice) -> Sequence[bytes]:
        """Return the lines of both files, what the parent counts (outcomes, batch of a line), and rows of signals."""
        counted: Counter[str] = Counter()
        outcomes: list[bytes] = []
        exchanges: list[bytes] = []
        batches: list[int | None] = []
        shown: list[bytes] = []
        for group in grouped(rows, part):
            number = self.held.number_of(group[0].position)
            done = _ending(self.spec, self.rules, group)
            counted[done.ending.outcome.value] += 1
            records = [stored.record for stored in group]
            lines, kept = exchange_lines(records, done, number, self.key), [self._kept(stored) for stored in group]
            outcomes += [jcs(line) for line in lines]
            batches += [number] * len(group)
            exchanges += [jcs(exchange_line(record)) for record in kept]
            shown.append(seen_of(self.spec, self.rules, group[0].position, kept[-1], done.last, lines[-1]))
        facts = json.dumps({"outcomes": counted, "batches": batches})
        return _jsonl(outcomes), _jsonl(exchanges), facts.encode("ascii"), b"".join(shown)

    def _kept(self, stored: StoredAttempt) -> AttemptRecord:
        cut = (stored.exchange_id, stored.record.key.turn, stored.record.key.attempt) in self.cuts
        return _cut(stored.record, self.key) if cut else stored.record


def _jsonl(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _ending(spec: EndpointSpec, rules: RunRules, group: Sequence[StoredAttempt]) -> Ended:
    done = ending_now(spec, rules, [stored.record for stored in group])
    said = group[-1].outcome
    if done is None or (said is not None and said is not done.ending.outcome):
        item = group[-1].record.key.item_id
        raise journal_error(f"{item}: el resultado no sale de los bytes", f"{item}: the outcome does not follow", item)
    return done


def journal_run(journal: Journal, spec: EndpointSpec, rules: RunRules, plan: Plan) -> DerivedRun:
    """Return the run as `derive_outcomes` would, from the journal: every body whole, also those cut in the files.

    Its signals stand in `run/signals.json`, not here.
    """
    found: dict[tuple[str, int, str], DerivedExchange] = {}
    planned = {(one.item_id, one.repetition, one.side): one for one in plan.exchanges}
    for one in stream_run(journal, spec, rules, journal.mac_key):
        call = (one.planned.item_id, one.planned.repetition, one.planned.side)
        found[call] = replace(one, planned=planned[call])
    return complete_run(plan, found)


@dataclass(frozen=True)
class PlannedRun:
    """A plan and its journal, to be derived slice by slice: all slices together are the run of `journal_run`."""

    spec: EndpointSpec
    rules: RunRules
    key: bytes
    planned: Mapping[str, Sequence[PlannedExchange]]
    items: Sequence[str]
    unsent: Attribution

    @classmethod
    def of(cls, journal: Journal, spec: EndpointSpec, rules: RunRules, plan: Plan) -> PlannedRun:
        """Gather what a slice cannot know by itself."""
        key, whose = journal.mac_key, Attribution.AUDITOR
        if journal.summary().outcomes.get(Outcome.NOT_SENT, 0):
            whose = unsent_of(stream_run(journal, spec, rules, key))
        by_item: dict[str, list[PlannedExchange]] = {}
        for one in _reached(journal, plan):
            by_item.setdefault(one.item_id, []).append(one)
        return cls(spec, rules, key, by_item, sorted(by_item), whose)

    def of_slice(self, rows: JournalRows, part: Slice) -> Iterator[DerivedExchange]:
        """Yield the exchanges of a slice, sent or not, in the order of the files."""
        sent = {
            (one.planned.item_id, one.planned.repetition, one.planned.side): one
            for one in stream_run(rows, self.spec, self.rules, self.key, part)
        }
        first, end = part
        start = bisect_left(self.items, first)
        for item in self.items[start : None if end is None else bisect_left(self.items, end)]:
            for planned in sorted(self.planned[item], key=lambda one: (one.repetition, one.side)):
                found = sent.get((item, planned.repetition, planned.side))
                yield not_sent(planned, self.unsent) if found is None else replace(found, planned=planned)


def _reached(journal: Journal, plan: Plan | None) -> Iterable[PlannedExchange]:
    if plan is None:
        return journal.planned()
    staged = any(one.stage > 1 for one in plan.exchanges)
    return reached(plan, frozenset(journal.asked())).exchanges if staged else plan.exchanges


def _write_plan(journal: Journal, plan: Plan | None, file: BinaryIO) -> None:
    digest = sha256()
    for chunk in plan_chunks(journal.header.run_id, journal.planned() if plan is None else plan.exchanges):
        digest.update(chunk)
        file.write(chunk)
    if digest.hexdigest() != journal.header.plan_sha256:
        raise journal_error("es de otro plan", "it is of another plan", str(journal.path))


def stream_run(
    rows: JournalRows, spec: EndpointSpec, rules: RunRules, key: bytes, part: Slice = WHOLE
) -> Iterator[DerivedExchange]:
    """Stream the exchanges that were sent, in the order of the files: memory does not grow with the run."""
    for group in grouped(rows, part):
        records = [stored.record for stored in group]
        done = ending_now(spec, rules, records)
        if done is None:
            continue
        first = records[0].key
        planned = PlannedExchange(group[0].position, first.item_id, first.repetition, first.side)
        yield ended_exchange(planned, records, done, key)


def grouped(rows: JournalRows, part: Slice = WHOLE) -> Iterator[list[StoredAttempt]]:
    """Stream the attempts of each exchange of a slice."""
    for _, group in groupby(rows.records_of(part), key=lambda stored: stored.exchange_id):
        yield list(group)


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
