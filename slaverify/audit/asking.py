"""Ask a judge what is due, within its budget, and keep every attempt.

Transport faults are asked again with growing waits, faulty contents once more and identically; a refusal or another
model ends a call. Too many calls in a row without any answer mean that the judge is away: stop, resumable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic

from slaverify.audit.judge_journal import JudgeJournal
from slaverify.contract.model.judge import Judge, JudgeMember
from slaverify.errors import JudgeError, Text
from slaverify.judging import (
    Call,
    FailureKind,
    Instrument,
    JudgeFailure,
    JudgementRecord,
    JudgePort,
    Reading,
    Received,
    Stop,
    by_key,
    output_schema,
    read_call,
)

CONCURRENCY = 4
"""Calls to the panel at once (convention)."""
AWAY_AFTER = 5
"""Calls in a row that end in faults of transport before the judge is taken to be away (convention)."""
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 30.0


class AnotherModelError(Exception):
    """A response declared another model: nothing more is asked, and the judge has drifted."""


@dataclass
class Asker:
    """What one session of asking needs. `more_calls`: calls beyond the contract's budget that the operator allows."""

    instrument: Instrument
    journal: JudgeJournal
    judges: JudgePort
    more_calls: int = 0
    wait: Callable[[int], float] = field(default=lambda attempt: min(FIRST_WAIT_S * 2**attempt, LONGEST_WAIT_S))
    _away: int = 0
    _known: dict[str, list[JudgementRecord]] = field(default_factory=dict)
    _began: float = field(default_factory=monotonic)

    def __post_init__(self) -> None:
        self._known = by_key(self.journal.records)

    async def ask(self, calls: Sequence[Call], *, stop_at_other_model: bool) -> None:
        """Carry out every call that is not settled.

        Raises: JudgeError SLV-J045 (away, or no credential), SLV-J047 (a server that takes no request of ours),
        SLV-J049 (budget), each resumable; AnotherModelError.
        """
        due: dict[str, Reading] = {}
        for call in calls:
            reading = read_call(self.instrument, call, self._known)
            if reading.key is not None and not reading.settled:
                due.setdefault(reading.key, reading)
        waiting = list(due.values())
        for start in range(0, len(waiting), CONCURRENCY):
            found = await asyncio.gather(
                *(self._settle(one) for one in waiting[start : start + CONCURRENCY]), return_exceptions=True
            )
            # What the others brought back is on disk by now: then the first refusal may stop the rest.
            for one in found:
                if isinstance(one, BaseException):
                    raise one
            if stop_at_other_model and any(_other_model(one) for one in found if isinstance(one, Reading)):
                raise AnotherModelError

    async def _settle(self, reading: Reading) -> Reading:
        assert reading.key is not None and reading.prompt is not None  # noqa: S101 - only such calls are due
        faults = 0
        while not reading.settled and faults <= self.instrument.judge.retries.transport:
            if faults:
                await asyncio.sleep(self.wait(faults - 1))
            received = await self._once(reading)
            faults += received.fault is not None
            reading = read_call(self.instrument, reading.call, self._known)
        self._away = 0 if reading.settled else self._away + 1
        if self._away >= AWAY_AFTER:
            raise _unavailable(reading.attempts[-1].fault or "")
        return reading

    async def _once(self, reading: Reading) -> Received:
        assert reading.key is not None and reading.prompt is not None  # noqa: S101 - as above
        self._afford()
        attempt = len(self._known.get(reading.key, ())) + 1
        self.journal.intend(reading.key, attempt)
        schema = output_schema(self.instrument, reading.call.case)
        received = await self.judges.ask(reading.call.id.member, reading.prompt, schema)
        if received.stop_all is Stop.REJECTED:
            # One prompt that is too much is that answer's fault of transport; a server that takes none is no judge.
            if not any(one.raw is not None for own in self._known.values() for one in own):
                raise _rejected(received, self.instrument.member(reading.call.id.member))
        elif received.stop_all is not None:
            raise _stopped(received.stop_all)
        record = JudgementRecord(
            key=reading.key,
            request_digest=received.request_digest,
            attempt=attempt,
            raw=received.raw,
            stop=received.stop,
            refused=received.refused,
            echo=received.echo,
            fingerprint=received.fingerprint,
            usage=received.usage,
            fault=received.fault,
        )
        self.journal.add(record)
        self._known.setdefault(reading.key, []).append(record)
        return received

    def _afford(self) -> None:
        allowed = calls_allowed(self.instrument.judge)
        if allowed is not None and self.journal.intents >= allowed + self.more_calls:
            raise JudgeError(
                "SLV-J049",
                Text(
                    f"se acabó el presupuesto del juez: {allowed + self.more_calls} llamadas",
                    f"the judge's budget is spent: {allowed + self.more_calls} calls",
                ),
                why=Text("nada se perdió; lo contestado queda", "nothing was lost; what was answered stays"),
                fix=Text(
                    "autorice más con «slaverify judge RUN --more-calls N»", "`slaverify judge RUN --more-calls N`"
                ),
                where="judge.budget",
                exit_code=6,
            )
        if monotonic() - self._began > float(self.instrument.judge.retries.run_deadline_s):
            raise _unavailable("run_deadline_s")


def calls_allowed(judge: Judge) -> int | None:
    """Return how many calls the budget pays for, null without a budget."""
    budget = judge.budget
    if budget is None:
        return None
    if budget.amount is None or not budget.price_per_call:
        return budget.calls
    return min(budget.calls, int(budget.amount // budget.price_per_call))


def _other_model(reading: Reading) -> bool:
    return isinstance(reading.result, JudgeFailure) and reading.result.kind is FailureKind.IDENTITY_MISMATCH


def _unavailable(detail: str) -> JudgeError:
    return JudgeError(
        "SLV-J045",
        Text(f"el juez no responde: {detail}", f"the judge does not answer: {detail}"),
        why=Text("nada se perdió; lo contestado queda", "nothing was lost; what was answered stays"),
        fix=Text("siga más tarde con «slaverify judge RUN»", "go on later with `slaverify judge RUN`"),
        where="judge.panel",
        exit_code=6,
    )


def _rejected(received: Received, member: JudgeMember) -> JudgeError:
    told = f"{received.fault}: {received.detail}" if received.detail else str(received.fault)
    pinned = member.response_format == "json_schema"
    return JudgeError(
        "SLV-J047",
        Text(
            f"el servidor del juez «{member.id}» rechaza lo que se le envía ({told})",
            f"the server of judge `{member.id}` rejects what it is sent ({told})",
        ),
        why=Text(
            "el contrato fija `response_format: json_schema`, y nunca se quita sin que nadie lo note"
            if pinned
            else "lo que fija el contrato se envía tal cual, y nada se cambia en silencio",
            "the contract pins `response_format: json_schema`, which is never dropped in silence"
            if pinned
            else "what the contract pins is sent as it is, and nothing is changed in silence",
        ),
        fix=Text(
            "sirva el modelo con un servidor que lo admita, o pacte otra cosa en una versión nueva del contrato",
            "serve the model where it is accepted, or agree on something else in a new version of the contract",
        ),
        where="judge.panel",
        exit_code=6,
    )


def _stopped(stop: Stop) -> JudgeError:
    if stop is Stop.QUOTA:
        return _unavailable("quota")
    return _unavailable("credential")
