"""The drafting bench: what a judge makes of a criterion's probes and of a labelled development set.

1. Each known answer is asked as any answer would be, its votes and then its repeats.
2. Per criterion: probes that came out otherwise, agreement with people, flips between repeats, the disagreements with
   the judge's reason, and the cut at which judge and people agree best (a proposal; the contract fixes it).
3. Against an older wording, under the same judge: what the new one mended and what it broke.

Source: docs/spec/calibration.md section 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue, decimal_text, real9
from slaverify.contract.model.judge import Criterion
from slaverify.judging.by_criteria import criterion_outcome
from slaverify.judging.calibration.development import Known
from slaverify.judging.calls import CLEAN, Call
from slaverify.judging.criteria import criterion_digest, fraction_of, meets
from slaverify.judging.masking import mask
from slaverify.judging.prompt import Case, Instrument
from slaverify.judging.readings import Panel
from slaverify.judging.records import CallId, Purpose, Vote
from slaverify.judging.replay import Reading, Records, read_call, vote_of
from slaverify.scoring import MET
from slaverify.statistics import cohen_kappa, exact_bound, exact_interval, gwet_ac1

TRIAL_TYPE = "slaverify/criteria-trial/1"
CONFIDENCE = 0.95
SCORE = "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One known answer and what the judge said of it. `met` null: no result. `flipped` null: it was not repeated."""

    known: Known
    met: bool | None
    flipped: bool | None
    values: tuple[str | int, ...]
    reason: str

    @property
    def agrees(self) -> bool:
        """Whether the judge says what people said."""
        return self.met is self.known.met


def trial_calls(instrument: Instrument, known: Sequence[Known], repeats: int) -> list[Call]:
    """Return every call that is due: the votes of each answer, then its repeats (calls per answer in all)."""
    named = {criterion.id: criterion for criterion in instrument.judge.criteria}
    calls: list[Call] = []
    for one in known:
        if one.criterion in named:
            calls += _calls(instrument, one, named[one.criterion], repeats)
    return calls


def tried(instrument: Instrument, known: Sequence[Known], calls: Sequence[Call], records: Records) -> list[Tried]:
    """Return what the recorded replies say of each known answer."""
    panel = Panel(judge=instrument.judge, rubric=instrument.rubric)
    readings: dict[str, list[Reading]] = {}
    for call in calls:
        readings.setdefault(call.subject, []).append(read_call(instrument, call, records))
    named = {criterion.id: criterion for criterion in instrument.judge.criteria}
    return [_tried(panel, named[one.criterion], one, readings[one.id]) for one in known if one.id in readings]


def trial_json(criteria: Sequence[Criterion], new: Sequence[Tried], old: Sequence[Tried] | None = None) -> JsonObject:
    """Return the whole trial, one entry a criterion; `old`: the same answers under the older wording."""
    before = None if old is None else {(one.known.criterion, one.known.id): one for one in old}
    return {
        "type": TRIAL_TYPE,
        "criteria": [
            _criterion(criterion, [one for one in new if one.known.criterion == criterion.id], before)
            for criterion in criteria
        ],
    }


def _calls(instrument: Instrument, one: Known, criterion: Criterion, repeats: int) -> list[Call]:
    shown, _ = mask(one.answer, instrument.names)
    case = Case(
        question=one.question, official_text=one.official_text, answer=shown, asks=(SCORE,), criterion=criterion
    )
    votes = instrument.judge.votes
    return [
        Call(
            id=CallId(case=case.digest, member=member.id, criterion=criterion.id, vote=vote, copy=CLEAN),
            purpose=Purpose.ITEM if vote < votes else Purpose.REPEAT,
            subject=one.id,
            repetition=0,
            side="current",
            case=case,
        )
        for member in instrument.judge.panel
        for vote in range(max(votes, repeats))
    ]


def _tried(panel: Panel, criterion: Criterion, one: Known, readings: Sequence[Reading]) -> Tried:
    votes = [vote_of(reading, {}) for reading in readings]
    found = criterion_outcome(panel, criterion.id, votes).readings
    met = next(iter(found)) == MET if len(found) == 1 else None
    own = [_value(vote) for vote in votes if vote.purpose is Purpose.ITEM]
    values = tuple(value for value in own if value is not None)
    spoken = [reading.judgement for reading in readings if reading.judgement is not None]
    apart = [judgement for judgement in spoken if meets(criterion, _score(judgement.value(SCORE))) is not one.met]
    reason = (apart or spoken)[0].reason if spoken else next((r.failure or "" for r in readings), "")
    return Tried(known=one, met=met, flipped=_flipped(criterion, votes), values=values, reason=reason)


def _flipped(criterion: Criterion, votes: Sequence[Vote]) -> bool | None:
    """Say whether a member changed its mark between calls; null where no member answered twice."""
    marks: dict[str, list[bool]] = {}
    for vote in votes:
        value = _value(vote)
        if value is not None:
            marks.setdefault(vote.member, []).append(meets(criterion, value))
    repeated = [own for own in marks.values() if len(own) > 1]
    return any(len(set(own)) > 1 for own in repeated) if repeated else None


def _value(vote: Vote) -> str | int | None:
    return None if vote.values is None else _score(vote.values[SCORE])


def _score(value: JsonValue) -> str | int:
    return value if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _criterion(
    criterion: Criterion, own: Sequence[Tried], before: Mapping[tuple[str, str], Tried] | None
) -> JsonObject:
    probes = [one for one in own if one.known.probe]
    people = [one for one in own if not one.known.probe]
    repeated = [one for one in own if one.flipped is not None]
    flips = sum(one.flipped is True for one in repeated)
    failed: list[JsonValue] = [_row(one) for one in probes if not one.agrees]
    apart: list[JsonValue] = [_row(one) for one in people if not one.agrees]
    return {
        "criterion": criterion.id,
        "version": criterion.version,
        "digest": criterion_digest(criterion),
        "probes": {"asked": len(probes), "failed": failed},
        "people": {"rows": len(people), "unresolved": sum(one.met is None for one in people), **_agreement(people)},
        "flips": {
            "rows": len(repeated),
            "flipped": flips,
            "upper": real9(exact_bound(flips, len(repeated), CONFIDENCE).high) if repeated else None,
        },
        "cut": _cut(criterion, people),
        "disagreements": apart,
        "against": None if before is None else _against(own, before),
    }


def _row(one: Tried) -> JsonObject:
    said = None if one.met is None else "met" if one.met else "not_met"
    return {
        "id": one.known.id,
        "people": "met" if one.known.met else "not_met",
        "judge": said,
        "values": list(one.values),
        "reason": one.reason,
    }


def _agreement(people: Sequence[Tried]) -> dict[str, JsonValue]:
    known = [one for one in people if one.met is not None]
    if not known:
        return {"agreed": 0, "low": None, "high": None, "kappa": None, "kappa_low": None, "ac1": None}
    agreed = sum(one.agrees for one in known)
    limits = exact_interval(agreed, len(known), CONFIDENCE)
    said = [(one.known.met, one.met is True) for one in known]
    table = [[sum(pair == (a, b) for pair in said) for b in (False, True)] for a in (False, True)]
    kappa, ac1 = cohen_kappa(table, CONFIDENCE), gwet_ac1([[a for a, _ in said], [b for _, b in said]], 2)
    return {
        "agreed": agreed,
        "low": real9(limits.low),
        "high": real9(limits.high),
        "kappa": None if kappa.kappa is None else real9(kappa.kappa),
        "kappa_low": None if kappa.low is None else real9(kappa.low),
        "ac1": None if ac1.ac1 is None else real9(ac1.ac1),
    }


def _cut(criterion: Criterion, people: Sequence[Tried]) -> JsonObject:
    """Return the fraction at which the judge's values and people agree best; of equal ones the contract's, then the
    lowest."""
    said = [(fraction_of(criterion, value), one.known.met) for one in people for value in one.values]
    fractions = sorted({point.fraction for point in criterion.scale.points if point.fraction > 0})
    if not said or not fractions:
        return {"contract": decimal_text(criterion.threshold), "best": None, "agreement": None}

    def agreed(cut: Decimal) -> int:
        return sum((fraction >= cut) is met for fraction, met in said)

    here = min((fraction for fraction in fractions if fraction >= criterion.threshold), default=fractions[-1])
    best = max(fractions, key=lambda cut: (agreed(cut), cut == here, -cut))
    return {
        "contract": decimal_text(criterion.threshold),
        "best": decimal_text(criterion.threshold if best == here else best),
        "agreement": real9(Fraction(agreed(best), len(said))),
    }


def _against(own: Sequence[Tried], before: Mapping[tuple[str, str], Tried]) -> JsonObject:
    pairs = [(one, before[one.known.criterion, one.known.id]) for one in own if _key(one) in before]
    mended: list[JsonValue] = [one.known.id for one, old in pairs if one.agrees and not old.agrees]
    broken: list[JsonValue] = [one.known.id for one, old in pairs if old.agrees and not one.agrees]
    return {
        "rows": len(pairs),
        "agreed_before": sum(old.agrees for _, old in pairs),
        "agreed_now": sum(one.agrees for one, _ in pairs),
        "mended": mended,
        "broken": broken,
    }


def _key(one: Tried) -> tuple[str, str]:
    return one.known.criterion, one.known.id
