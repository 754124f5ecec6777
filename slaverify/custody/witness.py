"""What a witness is asked and what it checks before it signs: the ledger has only grown.

A witness remembers, for each ledger, the last size and root that it signed. A request brings a proof that the new
tree continues the remembered one. Order: 1. form (SLV-K027); 2. the log's signature (K028); 3. the size is not
smaller than the remembered one, and the proof begins there (K032); 4. the proof holds (K033: a fork).

Boundary: requests come from a custodian who may show every witness another history.

Source: C2SP tlog-witness (body of add-checkpoint), docs/spec/ledger.md (witnesses).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass

from slaverify.custody import merkle
from slaverify.custody.cosigners import UNTIMED
from slaverify.custody.faults import fault
from slaverify.custody.note import CheckpointPolicy, VerifiedCheckpoint, verify_checkpoint
from slaverify.custody.shapes import strict_base64
from slaverify.errors import NOTHING, CustodyError, Text

MAX_REQUEST = 128 * 1024
"""Bytes of a request."""
_OLD = re.compile(r"old (0|[1-9][0-9]{0,15})")
_MAX_PROOF = 63


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a witness: the size that the proof begins at, the proof, the signed checkpoint."""

    old: int
    proof: tuple[bytes, ...]
    checkpoint: bytes


@dataclass(frozen=True, slots=True)
class Seen:
    """What a witness last signed of one ledger: size in lines and root (32 bytes)."""

    size: int
    root: bytes


def write_request(old: int, proof: Sequence[bytes], checkpoint: bytes) -> bytes:
    """Return the bytes of a request."""
    lines = [f"old {old}", *(base64.b64encode(one).decode() for one in proof), ""]
    return "\n".join(lines).encode() + b"\n" + checkpoint


def parse_request(data: bytes) -> Request:
    """Read a request. Raises: CustodyError SLV-K027."""
    head, gap, checkpoint = data.partition(b"\n\n")
    lines = head.decode("ascii", "replace").split("\n")
    old = _OLD.fullmatch(lines[0])
    proof = [strict_base64(line, 32) for line in lines[1:]]
    hashes = tuple(one for one in proof if one is not None)
    if len(data) > MAX_REQUEST or not gap or old is None or len(hashes) != len(proof) or len(proof) > _MAX_PROOF:
        raise fault(27, "petición de testigo mal formada", "malformed witness request")
    return Request(int(old[1]), hashes, checkpoint)


def check_request(request: Request, seen: Seen | None, policy: CheckpointPolicy) -> VerifiedCheckpoint:
    """Return the checkpoint that a witness may sign now. `seen` is None before its first signature.

    Raises: CustodyError SLV-K027, K028, K032 (smaller, or the proof begins elsewhere), K033 (fork).
    """
    proven = verify_checkpoint(request.checkpoint, policy, UNTIMED)
    known = seen or Seen(0, merkle.EMPTY)
    if proven.size < known.size:
        raise _smaller(
            f"el libro tenía {known.size} entradas y ahora muestra {proven.size}",
            f"the ledger had {known.size} entries and now shows {proven.size}",
        )
    if request.old != known.size:
        raise _smaller(
            f"la prueba parte de {request.old} entradas y este testigo firmó {known.size}",
            f"the proof begins at {request.old} entries and this witness signed {known.size}",
            fix=Text(
                f"pida otra con «slaverify custody witness request --old {known.size}»",
                f"ask again with `slaverify custody witness request --old {known.size}`",
            ),
        )
    if not merkle.verify_consistency(known.size, proven.size, known.root, proven.root, request.proof):
        raise fault(
            33,
            f"bifurcación: lo que se muestra no continúa las {known.size} entradas que este testigo firmó",
            f"fork: what is shown does not continue the {known.size} entries that this witness signed",
            fix=Text(
                "no firme; guarde esta petición: junto con la anterior prueba que hay dos historias",
                "do not sign; keep this request: with the one before it proves that there are two histories",
            ),
        )
    return proven


def _smaller(es: str, en: str, fix: Text = NOTHING) -> CustodyError:
    return fault(32, es, en, fix=fix)
