"""The records of a judge: which call, what came back, what it says, and what all of them say of one answer.

Two files hold them. `judging/judgements.jsonl` (public): one `Vote` per call, values and reason codes, no text.
The sealed annex: one `JudgementRecord` per attempt, with the raw reply, from which every vote is derived again.

Source: docs/spec/judging.md sections 4 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from slaverify.canonical import JsonObject, JsonValue

VOTE_TYPE = "slaverify/vote/1"
RECORD_TYPE = "slaverify/judgement/1"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What one call gave, public: no text. `values` null where it failed; `failure` the last failure or null.

    `subject`: the item id, or the sentinel's. `attempts` from 0. `alarms` words. For a sentinel `right` says whether
    it was known right as expected, else null.
    """

    purpose: Purpose
    subject: str
    repetition: int
    side: str
    member: str
    criterion: str | None
    vote: int
    key: str
    attempts: int
    values: JsonObject | None
    failure: str | None
    alarms: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    right: bool | None = None

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
            "vote": self.vote,
            "key": self.key,
            "attempts": self.attempts,
            "values": self.values,
            "failure": self.failure,
            "alarms": list(self.alarms),
            "flags": list(self.flags),
            "right": self.right,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """What the panel says of one answer: the key of its score record, and the readings that are still possible.

    One reading: resolved. `worst` and `best` are verdicts of `contract.Verdict` words, null without a verdict.
    `criteria`: `met`, `not_met` or `unresolved` by criterion id. `split`: the members did not all say the same.
    """

    item_id: str
    repetition: int
    side: str
    verdicts: frozenset[str]
    worst: str | None
    best: str | None
    criteria: tuple[tuple[str, str], ...] = ()
    split: bool = False
    human_queue: bool = False
    flags: tuple[str, ...] = ()
    events: tuple[tuple[str, str, bool], ...] = ()

    @property
    def resolved(self) -> bool:
        """Whether every completion of the missing votes gives one verdict."""
        return len(self.verdicts) == 1
