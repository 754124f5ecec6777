"""Try the wording of criteria on a judge, without a run: replies are kept, so that what did not change is not asked.

The folder that keeps them is private: it holds the development set's answers and the judge's words.
"""

from __future__ import annotations

import asyncio
import secrets as random_bytes
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from slaverify.audit.asking import AnotherModelError, Asker
from slaverify.audit.judge_journal import JudgeJournal
from slaverify.canonical import JsonObject
from slaverify.contract import Contract
from slaverify.contract.model.judge import Criterion
from slaverify.custody.files import private_folder, write_whole
from slaverify.engine.wire import read_secrets
from slaverify.errors import JudgeError, Text
from slaverify.judging import Call, Instrument, by_key, instrument_of
from slaverify.judging.adapters.http import HttpJudges
from slaverify.judging.calibration import Known, Tried, probes_known, trial_calls, trial_json, tried

_KEY = "nonces.key"


def try_criteria(
    contract: Contract, rows: Sequence[Known], folder: Path, *, repeats: int, against: Contract | None = None
) -> JsonObject:
    """Ask the contract's judge about probes and development rows and return the trial.

    `against` holds the older wording; it is put to the same judge. Raises: JudgeError SLV-J072 (no criteria), and
    what asking raises (exit 6, resumable: what was answered is kept in `folder`).
    """
    judge = contract.judge
    if judge is None or not judge.criteria:
        raise JudgeError(
            "SLV-J072",
            Text("el contrato no tiene criterios", "the contract has no criteria"),
            fix=Text("escríbalos en judge.criteria", "write them in judge.criteria"),
            where="judge.criteria",
        )
    instrument = instrument_of(contract, _key(folder))
    old = () if against is None or against.judge is None else against.judge.criteria
    found = _tried(instrument, rows, folder, repeats)
    before = None
    if against is not None:
        named = {criterion.id for criterion in judge.criteria}
        common = tuple(criterion for criterion in old if criterion.id in named)
        before = _tried(_with(instrument, common), rows, folder, repeats, probes=judge.criteria)
    return trial_json(judge.criteria, found, before)


def _tried(
    instrument: Instrument,
    rows: Sequence[Known],
    folder: Path,
    repeats: int,
    probes: Sequence[Criterion] | None = None,
) -> list[Tried]:
    """`probes`: the criteria whose probes are asked; the new ones too when the old wording is tried."""
    known = (*probes_known(instrument.judge.criteria if probes is None else probes), *rows)
    calls = trial_calls(instrument, known, repeats)
    with JudgeJournal(folder) as journal:
        asyncio.run(_ask(instrument, journal, calls))
        return tried(instrument, known, calls, by_key(journal.records))


async def _ask(instrument: Instrument, journal: JudgeJournal, calls: Sequence[Call]) -> None:
    judge = instrument.judge
    secrets = read_secrets(sorted({m.endpoint.auth.secret for m in judge.panel if m.endpoint.auth is not None}))
    async with HttpJudges(judge, secrets) as judges:
        try:
            await Asker(instrument, journal, judges).ask(calls, stop_at_other_model=True)
        except AnotherModelError as error:
            raise JudgeError(
                "SLV-J073",
                Text("respondió otro modelo que el fijado", "another model than the pinned one answered"),
                fix=Text("corrija snapshot o expected_model_echo", "mend snapshot or expected_model_echo"),
                where="judge.panel.expected_model_echo",
                exit_code=6,
            ) from error


def _with(instrument: Instrument, criteria: tuple[Criterion, ...]) -> Instrument:
    return replace(instrument, judge=instrument.judge.model_copy(update={"criteria": criteria}))


def _key(folder: Path) -> bytes:
    """Return the key of the nonces: the same for every trial in the folder, or nothing could be used again."""
    path = private_folder(folder) / _KEY
    if not path.is_file():
        write_whole(path, random_bytes.token_bytes(32), 0o600)
    return path.read_bytes()
