"""The time of a decision grows with the records, not faster; `docs/validation/decision-speed.md` has the seconds."""

from __future__ import annotations

import pytest

from tests.bench.decision_speed import seconds


def test_ten_times_the_records_take_ten_times_as_long() -> None:
    assert seconds(20_000) < 20 * seconds(2_000)


@pytest.mark.nightly
def test_growth_is_linear() -> None:
    assert seconds(200_000, times=2) < 30 * seconds(10_000)
