"""The exchanges: carry the run out, register its batches, end it in the ledger, write its files."""

from __future__ import annotations

from dataclasses import dataclass

from slaverify.audit.opening import (
    deliver_part,
    delivered,
    drawn_of,
    header_of,
    journal_path,
    open_blind_entries,
    plan_of,
    secrets_of,
)
from slaverify.audit.scoring import second_stage_due
from slaverify.audit.session import Session
from slaverify.audit.trajectories import run_rules
from slaverify.canonical import JsonObject
from slaverify.custody import SECOND_STAGE, Draw, Part, RunPermit
from slaverify.custody.append import Tally, end_run, record_batch, resume_run
from slaverify.engine import EndpointSpec, compile_endpoint
from slaverify.errors import EndpointError, Text
from slaverify.run import OUTCOMES, Batch, Plan, RunRules
from slaverify.run.blocked import STOPS, Block, block_of
from slaverify.run.journal import Journal
from slaverify.run.runner import RunInputs, RunResult, RunState, carry_out_run, close_run, export_run
from slaverify.trajectory.loop import tool_probe

_BATCHES = 10
"""A checkpoint is made after so many batches."""


@dataclass(frozen=True)
class LedgerBatches:
    """Registers the batches of one run: the port that the runner asks for."""

    session: Session
    number: int

    def on_batch(self, batch: Batch) -> int:
        """Append the entry of a batch and return its sequence number."""
        entry = record_batch(
            self.session.ledger,
            self.session.auditor,
            self.session.contract.digest,
            self.number,
            number=batch.number,
            first=batch.first,
            last=batch.last,
            items=leaves(self.session, batch.items),
            root=bytes.fromhex(batch.root),
        )
        if batch.number % _BATCHES == _BATCHES - 1:
            self.session.checkpoint_if_here()
        return entry.seq

    def find_batch(self, number: int) -> int | None:
        """Return the sequence number of a batch that the ledger holds already."""
        found = self.session.ledger.refresh().find(
            "batch", contract_digest=self.session.contract.digest, run=self.number, number=number
        )
        return None if found is None else found.seq


def exchange(session: Session, number: int, permit: RunPermit) -> None:
    """Send what is not done, end the run in the ledger, and write `run/`.

    Raises: EndpointError SLV-N050 (stopped, exit 6) or SLV-N051 (interrupted, exit 130); the journal keeps all.
    """
    result = _send(session, number, permit)
    if result.reason == "done" and _open_second_stage(session, number):
        result = _send(session, number, permit)
    folder = session.run_folder(number)
    spec, rules, plan = compile_endpoint(session.contract.model), run_rules(session, number), plan_of(folder)
    with Journal.open(journal_path(folder)) as journal:
        if result.state is RunState.INVALID:
            close_run(journal, spec, rules)
        _write(session, number, journal, spec, rules, plan)
    tally = Tally(
        reason=result.reason,
        sent=leaves(session, result.sent),
        in_flight=leaves(session, result.in_flight),
        outcomes={outcome.value: count for outcome, count in sorted(result.counts.items())},
    )
    open_blind_entries(session)
    end_run(session.ledger, session.auditor, session.contract.digest, number, tally)
    session.checkpoint_if_here()


def _send(session: Session, number: int, permit: RunPermit) -> RunResult:
    """Send what the journal holds and is not done. Raises: as `exchange`."""
    folder, model = session.run_folder(number), session.contract.model
    drawn, plan = drawn_of(session, number), plan_of(folder)
    with Journal.open(journal_path(folder), expected=header_of(session, drawn, plan)) as journal:
        if journal.summary().attempts and journal.state != "complete":
            _resumed(session, number, journal)
        inputs = RunInputs(
            spec=compile_endpoint(model),
            rules=run_rules(session, number),
            plan=plan,
            queries=_queries(session, drawn),
            permit=permit,
            secrets=secrets_of(session),
            ledger=LedgerBatches(session, number),
            clock=session.ports.clock,
            progress=session.ports.progress(),
            tools=tool_probe(model),
        )
        result = carry_out_run(journal, inputs)
    if result.state in (RunState.STOPPED, RunState.INTERRUPTED):
        raise _halted(result)
    return result


def _open_second_stage(session: Session, number: int) -> bool:
    """Open the second stage where the first one leaves the doubt; say whether it was opened now.

    Nobody is shown what the first stage gave. The ledger holds that the run goes on before anything of it is sent.
    """
    folder, drawn = session.run_folder(number), drawn_of(session, number)
    if not drawn.selection.extension or session.record(number).is_change_check:
        return False
    deliver_part(session, drawn, Part.REFERENCE)
    if not second_stage_due(session, number):
        return False
    if all(entry.data.get("reason") != SECOND_STAGE for entry in session.record(number).all("run_resumed")):
        tally = Tally(reason=SECOND_STAGE)
        resume_run(session.ledger, session.auditor, session.contract.digest, number, tally)
    with Journal.open(journal_path(folder)) as journal:
        return journal.open_stage(plan_of(folder), 2)


def close_blocked(session: Session, number: int) -> None:
    """End a run that the vendor blocks, before its deadline; what was not sent is then the vendor's.

    Does nothing where the run has ended. Raises: EndpointError SLV-N052 (exit 2) where the block does not stand.
    """
    if session.record(number).terminal is not None:
        return
    folder, model = session.run_folder(number), session.contract.model
    drawn, plan = drawn_of(session, number), plan_of(folder)
    spec, rules = compile_endpoint(model), run_rules(session, number)
    with Journal.open(journal_path(folder), expected=header_of(session, drawn, plan)) as journal:
        block = block_of(spec, [(at, detail) for at, _, detail in journal.events("stop")])
        if not block.stands:
            raise _not_blocked(block, str(folder))
        counts = close_run(journal, spec, rules)
        _write(session, number, journal, spec, rules, plan)
        sent, doubt = journal.unbatched()
        tally = Tally(
            reason=block.fault,
            sent=leaves(session, sent),
            in_flight=leaves(session, doubt),
            outcomes={outcome.value: count for outcome, count in sorted(counts.items())},
        )
        open_blind_entries(session)
        end_run(session.ledger, session.auditor, session.contract.digest, number, tally)
    session.checkpoint_if_here()


def rewrite(session: Session, number: int) -> None:
    """Write `run/` again from the journal of a run that has ended, where a kill left it out."""
    folder, model = session.run_folder(number), session.contract.model
    if (folder / OUTCOMES).is_file():
        return
    with Journal.open(journal_path(folder)) as journal:
        _write(session, number, journal, compile_endpoint(model), run_rules(session, number), plan_of(folder))


def leaves(session: Session, ids: tuple[str, ...]) -> list[int]:
    """Return the leaf numbers of item ids, ascending."""
    return sorted({session.bank.index.by_id[item].i for item in ids})


def _queries(session: Session, drawn: Draw) -> dict[str, JsonObject]:
    return {item.id: item.content for item in delivered(session, drawn, Part.QUERY)}


def _resumed(session: Session, number: int, journal: Journal) -> None:
    counts = {outcome.value: count for outcome, count in sorted(journal.summary().outcomes.items())}
    tally = Tally(reason="resume", outcomes=counts)
    resume_run(session.ledger, session.auditor, session.contract.digest, number, tally)


def _write(session: Session, number: int, journal: Journal, spec: EndpointSpec, rules: RunRules, plan: Plan) -> None:
    export_run(journal, spec, rules, plan, session.run_folder(number))


def _not_blocked(block: Block, where: str) -> EndpointError:
    minutes = int(block.span.total_seconds() // 60)
    return EndpointError(
        "SLV-N052",
        Text("esta corrida no se puede cerrar todavía", "this run cannot be closed yet"),
        why=Text(
            f"el proveedor la detuvo {block.stops} veces seguidas en {minutes} minutos; deben ser {STOPS}, y una hora",
            f"the vendor stopped it {block.stops} times in a row in {minutes} minutes; it takes {STOPS}, and an hour",
        ),
        fix=Text("siga con --resume", "go on with --resume"),
        where=where,
        exit_code=2,
    )


def _halted(result: RunResult) -> EndpointError:
    interrupted = result.state is RunState.INTERRUPTED
    return EndpointError(
        "SLV-N051" if interrupted else "SLV-N050",
        Text(f"la corrida se detuvo: {result.reason}", f"the run stopped: {result.reason}"),
        why=Text("nada se perdió; lo contestado queda contestado", "nothing was lost; what was answered stays so"),
        exit_code=130 if interrupted else 6,
    )
