"""The corrected interval holds the truth; the judge's own rate does not. Whole audits, seeded."""

from __future__ import annotations

import pytest

from tests.bench.calibration import AUDITS, SETTINGS, Seen, Setting, measure

LENIENT = Setting(600, "0.90", 0.98, 0.50, 200)


def test_forty_audits_hold_the_truth_where_the_judge_alone_never_does() -> None:
    seen = measure(LENIENT, 40)
    # 40 audits at 94 %: 34 or fewer come by chance once in 60.
    assert seen.covered >= 35
    assert seen.naive_covered <= 15
    assert seen.naive / 40 > 0.92
    assert seen.passes + seen.breaches <= 4


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_five_hundred_audits_cover_at_least_94_percent(setting: Setting) -> None:
    seen: Seen = measure(setting, AUDITS)
    decided = seen.audits - seen.refused
    assert decided >= 0.9 * AUDITS
    assert seen.covered >= 0.94 * decided
    assert seen.passes <= 0.035 * AUDITS
    assert seen.breaches <= 0.035 * AUDITS
