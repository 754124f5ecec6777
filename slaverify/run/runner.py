"""Carries out a run, and closes one that nobody will resume. Second door of the room.

No byte of a drawn item leaves without the `RunPermit` of custody. A stop is a result, never an exception: the
journal then says where to go on.

Source: docs/spec/run.md, sections "Run" and "Resume".
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime

from slaverify.contract.words import Outcome
from slaverify.custody import RunPermit
from slaverify.engine import EndpointSpec, Wire, WireRequest, WireResult
from slaverify.engine.wire import HttpWire, Secrets
from slaverify.run import schema
from slaverify.run.attribution import count_outcomes
from slaverify.run.batcher import LedgerPort
from slaverify.run.conversation import Call, ToolProbe
from slaverify.run.export import PlannedRun, export_run, journal_run, over_slices
from slaverify.run.faults import permit_error, window_error
from slaverify.run.forks import can_fork
from slaverify.run.inputs import Part, RunInputs, RunResult, RunState
from slaverify.run.journal import Journal
from slaverify.run.merge import copy_journal, merge_journals
from slaverify.run.plan import SIDES
from slaverify.run.preflight import PreflightRecord, ProbeResult, preflight
from slaverify.run.relay import Relay
from slaverify.run.rules import RunRules, stamp
from slaverify.run.sender import outcome_now
from slaverify.run.session import Session

__all__ = [
    "LedgerPort",
    "Part",
    "PlannedRun",
    "PreflightRecord",
    "ProbeResult",
    "RunInputs",
    "RunResult",
    "RunState",
    "carry_out_run",
    "close_run",
    "copy_journal",
    "export_run",
    "journal_run",
    "merge_journals",
    "over_slices",
    "preflight",
    "probe_endpoint",
    "run_exchanges",
]

MAX_ANCHOR_LEAD_S = 300.0
"""How far the anchor's time may lie ahead of our clock, seconds (the tolerance of the ledger's rules)."""


class _Sides:
    """Sends each request to the version that it is for."""

    def __init__(self, wires: Mapping[str, Wire]) -> None:
        self._wires = wires

    async def send(self, request: WireRequest) -> WireResult:
        return await self._wires[request.side].send(request)


async def run_exchanges(journal: Journal, wire: Wire, inputs: RunInputs) -> RunResult:
    """Send what is not done yet, until the plan is done or the run stops.

    Raises: EndpointError SLV-N030 (journal, exit 5), N032 (disk, exit 6), N034 (permit of another run, exit 5), N010
    (an item that does not fit the template), and what the ledger port raises. Nothing done is lost by any of them.
    """
    _check_permit(journal, inputs)
    # The authority's clock may be a little ahead of ours: no exchange may seem older than its anchor.
    await asyncio.sleep(max(0.0, (inputs.permit.not_before - inputs.clock()).total_seconds()))
    journal.mark_interrupted(inputs.clock())
    return await Session(journal, wire, inputs).carry_out()


def close_run(journal: Journal, spec: EndpointSpec, rules: RunRules) -> Mapping[Outcome, int]:
    """End a stopped run that nobody will resume: what was not sent is `not_sent`, what failed has failed.

    Raises: EndpointError SLV-N030, N032.
    """
    page = journal.pending()
    while page:
        journal.write(
            [(schema.STATE, ("done", outcome_now(spec, rules, row).value, None, row.exchange_id)) for row in page]
        )
        page = journal.pending(page[-1].position)
    journal.write([(schema.RUN_STATE, ("complete",))])
    summary = journal.summary()
    return count_outcomes(summary.every_outcome(), summary.planned)


def _check_permit(journal: Journal, inputs: RunInputs) -> None:
    permit, header = inputs.permit, journal.header
    if not isinstance(permit, RunPermit):
        raise permit_error("no es un permiso", "it is no permit")
    for name in ("contract_digest", "sample_sha256", "plan_sha256"):
        if getattr(permit, name) != getattr(header, name):
            raise permit_error(name, name)
    planned = header.run_id if inputs.plan is None else inputs.plan.run_id
    if int(header.run_id.rpartition("-")[2]) != permit.run or planned != header.run_id:
        raise permit_error("número de corrida", "run number")
    if (permit.not_before - inputs.clock()).total_seconds() > MAX_ANCHOR_LEAD_S:
        raise permit_error("el ancla es posterior a esta hora", "the anchor is later than this moment")
    _check_queries(journal, inputs)
    window = inputs.rules.window
    if window is not None and inputs.clock() < window.start:
        raise window_error(stamp(window.start))


def _check_queries(journal: Journal, inputs: RunInputs) -> None:
    missing = 0
    specs = [inputs.spec.of(side) for side in (SIDES if journal.is_two_sided() else SIDES[:1])]
    conversation = inputs.rules.conversation
    for item in journal.pending_items():
        query = inputs.queries.get(item)
        if query is not None and conversation is not None:
            query = conversation.package(Call(item, 0, "current"), ())
        if query is None:
            missing += 1
        else:
            for spec in specs:
                spec.template.check(query)
    if missing:
        raise permit_error(f"faltan {missing} consultas", f"{missing} queries are missing")


def probe_endpoint(
    spec: EndpointSpec,
    secrets: Secrets,
    clock: Callable[[], datetime],
    *,
    roots: str | None = None,
    tools: ToolProbe | None = None,
) -> PreflightRecord:
    """Do a preflight from synchronous code. Raises: as `preflight`."""

    async def work() -> PreflightRecord:
        async with HttpWire(spec, secrets, connections=1, roots=roots) as wire:
            return await preflight(spec, wire, clock, tools)

    return asyncio.run(work())


def carry_out_run(journal: Journal, inputs: RunInputs) -> RunResult:
    """Do `run_exchanges` from synchronous code, over a wire of its own. Raises: as `run_exchanges`, SLV-N038."""
    sides = SIDES if journal.is_two_sided() else SIDES[:1]
    # Made here, opened where they are used: what is wrong with an address or a certificate is told by this process.
    made = {side: HttpWire(inputs.spec.of(side), inputs.secrets, roots=inputs.roots) for side in sides}

    @asynccontextmanager
    async def wires() -> AsyncIterator[Wire]:
        async with AsyncExitStack() as stack:
            yield _Sides({side: await stack.enter_async_context(wire) for side, wire in made.items()})

    async def here() -> RunResult:
        async with wires() as wire:
            return await run_exchanges(journal, wire, inputs)

    async def apart(relay: Relay) -> RunResult:
        async with relay as wire:
            return await run_exchanges(journal, wire, inputs)

    if not can_fork():
        return asyncio.run(here())
    with Relay(wires) as relay:
        return asyncio.run(apart(relay))
