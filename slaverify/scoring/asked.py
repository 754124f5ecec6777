"""What a question says about the number that it asks for: its unit, its noun, and the numbers it states itself.

The reference is never looked at here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from slaverify.scoring.exclusions import exclusions
from slaverify.scoring.passage import Passage
from slaverify.scoring.quantities import Quantity, every_quantity
from slaverify.scoring.settings import Settings
from slaverify.scoring.units import Unit, unit_at

_HOW_MANY = re.compile(
    r"\b(?:cuant[oa]s|(?:que|cual\ses\s(?:el|la))\s(?:numero|cantidad)\s(?:maxim[oa]\s|minim[oa]\s|total\s)?de|how\smany"
    r"|(?:what|which)\snumber\sof)(?=\s([a-z]{2,30}))"
)
_IN_UNIT = re.compile(r"\b(?:expresad[oa]s?\sen|medid[oa]s?\sen|in\sterms\sof)(?=\s[a-z])")
_PERCENT = re.compile(r"%|\b(?:por\s?ciento|porcentaje|percent|percentage)\b")
_PERMILLE = re.compile(r"‰|\b(?:por\smil|per\smille?)\b")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the question asks for; null where it does not say."""

    unit: Unit | None
    noun: str | None
    day_kind: str | None
    percent: str | None
    stated: frozenset[tuple[Fraction, str]]

    def states(self, quantity: Quantity) -> bool:
        """Tell whether the question itself holds this number with this unit or noun."""
        label = _label(quantity)
        return quantity.value is not None and label is not None and (quantity.value, label) in self.stated


@lru_cache(maxsize=512)
def asked(query: str, settings: Settings) -> Asked:
    """Read the question."""
    passage = Passage(query)
    folded = passage.folded
    match = _HOW_MANY.search(folded) or _IN_UNIT.search(folded)
    unit = None if match is None else unit_at(folded, match.start(), match.end())
    noun = match.group(1) if match is not None and match.re is _HOW_MANY else None
    percent = "%" if _PERCENT.search(folded) else "‰" if _PERMILLE.search(folded) else None
    stated = {
        (quantity.value, label)
        for quantity in every_quantity(passage, settings, exclusions(passage))
        if quantity.value is not None and (label := _label(quantity)) is not None
    }
    return Asked(
        None if unit is None else unit.unit, noun, None if unit is None else unit.day_kind, percent, frozenset(stated)
    )


def _label(quantity: Quantity) -> str | None:
    if quantity.percent is not None:
        return quantity.percent
    return quantity.unit.unit.name if quantity.unit is not None else quantity.noun
