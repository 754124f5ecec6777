"""One item opened to everybody: content, salt and the proof that it stands in the sealed bank.

`leaf` and `content` are the exact bytes, as strings: whoever verifies hashes what is disclosed and never writes it
anew. Order: digest = contract (SLV-K010) → commitment (K016) → size and root of the checkpoint = manifest (K013),
its signature (K028) → inclusion, index = the leaf's `i` (K017).

Source: docs/spec/bank.md (openings), C2SP tlog-proof.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from slaverify.canonical import JsonObject, StrictJsonError, digest_of, jcs, loads_canonical
from slaverify.custody import merkle
from slaverify.custody.commitments import MAX_ITEM_BYTES, Leaf, Part, commitment
from slaverify.custody.faults import fault
from slaverify.custody.index import Index, parse_leaf
from slaverify.custody.manifest import parse_manifest
from slaverify.custody.note import (
    bank_origin,
    log_policy,
    parse_checkpoint,
    parse_proof,
    verify_checkpoint,
    write_proof,
)
from slaverify.custody.shapes import constant, is_digest, is_hex32, is_text, shape_fault, text, word
from slaverify.errors import CustodyError

_MAX_OPENING = 2 * MAX_ITEM_BYTES + 64 * 1024
_REQUIRED = {
    "type": constant("slaverify/opening"),
    "v": constant(1),
    "bank_digest": is_digest,
    "leaf": is_text,
    "part": word(*Part),
    "salt": is_hex32,
    "content": is_text,
    "proof": is_text,
}


@dataclass(frozen=True, slots=True)
class Opened:
    """What a verified opening discloses: the leaf, which part, and the part's canonical bytes."""

    leaf: Leaf
    part: Part
    content: bytes


def make_opening(
    bank_digest: str, index: Index, i: int, part: Part, salt: bytes, content: bytes, checkpoint: bytes
) -> bytes:
    """Return the bytes of an opening of one part of item `i`."""
    proof = merkle.inclusion_proof(index.hashes, i)
    return jcs(
        {
            "type": "slaverify/opening",
            "v": 1,
            "bank_digest": bank_digest,
            "leaf": index.leaves[i].line().decode(),
            "part": part.value,
            "salt": salt.hex(),
            "content": content.decode(),
            "proof": write_proof(i, proof, checkpoint),
        }
    )


def parse_opening(data: bytes) -> JsonObject:
    """Read an opening file. Raises: CustodyError SLV-K016 if it is not exactly one."""
    if len(data) > _MAX_OPENING:
        raise _malformed("demasiado grande", "too large")
    try:
        return loads_canonical(data, max_depth=2)
    except StrictJsonError as error:
        raise _malformed(str(error), str(error)) from error


def verify_opening(opening: JsonObject, manifest: bytes, *, bank_digest: str, bank_vkey: str) -> Opened:
    """Verify an opening against the contract's bank digest and the bank's key. Raises: CustodyError."""
    wrong = shape_fault(opening, _REQUIRED)
    if wrong is not None:
        raise _malformed(f"campo {wrong}", f"field {wrong}")
    if text(opening, "bank_digest") != bank_digest or digest_of(manifest) != bank_digest:
        raise fault(10, "la apertura es de otro banco", "the opening is of another bank")
    leaf, part = parse_leaf(text(opening, "leaf").encode(), "leaf"), Part(text(opening, "part"))
    content = text(opening, "content").encode()
    found = commitment(bytes.fromhex(text(opening, "salt")), part, content).hex()
    if not hmac.compare_digest(found, leaf.commitment_of(part)):
        raise fault(
            16,
            f"el contenido de {leaf.id} ({part}) no es el comprometido",
            f"the content of {leaf.id} ({part}) is not the committed one",
            where=leaf.id,
        )
    stated = parse_manifest(manifest)
    number, path, checkpoint = parse_proof(text(opening, "proof"))
    origin = bank_origin(stated.custodian, stated.bank_id)
    tree = parse_checkpoint(checkpoint, origin)
    if (tree.size, tree.root.hex()) != (stated.n, stated.root):
        raise fault(
            13, "la prueba es de otro árbol que el manifiesto", "the proof is of another tree than the manifest"
        )
    verify_checkpoint(checkpoint, log_policy(origin, bank_vkey))
    line = merkle.leaf_hash(text(opening, "leaf").encode())
    if number != leaf.i or not merkle.verify_inclusion(line, number, tree.size, path, tree.root):
        raise fault(17, f"{leaf.id} no está en el banco", f"{leaf.id} is not in the bank", where=leaf.id)
    return Opened(leaf, part, content)


def _malformed(es: str, en: str) -> CustodyError:
    return fault(16, f"apertura mal formada: {es}", f"malformed opening: {en}")
