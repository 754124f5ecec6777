"""The records of a judge: which call, what came back, what it says, and what all of them say of one answer.

Two files hold them. `judging/judgements.jsonl` (public): one `Vote` per call, values and reason codes, no text.
The sealed annex: one `JudgementRecord` per attempt, with the raw reply, from which every vote is derived again.

Source: docs/spec/judging.md sections 4 and 6.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from enum import StrEnum

from slaverify.canonical import JsonObject, JsonValue

VOTE_TYPE = "slaverify/vote/1"
RECORD_TYPE = "slaverify/judgement/1"
PANEL = "judging/panel.json"
VOTES = "judging/judgements.jsonl"
RUN_KEY = "judging/run_key.json"
ANNEX_RECORDS = "judging/records.jsonl"
ANNEX_SENTINELS = "judging/sentinels.jsonl"
"""The files of the room: three of the bundle, two of the sealed annex."""


class Purpose(StrEnum):
    """Why a call was made. Only `item` decides an answer; the others watch the instrument."""

    SENTINEL = "sentinel"
    ITEM = "item"
    REPEAT = "repeat"
    RAW = "raw"
    CUT = "cut"
    COUNTERFACTUAL = "counterfactual"
    SHADOW = "shadow"
    REFUSAL = "refusal"
    TRIVIAL = "trivial"


WATCHING = (Purpose.SENTINEL, Purpose.SHADOW, Purpose.TRIVIAL)
"""Purposes that say nothing of an answer of the run."""


class FailureKind(StrEnum):
    """Why a reply is no judgement, in the order in which the checks run; `prompt_invalid` before anything was sent."""

    PROMPT_INVALID = "prompt_invalid"
    TRANSPORT = "transport"
    IDENTITY_MISMATCH = "identity_mismatch"
    REFUSAL = "refusal"
    INCOMPLETE_OUTPUT = "incomplete_output"
    EMPTY = "empty"
    BAD_ENCODING = "bad_encoding"
    LIMITS = "limits"
    NOT_JSON = "not_json"
    TRAILING_DATA = "trailing_data"
    DUPLICATE_KEY = "duplicate_key"
    NON_FINITE = "non_finite"
    NOT_OBJECT = "not_object"
    NONCE_MISMATCH = "nonce_mismatch"
    SCHEMA = "schema"
    OFF_SCALE = "off_scale"
    INCONSISTENT = "inconsistent"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A reply that parsed: the asked fields and nothing else. `values` by field; `flags` words of the rubric."""

    values: tuple[tuple[str, JsonValue], ...]
    reason: str
    flags: tuple[str, ...] = ()

    def value(self, field: str) -> JsonValue:
        """Return the value of a field. Raises: KeyError."""
        return dict(self.values)[field]


@dataclass(frozen=True, slots=True)
class JudgeFailure:
    """A reply that is no judgement, and the alarm that it raises, or null."""

    kind: FailureKind
    alarm: str | None = None


ParseResult = Judgement | JudgeFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class CallId:
    """One call. `case`: hex digest of what is judged, less the nonce; `vote` from 0; `copy` which text was shown."""

    case: str
    member: str
    criterion: str | None
    vote: int
    copy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementRecord:
    """One attempt at one call. `attempt` from 1; `raw` the judge's own words as they came, null where none came.

    `key` is the digest of member without endpoint, parser, rubric, parameters and rendered prompt: another prompt,
    model or parameter has another key. `stop`: `complete`, `length`, `refusal`, or the adapter's word.
    """

    key: str
    request_digest: str
    attempt: int
    raw: bytes | None
    stop: str | None
    refused: bool
    echo: str | None
    fingerprint: str | None
    usage: tuple[int | None, int | None]
    fault: str | None

    def to_json(self) -> JsonObject:
        """Return the line of the annex."""
        return {
            "type": RECORD_TYPE,
            "key": self.key,
            "request_digest": self.request_digest,
            "attempt": self.attempt,
            "raw": None if self.raw is None else base64.b64encode(self.raw).decode("ascii"),
            "stop": self.stop,
            "refused": self.refused,
            "echo": self.echo,
            "fingerprint": self.fingerprint,
            "usage": list(self.usage),
            "fault": self.fault,
        }

    @classmethod
    def from_json(cls, tree: JsonObject) -> JudgementRecord:
        """Read a line strictly. Raises: ValueError."""
        try:
            usage, raw = tree["usage"], _text_or_none(tree["raw"])
            if not isinstance(usage, list) or len(usage) != 2:
                raise TypeError("usage")
            record = cls(
                key=_text(tree["key"]),
                request_digest=_text(tree["request_digest"]),
                attempt=_count(tree["attempt"]),
                raw=None if raw is None else base64.b64decode(raw, validate=True),
                stop=_text_or_none(tree["stop"]),
                refused=tree["refused"] is True,
                echo=_text_or_none(tree["echo"]),
                fingerprint=_text_or_none(tree["fingerprint"]),
                usage=(_count_or_none(usage[0]), _count_or_none(usage[1])),
                fault=_text_or_none(tree["fault"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"judgement: {error!r}") from error
        if record.to_json() != tree:
            raise ValueError("judgement: unknown or misspelt keys")
        return record


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What one call gave, public: no text. `values` null where it failed; `failure` the last failure, or null.

    `subject`: the item id, or the sentinel's; `asked` the fields; `attempts` from 0, `fingerprint` of the last;
    `masked` how many names in the answer were hidden.
    For a sentinel `known` is its kind and `right` whether the values are those expected; for a shadow whether they
    are what code found; for a trivial answer `known` is its name. Null where the call failed.
    """

    purpose: Purpose
    subject: str
    repetition: int
    side: str
    member: str
    criterion: str | None
    asked: tuple[str, ...]
    vote: int
    key: str | None
    attempts: int
    values: JsonObject | None
    failure: str | None
    alarms: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    masked: int = 0
    fingerprint: str | None = None
    known: str | None = None
    right: bool | None = None

    @property
    def answer_key(self) -> tuple[str, int, str]:
        """The key of the score record that it is about."""
        return self.subject, self.repetition, self.side

    def to_json(self) -> JsonObject:
        """Return the line of `judging/judgements.jsonl`."""
        return {
            "type": VOTE_TYPE,
            "purpose": self.purpose.value,
            "subject": self.subject,
            "repetition": self.repetition,
            "side": self.side,
            "member": self.member,
            "criterion": self.criterion,
            "asked": list(self.asked),
            "vote": self.vote,
            "key": self.key,
            "attempts": self.attempts,
            "values": self.values,
            "failure": self.failure,
            "alarms": list(self.alarms),
            "flags": list(self.flags),
            "masked": self.masked,
            "fingerprint": self.fingerprint,
            "known": self.known,
            "right": self.right,
        }

    @classmethod
    def from_json(cls, tree: JsonObject) -> Vote:
        """Read a line of `judging/judgements.jsonl` strictly. Raises: ValueError."""
        try:
            vote = cls(
                purpose=Purpose(str(tree["purpose"])),
                subject=_text(tree["subject"]),
                repetition=_count(tree["repetition"]),
                side=_text(tree["side"]),
                member=_text(tree["member"]),
                criterion=_text_or_none(tree["criterion"]),
                asked=_texts(tree["asked"]),
                vote=_count(tree["vote"]),
                key=_text_or_none(tree["key"]),
                attempts=_count(tree["attempts"]),
                values=_object_or_none(tree["values"]),
                failure=_text_or_none(tree["failure"]),
                alarms=_texts(tree["alarms"]),
                flags=_texts(tree["flags"]),
                masked=_count(tree["masked"]),
                fingerprint=_text_or_none(tree["fingerprint"]),
                known=_text_or_none(tree["known"]),
                right=tree["right"] if isinstance(tree["right"], bool) else None,
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"vote: {error!r}") from error
        if vote.to_json() != tree:
            raise ValueError("vote: unknown or misspelt keys")
        return vote


def run_key_json(run_key: bytes) -> JsonObject:
    """Return `judging/run_key.json`."""
    return {"type": "slaverify/judge-run-key/1", "run_key": run_key.hex()}


def read_run_key(tree: JsonObject) -> bytes:
    """Return the key of `judging/run_key.json`, 32 bytes. Raises: ValueError."""
    key = tree.get("run_key")
    if not isinstance(key, str) or tree != run_key_json(bytes.fromhex(key)) or len(key) != 64:
        raise ValueError("run_key")
    return bytes.fromhex(key)


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError("text expected")
    return value


def _text_or_none(value: JsonValue) -> str | None:
    return None if value is None else _text(value)


def _texts(value: JsonValue) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("list expected")
    return tuple(_text(word) for word in value)


def _count(value: JsonValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError("count expected")
    return value


def _count_or_none(value: JsonValue) -> int | None:
    return None if value is None else _count(value)


def _object_or_none(value: JsonValue) -> JsonObject | None:
    if value is not None and not isinstance(value, dict):
        raise TypeError("object expected")
    return value
