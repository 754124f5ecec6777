"""The score record, type `slaverify/score/1`: the only thing of an answer that decision and metrics read.

One record per (item, repetition, side) of the sample. Here it has its public form: no text of a question,
an answer or a reference. What a rule compared stands in a `RuleTrace`, which is sealed or kept to the parties.

Source: docs/spec/score-record.md.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.words import Outcome
from slaverify.errors import SetError, Text


class AnswerClass(StrEnum):
    """What an answer is, decided without looking at the reference."""

    ANSWER = "answer"
    ABSTENTION = "abstention"
    NON_ANSWER = "non_answer"
    UNDETERMINED = "undetermined"


class Correctness(StrEnum):
    """How an answer compares with the reference."""

    CORRECT = "correct"
    PARTIAL = "partial"
    INCORRECT = "incorrect"
    NO_ANSWER = "no_answer"
    UNDETERMINED = "undetermined"


class Grounding(StrEnum):
    """Whether the citations carry the answer."""

    GROUNDED = "grounded"
    MISGROUNDED = "misgrounded"
    UNGROUNDED = "ungrounded"
    NOT_APPLICABLE = "not_applicable"
    UNDETERMINED = "undetermined"


class Verdict(StrEnum):
    """The verdict of one answer."""

    ACCURATE = "accurate"
    INCOMPLETE = "incomplete"
    MISGROUNDED = "misgrounded"
    INCORRECT = "incorrect"
    ABSTENTION = "abstention"
    PHANTOM_CITATION = "phantom_citation"
    FABRICATION = "fabrication"


@dataclass(frozen=True, slots=True)
class RuleSummary:
    """The public part of a rule's result; `rule` is `name@version`."""

    rule: str
    status: str
    correctness: str
    reason: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitationCounts:
    """Counts of the distinct citations of one answer; `expected_hit` is 1 if what was expected is cited, else 0.

    Coverage: `parsed` were read as ids, `unparsed` were not, `unresolvable` cannot be looked up, `in_catalogue` exist.
    """

    claimed: int = 0
    phantom: int = 0
    expected_hit: int = 0
    parsed: int = 0
    unparsed: int = 0
    unresolvable: int = 0
    in_catalogue: int = 0

    def to_json(self) -> JsonObject:
        """Return the counts by name."""
        return {name: getattr(self, name) for name in _COUNTS}


_COUNTS = tuple(field.name for field in fields(CitationCounts))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The worst and the best verdict that an unresolved or open answer could have had."""

    worst: Verdict
    best: Verdict


@dataclass(frozen=True, slots=True)
class Event:
    """An integrity event: `level` as in the gaming specification; `confirmed` false means suspected."""

    code: str
    level: str
    confirmed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRecord:
    """One answer as scored. Every key is always written; what does not exist is null.

    `latency_ms` milliseconds from first request byte to last answer byte; `attempts` a count from 0;
    `value`, `s_adj` scores are decimal strings; `answer_mac` hex HMAC-SHA256 of the response bytes or null.
    """

    item_id: str
    repetition: int
    side: str
    stratum: str
    cluster: str | None
    run_outcome: Outcome
    outcome: Outcome
    answer_class: AnswerClass | None
    abstention: str | None
    correctness: Correctness
    grounding: Grounding
    verdict: Verdict | None
    rules: tuple[RuleSummary, ...] = ()
    citations: CitationCounts = CitationCounts()
    criteria: tuple[tuple[str, str], ...] = ()
    bounds: Bounds | None = None
    value: str | None = None
    errors: int | None = None
    weight: int | None = None
    state: str | None = None
    flags: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    decided_by: str | None = None
    answer_mac: str | None = None
    latency_ms: int | None = None
    attempts: int = 0

    def to_json(self) -> JsonObject:
        """Return the record as it stands in `scoring/scores.jsonl`."""
        return {
            "type": "slaverify/score/1",
            "item_id": self.item_id,
            "repetition": self.repetition,
            "side": self.side,
            "stratum": self.stratum,
            "cluster": self.cluster,
            "run_outcome": self.run_outcome.value,
            "outcome": self.outcome.value,
            "class": None if self.answer_class is None else self.answer_class.value,
            "abstention": self.abstention,
            "correctness": self.correctness.value,
            "grounding": self.grounding.value,
            "verdict": None if self.verdict is None else self.verdict.value,
            "rules": [_rule_json(rule) for rule in self.rules],
            "citations": self.citations.to_json(),
            "criteria": dict(self.criteria),
            "bounds": None
            if self.bounds is None
            else {"worst": self.bounds.worst.value, "best": self.bounds.best.value},
            "value": self.value,
            "errors": self.errors,
            "weight": self.weight,
            "state": self.state,
            "flags": sorted(set(self.flags)),
            "events": [
                {"code": event.code, "level": event.level, "confirmed": event.confirmed} for event in self.events
            ],
            "decided_by": self.decided_by,
            "answer_mac": self.answer_mac,
            "latency_ms": self.latency_ms,
            "attempts": self.attempts,
        }

    @classmethod
    def from_json(cls, tree: JsonObject, *, where: str = "") -> ScoreRecord:
        """Read a record strictly: every key present, none unknown, every word of its closed list.

        Raises: SetError SLV-I090 with the place.
        """
        try:
            record = _read(tree)
        except (KeyError, TypeError, ValueError) as error:
            raise _malformed(where, repr(error)) from error
        if record.to_json() != tree:
            raise _malformed(where, "unknown or misspelt keys")
        return record


RECORD_KEYS = tuple(field.name for field in fields(ScoreRecord))


def _rule_json(rule: RuleSummary) -> dict[str, JsonValue]:
    return {
        "rule": rule.rule,
        "status": rule.status,
        "correctness": rule.correctness,
        "reason": rule.reason,
        "flags": sorted(set(rule.flags)),
    }


def _malformed(where: str, detail: str) -> SetError:
    return SetError(
        "SLV-I090",
        Text(f"registro de puntaje mal formado: {detail}", f"malformed score record: {detail}"),
        fix=Text("vuelva a puntuar la corrida", "score the run again"),
        where=where,
        exit_code=4,
    )


def _read(tree: JsonObject) -> ScoreRecord:
    bounds = _object_or_none(tree["bounds"])
    citations = _object(tree["citations"])
    answer_class = _text_or_none(tree["class"])
    verdict = _text_or_none(tree["verdict"])
    return ScoreRecord(
        item_id=_text(tree["item_id"]),
        repetition=_count(tree["repetition"]),
        side=_text(tree["side"]),
        stratum=_text(tree["stratum"]),
        cluster=_text_or_none(tree["cluster"]),
        run_outcome=Outcome(_text(tree["run_outcome"])),
        outcome=Outcome(_text(tree["outcome"])),
        answer_class=None if answer_class is None else AnswerClass(answer_class),
        abstention=_text_or_none(tree["abstention"]),
        correctness=Correctness(_text(tree["correctness"])),
        grounding=Grounding(_text(tree["grounding"])),
        verdict=None if verdict is None else Verdict(verdict),
        rules=tuple(_read_rule(_object(rule)) for rule in _list(tree["rules"])),
        citations=CitationCounts(**{name: _count(citations[name]) for name in _COUNTS}),
        criteria=tuple((key, _text(value)) for key, value in sorted(_object(tree["criteria"]).items())),
        bounds=None if bounds is None else Bounds(Verdict(_text(bounds["worst"])), Verdict(_text(bounds["best"]))),
        value=_text_or_none(tree["value"]),
        errors=_count_or_none(tree["errors"]),
        weight=_count_or_none(tree["weight"]),
        state=_text_or_none(tree["state"]),
        flags=tuple(_text(flag) for flag in _list(tree["flags"])),
        events=tuple(
            Event(_text(event["code"]), _text(event["level"]), event["confirmed"] is True)
            for event in map(_object, _list(tree["events"]))
        ),
        decided_by=_text_or_none(tree["decided_by"]),
        answer_mac=_text_or_none(tree["answer_mac"]),
        latency_ms=_count_or_none(tree["latency_ms"]),
        attempts=_count(tree["attempts"]),
    )


def _read_rule(tree: JsonObject) -> RuleSummary:
    return RuleSummary(
        rule=_text(tree["rule"]),
        status=_text(tree["status"]),
        correctness=_text(tree["correctness"]),
        reason=_text(tree["reason"]),
        flags=tuple(_text(flag) for flag in _list(tree["flags"])),
    )


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError("text expected")
    return value


def _text_or_none(value: JsonValue) -> str | None:
    return None if value is None else _text(value)


def _count(value: JsonValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError("count expected")
    return value


def _count_or_none(value: JsonValue) -> int | None:
    return None if value is None else _count(value)


def _object(value: JsonValue) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError("object expected")
    return value


def _object_or_none(value: JsonValue) -> JsonObject | None:
    return None if value is None else _object(value)


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise TypeError("list expected")
    return value
