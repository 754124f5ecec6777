"""What people are asked of a unit: the columns of the rubric that apply, and the words that may stand in them.

Source: docs/spec/calibration.md section 3.
"""

from __future__ import annotations

from slaverify.contract import Contract
from slaverify.judging.outcomes import PLAIN
from slaverify.judging.rubrics import FACTS, rubric_of
from slaverify.scoring import profile

MET = ("met", "not_met")
UNSUPPORTED = "unsupported"
"""The column with the numbers of the sentences that the document does not carry."""


def columns_for(contract: Contract, subject: str) -> tuple[str, ...]:
    """Return the rubric's columns for a subject; none for a row that only tries the detector of abstentions."""
    judge = contract.judge
    if judge is None:
        return ()
    if judge.criteria:
        return ("met",) if subject else ()
    found = rubric_of(judge)
    if found.name == FACTS:
        return ("eligibility", "unsupported")
    asked = [field for field in found.asks if field in contract.method.judge_stage.ask]
    if (contract.method.verdict_table or profile(contract.method.profile).verdict_table) == PLAIN:
        # Nothing is to be grounded there: the judge is not asked, and people are not either.
        asked = [field for field in asked if field != "grounding"]
    return tuple(asked) or found.asks


def needs_values(contract: Contract, subject: str, answer_class: str) -> bool:
    """Say whether the rubric's columns are to be filled in: always for a criterion, else only for an answer."""
    return bool(columns_for(contract, subject)) and (bool(subject) or answer_class == "answer")


def words_of(contract: Contract, column: str) -> tuple[str, ...]:
    """Return the closed list of a column; empty for a list of sentence numbers."""
    judge = contract.judge
    if column == "met" or judge is None:
        return MET
    return () if column == "unsupported" else tuple(rubric_of(judge).scales[column])


def admitted(contract: Contract, column: str, word: str) -> bool:
    """Say whether a word may stand in a column."""
    if column == "unsupported":
        return word == "" or numbers_of(word) is not None
    return word in words_of(contract, column)


def numbers_of(cell: str) -> tuple[int, ...] | None:
    """Return the sentence numbers of a cell (`2, 5`), null where it is no such list."""
    parts = [part.strip() for part in cell.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 4 for part in parts):
        return None
    found = tuple(int(part) for part in parts)
    return found if list(found) == sorted(set(found)) and found[0] > 0 else None
