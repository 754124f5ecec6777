"""What the limitations are decided on, derived from the files of a bundle: the auditor and the verifier call the same.

A file that the run's kind has no use for (no judge, no dispute) leaves its facts at nothing; one that every run has
and is missing or malformed is an error, never a fact.

Source: docs/spec/bundle.md, docs/spec/decision.md section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from slaverify.canonical import JsonObject
from slaverify.contract import LoadedContract, Outcome
from slaverify.custody import (
    UNTIMED,
    ItemState,
    LedgerView,
    RunRecord,
    Terms,
    item_states,
    ledger_events,
    parse_index,
    signers,
    terms_of,
    verify_checkpoint,
)
from slaverify.decision import DispersionFacts, LimitationFacts, metric_facts, panel_states
from slaverify.errors import CustodyError
from slaverify.evidence.bundle import Bundle
from slaverify.evidence.calibrated import CALIBRATION, calibration_facts
from slaverify.evidence.dispersion import DISPERSION, dispersion_of
from slaverify.evidence.integrity import integrity_of
from slaverify.evidence.papers import is_demo, party_signatures
from slaverify.evidence.problems import bad_record
from slaverify.evidence.reading import (
    DISPUTES,
    DRAW,
    EXPOSURE,
    INDEX,
    OUTCOMES,
    RESULTS,
    SCORES,
    VOTES,
    block,
    checkpoint_numbers,
    count,
    json_if_there,
    lines_if_there,
    run_number,
)
from slaverify.evidence.validity import checkpoint_evidence, ledger_view
from slaverify.judging import Vote
from slaverify.scoring import ScoreRecord

_DEPARTURES = ("run_resumed", "run_aborted", "item_voided", "incident", "draw_defaulted")
"""Entries of the ledger that depart from the plan of a run."""


def limitation_facts(bundle: Bundle, contract: LoadedContract, number: int | None = None) -> LimitationFacts:
    """Return the facts behind L01 to L28 of run `number` (None: the bundle's).

    Raises: EvidenceError for a file that every run has and is missing or malformed, CustodyError for a ledger that
    does not hold.
    """
    terms = terms_of(contract.tree, contract.digest)
    answers, scores, custody = _answers(bundle), _scores(bundle), _custody(bundle, terms, number)
    results = json_if_there(bundle, RESULTS)
    disputed = {str(line.get("item_id", line.get("item"))) for line in lines_if_there(bundle, DISPUTES)}
    calibration = json_if_there(bundle, CALIBRATION)
    said, reviewed = (None, 0) if calibration is None else calibration_facts(calibration)
    return LimitationFacts(
        calibration=said,
        judged_items=scores.judged,
        judge_votes=sum(1 for _ in lines_if_there(bundle, VOTES)),
        without_one=_without_one(bundle, contract),
        abstentions=scores.abstentions,
        abstentions_reviewed=reviewed,
        answers=answers.answered,
        echoes=answers.echoes,
        icc=_icc(results),
        dispersion=_dispersion(bundle, contract),
        metrics=() if results is None else metric_facts(results),
        strata=_strata(bundle),
        disputed=len(disputed),
        reused_items=custody.reused,
        fresh_left=custody.fresh,
        audits_left=custody.audits,
        leaks=_leaks(bundle, contract),
        witnesses=custody.witnesses,
        timestamps=sum(
            1 for path in bundle.paths() if path.startswith("custody/checkpoints/") and path.endswith(".tsr")
        ),
        beacon=block(bundle.json(DRAW), DRAW).get("beacon") is not None,
        retries=answers.retries,
        excluded=_excluded(results),
        deviations=custody.deviations,
        signatures=party_signatures(bundle, contract),
        demo=custody.demo or is_demo(contract),
        # Without roots of its own the pinned key vouches for itself.
        self_signed=not contract.model.report.signature.auditor_roots,
    )


def _without_one(bundle: Bundle, contract: LoadedContract) -> tuple[JsonObject, ...]:
    """Return what the states would be without one judge; nothing for a panel of one, or before the judge's step."""
    judge = contract.model.judge
    if judge is None or len(judge.panel) < 2 or not bundle.has(SCORES) or not bundle.has(VOTES):
        return ()
    votes = [Vote.from_json(line) for line in bundle.lines(VOTES)]
    records = [ScoreRecord.from_json(line, where=SCORES) for line in bundle.lines(SCORES)]
    rows = panel_states(contract.model, records, votes)
    return tuple(row for row in rows if isinstance(row, dict))


@dataclass(frozen=True, slots=True)
class _Answers:
    answered: int
    echoes: int
    retries: int


@dataclass(frozen=True, slots=True)
class _Scores:
    judged: int
    abstentions: int


@dataclass(frozen=True, slots=True)
class _Custody:
    reused: int
    fresh: int | None
    audits: int | None
    witnesses: int
    deviations: tuple[str, ...]
    demo: bool


def _answers(bundle: Bundle) -> _Answers:
    answered = echoes = retries = 0
    for line in lines_if_there(bundle, OUTCOMES):
        retries += count(line, "attempt", OUTCOMES) > 1
        if line.get("outcome") == Outcome.ANSWERED:
            answered += 1
            echoes += line.get("engine_version") is not None
    return _Answers(answered, echoes, retries)


def _scores(bundle: Bundle) -> _Scores:
    judged = abstentions = 0
    for line in lines_if_there(bundle, SCORES):
        judged += line.get("decided_by") == "judge"
        abstentions += line.get("class") == "abstention"
    return _Scores(judged, abstentions)


def _strata(bundle: Bundle) -> tuple[tuple[str, int], ...]:
    sample = block(bundle.json(DRAW).get("sample"), DRAW)
    sizes = {name: len(ids) for name, ids in sample.items() if isinstance(ids, list)}
    if len(sizes) != len(sample):
        raise bad_record(DRAW, "sample")
    return tuple(sorted(sizes.items()))


def _leaks(bundle: Bundle, contract: LoadedContract) -> str | None:
    found = integrity_of(bundle, contract)
    return None if found is None else str(found["integrity"])


def _icc(results: Mapping[str, object] | None) -> str | None:
    """Return the lowest intra-class correlation of the agreed repetitions; None where no metric has one."""
    metrics = None if results is None else results.get("metrics")
    rows = metrics if isinstance(metrics, list | tuple) else ()
    found = [row.get("dispersion") for row in rows if isinstance(row, dict)]
    return _lowest(one.get("icc") for one in found if isinstance(one, dict))


def _dispersion(bundle: Bundle, contract: LoadedContract) -> DispersionFacts | None:
    found = dispersion_of(bundle, contract)
    if found is None:
        return None
    metrics = found["metrics"]
    rows = [row for row in metrics if isinstance(row, dict)] if isinstance(metrics, list) else []
    return DispersionFacts(
        items=count(found, "items", DISPERSION),
        repeats=count(found, "repeats", DISPERSION),
        icc=_lowest(row.get("icc") for row in rows),
    )


def _lowest(values: Iterable[object]) -> str | None:
    return min((value for value in values if isinstance(value, str)), key=Fraction, default=None)


def _excluded(results: Mapping[str, object] | None) -> int:
    metrics = None if results is None else results.get("metrics")
    counts = [row.get("excluded") for row in metrics if isinstance(row, dict)] if isinstance(metrics, list) else []
    return max((value for value in counts if isinstance(value, int)), default=0)


def _custody(bundle: Bundle, terms: Terms, number: int | None) -> _Custody:
    view = ledger_view(bundle, terms)
    record = view.run(terms.contract_digest, run_number(bundle, number))
    departures = {entry.type for kind in _DEPARTURES for entry in (() if record is None else record.all(kind))}
    if any(other.aborted for other in view.runs(terms.contract_digest)):
        departures.add("run_aborted")
    if view.find("incident") is not None:
        departures.add("incident")
    exposure = json_if_there(bundle, EXPOSURE)
    return _Custody(
        reused=_reused(bundle, terms, view, record),
        fresh=None if exposure is None else count(block(exposure.get("states"), EXPOSURE), "unused", EXPOSURE),
        audits=None if exposure is None else count(exposure, "remaining_audits", EXPOSURE),
        witnesses=_witnesses(bundle, terms),
        deviations=tuple(sorted(departures)),
        demo=view.demo,
    )


def _reused(bundle: Bundle, terms: Terms, view: LedgerView, record: RunRecord | None) -> int:
    if record is None or record.draw is None:
        return 0
    drawn = record.draw.seq
    events = ledger_events(parse_index(bundle.read(INDEX)), view, terms.exposure_group)
    before = item_states(event for event in events if event.seq < drawn)
    sample = block(bundle.json(DRAW).get("sample"), DRAW)
    ids = {item for found in sample.values() if isinstance(found, list) for item in found}
    return sum(1 for item, state in before.items() if item in ids and state >= ItemState.SENT)


def _witnesses(bundle: Bundle, terms: Terms) -> int:
    sizes = checkpoint_numbers(bundle)
    if not sizes:
        return 0
    try:
        evidence = checkpoint_evidence(bundle, sizes[-1])
        proven = verify_checkpoint(evidence.checkpoint, terms.checkpoint_policy(quorum=0), UNTIMED)
        return len(signers(proven, terms, evidence.ssh_signatures or {}))
    except CustodyError:
        return 0
