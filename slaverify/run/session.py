"""One call of the runner: workers, batches, probes, interruption, and what is left when it ends.

Source: docs/spec/run.md, sections "Run" and "Resume".
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import random
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain, groupby
from time import monotonic

from slaverify.canonical import JsonObject, jcs
from slaverify.contract.words import Outcome
from slaverify.engine import Wire
from slaverify.engine.wire import ask_controls
from slaverify.errors import EndpointError
from slaverify.run import schema
from slaverify.run.attribution import Ended, count_outcomes
from slaverify.run.batcher import Batcher
from slaverify.run.batches import make_batch
from slaverify.run.control import ControlProbe
from slaverify.run.faults import journal_error
from slaverify.run.inputs import RunInputs, RunResult, RunState
from slaverify.run.journal import Journal
from slaverify.run.pace import Gate, Stop
from slaverify.run.plan import slot
from slaverify.run.preflight import send_probe
from slaverify.run.rules import moment, stamp
from slaverify.run.schema import Statement
from slaverify.run.sender import Outbox, Sender, ending_now, exchange_lines, outcome_now
from slaverify.run.stored import JournalExchange, PendingBatch, StoredAttempt, Stretches
from slaverify.run.writer import Writer

GRACE_S = 10.0
"""How long exchanges in flight may take to finish after an interruption, seconds."""
PROBE_SHARES = (0.25, 0.5, 0.75, 1.0)
"""Shares of the run after which the public probe is sent again."""
MAX_DRIFT = 64
"""Most values of one kind that are noted as a drift: a vendor that sends a new one each time fills no journal."""
_START_JITTER_S = 0.02


class Session:
    """One call of `run_exchanges`."""

    def __init__(self, journal: Journal, wire: Wire, inputs: RunInputs) -> None:
        self.journal, self.wire, self.inputs = journal, wire, inputs
        self.reader = journal.reader()
        self.spec, self.rules = inputs.spec, inputs.rules
        self.stop = Stop()
        self.writer = Writer(journal.connection, asyncio.get_running_loop(), self._fail)
        self.gate = Gate(self.spec.call.concurrency, self.spec.call.rate_per_s, self.stop)
        urls, roots = self.spec.control_urls, inputs.roots
        ask = (lambda: ask_controls(urls, roots=roots)) if urls else None
        self.control = ControlProbe(ask, self.gate, self.stop, self._note_control)
        summary = journal.summary()
        self.planned, self.done = summary.planned, summary.done
        self.key = journal.mac_key
        self.started = moment(journal.header.started_at)
        self.ends = self.rules.ends(self.started)
        self.queue: deque[JournalExchange] = deque()
        self.parked: list[tuple[datetime, int, JournalExchange]] = []
        self.read_to, self.read_all = -1, False
        self.finished_now = 0
        self.wake = asyncio.Event()
        self.closing = False
        self.error: BaseException | None = None
        self.seen: dict[str, set[str]] = {"drift_echo": set(), "drift_fingerprint": set(), "drift_spki": set()}
        self.probed = {share for share in PROBE_SHARES if self.done >= share * self.planned}
        self.sender = Sender(
            spec=self.spec,
            rules=self.rules,
            wire=wire,
            secrets=inputs.secrets,
            writer=self.writer,
            gate=self.gate,
            control=self.control,
            stop=self.stop,
            clock=inputs.clock,
            queries=inputs.queries,
            may_send=self._may_send,
            finished=self._finished,
            fault_seen=inputs.progress.fault,
        )

    async def carry_out(self) -> RunResult:
        """Run to the end or to a stop, then settle."""
        try:
            self.batcher = self._batcher()
            self.inputs.progress.begin(self.planned, self.done)
            await self.writer.commit([(schema.RUN_STATE, ("open",)), self._event("start", {"done": self.done})])
            with self._signals():
                await self._work()
                await self._settle()
        finally:
            await self.control.close()
            await self.writer.close()
            self.reader.close()
            self.inputs.progress.end()
        if self.error is not None:
            raise self.error
        return self._result()

    # What the workers do.

    async def _work(self) -> None:
        count = min(self.spec.call.concurrency, max(1, self.planned - self.done))
        workers = {asyncio.create_task(self._worker()) for _ in range(count)}
        pump = asyncio.create_task(self._pump())
        stopped_at: float | None = None
        pending = set(workers)
        while pending:
            done, pending = await asyncio.wait(pending, timeout=0.25, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                if not task.cancelled() and task.exception() is not None:
                    self._fail(task.exception())
            if pump.done() and not pump.cancelled() and pump.exception() is not None:
                self._fail(pump.exception())
            if self.stop.is_set():
                stopped_at = stopped_at or monotonic()
                hurry = self.stop.reason in ("signal", "failure")
                if hurry and monotonic() - stopped_at > (GRACE_S if self.stop.reason == "signal" else 1.0):
                    for task in pending:
                        task.cancel()
        # Not cancelled: a batch whose ledger entry is under way must get its number.
        self.closing = True
        self.wake.set()
        with contextlib.suppress(BaseException):
            await pump
        if not pump.cancelled() and pump.exception() is not None:
            self._fail(pump.exception())

    async def _worker(self) -> None:
        await self.stop.sleep(_START_JITTER_S * random.random())  # noqa: S311 - spreads the first requests
        while not self.stop.is_set():
            row = await self._next()
            if row is None:
                return
            wait = await self.sender.exchange(row)
            if wait is not None:
                row.not_before = self.inputs.clock() + timedelta(seconds=wait)
                heapq.heappush(self.parked, (row.not_before, row.position, row))

    async def _next(self) -> JournalExchange | None:
        while not self.stop.is_set():
            if not self._may_send():
                return None
            if self.rules.maintenance and await self._maintenance():
                continue
            wait = self._seconds_to_next()
            if wait is None:
                return None
            if wait <= 0:
                return self.queue.popleft() if self._is_due() else heapq.heappop(self.parked)[2]
            await self.stop.sleep(min(wait, 30.0))
        return None

    def _seconds_to_next(self) -> float | None:
        """Return how long until an exchange may be sent; None if none is left, or none before the run ends."""
        times = [self._due(self.queue[0])] if self.queue or self._refill() else []
        if self.parked and self.parked[0][0] < self.ends:
            times.append(self.parked[0][0])
        return (min(times) - self.inputs.clock()).total_seconds() if times else None

    def _is_due(self) -> bool:
        return bool(self.queue) and self._due(self.queue[0]) <= self.inputs.clock()

    def _due(self, row: JournalExchange) -> datetime:
        """Return when an exchange is due: at once, or in its slot where the run is spread over its window."""
        if not self.rules.spread:
            return self.started
        whole = self.planned if self.inputs.plan is None else len(self.inputs.plan.exchanges)
        share = slot(self.journal.header.plan_sha256, row.position, whole)
        return self.rules.due(self.started, share) or self.started

    def _mine(self, row: JournalExchange) -> bool:
        return self.inputs.part is None or self.inputs.part.holds(row.position)

    def _refill(self) -> bool:
        """Read the next page of the plan; say whether anything is queued."""
        while not self.queue and not self.read_all:
            # Its own connection: the writer's may be in the middle of a commit.
            page = self.reader.pending(self.read_to)
            if not page:
                self.read_all = True
                break
            self.read_to = page[-1].position
            for row in page:
                if row.item_id in self.inputs.withdrawn or not self._mine(row):
                    continue
                if row.state == "parked" and row.not_before is not None:
                    heapq.heappush(self.parked, (row.not_before, row.position, row))
                else:
                    self.queue.append(row)
        return bool(self.queue)

    def _may_send(self) -> bool:
        if self.inputs.clock() >= self.ends:
            self.stop.set("window")
            return False
        return True

    async def _maintenance(self) -> bool:
        now = self.inputs.clock()
        span = next((span for span in self.rules.maintenance if span.holds(now)), None)
        if span is None:
            return False
        if span.until >= self.ends:
            self.stop.set("maintenance")
        else:
            await self.writer.commit([self._event("pause", {"reason": "maintenance", "until": stamp(span.until)})])
            await self.stop.sleep((span.until - now).total_seconds())
        return True

    # What follows when an exchange is durable and done.

    def _finished(self, box: Outbox, ended: Ended) -> None:
        row = box.row
        if self.inputs.part is None:
            self.batcher.add(row.position, exchange_lines(row.records, ended, None, self.key))
        self._drift(row, ended)
        row.records = []
        self.done += 1
        self.finished_now += 1
        self.inputs.progress.done(ended.ending.outcome)
        if self.batcher.due() or self._probe_due() is not None:
            self.wake.set()

    def _drift(self, row: JournalExchange, ended: Ended) -> None:
        if row.side != "current":
            # The new version of a change check is another one by intent.
            return
        last = ended.last
        values = {"drift_echo": last.version, "drift_fingerprint": last.fingerprint, "drift_spki": row.records[-1].spki}
        for kind, value in values.items():
            known = self.seen[kind]
            if value is not None and value not in known and len(known) < MAX_DRIFT:
                if known:
                    detail: JsonObject = {"kind": kind, "position": row.position, "value": value[:200]}
                    self.writer.hand_over([self._event("drift", detail)])
                known.add(value)

    async def _pump(self) -> None:
        while not self.closing or (self._probe_due() is not None and not self.stop.is_set()):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.wake.wait(), 1.0)
            self.wake.clear()
            if self.batcher.due():
                await self.batcher.pump()
            while (share := self._probe_due()) is not None and not self.stop.is_set():
                await self._probe(share)

    def _probe_due(self) -> float | None:
        if not self.inputs.probes or not self.planned:
            return None
        return next((s for s in PROBE_SHARES if s not in self.probed and self.done >= s * self.planned), None)

    async def _probe(self, share: float) -> None:
        self.probed.add(share)
        if await self.gate.enter():
            try:
                result = await send_probe(self.spec, self.wire, self.inputs.clock, self.inputs.tools)
            finally:
                self.gate.leave()
            await self.writer.commit([self._event("probe", {"percent": int(share * 100), **result.to_json()})])

    def _note_control(self, answers: Sequence[bool]) -> None:
        detail: JsonObject = {"answers": list(answers)}
        self.writer.hand_over([self._event("control_probe", detail)])

    # What is written when the work ends.

    async def _settle(self) -> None:
        try:
            # Behind all that was handed over: when this is on disk, so is that, or somebody was told.
            await self.writer.commit([])
        except EndpointError as error:
            self._fail(error)
        if self.error is not None:
            return
        if self._is_over():
            await self._finalise()
        if self.inputs.part is None:
            await self.batcher.pump(everything=True)
        state = "complete" if self._is_over() else "stopped"
        reason = self._reason()
        ends: list[Statement] = [(schema.BACK, ()), (schema.RUN_STATE, (state,))]
        await self.writer.commit([*ends, self._event("stop", {"reason": reason})])

    def _is_over(self) -> bool:
        # A part never ends the run: the others may still be asking.
        return self.inputs.part is None and self.stop.reason in (None, "window", "maintenance", "engine_mismatch")

    async def _finalise(self) -> None:
        # Nobody sends any more and everything is on disk: the rows of the journal are all there is.
        page = self.journal.pending()
        while page:
            statements: list[Statement] = []
            for row in page:
                ended = ending_now(self.spec, self.rules, row.records)
                outcome = Outcome.NOT_SENT if ended is None else ended.ending.outcome
                statements.append((schema.STATE, ("done", outcome.value, None, row.exchange_id)))
                if ended is not None:
                    self.batcher.add(row.position, exchange_lines(row.records, ended, None, self.key))
            await self.writer.commit(statements)
            page = self.journal.pending(page[-1].position)

    def _reason(self) -> str:
        return self.stop.reason or ("done" if self.inputs.part is None else "part")

    def _result(self) -> RunResult:
        summary = self.journal.summary()
        left = (outcome_now(self.spec, self.rules, row) for row in self.journal.all_pending())
        counts = count_outcomes(chain(summary.every_outcome(), left), self.planned)
        sent, doubt = self.journal.unbatched()
        reason = self._reason()
        state = RunState.COMPLETE if self._is_over() else RunState.STOPPED
        if reason == "engine_mismatch":
            state = RunState.INVALID
        elif reason == "signal":
            state = RunState.INTERRUPTED
        return RunResult(state, reason, counts, sent, doubt, self.finished_now)

    def _fail(self, error: BaseException | None) -> None:
        if self.error is None and error is not None and not isinstance(error, asyncio.CancelledError):
            self.error = error
        self.stop.set("failure")

    def _event(self, kind: str, detail: JsonObject) -> tuple[str, Sequence[object]]:
        return (schema.EVENT, (stamp(self.inputs.clock()), kind, jcs(detail).decode("utf-8")))

    # Batches of earlier calls.

    def _batcher(self) -> Batcher:
        rows = self.journal.batches()
        for pending in rows:
            if pending.ledger_seq is None:
                self._register(pending)
        number, previous = (rows[-1].number + 1, rows[-1].root) if rows else (1, None)
        batcher = Batcher(self.writer, self.inputs.ledger, number, previous, Stretches(rows))
        loose = self.journal.unbatched_done() if self.inputs.part is None else []
        for exchange_id, position in loose:
            if lines := self._lines(self.journal.records("exchange.exchange_id = ?", (exchange_id,)), None):
                batcher.add(position, lines)
        return batcher

    def _register(self, row: PendingBatch) -> None:
        """Give a batch whose row is durable its ledger entry, unless the ledger has it already."""
        sequence = self.inputs.ledger.find_batch(row.number)
        if sequence is None:
            between = (row.first, row.last)
            lines = self._lines(self.journal.records("exchange.position BETWEEN ? AND ?", between), row.number)
            batch = make_batch(row.number, between, lines)
            if batch.root != row.root:
                raise journal_error(f"el lote {row.number} no da su raíz", f"batch {row.number} does not give its root")
            sequence = self.inputs.ledger.on_batch(batch)
        self.journal.write([(schema.BATCH_SEQ, (sequence, row.number))])

    def _lines(self, found: Iterator[StoredAttempt], batch: int | None) -> list[JsonObject]:
        lines: list[JsonObject] = []
        for _, group in groupby(found, key=lambda stored: stored.exchange_id):
            records = [stored.record for stored in group]
            ended = ending_now(self.spec, self.rules, records)
            lines += [] if ended is None else exchange_lines(records, ended, batch, self.key)
        return lines

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        added: list[signal.Signals] = []
        if self.inputs.signals:
            for number in (signal.SIGINT, signal.SIGTERM):
                with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
                    loop.add_signal_handler(number, self.stop.set, "signal")
                    added.append(number)
        try:
            yield
        finally:
            for number in added:
                loop.remove_signal_handler(number)
