"""Cue files of the abstention detectors: patterns by category, one file per language, versioned.

Source: docs/spec/scoring.md section 9; `data/abstain-<language>.json`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from slaverify.canonical import JsonObject
from slaverify.errors import SetError, Text
from slaverify.scoring.alternatives import joined
from slaverify.scoring.data import load

CATEGORIES = (
    "lack",
    "refusal",
    "denial",
    "slot_denial",
    "courtesy",
    "offer",
    "advice",
    "scope",
    "hedge_start",
    "concessive",
    "assertion",
)


@dataclass(frozen=True, slots=True)
class Detector:
    """The patterns of one language, as alternatives."""

    name: str
    language: str
    patterns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Cues:
    """The patterns of all detectors together, for an abstention in another language is one; `languages`: the agreed."""

    languages: frozenset[str]
    lack: re.Pattern[str]
    refusal: re.Pattern[str]
    denial: re.Pattern[str]
    slot_denial: re.Pattern[str]
    courtesy: re.Pattern[str]
    offer: re.Pattern[str]
    advice: re.Pattern[str]
    scope: re.Pattern[str]
    hedge_start: re.Pattern[str]
    concessive: re.Pattern[str]
    assertion: re.Pattern[str]


def _detector(tree: JsonObject) -> Detector:
    macros = tree["macros"]
    patterns: list[tuple[str, str]] = []
    for category in CATEGORIES:
        rows = tree[category]
        if not isinstance(rows, list) or not isinstance(macros, dict):
            raise TypeError(category)
        every = "|".join(f"(?:{row})" for row in rows)
        for name, pattern in macros.items():
            every = every.replace(f"<{name}>", str(pattern))
        patterns.append((category, every))
    return Detector(str(tree["name"]), str(tree["language"]), tuple(patterns))


DETECTORS = {
    detector.name: detector for detector in (_detector(load("abstain-es.json")), _detector(load("abstain-en.json")))
}
"""All detectors of this version, by `name@version`."""


@lru_cache(maxsize=32)
def cues(names: tuple[str, ...]) -> Cues:
    """Return the patterns of the detectors `names`. Raises: SetError SLV-I035 if this version lacks one."""
    unknown = [name for name in names if name not in DETECTORS]
    if unknown or not names:
        known = ", ".join(DETECTORS)
        raise SetError(
            "SLV-I035",
            Text(f"detector de abstención desconocido: {unknown}", f"unknown abstention detector: {unknown}"),
            fix=Text(f"use: {known}", f"use: {known}"),
        )
    chosen = [DETECTORS[name] for name in names]
    compiled = {
        category: re.compile(joined(dict(detector.patterns)[category] for detector in DETECTORS.values()))
        for category in CATEGORIES
    }
    return Cues(frozenset(detector.language for detector in chosen), **compiled)
