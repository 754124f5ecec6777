"""Signing keys, and the envelope with the public tools."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import pkcs12

from slaverify.errors import ReportError
from slaverify.evidence import ENVELOPE, MANIFEST, TOKEN, cms_problems, token_problems
from slaverify.evidence.envelope import SigningKey, fit_key, load_key, sign_manifest
from slaverify.evidence.pades import envelope_facts, make_authority
from tests.evidence.bundles import closed, on_disk
from tests.evidence.pki import NOW, Tsa, auditor, ca, pins_for, rsa_key, self_signed, tsa

PEM = serialization.Encoding.PEM
PKCS8 = serialization.PrivateFormat.PKCS8


def pem_file(path: Path, key: SigningKey, secret: bytes | None, mode: int = 0o600) -> Path:
    cipher = serialization.BestAvailableEncryption(secret) if secret else serialization.NoEncryption()
    path.write_bytes(key.private.private_bytes(PEM, PKCS8, cipher) + key.certificate_pem)
    path.chmod(mode)
    return path


def test_an_encrypted_pem_asks_and_a_plain_one_does_not(tmp_path: Path) -> None:
    asked: list[int] = []

    def passphrase() -> str:
        asked.append(1)
        return "s3creto"

    assert (
        load_key(pem_file(tmp_path / "a.pem", auditor(), b"s3creto"), passphrase).spki_sha256 == auditor().spki_sha256
    )
    assert load_key(pem_file(tmp_path / "b.pem", auditor(), None), passphrase).certificate == auditor().certificate
    assert asked == [1]


def test_pkcs12_and_a_certificate_beside_the_key(tmp_path: Path) -> None:
    issued = ca().issue()
    cipher = serialization.BestAvailableEncryption(b"s3creto")
    path = tmp_path / "k.p12"
    path.write_bytes(
        pkcs12.serialize_key_and_certificates(b"n", issued.private, issued.certificate, issued.chain, cipher)
    )
    path.chmod(0o600)
    loaded = load_key(path, lambda: "s3creto")
    assert (loaded.certificate, loaded.chain) == (issued.certificate, issued.chain)
    alone = tmp_path / "k.pem"
    alone.write_bytes(issued.private.private_bytes(PEM, PKCS8, serialization.NoEncryption()))
    alone.chmod(0o600)
    beside = tmp_path / "c.pem"
    beside.write_bytes(issued.certificate_pem)
    assert load_key(alone, lambda: "", beside).certificate == issued.certificate


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    path = pem_file(tmp_path / "a.pem", auditor(), b"s3creto")
    cases = [
        (path, "otra"),
        (tmp_path / "none.pem", "s3creto"),
        (pem_file(tmp_path / "open.pem", auditor(), b"s3creto", 0o644), "s3creto"),
    ]
    for file, secret in cases:
        with pytest.raises(ReportError) as caught:
            load_key(file, lambda secret=secret: secret)
        assert caught.value.code == "SLV-R022"
        assert secret not in "".join(caught.value.lines("es"))


def test_what_may_not_sign() -> None:
    weak = rsa_key(2048)
    for private in (weak, ec.generate_private_key(ec.SECP256K1()), ed25519.Ed25519PrivateKey.generate(), object()):
        with pytest.raises(ReportError) as caught:
            fit_key(private, [auditor().certificate])
        assert caught.value.code == "SLV-R021"
    with pytest.raises(ReportError):
        fit_key(auditor().private, [ca().certificate])
    root = x509.load_pem_x509_certificate(ca().pem.encode())
    with pytest.raises(ReportError):
        fit_key(ca().key, [root])


KEYS = {
    "p256": lambda: auditor(),
    "p384": lambda: self_signed(ec.generate_private_key(ec.SECP384R1())),
    "rsa3072": lambda: self_signed(rsa_key()),
    "issued": lambda: ca().issue(),
}


@pytest.mark.parametrize("name", sorted(KEYS))
def test_each_kind_of_key_signs_and_openssl_agrees(tmp_path: Path, name: str) -> None:
    key = KEYS[name]()
    manifest = closed()[MANIFEST]
    signature = sign_manifest(manifest, key)
    reply = tsa().stamper().stamp(signature)
    roots = (ca().pem,) if name == "issued" else ()
    facts = envelope_facts(manifest, signature, reply, pins_for(key, auditor_roots=roots))
    assert facts.broken == {}
    assert cms_problems(facts.cms) == ()
    assert token_problems(facts.token, ()) == ()
    files = {MANIFEST: manifest, ENVELOPE: signature, TOKEN: reply, "tsa.pem": tsa().root.encode()}
    folder = on_disk({**files, "auditor.pem": roots[0].encode() if roots else key.certificate_pem}, tmp_path)
    _openssl(folder)
    (folder / MANIFEST).write_bytes(manifest.replace(b"acme", b"acmf"))
    with pytest.raises(subprocess.CalledProcessError):
        _openssl(folder)


def test_a_leaf_pinned_without_root_must_be_covered_by_a_pin() -> None:
    """Its issuer is unknown and nothing signs its bytes: dates or names could be changed unseen."""
    issued = ca().issue()
    manifest = closed()[MANIFEST]
    signature = sign_manifest(manifest, issued)
    reply = tsa().stamper().stamp(signature)
    alone = envelope_facts(manifest, signature, reply, pins_for(issued))
    assert "certificate_not_covered" in cms_problems(alone.cms)
    digest = _sha(issued)
    known = envelope_facts(manifest, signature, reply, pins_for(issued, auditor_certificates=(digest,)))
    assert "certificate_not_covered" not in cms_problems(known.cms)


def test_the_envelope_of_another_manifest_or_a_token_over_the_manifest() -> None:
    files = closed()
    other = envelope_facts(files[MANIFEST] + b" ", files[ENVELOPE], files[TOKEN], pins_for(auditor()))
    assert "digest" in cms_problems(other.cms)
    over = tsa().stamper().stamp(files[MANIFEST])
    facts = envelope_facts(files[MANIFEST], files[ENVELOPE], over, pins_for(auditor()))
    assert token_problems(facts.token, ()) == ("imprint",)


def test_missing_or_foreign_parts_are_facts_not_exceptions() -> None:
    files = closed()
    facts = envelope_facts(files[MANIFEST], None, None, pins_for(auditor()))
    assert facts.broken == {"cms": "missing", "token": "missing"}
    for noise in (b"", b"0", b"\x30\x80", bytes(70_000), files[TOKEN]):
        facts = envelope_facts(files[MANIFEST], noise, noise, pins_for(auditor()))
        assert facts.cms is None
    unpinned = envelope_facts(files[MANIFEST], files[ENVELOPE], files[TOKEN], None)
    assert unpinned.cms.intact
    assert unpinned.cms.valid
    assert not unpinned.cms.trusted


def test_twelve_years_on_the_token_time_still_decides() -> None:
    """Validation is at the token's time; certificates that expired since then change nothing."""
    files = closed()
    facts = envelope_facts(files[MANIFEST], files[ENVELOPE], files[TOKEN], pins_for(auditor()))
    assert facts.token.at == NOW
    late = Tsa(make_authority(NOW, "Autoridad", None, days=1), now=NOW + timedelta(days=400))
    reply = late.stamper()._authorities[0].transport
    from hashlib import sha256

    from slaverify.evidence.pades.tokens import build_request, normal_reply

    digest = sha256(files[ENVELOPE]).digest()
    kept = normal_reply(reply(build_request(digest, 7)), digest, 7)
    expired = envelope_facts(files[MANIFEST], files[ENVELOPE], kept, pins_for(auditor(), late))
    assert "path" in token_problems(expired.token, ())


@pytest.mark.parametrize("mask", [0x01, 0xFF])
def test_no_flipped_byte_of_the_envelope_passes(mask: int) -> None:
    files = closed()
    for name in (ENVELOPE, TOKEN):
        for position in range(0, len(files[name]), 37):
            changed = bytearray(files[name])
            changed[position] ^= mask
            given = {**files, name: bytes(changed)}
            facts = envelope_facts(files[MANIFEST], given[ENVELOPE], given[TOKEN], pins_for(auditor()))
            assert _faulty(facts), (name, position)


def _faulty(facts) -> bool:
    if facts.broken or facts.cms is None or facts.token is None:
        return True
    return bool(cms_problems(facts.cms) or token_problems(facts.token, ()) or facts.token.reply_shape)


def _openssl(folder: Path) -> None:
    at = str(int(NOW.timestamp()))
    cms = ["openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", ENVELOPE, "-content", MANIFEST]
    cms += ["-CAfile", "auditor.pem", "-purpose", "any", "-attime", at, "-out", "/dev/null"]
    stamp = ["openssl", "ts", "-verify", "-data", ENVELOPE, "-in", TOKEN, "-CAfile", "tsa.pem", "-attime", at]
    for command in (cms, stamp):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def _sha(key: SigningKey) -> str:
    from cryptography.hazmat.primitives import hashes

    return key.certificate.fingerprint(hashes.SHA256()).hex()
