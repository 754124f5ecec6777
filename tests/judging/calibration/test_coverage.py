"""The corrected interval holds the truth; the judge's own rate does not. Whole audits, seeded."""

from __future__ import annotations

import random

import pytest

from slaverify.judging.calibration import calibration_record
from slaverify.statistics import exact_interval
from tests.bench.calibration import AUDITS, SETTINGS, Seen, Setting, measure
from tests.bench.calibration_risk import POPULATIONS, Population, risk
from tests.judging.calibration.people import contract, labelled, simulated, truthful

LENIENT = Setting(600, "0.90", 0.98, 0.50, 200)
LENIENT_ALONE = Population(1200, 0.9, 0.98, 0.5, 300)


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


@pytest.mark.nightly
@pytest.mark.parametrize("population", [*POPULATIONS, LENIENT_ALONE], ids=str)
def test_no_side_errs_in_more_than_its_share_summed_over_every_outcome(population: Population) -> None:
    found = risk(population)
    assert found.false_pass <= 0.025
    assert found.false_breach <= 0.025


def test_labels_counted_without_their_weights_never_hold_the_truth() -> None:
    """Half of the labels are of what the judge rejects: their plain share is no rate of the run."""
    agreed, held, plain = contract(n=600, min_labels=150), 0, 0
    for number in range(20):
        records, truth = simulated(random.Random(number), 600, 0.92, 0.95, 0.85)
        record = calibration_record(labelled(agreed, records, truthful(truth), seed=bytes([number]) * 32))
        subject = record["subjects"][0]
        counts = subject["matrix"]["counts"]
        right = counts["positive_positive"] + counts["negative_positive"]
        limits = exact_interval(right, subject["labels"], 0.95)
        plain += limits.low <= 0.92 <= limits.high
        held += float(subject["corrected"]["low"]) <= 0.92 <= float(subject["corrected"]["high"])
    assert held >= 18
    assert plain <= 2
