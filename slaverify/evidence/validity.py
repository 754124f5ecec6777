"""Whether a run counts at all: engine version, bank, ledger and clock, derived from the files of a bundle.

Order, the first fault names the reason:
1. `bank_digest`: the bank's manifest is the one that the contract pins;
2. `ledger`: the ledger is the pinned one and holds line by line, the run is in it, registered and ended;
3. `run_aborted`, `run_not_ended`: only a run that ended can be decided;
4. `engine_version`: no answer of another engine (contract: `engine.on_mismatch`, `engine.on_missing`);
5. `clock`: no drawn item was asked before the anchor of the start;
6. `disputes`: no more disputes were upheld than the contract bears (`disputes.max_upheld` of the sample).

Source: docs/spec/bundle.md, docs/spec/decision.md (run-level faults).
"""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction

from slaverify.canonical import digest_of
from slaverify.contract import LoadedContract, Outcome, sample_sizes
from slaverify.custody import (
    UNTIMED,
    LedgerView,
    RunRecord,
    StartEvidence,
    Terms,
    TimestampVerifier,
    authorise,
    check_not_early,
    disputes_of,
    read_ledger,
    rulings,
    terms_of,
)
from slaverify.decision import RunValidity
from slaverify.errors import CustodyError
from slaverify.evidence.bundle import Bundle
from slaverify.evidence.integrity import leak_signal
from slaverify.evidence.reading import LEDGER, OUTCOMES, PANEL, VOTES, checkpoint_numbers, run_number, utc_time
from slaverify.judging import unstable

_BANK = "custody/bank_manifest.json"


def run_validity(bundle: Bundle, contract: LoadedContract, number: int | None = None) -> RunValidity:
    """Return whether run `number` counts (None: the run that the bundle names in its draw, or its manifest).

    Raises: EvidenceError if a file that every run has is missing or malformed; never for what the files say.
    """
    terms = terms_of(contract.tree, contract.digest)
    if digest_of(bundle.read(_BANK)) != contract.model.evaluation_set.bank_digest:
        return RunValidity(valid=False, reason="bank_digest")
    try:
        view = ledger_view(bundle, terms)
        record = view.run(contract.digest, run_number(bundle, number))
    except CustodyError:
        return RunValidity(valid=False, reason="ledger")
    if record is None or record.started is None:
        return RunValidity(valid=False, reason="ledger")
    try:
        upheld = len(rulings(disputes_of(record, terms.adjudicator)))
    except CustodyError:
        return RunValidity(valid=False, reason="ledger")
    reason = _ending(record) or _engine(bundle, contract) or _clock(bundle, terms, view, record)
    reason = reason or _disputes(contract, upheld)
    return RunValidity(
        valid=reason is None,
        reason=reason,
        judge_drift=_drifted(bundle),
        judge_unstable=_unstable(bundle),
        leak_signal=leak_signal(bundle, contract),
        # What compares two versions measures neither of them against the contract.
        provenance="not_measured" if record.is_change_check else "measured",
    )


def is_change_check(bundle: Bundle, contract: LoadedContract) -> bool:
    """Tell whether the ledger holds the bundle's run as one that compares two versions. Raises: as `run_validity`."""
    try:
        record = ledger_view(bundle, terms_of(contract.tree, contract.digest)).run(contract.digest, run_number(bundle))
    except CustodyError:
        return False
    return record is not None and record.is_change_check


def dispute_rulings(bundle: Bundle, contract: LoadedContract, number: int | None = None) -> dict[str, str]:
    """Return by item id what upheld disputes make of the count of run `number` (None: the bundle's).

    Raises: EvidenceError for a file that every run has; nothing for a ledger that does not hold, whose run is invalid.
    """
    terms = terms_of(contract.tree, contract.digest)
    try:
        record = ledger_view(bundle, terms).run(contract.digest, run_number(bundle, number))
        return {} if record is None else rulings(disputes_of(record, terms.adjudicator))
    except CustodyError:
        return {}


def _disputes(contract: LoadedContract, upheld: int) -> str | None:
    share = Fraction(upheld, max(1, sum(sample_sizes(contract.model).values())))
    return "disputes" if share > Fraction(contract.model.disputes.max_upheld) else None


def ledger_view(bundle: Bundle, terms: Terms) -> LedgerView:
    """Return the bundle's ledger, verified against origin and key of the contract. Raises: CustodyError."""
    return read_ledger(bundle.read(LEDGER), terms.trust)


def _ending(record: RunRecord) -> str | None:
    if record.last("run_ended") is not None:
        return None
    return "run_aborted" if record.aborted else "run_not_ended"


def _engine(bundle: Bundle, contract: LoadedContract) -> str | None:
    engine = contract.model.engine
    for line in bundle.lines(OUTCOMES):
        outcome = line.get("outcome")
        if outcome == Outcome.ENGINE_MISMATCH and engine.on_mismatch == "invalid_run":
            return "engine_version"
        silent = outcome == Outcome.ANSWERED and line.get("engine_version") is None
        if silent and engine.on_missing == "invalid_run":
            return "engine_version"
    return None


def _clock(bundle: Bundle, terms: Terms, view: LedgerView, record: RunRecord) -> str | None:
    first = first_exchange(bundle)
    if first is None:
        return None
    # The anchor may be any checkpoint over the start: the earliest that proves it is the one that counts.
    for size in checkpoint_numbers(bundle):
        try:
            permit = authorise(
                view,
                terms,
                record.number,
                checkpoint_evidence(bundle, size),
                now=UNTIMED,
                timestamps=_reader(terms),
                over=True,
            )
            check_not_early(permit, first)
        except CustodyError as error:
            if error.code == "SLV-K044":
                return "clock"
            continue
        return None
    return "ledger"


def first_exchange(bundle: Bundle) -> datetime | None:
    """Return when the first drawn item was asked, aware UTC; None if none was. Raises: EvidenceError."""
    return min((utc_time(str(line.get("started_at"))) for line in bundle.lines(OUTCOMES)), default=None)


def checkpoint_evidence(bundle: Bundle, size: int) -> StartEvidence:
    """Return the checkpoint of `size` entries with what lies beside it. Raises: EvidenceError if it is not there."""
    stem = f"custody/checkpoints/{size:08d}.checkpoint"
    token = bundle.read(f"{stem}.tsr") if bundle.has(f"{stem}.tsr") else None
    names = [path for path in bundle.paths() if path.startswith(stem) and path.endswith(".sshsig")]
    signatures = {
        path.removeprefix(f"{stem}.").removesuffix(".sshsig"): bundle.read(path).decode("ascii", "replace")
        for path in names
    }
    return StartEvidence(bundle.read(stem), token, signatures)


def _reader(terms: Terms) -> TimestampVerifier | None:
    if terms.start_anchor not in ("timestamp", "both"):
        return None
    from slaverify.evidence.timestamp import TokenReader

    return TokenReader()


def _drifted(bundle: Bundle) -> bool:
    # A judged run is taken as drifted until its sentinels are read and say otherwise: absence is no pass.
    if not (bundle.has(VOTES) and any(True for _ in bundle.lines(VOTES))):
        return False
    return not bundle.has(PANEL) or bundle.json(PANEL).get("drift") is not False


def _unstable(bundle: Bundle) -> frozenset[str | None]:
    return unstable(bundle.json(PANEL)) if bundle.has(PANEL) else frozenset()
