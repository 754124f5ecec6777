"""Keys, authorities and a small real PDF for the tests of evidence; nothing here is committed as a binary."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from slaverify.evidence import Pins
from slaverify.evidence.envelope import SigningKey, fit_key
from slaverify.evidence.pades import Identity, demo_tsa_reply, make_authority, make_signer, sign_pdf
from slaverify.evidence.timestamp import Authority, Stamper

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
POLICY = "1.2.3.4.1"
CLOSED_AT = NOW - timedelta(minutes=5)


@dataclass
class Tsa:
    """A timestamp authority in memory. `calls` counts what it was asked."""

    identity: Identity
    now: datetime = NOW
    policy: str = POLICY
    calls: list[bytes] = field(default_factory=list)

    @property
    def root(self) -> str:
        return self.identity.root_pem.decode()

    def transport(self, request: bytes) -> bytes:
        self.calls.append(request)
        return demo_tsa_reply(request, self.identity.key_pem, self.identity.certificate_pem, self.now, self.policy)

    def stamper(self) -> Stamper:
        return Stamper([Authority("https://tsa.example", self.transport)], (self.root,))


def key_of(identity: Identity) -> SigningKey:
    private = serialization.load_pem_private_key(identity.key_pem, None)
    return fit_key(private, x509.load_pem_x509_certificates(identity.certificate_pem))


@cache
def auditor() -> SigningKey:
    """The auditor's self-signed P-256 key, without the demonstration's policy."""
    return key_of(make_signer(NOW, "Auditora de prueba", None))


@cache
def tsa() -> Tsa:
    return Tsa(make_authority(NOW, "Autoridad de prueba", None))


def pins_for(key: SigningKey, authority: Tsa | None = None, **more: object) -> Pins:
    return Pins(key.spki_sha256, ((authority or tsa()).root,), **more)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Ca:
    """A certification authority that issues signing keys."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, name: str = "Auditora de prueba", crl_at: str = "") -> SigningKey:
        key = ec.generate_private_key(ec.SECP256R1())
        leaf = certificate(key, name, self.key, self.certificate.subject, crl_at=crl_at)
        return fit_key(key, [leaf, self.certificate])

    def crl(self, now: datetime, revoked: x509.Certificate | None = None) -> bytes:
        builder = x509.CertificateRevocationListBuilder().issuer_name(self.certificate.subject)
        builder = builder.last_update(now - timedelta(hours=1)).next_update(now + timedelta(days=9))
        if revoked is not None:
            entry = x509.RevokedCertificateBuilder().serial_number(revoked.serial_number)
            builder = builder.add_revoked_certificate(entry.revocation_date(now - timedelta(hours=2)).build())
        return builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


@cache
def ca(number: int = 1) -> Ca:
    """Authorities that all bear the same name; `number` tells them apart."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "CA de prueba")])
    return Ca(key, certificate(key, "CA de prueba", key, name, authority=True))


def certificate(
    key, name: str, issuer_key, issuer: x509.Name, *, authority: bool = False, crl_at: str = ""
) -> x509.Certificate:
    usage = x509.KeyUsage(not authority, not authority, False, False, False, authority, authority, False, False)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - timedelta(days=1))
        .not_valid_after(NOW + timedelta(days=365))
        .add_extension(x509.BasicConstraints(authority, None), True)
        .add_extension(usage, True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False)
    )
    if crl_at:
        point = x509.DistributionPoint([x509.UniformResourceIdentifier(crl_at)], None, None, None)
        builder = builder.add_extension(x509.CRLDistributionPoints([point]), False)
    return builder.sign(issuer_key, hashes.SHA256())


def self_signed(private, name: str = "Auditora de prueba") -> SigningKey:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    return fit_key(private, [certificate(private, name, private, subject)])


@cache
def rsa_key(bits: int = 3072) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


MANIFEST = b'{"type":"slaverify/bundle/1"}'
REPORT = b'{"type":"slaverify/report/1"}'


@cache
def unsigned_pdf(third: bool = False) -> bytes:
    """A page as the report's: tagged, uncompressed, two attachments, IBM Plex Sans."""
    import fontpkg_ibm_plex_sans
    from weasyprint import HTML, Attachment

    folder = Path(fontpkg_ibm_plex_sans.__file__).parent / "files"
    face = next(path for path in sorted(folder.glob("*.ttf")) if "Italic" not in path.name)
    style = f'@font-face{{font-family:"IBM Plex Sans";src:url("{face.as_uri()}")}}*{{font-family:"IBM Plex Sans"}}'
    body = '<h1>Informe</h1><p>Texto <a href="#b">interno</a></p><h2 id=b>Dos</h2>'
    body += "<table><tr><th>a</th><td>1</td></tr></table>"
    html = f'<html lang="es"><head><title>Informe</title><style>{style}</style></head><body>{body}</body></html>'
    files = {"manifest.json": MANIFEST, "report.json": REPORT}
    if third:
        files["extra.json"] = b"{}"
    attachments = [
        Attachment(string=data, name=name, relationship="Data", created=NOW, modified=NOW)
        for name, data in files.items()
    ]
    identifier = sha256(REPORT).digest()[:16]
    return HTML(string=html).write_pdf(
        pdf_variant="pdf/a-3a", uncompressed_pdf=True, attachments=attachments, pdf_identifier=identifier
    )


@cache
def signed_pdf() -> bytes:
    return sign_pdf(unsigned_pdf(), auditor(), tsa().stamper().stamp_digest)
