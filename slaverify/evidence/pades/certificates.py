"""X.509 certificates as facts, and the pinned ones as roots.

Source: RFC 5280.
"""

from __future__ import annotations

import warnings
from hashlib import sha256

from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from slaverify.evidence.signature_facts import CertificateFacts, Pins

_EXTENDED = {"1.3.6.1.5.5.7.3.8": "time_stamping"}
_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
)


def facts_of(der: bytes) -> CertificateFacts:
    """Read one certificate. Raises: ValueError and others for bytes that are none, or that RFC 5280 forbids."""
    certificate = _loaded(der)
    spki = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return CertificateFacts(
        subject=certificate.subject.rfc4514_string(),
        sha256=sha256(der).hexdigest(),
        spki_sha256=sha256(spki).hexdigest(),
        not_before=certificate.not_valid_before_utc,
        not_after=certificate.not_valid_after_utc,
        key=_key(certificate),
        key_usage=_key_usage(certificate),
        extended_key_usage=_extended_key_usage(certificate),
        policies=_policies(certificate),
        names_list=_names_list(certificate),
        der=der,
    )


def roots_of(pems: tuple[str, ...]) -> tuple[asn1_x509.Certificate, ...]:
    """Return every certificate of the PEM texts. Raises: ValueError if one is none."""
    found = [entry for pem in pems for entry in x509.load_pem_x509_certificates(pem.encode())]
    return tuple(asn1_x509.Certificate.load(entry.public_bytes(Encoding.DER)) for entry in found)


def signer_roots(certificates: tuple[bytes, ...], pins: Pins | None) -> tuple[asn1_x509.Certificate, ...]:
    """Return the explicit roots of a signer: those that the contract names, else the embedded certificate of the pin.

    Raises: ValueError if no root is named and no certificate has the pinned key.
    """
    if pins is None or not pins.auditor_spki:
        return ()
    if pins.auditor_roots:
        return roots_of(pins.auditor_roots)
    leaf = next((entry for entry in certificates if facts_of(entry).spki_sha256 == pins.auditor_spki), None)
    if leaf is None:
        raise ValueError("no certificate with the pinned key")
    return (asn1_x509.Certificate.load(leaf),)


def signs_itself(der: bytes) -> bool:
    """Say whether a certificate's signature is by its own key."""
    certificate = _loaded(der)
    try:
        certificate.verify_directly_issued_by(certificate)
    except Exception:  # noqa: BLE001 - whatever the library refuses is no signature by this key
        return False
    return True


def _loaded(der: bytes) -> x509.Certificate:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return x509.load_der_x509_certificate(der)


def _key(certificate: x509.Certificate) -> str:
    public = certificate.public_key()
    if isinstance(public, EllipticCurvePublicKey):
        return f"EC {public.curve.name}"
    if isinstance(public, RSAPublicKey):
        return f"RSA {public.key_size}"
    return type(public).__name__


def _key_usage(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except x509.ExtensionNotFound:
        return ()
    return tuple(name for name in _USAGES if getattr(usage, name))


def _extended_key_usage(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return ()
    return tuple(_EXTENDED.get(entry.dotted_string, entry.dotted_string) for entry in usage)


def _policies(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.CertificatePolicies).value
    except x509.ExtensionNotFound:
        return ()
    return tuple(entry.policy_identifier.dotted_string for entry in found)


def _names_list(certificate: x509.Certificate) -> bool:
    try:
        certificate.extensions.get_extension_for_class(x509.CRLDistributionPoints)
    except x509.ExtensionNotFound:
        return False
    return True
