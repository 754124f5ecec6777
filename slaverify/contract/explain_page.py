"""What an explanation is made of: sections of sentences and small tables, and what other rooms hand in for them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class MoneyStep:
    """One step of a credit as arithmetic: the rate that triggers it, the share, the weight and the amount."""

    metric: str
    below: Decimal | None
    above: Decimal | None
    share: Decimal
    weight: Decimal
    amount: Decimal | None


@dataclass(frozen=True, slots=True)
class Chance:
    """What the sample can do: P(PASS) of a vendor at the rate `better`, P(BREACH) of one at the rate `worse`."""

    better: float
    p_pass: float
    worse: float
    p_breach: float


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: cells."""

    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, its paragraphs, and a table (first row: heads), if any."""

    heading: str
    paragraphs: tuple[str, ...]
    table: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """The whole explanation."""

    language: str
    title: str
    subtitle: str
    sections: tuple[Section, ...]
    foot: str
