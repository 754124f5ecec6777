"""A print never contradicts its number."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slaverify.report import numbers

ES = numbers.locale_of("es-CL")
MX = numbers.locale_of("es-MX")
EN = numbers.locale_of("en")
shares = st.integers(1, 10**9 - 1).map(lambda n: Decimal(n).scaleb(-9))
thresholds = st.integers(1, 9999).map(lambda n: Decimal(n).scaleb(-4))


def value_of(printed: str) -> Decimal:
    digits = printed.replace("\u00a0", "").replace("%", "").replace(".", "").replace(",", ".")
    return Decimal(digits) / 100


def side(value: Decimal, against: Decimal) -> int:
    return (value > against) - (value < against)


@given(shares, thresholds, st.sampled_from(["near", "down", "up"]))
@example(Decimal("0.9496"), Decimal("0.95"), "near")
@example(Decimal("0.949999999"), Decimal("0.95"), "up")
@example(Decimal("0.950000001"), Decimal("0.95"), "down")
@example(Decimal("0.95"), Decimal("0.95"), "near")
def test_the_print_stands_on_the_side_of_its_value(value, threshold, rounding):
    printed = value_of(numbers.percentage(value, rounding, threshold, ES))
    assert side(printed, threshold) == side(value, threshold)


@given(shares, st.sampled_from(["near", "down", "up"]))
def test_nothing_measured_is_printed_as_zero_or_hundred(value, rounding):
    assert 0 < value_of(numbers.percentage(value, rounding, None, ES)) < 1


@given(shares, thresholds)
def test_bounds_are_rounded_outward(value, threshold):
    assert value_of(numbers.percentage(value, "down", threshold, ES)) <= value
    assert value_of(numbers.percentage(value, "up", threshold, ES)) >= value


@given(shares)
def test_an_estimate_is_rounded_by_half_a_digit_at_most(value):
    assert abs(value_of(numbers.percentage(value, "near", None, ES)) - value) <= Decimal("0.0005")


@pytest.mark.parametrize("value", ["0", "1"])
def test_a_measured_zero_or_one_has_no_percentage(value):
    with pytest.raises(ValueError, match="count"):
        numbers.percentage(Decimal(value), "near", None, ES)


@pytest.mark.parametrize(
    ("locale", "printed"), [(ES, "91,3\u00a0%"), (MX, "91.3\u00a0%"), (EN, "91.3%")], ids=["es-CL", "es-MX", "en"]
)
def test_the_decimal_sign_is_the_country_s(locale, printed):
    assert numbers.percentage(Decimal("0.913"), "near", None, locale) == printed


@pytest.mark.parametrize(
    ("value", "printed"),
    [("0.90", "90\u00a0%"), ("0.025", "2,5\u00a0%"), ("0.9995", "99,95\u00a0%"), ("1", "100\u00a0%")],
)
def test_an_agreed_figure_is_printed_as_it_stands(value, printed):
    assert numbers.percentage(Decimal(value), "exact", None, ES) == printed


def test_counts_are_grouped_by_country():
    assert numbers.count(12345, ES) == "12.345"
    assert numbers.count(12345, EN) == "12,345"


def test_a_tiny_probability_is_not_printed_as_zero():
    assert numbers.real(Decimal("0.000000012"), 4, Decimal("0.025"), ES) == "<\u00a00,0001"
    assert numbers.real(Decimal("0.0249999"), 4, Decimal("0.025"), ES) == "0,0249999"


def test_times_are_printed_in_utc():
    assert numbers.instant("2026-09-03T10:05:09-04:00", ES) == "3 de septiembre de 2026, 14:05:09\u00a0UTC"
    assert numbers.day("2026-08-13", EN) == "13 August 2026"


def test_a_time_without_offset_is_refused():
    with pytest.raises(ValueError, match="offset"):
        numbers.moment("2026-09-03T10:05:09")
