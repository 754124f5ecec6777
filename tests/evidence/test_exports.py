"""The exports: proofbundle's own client accepts a receipt, and the DSSE envelope verifies under the report's key."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from slaverify.custody import terms_of
from slaverify.evidence import Bundle, ledger_view
from slaverify.evidence.dsse import envelope, pae, statement
from slaverify.evidence.envelope import SigningKey
from slaverify.evidence.receipt import Receipt, ReceiptFacts, read_salts, receipts, salt_line
from tests.evidence.pki import auditor, rsa_key, self_signed
from tests.verify.sample import closed, line

PROOFBUNDLE = Path(sys.executable).with_name("proofbundle")
SALTS = read_salts(salt_line("5a" * 32))


@dataclass(frozen=True)
class Key:
    private: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)

    @property
    def public(self) -> bytes:
        return self.private.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        return self.private.sign(data)


def facts_of(wrong: int) -> ReceiptFacts:
    made = line(wrong)
    bundle = Bundle.of_files(closed(made))
    view = ledger_view(bundle, terms_of(made.contract.tree, made.contract.digest))
    record = view.run(made.contract.digest, 1)
    assert record is not None
    return ReceiptFacts(
        bundle=bundle,
        contract=made.contract.model,
        view=view,
        record=record,
        salts=SALTS,
        stamped_at=made.closing_time,
    )


def client(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROOFBUNDLE, *words], capture_output=True, text=True, check=False)


def written(receipt: Receipt, folder: Path) -> str:
    path = folder / f"{receipt.metric}.json"
    path.write_bytes(receipt.file)
    return str(path)


def claim_of(receipt: Receipt) -> dict:
    return json.loads(base64.b64decode(json.loads(receipt.file)["payload_b64"]))


@pytest.mark.parametrize(("wrong", "passed"), [(0, True), (14, False)])
def test_the_real_client_accepts_a_receipt_and_reads_its_verdict(tmp_path: Path, wrong: int, passed: bool) -> None:
    key = Key()
    made, missing = receipts(facts_of(wrong), key)
    accuracy = next(one for one in made if one.metric == "accuracy")
    assert claim_of(accuracy)["passed"] is passed
    assert {one.metric for one in made} | {one.metric for one in missing} == {"accuracy", "hallucination"}
    path = written(accuracy, tmp_path)
    done = client("verify", path, "--expected-root", accuracy.root, "--expected-tree-size", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = client("show-eval", path, "--expect-issuer", f"ed25519:{base64.b64encode(key.public).decode()}")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "THRESHOLD_VERDICT_VERIFIED" in shown.stdout


def test_a_changed_receipt_or_another_root_is_refused(tmp_path: Path) -> None:
    made, _ = receipts(facts_of(0), Key())
    tree = json.loads(made[0].file)
    claim = json.loads(base64.b64decode(tree["payload_b64"]))
    claim["passed"] = not claim["passed"]
    tree["payload_b64"] = base64.b64encode(json.dumps(claim, sort_keys=True, separators=(",", ":")).encode()).decode()
    (tmp_path / "r.json").write_text(json.dumps(tree))
    assert client("verify", str(tmp_path / "r.json")).returncode == 1
    other = base64.b64encode(bytes(32)).decode()
    path = written(made[0], tmp_path)
    assert client("verify", path, "--expected-root", other, "--expected-tree-size", "1").returncode == 1


def test_no_receipt_where_neither_yes_nor_no_is_true() -> None:
    made, missing = receipts(facts_of(8), Key())
    assert ("accuracy", "INCONCLUSIVE") in {(one.metric, one.state) for one in missing}
    assert "accuracy" not in {one.metric for one in made}


def test_the_claim_is_that_of_the_evidence() -> None:
    facts = facts_of(0)
    made, _ = receipts(facts, Key())
    claim = claim_of(next(one for one in made if one.metric == "accuracy"))
    contract, header = facts.contract, line(0).header
    assert (claim["suite"], claim["suite_version"]) == (f"slaverify/{header.contract_id}", header.contract_digest)
    assert (claim["comparator"], claim["threshold"], claim["n"]) == (">=", "0.60", 20)
    assert claim["context_binding"] == facts.bundle.digest
    # What is committed to can be shown to whoever holds the salts, and to nobody else.
    version, bank = contract.engine.version, header.bank_digest
    assert claim["model_id_commit"] == "sha256:" + sha256(SALTS["model_id"] + version.encode()).hexdigest()
    assert claim["dataset_id_commit"] == "sha256:" + sha256(SALTS["dataset_id"] + bank.encode()).hexdigest()
    started = next(row for row in line(0).files["custody/ledger.jsonl"].splitlines() if b'"run_started"' in row)
    assert claim["prereg_sha256"] == sha256(started).hexdigest()
    assert (claim["provenance"]["run_attempts"], claim["provenance"]["aborted_runs"]) == (1, 0)
    ceiling = claim_of(next(one for one in made if one.metric == "hallucination"))
    assert ceiling["comparator"] == "<="


@pytest.mark.parametrize(
    "key", [auditor(), self_signed(ec.generate_private_key(ec.SECP384R1())), self_signed(rsa_key())]
)
def test_the_statement_verifies_under_the_key_of_the_report(key: SigningKey) -> None:
    bundle = Bundle.of_files(closed(line(14)))
    tree = json.loads(envelope(statement(bundle, {"informe.pdf": "ab" * 32}), key))
    data, sealed = base64.b64decode(tree["payload"]), base64.b64decode(tree["signatures"][0]["sig"])
    assert tree["signatures"][0]["keyid"] == key.spki_sha256
    public = key.certificate.public_key()
    how = (ec.ECDSA(hashes.SHA256()),) if isinstance(public, ec.EllipticCurvePublicKey) else _rsa()
    public.verify(sealed, pae(tree["payloadType"], data), *how)
    with pytest.raises(InvalidSignature):
        public.verify(sealed, pae(tree["payloadType"], data + b" "), *how)
    said = json.loads(data)
    assert said["predicate"]["result"] == "FAILED"
    assert "accuracy" in said["predicate"]["failedTests"]
    assert {one["name"]: one["digest"]["sha256"] for one in said["subject"]} == {
        "informe.pdf": "ab" * 32,
        "manifest.json": bundle.digest.removeprefix("sha256:"),
    }


def _rsa() -> tuple[object, ...]:
    return padding.PKCS1v15(), hashes.SHA256()
