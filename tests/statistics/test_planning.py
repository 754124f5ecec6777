"""Power, smallest samples over the sawtooth, two-point plans, two stages, early stop."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    SPENDING,
    TwoPoint,
    acceptance_numbers,
    check_spending,
    detectable_rate,
    early_stop,
    min_n_power,
    oc_accept,
    one_sided_log_e,
    power,
    stage_risks,
    state_probability,
    two_point_plan,
    two_stage,
)

A = Decimal("0.025")


@pytest.mark.parametrize(
    ("threshold", "rate", "side", "eighty", "ninety"),
    [
        ("0.90", 0.95, "pass", 255, 316),
        ("0.95", 0.97, "pass", 851, 1106),
        ("0.95", 0.98, "pass", 338, 440),
        ("0.95", 0.99, "pass", 173, 202),
        ("0.98", 0.99, "pass", 1356, 1720),
        ("0.90", 0.85, "breach", 362, 484),
        ("0.95", 0.90, "breach", 234, 301),
        ("0.95", 0.92, "breach", 562, 736),
        ("0.97", 0.95, "breach", 795, 1049),
    ],
)
def test_published_plans(threshold: str, rate: float, side: str, eighty: int, ninety: int) -> None:
    assert min_n_power(Decimal(threshold), rate, A, 0.8, side) == eighty
    assert min_n_power(Decimal(threshold), rate, A, 0.9, side) == ninety


@pytest.mark.parametrize(
    ("threshold", "rate", "side"),
    [
        ("0.9", 0.95, "pass"),
        ("0.95", 0.9, "breach"),
        ("0.8", 0.85, "pass"),
        ("0.9", 0.86, "breach"),
        ("0.5", 0.6, "pass"),
    ],
)
def test_the_power_holds_for_all_larger_n(threshold: str, rate: float, side: str) -> None:
    found = min_n_power(Decimal(threshold), rate, A, 0.8, side)
    powers = {n: power(Decimal(threshold), rate, n, A, side) for n in range(max(1, found - 60), 2 * found)}
    assert all(value >= 0.8 for n, value in powers.items() if n >= found)
    assert powers[found - 1] < 0.8


@pytest.mark.nightly
def test_many_plans_by_brute_force() -> None:
    generator = random.Random(4)
    for _ in range(150):
        threshold = Decimal(generator.choice(["0.6", "0.75", "0.8", "0.9", "0.95"]))
        rate = round(float(threshold) + generator.choice([-1, 1]) * generator.uniform(0.03, 0.2), 3)
        if not 0 < rate < 1:
            continue
        side = "pass" if rate > threshold else "breach"
        target, alpha = generator.choice([0.5, 0.7, 0.8, 0.9]), generator.choice([A, Decimal("0.05"), Fraction(1, 80)])
        found = min_n_power(threshold, rate, alpha, target, side)
        powers = [power(threshold, rate, n, alpha, side) for n in range(max(1, found - 1), 3 * found + 50)]
        assert all(value >= target for value in powers[1 if found > 1 else 0 :])
        assert found == 1 or powers[0] < target


@pytest.mark.parametrize(
    ("threshold", "rate"), [("0.6", 0.8), ("0.6", 0.35), ("0.75", 0.95), ("0.75", 0.5), ("0.8", 0.99)]
)
@pytest.mark.parametrize("target", [0.5, 0.8, 0.9])
def test_small_plans_by_brute_force(threshold: str, rate: float, target: float) -> None:
    """From the n found on the power holds for every larger n, and one item fewer does not reach it."""
    side = "pass" if rate > float(threshold) else "breach"
    found = min_n_power(Decimal(threshold), rate, A, target, side)
    assert found is not None
    powers = [power(Decimal(threshold), rate, n, A, side) for n in range(found - 1, 3 * found + 50)]
    assert powers[0] < target
    assert min(powers[1:]) >= target


def test_no_plan_on_the_wrong_side_or_out_of_reach() -> None:
    assert min_n_power(Decimal("0.95"), 0.95, A, 0.8, "pass") is None
    assert min_n_power(Decimal("0.95"), 0.90, A, 0.8, "pass") is None
    assert min_n_power(Decimal("0.95"), 0.97, A, 0.8, "breach") is None
    assert min_n_power(Decimal("0.95"), Fraction(95001, 100000), A, 0.8, "pass") is None
    assert min_n_power(Decimal("0.95"), Fraction(94975, 100000), A, 0.8, "breach") is None
    assert min_n_power(Decimal("0.95"), 1.0, A, 0.8, "pass") == 72


def test_detectable_rate_is_the_inverse_of_the_probability() -> None:
    rate = detectable_rate(500, 36, 0.8)
    assert state_probability(500, 15, 36, rate, "breach") == pytest.approx(0.8, abs=1e-9)
    assert detectable_rate(500, None, 0.8) is None
    assert state_probability(500, None, None, 0.99, "pass") == 0.0
    assert state_probability(500, None, None, 0.5, "breach") == 0.0
    assert state_probability(0, 0, 1, 0.5, "pass") == 0.0


def test_risks_of_the_rule_table() -> None:
    """P(PASS)/P(BREACH) of the guarded rule at T = .95, n = 500."""
    expected = {0.92: (0, 0.768), 0.95: (0.020, 0.020), 0.97: (0.568, 0), 0.98: (0.953, 0)}
    for rate, (passes, breaches) in expected.items():
        assert power(Decimal("0.95"), rate, 500, A, "pass") == pytest.approx(passes, abs=6e-4)
        assert power(Decimal("0.95"), rate, 500, A, "breach") == pytest.approx(breaches, abs=6e-4)
    half = Decimal("0.05")
    rejection = acceptance_numbers(Decimal("0.95"), 500, half, half, rule="guarded_rejection")
    assert oc_accept(500, rejection.pass_max_failures, 0.07) == pytest.approx(0.405, abs=1e-3)
    simple = acceptance_numbers(Decimal("0.95"), 500, A, A, rule="simple")
    assert float(simple.risk_false_pass) == pytest.approx(0.553, abs=1e-3)
    assert float(simple.risk_false_breach) == pytest.approx(0.447, abs=1e-3)


def test_two_point_plan_is_the_smallest() -> None:
    plan = TwoPoint(Decimal("0.02"), Decimal("0.05"), Decimal("0.05"), Decimal("0.05"))
    found = two_point_plan(plan)
    assert (found.n, found.pass_max_failures) == (386, 12)
    with pytest.raises(StatisticsError, match="SLV-S001"):
        two_point_plan(TwoPoint(Decimal("0.05"), Decimal("0.05"), Decimal("0.05"), Decimal("0.05")))


@pytest.mark.parametrize("arguments", [("0.95", 0.97, "pass2"), ("0.95", 1.5, "pass"), ("0.95", math.nan, "pass")])
def test_bad_plans_are_refused(arguments: tuple) -> None:
    threshold, rate, side = arguments
    with pytest.raises(StatisticsError):
        min_n_power(Decimal(threshold), rate, A, 0.8, side)


@pytest.mark.parametrize(("n1", "n2"), [(250, 250), (500, 500), (100, 200)])
def test_g5_two_stages_keep_each_risk(n1: int, n2: int) -> None:
    design = two_stage(n1, n2, Decimal("0.95"), SPENDING, SPENDING)
    risks = check_spending(design, Decimal("0.95"), A, A)
    assert max(risks.p_pass, risks.p_breach) <= Fraction(A)


def test_the_naive_second_look_is_refused() -> None:
    design = two_stage(250, 250, Decimal("0.95"), (A, A), (A, A))
    risks = stage_risks(design, Decimal("0.95"))
    assert float(risks.p_pass) == pytest.approx(0.034, abs=0.006)
    with pytest.raises(StatisticsError, match="SLV-S009"):
        check_spending(design, Decimal("0.95"), A, A)


def test_stage_risks_by_brute_force() -> None:
    design = two_stage(12, 9, Decimal("0.8"), (Decimal("0.1"), Decimal("0.2")), (Decimal("0.1"), Decimal("0.2")))
    rate = Fraction(7, 10)

    def mass(n: int, f: int) -> Fraction:
        return math.comb(n, f) * rate ** (n - f) * (1 - rate) ** f

    passes = breaches = Fraction(0)
    for f1 in range(13):
        for f2 in range(10):
            weight = mass(12, f1) * mass(9, f2)
            first, pooled = design.first, design.pooled
            if first.pass_max_failures is not None and f1 <= first.pass_max_failures:
                passes += weight
            elif first.breach_min_failures is not None and f1 >= first.breach_min_failures:
                breaches += weight
            elif pooled.pass_max_failures is not None and f1 + f2 <= pooled.pass_max_failures:
                passes += weight
            elif pooled.breach_min_failures is not None and f1 + f2 >= pooled.breach_min_failures:
                breaches += weight
    risks = stage_risks(design, rate)
    assert (risks.p_pass, risks.p_breach) == (passes, breaches)


def test_empty_samples_have_an_e_value_of_one() -> None:
    for side in ("pass", "breach"):
        assert one_sided_log_e(0, 0, Decimal("0.95"), 19, 1, side) == 0.0


def test_e_values_do_not_overflow() -> None:
    assert one_sided_log_e(0, 20_000, Decimal("0.95"), 19, 1, "pass") == -math.inf
    assert one_sided_log_e(0, 20_000, Decimal("0.95"), 19, 1, "breach") > 1000


def test_e_values_are_expectations_of_at_most_one() -> None:
    """E of the e-value at the boundary rate, by enumeration over n = 40: at most 1 on both sides."""
    from scipy.stats import binom

    for side in ("pass", "breach"):
        total = sum(
            binom.pmf(s, 40, 0.95) * math.exp(one_sided_log_e(s, 40 - s, Decimal("0.95"), 19, 1, side))
            for s in range(41)
        )
        assert total <= 1 + 1e-9


def test_g5_early_stop_keeps_each_risk() -> None:
    """The walk over (s, f) up to n = 600 with absorption, exact in floats: no Monte Carlo."""
    passes, breaches, _ = absorbed(0.95, 600)
    assert passes <= 0.025
    assert breaches <= 0.025


def absorbed(rate: float, n: int) -> tuple[float, float, float]:
    bar = -math.log(0.025)
    alive = {0: 1.0}
    passes = breaches = 0.0
    for size in range(1, n + 1):
        following: dict[int, float] = {}
        for failures, mass in alive.items():
            for added, weight in ((0, rate), (1, 1 - rate)):
                f = failures + added
                following[f] = following.get(f, 0.0) + mass * weight
        alive = {}
        for f, mass in following.items():
            if mass < 1e-14:
                continue
            if one_sided_log_e(size - f, f, Decimal("0.95"), 19, 1, "pass") >= bar:
                passes += mass
            elif one_sided_log_e(size - f, f, Decimal("0.95"), 19, 1, "breach") >= bar:
                breaches += mass
            else:
                alive[f] = mass
    return passes, breaches, sum(alive.values())


def test_early_stop_reads_in_order() -> None:
    assert early_stop([True] * 500, Decimal("0.95"), 19, 1, A, A).side == "pass"
    found = early_stop([False] * 500, Decimal("0.95"), 19, 1, A, A)
    assert found.side == "breach"
    assert found.read < 10
    random.seed(3)
    undecided = early_stop([random.random() < 0.95 for _ in range(100)], Decimal("0.95"), 19, 1, A, A)
    assert (undecided.read, undecided.side) == (100, None)


@pytest.mark.parametrize(
    "arguments",
    [(-1, 0, "0.95", 1, 1, "pass"), (0, 0, "1", 1, 1, "pass"), (0, 0, "0.9", 0, 1, "pass"), (0, 0, "0.9", 1, 1, "x")],
)
def test_bad_e_values_are_refused(arguments: tuple) -> None:
    s, f, t, a, b, side = arguments
    with pytest.raises(StatisticsError):
        one_sided_log_e(s, f, Decimal(t), a, b, side)
