"""What the facts of a bundle have in common: paths, times, the run's number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from slaverify.canonical import JsonObject, JsonValue
from slaverify.evidence.bundle import Bundle
from slaverify.evidence.problems import bad_record

LEDGER = "custody/ledger.jsonl"
INDEX = "custody/index.jsonl"
DRAW = "custody/draw.json"
EXPOSURE = "custody/exposure.json"
OUTCOMES = "run/outcomes.jsonl"
SCORES = "scoring/scores.jsonl"
RESULTS = "statistics/results.json"
COMPARISON = "statistics/comparison.json"
"""What a change check found: the old and the new version on the same items."""
VOTES = "judging/judgements.jsonl"
PANEL = "judging/panel.json"
DISPUTES = "replies/disputes.jsonl"
CONTRACT = "contract/contract.json"

_CHECKPOINT = re.compile(r"custody/checkpoints/([0-9]{8})\.checkpoint")


def run_number(bundle: Bundle, number: int | None = None) -> int:
    """Return the number of the bundle's run: the one given, the manifest's, else the draw's. Raises: EvidenceError."""
    if number is not None:
        return number
    if bundle.manifest is not None:
        return bundle.manifest.header.run_number
    return count(bundle.json(DRAW), "run", DRAW)


def checkpoint_numbers(bundle: Bundle) -> list[int]:
    """Return the sizes of the bundle's checkpoints, smallest first."""
    found = (_CHECKPOINT.fullmatch(path) for path in bundle.paths())
    return sorted(int(match[1]) for match in found if match is not None)


def lines_if_there(bundle: Bundle, path: str) -> Iterator[JsonObject]:
    """Yield the records of a file that not every run has; nothing if the run has none. Raises: EvidenceError."""
    if bundle.has(path):
        yield from bundle.lines(path)


def json_if_there(bundle: Bundle, path: str) -> JsonObject | None:
    """Return a file that not every run has, or None. Raises: EvidenceError."""
    return bundle.json(path) if bundle.has(path) else None


def count(tree: JsonObject, key: str, path: str) -> int:
    """Return a count from 0. Raises: EvidenceError SLV-E009 for anything else."""
    value = tree.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise bad_record(path, key)
    return value


def block(value: JsonValue, path: str) -> JsonObject:
    """Return an object. Raises: EvidenceError SLV-E009 for anything else."""
    if not isinstance(value, dict):
        raise bad_record(path, "object expected")
    return value


def utc_time(text: str) -> datetime:
    """Return an aware UTC moment. Raises: EvidenceError SLV-E009 for anything else."""
    try:
        value = datetime.fromisoformat(text)
    except ValueError as error:
        raise bad_record("time", text[:40]) from error
    if value.tzinfo is None:
        raise bad_record("time", text[:40])
    return value.astimezone(UTC)
