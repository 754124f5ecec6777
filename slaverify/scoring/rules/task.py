"""What a rule is given: the answer as a passage, the question, and what the contract fixed."""

from __future__ import annotations

from dataclasses import dataclass

from slaverify.scoring.citations.grammar import Mention
from slaverify.scoring.passage import Passage
from slaverify.scoring.settings import Settings


@dataclass(frozen=True, slots=True)
class Task:
    """One answer to compare. `passage` is the extracted answer; its offset in the clean text is `offset`.

    `claims` is what the citation field claims, each with an empty span.
    """

    passage: Passage
    query: str
    settings: Settings
    bare: str = ""
    offset: int = 0
    claims: tuple[Mention, ...] = ()
