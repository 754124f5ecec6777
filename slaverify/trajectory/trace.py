"""The trace of one question: a chain of hashed lines, its strict reading, and its replay against the state contract.

Line n holds the hash of line n - 1; the first holds the digest of what the trace is of, so that no trace can be moved
to another question, run or version. A changed, swapped or missing line breaks the chain at its place.

Source: docs/spec/trajectory.md, section "Trace"; RFC 8785.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue, jcs, sha256_hex
from slaverify.errors import Text, TrajectoryError
from slaverify.trajectory.answers import TrackAnswer, read_track_answer
from slaverify.trajectory.public_view import PublicView
from slaverify.trajectory.runtime import NO_FLAGS, SEARCH, Call, Executed, Flags, Status, Tools
from slaverify.trajectory.score_slaverify import Walk

SCHEMA = "slaverify.trajectory.trace/1"
AUDITOR, VENDOR = "auditor", "vendor"
"""Who executed the tools: only a trace of the auditor's loop is measured."""

_HEAD = ("schema", "seq", "type", "at", "public_id", "prev", "hash")
_BODY = {
    "start": ("origin", "profile", "mode", "packed_ids"),
    "call": (
        *("turn", "tool", "arguments", "status", "result_ids", "result_sha256", "withheld_ids"),
        *("horizon_violation", "subsystem_violation", "actor_gate_violation", "request_sha256", "response_sha256"),
    ),
    "answer": ("turn", "answer", "request_sha256", "response_sha256"),
    "end": ("reason",),
}


@dataclass(frozen=True, slots=True)
class Binding:
    """What a trace is of. `state_contract_digest` and `engine_digest` are `sha256:<hex>`."""

    run_id: str
    item_id: str
    repetition: int
    side: str
    public_id: str
    state_contract_digest: str
    profile: str
    engine_digest: str
    version: str

    def digest(self) -> str:
        """Return the `prev` of the first line, hex."""
        return sha256_hex(
            jcs(
                {
                    "engine": self.engine_digest,
                    "item_id": self.item_id,
                    "profile": self.profile,
                    "public_id": self.public_id,
                    "repetition": self.repetition,
                    "run_id": self.run_id,
                    "side": self.side,
                    "slaverify": self.version,
                    "state_contract_digest": self.state_contract_digest,
                }
            )
        )


@dataclass(frozen=True, slots=True)
class Wire:
    """The exchange that a line comes of: turn from 0, time in UTC, digests of the bytes (hex)."""

    turn: int
    at: str
    request_sha256: str
    response_sha256: str


class TraceWriter:
    """Writes one trace, line by line; `lines` are the entries so far."""

    def __init__(self, binding: Binding, *, origin: str = AUDITOR) -> None:
        self.lines: list[JsonObject] = []
        self._binding, self._origin, self._previous = binding, origin, binding.digest()

    @property
    def last_hash(self) -> str:
        """Return the hash of the last line, hex."""
        return self._previous

    def start(self, at: str, mode: str, packed: Iterable[str]) -> None:
        """Write the first line."""
        body: dict[str, JsonValue] = {"origin": self._origin, "profile": self._binding.profile, "mode": mode}
        self._write("start", at, {**body, "packed_ids": sorted(packed)})

    def call(self, wire: Wire, executed: Executed) -> None:
        """Write one call."""
        call = executed.call
        body: dict[str, JsonValue] = {
            "turn": wire.turn,
            "tool": call.tool,
            "arguments": call.arguments,
            "status": call.status.value,
            "result_ids": list(call.result_ids),
            "result_sha256": executed.result_sha256,
            "withheld_ids": list(call.withheld_ids),
            "horizon_violation": call.flags.horizon,
            "subsystem_violation": call.flags.subsystem,
            "actor_gate_violation": call.flags.actor_gate,
        }
        self._write("call", wire.at, {**body, **_digests(wire)})

    def answer(self, wire: Wire, answer: JsonValue) -> None:
        """Write the answer as it was given."""
        self._write("answer", wire.at, {"turn": wire.turn, "answer": answer, **_digests(wire)})

    def end(self, at: str, reason: str) -> None:
        """Write the last line."""
        self._write("end", at, {"reason": reason})

    def _write(self, kind: str, at: str, body: JsonObject) -> None:
        entry: dict[str, JsonValue] = {
            "schema": SCHEMA,
            "seq": len(self.lines),
            "type": kind,
            "at": at,
            "public_id": self._binding.public_id,
            **body,
            "prev": self._previous,
        }
        self._previous = sha256_hex(jcs(entry))
        self.lines.append({**entry, "hash": self._previous})


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace as read: origin, mode, calls, and the answer as it was given (null: none, or null)."""

    origin: str
    mode: str
    packed: tuple[str, ...]
    calls: tuple[Call, ...]
    digests: tuple[str, ...]
    answered: bool
    answer: JsonValue
    reason: str
    last_hash: str

    def walk(self, view: PublicView) -> Walk:
        """Return what the scores read of it."""
        read: TrackAnswer | None = read_track_answer(view.track, self.answer) if self.answered else None
        return Walk(self.calls, read, self.answered, frozenset(self.packed))


def read_trace(entries: Sequence[JsonObject], first: str | None) -> Trace:
    """Read a trace and check its chain. `first`: digest of its binding, None for a trace that says its own.

    Raises: TrajectoryError SLV-T020 (exit 4) naming the `seq` of the first line that does not fit.
    """
    previous = first
    calls: list[Call] = []
    digests: list[str] = []
    answer: JsonObject | None = None
    for seq, entry in enumerate(entries):
        kind = entry.get("type")
        due = (*_HEAD, *_BODY.get(str(kind), ("?",)))
        if set(entry) != set(due) or entry["schema"] != SCHEMA or entry["seq"] != seq:
            raise broken(seq, "form")
        last = seq == len(entries) - 1
        if (kind == "start") != (seq == 0) or (kind == "end") != last or (answer is not None and not last):
            raise broken(seq, "order")
        if previous is not None and entry["prev"] != previous:
            raise broken(seq, "prev")
        previous = sha256_hex(jcs({key: value for key, value in entry.items() if key != "hash"}))
        if entry["hash"] != previous:
            raise broken(seq, "hash")
        if kind == "call":
            calls.append(_call(seq, entry))
            digests.append(str(entry["result_sha256"]))
        elif kind == "answer":
            answer = entry
    if len(entries) < 2:
        raise broken(len(entries), "missing")
    packed = entries[0]["packed_ids"]
    return Trace(
        origin=str(entries[0]["origin"]),
        mode=str(entries[0]["mode"]),
        packed=tuple(str(one) for one in packed) if isinstance(packed, list) else (),
        calls=tuple(calls),
        digests=tuple(digests),
        answered=answer is not None,
        answer=None if answer is None else answer["answer"],
        reason=str(entries[-1]["reason"]),
        last_hash=str(previous),
    )


def replay(trace: Trace, tools: Tools) -> None:
    """Execute every recorded call again. Raises: TrajectoryError SLV-T021 (exit 4) with the `seq` that differs.

    The calls of a trace stand at `seq` 1, 2, …, since nothing but them comes between start and answer.
    """
    for index, (call, digest) in enumerate(zip(trace.calls, trace.digests, strict=True), 1):
        again = tools.execute(call.tool, call.arguments)
        if again.call != call or again.result_sha256 != digest:
            raise TrajectoryError(
                "SLV-T021",
                Text(
                    f"la traza no se reproduce en seq {index}: {call.tool}",
                    f"the trace does not replay at seq {index}: {call.tool}",
                ),
                why=Text("resultado, compuerta o estado distintos", "another result, gate or state contract"),
                where=f"seq {index}",
                exit_code=4,
            )


def broken(seq: int, detail: str) -> TrajectoryError:
    """Return the error of a chain that breaks."""
    return TrajectoryError(
        "SLV-T020",
        Text(f"la cadena de la traza se rompe en seq {seq} ({detail})", f"the trace breaks at seq {seq} ({detail})"),
        why=Text("una línea fue cambiada, movida o quitada", "a line was changed, moved or removed"),
        where=f"seq {seq}",
        exit_code=4,
    )


def _digests(wire: Wire) -> JsonObject:
    return {"request_sha256": wire.request_sha256, "response_sha256": wire.response_sha256}


def _call(seq: int, entry: JsonObject) -> Call:
    arguments, ids, withheld = entry["arguments"], entry["result_ids"], entry["withheld_ids"]
    marks = (entry["horizon_violation"], entry["subsystem_violation"], entry["actor_gate_violation"])
    known = {status.value for status in Status}
    if not isinstance(ids, list) or not isinstance(withheld, list) or entry["status"] not in known:
        raise broken(seq, "form")
    if (arguments is not None and not isinstance(arguments, dict)) or not all(isinstance(mark, bool) for mark in marks):
        raise broken(seq, "form")
    keys = {"query", "subsystem"} if entry["tool"] == SEARCH else {"artifact_id"}
    if arguments is not None and set(arguments) != keys:
        raise broken(seq, "form")
    horizon, subsystem, actor_gate = (mark is True for mark in marks)
    flags = Flags(horizon, subsystem, actor_gate)
    return Call(
        tool=str(entry["tool"]),
        arguments=arguments,
        status=Status(str(entry["status"])),
        result_ids=tuple(str(one) for one in ids),
        withheld_ids=tuple(str(one) for one in withheld),
        flags=flags if flags else NO_FLAGS,
    )
