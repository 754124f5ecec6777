"""The score records of the arms: which file, whose arm, and that a honeytoken is one.

Source: docs/spec/verification.md (V19), docs/spec/bundle.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slaverify.canonical import JsonValue
from slaverify.contract import LoadedContract
from slaverify.custody import Arms
from slaverify.errors import Text
from slaverify.evalset import Item
from slaverify.evidence import ARM_SCORES, Beside, Bundle, arms_of
from slaverify.scoring import ScoreRecord
from slaverify.verify.checks import Part, failed


@dataclass(frozen=True, slots=True)
class ArmRecords:
    """What stands beside the sample, and the lines of `scoring/arms.jsonl`: the word of each and its record."""

    beside: Beside
    words: tuple[JsonValue, ...]
    records: tuple[ScoreRecord, ...]


def read_arms(bundle: Bundle, contract: LoadedContract) -> ArmRecords:
    """Read the draw's arms and their scores; empty where there are none. Raises: EvidenceError, TypeError."""
    arms = arms_of(bundle) or Arms()
    lines = list(bundle.lines(ARM_SCORES)) if bundle.has(ARM_SCORES) else []
    records = []
    for line in lines:
        record = line["record"]
        if not isinstance(record, dict):
            raise TypeError(ARM_SCORES)
        records.append(ScoreRecord.from_json(record, where=ARM_SCORES))
    return ArmRecords(Beside.of(arms, contract), tuple(line["arm"] for line in lines), tuple(records))


def arm_parts(found: ArmRecords, items: Mapping[str, Item]) -> Iterator[Part]:
    """Yield a failure for each record whose arm is not the one that draw and opened item give."""
    for word, record in zip(found.words, found.records, strict=True):
        due = found.beside.word(record.item_id, honeytoken=items[record.item_id].honeytoken)
        if word != due:
            yield failed(
                Text(f"{ARM_SCORES} {record.item_id}: otro brazo", f"{ARM_SCORES} {record.item_id}: another arm"),
                expected=due,
                found=str(word),
            )
