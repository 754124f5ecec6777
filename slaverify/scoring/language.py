"""Is the answer in the pinned language? A deterministic test that accuses only on plain evidence.

It counts frequent words that belong to one language. Figures, names and short answers have no language and pass.

Source: docs/spec/scoring.md section 6 step 4; `data/language.json`.
"""

from __future__ import annotations

import re

from slaverify.scoring.data import load
from slaverify.scoring.folding import fold

LEAST_WORDS = 6
"""Words below which a text has no language."""

LEAST_EVIDENCE = 3
"""Frequent words of another language that it takes at least."""

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[a-z]")
_SAMPLE = 20_000


def _table() -> dict[str, frozenset[str]]:
    words = load("language.json")["words"]
    out: dict[str, frozenset[str]] = {}
    for language, row in words.items() if isinstance(words, dict) else ():
        if isinstance(row, list):
            out[language] = frozenset(str(word) for word in row)
    return out


_WORDS = _table()


def in_other_language(text: str, language: str | None) -> bool:
    """Tell whether `text` is plainly not in `language`; false without a pinned language or without evidence."""
    if language not in _WORDS:
        return False
    words = _WORD.findall(fold(text[:_SAMPLE]))
    if len(words) < LEAST_WORDS:
        return False
    foreign_script = sum(not _LATIN.search(word) for word in words)
    if foreign_script * 2 > len(words):
        return True
    counts = {tag: sum(word in table for word in words) for tag, table in _WORDS.items()}
    own = counts[language]
    other = max(count for tag, count in counts.items() if tag != language)
    return other >= LEAST_EVIDENCE and other > 3 * own
