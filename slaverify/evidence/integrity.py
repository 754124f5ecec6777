"""The leak tests of a run, from the files of its bundle: the auditor and the verifier call the same.

`scoring/arms.jsonl`: one line per exchange of an arm, {`arm`, `record`}, sorted as the scores: `arm` is `anchor`,
`original`, `twin`, `honeytoken` or `probe` (one that is no honeytoken), or `repeat` (a call of the dispersion sample);
`record` is its score record. Leak tests count the first call of each item, where code alone decided it; an answer that
failed by the vendor's fault is not right.

Source: docs/spec/ledger.md (leaks), docs/spec/bundle.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import LoadedContract, Outcome
from slaverify.custody import Arms
from slaverify.custody.leak_report import LeakCounts, leak_tree
from slaverify.decision import VENDORS
from slaverify.evidence.bundle import Bundle
from slaverify.evidence.problems import bad_record
from slaverify.evidence.reading import DRAW, SCORES, block

ARM_SCORES = "scoring/arms.jsonl"
INTEGRITY = "statistics/integrity.json"
ANCHOR, ORIGINAL, TWIN, HONEYTOKEN, PROBE = "anchor", "original", "twin", "honeytoken", "probe"
REPEAT = "repeat"
"""A call of an item of the sample beyond those that the contract counts."""
SIGNAL = "signal"


def arms_of(bundle: Bundle) -> Arms | None:
    """Return the arms of the bundle's draw; None where the contract asks for none. Raises: EvidenceError."""
    tree = bundle.json(DRAW).get("arms")
    if tree is None:
        return None
    arms = block(tree, DRAW)
    pairs = arms.get("twin")
    rows = [block(row, DRAW) for row in pairs] if isinstance(pairs, list) else [{}]
    return Arms(
        anchor=_ids(arms.get("anchor")),
        twin=tuple((_id(row.get("original")), _id(row.get("twin"))) for row in rows),
        probe=_ids(arms.get("probe")),
    )


@dataclass(frozen=True, slots=True)
class Beside:
    """What of a run stands beside its sample: the items of the arms, and calls beyond the `per_item` agreed ones."""

    arms: Arms
    per_item: int
    ids: frozenset[str]

    @classmethod
    def of(cls, arms: Arms, contract: LoadedContract) -> Beside:
        """Return what stands beside the sample of a run with these arms."""
        return cls(arms, contract.model.repetitions.per_item, frozenset(arms.ids))

    def holds(self, item_id: str, repetition: int) -> bool:
        """Tell whether a call is none of the sample's."""
        return item_id in self.ids or repetition >= self.per_item

    def word(self, item_id: str, *, honeytoken: bool) -> str:
        """Return the word of such a call in `scoring/arms.jsonl`."""
        return arm_of(self.arms, item_id, honeytoken=honeytoken) if item_id in self.ids else REPEAT


def arm_of(arms: Arms, item_id: str, *, honeytoken: bool) -> str:
    """Return the word that an item of the arms has in `scoring/arms.jsonl`."""
    if item_id in arms.anchor:
        return ANCHOR
    if item_id in arms.probe:
        return HONEYTOKEN if honeytoken else PROBE
    return ORIGINAL if any(item_id == original for original, _ in arms.twin) else TWIN


def integrity_of(bundle: Bundle, contract: LoadedContract) -> JsonObject | None:
    """Return the object of `statistics/integrity.json`; None where no arm was agreed or nothing was scored.

    Raises: EvidenceError for a file that such a run has and is missing or malformed.
    """
    agreed = contract.model.evaluation_set.sample.arms
    asked = {"anchor": agreed.anchor, "twin": agreed.twin, "probe": agreed.probe}
    if not any(asked.values()) or not bundle.has(SCORES):
        return None
    arms = arms_of(bundle)
    if arms is None:
        # A run that compares two versions has none; that the draw is the one that results is checked with the ledger.
        return None
    lines = list(bundle.lines(ARM_SCORES)) if any(arms.counts.values()) else []
    counts = _counts(asked, arms, lines, _right(bundle.lines(SCORES)))
    return leak_tree(counts, Fraction(contract.model.ledger.alpha_leak))


def leak_signal(bundle: Bundle, contract: LoadedContract) -> bool:
    """Tell whether a leak test of the run gave a signal. Raises: EvidenceError as `integrity_of`."""
    found = integrity_of(bundle, contract)
    return found is not None and found["integrity"] == SIGNAL


def _counts(
    asked: Mapping[str, int], arms: Arms, lines: Iterable[JsonObject], fresh: Mapping[str, bool | None]
) -> LeakCounts:
    records, tokens = [], set()
    for line in lines:
        record = block(line.get("record"), ARM_SCORES)
        records.append(record)
        if line.get("arm") == HONEYTOKEN:
            tokens.add(_id(record.get("item_id")))
    right = _right(records)
    anchors = [right.get(item) for item in arms.anchor]
    pairs = [(right.get(original), right.get(twin)) for original, twin in arms.twin]
    decided = [pair for pair in pairs if None not in pair]
    asked_tokens = [item for item in arms.probe if item in tokens]
    return LeakCounts(
        agreed=asked,
        drawn=arms.counts,
        anchor_right=anchors.count(True),
        anchor_n=len(anchors) - anchors.count(None),
        fresh_right=sum(found is True for found in fresh.values()),
        fresh_n=sum(found is not None for found in fresh.values()),
        original_only=decided.count((True, False)),
        twin_only=decided.count((False, True)),
        pairs=len(decided),
        tokens=sum(right.get(item) is not None for item in asked_tokens),
        repeated=tuple(item for item in asked_tokens if right.get(item)),
        undecided={
            "anchors": anchors.count(None),
            "twins": len(pairs) - len(decided),
            "honeytokens": sum(right.get(item) is None for item in asked_tokens),
        },
    )


def _right(records: Iterable[JsonObject]) -> dict[str, bool | None]:
    """Return, by item, whether its first call is right; None where code alone did not decide it."""
    found: dict[str, bool | None] = {}
    for record in records:
        if record.get("repetition") == 0 and record.get("side") == "current":
            found[_id(record.get("item_id"))] = _is_right(record)
    return found


def _is_right(record: JsonObject) -> bool | None:
    # What a judge or a person decided is left out of the sample too: the arms are never judged, so that only answers
    # that code alone decides are alike in both.
    if record.get("decided_by") == "rule":
        return record.get("correctness") == "correct"
    failed = record.get("decided_by") is None and record.get("outcome") in {*VENDORS, Outcome.REFUSED}
    return False if failed else None


def _id(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise bad_record(DRAW, "arms")
    return value


def _ids(value: JsonValue) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise bad_record(DRAW, "arms")
    return tuple(_id(item) for item in value)
