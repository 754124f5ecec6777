"""Checkpoints, tokens and witnesses of the bundle, and the anchor of the run's start: the outside world in V18.

Source: docs/spec/verification.md (V18), docs/spec/ledger.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from slaverify.custody import (
    CheckpointPolicy,
    RunPermit,
    StartEvidence,
    VerifiedCheckpoint,
    authorise,
    signers,
    slug,
    verify_checkpoint,
)
from slaverify.custody import TimestampVerifier as Timestamps
from slaverify.errors import CustodyError, SlaverifyError, Text
from slaverify.verify.checks import Part, failed, noted, refused
from slaverify.verify.custody_set import CustodySet

_FOLDER = "custody/checkpoints/"
_CHECKPOINT = re.compile(r"custody/checkpoints/([0-9]{8})\.checkpoint")
_FORM = "%Y-%m-%dT%H:%M:%SZ"


def timestamps() -> Timestamps:
    """Return the reader of RFC 3161 tokens; loaded only where there is one to read."""
    from slaverify.evidence.timestamp import TokenReader

    return TokenReader()


def sizes_of(custody: CustodySet) -> list[int]:
    """Return the sizes of which the bundle holds a checkpoint, ascending."""
    found = (_CHECKPOINT.fullmatch(path) for path in custody.bundle.paths())
    return sorted(int(match[1]) for match in found if match is not None)


def checkpoint_parts(custody: CustodySet, now: datetime) -> Iterator[Part]:
    """Yield what is wrong with any checkpoint of the bundle, and who stands behind the last one."""
    sizes = sizes_of(custody)
    if custody.view.size not in sizes:
        name = _path(custody.view.size)
        yield failed(Text(f"falta {name}, el punto de control final", f"{name}, the final checkpoint, is missing"))
        return
    for size in sizes:
        try:
            proven = _proven(custody, size, now)
            behind = _witnesses(custody, proven)
            stamped = _stamped(custody, proven)
        except Exception as error:  # noqa: BLE001 - whatever a reader raises fails the check that it served
            yield refused(error, _path(size))
            continue
        if size != custody.view.size:
            continue
        if len(behind) < custody.terms.quorum:
            quorum = custody.terms.quorum
            yield failed(
                Text(
                    f"SLV-K029: firman {len(behind)} testigos de {quorum}",
                    f"SLV-K029: {len(behind)} witnesses of {quorum} signed",
                )
            )
        yield _stands_on(behind, stamped)


def witnesses_of(custody: CustodySet, now: datetime) -> tuple[str, ...]:
    """Return the witnesses whose signature of the final checkpoint holds. Raises: CustodyError, EvidenceError."""
    return tuple(sorted(_witnesses(custody, _proven(custody, custody.view.size, now))))


def stamped_times(custody: CustodySet, now: datetime) -> tuple[tuple[int, str], ...]:
    """Return (size, time) of each checkpoint whose token or cosignature holds: what a later revocation cannot undo."""
    found: list[tuple[int, str]] = []
    for size in sizes_of(custody):
        try:
            proven = _proven(custody, size, now)
            at = _stamped(custody, proven)
        except (SlaverifyError, ValueError):
            # Reported by `checkpoint_parts`; here it anchors nothing.
            continue
        if at is not None:
            found.append((size, at.strftime(_FORM)))
    return tuple(found)


def proven_sizes(custody: CustodySet, now: datetime) -> tuple[int, ...]:
    """Return the sizes of the checkpoints of the bundle that hold and lie on its ledger."""
    found = []
    for size in sizes_of(custody):
        try:
            found.append(_proven(custody, size, now).size)
        except (SlaverifyError, ValueError):
            # Reported by `checkpoint_parts`; here it shows nothing.
            continue
    return tuple(found)


def start_permit(custody: CustodySet, now: datetime) -> RunPermit:
    """Return the proof that the start was on record and anchored: by the first checkpoint that can prove it.

    Raises: CustodyError of the last one tried; SLV-K040 if there is none.
    """
    started = custody.run.started
    after = [size for size in sizes_of(custody) if started is not None and size > started.seq]
    problem: CustodyError | None = None
    for size in after:
        try:
            return authorise(
                custody.view,
                custody.terms,
                custody.run.number,
                _start_evidence(custody, size),
                now=now,
                timestamps=timestamps(),
                over=True,
            )
        except CustodyError as error:
            problem = error
    if problem is not None:
        raise problem
    raise CustodyError(
        "SLV-K040",
        Text("ningún punto de control cubre el inicio de la corrida", "no checkpoint covers the start of the run"),
        exit_code=4,
    )


def _path(size: int) -> str:
    return f"{_FOLDER}{size:08d}.checkpoint"


def _optional(custody: CustodySet, path: str) -> bytes | None:
    return custody.bundle.read(path) if custody.bundle.has(path) else None


def _policy(custody: CustodySet) -> CheckpointPolicy:
    return custody.terms.checkpoint_policy(quorum=0)


def _proven(custody: CustodySet, size: int, now: datetime) -> VerifiedCheckpoint:
    proven = verify_checkpoint(custody.bundle.read(_path(size)), _policy(custody), now)
    if proven.size != size:
        raise ValueError(f"checkpoint of {proven.size} entries")
    custody.view.against(proven.size, proven.root)
    return proven


def _ssh_signatures(custody: CustodySet, size: int) -> dict[str, str]:
    found = {}
    for witness in custody.terms.witnesses:
        data = _optional(custody, f"{_path(size)}.{slug(witness.name)}.sshsig")
        if witness.ssh is not None and data is not None:
            found[witness.name] = data.decode("ascii")
    return found


def _witnesses(custody: CustodySet, proven: VerifiedCheckpoint) -> set[str]:
    """Return the names of the witnesses that signed; one key counts once."""
    return {one.name for one in signers(proven, custody.terms, _ssh_signatures(custody, proven.size))}


def _stamped(custody: CustodySet, proven: VerifiedCheckpoint) -> datetime | None:
    token = _optional(custody, f"{_path(proven.size)}.tsr")
    if token is None:
        return None
    return timestamps().time(proven.body, token, custody.terms.tsa_roots).at


def _start_evidence(custody: CustodySet, size: int) -> StartEvidence:
    return StartEvidence(
        checkpoint=custody.bundle.read(_path(size)),
        token=_optional(custody, f"{_path(size)}.tsr"),
        ssh_signatures=_ssh_signatures(custody, size) or None,
    )


def _stands_on(behind: set[str], stamped: datetime | None) -> Part:
    names = ", ".join(sorted(behind))
    at = None if stamped is None else stamped.strftime(_FORM)
    es = [f"testigos: {names}" if names else "sin testigos", f"sellado {at}" if at else "sin sello de tiempo"]
    en = [f"witnesses: {names}" if names else "no witness", f"stamped {at}" if at else "no timestamp"]
    return noted(Text("punto de control final: " + ", ".join(es), "final checkpoint: " + ", ".join(en)))
