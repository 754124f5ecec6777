"""Signals again from a bundle: what its lines and bytes show, in the file and as events of the score records."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from slaverify.verify import Outcome
from tests.verify.checking import check, failures, said
from tests.verify.sample import closed, edited, edited_line, forced, line, public

SIGNALS, SCORES = "run/signals.json", "scoring/scores.jsonl"
WRONG = 6


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return closed(line(wrong=WRONG))


def entry(tree: dict, code: str) -> dict:
    (found,) = [one for one in tree["signals"] if one["code"] == code]
    return found


def test_one_wrong_answer_for_many_questions_is_an_event_of_each_and_one_abstention_is_none(files):
    made = line(wrong=WRONG)
    assert check(made, files, annex=dict(made.annex)).outcome is Outcome.VERIFIED
    found = entry(json.loads(files[SIGNALS]), "constant_output")
    rows = [json.loads(row) for row in files[SCORES].splitlines()]
    shown = [row for row in rows if any(event["code"] == "constant_output" for event in row["events"])]
    assert len(shown) == WRONG and {row["class"] for row in shown} == {"answer"}
    assert found["items"] == WRONG + sum(row["class"] == "abstention" for row in rows)


def invented(tree: dict) -> None:
    tree["signals"].append({"code": "partial_body", "items": 1, "level": "pattern", "positions": [0]})


EDITS: list[tuple[Callable[[dict], None], bool]] = [
    (lambda tree: tree["signals"].clear(), False),
    (lambda tree: entry(tree, "constant_output")["positions"].pop(), False),
    (lambda tree: entry(tree, "constant_output").update(items=1), False),
    (lambda tree: entry(tree, "constant_output").update(level="signal"), False),
    (lambda tree: tree["signals"].reverse(), False),
    (lambda tree: tree.update(run_id="other"), True),
    (invented, True),
    (lambda tree: entry(tree, "constant_output")["positions"].append(10**9), True),
    (lambda tree: tree.update(signals=[{}]), True),
]


@pytest.mark.parametrize(("edit", "by_the_public"), EDITS)
def test_a_false_file_of_signals_signed_again_is_refused(files, edit, by_the_public):
    made, forged = line(wrong=WRONG), edited(files[SIGNALS], edit)
    found = check(made, forced(files, SIGNALS, forged))
    assert "V19" in failures(found)
    if by_the_public:
        assert "V19" in failures(check(made, forced(public(files), SIGNALS, forged)))


def test_a_pattern_that_a_record_hides_or_invents_is_refused(files):
    made = line(wrong=WRONG)
    rows = [json.loads(row) for row in files[SCORES].splitlines()]
    flagged = next(at for at, row in enumerate(rows) if row["events"])
    plain = next(at for at, row in enumerate(rows) if not row["events"])
    event = {"code": "duplicate_answer_bytes", "level": "pattern", "confirmed": True}
    for at, events in ((flagged, []), (plain, [event])):
        forged = edited_line(files[SCORES], at, lambda row, events=events: row.update(events=events))
        for edition in (files, public(files)):
            found = check(made, forced(edition, SCORES, forged))
            assert {"V18", "V19"} <= failures(found)
            assert "its patterns are not those of the run" in said(found, "V19")
