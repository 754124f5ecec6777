"""From recorded replies to votes, again, with no network: render, look up, parse.

A call's vote is its first attempt that parses. A refusal and another model are final; a fault of transport or content
is asked again, identically. What was asked after the attempt that counts would be a choice among answers: refused.

Source: docs/spec/judging.md sections 5 and 7 (cache and replay).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from slaverify.canonical import JsonObject
from slaverify.judging.calls import Call, Work
from slaverify.judging.parse import Asked, Reply, parse
from slaverify.judging.prompt import Case, Instrument, Prompt, PromptInvalidError, nonce_of, record_key, render
from slaverify.judging.records import FailureKind, Judgement, JudgementRecord, ParseResult, Purpose, Vote
from slaverify.judging.rubrics import scale_of
from slaverify.judging.sentinels import Sentinel, as_expected
from slaverify.scoring import in_other_language

OTHER_LANGUAGE = "reason_language"
"""Alarm of a reason that is plainly not in the language of the contract; a warning, and no failure."""
NOT_ASKED = "not_asked"
"""A vote of a call that never left: the judge had failed as an instrument before."""

Records = Mapping[str, Sequence[JudgementRecord]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One call and what is known of it. `prompt` null: it must not be sent. `settled`: no attempt more is due.

    `language`: the one that the reason was asked in.
    """

    call: Call
    prompt: Prompt | None
    key: str | None
    result: ParseResult | None
    attempts: tuple[JudgementRecord, ...]
    settled: bool
    surplus: int = 0
    language: str | None = None

    @property
    def judgement(self) -> Judgement | None:
        """The judgement, or null."""
        return self.result if isinstance(self.result, Judgement) else None

    @property
    def failure(self) -> str | None:
        """Why there is no judgement, or null."""
        if self.prompt is None:
            return FailureKind.PROMPT_INVALID.value
        if self.result is None:
            return NOT_ASKED
        return None if isinstance(self.result, Judgement) else self.result.kind.value


def by_key(records: Iterable[JudgementRecord]) -> dict[str, list[JudgementRecord]]:
    """Return the records by key, attempts in order."""
    found: dict[str, list[JudgementRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: (record.key, record.attempt)):
        found[record.key].append(record)
    return dict(found)


def read_call(instrument: Instrument, call: Call, records: Records) -> Reading:
    """Return what the recorded attempts at a call give."""
    member = instrument.member(call.id.member)
    nonce = nonce_of(instrument.run_key, call.id)
    try:
        prompt = render(instrument, member, call.case, nonce)
    except PromptInvalidError:
        return Reading(call=call, prompt=None, key=None, result=None, attempts=(), settled=True)
    key = record_key(instrument, member, prompt)
    attempts = tuple(records.get(key, ()))
    asked = asked_of(instrument, call.case, nonce, member.expected_model_echo)
    found = Reading(
        call=call,
        prompt=prompt,
        key=key,
        result=None,
        attempts=attempts,
        settled=False,
        language=instrument.language,
    )
    result: ParseResult | None = None
    content = 0
    for at, attempt in enumerate(attempts, 1):
        result = parse(reply_of(attempt), asked)
        content += not isinstance(result, Judgement) and result.kind is not FailureKind.TRANSPORT
        if _final(result) or content > instrument.judge.retries.content:
            surplus = len(attempts) - at
            return replace(found, result=result, settled=True, surplus=surplus)
    return replace(found, result=result)


def asked_of(instrument: Instrument, case: Case, nonce: str, echo: str | None) -> Asked:
    """Return what a reply to a case must be."""
    return Asked(
        nonce=nonce,
        scales={field: scale_of(instrument.rubric, field, case.criterion) for field in case.asks},
        parser=instrument.judge.parser,
        criterion=None if case.criterion is None else case.criterion.id,
        sentences=len(case.sentences) if "sentences" in case.asks else None,
        table=instrument.rubric.table or None,
        given=dict(case.given),
        echo=echo,
    )


def reply_of(record: JudgementRecord) -> Reply:
    """Return the reply that a record holds."""
    return Reply(raw=record.raw, stop=record.stop, refused=record.refused, echo=record.echo, fault=record.fault)


def vote_of(reading: Reading, sentinels: Mapping[str, Sentinel]) -> Vote:
    """Return the public line of a call."""
    call, judgement = reading.call, reading.judgement
    sentinel = sentinels.get(call.subject) if call.purpose is Purpose.SENTINEL else None
    values: JsonObject | None = None if judgement is None else dict(judgement.values)
    return Vote(
        purpose=call.purpose,
        subject=call.subject,
        repetition=call.repetition,
        side=call.side,
        member=call.id.member,
        criterion=call.id.criterion,
        asked=call.case.asks,
        vote=call.id.vote,
        key=reading.key,
        attempts=len(reading.attempts),
        values=values,
        failure=reading.failure,
        alarms=_alarms(reading),
        flags=() if judgement is None else judgement.flags,
        masked=call.case.masked,
        fingerprint=reading.attempts[-1].fingerprint if reading.attempts else None,
        known=call.trivial if sentinel is None else sentinel.kind,
        right=_right(call, sentinel, values),
    )


def _alarms(reading: Reading) -> tuple[str, ...]:
    result = reading.result
    if isinstance(result, Judgement):
        return (OTHER_LANGUAGE,) if in_other_language(result.reason, reading.language) else ()
    return () if result is None or result.alarm is None else (result.alarm,)


def _right(call: Call, sentinel: Sentinel | None, values: JsonObject | None) -> bool | None:
    if sentinel is not None:
        return as_expected(sentinel, values)
    if call.settled is None or values is None:
        return None
    return all(values.get(field) == found for field, found in call.settled)


def votes_of(work: Work, calls: Iterable[Call], records: Records) -> list[Vote]:
    """Return the public lines of calls, in their order."""
    named = {sentinel.id: sentinel for sentinel in work.sentinels}
    return [vote_of(read_call(work.instrument, call, records), named) for call in calls]


def _final(result: ParseResult) -> bool:
    return isinstance(result, Judgement) or result.kind in (FailureKind.IDENTITY_MISMATCH, FailureKind.REFUSAL)
