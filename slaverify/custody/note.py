"""Signed notes, checkpoints, cosignatures and inclusion proofs in the forms of C2SP.

Boundary: checkpoints and proofs come from outside. A note is read in one pass: form (SLV-K027), then the log's
signature (SLV-K028), then cosignatures and quorum (SLV-K029). Unknown signatures are ignored, also under a known
name; a known key whose signature fails invalidates the note.

Source: C2SP signed-note, tlog-checkpoint, tlog-cosignature (version 1), tlog-proof (version 1).
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from slaverify.custody.ed25519 import SigningKey, verifies
from slaverify.custody.faults import fault
from slaverify.custody.shapes import strict_base64

LOG = 0x01
"""Algorithm byte of an Ed25519 key that signs notes."""
COSIGNER = 0x04
"""Algorithm byte of an Ed25519 key that makes timestamped cosignatures."""
MAX_SIGNATURES = 64
FUTURE = timedelta(seconds=300)
"""How far ahead of the verification time a cosignature may be."""
_MAX_NOTE = 64 * 1024
_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")
_SIGNATURE_LINE = re.compile(r"— ([^ ]+) ([A-Za-z0-9+/]+={0,2})")
_PROOF_HEAD = "c2sp.org/tlog-proof@v1"


@dataclass(frozen=True, slots=True)
class NoteKey:
    """A verifier key: who (a name without spaces or `+`), which algorithm, which raw public key."""

    name: str
    algorithm: int
    public: bytes

    @property
    def hash4(self) -> bytes:
        """The four bytes that name this key in a signature line."""
        return sha256(self.name.encode() + b"\n" + bytes([self.algorithm]) + self.public).digest()[:4]

    def vkey(self) -> str:
        """Return the key as text, `<name>+<8 hex>+<base64>`."""
        body = base64.b64encode(bytes([self.algorithm]) + self.public).decode()
        return f"{self.name}+{self.hash4.hex()}+{body}"


@dataclass(frozen=True, slots=True)
class Note:
    """A signed note: its text (with the last LF) and the signatures as (name, four bytes, signature)."""

    text: bytes
    signatures: tuple[tuple[str, bytes, bytes], ...]

    def of(self, key: NoteKey) -> list[bytes]:
        """Return the signatures that claim to be by `key`."""
        return [blob for name, hash4, blob in self.signatures if name == key.name and hash4 == key.hash4]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a checkpoint states, not yet verified: the tree's origin, size in leaves and root (32 bytes)."""

    origin: str
    size: int
    root: bytes
    note: Note

    @property
    def body(self) -> bytes:
        """The three lines that are signed and timestamped."""
        return self.note.text


@dataclass(frozen=True, slots=True)
class CheckpointPolicy:
    """What a checkpoint must satisfy: origin, log key, known witnesses and how many of them."""

    origin: str
    log: NoteKey
    witnesses: tuple[NoteKey, ...] = ()
    quorum: int = 0


@dataclass(frozen=True, slots=True)
class VerifiedCheckpoint:
    """A checkpoint whose log signature and cosignatures hold."""

    origin: str
    size: int
    root: bytes
    body: bytes
    cosigned_at: Mapping[str, int] = field(default_factory=dict)
    """Unix seconds of the earliest cosignature of each witness, by name."""


def is_key_name(name: str) -> bool:
    """Tell whether a key may bear this name: not empty, no `+`, no space or control character."""
    return name != "" and "+" not in name and not any(c.isspace() or unicodedata.category(c)[0] == "C" for c in name)


def slug(organisation: str) -> str:
    """Return an organisation's name as it stands in origins and key names: ASCII letters, digits, `.` and `-`."""
    folded = unicodedata.normalize("NFKD", organisation).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9.]+", "-", folded).strip("-.") or "local"


def bank_origin(custodian: str, bank_id: str) -> str:
    """Return the origin of a bank's checkpoint."""
    return f"{slug(custodian)}/bank/{bank_id}"


def parse_vkey(vkey: str) -> NoteKey:
    """Read a verifier key. Raises: ValueError."""
    name, _, rest = vkey.partition("+")
    hash_hex, _, body = rest.partition("+")
    data = strict_base64(body, 33)
    if not is_key_name(name) or data is None or data[0] not in (LOG, COSIGNER):
        raise ValueError("not a verifier key")
    key = NoteKey(name, data[0], data[1:])
    if key.hash4.hex() != hash_hex:
        raise ValueError("the hash of the verifier key does not match")
    return key


def log_policy(origin: str, log_vkey: str, witnesses: Sequence[NoteKey] = (), quorum: int = 0) -> CheckpointPolicy:
    """Return the policy for a tree signed by the public key of `log_vkey` under the name `origin`.

    Raises: CustodyError SLV-K027 if `log_vkey` is none.
    """
    try:
        public = parse_vkey(log_vkey).public
    except ValueError as error:
        raise fault(27, f"clave del libro mal formada: {error}", f"malformed log key: {error}") from error
    return CheckpointPolicy(origin, NoteKey(origin, LOG, public), tuple(witnesses), quorum)


def parse_note(data: bytes) -> Note:
    """Read a signed note. Raises: CustodyError SLV-K027."""
    if len(data) > _MAX_NOTE:
        raise _form("demasiado larga", "too long")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _form("no es UTF-8", "not UTF-8") from error
    if any(c < " " and c != "\n" for c in text):
        raise _form("carácter de control", "control character")
    body, gap, tail = text.rpartition("\n\n")
    lines = tail.split("\n")
    if not gap or body == "" or lines[-1] != "" or not 2 <= len(lines) <= MAX_SIGNATURES + 1:
        raise _form("sin firmas, o con demasiadas", "no signatures, or too many")
    return Note((body + "\n").encode(), tuple(_signature_line(line) for line in lines[:-1]))


def _signature_line(line: str) -> tuple[str, bytes, bytes]:
    match = _SIGNATURE_LINE.fullmatch(line)
    blob = strict_base64(match[2]) if match else None
    if match is None or blob is None or len(blob) < 5 or not is_key_name(match[1]):
        raise _form("línea de firma", "signature line")
    return match[1], blob[:4], blob[4:]


def verify_note(data: bytes, key: NoteKey) -> Note:
    """Read a note that `key` must have signed. Raises: CustodyError SLV-K027 (form), SLV-K028 (signature)."""
    note = parse_note(data)
    signatures = note.of(key)
    if not signatures or not all(verifies(key.public, one, note.text) for one in signatures):
        raise fault(28, f"sin firma válida de {key.name}", f"no valid signature of {key.name}")
    return note


def sign_note(text: bytes, name: str, key: SigningKey) -> bytes:
    """Return `text` (which ends in LF) as a note signed by `key` under `name`."""
    head = NoteKey(name, LOG, key.public).hash4
    line = f"— {name} {base64.b64encode(head + key.sign(text)).decode()}\n"
    return text + b"\n" + line.encode()


def checkpoint_body(origin: str, size: int, root: bytes) -> bytes:
    """Return the three lines of a checkpoint."""
    return f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n".encode()


def sign_checkpoint(origin: str, size: int, root: bytes, key: SigningKey) -> bytes:
    """Return a checkpoint signed by the log key."""
    return sign_note(checkpoint_body(origin, size, root), origin, key)


def parse_checkpoint(data: bytes, origin: str) -> Checkpoint:
    """Read a checkpoint of `origin` without verifying it. Raises: CustodyError SLV-K027."""
    note = parse_note(data)
    lines = note.text.decode().split("\n")
    if len(lines) != 4 or lines[3] != "":
        raise _form("no tiene tres líneas", "not three lines")
    if lines[0] != origin:
        raise _form(f"es de otro origen: {lines[0]}", f"is of another origin: {lines[0]}")
    root = strict_base64(lines[2], 32)
    if not _SIZE.fullmatch(lines[1]) or root is None:
        raise _form("tamaño o raíz", "size or root")
    return Checkpoint(origin, int(lines[1]), root, note)


def verify_checkpoint(data: bytes, policy: CheckpointPolicy, now: datetime | None = None) -> VerifiedCheckpoint:
    """Verify a checkpoint: 1. form (K027), 2. signature of the log (K028), 3. cosignatures and quorum (K029).

    `now` (aware) is the time of the verification; without it no cosignature can be found to be in the future, so
    policies with witnesses need it. Raises: CustodyError.
    """
    stated = parse_checkpoint(data, policy.origin)
    verify_note(data, policy.log)
    cosigned = {}
    for witness in policy.witnesses:
        times = [_cosignature(stated.body, witness, blob, now) for blob in stated.note.of(witness)]
        if times:
            cosigned[witness.name] = min(times)
    distinct = {witness.public for witness in policy.witnesses if witness.name in cosigned}
    if len(distinct) < policy.quorum:
        raise fault(
            29,
            f"firman {len(distinct)} testigos de {policy.quorum}",
            f"{len(distinct)} witnesses of {policy.quorum} signed",
        )
    return VerifiedCheckpoint(stated.origin, stated.size, stated.root, stated.body, cosigned)


def _cosignature(body: bytes, witness: NoteKey, blob: bytes, now: datetime | None) -> int:
    if now is None:
        raise ValueError("cosignatures need the time of the verification")
    seconds = int.from_bytes(blob[:8], "big")
    message = f"cosignature/v1\ntime {seconds}\n".encode() + body
    latest = int((now + FUTURE).timestamp())
    if len(blob) != 72 or not verifies(witness.public, blob[8:], message) or seconds > latest:
        raise fault(29, f"cofirma inválida de {witness.name}", f"invalid cosignature of {witness.name}")
    return seconds


def cosign(body: bytes, name: str, key: SigningKey, at: datetime) -> str:
    """Return the signature line (with LF) by which a witness attests a checkpoint body at a time."""
    seconds = int(at.timestamp())
    signature = key.sign(f"cosignature/v1\ntime {seconds}\n".encode() + body)
    blob = NoteKey(name, COSIGNER, key.public).hash4 + seconds.to_bytes(8, "big") + signature
    return f"— {name} {base64.b64encode(blob).decode()}\n"


def write_proof(index: int, proof: Sequence[bytes], checkpoint: bytes) -> str:
    """Return a tlog-proof: an inclusion proof of leaf `index` over a signed checkpoint."""
    hashes = "".join(base64.b64encode(item).decode() + "\n" for item in proof)
    return f"{_PROOF_HEAD}\nindex {index}\n{hashes}\n{checkpoint.decode()}"


def parse_proof(proof: str) -> tuple[int, list[bytes], bytes]:
    """Read a tlog-proof: leaf index, path, checkpoint. Raises: CustodyError SLV-K017."""
    head, gap, checkpoint = proof.partition("\n\n")
    lines = head.split("\n")
    if not gap or len(lines) < 2 or len(lines) > 66 or lines[0] != _PROOF_HEAD or not lines[1].startswith("index "):
        raise fault(17, "prueba de inclusión mal formada", "malformed inclusion proof")
    number, path = lines[1].removeprefix("index "), [strict_base64(line, 32) for line in lines[2:]]
    found = [item for item in path if item is not None]
    if not _SIZE.fullmatch(number) or len(found) != len(path):
        raise fault(17, "prueba de inclusión mal formada", "malformed inclusion proof")
    return int(number), found, checkpoint.encode()


def _form(es: str, en: str) -> Exception:
    return fault(27, f"punto de control mal formado: {es}", f"malformed checkpoint: {en}")
