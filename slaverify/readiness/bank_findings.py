"""What the lint of a set says, and what it needs to say it.

A finding is identified by (code, item or pair of items), never by its sentence.

Source: docs/spec/bank-check.md section 1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.words import Outcome
from slaverify.errors import NOTHING, Text
from slaverify.evalset import Answer, Catalogue, Item
from slaverify.scoring import RULES, ScoreRecord, Settings, profile, score

ERROR = "E"
WARNING = "W"
UNWRITTEN = frozenset({"trajectory"})
"""Kinds that this lint cannot write as an answer: their gold and mutants are not checked, and the report says so."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong (`E` refuses) or doubtful (`W` is printed). `items`: ids, empty for the whole set.

    `accepted`: the reason that a person gave for letting it stand.
    """

    code: str
    level: str
    items: tuple[str, ...]
    what: Text
    fix: Text = NOTHING
    accepted: str | None = None

    @property
    def refuses(self) -> bool:
        """Tell whether the set cannot be sealed as it is."""
        return self.level == ERROR and self.accepted is None

    def to_json(self) -> JsonObject:
        """Return the finding as it stands in a `slaverify/bank-check/1` document."""
        items: list[JsonValue] = list(self.items)
        return {
            "code": self.code,
            "level": self.level,
            "items": items,
            "what": {"es": self.what.es, "en": self.what.en},
            "fix": {"es": self.fix.es, "en": self.fix.en},
            "accepted": self.accepted,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """What the lint is run under.

    `settings` gives the rules of a stratum; `today` is an ISO date or null (then no age is judged); `catalogue` null:
    what needs one is not performed; `sizes`: items that the contract draws per stratum; `accepted`: (code, item) with
    the reason of a person; only I029 may be accepted.
    """

    settings: Callable[[str], Settings]
    today: str | None = None
    catalogue: Catalogue | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    accepted: Mapping[tuple[str, str], str] = field(default_factory=dict)


def scored(item: Item, text: str, options: CheckOptions) -> ScoreRecord:
    """Return the record of `text` as an answer to `item`."""
    return score(item, Answer(text), Outcome.ANSWERED, options.settings(item.stratum)).record


def is_right(record: ScoreRecord) -> bool:
    """Tell whether the answer counts as a good one: correct, or a necessary abstention."""
    return record.correctness == "correct" and record.verdict is not None


def has_rule(item: Item, options: CheckOptions) -> bool:
    """Tell whether this version can write and score answers of the item's kind of reference."""
    kind, settings = item.reference.kind, options.settings(item.stratum)
    if kind in UNWRITTEN:
        return False
    if kind == "none" or any(kind in RULES.get(name).kinds for name in settings.rules):
        return True
    return profile(settings.profile).rules.get(kind) in RULES.names()


def locale_of(item: Item, options: CheckOptions) -> str | None:
    """Return the locale that the item is scored in."""
    return item.locale or options.settings(item.stratum).locale


@lru_cache(maxsize=200_000)
def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, in lower case and without accents."""
    bare = unicodedata.normalize("NFD", text.lower())
    return tuple(_WORD.findall("".join(letter for letter in bare if not unicodedata.combining(letter))))


def named(items: tuple[str, ...] | list[str], most: int = 5) -> str:
    """Return the first ids of a list, with how many there are."""
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown}, … ({len(items)})"
