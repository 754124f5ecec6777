"""`statistics/integrity.json`: each leak test with what it used, what it found and what it could have seen. Pure.

A test is said even where it found nothing, and even where there was nothing to test: then its p-value is null and
`reason` says why. What a test could see is computed for the sizes used, at the level that Holm leaves it.

Source: docs/spec/ledger.md (leaks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue, real9
from slaverify.custody.leaks import (
    LEAST_POWER,
    NOISE,
    VARIANTS,
    Integrity,
    anchor_power,
    fresh_vs_exposed,
    honeytoken,
    integrity,
    twin_mcnemar,
    twin_power,
)

INTEGRITY_TYPE = "slaverify/integrity/1"
TESTS = ("anchors", "twins", "honeytokens")
_ARM = {"anchors": "anchor", "twins": "twin", "honeytokens": "probe"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakCounts:
    """What the answers of the arms and of the sample come to. Only answers that code alone decided are counted.

    `agreed` and `drawn` by arm; `undecided` by test: items, or pairs, that code left open. `pairs`, `tokens`: those
    decided. `repeated`: ids of the honeytokens whose sealed variant the vendor gave.
    """

    agreed: Mapping[str, int]
    drawn: Mapping[str, int]
    anchor_right: int = 0
    anchor_n: int = 0
    fresh_right: int = 0
    fresh_n: int = 0
    original_only: int = 0
    twin_only: int = 0
    pairs: int = 0
    tokens: int = 0
    repeated: tuple[str, ...] = ()
    undecided: Mapping[str, int] = field(default_factory=dict)

    def p_values(self) -> dict[str, Fraction]:
        """Return the p-value of each test that could be carried out."""
        found = {}
        if self.anchor_n and self.fresh_n:
            found["anchors"] = fresh_vs_exposed(self.anchor_right, self.anchor_n, self.fresh_right, self.fresh_n)
        if self.pairs:
            found["twins"] = twin_mcnemar(self.original_only, self.twin_only)
        if self.tokens:
            found["honeytokens"] = honeytoken(self.tokens, len(self.repeated), VARIANTS)
        return found

    @property
    def base(self) -> Fraction:
        """The rate of right answers of the sample; 0 where nothing of it was decided."""
        return Fraction(self.fresh_right, self.fresh_n) if self.fresh_n else Fraction(0)


def leak_tree(counts: LeakCounts, alpha: Fraction) -> JsonObject:
    """Return the object of `statistics/integrity.json`; `alpha` is `ledger.alpha_leak`."""
    p_values = counts.p_values()
    found = integrity(
        p_values,
        asked_tokens=counts.tokens,
        anchor_n=counts.anchor_n,
        fresh_n=counts.fresh_n,
        base=float(counts.base),
        alpha=alpha,
        pairs=counts.pairs,
    )
    level = alpha / max(1, len(p_values))
    shown = {"anchors": _anchors, "twins": _twins, "honeytokens": _honeytokens}
    tests: list[JsonValue] = [
        {**_common(name, counts, p_values, found), **shown[name](counts, found, level)} for name in TESTS
    ]
    return {
        "type": INTEGRITY_TYPE,
        "integrity": found.word,
        "alpha": real9(alpha),
        "level": real9(level),
        "tests": tests,
    }


def _common(name: str, counts: LeakCounts, p_values: Mapping[str, Fraction], found: Integrity) -> dict[str, JsonValue]:
    arm, p = _ARM[name], p_values.get(name)
    return {
        "name": name,
        "agreed": counts.agreed.get(arm, 0),
        "drawn": counts.drawn.get(arm, 0),
        "undecided": counts.undecided.get(name, 0),
        "p": None if p is None else real9(p),
        "p_adjusted": None if p is None else real9(found.adjusted[name]),
        "reason": None if p is not None else _reason(arm, counts),
    }


def _reason(arm: str, counts: LeakCounts) -> str:
    if not counts.agreed.get(arm, 0):
        return "not_agreed"
    return "nothing_decided" if counts.drawn.get(arm, 0) else "nothing_to_draw"


def _anchors(counts: LeakCounts, found: Integrity, level: Fraction) -> JsonObject:
    n, fresh, base = counts.anchor_n, counts.fresh_n, float(counts.base)
    tested = bool(n and fresh)
    return {
        "n": n,
        "right": counts.anchor_right,
        "fresh_n": fresh,
        "fresh_right": counts.fresh_right,
        "power_10": real9(found.power) if tested else None,
        # the gain may not lead above all right: points up to what is left above the base
        "seen": _seen(lambda gain: anchor_power(n, fresh, base, min(gain, 1 - base), level), 1 - counts.base)
        if tested
        else None,
    }


def _twins(counts: LeakCounts, found: Integrity, level: Fraction) -> JsonObject:
    return {
        "n": counts.pairs,
        "original_only": counts.original_only,
        "twin_only": counts.twin_only,
        "power_10": real9(found.twin_power) if counts.pairs else None,
        "seen": _seen(lambda gain: twin_power(counts.pairs, NOISE, gain, level), 1 - 2 * Fraction(NOISE))
        if counts.pairs
        else None,
    }


def _seen(power: Callable[[float], float], most: Fraction) -> int | None:
    """Return the least advantage in whole points that is seen with power 0.80; None if none is. Power never falls."""
    low, high = 1, int(most * 100)
    if high < 1 or power(high / 100) < LEAST_POWER:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle / 100) >= LEAST_POWER else (middle + 1, high)
    return low


def _honeytokens(counts: LeakCounts, found: Integrity, level: Fraction) -> JsonObject:
    m = counts.tokens
    enough = [hits for hits in range(m + 1) if honeytoken(m, hits, VARIANTS) <= level]
    return {
        "n": m,
        "variants": VARIANTS,
        "repeated": [*sorted(counts.repeated)],
        "hits_needed": enough[0] if enough else None,
    }
