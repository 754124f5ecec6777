"""V19, the judge: every judged verdict follows from votes, and every vote from recorded replies. Nobody is asked.

1. always: `panel.json` and the verdict of each judged record follow from the public votes;
2. with the edition of the parties and the annex: each prompt is rendered again from items, answers and the run's key,
   each recorded reply is looked up by it and parsed again, and votes, panel and records come out byte for byte. A
   changed prompt, model, parameter or reply is found. That a judge said so is the auditor's word.

Source: docs/spec/verification.md (V19), docs/spec/judging.md section 7.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, loads_jsonl
from slaverify.contract import LoadedContract
from slaverify.contract.model.judge import Judge
from slaverify.decision import judged_floor
from slaverify.errors import Text
from slaverify.evidence import Bundle, labelled_run
from slaverify.judging import (
    ANNEX_RECORDS,
    ANNEX_SENTINELS,
    PANEL,
    RUN_KEY,
    VOTES,
    WATCHING,
    Evaluated,
    GivenAnswer,
    JudgementRecord,
    Vote,
    by_key,
    evaluate,
    instrument_of,
    judged,
    judged_records,
    panel_json,
    panel_of,
    passes_trivially,
    read_run_key,
    read_sentinels,
    trivial_report,
    undecided,
    work_of,
)
from slaverify.judging.calibration import Labelled, ruled_records
from slaverify.scoring import ScoreRecord
from slaverify.verify.checks import Part, failed
from slaverify.verify.trees import first_difference

JUDGE, PERSON = "judge", "person"
_NOT_ASKED = "not_asked"


@dataclass(frozen=True, slots=True)
class Rejudged:
    """What the recorded replies give: the votes, and the score records with them."""

    found: Evaluated
    records: tuple[ScoreRecord, ...]


def public_parts(bundle: Bundle, contract: LoadedContract, records: Sequence[ScoreRecord]) -> Iterator[Part]:
    """Yield what the public votes say against `panel.json` and against the judged records."""
    judge = contract.model.judge
    by_judge = [record for record in records if record.decided_by == JUDGE]
    if judge is None or not bundle.has(VOTES):
        if by_judge or (judge is not None and records):
            yield failed(Text("hay puntajes del juez y no hay votos", "there are judged scores and no votes"))
        return
    votes = [Vote.from_json(line) for line in bundle.lines(VOTES)]
    yield from _same(PANEL, bundle.json(PANEL), panel_json(judge, votes))
    yield from _trivial(contract, judge, votes)
    yield from _verdicts(judge, records, votes, labelled_run(bundle, contract))


def rejudge(
    bundle: Bundle, contract: LoadedContract, annex: Mapping[str, bytes], answers: Sequence[GivenAnswer]
) -> Rejudged:
    """Derive votes and records again from the recorded replies. Raises: ValueError, JudgeError, StrictJsonError."""
    judge = contract.model.judge
    if judge is None:
        raise ValueError("no judge")
    instrument = instrument_of(contract.model, read_run_key(bundle.json(RUN_KEY)))
    sentinels = read_sentinels(annex.get(ANNEX_SENTINELS, b""), instrument, digest=judge.sentinels.digest)
    work = work_of(contract.model, instrument, answers, sentinels)
    lines = loads_jsonl(annex.get(ANNEX_RECORDS, b""))
    found = evaluate(work, by_key(JudgementRecord.from_json(line) for line in lines))
    records = judged_records(work, [answer.record for answer in answers], found.votes)
    return Rejudged(found, tuple(records))


def replayed_parts(bundle: Bundle, annex: Mapping[str, bytes], again: Rejudged) -> Iterator[Part]:
    """Yield what the derived votes say against the recorded ones, and records that no call of the run asked for."""
    stored = list(bundle.lines(VOTES))
    derived = [vote.to_json() for vote in again.found.votes]
    if len(stored) != len(derived):
        yield failed(
            Text(
                f"hay {len(stored)} votos; de las respuestas grabadas salen {len(derived)}",
                f"{len(stored)} votes; the recorded replies give {len(derived)}",
            )
        )
    for there, here in zip(stored, derived, strict=False):
        yield from _same(f"{VOTES} {there.get('subject')}", there, here)
    if again.found.surplus:
        yield failed(
            Text(
                "el juez fue consultado de nuevo después de una respuesta válida",
                "the judge was asked again after a valid reply",
            )
        )
    recorded = [JudgementRecord.from_json(line) for line in loads_jsonl(annex.get(ANNEX_RECORDS, b""))]
    for key, attempts in by_key(recorded).items():
        if [record.attempt for record in attempts] != list(range(1, len(attempts) + 1)):
            yield failed(Text(f"intentos de {key[:12]} con huecos", f"attempts of {key[:12]} with gaps"))
    known = {record.key for record in recorded}
    if known - again.found.used:
        yield failed(
            Text(
                f"{len(known - again.found.used)} respuestas grabadas no son de ninguna consulta de esta corrida",
                f"{len(known - again.found.used)} recorded replies belong to no call of this run",
            )
        )
    missing = sum(vote.failure == _NOT_ASKED for vote in again.found.votes)
    if missing and bundle.json(PANEL).get("drift") is not True:
        yield failed(Text(f"faltan {missing} respuestas del juez", f"{missing} replies of the judge are missing"))


def _trivial(contract: LoadedContract, judge: Judge, votes: Sequence[Vote]) -> Iterator[Part]:
    """A judge that lets an answer pass which knows nothing was not to see any of the run."""
    floor = judged_floor(contract.model)
    for one in trivial_report(judge, votes):
        if passes_trivially(one, floor):
            yield failed(
                Text(
                    f"el juez deja pasar la respuesta trivial «{one['name']}»",
                    f"the judge lets the trivial answer `{one['name']}` pass",
                )
            )


def _verdicts(
    judge: Judge, records: Sequence[ScoreRecord], votes: Sequence[Vote], people: Labelled | None
) -> Iterator[Part]:
    panel = panel_of(judge)
    own: dict[tuple[str, int, str], list[Vote]] = defaultdict(list)
    for vote in votes:
        if vote.purpose not in WATCHING:
            own[vote.answer_key].append(vote)
    derived: list[tuple[ScoreRecord, JsonObject]] = []
    for record in records:
        mine = own.get((record.item_id, record.repetition, record.side), [])
        if record.decided_by == JUDGE and not mine:
            yield failed(Text(f"{record.item_id}: puntaje del juez sin votos", f"{record.item_id}: judged, no votes"))
        elif mine and record.decided_by in (JUDGE, PERSON, None):
            derived.append((record, judged(panel, undecided(record, mine), mine).to_json()))
    # What the votes left open people may have settled, by labels that stand in the calibration.
    again = [tree for _, tree in derived]
    ruled = again if people is None else ruled_records(people, again)
    for (record, _), tree in zip(derived, ruled, strict=True):
        yield from _same(record.item_id, _said(record.to_json()), _said(tree))


def _said(record: JsonObject) -> JsonObject:
    keys = ("criteria", "decided_by") if record["criteria"] else ("verdict", "bounds", "decided_by")
    return {key: record[key] for key in keys}


def _same(place: str, stored: JsonObject, derived: JsonObject) -> Iterator[Part]:
    found = first_difference(stored, derived)
    if found is not None:
        path, there, here = found
        yield failed(
            Text(f"{place}: {path} no es lo que dan los votos", f"{place}: {path} is not what the votes give"),
            expected=here,
            found=there,
        )
