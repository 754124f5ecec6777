"""A bounded run of the fuzz targets in every test run; the long one, under atheris, at night."""

from __future__ import annotations

import importlib.util

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.custody_targets import JUDGES, READERS, fuzz, judge, mutate, read_any, refuses


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60, deadline=None)
@given(data=st.one_of(st.binary(max_size=300), st.text(max_size=200).map(lambda t: t.encode("utf-8", "ignore"))))
def test_arbitrary_bytes_are_refused_and_never_crash(name: str, data: bytes) -> None:
    read_any(name, data)


@pytest.mark.parametrize("name", JUDGES)
@settings(max_examples=80, deadline=None)
@given(data=st.binary(min_size=5, max_size=24))
def test_nothing_but_the_honest_input_is_accepted(name: str, data: bytes) -> None:
    found = judge(name)
    found.judge(found.honest)
    refuses(name, mutate(name, data))


@pytest.mark.parametrize("name", JUDGES)
def test_no_single_bit_may_change(name: str) -> None:
    honest = judge(name).honest
    step = max(1, len(honest) // 150)
    for place in range(0, len(honest), step):
        for bit in (1, 32, 128):
            refuses(name, honest[:place] + bytes([honest[place] ^ bit]) + honest[place + 1 :])


@pytest.mark.nightly
@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed")
@pytest.mark.parametrize("name", sorted({*READERS, *JUDGES}))
def test_a_minute_of_coverage_guided_fuzzing(name: str) -> None:
    done = fuzz(name, 60)
    assert done.returncode == 0, done.stderr[-3000:]
