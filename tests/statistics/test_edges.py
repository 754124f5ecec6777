"""Edges of the exact sums and of the vector reader."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from slaverify.errors import StatisticsError
from slaverify.statistics import (
    Measurement,
    Provenance,
    TwoPoint,
    Unit,
    acceptance_numbers,
    binomial_tails,
    exact_at_most,
    failures_at_most,
    gwet_ac1,
    min_n_power,
)
from slaverify.statistics import vectors as reader
from slaverify.statistics.bank import failures_at_most as bank_at_most
from slaverify.statistics.binomial import is_at_most, table_of, terms

A = Decimal("0.025")
T = Fraction(9, 10)


def test_below_zero_and_above_n() -> None:
    for function in (failures_at_most, exact_at_most):
        assert function(-1, 10, T) == 0
        assert function(10, 10, T) == 1
        assert function(11, 10, T) == 1
    assert is_at_most(-1, 10, T, Fraction(0))
    assert not is_at_most(-1, 10, T, Fraction(-1))
    assert is_at_most(10, 10, T, Fraction(1))
    assert not is_at_most(10, 10, T, Fraction(99, 100))


def test_a_rate_of_zero_or_one() -> None:
    assert list(terms(Fraction(0), 3)) == [0, 0, 0, 1]
    assert failures_at_most(2, 3, Fraction(0)) == 0
    assert failures_at_most(0, 3, Fraction(1)) == 1
    tails = binomial_tails(3, 3, Fraction(1))
    assert (tails.p_greater, tails.p_less) == (1, 1)


def test_far_from_the_mode_the_bracket_is_still_right() -> None:
    table = table_of(T, 20_000)
    assert table.first > 0
    low, high = table.sums(0)
    assert (low, high > 0) == (0, True)
    assert table.sums(19_999) == (table.low[-1], table.total_high)
    assert 0 < failures_at_most(0, 20_000, T) < Fraction(1, 2**250)
    assert 1 - failures_at_most(19_999, 20_000, T) <= Fraction(1, 2**200)


def test_a_tie_at_a_huge_n_is_refused() -> None:
    """With the middle of a bracket as alpha no comparison is certain, and full integers are out of reach."""
    n = 20_001
    table = table_of(T, n)
    c = 1950
    low, high = table.sums(c)
    alpha = Fraction(low + high, table.total_low + table.total_high)
    with pytest.raises(StatisticsError, match="SLV-S003"):
        is_at_most(c, n, T, alpha)
    assert isinstance(is_at_most(c, 20_000, T, alpha), bool)


def test_two_point_with_the_wrong_order() -> None:
    plan = TwoPoint(Decimal("0.05"), Decimal("0.05"), Decimal("0.02"), Decimal("0.05"))
    with pytest.raises(StatisticsError, match="SLV-S001"):
        acceptance_numbers(Decimal("0.95"), 100, A, A, rule="two_point", two_point=plan)


def test_bank_sums() -> None:
    assert bank_at_most(-1, 5, 3, 10) == 0
    assert bank_at_most(3, 5, 3, 10) == 1
    assert bank_at_most(0, 8, 5, 10) == 0  # eight of ten, five wrong: at least three are drawn


def test_power_of_a_sure_thing() -> None:
    assert min_n_power(Decimal("0.5"), 1.0, Decimal("0.4"), 0.5, "pass") == 2
    assert min_n_power(Decimal("0.99"), 0.0, Decimal("0.4"), 0.5, "breach") == 1


def test_chance_that_explains_everything() -> None:
    spread = gwet_ac1([[0, 1, 2, 3], [0, 1, 2, 3]], categories=4)
    assert spread.ac1 == pytest.approx(1.0)


def test_a_value_in_files() -> None:
    scale = (Decimal(0), Decimal(1))
    score = Measurement(
        value=Decimal("0.5"),
        unit=Unit.SCORE,
        scale=scale,
        provenance=Provenance.DERIVED,
        producer="mean@1",
        observations=3,
        distinct_subjects=3,
    )
    assert (score.to_json()["value"], score.to_json()["interval"]) == ("0.5", None)


@pytest.mark.parametrize(
    ("reading", "inputs"),
    [
        (reader.integer, {"k": True}),
        (reader.integer, {"k": 1.0}),
        (reader.integer, {}),
        (reader.real, {"k": None}),
        (reader.real, {"k": True}),
        (reader.decimal, {"k": None}),
        (reader.text, {"k": 3}),
        (reader.reals, {"k": 3}),
        (reader.integers, {"k": ["1"]}),
    ],
)
def test_the_reader_refuses_what_is_not_asked(reading: object, inputs: dict) -> None:
    with pytest.raises(ValueError, match="k: "):
        reading(inputs, "k")


def test_the_reader_takes_numbers_as_text() -> None:
    assert reader.real({"k": "0.5"}, "k") == 0.5
    assert reader.decimal({"k": 0.95}, "k") == Decimal("0.95")
    assert reader.decimal({"k": "0.950"}, "k") == Decimal("0.950")


def test_a_word_where_a_number_is_expected_is_a_difference() -> None:
    assert reader.differences({"k": 0.5}, {"k": "0.5"}, 1.0)
