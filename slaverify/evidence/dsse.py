"""The verdict as an in-toto Statement v1 (test-result v0.1) in a DSSE envelope, signed with the report's own key.

Export only: a verification never reads it.

Source: https://in-toto.io/Statement/v1, https://in-toto.io/attestation/test-result/v0.1, DSSE v1.0 (PAE).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding

from slaverify.canonical import JsonObject, JsonValue, jcs
from slaverify.evidence.bundle import Bundle
from slaverify.evidence.envelope import PrivateKey, SigningKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
_RESULT = {"PASS": "PASSED", "BREACH": "FAILED"}


def statement(bundle: Bundle, reports: Mapping[str, str]) -> JsonObject:
    """Return the statement. `reports`: SHA-256 (hex) of each signed PDF by file name."""
    assert bundle.manifest is not None  # noqa: S101 - only closed evidence is exported
    header, decision = bundle.manifest.header, bundle.json("decision/decision.json")
    subjects = {**dict(sorted(reports.items())), "manifest.json": bundle.digest}
    rows = decision.get("metrics")
    metrics = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    configuration = {
        "contract": header.contract_digest,
        "bank": header.bank_digest,
        "method": header.method_digest,
    }
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": _resources(subjects),
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": {
            "result": _result(decision),
            "configuration": _resources(configuration),
            "passedTests": [row["id"] for row in metrics if _result(row) == "PASSED"],
            "warnedTests": [row["id"] for row in metrics if _result(row) == "WARNED"],
            "failedTests": [row["id"] for row in metrics if _result(row) == "FAILED"],
        },
    }


def envelope(payload: JsonObject, key: SigningKey) -> bytes:
    """Return the DSSE envelope (JSON) over the RFC 8785 bytes of `payload`; keyid is the SPKI SHA-256."""
    data = jcs(payload)
    signature = _sign(key.private, pae(PAYLOAD_TYPE, data))
    return jcs(
        {
            "payloadType": PAYLOAD_TYPE,
            "payload": base64.b64encode(data).decode("ascii"),
            "signatures": [{"keyid": key.spki_sha256, "sig": base64.b64encode(signature).decode("ascii")}],
        }
    )


def pae(payload_type: str, data: bytes) -> bytes:
    """Return the pre-authentication encoding of DSSE v1."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(data), data)


def _sign(private: PrivateKey, data: bytes) -> bytes:
    if isinstance(private, ec.EllipticCurvePrivateKey):
        return private.sign(data, ec.ECDSA(hashes.SHA256()))
    return private.sign(data, padding.PKCS1v15(), hashes.SHA256())


def _result(row: JsonObject) -> str:
    return _RESULT.get(str(row.get("state")), "WARNED")


def _resources(digests: Mapping[str, str]) -> list[JsonValue]:
    named: Iterable[tuple[str, str]] = digests.items()
    return [{"name": name, "digest": {"sha256": digest.removeprefix("sha256:")}} for name, digest in named]
