"""Figures against their definitions, computed another way: exact fractions, enumeration, every path of two stages."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    Confusion,
    Measurement,
    Numbers,
    Provenance,
    Ratio,
    TwoStage,
    Unit,
    bounded_mean_interval,
    bounded_mean_log_e,
    calibration_allocation,
    change_check,
    check_spending,
    clustered_interval,
    combined,
    corpus_rate_interval,
    corpus_rate_log_e,
    corrected_limits,
    early_stop,
    equivalent_labels,
    fisher_exact,
    gwet_ac1,
    human_audit,
    independent_difference,
    judge_corrected,
    limit_levels,
    logit_interval,
    measured,
    mixed_interval,
    normal_quantile,
    one_sided_log_e,
    stage_risks,
    two_stage,
    weighted_rate,
    zero_event_bound,
)
from slaverify.statistics.measurement import Limits

T, LEVEL = Decimal("0.9"), Decimal("0.025")

strata = st.lists(
    st.tuples(st.integers(2, 40), st.integers(0, 40), st.integers(0, 9)).map(
        lambda row: (min(row[1], row[0]), *row[::2])
    ),
    min_size=1,
    max_size=5,
)


@given(strata)
def test_a_weighted_rate_is_that_of_survey_sampling(rows: list[tuple[int, int, int]]) -> None:
    """Cochran's stratified estimator; the effective sample is the least of n, Kish's and that of the variance."""
    whole = sum(weight for _, _, weight in rows)
    assume(whole > 0)
    x, n = [row[0] for row in rows], [row[1] for row in rows]
    w = [Fraction(row[2], whole) for row in rows]
    p = sum(share * Fraction(right, size) for share, right, size in zip(w, x, n, strict=True))
    v = sum(
        share**2 * Fraction(right, size) * (1 - Fraction(right, size)) / (size - 1)
        for share, right, size in zip(w, x, n, strict=True)
    )
    bounds = [Fraction(sum(n)), 1 / sum(share**2 / size for share, size in zip(w, n, strict=True))]
    if v > 0:
        bounds.append(p * (1 - p) / v)
    found = weighted_rate(x, n, w)
    assert found.rate == pytest.approx(float(p), abs=1e-12)
    assert found.rate <= 1.0
    assert found.n_eff == pytest.approx(float(min(bounds)), rel=1e-9)


def test_where_weights_begin_and_end() -> None:
    assert weighted_rate([1], [2], [1]).rate == 0.5
    assert weighted_rate([1, 2], [2, 2], [0, 1]).rate == 1.0
    assert weighted_rate([1, 2], [2, 2], [0.5, 0.5 + 5e-10]).rate == pytest.approx(0.75)
    for weights in ([0.5, 0.5 + 1e-8], [-0.5, 1.5], [1.0]):
        with pytest.raises(StatisticsError, match="SLV-S006"):
            weighted_rate([1, 2], [2, 2], weights)
    with pytest.raises(StatisticsError, match="SLV-S011"):
        weighted_rate([1, 1.5], [2, 1.9], [0.5, 0.5])


def by_every_path(design: TwoStage, rate: Fraction) -> tuple[Fraction, Fraction]:
    """The risks of two stages by walking every sequence of answers."""
    passed = breached = Fraction(0)
    for answers in product((True, False), repeat=design.n):
        chance = math.prod(rate if right else 1 - rate for right in answers)
        first, both = answers[: design.n1].count(False), answers.count(False)
        one, two = design.first, design.pooled
        if one.pass_max_failures is not None and first <= one.pass_max_failures:
            passed += chance
        elif one.breach_min_failures is not None and first >= one.breach_min_failures:
            breached += chance
        elif two.pass_max_failures is not None and both <= two.pass_max_failures:
            passed += chance
        elif two.breach_min_failures is not None and both >= two.breach_min_failures:
            breached += chance
    return passed, breached


limit = st.none() | st.integers(0, 3)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), limit, st.integers(1, 5), limit, st.integers(1, 9), st.integers(0, 4))
def test_the_risks_of_two_stages_are_those_of_every_path(
    n1: int, n2: int, pass1: int | None, gap1: int, pass2: int | None, gap2: int, quarter: int
) -> None:
    z, n = Fraction(0), n1 + n2

    def numbers(accept: int | None, gap: int, size: int) -> Numbers:
        kept = None if accept is None or accept > size else accept
        reject = (-1 if kept is None else kept) + gap
        return Numbers(kept, None if reject > size else reject, z, z)

    design = TwoStage(n1, n, numbers(pass1, gap1, n1), numbers(pass2, gap2, n))
    rate = Fraction(quarter, 4)
    found = stage_risks(design, rate)
    assert (found.p_pass, found.p_breach) == by_every_path(design, rate)


def test_each_side_of_the_spending_is_checked_by_itself() -> None:
    design = two_stage(60, 60, T, (Decimal("0.005"), Decimal("0.0225")), (Decimal("0.005"), Decimal("0.0225")))
    risks = check_spending(design, T, LEVEL, LEVEL)
    assert check_spending(design, T, risks.p_pass, risks.p_breach) == risks  # a level that is just met is kept
    tiny = Fraction(1, 10**9)
    for passing, breaching in ((risks.p_pass - tiny, LEVEL), (LEVEL, risks.p_breach - tiny)):
        with pytest.raises(StatisticsError, match="SLV-S009"):
            check_spending(design, T, passing, breaching)


def test_a_stage_has_at_least_one_item() -> None:
    levels = (Decimal("0.005"), Decimal("0.0225"))
    assert two_stage(1, 1, T, levels, levels).n == 2
    for n1, n2 in ((0, 1), (1, 0)):
        with pytest.raises(StatisticsError, match="SLV-S002"):
            two_stage(n1, n2, T, levels, levels)


@pytest.mark.parametrize(("success", "side"), [(True, "pass"), (False, "breach")])
@pytest.mark.parametrize("other", [0, 3])
def test_an_early_stop_names_the_item_that_reached_the_bound(success: bool, side: str, other: int) -> None:
    outcomes = [not success] * other + [success] * 400
    found = early_stop(outcomes, T, 19, 1, LEVEL, LEVEL)
    assert (found.side, found.read > other) == (side, True)

    def wealth(read: int) -> float:
        rights = outcomes[:read].count(True)
        return one_sided_log_e(rights, read - rights, T, 19, 1, side)

    assert wealth(found.read) >= -math.log(0.025) > wealth(found.read - 1)


def test_a_bound_that_is_just_reached_stops() -> None:
    wealth = one_sided_log_e(3, 0, T, 19, 1, "pass")
    level = Fraction(math.exp(-wealth))
    if -math.log(float(level)) == wealth:
        assert early_stop([True] * 3, T, 19, 1, level, LEVEL).read == 3
    low = one_sided_log_e(0, 1, T, 19, 1, "breach")
    level = Fraction(math.exp(-low))
    if -math.log(float(level)) == low:
        assert early_stop([False], T, 19, 1, LEVEL, level).side == "breach"


def test_a_difference_of_opposites_stays_within_one() -> None:
    found = independent_difference(5, 5, 0, 5, 0.95)
    assert (found.low > -1.0, found.high) == (True, 1.0)
    other = independent_difference(0, 5, 5, 5, 0.95)
    assert (other.low, other.high < 1.0) == (-1.0, True)


def test_where_a_budget_of_labels_begins_and_ends() -> None:
    assert calibration_allocation(60, 1, 0.9, 0.9, 30).m1 == 30  # twice the pilot: nothing to choose
    assert calibration_allocation(2, 0.5, 0.9, 0.9, 1).m0 == 1
    for m, share, pilot in ((59, 1.0, 30), (60, 1.001, 30), (60, 0.0, 30), (60, 0.5, 0), (0, 0.5, 0)):
        with pytest.raises(StatisticsError, match="SLV-S002"):
            calibration_allocation(m, share, 0.9, 0.9, pilot)


def one(value: Decimal | Ratio | None = Decimal("0.5"), **changes: object) -> Measurement:
    base: dict = {
        "value": value,
        "unit": Unit.SHARE,
        "scale": (Decimal(0), Decimal(1)),
        "provenance": Provenance.MEASURED,
        "producer": "prueba@1",
        "observations": 10,
        "distinct_subjects": 10,
    }
    return Measurement(**{**base, **changes})


def test_a_measurement_on_the_ends_of_its_scale() -> None:
    for end in (Decimal(0), Decimal(1)):
        assert one(end).value == end
    for off in (Decimal("-0.001"), Decimal("1.001")):
        with pytest.raises(StatisticsError, match="SLV-S005"):
            one(off)


def test_a_measurement_in_a_file() -> None:
    limits = Limits(Decimal("0.4"), Decimal("0.6"), Decimal("0.95"), "clopper_pearson_interval")
    found = one(dispersion=Decimal("0.25"), interval=limits, required_subjects=5, assumptions=("a",), reference="r")
    tree = found.to_json()
    assert tree == {
        "value": "0.5",
        "unit": "share",
        "scale": ["0", "1"],
        "provenance": "measured",
        "producer": "prueba@1",
        "observations": 10,
        "distinct_subjects": 10,
        "required_subjects": 5,
        "dispersion": "0.25",
        "dispersion_reason": None,
        "interval": {
            "low": "0.4",
            "high": "0.6",
            "confidence": "0.95",
            "method": "clopper_pearson_interval",
            "sides": 2,
        },
        "interval_reason": None,
        "reference": "r",
        "assumptions": ["a"],
        "reason": None,
    }
    missing = one(None, provenance=Provenance.NOT_MEASURED, reason="no_sample", scale=None).to_json()
    assert (missing["value"], missing["scale"], missing["dispersion"], missing["interval"]) == (None,) * 4
    assert missing["reason"] == "no_sample"
    assert one(Ratio(3, 4), scale=None).to_json()["value"] == {"x": 3, "n": 4}


def test_what_is_inconsistent_is_refused_at_its_place() -> None:
    for where, changes in (
        ("value", {"provenance": Provenance.NOT_MEASURED, "reason": "x"}),
        ("reason", {"reason": "x"}),
        ("reason", {"provenance": Provenance.INSUFFICIENT}),
        ("producer", {"producer": ""}),
        ("distinct_subjects", {"distinct_subjects": 11}),
        ("observations", {"observations": -1}),
        ("distinct_subjects", {"distinct_subjects": -1}),
    ):
        with pytest.raises(StatisticsError) as raised:
            one(**changes)
        assert (raised.value.code, raised.value.where) == ("SLV-S002", where)


def test_too_few_subjects_keep_the_value_and_lose_the_decision() -> None:
    enough, few = one(required_subjects=10), one(required_subjects=11)
    assert measured(enough) == enough
    assert (measured(few).provenance, measured(few).reason) == (Provenance.INSUFFICIENT, "too_few_subjects")
    assert (measured(few).value, measured(few).is_actionable) == (Decimal("0.5"), False)
    # What is declared stays declared: it is not made worse, nor better, by subjects.
    declared = one(provenance=Provenance.DECLARED, required_subjects=11)
    assert measured(declared) == declared
    assert measured(one()) == one()


def test_a_value_computed_from_others() -> None:
    parts = [
        one(assumptions=("b", "a"), observations=7, distinct_subjects=6),
        one(assumptions=("a",), distinct_subjects=9),
    ]
    found = combined(parts, Decimal("0.4"), Unit.RATIO, (Decimal(0), Decimal(2)), "suma@1")
    assert (found.value, found.unit, found.scale) == (Decimal("0.4"), Unit.RATIO, (Decimal(0), Decimal(2)))
    assert (found.producer, found.provenance, found.reason) == ("suma@1", Provenance.DERIVED, None)
    assert (found.observations, found.distinct_subjects, found.assumptions) == (17, 6, ("a", "b"))
    assert (found.dispersion_reason, found.interval_reason) == ("derived", "derived")
    lost = combined([*parts, one(None, provenance=Provenance.NOT_MEASURED, reason="z")], Decimal(1), Unit.RATIO,
                    (Decimal(0), Decimal(2)), "suma@1")  # fmt: skip
    assert (lost.value, lost.provenance, lost.reason) == (None, Provenance.NOT_MEASURED, "z")
    none = combined(parts, None, Unit.RATIO, (Decimal(0), Decimal(2)), "suma@1")
    assert (none.provenance, none.reason) == (Provenance.NOT_MEASURED, "no_value")
    empty = combined([], Decimal(1), Unit.RATIO, (Decimal(0), Decimal(2)), "suma@1")
    assert (empty.value, empty.distinct_subjects) == (None, 0)


def test_the_ends_of_what_survey_packages_print() -> None:
    """Every item right or wrong: no variance to speak of, the exact limits of n; the logit interval is a point."""
    for x, low, high in (([5, 5], 1.0, 1.0), ([0, 0], 0.0, 0.0)):
        printed = clustered_interval(x, [5, 5])
        assert printed.se_cr == 0.0
        assert (printed.low, printed.high) == (
            pytest.approx(0.025 ** (1 / 10) if low else 0.0),
            pytest.approx(1.0 if high else 1 - 0.025 ** (1 / 10)),
        )
        point = logit_interval(x, [5, 5])
        assert (point.low, point.high) == (low, high)
    assert logit_interval([4, 5], [5, 5]).low < 0.9 < logit_interval([4, 5], [5, 5]).high
    with pytest.raises(StatisticsError, match="SLV-S006"):
        logit_interval([4], [5])


def test_a_bound_of_no_event_in_one_item() -> None:
    found = zero_event_bound(1, Decimal("0.95"))
    assert (found.exact_one_sided, found.rule_of_three) == (pytest.approx(0.95), 1.0)
    with pytest.raises(StatisticsError, match="SLV-S002"):
        zero_event_bound(0, Decimal("0.95"))


def test_what_a_judge_without_error_or_without_knowledge_is_worth() -> None:
    """A perfect judge is worth the items themselves; where theta leaves [0, 1] or nothing varies there is no number."""
    assert equivalent_labels(100, 1.0, 1.0, 0.5) == pytest.approx(100.0)
    assert equivalent_labels(1, 1.0, 1.0, 0.5) == pytest.approx(1.0)
    assert equivalent_labels(100, 0.5, 0.5, 0.5) is None
    assert equivalent_labels(100, 1.0, 1.0, 0.0) is None
    assert equivalent_labels(100, 1.0, 1.0, 1.0) is None
    with pytest.raises(StatisticsError, match="SLV-S002"):
        equivalent_labels(0, 0.9, 0.9, 0.5)


def test_rules_and_a_judge_share_an_interval() -> None:
    confusion = Confusion(y0=45, m0=50, y1=47, m1=50)
    alone = judge_corrected(80, 100, confusion, 0.95)
    for rules in (0, 0.0):
        mixed = mixed_interval(0, rules, 80, 100, confusion, 0.95)
        assert (mixed.center, mixed.low, mixed.high, mixed.guard) == (alone.center, alone.low, alone.high, None)
    one_rule = mixed_interval(1, 1, 80, 100, confusion, 0.95)
    assert one_rule.center == pytest.approx(1 / 101 + 100 / 101 * alone.center)
    few = mixed_interval(0, 0, 80, 100, Confusion(y0=9, m0=10, y1=9, m1=10), 0.95)
    assert few.guard == "calibration_too_small"
    assert mixed_interval(0, 0, 80, 100, Confusion(y0=9, m0=10, y1=9, m1=10), 0.95, 10).guard is None
    blind = mixed_interval(5, 9, 80, 100, Confusion(y0=20, m0=50, y1=20, m1=50), 0.95)
    assert (blind.center, blind.low, blind.high) == (None, None, None)
    assert blind.guard == judge_corrected(80, 100, Confusion(y0=20, m0=50, y1=20, m1=50), 0.95).guard
    assert blind.guard is not None


STAKES = (0.03, 0.1, 0.3, 0.6, 0.85)
corpora = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), min_size=1, max_size=25)


def bet(shares: list[float], t: float) -> float:
    """The mean over the stakes of the wealth of a bettor who holds that the mean share is above t."""
    return math.log(sum(math.prod(1 + stake * (y / t - 1) for y in shares) for stake in STAKES) / len(STAKES))


@given(corpora, st.integers(1, 19))
def test_the_bets_on_a_corpus_are_products(units: list[tuple[int, int]], tenths: int) -> None:
    """Errors count up to twice the weight (of a silence: two); a unit of w words shows e - t w on its range."""
    t, w_max, ratio = tenths / 10, 20, 2.0
    errors, weights = [e for e, _ in units], [w for _, w in units]
    found = corpus_rate_log_e(errors, weights, t, w_max, Decimal(2))
    shares = [(min(e, ratio * max(w, 1)) - t * w + t * w_max) / (ratio * w_max) for e, w in units]
    assert found.log_e_breach == pytest.approx(bet(shares, t / ratio), abs=1e-9)
    assert found.log_e_pass == pytest.approx(bet([1 - y for y in shares], 1 - t / ratio), abs=1e-9)


@given(corpora, st.sampled_from(["0.80", "0.95", "0.99"]))
def test_the_limits_of_a_corpus_are_where_the_bets_reach_the_bar(units: list[tuple[int, int]], level: str) -> None:
    errors, weights = [e for e, _ in units], [w for _, w in units]
    assume(sum(weights) > 0)
    found = corpus_rate_interval(errors, weights, 20, Decimal(2), Decimal(level))
    assert found.mean == pytest.approx(sum(min(e, 2 * max(w, 1)) for e, w in units) / sum(weights))
    bar = math.log(2 / (1 - float(level)))
    if found.low > 1e-9:
        assert corpus_rate_log_e(errors, weights, found.low, 20, Decimal(2)).log_e_breach == pytest.approx(
            bar, abs=1e-6
        )
    if found.high < 2 - 1e-9:
        assert corpus_rate_log_e(errors, weights, found.high, 20, Decimal(2)).log_e_pass == pytest.approx(bar, abs=1e-6)


def test_where_a_corpus_begins_and_ends() -> None:
    assert corpus_rate_interval([0], [1], 1, Decimal(2), 0.95).mean == 0.0
    assert corpus_rate_log_e([0, 0], [0, 20], 1.9, 20, Decimal(2)).log_e_pass > 0.0
    with pytest.raises(StatisticsError, match="SLV-S002"):
        corpus_rate_interval([0], [0], 0, Decimal(2), 0.95)
    for t in (0, 2):
        with pytest.raises(StatisticsError, match="SLV-S001"):
            corpus_rate_log_e([0], [1], t, 20, Decimal(2))


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_fisher_is_that_of_scipy(a: int, b: int, c: int, d: int) -> None:
    from scipy.stats import fisher_exact as of_scipy

    assume((a + b) * (c + d) * (a + c) * (b + d) > 0)  # scipy has no number for an empty margin
    assert float(fisher_exact(a, b, c, d)) == pytest.approx(of_scipy([[a, b], [c, d]]).pvalue, rel=1e-7)


ratings = st.lists(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=3, max_size=3), min_size=1, max_size=12)


@given(ratings, st.sampled_from([None, 3, 5]))
def test_ac1_is_that_of_gwet(items: list[list[str | None]], categories: int | None) -> None:
    """Three raters who may leave an item out; shares, agreement, chance and the linearised variance in fractions."""
    seen = [[value for value in item if value is not None] for item in items]
    seen = [item for item in seen if item]
    values = sorted({value for item in seen for value in item})
    twice = [item for item in seen if len(item) >= 2]
    q = max(len(values), categories or 0)
    found = gwet_ac1([[item[rater] for item in items] for rater in range(3)], categories)
    if not twice or q < 2:
        note = "one_category" if twice else "no_item_rated_twice"
        assert (found.ac1, found.se, found.reason) == (None, None, note)
        assert found.pa == (1.0 if twice else None)
        return
    n = len(seen)
    share = {v: sum(Fraction(item.count(v), len(item)) for item in seen) / n for v in values}
    pe = sum(one * (1 - one) for one in share.values()) / (q - 1)

    def agreement(item: list[str]) -> Fraction:
        r = len(item)
        return Fraction(sum(item.count(v) * (item.count(v) - 1) for v in values), r * (r - 1))

    pa = sum(map(agreement, twice)) / len(twice)
    ac1 = (pa - pe) / (1 - pe)
    total = Fraction(0)
    for item in seen:
        agreed = Fraction(n, len(twice)) * (agreement(item) - pe) / (1 - pe) if len(item) >= 2 else Fraction(0)
        chance = sum(Fraction(item.count(v), len(item)) * (1 - share[v]) for v in values) / (q - 1)
        total += (agreed - 2 * (1 - ac1) * (chance - pe) / (1 - pe) - ac1) ** 2
    assert (found.ac1, found.pa, found.pe) == tuple(pytest.approx(float(one), abs=1e-12) for one in (ac1, pa, pe))
    if n == 1:
        assert found.se is None
    else:
        assert found.se == pytest.approx(math.sqrt(total / (n * (n - 1))), abs=1e-9)


scores = st.lists(st.integers(0, 40).map(lambda k: 1 + k / 10), min_size=1, max_size=25)


@given(scores, st.integers(1, 39))
def test_the_bets_on_a_mean_are_products(of: list[float], tenths: int) -> None:
    """On a scale from 1 to 5 a score is its share of the way; each sense has its own bettor."""
    found = bounded_mean_log_e(of, 1, 5, 1 + tenths / 10)
    shares, t = [(score - 1) / 4 for score in of], tenths / 40
    assert found.log_e_pass == pytest.approx(bet(shares, t), abs=1e-9)
    assert found.log_e_breach == pytest.approx(bet([1 - y for y in shares], 1 - t), abs=1e-9)
    turned = bounded_mean_log_e(of, 1, 5, 1 + tenths / 10, "at_most")
    assert (turned.log_e_pass, turned.log_e_breach) == (found.log_e_breach, found.log_e_pass)


@given(scores)
def test_the_limits_of_a_mean_are_where_the_bets_reach_the_bar(of: list[float]) -> None:
    found = bounded_mean_interval(of, 1, 5, 0.95)
    bar = math.log(2 / (1 - 0.95))
    assert found.mean == pytest.approx(sum(of) / len(of))
    if found.low > 1 + 1e-9:
        assert bounded_mean_log_e(of, 1, 5, found.low).log_e_pass == pytest.approx(bar, abs=1e-6)
    if found.high < 5 - 1e-9:
        assert bounded_mean_log_e(of, 1, 5, found.high).log_e_breach == pytest.approx(bar, abs=1e-6)


@pytest.mark.parametrize(
    ("b", "c", "n", "state"),
    [
        (6, 0, 20, "reverted"),  # 1/64 <= 0.025
        (5, 0, 20, "not_shown"),  # 1/32 > 0.025
        (0, 0, 20, "not_shown"),
        (0, 6, 20, "accepted"),  # six gained, none lost
        (6.0, 0.5, 20, "not_shown"),  # one of them real: the beta function, between 6/0 and 6/1
        (7.5, 0.0, 20, "reverted"),
        (0.5, 0.0, 20, "not_shown"),
    ],
)
def test_a_loss_is_shown_by_the_sign_test(b: float, c: float, n: float, state: str) -> None:
    assert change_check(b, c, n, Decimal("0.05"), LEVEL).state == state


def test_a_level_that_is_just_met_shows_the_loss() -> None:
    assert change_check(6, 0, 20, Decimal("0.05"), Fraction(1, 64)).state == "reverted"
    assert change_check(6, 0, 20, Decimal("0.05"), Fraction(1, 64) - Fraction(1, 10**12)).state == "not_shown"


binary = st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=20)


@given(binary, st.data())
def test_an_audit_by_people_is_that_of_its_definition(human: list[float], data: st.DataObject) -> None:
    """The tuned difference estimator, two pairs added to its variance, never fewer than the items that were read."""
    judge = data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=len(human), max_size=len(human)))
    rest = data.draw(st.lists(st.sampled_from([0.0, 1.0]), max_size=30))
    n, m = len(human), len(rest)

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    def spread(values: list[float]) -> float:
        return sum((value - mean(values)) ** 2 for value in values) / (len(values) - 1)

    found = human_audit(human, judge, rest, 0.95)
    assert 0.0 <= found.lam <= 1.0
    if m == 0:
        assert found.lam == 0.0
    shift = found.lam * (mean(rest or judge) - mean(judge))
    estimate = min(1.0, max(0.0, mean(human) + shift))
    assert found.estimate == pytest.approx(estimate)
    corrected = [h - found.lam * j for h, j in zip(human, judge, strict=True)]
    variance = spread([*corrected, 1.0, -found.lam]) / n
    if m > 1:
        variance += found.lam**2 * spread(rest) / m
    assert found.variance == pytest.approx(variance)
    n_eff = float(n)
    if 0.0 < estimate < 1.0:
        n_eff = min(n + m, max(n, estimate * (1 - estimate) / variance))
    assert found.n_eff == pytest.approx(n_eff)


@pytest.mark.parametrize("t", ["0.50", "0.80", "0.90", "0.99"])
def test_the_levels_of_a_limit_are_where_it_meets_the_threshold(t: str) -> None:
    confusion = Confusion(y0=45, m0=50, y1=94, m1=100)

    def limits(z: float) -> tuple[float, float]:
        return corrected_limits(80.0, 100.0, confusion, z)

    threshold = Fraction(t)
    p_pass, p_breach = limit_levels(limits, threshold)
    for level, side in ((p_pass, 0), (p_breach, 1)):
        if 1e-12 < level < 0.5 - 1e-9:
            assert limits(normal_quantile(1 - level))[side] == pytest.approx(float(threshold), abs=1e-8)
    # The limits move outwards with z: at most one of the two lies below a half, and both sides complete each other.
    assert max(p_pass, p_breach) >= 0.5 - 1e-9
    assert p_pass + p_breach == pytest.approx(1.0, abs=0.1)
