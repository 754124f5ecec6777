"""Is the instrument still the same: sentinels, drift, repeats, counted from votes alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from slaverify.contract.load import parse_contract
from slaverify.contract.model.judge import Judge
from slaverify.errors import JudgeError
from slaverify.judging import (
    Instrument,
    Purpose,
    Vote,
    instrument_of,
    panel_json,
    read_sentinels,
    unfit_before,
    unstable,
)
from slaverify.judging.sentinels import max_drift
from slaverify.judging.summary import sentinel_report
from slaverify.resources import resource
from tests.simulator.judges import sentinel_lines

Says = Callable[[int, int], str]
"""From sentinel and pass to what the judge says."""


@pytest.fixture(scope="module")
def instrument() -> Instrument:
    contract = parse_contract(resource("contratos", "asistente-normativo-cl.yaml").read_bytes(), "example").model
    return instrument_of(contract, bytes(32))


@pytest.fixture(scope="module")
def judge(instrument: Instrument) -> Judge:
    return instrument.judge


def vote(name: str, said: str | None, at: int, purpose: Purpose = Purpose.SENTINEL, **changes: Any) -> Vote:
    wrong = int(name) % 2 == 1 if purpose is Purpose.SENTINEL else False
    base: dict[str, Any] = {
        "purpose": purpose,
        "subject": name,
        "repetition": 0,
        "side": "current",
        "member": "uno",
        "criterion": None,
        "asked": ("correctness",),
        "vote": at,
        "key": f"{name}/{at}",
        "attempts": 1,
        "values": None if said is None else {"correctness": said},
        "failure": "not_json" if said is None else None,
        "known": "known_wrong" if wrong else "known_right",
        "right": None if said is None else (said == ("incorrect" if wrong else "correct")),
    }
    return Vote(**{**base, **changes})


def right(number: int) -> str:
    return "incorrect" if number % 2 else "correct"


def run(says: Says, *, sentinels: int = 60, during: int = 10, closing: bool = True) -> list[Vote]:
    found = [vote(str(s), says(s, at), at) for at in range(3) for s in range(sentinels)]
    found += [vote(str(s), says(s, 3 + s), 3 + s) for s in range(during)]
    last = 3 + during
    return found + ([vote(str(s), says(s, last), last) for s in range(sentinels)] if closing else [])


def test_a_judge_that_stays_the_same_does_not_drift(judge: Judge) -> None:
    found = sentinel_report(judge, "uno", run(lambda s, _: right(s)))
    assert (found["stable"], found["flips"], found["drift"]) == (60, 0, False)
    assert (found["let_through_before"], found["changes_after"], found["known_wrong"]) == (0, 0, 30)


def test_a_judge_that_turns_around_or_is_not_asked_again_has_drifted(judge: Judge) -> None:
    turned = run(lambda s, at: right(s) if at < 6 else right(s + 1))
    assert sentinel_report(judge, "uno", turned)["drift"] is True
    assert sentinel_report(judge, "uno", run(lambda s, _: right(s), closing=False))["drift"] is True
    assert sentinel_report(judge, "uno", [])["drift"] is True
    assert panel_json(judge, [])["drift"] is True


def test_one_known_wrong_answer_let_through_at_the_end_is_drift(judge: Judge) -> None:
    found = sentinel_report(judge, "uno", run(lambda s, at: "correct" if (s, at) == (1, 13) else right(s)))
    assert found["let_through_after"] == 1
    assert found["drift"] is True


def test_steady_noise_of_three_percent_is_drift_in_at_most_three_percent_of_runs(judge: Judge) -> None:
    allowing = judge.model_copy(update={"sentinels": judge.sentinels.model_copy(update={"max_wrong": 10})})
    drifted = 0
    for seed in range(1000):
        draw = random.Random(seed)
        votes = run(lambda s, _, draw=draw: right(s + (draw.random() < 0.03)))  # type: ignore[misc]
        drifted += sentinel_report(allowing, "uno", votes)["drift"] is True
    assert drifted <= 30


def test_the_largest_drift_is_the_least_count_that_the_baseline_exceeds_once_in_a_hundred() -> None:
    from math import comb

    from slaverify.statistics import exact_bound

    for stable, flips in ((60, 0), (55, 5), (40, 20)):
        u = exact_bound(flips, 60, 0.95).high

        def beyond(c: int, stable: int = stable, u: float = u) -> float:
            return sum(comb(stable, k) * u**k * (1 - u) ** (stable - k) for k in range(c + 1, stable + 1))

        c = max_drift(stable, flips, 60)
        assert beyond(c) <= 0.01 < beyond(c - 1)


def test_an_unfit_judge_is_named_before_it_sees_an_answer(judge: Judge) -> None:
    assert unfit_before(judge, run(lambda s, _: right(s))) is None
    assert unfit_before(judge, run(lambda s, _: "incorrect")) == "one_verdict"
    assert unfit_before(judge, run(lambda s, _: "correct")) == "known_wrong_passed"
    other = [vote("0", None, 0, failure="identity_mismatch")]
    assert unfit_before(judge, other) == "identity_mismatch"


def repeats(flipped: int, items: int = 60) -> list[Vote]:
    found = []
    for item in range(items):
        for at in range(3):
            said = "incorrect" if item < flipped and at == 2 else "correct"
            purpose = Purpose.ITEM if at == 0 else Purpose.REPEAT
            found.append(vote(str(item), said, at, purpose, known=None, right=None))
    return found


@pytest.mark.parametrize(
    ("flipped", "upper", "fine"), [(0, "0.0487", True), (1, "0.0766", False), (2, "0.1012", False)]
)
def test_flips_are_held_against_the_cap_by_their_upper_limit(
    judge: Judge, flipped: int, upper: str, fine: bool
) -> None:
    panel = panel_json(judge, repeats(flipped))
    (row,) = panel["repeats"]
    assert (row["flipped"], row["within_cap"]) == (flipped, fine)
    assert row["upper"].startswith(upper)
    assert unstable(panel) == (frozenset() if fine else {None})


def test_a_sentinel_file_is_read_strictly(instrument: Instrument) -> None:
    data = sentinel_lines()
    assert len(read_sentinels(data, instrument)) == 60
    lines = data.splitlines(keepends=True)
    for broken in (
        b"".join(reversed(lines)),
        data.replace(b'"known_right"', b'"right"', 1),
        data.replace(b'"reglab@1"', b'"facts@1"', 1),
        data[:-1],
        data.replace(b'"expected":{"correctness":["correct"]}', b'"expected":{}', 1),
    ):
        with pytest.raises(JudgeError, match="SLV-J040"):
            read_sentinels(broken, instrument)
    with pytest.raises(JudgeError, match="SLV-J041"):
        read_sentinels(b"".join(lines[1:]), instrument)
    with pytest.raises(JudgeError, match="SLV-J042"):
        read_sentinels(data, instrument, digest="sha256:" + "0" * 64)


def test_both_stages_of_facts_are_repeated_apart(judge: Judge) -> None:
    def stage(field: str, said: Any, at: int, purpose: Purpose) -> Vote:
        return vote("1", "x", at, purpose, asked=(field,), values={field: said}, key=f"{field}/{at}", known=None)

    votes = [stage("eligibility", "no_issues", 0, Purpose.ITEM), stage("sentences", ["supported"], 0, Purpose.ITEM)]
    votes += [stage("eligibility", "no_issues", at, Purpose.REPEAT) for at in (1, 2)]
    (row,) = panel_json(judge, votes)["repeats"]
    assert (row["answers"], row["complete"], row["flipped"]) == (1, 1, 0)
