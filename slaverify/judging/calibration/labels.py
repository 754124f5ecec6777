"""What people said of a unit, and what of it counts: one reading, two that agree, or the third that settles it.

A label is a class of answer and one word per column of the rubric. Doubts and comments decide nothing.

Source: docs/spec/calibration.md section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import Contract
from slaverify.judging.calibration.asked import admitted, columns_for, needs_values
from slaverify.judging.calibration.units import UnitKey
from slaverify.judging.outcomes import PLAIN
from slaverify.judging.rubrics import FACTS, rubric_of
from slaverify.scoring import VERDICT_TABLES

CLASSES = ("answer", "abstention", "non_answer")
_BEST = {"correctness": "correct", "grounding": "grounded"}
FIRST, SECOND, ADJUDICATOR = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Label:
    """What one person said of one unit. `values`: the rubric's columns that apply, sorted by name."""

    answer_class: str
    values: tuple[tuple[str, str], ...] = ()
    doubt: bool = False

    def says(self, other: Label) -> bool:
        """Say whether both labels mean the same; a doubt is no difference."""
        return (self.answer_class, self.values) == (other.answer_class, other.values)

    def value(self, column: str) -> str | None:
        """Return the word of a column, null where it has none."""
        return dict(self.values).get(column)


Book = Mapping[UnitKey, Mapping[int, Label]]
"""Labels by unit and by reader (1, 2; 3 adjudicates)."""


def final_of(labels: Mapping[int, Label], twice: bool) -> Label | None:
    """Return the label that counts, null while a reading or its adjudication is missing."""
    first, second = labels.get(FIRST), labels.get(SECOND)
    if first is None or (twice and second is None):
        return None
    if second is None or first.says(second):
        return first
    return labels.get(ADJUDICATOR)


def differs(labels: Mapping[int, Label]) -> bool:
    """Say whether both people read the unit and disagree."""
    first, second = labels.get(FIRST), labels.get(SECOND)
    return first is not None and second is not None and not first.says(second)


def verdict_of(contract: Contract, label: Label, record: JsonObject) -> str | None:
    """Return the verdict of a whole answer as a person sees it, null for a pair that the table calls a contradiction.

    What the person was not asked is as code found it in the score record.
    """
    judge = contract.judge
    if judge is None or label.answer_class == "abstention":
        return "abstention"
    if label.answer_class == "non_answer":
        return "incomplete"
    found = rubric_of(judge)
    if found.name == FACTS:
        if label.value("eligibility") not in ("no_issues", "minor_issues"):
            return "incomplete"
        return "misgrounded" if label.value("unsupported") else "accurate"
    correctness = label.value("correctness") or str(record.get("correctness"))
    grounding = label.value("grounding") or str(record.get("grounding"))
    if label.value("grounding") is None and grounding == "not_applicable":
        return VERDICT_TABLES[PLAIN].get(correctness, {}).get(grounding)
    return found.table.get(correctness, {}).get(grounding)


def contradicts(contract: Contract, label: Label) -> bool:
    """Say whether a label on a whole answer holds a pair that the table calls a contradiction."""
    both = label.value("correctness") is not None and label.value("grounding") is not None
    return both and verdict_of(contract, label, {}) is None


def positive_of(contract: Contract, subject: str, label: Label) -> bool:
    """Say whether people found the unit positive: accurate (in what was asked of them), or the criterion met."""
    if subject:
        return label.value("met") == "met"
    asked = columns_for(contract, subject)
    if len(asked) == 1 and asked[0] in _BEST:
        return label.answer_class == "answer" and label.value(asked[0]) == _BEST[asked[0]]
    return verdict_of(contract, label, {}) == "accurate"


def label_json(reader: int, label: Label) -> JsonObject:
    """Return a label as it stands in `judging/calibration.json`."""
    values: dict[str, JsonValue] = dict(label.values)
    return {"by": reader, "class": label.answer_class, "values": values, "doubt": label.doubt}


def read_label(contract: Contract, subject: str, tree: JsonObject) -> tuple[int, Label]:
    """Read a label strictly. Raises: ValueError for a word that is none of the closed lists."""
    reader, answer_class, values, doubt = (tree.get(key) for key in ("by", "class", "values", "doubt"))
    if set(tree) != {"by", "class", "values", "doubt"} or reader not in (FIRST, SECOND, ADJUDICATOR):
        raise ValueError("not a label")
    if answer_class not in CLASSES or not isinstance(values, dict) or not isinstance(doubt, bool):
        raise ValueError("not a label")
    due = columns_for(contract, subject) if needs_values(contract, subject, str(answer_class)) else ()
    words = {key: str(value) for key, value in values.items()}
    if sorted(words) != sorted(due) or any(not admitted(contract, key, word) for key, word in words.items()):
        raise ValueError("a word off its list")
    label = Label(str(answer_class), tuple(sorted(words.items())), doubt)
    if not subject and contradicts(contract, label):
        raise ValueError("a contradiction")
    return int(str(reader)), label


def complete(book: Book, rows: Sequence[UnitKey], twice: frozenset[UnitKey]) -> bool:
    """Say whether every row has the label that counts."""
    return all(final_of(book.get(key, {}), key in twice) is not None for key in rows)
