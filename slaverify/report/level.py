"""Compute the custody level of a run from contract, manifest, ledger and checkpoints, as anybody else would.

Nothing is declared: a fact that these files do not show is missing, and a bundle whose bank or ledger does not hold
has no level.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from slaverify.canonical import JsonObject, JsonValue
from slaverify.custody import (
    UNTIMED,
    Demand,
    Expected,
    LedgerView,
    RunPermit,
    StartEvidence,
    Terms,
    TimestampVerifier,
    authorise,
    capped,
    check_bank,
    checklist,
    custody_facts,
    level_of,
    read_ledger,
    signers,
    terms_of,
    verify_checkpoint,
)
from slaverify.errors import CustodyError, EvidenceError

_CHECKPOINT = re.compile(r"custody/checkpoints/([0-9]{8})\.checkpoint")


class Files(Protocol):
    """What is read here of a bundle."""

    def has(self, path: str) -> bool:
        """Tell whether the bytes of `path` are here."""

    def read(self, path: str) -> bytes:
        """Return the bytes of `path`."""

    def paths(self) -> tuple[str, ...]:
        """Return the files that are here."""


@dataclass(frozen=True, slots=True)
class CustodyLevel:
    """The level 0 to 3, the facts that hold with the ledger entries (by number) that show them, those missing."""

    number: int
    held: tuple[tuple[str, tuple[int, ...]], ...]
    missing: tuple[str, ...]


def custody_level(files: Files, contract: JsonObject, manifest: JsonObject) -> CustodyLevel | None:
    """Return the level of the bundle's run; None where its bank or its ledger does not hold.

    1. the ledger against the size and root of the manifest; 2. the bank against the contract; 3. the start against
    the earliest checkpoint that proves it anchored; 4. who signed the checkpoints of start and end; 5. the facts.
    """
    try:
        terms = terms_of(contract, _text(manifest.get("contract_digest")))
        view = _held_ledger(files, terms, manifest)
        bank = check_bank(
            files.read("custody/bank_manifest.json"),
            files.read("custody/index.jsonl"),
            files.read("custody/bank.checkpoint"),
            bank_digest=terms.bank_digest,
            log_vkey=terms.vkey,
        )
        run = manifest.get("run_number")
        permit = _permit(files, terms, view, run if isinstance(run, int) else 0)
        facts = custody_facts(
            terms,
            bank.manifest,
            view,
            sealed=True,
            ledger_valid=True,
            permit=permit,
            witnesses=_witnesses(files, terms, view, permit),
        )
    except (CustodyError, EvidenceError, KeyError):
        # `verify` says what fails and where; here it only means that no level can be stated.
        return None
    level = capped(level_of({fact.name: fact.holds for fact in facts}), terms, view)
    if level.level is None:
        return None
    held = tuple((fact.name, fact.evidence) for fact in facts if fact.holds)
    return CustodyLevel(level.level, held, level.missing)


def custody_demands(files: Files, contract: JsonObject, manifest: JsonObject) -> Mapping[str, Demand] | None:
    """Return what the ledger answers of the chain-of-custody checklist, by demand; None where the ledger fails."""
    try:
        view = _held_ledger(files, terms_of(contract, _text(manifest.get("contract_digest"))), manifest)
    except (CustodyError, EvidenceError, KeyError):
        # As above: `verify` says what fails.
        return None
    return {demand.name: demand for demand in checklist(view)}


def _held_ledger(files: Files, terms: Terms, manifest: JsonObject) -> LedgerView:
    """Return the ledger under the contract's keys and the manifest's root. Raises: CustodyError, KeyError."""
    expected = _expected(manifest)
    view = read_ledger(files.read("custody/ledger.jsonl"), terms.trust)
    view.against(expected.size, expected.root)
    return view


def _expected(manifest: JsonObject) -> Expected:
    ledger = manifest.get("ledger")
    if not isinstance(ledger, Mapping):
        raise KeyError("ledger")
    size = ledger.get("size")
    if not isinstance(size, int):
        raise KeyError("size")
    return Expected(size, bytes.fromhex(_text(ledger.get("root"))))


def _permit(files: Files, terms: Terms, view: LedgerView, run: int) -> RunPermit | None:
    for path in _checkpoints(files):
        try:
            return authorise(
                view,
                terms,
                run,
                _evidence(files, path),
                now=UNTIMED,
                timestamps=_reader(terms),
                over=True,
            )
        except (CustodyError, EvidenceError):
            # An earlier checkpoint does not cover the start, or its token does not hold: the next one may.
            continue
    return None


def _checkpoints(files: Files) -> list[str]:
    return sorted(path for path in files.paths() if _CHECKPOINT.fullmatch(path))


def _evidence(files: Files, checkpoint: str) -> StartEvidence:
    token = files.read(f"{checkpoint}.tsr") if files.has(f"{checkpoint}.tsr") else None
    return StartEvidence(files.read(checkpoint), token, _ssh(files, checkpoint))


def _ssh(files: Files, checkpoint: str) -> dict[str, str]:
    found = [path for path in files.paths() if path.startswith(f"{checkpoint}.") and path.endswith(".sshsig")]
    return {
        path.removeprefix(f"{checkpoint}.").removesuffix(".sshsig"): files.read(path).decode("ascii", "replace")
        for path in found
    }


def _reader(terms: Terms) -> TimestampVerifier | None:
    if terms.start_anchor not in ("timestamp", "both"):
        return None
    from slaverify.evidence.timestamp import TokenReader

    return TokenReader()


def _witnesses(files: Files, terms: Terms, view: LedgerView, permit: RunPermit | None) -> Mapping[str, Sequence[str]]:
    """Return who signed validly the checkpoint of the start, and any one that covers the end."""
    if permit is None or not terms.witnesses:
        return {}
    record = view.run(terms.contract_digest, permit.run)
    ended = None if record is None else record.last("run_ended")
    covering = [path for path in _checkpoints(files) if ended is not None and _size(path) > ended.seq]
    start = [path for path in _checkpoints(files) if _size(path) == permit.checkpoint_size]
    return {
        moment: sorted({name for path in paths for name in _signers(files, terms, view, path)})
        for moment, paths in (("start", start), ("end", covering))
    }


def _size(checkpoint: str) -> int:
    return int(checkpoint[-len("00000000.checkpoint") :].removesuffix(".checkpoint"))


def _signers(files: Files, terms: Terms, view: LedgerView, checkpoint: str) -> list[str]:
    try:
        proven = verify_checkpoint(files.read(checkpoint), terms.checkpoint_policy(quorum=0), UNTIMED)
        view.against(proven.size, proven.root)
        return sorted(one.name for one in signers(proven, terms, _ssh(files, checkpoint)))
    except CustodyError:
        return []


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise KeyError("text")
    return value
