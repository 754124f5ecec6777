"""From scores to the decision: copy what the ledger says, count, decide, say what cannot be known."""

from __future__ import annotations

from pathlib import Path

from slaverify.audit.opening import drawn_of
from slaverify.audit.scoring import SCORES
from slaverify.audit.session import Session, put, put_json
from slaverify.audit.witnessing import await_witnesses
from slaverify.custody import Entry, draw_json, exposure_json
from slaverify.custody.checkpoints import checkpoint_path, covering, read_checkpoints, token_path
from slaverify.decision import compare_versions, decide, inputs, limitations, results
from slaverify.evidence import (
    COMPARISON,
    DISPERSION,
    INTEGRITY,
    calibrations,
    dispersion_of,
    dispute_rulings,
    integrity_of,
    limitation_facts,
    run_validity,
)
from slaverify.evidence.read import open_folder

DECISION = "decision/decision.json"


def closing(session: Session, number: int) -> tuple[Entry, int]:
    """Return the entry that closes the evidence of a run, and the size of the checkpoint that covers it.

    The entry is `scored`, or the end of a run without one.
    """
    record = session.record(number)
    last = record.last("scored") or record.terminal
    assert last is not None  # noqa: S101 - the walk scores or ends a run first
    if session.upto is not None:
        return last, session.upto
    covered = covering(session.bank_folder, last.seq)
    return last, last.seq + 1 if covered is None else covered.size


def copy_custody(session: Session, number: int) -> None:
    """Copy bank, ledger and checkpoints into the run folder, as they stood when the scores were committed."""
    target, source = session.run_folder(number) / "custody", session.bank_folder
    _, size = closing(session, number)
    view = session.ledger.refresh().upto(size)
    put(target / "bank_manifest.json", (source / "manifest.json").read_bytes())
    put(target / "bank.checkpoint", (source / "bank.checkpoint").read_bytes())
    put(target / "index.jsonl", (source / "index.jsonl").read_bytes())
    put(target / "ledger.jsonl", view.file_bytes())
    put(target / "draw.json", draw_json(drawn_of(session, number)))
    put(target / "exposure.json", exposure_json(session.bank.index, view, session.terms))
    for checkpoint in read_checkpoints(source):
        if checkpoint.size <= size:
            _copy_checkpoint(source, target, checkpoint.size)


def decide_run(session: Session, number: int) -> None:
    """Write `statistics/` and `decision/` from the files of the run folder alone."""
    folder, model = session.run_folder(number), session.contract.model
    last, _ = closing(session, number)
    covered = covering(session.bank_folder, last.seq)
    assert covered is not None  # noqa: S101 - made with the entry
    await_witnesses(session, covered)
    copy_custody(session, number)
    bundle = open_folder(folder)
    validity = run_validity(bundle, session.contract, number)
    records = list(bundle.lines(SCORES)) if bundle.has(SCORES) else []
    rulings = dispute_rulings(bundle, session.contract, number)
    counted = inputs(model, records, rulings)
    measured = results(model, counted, validity, calibrations(bundle, session.contract, number))
    leaks = integrity_of(bundle, session.contract)
    if leaks is not None:
        put_json(folder / INTEGRITY, leaks)
    varied = dispersion_of(bundle, session.contract)
    if varied is not None:
        put_json(folder / DISPERSION, varied)
    put_json(folder / "statistics" / "inputs.json", counted)
    put_json(folder / "statistics" / "results.json", measured)
    if session.record(number).is_change_check:
        put_json(folder / COMPARISON, compare_versions(model, records))
    facts = limitation_facts(open_folder(folder), session.contract, number)
    put_json(folder / "decision" / "limitations.json", limitations(model, facts))
    # Last: its presence says that the step is done.
    put_json(folder / DECISION, decide(model, measured, validity))


def _copy_checkpoint(source: Path, target: Path, size: int) -> None:
    path = checkpoint_path(source, size)
    names = [path, token_path(path), *sorted(path.parent.glob(f"{path.name}.*.sshsig"))]
    for name in names:
        if name.is_file():
            put(target / "checkpoints" / name.name, name.read_bytes())
