"""Signed evaluation receipts: one `proofbundle/v0.1` file a metric, over a claim `proofbundle/eval-claim/v0.1`.

Export only: nothing here is read by a verification. The claim says that a threshold was met or not, by commitments
to engine and bank; a state other than PASS or BREACH has no honest boolean and gets no receipt.

Source: claim schema of proofbundle 6.3.1 (PyPI), RFC 6962 section 2.1 (tree of one leaf); docs/spec/exports.md.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import Protocol

from slaverify.canonical import JsonObject, JsonValue, jcs
from slaverify.contract import Contract
from slaverify.custody import LedgerView, RunRecord
from slaverify.evidence.bundle import Bundle

EXPORTER = "receipt@eval-claim-0.1"
SALTS = "receipts/salts.jsonl"
"""File of the sealed annex with the salts of the commitments."""
_SALTED = ("model_id", "dataset_id")
_CI = Decimal("0.95")


class ReceiptSigner(Protocol):
    """An Ed25519 key that signs receipts and nothing else."""

    @property
    def public(self) -> bytes:
        """The raw public key, 32 bytes."""

    def sign(self, data: bytes) -> bytes:
        """Return the signature, 64 bytes."""


@dataclass(frozen=True)
class Receipt:
    """The receipt of one metric: its file, and the root to hand to `proofbundle verify --expected-root`."""

    metric: str
    file: bytes
    root: str


@dataclass(frozen=True)
class NoReceipt:
    """A metric without one, and the state that is neither kept nor broken."""

    metric: str
    state: str


@dataclass(frozen=True, kw_only=True)
class ReceiptFacts:
    """What the claims of a run have in common. `stamped_at`: time of the manifest's token."""

    bundle: Bundle
    contract: Contract
    view: LedgerView
    record: RunRecord
    salts: Mapping[str, bytes]
    stamped_at: datetime


def salt_line(nonce: str) -> JsonObject:
    """Return the line of salts (hex, 32 bytes each) that follows from the nonce of `SALTS`."""
    key = bytes.fromhex(nonce)
    return {name: hmac.digest(key, f"slaverify/receipt-salt/v1\0{name}".encode(), "sha256").hex() for name in _SALTED}


def read_salts(line: JsonObject) -> dict[str, bytes]:
    """Return the salts of a line that `salt_line` made. Raises: ValueError for any other."""
    found = {name: bytes.fromhex(str(line.get(name, ""))) for name in _SALTED}
    if any(len(salt) != 32 for salt in found.values()):
        raise ValueError("salt")
    return found


def receipts(facts: ReceiptFacts, signer: ReceiptSigner) -> tuple[list[Receipt], list[NoReceipt]]:
    """Return a receipt for each metric in PASS or BREACH, and the metrics that have none."""
    decided = {str(row["id"]): row for row in _rows(facts.bundle.json("decision/decision.json"))}
    made: list[Receipt] = []
    missing: list[NoReceipt] = []
    for entry in _rows(facts.bundle.json("statistics/results.json")):
        row = decided[str(entry["id"])]
        if row["state"] not in ("PASS", "BREACH"):
            missing.append(NoReceipt(str(entry["id"]), str(row["state"])))
            continue
        made.append(_receipt(str(entry["id"]), jcs(_claim(facts, signer, entry, row)), signer))
    return made, missing


def _receipt(metric: str, payload: bytes, signer: ReceiptSigner) -> Receipt:
    root = _base64(sha256(b"\x00" + payload).digest())
    tree: JsonObject = {
        "schema": "proofbundle/v0.1",
        "payload_b64": _base64(payload),
        "signature": {
            "alg": "ed25519",
            "public_key_b64": _base64(signer.public),
            "sig_b64": _base64(signer.sign(payload)),
        },
        "merkle": {
            "hash_alg": "sha256-rfc6962",
            "leaf_index": 0,
            "tree_size": 1,
            "inclusion_proof_b64": [],
            "root_b64": root,
        },
    }
    return Receipt(metric, jcs(tree), root)


def _claim(facts: ReceiptFacts, signer: ReceiptSigner, entry: JsonObject, row: JsonObject) -> JsonObject:
    contract, bundle = facts.contract, facts.bundle
    assert bundle.manifest is not None  # noqa: S101 - only closed evidence is exported
    assert facts.record.started is not None  # noqa: S101 - PASS and BREACH have a start
    header = bundle.manifest.header
    claim: dict[str, JsonValue] = {
        "schema": "proofbundle/eval-claim/v0.1",
        "suite": f"slaverify/{header.contract_id}",
        "suite_version": header.contract_digest,
        "metric": entry["id"],
        "comparator": "<=" if entry["direction"] == "at_most" else ">=",
        "threshold": entry["threshold"],
        "passed": row["state"] == "PASS",
        "n": row["n"],
        "model_id_commit": _commitment(facts.salts["model_id"], contract.engine.version),
        "dataset_id_commit": _commitment(facts.salts["dataset_id"], header.bank_digest),
        "commit_alg": "sha256-salted-v1",
        "issuer": f"ed25519:{_base64(signer.public)}",
        "timestamp": facts.stamped_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "assurance_level": "self_attested" if contract.contract.purpose == "self_check" else "third_party",
        "context_binding": bundle.digest,
        "prereg_sha256": facts.record.started.digest,
        "provenance": _provenance(facts, str(row["state"])),
    }
    exact = entry.get("exact")
    if Decimal(str(entry["confidence"])) == _CI and isinstance(exact, Mapping):
        ends = [exact.get("low"), exact.get("high")]
        if all(isinstance(end, str) for end in ends):
            claim["ci95"] = ends
    if contract.verdict.multiplicity == "holm":
        claim["multiple_testing"] = "holm"
    return claim


def _provenance(facts: ReceiptFacts, state: str) -> JsonObject:
    assert facts.bundle.manifest is not None  # noqa: S101 - only closed evidence is exported
    header = facts.bundle.manifest.header
    runs = facts.view.runs(header.contract_digest)
    return {
        "exporter": EXPORTER,
        "harness": header.tool.name,
        "harness_version": header.tool.version,
        "run_id": header.run_id,
        "run_attempts": len(runs),
        "aborted_runs": sum(run.aborted for run in runs),
        "state": state,
    }


def _commitment(salt: bytes, text: str) -> str:
    return f"sha256:{sha256(salt + text.encode()).hexdigest()}"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _rows(tree: JsonObject) -> list[JsonObject]:
    rows = tree.get("metrics")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
