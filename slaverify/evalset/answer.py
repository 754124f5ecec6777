"""What the engine room understood of one response, and what the scoring room reads of it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClaimedCitation:
    """One citation as the vendor gave it; `verified` is null where the mapping has no mark.

    `norm` and `article` are its parts where the mapping has them apart; `text` then joins them with a space.
    """

    text: str
    verified: bool | None = None
    norm: str | None = None
    article: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The mapped response: raw text (not yet cleaned), citations and flags of the engine room."""

    text: str
    citations: tuple[ClaimedCitation, ...] = ()
    flags: tuple[str, ...] = field(default=())
