"""Walk the line: each step looks for its own entry and files and does nothing where they stand.

Order: registered → preflight → run opened → draw → queries → plan → start, anchored → exchanges → run ended →
references → scores by rule → judge → labels of people → scores committed → decision → evidence closed and signed →
reports → entry `report_issued`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from slaverify.audit.alone import alone
from slaverify.audit.calibrating import calibrate_run, labels_due
from slaverify.audit.closing import close_run_evidence, fit_signing_key
from slaverify.audit.deciding import DECISION, decide_run
from slaverify.audit.exchanging import close_blocked, exchange, rewrite
from slaverify.audit.judging import is_judged, judge_run, keep_sentinels
from slaverify.audit.opening import has_started, open_next_run, prepare, start
from slaverify.audit.replying import await_reply, reply_deadline
from slaverify.audit.reporting import issue_reports, issued_languages
from slaverify.audit.scoring import SCORES, commit_scores, deliver_references, score_run
from slaverify.audit.session import Session
from slaverify.custody import Part, RunRecord
from slaverify.custody.checkpoints import covering
from slaverify.errors import ApplicationError, ReportError, Text
from slaverify.evidence import TOKEN


class Step(StrEnum):
    """The steps that have a command of their own."""

    RUN = "run"
    SCORE = "score"
    JUDGE = "judge"
    CALIBRATE = "calibrate"
    DECIDE = "decide"
    REPORT = "report"


ORDER = tuple(Step)


@dataclass(frozen=True)
class Progressed:
    """How far a run is: which steps are done, which one comes next (None: none), and whom it waits for.

    `reply_until`: until when the vendor may reply; `waits_for_people`: rows without their label.
    """

    number: int
    folder: Path
    done: tuple[Step, ...]
    next: Step | None
    reply_until: datetime | None = None
    waits_for_people: bool = False

    @property
    def waits_for(self) -> str | None:
        """Whom the next step waits for: `people`, `vendor`, `auditor`; None where nothing is next."""
        if self.next is None:
            return None
        return "people" if self.waits_for_people else "auditor" if self.reply_until is None else "vendor"


def audit(
    session: Session, *, resume: bool, authorised_by: str, until: Step = Step.REPORT, change: bool = False
) -> Progressed:
    """Carry the contract's run to the end, or to the step `until`; with `change` a run that compares two versions.

    Without `resume` a run that is neither reported in full nor aborted is left alone.
    Raises: ApplicationError SLV-A020 (an unfinished run: exit 2 with the line to type), and what the steps raise.
    """
    check_signatory(session, authorised_by)
    fit_signing_key(session)
    last, found = session.last_run(), None
    unfinished = last is not None and not last.aborted and progress_of(session, last.number).next is not None
    if unfinished and not resume:
        assert last is not None  # noqa: S101 - implied
        raise _unfinished(session, last.number)
    if unfinished and last is not None:
        number = last.number
        _refuse_elsewhere(session, last)
    elif resume:
        if last is None:
            raise _nothing_to_resume(session)
        return progress_of(session, last.number)
    else:
        keep_sentinels(session)
        number, found = open_next_run(session, change=change)
    if session.record(number).started is None:
        prepare(session, number, found)
        keep_sentinels(session, number)
    go(session, number, until)
    return progress_of(session, number)


def go(session: Session, number: int, until: Step) -> None:
    """Walk run `number` to the end of step `until`, alone. Raises: ApplicationError SLV-A023 (another process)."""
    with alone(session.run_folder(number) / "private"):
        _sweep(session.run_folder(number))
        for step in ORDER[: ORDER.index(until) + 1]:
            _STEPS[step](session, number)


def close(session: Session, number: int) -> Progressed:
    """End a run that the vendor blocks. Raises: EndpointError SLV-N052, ApplicationError SLV-A023."""
    with alone(session.run_folder(number) / "private"):
        close_blocked(session, number)
    return progress_of(session, number)


def _sweep(folder: Path) -> None:
    """Remove what a kill left half-written: files begun under a hidden name, which nobody else writes now."""
    for path in folder.rglob(".*"):
        if path.is_file() and not path.is_symlink():
            path.unlink()


def check_signatory(session: Session, name: str) -> None:
    """Refuse a name that the contract does not authorise. Raises: ReportError SLV-R025 (exit 2)."""
    allowed = session.contract.model.report.signature.signatories
    if name not in allowed:
        raise ReportError(
            "SLV-R025",
            Text(f"«{name}» no puede autorizar el informe", f"`{name}` may not authorise the report"),
            why=Text(f"el contrato autoriza a: {', '.join(allowed)}", f"the contract authorises: {', '.join(allowed)}"),
            fix=Text("repita con --authorized-by y uno de esos nombres", "repeat with --authorized-by and such a name"),
            where="report.signature.signatories",
        )


def progress_of(session: Session, number: int) -> Progressed:
    """Say which steps of a run are done, from the ledger and the files alone."""
    record, folder = session.record(number), session.run_folder(number)
    judged = session.contract.model.judge is not None
    facts = {
        Step.RUN: record.terminal is not None and (folder / "run" / "outcomes.jsonl").is_file(),
        Step.SCORE: (folder / SCORES).is_file() and (judged or record.last("scored") is not None),
        Step.JUDGE: is_judged(session, number) if judged else record.last("scored") is not None,
        Step.CALIBRATE: record.last("scored") is not None,
        Step.DECIDE: (folder / DECISION).is_file(),
        Step.REPORT: issued_languages(record) >= set(session.contract.model.report.languages),
    }
    done = tuple(step for step in ORDER if facts[step])
    following = next((step for step in ORDER if not facts[step]), None)
    until = reply_deadline(session, number) if following is Step.REPORT else None
    people = following is Step.CALIBRATE and labels_due(session, number)
    return Progressed(number, folder, done, following, until, people)


def _run(session: Session, number: int) -> None:
    record = session.record(number)
    if record.terminal is None:
        if record.started is None:
            prepare(session, number, None)
        exchange(session, number, start(session, number))
        record = session.record(number)
    rewrite(session, number)
    assert record.terminal is not None  # noqa: S101 - exchange ends the run or raises
    if covering(session.bank_folder, record.terminal.seq) is None:
        session.checkpoint_if_here()


def _score(session: Session, number: int) -> None:
    record = session.record(number)
    if record.delivery(Part.REFERENCE.value) is None:
        deliver_references(session, number)
    if record.last("scored") is None and not (session.run_folder(number) / SCORES).is_file():
        score_run(session, number)
    if session.contract.model.judge is None:
        _commit(session, number)


def _commit(session: Session, number: int) -> None:
    """Commit the scores; those that a judge has a part in only when people have said how good it is."""
    scored = session.record(number).last("scored")
    if scored is None:
        commit_scores(session, number)
    elif covering(session.bank_folder, scored.seq, token=_stamps(session)) is None:
        session.checkpoint(scored.seq, stamp=True)


def _stamps(session: Session) -> bool:
    return session.ports.timestamper is not None


def _judge(session: Session, number: int) -> None:
    """Ask the judge what no rule settled."""
    if session.record(number).last("scored") is None:
        judge_run(session, number)


def _calibrate(session: Session, number: int) -> None:
    calibrate_run(session, number)
    _commit(session, number)


def _decide(session: Session, number: int) -> None:
    if not (session.run_folder(number) / DECISION).is_file():
        decide_run(session, number)


def _report(session: Session, number: int) -> None:
    if not (session.run_folder(number) / TOKEN).is_file():
        await_reply(session, number)
        close_run_evidence(session, number)
    issue_reports(session, number)


_STEPS: dict[Step, Callable[[Session, int], None]] = {
    Step.RUN: _run,
    Step.SCORE: _score,
    Step.JUDGE: _judge,
    Step.CALIBRATE: _calibrate,
    Step.DECIDE: _decide,
    Step.REPORT: _report,
}


def _refuse_elsewhere(session: Session, record: RunRecord) -> None:
    """Refuse to go on with a run whose folder is not under this `--out`. Raises: ApplicationError SLV-A022."""
    folder = session.run_folder(record.number)
    if has_started(session, record.number) and not (folder / "run" / "plan.json").is_file():
        raise ApplicationError(
            "SLV-A022",
            Text(f"la corrida {record.number} no está en esta carpeta", f"run {record.number} is not in this folder"),
            fix=Text("dé en --out la carpeta con que empezó", "give with --out the folder that it began with"),
            where=str(folder),
        )


def _nothing_to_resume(session: Session) -> ApplicationError:
    return ApplicationError(
        "SLV-A024",
        Text("no hay ninguna corrida de este contrato que seguir", "there is no run of this contract to go on with"),
        why=Text(
            "un contrato que cambió en algo es otro contrato",
            "a contract that changed in anything is another contract",
        ),
        fix=Text("quite --resume para abrir una corrida", "leave out --resume to open a run"),
        where=session.contract.digest,
    )


def _unfinished(session: Session, number: int) -> ApplicationError:
    folder = session.run_folder(number)
    return ApplicationError(
        "SLV-A020",
        Text(
            f"la corrida {number} de este contrato no ha terminado; no se abre otra",
            f"run {number} of this contract is unfinished; no second one is opened",
        ),
        why=Text(
            "una segunda corrida gastaría preguntas y presupuesto",
            "a second run would burn items and budget",
        ),
        fix=Text(
            "repita la misma orden con --resume",
            "repeat the same command with --resume",
        ),
        where=str(folder),
    )
