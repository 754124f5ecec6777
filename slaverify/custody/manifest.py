"""The public manifest of a bank. Its bytes are JCS without a final LF; their SHA-256 is the bank digest.

Boundary: the manifest comes from outside; nothing of it is used before its digest equals the contract's.

Source: docs/spec/bank.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from slaverify.canonical import JsonObject, StrictJsonError, digest_of, jcs, loads_canonical, sha256_hex
from slaverify.custody.faults import fault
from slaverify.custody.index import MAX_ITEMS, Index, parse_index
from slaverify.custody.note import VerifiedCheckpoint, bank_origin, log_policy, verify_checkpoint
from slaverify.custody.shapes import (
    constant,
    counts,
    integer,
    is_count,
    is_date,
    is_digest,
    is_hex32,
    is_id,
    is_integer,
    is_name,
    is_object,
    is_text,
    list_of,
    map_of,
    nullable,
    objects,
    optional_text,
    shape_fault,
    text,
)
from slaverify.errors import Text

AGE_FORMAT = "age-encryption.org/v1"
MAX_BYTES = 256 * 1024
"""Bytes of a manifest."""

_REQUIRED = {
    "type": constant("slaverify/manifest"),
    "v": constant(1),
    "bank_id": is_id,
    "name": is_text,
    "created": is_date,
    "n": is_count,
    "strata": map_of(is_count),
    "root": is_hex32,
    "index_sha256": is_hex32,
    "ciphertext_sha256": is_hex32,
    "package_sha256": is_hex32,
    "format": constant(AGE_FORMAT),
    "recipients": list_of(is_object),
    "recovery": nullable(is_object),
    "item_schema_sha256": is_hex32,
    "author": is_name,
    "custodian": is_name,
    "funding": is_text,
    "plaintext_access": list_of(is_object),
    "limits": is_text,
    "replaces": nullable(is_digest),
}
_RECIPIENT = {"role": is_name, "age": is_name}
_ACCESS = {"organisation": is_name, "role": is_name, "from": is_date}
_RECOVERY = {"scheme": constant("slip39"), "k": is_integer, "n": is_integer}


@dataclass(frozen=True, slots=True)
class Recipient:
    """Whoever can decrypt the bank: role and age recipient."""

    role: str
    age: str


@dataclass(frozen=True, slots=True)
class Access:
    """Whoever saw items in clear, and since which date."""

    organisation: str
    role: str
    since: str

    def tree(self) -> JsonObject:
        """Return the object that stands in the manifest."""
        return {"organisation": self.organisation, "role": self.role, "from": self.since}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the custodian publishes of a bank. Hex fields are bare; `replaces` is a digest."""

    bank_id: str
    name: str
    created: str
    n: int
    strata: dict[str, int]
    root: str
    index_sha256: str
    ciphertext_sha256: str
    package_sha256: str
    recipients: tuple[Recipient, ...]
    item_schema_sha256: str
    author: str
    custodian: str
    funding: str
    plaintext_access: tuple[Access, ...]
    limits: str
    replaces: str | None = None
    recovery: tuple[int, int] | None = None
    """(k, n) of the SLIP-39 shares, or None."""

    def file_bytes(self) -> bytes:
        """Return the bytes of `manifest.json`."""
        shares = self.recovery
        return jcs(
            {
                "type": "slaverify/manifest",
                "v": 1,
                "bank_id": self.bank_id,
                "name": self.name,
                "created": self.created,
                "n": self.n,
                "strata": self.strata,
                "root": self.root,
                "index_sha256": self.index_sha256,
                "ciphertext_sha256": self.ciphertext_sha256,
                "package_sha256": self.package_sha256,
                "format": AGE_FORMAT,
                "recipients": [{"role": one.role, "age": one.age} for one in self.recipients],
                "recovery": None if shares is None else {"scheme": "slip39", "k": shares[0], "n": shares[1]},
                "item_schema_sha256": self.item_schema_sha256,
                "author": self.author,
                "custodian": self.custodian,
                "funding": self.funding,
                "plaintext_access": [one.tree() for one in self.plaintext_access],
                "limits": self.limits,
                "replaces": self.replaces,
            }
        )

    def digest(self) -> str:
        """Return the bank digest, `sha256:<hex>`."""
        return digest_of(self.file_bytes())


@dataclass(frozen=True, slots=True)
class Bank:
    """The public half of a bank, checked: manifest, index, checkpoint and digest agree."""

    digest: str
    manifest: Manifest
    index: Index
    checkpoint: VerifiedCheckpoint


def parse_manifest(data: bytes) -> Manifest:
    """Read `manifest.json`. Raises: CustodyError SLV-K010 if it is not exactly a manifest, SLV-K013 for its counts."""
    if len(data) > MAX_BYTES:
        raise _malformed("demasiado grande", "too large")
    try:
        tree = loads_canonical(data, max_depth=4)
    except StrictJsonError as error:
        raise _malformed(str(error), str(error)) from error
    wrong = _wrong_field(tree)
    if wrong is not None:
        raise _malformed(f"campo {wrong}", f"field {wrong}")
    strata = counts(tree, "strata")
    if not 0 < integer(tree, "n") <= MAX_ITEMS or sum(strata.values()) != integer(tree, "n"):
        raise fault(13, "los estratos no suman n", "the strata do not sum to n", where="manifest.json")
    return _manifest(tree, strata)


def _wrong_field(tree: JsonObject) -> str | None:
    wrong = shape_fault(tree, _REQUIRED)
    if wrong is not None:
        return wrong
    if any(shape_fault(one, _RECIPIENT) for one in objects(tree, "recipients")) or not tree["recipients"]:
        return "recipients"
    if any(shape_fault(one, _ACCESS) for one in objects(tree, "plaintext_access")):
        return "plaintext_access"
    shares = _shares(tree)
    if shares is not None and not 1 <= shares[0] <= shares[1] <= 16:
        return "recovery"
    return None


def _shares(tree: JsonObject) -> tuple[int, int] | None:
    recovery = tree["recovery"]
    if recovery is None:
        return None
    # -1 of n: a recovery object of another shape is refused by the caller's range test.
    if not isinstance(recovery, dict) or shape_fault(recovery, _RECOVERY) is not None:
        return (-1, 0)
    return (integer(recovery, "k"), integer(recovery, "n"))


def _manifest(tree: JsonObject, strata: dict[str, int]) -> Manifest:
    return Manifest(
        bank_id=text(tree, "bank_id"),
        name=text(tree, "name"),
        created=text(tree, "created"),
        n=integer(tree, "n"),
        strata=strata,
        root=text(tree, "root"),
        index_sha256=text(tree, "index_sha256"),
        ciphertext_sha256=text(tree, "ciphertext_sha256"),
        package_sha256=text(tree, "package_sha256"),
        recipients=tuple(Recipient(text(one, "role"), text(one, "age")) for one in objects(tree, "recipients")),
        item_schema_sha256=text(tree, "item_schema_sha256"),
        author=text(tree, "author"),
        custodian=text(tree, "custodian"),
        funding=text(tree, "funding"),
        plaintext_access=tuple(
            Access(text(one, "organisation"), text(one, "role"), text(one, "from"))
            for one in objects(tree, "plaintext_access")
        ),
        limits=text(tree, "limits"),
        replaces=optional_text(tree, "replaces"),
        recovery=_shares(tree),
    )


def check_bank(manifest: bytes, index: bytes, checkpoint: bytes, *, bank_digest: str | None, log_vkey: str) -> Bank:
    """Check the public half of a bank against the contract's digest and its ledger key.

    1. the digest of the manifest is the contract's (K010), and its form; 2. the index: form (K018), its digest,
    count, strata and root (K013); 3. the checkpoint: form (K027), signature of the log key (K028), size and root
    (K013). `log_vkey` is the contract's (`ledger.vkey`). Where no contract is at hand it is the one of the ledger's
    first line and `bank_digest` is None: what the contract would prove is then not proved.

    Raises: CustodyError with the code of the step that failed.
    """
    digest = digest_of(manifest)
    if bank_digest is not None and digest != bank_digest:
        raise fault(
            10,
            f"el banco no es el del contrato: {digest}",
            f"the bank is not the contract's: {digest}",
            where="manifest.json",
            fix=Text(f"el contrato fija {bank_digest}", f"the contract pins {bank_digest}"),
        )
    stated = parse_manifest(manifest)
    leaves = parse_index(index)
    found = (sha256_hex(index), len(leaves.leaves), leaves.strata, leaves.root.hex())
    if found != (stated.index_sha256, stated.n, dict(sorted(stated.strata.items())), stated.root):
        raise fault(13, "el índice no es el del manifiesto", "the index is not the manifest's", where="index.jsonl")
    proven = verify_checkpoint(checkpoint, log_policy(bank_origin(stated.custodian, stated.bank_id), log_vkey))
    if (proven.size, proven.root.hex()) != (stated.n, stated.root):
        raise fault(
            13,
            "el punto de control no es del manifiesto",
            "the checkpoint is not the manifest's",
            where="bank.checkpoint",
        )
    return Bank(digest, stated, leaves, proven)


def _malformed(es: str, en: str) -> Exception:
    return fault(10, f"manifiesto mal formado: {es}", f"malformed manifest: {en}", where="manifest.json")
