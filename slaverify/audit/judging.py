"""The judge's step: ask what no rule settled, watch the instrument, write `judging/` and the scores.

Everything that is written is a pure function of the recorded replies: a walk that was cut asks only what is missing.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from slaverify.audit.asking import AnotherModelError, Asker, calls_allowed
from slaverify.audit.judge_journal import JudgeJournal
from slaverify.audit.opening import journal_path, private
from slaverify.audit.scoring import ANNEX_FOLDER, SCORES, given_answers
from slaverify.audit.session import Session, put, put_json
from slaverify.canonical import JsonObject, jsonl
from slaverify.contract.model.judge import Judge
from slaverify.custody.append import record_exposure
from slaverify.custody.files import private_folder
from slaverify.decision import judged_floor
from slaverify.engine.wire import read_secrets
from slaverify.errors import JudgeError, Text
from slaverify.judging import (
    PANEL,
    RUN_KEY,
    VOTES,
    Call,
    Evaluated,
    Instrument,
    Sentinel,
    Work,
    answer_calls,
    baseline_calls,
    by_key,
    closing_calls,
    evaluate,
    instrument_of,
    judged_records,
    panel_json,
    passes_trivially,
    read_sentinels,
    refusal_calls,
    refused_asks,
    run_key_json,
    trivial_calls,
    trivial_report,
    unfit_before,
    votes_of,
    watching_calls,
    work_of,
)
from slaverify.judging.adapters.http import HttpJudges
from slaverify.run.journal import Journal

FOLDER = "judging"
"""Folder of `private/` and of the annex with the calls."""
SENTINELS = "sentinels.jsonl"
RECORDS = "records.jsonl"


@dataclass(frozen=True)
class Plan:
    """What a judge would be asked now, for `judge --dry-run`."""

    calls: tuple[Call, ...]
    work: Work
    allowed: int | None


def keep_sentinels(session: Session, number: int | None = None) -> bytes | None:
    """Return the pinned sentinel file, from beside the contract, and keep it in the private folder of run `number`.

    Raises: JudgeError SLV-J040 to J042 (not there, malformed, another file); None without a judge.
    """
    judge = session.contract.model.judge
    if judge is None:
        return None
    kept = None if number is None else private(session, number) / FOLDER / SENTINELS
    beside = Path(session.contract.source).resolve().parent / f"{session.contract.model.contract.id}.{SENTINELS}"
    path = kept if kept is not None and kept.is_file() else beside
    if not path.is_file():
        raise JudgeError(
            "SLV-J042",
            Text("falta el archivo de centinelas del juez", "the judge's sentinel file is missing"),
            fix=Text(f"póngalo en {beside}", f"put it at {beside}"),
            where=str(beside),
            exit_code=5,
        )
    data = path.read_bytes()
    _sentinels(session, data, instrument_of(session.contract.model, b""))
    if kept is not None and not kept.is_file():
        private_folder(kept.parent)
        put(kept, data)
    return data


def is_judged(session: Session, number: int) -> bool:
    """Say whether the judge's step stands; a contract without a judge has none to do."""
    return session.contract.model.judge is None or (session.run_folder(number) / PANEL).is_file()


class Only(StrEnum):
    """A part of what is due, for a judge whose budget comes in parts. The known answers always come first."""

    SENTINELS = "sentinels"
    ITEMS = "items"
    REPEATS = "repeats"


def judge_run(session: Session, number: int, *, more_calls: int = 0, only: Only | None = None) -> None:
    """Ask what is missing, then write `judging/`, the annex's records and the scores.

    With `only` a part is asked and nothing is written: the step is not done.
    Raises: JudgeError (exit 6, resumable: away, budget, unfit before the first answer; 5: sentinels).
    """
    judge = session.contract.model.judge
    if judge is None or is_judged(session, number):
        return
    work = _work(session, number)
    secrets = read_secrets(sorted({m.endpoint.auth.secret for m in judge.panel if m.endpoint.auth is not None}))
    _expose(session, number, judge, work)
    with JudgeJournal(private(session, number) / FOLDER) as journal:
        asyncio.run(_ask_all(work, journal, HttpJudges(judge, secrets), more_calls, only))
        if only is not None:
            return
        _write(session, number, work, journal, evaluate(work, by_key(journal.records)))


def plan_of_judge(session: Session, number: int) -> Plan | None:
    """Return the calls that are planned before any answer of the judge is known; None without a judge."""
    judge = session.contract.model.judge
    if judge is None:
        return None
    work = _work(session, number)
    calls = (
        *baseline_calls(work),
        *trivial_calls(work),
        *answer_calls(work),
        *watching_calls(work),
        *closing_calls(work),
    )
    return Plan(calls, work, calls_allowed(judge))


def _work(session: Session, number: int) -> Work:
    model = session.contract.model
    with Journal.open(journal_path(session.run_folder(number))) as journal:
        run_key = bytes.fromhex(journal.nonce(RUN_KEY))
    instrument = instrument_of(model, run_key)
    data = keep_sentinels(session, number)
    assert data is not None  # noqa: S101 - asked only with a judge
    return work_of(model, instrument, given_answers(session, number), _sentinels(session, data, instrument))


def _sentinels(session: Session, data: bytes, instrument: Instrument) -> tuple[Sentinel, ...]:
    judge = session.contract.model.judge
    assert judge is not None  # noqa: S101 - asked only with a judge
    return read_sentinels(data, instrument, digest=judge.sentinels.digest)


async def _ask_all(work: Work, journal: JudgeJournal, judges: HttpJudges, more_calls: int, only: Only | None) -> None:
    async with judges:
        asker = Asker(work.instrument, journal, judges, more_calls)
        # 1 the whole sentinel set, before any answer is spent on a judge that is unfit
        await asker.ask(baseline_calls(work), stop_at_other_model=False)
        _refuse_unfit(work, journal)
        try:
            # 2 answers that know nothing, then those of the run; 3 those that every member refused; 4 what watches the
            # judge; 5 the sentinels again
            if only is not Only.SENTINELS:
                await asker.ask(trivial_calls(work), stop_at_other_model=True)
                _refuse_trivial(work, journal)
            if only in (None, Only.ITEMS):
                await asker.ask(answer_calls(work), stop_at_other_model=True)
                refused = refused_asks(work, by_key(journal.records))
                await asker.ask(refusal_calls(work, refused), stop_at_other_model=True)
            if only in (None, Only.REPEATS):
                await asker.ask(watching_calls(work), stop_at_other_model=True)
            if only is None:
                await asker.ask(closing_calls(work), stop_at_other_model=True)
        except AnotherModelError:
            return


def _refuse_unfit(work: Work, journal: JudgeJournal) -> None:
    votes = votes_of(work, baseline_calls(work), by_key(journal.records))
    word = unfit_before(work.instrument.judge, votes)
    if word is None:
        return
    journal.reject()
    raise JudgeError(
        "SLV-J046",
        Text(f"el juez no sirve como instrumento: {word}", f"the judge is unfit as an instrument: {word}"),
        why=Text(
            "se comprobó con respuestas conocidas, antes de mostrarle ninguna de la corrida",
            "it was checked on known answers, before it saw any of the run",
        ),
        fix=Text("corrija el juez y repita «slaverify judge RUN»", "mend the judge and repeat `slaverify judge RUN`"),
        where="judge.sentinels",
        exit_code=6,
    )


def _refuse_trivial(work: Work, journal: JudgeJournal) -> None:
    """Refuse a contract under which an answer that knows nothing would meet what is promised. Raises: SLV-J050."""
    votes = votes_of(work, trivial_calls(work), by_key(journal.records))
    floor = judged_floor(work.contract)
    for row in trivial_report(work.instrument.judge, votes):
        if passes_trivially(row, floor):
            name, shown = row["name"], f"{row['good']}/{row['answers']}"
            raise JudgeError(
                "SLV-J050",
                Text(
                    f"ante este juez la respuesta trivial «{name}» cumple ({shown})",
                    f"before this judge the trivial answer `{name}` is met with a pass ({shown})",
                ),
                why=Text(
                    "quien nada sabe cumpliría lo pactado: el contrato no mide",
                    "whoever knows nothing would meet what was agreed: the contract measures nothing",
                ),
                fix=Text(
                    "cierre la corrida y pacte otro juez u otros criterios en una versión nueva",
                    "end the run and agree on another judge or other criteria in a new version",
                ),
                where="judge",
                exit_code=5,
            )


def _expose(session: Session, number: int, judge: Judge, work: Work) -> None:
    """Record, before the first call, which items each provider of a judge will see."""
    ids = {ask.answer.item.id for ask in (*work.asks, *work.shadows)}
    leaves = sorted(session.bank.index.by_id[item].i for item in ids)
    channel = f"judge {session.run_folder(number).name}"
    for provider in sorted({member.provider for member in judge.panel}):
        if session.ledger.refresh().find("exposure", party=provider, channel=channel) is None:
            record_exposure(
                session.ledger, session.auditor, party=provider, role="judge", items=leaves, channel=channel
            )


def _write(session: Session, number: int, work: Work, journal: JudgeJournal, found: Evaluated) -> None:
    folder, judge = session.run_folder(number), work.instrument.judge
    annex = private(session, number) / ANNEX_FOLDER / FOLDER
    used = [record for record in journal.records if record.key in found.used]
    lines: list[JsonObject] = [record.to_json() for record in sorted(used, key=lambda one: (one.key, one.attempt))]
    put(annex / RECORDS, jsonl(lines))
    sentinels = keep_sentinels(session, number)
    assert sentinels is not None  # noqa: S101 - there is a judge
    put(annex / SENTINELS, sentinels)
    put_json(folder / RUN_KEY, run_key_json(work.instrument.run_key))
    put(folder / VOTES, jsonl(vote.to_json() for vote in found.votes))
    records = [answer.record for answer in given_answers(session, number)]
    put(folder / SCORES, jsonl(record.to_json() for record in judged_records(work, records, found.votes)))
    # Last: its presence says that the step is done.
    put_json(folder / PANEL, panel_json(judge, found.votes))
