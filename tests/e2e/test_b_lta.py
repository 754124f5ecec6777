"""A whole audit at B-LTA, with a PKCS#12 key of an authority that publishes revocation lists, through the commands."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, pkcs12
from cryptography.x509.oid import NameOID

from slaverify.cli.demo.servers import serve
from slaverify.cli.wiring import now
from slaverify.evidence.envelope import fit_key
from slaverify.evidence.pades import pdf_facts
from tests.e2e.conftest import ENGINE
from tests.e2e.line import ORGANISATION, Place, audit_arguments, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items

pytestmark = pytest.mark.nightly
DAY = timedelta(days=1)
PASSPHRASE = "clave de prueba"


class Authority:
    """An authority of today, that issues the auditor's certificate and lists what it revoked."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "CA de hoy")])
        self.certificate = self._issue(self.key, self.name, authority=True)

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def _issue(self, key, subject: x509.Name, *, authority: bool = False) -> x509.Certificate:
        usage = x509.KeyUsage(not authority, not authority, False, False, False, authority, authority, False, False)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now() - DAY).not_valid_after(now() + 365 * DAY)
        builder = builder.add_extension(x509.BasicConstraints(authority, None), True).add_extension(usage, True)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        own = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = builder.add_extension(own, False)
        if not authority:
            where = x509.UniformResourceIdentifier("http://crl.example/ca.crl")
            point = x509.DistributionPoint([where], None, None, None)
            builder = builder.add_extension(x509.CRLDistributionPoints([point]), False)
        return builder.sign(self.key, hashes.SHA256())

    def pkcs12(self) -> tuple[bytes, x509.Certificate]:
        key = ec.generate_private_key(ec.SECP384R1())
        leaf = self._issue(key, x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, ORGANISATION)]))
        sealed = BestAvailableEncryption(PASSPHRASE.encode())
        data = pkcs12.serialize_key_and_certificates(b"auditor", key, leaf, [self.certificate], sealed)
        self.spki = fit_key(key, [leaf]).spki_sha256
        return data, leaf

    def crl(self, revoked: x509.Certificate | None = None) -> bytes:
        builder = x509.CertificateRevocationListBuilder().issuer_name(self.name)
        builder = builder.last_update(now() - DAY / 24).next_update(now() + 9 * DAY)
        if revoked is not None:
            row = x509.RevokedCertificateBuilder().serial_number(revoked.serial_number)
            builder = builder.add_revoked_certificate(row.revocation_date(now() - DAY / 48).build())
        return builder.sign(self.key, hashes.SHA256()).public_bytes(Encoding.DER)


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Authority, x509.Certificate]:
    place = make_place(tmp_path_factory.mktemp("lta"), items(40))
    authority = Authority()
    data, leaf = authority.pkcs12()
    key = place.keys / "auditor.p12"
    key.write_bytes(data)
    key.chmod(0o600)
    (place.folder / "ca.crl").write_bytes(authority.crl())
    place = replace(place, spki=authority.spki)
    changes = {
        **ENGINE,
        "report.languages": ["es"],
        "report.signature.level": "B-LTA",
        "report.signature.auditor_roots": [authority.pem],
    }
    with serve(Calculator().respond) as vendor, tsa(place.authority) as stamps, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLAVERIFY_KEY_PASSPHRASE", PASSPHRASE)
        write_contract(place, f"{vendor}/q", stamps, changes)
        words = audit_arguments(place, "--key", str(key), "--crl", str(place.folder / "ca.crl"))
        done = slaverify(place, *words)
        assert done.returncode == 0, done.stderr
    return place, authority, leaf


def verified(place: Place, *more: str) -> dict:
    words = ["verify", str(place.pdf()), "--bundle", str(place.bundle()), "--contract", str(place.contract)]
    return json.loads(slaverify(place, *words, "--json", *more).stdout)


def test_the_report_is_of_that_level_and_verifies(issued: tuple[Place, Authority, x509.Certificate]) -> None:
    place, _, _ = issued
    facts = pdf_facts(place.pdf().read_bytes(), None)
    assert len(facts.document_timestamps) == 1
    found = verified(place, "--rerender", "--strict")
    assert (found["outcome"], found["exit_code"]) == ("VERIFIED", 0)
    checks = {check["id"]: check for check in found["checks"]}
    assert {name for name, check in checks.items() if check["result"] != "passed"} == set()
    assert checks["V14"]["reason"] is None


def test_a_later_list_that_revokes_the_key_in_time_is_found(
    issued: tuple[Place, Authority, x509.Certificate], tmp_path: Path
) -> None:
    place, authority, leaf = issued
    (tmp_path / "later.crl").write_bytes(authority.crl(leaf))
    found = verified(place, "--crl", str(tmp_path / "later.crl"))
    assert (found["outcome"], found["exit_code"]) == ("NOT_VERIFIED", 5)
    assert [check["id"] for check in found["checks"] if check["result"] == "failed"] == ["V14"]
