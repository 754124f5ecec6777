"""Signals of a run: what its exchanges have in common that no single one shows. They change no outcome. Pure.

1. Of each exchange of the current version `seen` keeps a row of 80 bytes: digests of 64 bits, no text. Rows of any
   number of processes are joined in any order, in memory or in a file.
2. `signals_of` goes over all rows, once or twice for each signal, and gives the positions in the plan.
3. `run/signals.json` holds them. Those of level `pattern` become events of the score records.

Source: docs/spec/run.md, section "Signals".
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import groupby
from struct import Struct
from typing import BinaryIO

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
_PART = 20_000
"""Values that are sorted at once: Python integers weigh four times what their columns do."""
SHORT = 256
"""Longest text whose digest is remembered, characters: what is remembered must not grow with what a vendor sends."""
_ANSWERS = frozenset(word.value for word in (Outcome.ANSWERED, Outcome.REFUSED, Outcome.TRUNCATED, Outcome.EMPTY))
_HITS = ("hit", "HIT")
_WORDS = re.compile(r"[^\W_]+")
_ROW = Struct("=10Q")
"""A row: position, digests (0: there is none), marks. `repeat` is of the item and the bytes together."""
_POSITION, _ITEM, _TEXT, _LETTERS, _REPEAT, _VERSION, _FINGERPRINT, _SPKI, _CONFIDENCE, _MARKS = range(10)
_CUT, _LATE, _OUTSIDE, _SLOW, _KEPT, _INPUT = (1 << bit for bit in range(6))


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
    marks = _CUT * ("cut_body" in words) | _LATE * ("late" in words) | _OUTSIDE * ("outside_window" in words)
    if answered and ceiling_ms is not None and isinstance(spent, int):
        marks |= _SLOW * (spent > ceiling_ms)
    mac, version = line["response_mac"], line["engine_version"]
    repeat = _digest(f"{item} {mac}") if answered and isinstance(mac, str) else 0
    text = letters = fingerprint = confidence = 0
    if record is not None and reading is not None:
        if line["outcome"] == Outcome.ANSWERED and reading.answer is not None:
            text, letters = _digest(reading.answer.text), _digest(_letters(reading.answer.text))
            confidence = _named(reading.confidence)
        fingerprint = _named(reading.fingerprint)
        marks |= _KEPT * (reading.response_id is not None or _from_cache(record))
        marks |= _INPUT * _input_cut(record, reading.input_tokens, template)
    echo = _named(version if isinstance(version, str) else None)
    spki = _named(None if record is None else record.spki)
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


def signals_of(rows: BinaryIO, size: RunSize) -> tuple[Signal, ...]:
    """Return the signals of a run, in a fixed order, from the rows of all its exchanges in any order."""
    run, many = _Columns(rows), max(MANY[0], size.questions // MANY[1])
    partial, repeated = run.marked(_CUT), run.repeated()
    kept = frozenset(run.marked(_KEPT)) if repeated else frozenset()
    found: list[tuple[str, str, array[int]]] = [
        (PatternEvent.CONSTANT_OUTPUT, "pattern", run.constant(many)),
        (PatternEvent.DUPLICATE_ANSWER_BYTES, "pattern", repeated),
        (PatternEvent.CONSTANT_CONFIDENCE, "pattern", run.constant_confidence(many)),
        (PatternEvent.PARTIAL_BODY, "pattern", partial if len(partial) * PARTIAL > size.exchanges else array("Q")),
        (PatternEvent.LATENCY_CEILING, "pattern", run.marked(_SLOW)),
        ("identical_answers", "signal", run.identical()),
        ("cached_repeat", "signal", array("Q", (one for one in repeated if one in kept))),
        ("input_cut", "signal", run.marked(_INPUT)),
        ("late", "signal", run.marked(_LATE)),
        ("outside_window", "signal", run.marked(_OUTSIDE)),
        ("drift_echo", "identity", run.drift(_VERSION)),
        ("drift_fingerprint", "identity", run.drift(_FINGERPRINT)),
        ("drift_spki", "identity", run.drift(_SPKI)),
    ]
    return tuple(
        Signal(str(code), level, run.items(positions), tuple(positions))
        for code, level, positions in found
        if positions
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


class _Columns:
    """The rows by column: one is made when it is looked at, and none is kept. Positions are ascending."""

    def __init__(self, rows: BinaryIO) -> None:
        self._rows = rows

    def of(self, column: int) -> array[int]:
        """Return one column, in the order of the rows."""
        found = array("Q")
        self._rows.seek(0)
        while chunk := self._rows.read(_ROW.size * 4096):
            found.frombytes(memoryview(chunk).cast("Q")[column :: _ROW.size // 8].tobytes())
        return found

    def pairs(self, column: int, other: int = _POSITION) -> Iterator[tuple[int, int]]:
        """Return two columns side by side."""
        return zip(self.of(column), self.of(other), strict=True)

    def marked(self, mark: int) -> array[int]:
        """Return the positions that have a mark."""
        return _ascending(position for marks, position in self.pairs(_MARKS) if marks & mark)

    def within(self, column: int, values: Container[int]) -> array[int]:
        """Return the positions whose value is one of these."""
        return _ascending(position for value, position in self.pairs(column) if value in values)

    def items(self, positions: array[int]) -> int:
        """Return how many items these positions (at least one) are of."""
        chosen = bytearray(max(positions[-1], max(self.of(_POSITION))) + 1)
        for position in positions:
            chosen[position] = 1
        return _distinct(array("Q", (item for item, position in self.pairs(_ITEM) if chosen[position])))

    def constant(self, many: int) -> array[int]:
        """Return where one text (its letters and digits) answers more than `many` different questions."""
        often = [letters for letters, count in _counted(self.of(_LETTERS)) if count > many]
        shared = {
            letters
            for letters in often
            if _distinct(array("Q", (item for found, item in self.pairs(_LETTERS, _ITEM) if found == letters))) > many
        }
        return self.within(_LETTERS, shared)

    def constant_confidence(self, many: int) -> array[int]:
        """Return where a confidence is stated, if it is the same one in more than `many` questions and no other is."""
        stated = self.of(_CONFIDENCE)
        first = next(filter(None, stated), 0)
        if not first or any(value not in (0, first) for value in stated):
            return _ascending(())
        positions = self.within(_CONFIDENCE, (first,))
        return positions if self.items(positions) > many else _ascending(())

    def identical(self) -> array[int]:
        """Return where one text answers several items."""
        twice = {text for text, count in _counted(self.of(_TEXT)) if count > 1}
        first: dict[int, int] = {}
        shared = {
            text for text, item in self.pairs(_TEXT, _ITEM) if text in twice and first.setdefault(text, item) != item
        }
        return self.within(_TEXT, shared)

    def repeated(self) -> array[int]:
        """Return the calls of an item whose bytes an earlier call of it had. A deterministic engine does that."""
        twice = {repeat for repeat, count in _counted(self.of(_REPEAT)) if count > 1}
        first: dict[int, int] = {}
        for repeat, position in self.pairs(_REPEAT):
            if repeat in twice:
                first[repeat] = min(position, first.get(repeat, position))
        return _ascending(at for repeat, at in self.pairs(_REPEAT) if repeat in twice and at != first[repeat])

    def drift(self, column: int) -> array[int]:
        """Return where a value differs from the first one of the run."""
        known = min(((position, value) for value, position in self.pairs(column) if value), default=(0, 0))[1]
        return _ascending(position for value, position in self.pairs(column) if value not in (0, known))


def _ascending(positions: Iterable[int]) -> array[int]:
    return array("Q", sorted(array("Q", positions)))


def _counted(values: array[int]) -> Iterator[tuple[int, int]]:
    """Yield each value but 0 and how often it stands there, part by part: no table of all values is made."""
    parts = 1 + len(values) // _PART
    for part in range(parts):
        for value, run in groupby(sorted(value for value in values if value and value % parts == part)):
            yield value, sum(1 for _ in run)


def _distinct(values: array[int]) -> int:
    return sum(1 for _ in _counted(values))


@lru_cache(maxsize=256)
def _short(text: str) -> int:
    return _digest(text)


def _named(text: str | None) -> int:
    """Return the digest of a text that is the same for many exchanges, as a version is."""
    return 0 if text is None else _short(text) if len(text) <= SHORT else _digest(text)


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
