"""Words of a transcript against those of its reference: hits, substitutions, deletions, insertions.

The alignment is jiwer's (extra `[speech]`), over words that are already normalised.

Source: docs/spec/scoring.md section 3 (`speech@1`); jiwer 4.0 `process_words`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slaverify.errors import ApplicationError, Text

MAX_WORDS = 8_000
"""Words of one transcript that are aligned; a longer one differs in what is beyond, word by word."""


@dataclass(frozen=True, slots=True)
class WordCounts:
    """What an alignment comes to; `missed` are the words of the reference that were not heard, by position."""

    hits: int
    substitutions: int
    deletions: int
    insertions: int
    missed: tuple[int, ...] = ()

    @property
    def errors(self) -> int:
        """The errors of a word error rate: substitutions, deletions and insertions."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def weight(self) -> int:
        """The words of the reference; may be 0, and insertions count all the same."""
        return self.hits + self.substitutions + self.deletions


def count_words(reference: Sequence[str], heard: Sequence[str]) -> WordCounts:
    """Align `heard` with `reference`, both lists of words without spaces.

    Raises: ApplicationError SLV-A032 (exit 6) if the extra `[speech]` is not installed.
    """
    beyond = max(len(heard) - MAX_WORDS, 0)
    found = _process(reference[:MAX_WORDS], heard[:MAX_WORDS])
    cut = max(len(reference) - MAX_WORDS, 0)
    both = min(beyond, cut)
    return WordCounts(
        hits=found.hits,
        substitutions=found.substitutions + both,
        deletions=found.deletions + cut - both,
        insertions=found.insertions + beyond - both,
        missed=(*found.missed, *range(MAX_WORDS, MAX_WORDS + cut)),
    )


def _process(reference: Sequence[str], heard: Sequence[str]) -> WordCounts:
    try:
        import jiwer
    except ImportError as error:
        raise ApplicationError(
            "SLV-A032",
            Text("faltan los componentes de voz", "the speech components are missing"),
            fix=Text("instale: pip install 'slaverify[speech]'", "install: pip install 'slaverify[speech]'"),
            exit_code=6,
        ) from error
    found = jiwer.process_words(" ".join(reference), " ".join(heard))
    missed = [
        position
        for chunk in found.alignments[0]
        if chunk.type in ("substitute", "delete")
        for position in range(chunk.ref_start_idx, chunk.ref_end_idx)
    ]
    return WordCounts(found.hits, found.substitutions, found.deletions, found.insertions, tuple(missed))
