"""Read a revocation list (CRL) against the certificates of a path. Only complete lists by the issuer itself are used.

Trust boundary: the list comes from anybody; it counts only if the key of a certificate of the path signed it.

Source: RFC 5280 section 5 (CRL), 5.2.4 (delta lists), 5.2.5 (scope), 5.3.2 (invalidity date).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256

from cryptography import x509

from slaverify.evidence.signature_facts import CertificateFacts, RevocationList

_PEM = b"-----BEGIN"


def read_list(data: bytes, certificates: Iterable[CertificateFacts]) -> RevocationList:
    """Return what the list (DER or PEM) says of the certificates. Never raises for what it holds."""
    digest = sha256(data).hexdigest()
    try:
        known = [x509.load_der_x509_certificate(entry.der) for entry in certificates if entry.der]
        return _read(
            x509.load_pem_x509_crl(data) if data.startswith(_PEM) else x509.load_der_x509_crl(data), digest, known
        )
    except Exception as error:  # noqa: BLE001 - bytes from anybody: whatever is raised, the list is of no use
        return RevocationList(digest, f"{type(error).__name__}: {error}"[:200])


def _read(found: x509.CertificateRevocationList, digest: str, known: list[x509.Certificate]) -> RevocationList:
    scope = _scope(found)
    issuer = next((entry for entry in known if _issued_by(found, entry)), None)
    if issuer is None:
        return RevocationList(digest, "no certificate of the path signed it")
    covered = [entry for entry in known if _is_of(entry, issuer) and _inside(entry, scope)]
    revoked = {}
    for entry in covered:
        row = found.get_revoked_certificate_by_serial_number(entry.serial_number)
        if row is not None:
            revoked[_fingerprint(entry)] = _since(row)
    return RevocationList(
        digest,
        "" if covered else "no certificate of the path is in its scope",
        found.last_update_utc,
        found.next_update_utc,
        tuple(_fingerprint(entry) for entry in covered),
        revoked,
    )


def _scope(found: x509.CertificateRevocationList) -> x509.IssuingDistributionPoint | None:
    """Return the scope that the list states. Raises: ValueError for a list that is not complete in it."""
    scope = None
    for extension in found.extensions:
        value = extension.value
        if isinstance(value, x509.DeltaCRLIndicator):
            raise ValueError("a delta list")
        if isinstance(value, x509.IssuingDistributionPoint):
            scope = value
        elif extension.critical:
            raise ValueError(f"critical extension {extension.oid.dotted_string}")
    partial = scope is not None and (
        scope.indirect_crl or scope.only_some_reasons or scope.only_contains_attribute_certs
    )
    if partial:
        raise ValueError("a list of other issuers, or of some reasons alone")
    return scope


def _issued_by(found: x509.CertificateRevocationList, entry: x509.Certificate) -> bool:
    if entry.subject != found.issuer:
        return False
    try:
        usage = entry.extensions.get_extension_for_class(x509.KeyUsage).value
        if not usage.crl_sign:
            return False
    except x509.ExtensionNotFound:
        pass
    return found.is_signature_valid(entry.public_key())  # type: ignore[arg-type]  # any other key kind raises


def _is_of(entry: x509.Certificate, issuer: x509.Certificate) -> bool:
    if entry == issuer:
        return False
    try:
        entry.verify_directly_issued_by(issuer)
    except Exception:  # noqa: BLE001 - whatever the library refuses was not issued by this one
        return False
    return True


def _inside(entry: x509.Certificate, scope: x509.IssuingDistributionPoint | None) -> bool:
    if scope is None:
        return True
    try:
        authority = entry.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        authority = False
    return not ((scope.only_contains_user_certs and authority) or (scope.only_contains_ca_certs and not authority))


def _since(row: x509.RevokedCertificate) -> datetime:
    since = row.revocation_date_utc
    try:
        suspect = row.extensions.get_extension_for_class(x509.InvalidityDate).value.invalidity_date_utc
    except x509.ExtensionNotFound:
        return since
    return min(since, suspect.astimezone(UTC))


def _fingerprint(entry: x509.Certificate) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    return sha256(entry.public_bytes(Encoding.DER)).hexdigest()
