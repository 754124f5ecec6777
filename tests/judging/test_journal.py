"""The journal of a judge's calls: what was flushed stays, a torn line goes, a damaged one stops everything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slaverify.audit.asking import calls_allowed
from slaverify.audit.judge_journal import NAME, JudgeJournal
from slaverify.contract.model.judge import Judge
from slaverify.errors import JudgeError
from slaverify.judging import JudgementRecord
from tests.judging.test_adapters import judge_at

RECORD = JudgementRecord(
    key="ab" * 32,
    request_digest="cd" * 32,
    attempt=1,
    raw="¿sí?\n".encode(),
    stop="complete",
    refused=False,
    echo="juez-2026-01-15",
    fingerprint=None,
    usage=(12, None),
    fault=None,
)


def test_what_was_written_is_read_again_and_an_intent_alone_was_a_call(tmp_path: Path) -> None:
    with JudgeJournal(tmp_path / "j") as journal:
        journal.intend(RECORD.key, 1)
        journal.add(RECORD)
        journal.intend(RECORD.key, 2)
    assert (tmp_path / "j" / NAME).stat().st_mode & 0o777 == 0o600
    with JudgeJournal(tmp_path / "j") as again:
        assert again.records == [RECORD]
        assert again.intents == 2


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_torn_last_line_is_cut_off_and_the_next_one_stands_alone(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "j" / NAME
    with JudgeJournal(tmp_path / "j") as journal:
        journal.add(RECORD)
        journal.add(replace(RECORD, attempt=2))
    path.write_bytes(path.read_bytes()[:-cut])
    with JudgeJournal(tmp_path / "j") as again:
        assert again.records == [RECORD]
        again.add(replace(RECORD, attempt=2, raw=None, fault="deadline"))
    with JudgeJournal(tmp_path / "j") as last:
        assert [record.attempt for record in last.records] == [1, 2]


@pytest.mark.parametrize(("old", "new"), [(b'"attempt":1', b'"attempt":"1"'), (b'"echo"', b'"eco"'), (b"{", b"[")])
def test_a_line_that_somebody_changed_stops_with_its_number(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = tmp_path / "j" / NAME
    with JudgeJournal(tmp_path / "j") as journal:
        journal.add(RECORD)
        journal.add(replace(RECORD, attempt=2))
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(JudgeError, match="SLV-J048") as caught:
        JudgeJournal(tmp_path / "j")
    assert caught.value.exit_code == 5
    assert caught.value.where.endswith(":1")


def test_the_calls_of_an_unfit_judge_are_set_aside_and_still_paid_for(tmp_path: Path) -> None:
    with JudgeJournal(tmp_path / "j") as journal:
        journal.intend(RECORD.key, 1)
        journal.add(RECORD)
        journal.reject()
        assert journal.records == []
        journal.intend(RECORD.key, 1)
    with JudgeJournal(tmp_path / "j") as again:
        assert again.records == []
        assert again.intents == 2


@pytest.mark.parametrize(
    ("budget", "calls"),
    [
        (None, None),
        ({"calls": 100}, 100),
        ({"calls": 100, "amount": "0.5", "price_per_call": "0.01"}, 50),
        ({"calls": 100, "amount": "9", "price_per_call": "0.01"}, 100),
        ({"calls": 100, "amount": "0.299", "price_per_call": "0.1"}, 2),
        ({"calls": 100, "amount": "5"}, 100),
    ],
)
def test_a_budget_is_the_smaller_of_calls_and_money(budget: dict[str, object] | None, calls: int | None) -> None:
    judge = judge_at("http://127.0.0.1:9/v1")
    parsed = None if budget is None else Judge.model_validate({**judge.model_dump(), "budget": budget}).budget
    assert calls_allowed(judge.model_copy(update={"budget": parsed})) == calls
