"""The auditor's signing key and the detached signature of a manifest.

The key never travels in an argument: a passphrase is asked through a callable. What is signed are the exact bytes
of manifest.json, which name their type and contract.

Source: RFC 5652 (CMS SignedData, detached), RFC 5958 (PKCS#8), RFC 7292 (PKCS#12).
"""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, SECP384R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, pkcs7, pkcs12

from slaverify.errors import Text
from slaverify.evidence.problems import unfit_key, unreadable_key

PrivateKey: TypeAlias = EllipticCurvePrivateKey | RSAPrivateKey
Passphrase: TypeAlias = Callable[[], str]

_MIN_RSA = 3072
_MAX_KEY_FILE = 64 * 1024


@dataclass(frozen=True)
class SigningKey:
    """An X.509 signing key that was found fit: key, its certificate, and the certificates of its issuers."""

    private: PrivateKey = field(repr=False)
    certificate: x509.Certificate
    chain: tuple[x509.Certificate, ...] = ()

    @property
    def spki_sha256(self) -> str:
        """SHA-256 of the SubjectPublicKeyInfo, hex: what a contract pins."""
        public = self.certificate.public_key()
        return sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()

    @property
    def certificate_pem(self) -> bytes:
        """The certificate alone, in PEM: public."""
        return self.certificate.public_bytes(Encoding.PEM)


def load_key(path: Path, passphrase: Passphrase, certificate: Path | None = None) -> SigningKey:
    """Load a PEM key with its certificate, or a PKCS#12 file. `passphrase` is called only if the file is encrypted.

    The file must be readable by its owner alone. `certificate`: PEM file of the leaf and its issuers, if the
    key's own file does not hold them.
    Raises: ReportError SLV-R022 (cannot be opened), SLV-R021 (not fit to sign).
    """
    data = _private_bytes(path)
    if data.startswith(b"-----BEGIN"):
        private, certificates = _from_pem(data, passphrase, path.name)
    else:
        private, certificates = _from_pkcs12(data, passphrase, path.name)
    if certificate is not None:
        certificates = _certificates(certificate.read_bytes(), certificate.name)
    return fit_key(private, certificates, path.name)


def fit_key(private: object, certificates: list[x509.Certificate], where: str = "") -> SigningKey:
    """Return the signing key if kind, size, certificate and usage are those that a report needs.

    Raises: ReportError SLV-R021. Source: docs/spec/bundle.md (P-256, P-384, RSA of 3072 bits or more).
    """
    if isinstance(private, EllipticCurvePrivateKey):
        fit = isinstance(private.curve, SECP256R1 | SECP384R1)
    else:
        fit = isinstance(private, RSAPrivateKey) and private.key_size >= _MIN_RSA
    if not fit or not isinstance(private, EllipticCurvePrivateKey | RSAPrivateKey):
        raise unfit_key(Text("tipo o tamaño de clave", "kind or size of key"), where)
    public = _spki(private.public_key())
    leaf = next((entry for entry in certificates if _spki(entry.public_key()) == public), None)
    if leaf is None:
        raise unfit_key(Text("falta el certificado de esta clave", "the certificate of this key is missing"), where)
    if not _may_sign(leaf):
        raise unfit_key(
            Text("el certificado no declara uso de firma", "the certificate declares no signing usage"), where
        )
    return SigningKey(private, leaf, tuple(entry for entry in certificates if entry is not leaf))


def sign_manifest(manifest: bytes, key: SigningKey) -> bytes:
    """Return manifest.p7s: a detached CMS in DER over the exact bytes of `manifest`, SHA-256."""
    builder = pkcs7.PKCS7SignatureBuilder().set_data(manifest)
    builder = builder.add_signer(key.certificate, key.private, hashes.SHA256())
    for certificate in key.chain:
        builder = builder.add_certificate(certificate)
    options = [pkcs7.PKCS7Options.DetachedSignature, pkcs7.PKCS7Options.Binary, pkcs7.PKCS7Options.NoCapabilities]
    return builder.sign(Encoding.DER, options)


def _private_bytes(path: Path) -> bytes:
    try:
        status = path.stat()
        if stat.S_IMODE(status.st_mode) & 0o077:
            detail = Text("otros usuarios pueden leer el archivo (chmod 600)", "others can read the file (chmod 600)")
            raise unreadable_key(path.name, detail)
        if status.st_size > _MAX_KEY_FILE:
            raise unreadable_key(path.name, Text("demasiado grande", "too big"))
        return path.read_bytes()
    except OSError as error:
        raise unreadable_key(path.name) from error


def _from_pem(data: bytes, passphrase: Passphrase, where: str) -> tuple[object, list[x509.Certificate]]:
    secret = passphrase().encode() if b"ENCRYPTED" in data else None
    try:
        private = serialization.load_pem_private_key(data, secret)
    except (ValueError, TypeError) as error:
        raise unreadable_key(where) from error
    return private, _certificates(data, where) if b"BEGIN CERTIFICATE" in data else []


def _from_pkcs12(data: bytes, passphrase: Passphrase, where: str) -> tuple[object, list[x509.Certificate]]:
    try:
        private, leaf, others = pkcs12.load_key_and_certificates(data, passphrase().encode())
    except ValueError as error:
        raise unreadable_key(where) from error
    return private, [entry for entry in (leaf, *others) if entry is not None]


def _certificates(data: bytes, where: str) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(data)
    except ValueError as error:
        raise unreadable_key(where, Text("certificado ilegible", "certificate unreadable")) from error


def _spki(public: object) -> bytes:
    encode = getattr(public, "public_bytes", None)
    return b"" if encode is None else bytes(encode(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))


def _may_sign(certificate: x509.Certificate) -> bool:
    try:
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except x509.ExtensionNotFound:
        return False
    return usage.digital_signature or usage.content_commitment
