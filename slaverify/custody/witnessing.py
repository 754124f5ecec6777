"""The two ends of a witness's work on disk: what a witness remembers, and what a custodian lays beside a checkpoint.

A witness writes what it is about to sign down before it signs: after a crash it never signs less or something else.

Not pure: a second door. Source: C2SP tlog-witness, docs/spec/ledger.md (witnesses).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from slaverify.canonical import JsonObject, StrictJsonError, jcs, loads_canonical, sha256_hex
from slaverify.custody import merkle
from slaverify.custody.checkpoints import CheckpointFile, read_checkpoint, token_path
from slaverify.custody.cosigners import COSIGNATURE, SSHSIG, Signer, signers
from slaverify.custody.ed25519 import SigningKey
from slaverify.custody.faults import fault
from slaverify.custody.files import PRIVATE, private_folder, read_bounded, write_whole
from slaverify.custody.note import CheckpointPolicy, VerifiedCheckpoint, cosign, slug, verify_checkpoint
from slaverify.custody.ports import TimestampVerifier
from slaverify.custody.shapes import constant, integer, is_count, is_hex32, is_name, shape_fault, text
from slaverify.custody.sshsig import verify_sshsig
from slaverify.custody.terms import Terms
from slaverify.custody.view import LedgerView
from slaverify.custody.witness import Seen, check_request, parse_request, write_request
from slaverify.errors import SlaverifyError, Text

_SSH_HEAD = b"-----BEGIN SSH SIGNATURE-----"
_SEEN = {
    "type": constant("slaverify/witness"),
    "v": constant(1),
    "origin": is_name,
    "size": is_count,
    "root": is_hex32,
}
_MAX_SEEN = 4096
_MAX_LINES = 16


@dataclass(frozen=True)
class Added:
    """What was laid beside a checkpoint: its kind (`cosignature`, `sshsig`, `timestamp`), and who stands behind it."""

    kind: str
    checkpoint: CheckpointFile
    signed: tuple[Signer, ...]


def request_for(view: LedgerView, checkpoint: CheckpointFile, old: int) -> bytes:
    """Return the request that brings a witness from `old` entries to a checkpoint.

    Raises: CustodyError SLV-K025 if the ledger never had so many, SLV-K032 if the checkpoint has fewer.
    """
    if old > checkpoint.size:
        raise fault(
            32,
            f"el punto de control tiene {checkpoint.size} entradas, menos que las {old} que el testigo firmó",
            f"the checkpoint has {checkpoint.size} entries, fewer than the {old} that the witness signed",
        )
    leaves = [entry.leaf for entry in view.upto(checkpoint.size)]
    proof = merkle.consistency_proof(leaves, old) if 0 < old < len(leaves) else []
    return write_request(old, proof, checkpoint.data)


def sign_request(
    data: bytes, folder: Path, policy: CheckpointPolicy, key: SigningKey, name: str, now: datetime
) -> tuple[VerifiedCheckpoint, str]:
    """Check a request against what this witness remembers, remember it, and return the cosignature line (with LF).

    Raises: CustodyError SLV-K027, K028, K032, K033, SLV-K071 (the memory is malformed or readable by others).
    """
    with remembering(data, folder, policy) as proven:
        return proven, cosign(proven.body, name, key, now)


@contextlib.contextmanager
def remembering(data: bytes, folder: Path, policy: CheckpointPolicy) -> Iterator[VerifiedCheckpoint]:
    """Check a request against what the witness of `folder` remembers and write the new state down; then sign.

    Raises: as `sign_request`.
    """
    path = private_folder(folder) / f"witness-{sha256_hex(policy.origin.encode())[:16]}.json"
    with (folder / "witness.lock").open("w") as lock:
        os.fchmod(lock.fileno(), PRIVATE)
        fcntl.flock(lock, fcntl.LOCK_EX)
        proven = check_request(parse_request(data), _read_seen(path, policy.origin), policy)
        seen: JsonObject = {
            "type": "slaverify/witness",
            "v": 1,
            "origin": policy.origin,
            "size": proven.size,
            "root": proven.root.hex(),
        }
        write_whole(path, jcs(seen), PRIVATE)
        yield proven


def last_seen(folder: Path, origin: str) -> Seen | None:
    """Return what the witness of `folder` last signed of a ledger; None if nothing. Raises: CustodyError SLV-K071."""
    return _read_seen(folder / f"witness-{sha256_hex(origin.encode())[:16]}.json", origin)


def _read_seen(path: Path, origin: str) -> Seen | None:
    if not os.path.lexists(path):
        return None
    try:
        tree = loads_canonical(read_bounded(path, _MAX_SEEN, 71), max_depth=1)
    except StrictJsonError as error:
        raise _bad_memory(path) from error
    if shape_fault(tree, _SEEN) is not None or tree["origin"] != origin:
        raise _bad_memory(path)
    return Seen(integer(tree, "size"), bytes.fromhex(text(tree, "root")))


def _bad_memory(path: Path) -> SlaverifyError:
    # A witness that forgot would sign a second history: it stops here.
    return fault(
        71,
        "la memoria del testigo está dañada; sin ella no firma",
        "the memory of the witness is damaged; it does not sign without it",
        where=str(path),
        fix=Text("recupérela de una copia", "restore it from a copy"),
    )


def add_signature(
    checkpoint: CheckpointFile,
    data: bytes,
    terms: Terms,
    *,
    now: datetime,
    timestamps: TimestampVerifier,
    write: bool = True,
) -> Added:
    """Lay a cosignature, an SSH signature or a token beside a checkpoint, after checking it by itself.

    What the contract does not name is refused; what lies there already is left as it is. Without `write` it is only
    checked.
    Raises: CustodyError SLV-K029 (cosignature), K030 (SSH signature), K031 (token).
    """
    if data.lstrip().startswith(_SSH_HEAD):
        kind, path, whole = _ssh(checkpoint, data, terms)
    elif data.startswith("— ".encode()):
        kind, path, whole = COSIGNATURE, checkpoint.path, _cosigned(checkpoint, data, terms, now)
    else:
        kind, path, whole = "timestamp", token_path(checkpoint.path), _token(checkpoint, data, terms, timestamps)
    if write and not (path.is_file() and path.read_bytes() == whole):
        write_whole(path, whole)
    found = read_checkpoint(checkpoint.path, checkpoint.size)
    proven = verify_checkpoint(found.data, terms.checkpoint_policy(quorum=0), now)
    return Added(kind, found, signers(proven, terms, found.ssh_signatures))


def _cosigned(checkpoint: CheckpointFile, data: bytes, terms: Terms, now: datetime) -> bytes:
    known, named = checkpoint.data.splitlines(keepends=True), {key.name for key in terms.cosigners()}
    lines = [line for line in data.splitlines(keepends=True) if line not in known]
    owners = [(*line.decode("utf-8", "replace").split(" "), "")[1] for line in lines]
    if not named.issuperset(owners) or len(lines) > _MAX_LINES or not data.endswith(b"\n"):
        raise fault(
            29,
            "la cofirma no es de ningún testigo del contrato",
            "the cosignature is by no witness of the contract",
            fix=Text("los testigos están en ledger.witnesses", "the witnesses stand in ledger.witnesses"),
        )
    whole = checkpoint.data + b"".join(lines)
    proven = verify_checkpoint(whole, terms.checkpoint_policy(quorum=0), now)
    if not set(owners) <= set(proven.cosigned_at):
        raise fault(29, "la cofirma es de otra clave", "the cosignature is by another key")
    return whole


def _ssh(checkpoint: CheckpointFile, data: bytes, terms: Terms) -> tuple[str, Path, bytes]:
    refused: SlaverifyError = fault(
        30, "ningún testigo del contrato firma con SSH", "no witness of the contract signs with SSH"
    )
    for witness in terms.witnesses:
        if witness.ssh is None:
            continue
        try:
            verify_sshsig(checkpoint.body, witness.ssh, data.decode("ascii", "replace"))
        except SlaverifyError as error:
            refused = error
            continue
        return SSHSIG, checkpoint.path.with_name(f"{checkpoint.path.name}.{slug(witness.name)}.sshsig"), data
    raise refused


def _token(checkpoint: CheckpointFile, data: bytes, terms: Terms, timestamps: TimestampVerifier) -> bytes:
    try:
        timestamps.time(checkpoint.body, data, terms.tsa_roots)
    except (SlaverifyError, ValueError) as error:
        why = error.what if isinstance(error, SlaverifyError) else Text(str(error), str(error))
        raise fault(
            31,
            "no es una cofirma, una firma SSH ni un sello de tiempo que valga",
            "neither a cosignature, nor an SSH signature, nor a timestamp that holds",
            why=why,
        ) from error
    return checkpoint.token or data
