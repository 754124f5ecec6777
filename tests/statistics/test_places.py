"""Every refusal names its code, its place and both languages; defaults are what the format says."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    Numbers,
    TwoPoint,
    acceptance_numbers,
    bank_tails,
    binomial_tails,
    count_required,
    finite_bank_acceptance_numbers,
    finite_bank_interval,
    min_n_zero_failures,
    required_sample,
    success_threshold,
)
from slaverify.statistics.binomial import is_at_most, table_of

A, T, BAD = Decimal("0.025"), Decimal("0.9"), Decimal("1.5")
HALF = Decimal("0.5")


def two_point(f0: str = "0.02", r0: str = "0.05", f1: str = "0.05", r1: str = "0.05") -> TwoPoint:
    return TwoPoint(Decimal(f0), Decimal(r0), Decimal(f1), Decimal(r1))


def numbers(n: object = 386, plan: TwoPoint | None = None) -> Numbers:
    return acceptance_numbers(T, n, A, A, "at_least", "two_point", plan)


def ambiguous(n: int) -> tuple:
    table, c = table_of(Fraction(9, 10), n), n // 10 - 50
    low, high = table.sums(c)
    return c, n, Fraction(9, 10), Fraction(low + high, table.total_low + table.total_high)


REFUSALS = [
    (lambda: acceptance_numbers(BAD, 10, A, A), "SLV-S001", "threshold"),
    (lambda: acceptance_numbers(T, -1, A, A), "SLV-S002", "n"),
    (lambda: acceptance_numbers(T, 10, HALF, A), "SLV-S003", "alpha_pass"),
    (lambda: acceptance_numbers(T, 10, A, HALF), "SLV-S003", "alpha_breach"),
    (lambda: acceptance_numbers(T, 10, A, A, "up"), "SLV-S012", "direction"),
    (lambda: acceptance_numbers(T, 10, A, A, "at_least", "coin"), "SLV-S012", "rule"),
    (lambda: numbers(), "SLV-S012", "decision"),
    (lambda: numbers(plan=two_point(f0="1.5")), "SLV-S001", "f0"),
    (lambda: numbers(plan=two_point(f1="1.5")), "SLV-S001", "f1"),
    (lambda: numbers(plan=two_point(r0="0.5")), "SLV-S003", "r0"),
    (lambda: numbers(plan=two_point(r1="0.5")), "SLV-S003", "r1"),
    (lambda: numbers(plan=two_point(f0="0.05")), "SLV-S001", "f0"),
    (lambda: numbers(n=100, plan=two_point()), "SLV-S007", "n"),
    (lambda: is_at_most(*ambiguous(20_001)), "SLV-S003", "n"),
    (lambda: min_n_zero_failures(BAD, A), "SLV-S001", "threshold"),
    (lambda: min_n_zero_failures(T, HALF), "SLV-S003", "alpha"),
    (lambda: required_sample(BAD, T), "SLV-S001", "quantile"),
    (lambda: required_sample(T, BAD), "SLV-S001", "confidence"),
    (lambda: binomial_tails(3, 2, T), "SLV-S002", "x"),
    (lambda: binomial_tails(1, True, T), "SLV-S002", "n"),
    (lambda: binomial_tails(1, 2, BAD), "SLV-S001", "threshold"),
    (lambda: count_required(0, T), "SLV-S002", "bank_size"),
    (lambda: count_required(10, BAD), "SLV-S001", "threshold"),
    (lambda: finite_bank_acceptance_numbers(10, 0, T, A, A), "SLV-S002", "n"),
    (lambda: finite_bank_acceptance_numbers(10, 11, T, A, A), "SLV-S004", "n"),
    (lambda: finite_bank_acceptance_numbers(10, 5, T, HALF, A), "SLV-S003", "alpha_pass"),
    (lambda: finite_bank_acceptance_numbers(10, 5, T, A, HALF), "SLV-S003", "alpha_breach"),
    (lambda: finite_bank_interval(1, 5, 0, T), "SLV-S002", "bank_size"),
    (lambda: finite_bank_interval(1, 5, 10, BAD), "SLV-S001", "confidence"),
    (lambda: bank_tails(1, 1, 5, 4, T), "SLV-S004", "n"),
    (lambda: success_threshold(Decimal("NaN"), "at_least"), "SLV-S002", "threshold"),
    (lambda: success_threshold(math.pi, "at_least"), "SLV-S001", "threshold"),
]


@pytest.mark.parametrize(("call", "code", "where"), REFUSALS)
def test_a_refusal_names_its_place_in_both_languages(call: object, code: str, where: str) -> None:
    with pytest.raises(StatisticsError) as caught:
        call()
    error = caught.value
    assert (error.code, error.where) == (code, where)
    for text in (error.what, error.fix):
        assert isinstance(text.es, str)
        assert isinstance(text.en, str)
        assert (text.es == "") == (text.en == "")
    assert error.what.es
    assert error.what.es != error.what.en
    assert error.lines("es")[0].startswith(f"error[{code}]: ")
    if code in ("SLV-S004", "SLV-S007"):
        assert error.fix.es


def test_a_tie_at_the_largest_exact_n_is_settled() -> None:
    c, n, t, alpha = ambiguous(20_000)
    assert isinstance(is_at_most(c, n, t, alpha), bool)


def test_defaults() -> None:
    assert acceptance_numbers(T, 300, A, A) == acceptance_numbers(T, 300, A, A, "at_least", "guarded")
    assert count_required(10, T) == count_required(10, T, "at_least") == 9
    assert count_required(10, T, "at_most") == 1
    assert finite_bank_acceptance_numbers(300, 100, T, A, A) == finite_bank_acceptance_numbers(
        300, 100, 1 - T, A, A, "at_most"
    )
    assert bank_tails(3, 3, 100, 300, T) == bank_tails(3, 3, 100, 300, 1 - T, "at_most")
    assert count_required(1, T) == 1


def test_powers_that_equal_the_level() -> None:
    half = Decimal("0.5")
    assert [min_n_zero_failures(half, Fraction(1, 2**n)) for n in range(2, 12)] == list(range(2, 12))
    assert min_n_zero_failures(half, Fraction(1, 2**5) - Fraction(1, 10**20)) == 6
    assert min_n_zero_failures(Decimal("0.1"), Decimal("0.4")) == 1


def test_one_is_no_threshold_unless_asked() -> None:
    assert success_threshold(Decimal(1), "at_least", closed=True) == 1
    with pytest.raises(StatisticsError, match="SLV-S001"):
        success_threshold(Decimal(1), "at_least")


def test_without_items_there_is_no_risk() -> None:
    assert acceptance_numbers(T, 0, A, A) == Numbers(None, None, Fraction(0), Fraction(0))


def test_bank_tails_and_risks_by_counting() -> None:
    """Six of a bank of 10 at T = .8: K0 = 8, so 3 wrong ones for PASS and 2 for BREACH."""

    def drawn(wrong: int) -> list[Fraction]:
        ways = [math.comb(wrong, f) * math.comb(10 - wrong, 6 - f) for f in range(7)]
        return [Fraction(way, math.comb(10, 6)) for way in ways]

    three, two = drawn(3), drawn(2)
    tails = bank_tails(1, 2, 6, 10, Decimal("0.8"))
    assert tails.p_greater == three[0] + three[1]
    assert tails.p_less == two[2]
    tie = three[0]
    found = finite_bank_acceptance_numbers(10, 6, Decimal("0.8"), tie, two[2])
    assert found.numbers == Numbers(0, 2, three[0], two[2])
    less = Fraction(1, 10**9)
    tight = finite_bank_acceptance_numbers(10, 6, Decimal("0.8"), tie - less, two[2] - less)
    assert tight.numbers == Numbers(None, 3, Fraction(0), Fraction(0))
    few = finite_bank_acceptance_numbers(3, 1, Decimal("0.4"), A, A)
    assert few.numbers.breach_min_failures is None
    assert few.numbers.risk_false_breach == 0
    every = finite_bank_acceptance_numbers(10, 2, Decimal("0.8"), A, two_of_two())
    assert every.numbers.breach_min_failures == 2
    assert every.numbers.risk_false_breach == two_of_two()


def two_of_two() -> Fraction:
    return Fraction(1, math.comb(10, 2))


def test_a_tie_keeps_a_count_out_of_the_interval() -> None:
    """A count is kept if its tail EXCEEDS a: one whose tail equals a is not."""
    tail = Fraction(math.comb(5, 3), math.comb(6, 3))  # P(X >= 3 | K = 5) of 3 drawn from 6
    confidence = 1 - 2 * Fraction(1, 20)
    assert finite_bank_interval(3, 3, 6, confidence).count_low <= 5
    assert tail == Fraction(1, 2)
    lowest = Fraction(1, math.comb(6, 3))  # K = 3: one way in twenty
    assert finite_bank_interval(3, 3, 6, 1 - 2 * lowest).count_low == 4
    assert finite_bank_interval(3, 3, 6, 1 - 2 * lowest + Fraction(1, 10**6)).count_low == 3
    assert finite_bank_interval(0, 3, 6, 1 - 2 * lowest).count_high == 2
    assert finite_bank_interval(0, 3, 6, 1 - 2 * lowest + Fraction(1, 10**6)).count_high == 3
