"""Hide who answered, and cut what speaks to the judge.

A judge that knows the vendor's name may like it: names of vendor, engine and model are replaced by `[NAME]`.

Source: docs/spec/judging.md section 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from slaverify.contract import Contract
from slaverify.scoring import clean

MASK = "[NAME]"
SHORTEST = 3
"""A shorter name would hide ordinary words (convention)."""
TO_THE_JUDGE = frozenset({"injection_suspected", "hidden_text", "bidi", "markup"})
"""Flags that send an answer to differential judging."""

_SENTENCE = re.compile(r"[^\n.!?…]*(?:[.!?…]+|\n|$)")


def names_of(contract: Contract) -> tuple[str, ...]:
    """Return the names that would tell who answered, longest first."""
    engine = contract.engine
    base = engine.base_families if isinstance(engine.base_families, tuple) else ()
    echoes = tuple(echo for echo in engine.accepted_echoes if isinstance(echo, str))
    names = {contract.parties.vendor.name, engine.name, engine.family or "", *base, *echoes}
    return tuple(sorted((name for name in names if _speaks(name)), key=lambda name: (-len(name), name)))


def _speaks(name: str) -> bool:
    # A bare version number ("4.2.1") tells nobody anything and may be a figure of the answer.
    return len(name) >= SHORTEST and any(character.isalpha() for character in name)


def mask(text: str, names: Iterable[str]) -> tuple[str, int]:
    """Return the text with each name, as whole tokens in any case, replaced; and how many were."""
    pattern = "|".join(re.escape(name) for name in names)
    if not pattern:
        return text, 0
    return re.subn(rf"(?<!\w)(?:{pattern})(?!\w)", lambda _: MASK, text, flags=re.IGNORECASE)


def cut(clean_text: str) -> str:
    """Return the clean copy without the sentences that speak to a judge or claim a mark."""
    pieces = _SENTENCE.findall(clean_text)
    kept = [piece for piece in pieces if not TO_THE_JUDGE.intersection(clean(piece).flags)]
    return clean_text if len(kept) == len(pieces) else "".join(kept).strip()
