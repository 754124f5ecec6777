"""What a question says about the number that it asks for: its unit, its noun, and the numbers it states itself.

The reference is never looked at here.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache

from slaverify.scoring.assertion import ASKED_BOUNDS
from slaverify.scoring.exclusions import exclusions
from slaverify.scoring.passage import Passage
from slaverify.scoring.quantities import Quantity, every_quantity, quantities
from slaverify.scoring.settings import Settings
from slaverify.scoring.units import ASKED, NAMES, Unit, unit_at

_HOW_MANY = re.compile(
    r"\b(?:cuant[oa]s|(?:que|cual\ses\s(?:el|la))\s(?:numero|cantidad)\s(?:maxim[oa]\s|minim[oa]\s|total\s)?de|how\smany"
    r"|(?:what|which)\snumber\sof)(?=\s([a-z]{2,30}))"
)
_IN_UNIT = re.compile(r"\b(?:expresad[oa]s?\sen|medid[oa]s?\sen|in\sterms\sof)(?=\s[a-z])")
_PERCENT = re.compile(r"%|\b(?:por\s?ciento|porcentaje|percent|percentage)\b")
_PERMILLE = re.compile(r"‰|\b(?:por\smil|per\smille?)\b")


@dataclass(frozen=True)
class Asked:
    """What the question asks for; null where it does not say.

    The numbers that it states itself are read when they are asked for: an answer of one number needs none of them.
    """

    unit: Unit | None
    noun: str | None
    day_kind: str | None
    percent: str | None
    words: str
    bounds: frozenset[str]
    dimension: str | None
    passage: Passage = field(repr=False, compare=False)
    settings: Settings = field(repr=False, compare=False)

    @cached_property
    def labelled(self) -> list[tuple[Fraction, str | None]]:
        """The numbers of the question, each with its unit or noun."""
        found = every_quantity(self.passage, self.settings, exclusions(self.passage))
        return [(one.value, _label(one)) for one in found if one.value is not None]

    @cached_property
    def stated(self) -> frozenset[tuple[Fraction, str]]:
        """The numbers that have a unit or noun."""
        return frozenset((value, label) for value, label in self.labelled if label is not None)

    @cached_property
    def bare(self) -> frozenset[Fraction]:
        """The numbers that have none."""
        return frozenset(value for value, label in self.labelled if label is None)

    @cached_property
    def values(self) -> Counter[Fraction]:
        """How often each number stands in the question."""
        return Counter(value for value, _ in self.labelled)

    def states(self, quantity: Quantity) -> bool:
        """Tell whether the question itself holds this number with this unit or noun."""
        label = _label(quantity)
        return quantity.value is not None and label is not None and (quantity.value, label) in self.stated

    def echoed(self, quantity: Quantity) -> bool:
        """Tell whether the question itself holds this number, with the same unit or noun, or as a mere number."""
        if quantity.value is None:
            return False
        if self.states(quantity):
            return True
        mere = quantity.unit is None and quantity.percent is None
        return mere and (quantity.value in self.bare or (quantity.noun is None and self._counted(quantity.value)))

    def _counted(self, value: Fraction) -> bool:
        return any(value == number and label not in _LABELS for number, label in self.stated)


@lru_cache(maxsize=512)
def asked(query: str, settings: Settings) -> Asked:
    """Read the question."""
    passage = Passage(query)
    folded = passage.folded
    match = _HOW_MANY.search(folded) or _IN_UNIT.search(folded)
    unit = None if match is None else unit_at(folded, match.start(), match.end())
    noun = match.group(1) if match is not None and match.re is _HOW_MANY else None
    percent = "%" if _PERCENT.search(folded) else "‰" if _PERMILLE.search(folded) else None
    return Asked(
        unit=None if unit is None else unit.unit,
        noun=noun,
        day_kind=None if unit is None else unit.day_kind,
        percent=percent,
        words=" ".join(folded.split()),
        bounds=frozenset(name for name, pattern in ASKED_BOUNDS.items() if pattern.search(folded)),
        dimension=_dimension(folded),
        passage=passage,
        settings=settings,
    )


def candidates(passage: Passage, query: str, settings: Settings) -> list[Quantity]:
    """Return the numbers of `passage` that may answer `query`: `un abogado` is one lawyer only to who asks how many."""
    found = quantities(passage, settings)
    noun = asked(query, settings).noun
    return [one for one in found if not one.article or (noun is not None and _stem(one.noun) == _stem(noun))]


def _stem(noun: str | None) -> str | None:
    return None if noun is None else noun.removesuffix("es").removesuffix("s")[:8]


def _dimension(folded: str) -> str | None:
    found = [name for name, pattern in ASKED.items() if pattern.search(folded)]
    return found[0] if len(found) == 1 else None


_LABELS = frozenset({"%", "‰", "pp", *(unit.name for unit in NAMES.values())})


def _label(quantity: Quantity) -> str | None:
    if quantity.percent is not None:
        return quantity.percent
    return quantity.unit.unit.name if quantity.unit is not None else quantity.noun
