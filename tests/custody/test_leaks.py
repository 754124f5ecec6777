"""Power of the leak tests against the published table and against the definition; what they say together."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from slaverify.custody import anchor_power, fresh_vs_exposed, honeytoken, integrity, twin_mcnemar, twin_power
from slaverify.custody.leak_report import LeakCounts, leak_tree

FIVE = Fraction(5, 100)


@pytest.mark.parametrize(
    ("n", "gain", "power"),
    [(100, 0.08, 0.39), (100, 0.10, 0.57), (100, 0.15, 0.94), (200, 0.08, 0.66), (200, 0.10, 0.85)],
)
def test_anchors_see_what_the_table_says(n: int, gain: float, power: float) -> None:
    assert anchor_power(n, n, 0.80, gain, FIVE) == pytest.approx(power, abs=0.006)


@pytest.mark.parametrize(
    ("n", "gain", "power"),
    [(100, 0.05, 0.30), (200, 0.05, 0.56), (400, 0.05, 0.85), (100, 0.08, 0.57), (200, 0.08, 0.87), (400, 0.08, 0.99)],
)
def test_twins_see_what_the_table_says(n: int, gain: float, power: float) -> None:
    assert twin_power(n, 0.04, gain, FIVE) == pytest.approx(power, abs=0.006)


def mass(n: int, k: int, p: Fraction) -> Fraction:
    return comb(n, k) * p**k * (1 - p) ** (n - k)


@pytest.mark.parametrize(("exposed", "fresh"), [(7, 9), (12, 5), (1, 1)])
def test_power_is_the_share_of_rejected_outcomes(exposed: int, fresh: int) -> None:
    base, gain, alpha = Fraction(3, 5), Fraction(1, 5), Fraction(1, 10)
    due = sum(
        mass(exposed, x, base + gain) * mass(fresh, y, base)
        for x in range(exposed + 1)
        for y in range(fresh + 1)
        if fresh_vs_exposed(x, exposed, y, fresh) <= alpha
    )
    assert anchor_power(exposed, fresh, 0.6, 0.2, alpha) == pytest.approx(float(due), abs=1e-12)


def test_power_of_twins_by_definition() -> None:
    n, noise, gain, alpha = 9, Fraction(1, 10), Fraction(3, 10), Fraction(1, 10)
    b, c = noise + gain, noise
    due = Fraction(0)
    for only in range(n + 1):
        for other in range(n + 1 - only):
            ways = comb(n, only) * comb(n - only, other) * b**only * c**other * (1 - b - c) ** (n - only - other)
            due += ways if twin_mcnemar(only, other) <= alpha else 0
    assert twin_power(n, 0.1, 0.3, alpha) == pytest.approx(float(due), abs=1e-12)


def test_sizes_and_rates_that_are_none() -> None:
    for wrong in ((-1, 5, 0.5, 0.1), (5, 5, 0.95, 0.1), (5, 5, -0.1, 0.1), (5, 5, 0.5, -0.1)):
        with pytest.raises(ValueError, match="range"):
            anchor_power(*wrong, FIVE)
    with pytest.raises(ValueError, match="range"):
        twin_power(5, 0.5, 0.1, FIVE)
    assert twin_power(9, 0, 0, FIVE) == 0
    assert anchor_power(0, 0, 0.5, 0.1, FIVE) == 0


def judged(p_values: dict[str, Fraction], **more: object) -> object:
    sizes = {"asked_tokens": 0, "anchor_n": 200, "fresh_n": 400, "base": 0.8, "alpha": Fraction(1, 100)} | more
    return integrity(p_values, **sizes)


def test_what_the_tests_say_together() -> None:
    third = Fraction(1, 300)
    quiet = {"anchors": Fraction(1, 2), "twins": Fraction(9, 10), "honeytokens": Fraction(1)}
    found = judged(quiet | {"twins": third})
    assert (found.word, found.adjusted["twins"]) == ("signal", Fraction(1, 100))
    assert judged(quiet | {"twins": third + Fraction(1, 10**9)}, alpha=Fraction(1, 100)).word != "signal"
    assert judged(quiet, alpha=FIVE).word == "no_signal"
    assert judged(quiet, anchor_n=40, asked_tokens=3, alpha=FIVE).word == "not_evaluable"
    assert judged(quiet, anchor_n=40, asked_tokens=4, alpha=FIVE).word == "no_signal"
    assert judged({}, anchor_n=0).word == "not_evaluable"
    # Holm: a later p-value is never adjusted below an earlier one.
    held = judged({"anchors": Fraction(2, 100), "twins": Fraction(3, 100)}).adjusted
    assert held == {"anchors": Fraction(4, 100), "twins": Fraction(4, 100)}
    # at the level that Holm leaves each of three tests the twins alone may see enough
    assert judged(quiet, anchor_n=0, pairs=400).word == "no_signal"
    assert judged(quiet, anchor_n=0, pairs=100).word == "not_evaluable"


ASKED = {"anchor": 150, "twin": 120, "probe": 8}
COUNTS = LeakCounts(
    agreed=ASKED,
    drawn=ASKED,
    anchor_right=120,
    anchor_n=150,
    fresh_right=160,
    fresh_n=200,
    original_only=6,
    twin_only=5,
    pairs=120,
    tokens=8,
)


def test_what_a_test_could_see_is_said_where_it_found_nothing() -> None:
    tree = leak_tree(COUNTS, Fraction(1, 100))
    anchors, twins, tokens = tree["tests"]
    level = Fraction(1, 300)
    assert tree["integrity"] == "no_signal" and tree["level"] == "0.003333333"
    for gain, seen in ((anchors["seen"], True), (anchors["seen"] - 1, False)):
        assert (anchor_power(150, 200, 0.8, gain / 100, level) >= 0.8) is seen
    for gain, seen in ((twins["seen"], True), (twins["seen"] - 1, False)):
        assert (twin_power(120, 0.04, gain / 100, level) >= 0.8) is seen
    needed = tokens["hits_needed"]
    assert honeytoken(8, needed, 16) <= level < honeytoken(8, needed - 1, 16)
    assert float(anchors["power_10"]) == pytest.approx(anchor_power(150, 200, 0.8, 0.1, level), abs=1e-9)


def test_where_new_questions_are_all_right_no_advantage_can_be_seen() -> None:
    whole = LeakCounts(agreed=ASKED, drawn=ASKED, anchor_right=150, anchor_n=150, fresh_right=200, fresh_n=200)
    (anchors, *_) = leak_tree(whole, Fraction(1, 100))["tests"]
    assert (anchors["p"], anchors["seen"], anchors["power_10"]) == ("1.000000000", None, "0.000000000")
