"""The demonstration's key and timestamp authority: real signatures, no evidentiary value.

Every certificate says so in its name and in its policy, and a verifier calls what they sign DEMO.

Source: RFC 3161; RFC 5816 (SHA-256 certificate identifier).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from asn1crypto import algos, cms, core, tsp
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from slaverify.evidence.pades.shape import plain_reply
from slaverify.evidence.signature_facts import DEMO_POLICY

DEMO_NAME = "DEMO · SIN VALOR PROBATORIO · NO EVIDENTIARY VALUE"


@dataclass(frozen=True)
class Identity:
    """A private key and its certificate, both in PEM; `root_pem` is what a verifier pins."""

    key_pem: bytes = field(repr=False)
    certificate_pem: bytes
    root_pem: bytes


def make_signer(now: datetime, name: str = DEMO_NAME, policy: str | None = DEMO_POLICY, days: int = 3650) -> Identity:
    """Make a P-256 key with a self-signed certificate fit to sign reports. `now` is aware UTC."""
    key = generate_private_key(SECP256R1())
    usage = _usage(digital_signature=True, content_commitment=True)
    certificate = _certificate(key, _name(name), key, _name(name), now, days, policy, ((usage, True), (_NOT_CA, True)))
    pem = certificate.public_bytes(Encoding.PEM)
    return Identity(_key_pem(key), pem, pem)


def make_authority(
    now: datetime, name: str = DEMO_NAME, policy: str | None = DEMO_POLICY, days: int = 3650
) -> Identity:
    """Make a timestamp authority: a root, and under it a P-256 key for timestamps alone. The root's key is dropped."""
    root_key, key = generate_private_key(SECP256R1()), generate_private_key(SECP256R1())
    root_name, leaf_name = _name(f"{name} · ROOT"[:64]), _name(name)
    authority = ((x509.BasicConstraints(True, 0), True), (_usage(key_cert_sign=True, crl_sign=True), True))
    root = _certificate(root_key, root_name, root_key, root_name, now, days, policy, authority)
    stamping = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
    extensions = ((_NOT_CA, True), (_usage(digital_signature=True), True), (stamping, True))
    leaf = _certificate(key, leaf_name, root_key, root_name, now, days, policy, extensions)
    return Identity(_key_pem(key), leaf.public_bytes(Encoding.PEM), root.public_bytes(Encoding.PEM))


def demo_tsa_reply(
    request: bytes, key_pem: bytes, certificate_pem: bytes, now: datetime, policy: str = DEMO_POLICY
) -> bytes:
    """Return the reply (DER) of the demonstration's authority to `request`: a token of time `now` (aware UTC).

    Raises: ValueError for bytes that are no request over SHA-256.
    """
    asked = tsp.TimeStampReq.load(request, strict=True)
    imprint = asked["message_imprint"]
    if imprint["hash_algorithm"]["algorithm"].native != "sha256" or len(imprint["hashed_message"].native) != 32:
        raise ValueError("imprint is not SHA-256")
    fields = {
        "version": "v1",
        "policy": tsp.ObjectIdentifier(policy),
        "message_imprint": imprint,
        "serial_number": secrets.randbits(63) | 1 << 62,
        "gen_time": now.replace(microsecond=0),
        "accuracy": {"seconds": 1},
    }
    if asked["nonce"].native is not None:
        fields["nonce"] = asked["nonce"].native
    certificate = x509.load_pem_x509_certificate(certificate_pem)
    info = tsp.TSTInfo(fields).dump()
    return plain_reply(_token(info, key_pem, certificate.public_bytes(Encoding.DER)))


def _token(info: bytes, key_pem: bytes, certificate: bytes) -> bytes:
    key = serialization.load_pem_private_key(key_pem, None)
    if not isinstance(key, EllipticCurvePrivateKey):
        raise ValueError("the demonstration's authority has an EC key")
    parsed = asn1_x509.Certificate.load(certificate)
    sha = algos.DigestAlgorithm({"algorithm": "sha256"})
    named = tsp.SigningCertificateV2({"certs": [tsp.ESSCertIDv2({"cert_hash": sha256(certificate).digest()})]})
    attributes = cms.CMSAttributes(
        [
            cms.CMSAttribute({"type": "content_type", "values": ["tst_info"]}),
            cms.CMSAttribute({"type": "message_digest", "values": [sha256(info).digest()]}),
            cms.CMSAttribute({"type": "signing_certificate_v2", "values": [named]}),
        ]
    )
    sid = cms.IssuerAndSerialNumber({"issuer": parsed.issuer, "serial_number": parsed.serial_number})
    signer = cms.SignerInfo(
        {
            "version": "v1",
            "sid": cms.SignerIdentifier({"issuer_and_serial_number": sid}),
            "digest_algorithm": sha,
            "signed_attrs": attributes,
            "signature_algorithm": algos.SignedDigestAlgorithm({"algorithm": "sha256_ecdsa"}),
            "signature": key.sign(attributes.dump(), ECDSA(hashes.SHA256())),
        }
    )
    signed = cms.SignedData(
        {
            "version": "v3",
            "digest_algorithms": cms.DigestAlgorithms((sha,)),
            "encap_content_info": {"content_type": "tst_info", "content": core.ParsableOctetString(info)},
            "certificates": [parsed],
            "signer_infos": [signer],
        }
    )
    return bytes(cms.ContentInfo({"content_type": "signed_data", "content": signed}).dump())


_NOT_CA = x509.BasicConstraints(False, None)


def _certificate(
    key: EllipticCurvePrivateKey,
    subject: x509.Name,
    issuer_key: EllipticCurvePrivateKey,
    issuer: x509.Name,
    now: datetime,
    days: int,
    policy: str | None,
    extensions: tuple[tuple[x509.ExtensionType, bool], ...],
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # A clock that is a little late must still find the certificate valid.
        .not_valid_before(now.replace(microsecond=0) - timedelta(hours=1))
        .not_valid_after(now.replace(microsecond=0) + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    if policy is not None:
        information = x509.PolicyInformation(x509.ObjectIdentifier(policy), None)
        builder = builder.add_extension(x509.CertificatePolicies([information]), False)
    return builder.sign(issuer_key, hashes.SHA256())


def _usage(**granted: bool) -> x509.KeyUsage:
    names = (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    )
    return x509.KeyUsage(**{name: granted.get(name, False) for name in names})


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _key_pem(key: EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
