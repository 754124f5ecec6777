"""Retries: which fault, how often, after how long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.engine import Fault, Retry, next_step, retry_after_s, retry_class
from slaverify.engine.retry import Move, backoff_s
from tests.engine.endpoints import endpoint_spec

CALL = endpoint_spec(call={"backoff": {"base_s": "1", "jitter_s": "1", "cap_s": "30"}}).call


def moves(*faults, status=500, headers=None):
    return [next_step(CALL, faults[: index + 1], status, headers or {}, 0.5).move for index in range(len(faults))]


def test_a_complete_answer_is_never_asked_again():
    assert next_step(CALL, [None], 200, {}, 0.0).move is Move.DONE


def test_classes():
    assert moves(Fault.RESET, Fault.RESET, Fault.RESET) == [Move.WAIT, Move.WAIT, Move.DONE]
    assert moves(Fault.DEADLINE, Fault.SYNTAX) == [Move.WAIT, Move.DONE]
    assert moves(Fault.RESET, Fault.DEADLINE, Fault.RESET) == [Move.WAIT, Move.WAIT, Move.DONE]
    assert (
        moves(Fault.BODY_TOO_LARGE) == moves(Fault.DEPTH) == moves(Fault.MAPPING) == moves(Fault.STATUS) == [Move.DONE]
    )
    assert moves(Fault.UNAUTHORISED) == moves(Fault.REDIRECT) == moves(Fault.QUOTA) == [Move.STOP]
    assert all(retry_class(fault) in Retry for fault in Fault)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2", 2),
        ("000120", 120),
        ("-1", None),
        ("1_000", None),
        ("nan", None),
        ("inf", None),
        ("1.5", None),
        ("9999999", None),
        ("", None),
        ("٣", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 2),
        ("Wed, 21 Oct 2026 07:20:00 GMT", 0),
        ("Wed, 21 Oct 2026 07:28:00", None),
        ("Wed Oct 21 07:28:00 2026", None),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
        ("Wed, 31 Feb 2026 07:28:00 GMT", None),
    ],
)
def test_retry_after(text, seconds):
    assert retry_after_s({"retry-after": text, "date": "Wed, 21 Oct 2026 07:27:58 GMT"}) == seconds


def test_a_date_without_date_counts_as_absent():
    assert retry_after_s({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}) is None


def test_retry_after_above_the_cap_parks():
    step = next_step(CALL, [Fault.RATE_LIMITED], 429, {"retry-after": "900"}, 0.0)
    assert (step.move, step.wait_s) == (Move.PARK, 900.0)
    assert next_step(CALL, [Fault.RATE_LIMITED], 429, {"retry-after": "120"}, 0.0).move is Move.WAIT
    # Only 429 and 503 are allowed to name a time.
    assert next_step(CALL, [Fault.UNAVAILABLE], 500, {"retry-after": "900"}, 0.0).wait_s == 1.0


@given(st.integers(1, 40), st.floats(0, 1, exclude_max=True))
def test_backoff_doubles_up_to_the_cap(spent, jitter):
    wait = backoff_s(CALL, spent, jitter)
    assert min(2.0 ** (spent - 1), 30.0) <= wait <= min(2.0 ** (spent - 1) + 1, 30.0)
