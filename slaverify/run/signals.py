"""Signals of a run: what its exchanges have in common that no single one shows. They change no outcome. Pure.

1. Of each exchange of the current version `seen` keeps a row of fixed length: digests of 64 bits, no text. Rows of any
   number of processes are joined in any order; memory grows with the exchanges, never with the bodies.
2. `signals_of` goes over all rows, once or twice for each signal, and gives the positions in the plan.
3. `run/signals.json` holds them. Those of level `pattern` become events of the score records.

Source: docs/spec/run.md, section "Signals".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntFlag
from hashlib import sha256
from itertools import groupby, pairwise
from struct import Struct
from typing import NamedTuple

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.words import Outcome, PatternEvent
from slaverify.engine import Reading, RequestTemplate
from slaverify.run.plan import Plan, PlannedExchange
from slaverify.run.records import AttemptRecord

SIGNALS = "run/signals.json"
TYPE = "slaverify/signals/1"
MANY = (3, 20)
"""A pattern is in more than so many questions, and in more than one of so many (convention of the events)."""
PARTIAL = 100
"""A cut body in more than one of so many planned exchanges is a pattern."""
INPUT_TENTHS = 6
"""Tenths of our own estimate of the input tokens below which the input seems cut."""
_ANSWERS = frozenset(word.value for word in (Outcome.ANSWERED, Outcome.REFUSED, Outcome.TRUNCATED, Outcome.EMPTY))
_HITS = ("hit", "HIT")
_ROW = Struct("!L8QB")
_WORDS = re.compile(r"[^\W_]+")


class _Mark(IntFlag):
    """What is known of one exchange by itself."""

    CUT = 1
    LATE = 2
    OUTSIDE = 4
    SLOW = 8
    KEPT = 16
    INPUT = 32


class _Row(NamedTuple):
    """One exchange: its position, digests (0: there is none), marks. `repeat` is of the item and the bytes together."""

    position: int
    item: int
    text: int
    letters: int
    repeat: int
    version: int
    fingerprint: int
    spki: int
    confidence: int
    marks: int


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal: its word, its level (`pattern`, `identity`, `signal`), how many items, where in the plan (from 0)."""

    code: str
    level: str
    items: int
    positions: tuple[int, ...]

    def to_json(self) -> JsonObject:
        """Return the entry of `run/signals.json`."""
        return {"code": self.code, "level": self.level, "items": self.items, "positions": [*self.positions]}


PUBLIC = frozenset(
    {
        *(PatternEvent.PARTIAL_BODY, PatternEvent.DUPLICATE_ANSWER_BYTES, PatternEvent.LATENCY_CEILING),
        *("late", "outside_window", "drift_echo"),
    }
)
"""Signals that follow from the public lines alone."""


def seen(
    position: int,
    line: JsonObject,
    record: AttemptRecord | None = None,
    reading: Reading | None = None,
    template: RequestTemplate | None = None,
    ceiling_ms: int | None = None,
) -> bytes:
    """Return the row of an exchange from the last line of its attempts; empty for the candidate of a change check.

    `record` and `reading` are of that attempt, `template` made its request. Without a reading (the bytes are not
    here, or the exchange is a conversation) the row holds what the line and the connection show.
    """
    if line["side"] != "current":
        return b""
    answered = line["outcome"] in _ANSWERS
    item, flags, spent = str(line["item_id"]), line["flags"], line["last_byte_ms"]
    words = flags if isinstance(flags, list | tuple) else ()
    marks = _Mark.CUT * ("cut_body" in words) | _Mark.LATE * ("late" in words)
    marks |= _Mark.OUTSIDE * ("outside_window" in words)
    if answered and ceiling_ms is not None and isinstance(spent, int):
        marks |= _Mark.SLOW * (spent > ceiling_ms)
    mac, version = line["response_mac"], line["engine_version"]
    repeat = _digest(f"{item} {mac}") if answered and isinstance(mac, str) else 0
    text = letters = fingerprint = confidence = 0
    if record is not None and reading is not None:
        if line["outcome"] == Outcome.ANSWERED and reading.answer is not None:
            text, letters = _digest(reading.answer.text), _digest(_letters(reading.answer.text))
            confidence = _digest(reading.confidence)
        fingerprint = _digest(reading.fingerprint)
        marks |= _Mark.KEPT * (reading.response_id is not None or _from_cache(record))
        marks |= _Mark.INPUT * _input_cut(record, reading.input_tokens, template)
    echo, spki = (_digest(one if isinstance(one, str) else None) for one in (version, record and record.spki))
    return _ROW.pack(position, _digest(item), text, letters, repeat, echo, fingerprint, spki, confidence, marks)


@dataclass(frozen=True, slots=True)
class RunSize:
    """What shares are of: the planned exchanges of the current version, and how many questions those ask."""

    exchanges: int
    questions: int


def size_of(planned: Iterable[PlannedExchange]) -> RunSize:
    """Return the size of what was reached of a plan."""
    calls = Counter(one.repetition for one in planned if one.side == "current")
    return RunSize(calls.total(), calls[0])


def signals_of(rows: bytes | bytearray, size: RunSize) -> tuple[Signal, ...]:
    """Return the signals of a run, in a fixed order, from the rows of all its exchanges in any order."""
    many = max(MANY[0], size.questions // MANY[1])
    partial = _marked(rows, _Mark.CUT)
    found: list[tuple[str, str, Iterable[int]]] = [
        (PatternEvent.CONSTANT_OUTPUT, "pattern", _constant(rows, many)),
        (PatternEvent.DUPLICATE_ANSWER_BYTES, "pattern", (row.position for row in _repeated(rows))),
        (PatternEvent.CONSTANT_CONFIDENCE, "pattern", _constant_confidence(rows, many)),
        (PatternEvent.PARTIAL_BODY, "pattern", partial if len(partial) * PARTIAL > size.exchanges else ()),
        (PatternEvent.LATENCY_CEILING, "pattern", _marked(rows, _Mark.SLOW)),
        ("identical_answers", "signal", _identical(rows)),
        ("cached_repeat", "signal", (row.position for row in _repeated(rows) if row.marks & _Mark.KEPT)),
        ("input_cut", "signal", _marked(rows, _Mark.INPUT)),
        ("late", "signal", _marked(rows, _Mark.LATE)),
        ("outside_window", "signal", _marked(rows, _Mark.OUTSIDE)),
        *((f"drift_{name}", "identity", _drift(rows, column)) for name, column in _DRIFTS),
    ]
    return tuple(
        Signal(str(code), level, _items(rows, frozenset(positions)), positions)
        for code, level, those in found
        if (positions := tuple(sorted(those)))
    )


def signals_json(run_id: str, found: Sequence[Signal]) -> JsonObject:
    """Return the object of `run/signals.json`."""
    return {"type": TYPE, "run_id": run_id, "signals": [one.to_json() for one in found]}


def patterns_of(stored: JsonObject, plan: Plan) -> dict[tuple[str, int, str], tuple[str, ...]]:
    """Return the patterns of each exchange (item id, repetition, side) by the object of `run/signals.json`.

    Raises: ValueError for an object that is not of that form.
    """
    marked: dict[tuple[str, int, str], tuple[str, ...]] = {}
    listed: JsonValue = stored.get("signals")
    for entry in listed if isinstance(listed, list | tuple) else ():
        positions = entry.get("positions") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(positions, list | tuple):
            raise ValueError("signals")
        for position in positions if entry.get("level") == "pattern" else ():
            if type(position) is not int or not 0 <= position < len(plan.exchanges):
                raise ValueError("positions")
            one = plan.exchanges[position]
            call = (one.item_id, one.repetition, one.side)
            marked[call] = (*marked.get(call, ()), str(entry.get("code")))
    return marked


def _rows(rows: bytes | bytearray) -> Iterator[_Row]:
    return (_Row._make(values) for values in _ROW.iter_unpack(rows))


def _items(rows: bytes | bytearray, positions: frozenset[int]) -> int:
    return len({row.item for row in _rows(rows) if row.position in positions})


def _marked(rows: bytes | bytearray, mark: _Mark) -> list[int]:
    return [row.position for row in _rows(rows) if row.marks & mark]


def _constant(rows: bytes | bytearray, many: int) -> Iterator[int]:
    """Yield where one text (its letters and digits) answers more than `many` different questions."""
    runs = groupby(sorted(row.letters for row in _rows(rows) if row.letters))
    often = {letters: set[int]() for letters, run in runs if sum(1 for _ in run) > many}
    for row in _rows(rows) if often else ():
        if row.letters in often:
            often[row.letters].add(row.item)
    shared = {letters for letters, items in often.items() if len(items) > many}
    return (row.position for row in _rows(rows) if row.letters in shared) if shared else iter(())


def _constant_confidence(rows: bytes | bytearray, many: int) -> list[int]:
    """Return where a confidence is stated, if it is the same one in more than `many` questions and no other is."""
    first = next((row.confidence for row in _rows(rows) if row.confidence), 0)
    if any(row.confidence not in (0, first) for row in _rows(rows)):
        return []
    items = {row.item for row in _rows(rows) if row.confidence}
    return [row.position for row in _rows(rows) if row.confidence] if len(items) > many else []


def _identical(rows: bytes | bytearray) -> Iterator[int]:
    """Yield where one text answers several items."""
    twice = _more_than_once(row.text for row in _rows(rows))
    first: dict[int, int] = {}
    shared = {row.text for row in _rows(rows) if row.text in twice and first.setdefault(row.text, row.item) != row.item}
    return (row.position for row in _rows(rows) if row.text in shared)


def _repeated(rows: bytes | bytearray) -> list[_Row]:
    """Return the calls of an item whose bytes an earlier call of it had. Equal bytes may be a deterministic engine."""
    twice = _more_than_once(row.repeat for row in _rows(rows))
    groups: dict[int, list[_Row]] = {}
    for row in _rows(rows):
        if row.repeat in twice:
            groups.setdefault(row.repeat, []).append(row)
    return [row for group in groups.values() for row in sorted(group)[1:]]


def _more_than_once(values: Iterable[int]) -> set[int]:
    return {one for one, other in pairwise(sorted(filter(None, values))) if one == other}


_DRIFTS = (("echo", 5), ("fingerprint", 6), ("spki", 7))
"""What may change during a run, and its place in a row."""


def _drift(rows: bytes | bytearray, column: int) -> list[int]:
    """Return where a value differs from the first one of the run."""
    known = min((row for row in _rows(rows) if row[column]), default=None)
    return [] if known is None else [row.position for row in _rows(rows) if row[column] not in (0, known[column])]


def _digest(text: str | None) -> int:
    """Return the first 64 bits of SHA-256, never 0; 0 for no text."""
    if text is None:
        return 0
    return int.from_bytes(sha256(text.encode("utf-8", "replace")).digest()[:8], "big") or 1


def _letters(text: str) -> str | None:
    """Return the letters and digits of a text, folded: what no space, mark or invisible character changes."""
    return "".join(filter(str.isalnum, text)).casefold() or None


def _from_cache(record: AttemptRecord) -> bool:
    headers = record.headers
    age = headers.get("age", "0").strip()
    hit = any(headers.get(name, "").startswith(_HITS) for name in ("x-cache", "cf-cache-status"))
    return hit or (age.isdigit() and age.isascii() and age.strip("0") != "")


def _input_cut(record: AttemptRecord, tokens: int | None, template: RequestTemplate | None) -> bool:
    """Say whether the vendor counted fewer tokens than the question can have.

    Our estimate is the number of words (runs of letters and digits) of what the question stands in: a tokeniser that
    splits at spaces before anything else gives a word one token or more. No text of n bytes has more than n/2 words.
    """
    if tokens is None or template is None or 10 * tokens >= INPUT_TENTHS * ((len(record.request) + 1) // 2):
        return False
    words = sum(1 for text in template.asked(record.request) for _ in _WORDS.finditer(text))
    return 10 * tokens < INPUT_TENTHS * words
