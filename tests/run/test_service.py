"""Availability and latency counted from the lines of a run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slaverify.contract.words import Outcome
from slaverify.engine import Fault
from slaverify.run import Available, service_of

STRATA = {f"i{number}": "easy" if number < 4 else "hard" for number in range(8)}


def line(item, outcome=None, fault=None, *, hour="10", ms=100, attempt=1):
    return {
        "item_id": f"i{item}",
        "attempt": attempt,
        "started_at": f"2026-11-30T{hour}:15:00.000Z",
        "last_byte_ms": ms,
        "first_byte_ms": ms // 2 if isinstance(ms, int) else ms,
        "fault": fault,
        "outcome": outcome,
    }


def test_a_vendor_that_fails_on_the_hard_ones_shows():
    lines = [line(number, "answered") for number in range(4)]
    lines += [line(number, "vendor_failure", "unavailable", ms=None, hour="11") for number in range(4, 7)]
    found = service_of([*lines, line(7, "empty", hour="11")], STRATA)
    assert found.exchanges == Available(8, 5, 0)
    assert found.by_stratum == {"easy": Available(4, 4, 0), "hard": Available(4, 1, 0)}
    assert found.by_hour == {"2026-11-30T10": Available(4, 4, 0), "2026-11-30T11": Available(4, 1, 0)}


def test_attempts_show_what_retries_hide():
    lines = []
    for number in range(4):
        lines += [line(number, fault="unavailable", ms=20), line(number, "answered", attempt=2)]
    found = service_of(lines, STRATA)
    assert found.exchanges == Available(4, 4, 0)
    assert found.attempts == Available(8, 4, 0)
    assert found.timed == 4, "the attempt that gave the answer alone is timed"


def test_what_is_ours_and_what_is_unknown():
    lines = [
        line(0, fault="interrupted", ms=None),
        line(0, "answered", attempt=2),
        line(1, "auditor_failure", "reset", ms=None),
        line(2, "engine_mismatch", "echo"),
        line(3, "unresolved", "deadline", ms=None),
        line(4, fault="reset", ms=None),
        line(4, "refused", attempt=2),
        line(5, "a word of nobody"),
    ]
    found = service_of(lines, STRATA)
    assert found.exchanges == Available(4, 2, 2)
    assert found.attempts == Available(5, 2, 3)


def test_deadlines_are_longer_than_any_answer():
    lines = [line(0, "answered", ms=number) for number in range(1, 41)]
    lines += [line(1, "vendor_failure", "deadline", ms=None) for _ in range(20)]
    found = service_of(lines, STRATA)
    assert (found.timed, found.censored) == (60, 20)
    median, high, _ = found.last_byte
    assert median.value == 30 and high.value is None
    # P(B <= 21) = .0137 and P(B <= 22) = .0259 for 60 values at the half: the 22nd of them, and none to the other side.
    assert (median.low, median.high) == (22, 39)
    # A late answer has its own time.
    late = service_of([line(0, "vendor_failure", "answer_deadline", ms=5000)], STRATA)
    assert (late.timed, late.last_byte[0].value) == (1, 5000)


words = st.one_of(
    st.none(), st.sampled_from([one.value for one in (*Outcome, *Fault)]), st.text(max_size=3), st.integers()
)


@given(
    st.lists(st.builds(line, st.integers(0, 9), words, words, ms=st.one_of(st.none(), st.integers(-5, 99), st.text())))
)
def test_no_line_breaks_the_count(lines):
    found = service_of(lines, STRATA)
    for one in (found.exchanges, found.attempts, *found.by_stratum.values(), *found.by_hour.values()):
        assert 0 <= one.available + one.unresolved <= one.asked
    assert sum(one.asked for one in found.by_hour.values()) == found.exchanges.asked
