"""From B-T to B-LTA: one more update with certificates and revocation lists, under a document timestamp over all.

It is written here, and not by the library's own option, because that would rewrite the document's metadata.

Source: ETSI EN 319 142-1 (baseline B-LTA), ISO 32000-2 12.8.4.3 (document security store).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from io import BytesIO

from asn1crypto import x509
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.signers import PdfTimeStamper
from pyhanko.sign.timestamps import TimeStamper
from pyhanko.sign.validation import async_validate_pdf_signature
from pyhanko.sign.validation.dss import DocumentSecurityStore
from pyhanko.sign.validation.status import PdfSignatureStatus
from pyhanko_certvalidator import ValidationContext

from slaverify.evidence.pades.certificates import roots_of
from slaverify.evidence.pades.validation import SIGNER_USAGE, run

FIELD = "slaverify-archive"


@dataclass(frozen=True)
class LongTerm:
    """What B-LTA adds: PEM roots of signer and authorities, and the CRLs (DER) of every certificate that names one.

    `moment` (aware UTC) is the present, at which the paths are judged.
    """

    roots: tuple[str, ...]
    moment: datetime
    crls: tuple[bytes, ...] = ()


def with_archive(writer: IncrementalPdfFileWriter, signed: bytes, stamper: TimeStamper, given: LongTerm) -> bytes:
    """Return `signed`, opened in `writer`, with its validation data and a document timestamp.

    Raises: ValueError if a path does not hold or names a revocation list that is not there: no weaker level is made.
    """
    status = _status(signed, given)
    stamp = status.timestamp_validity
    if not status.bottom_line or stamp is None or status.validation_path is None or stamp.validation_path is None:
        raise ValueError("a certificate's path or its revocation list is missing")
    certificates = {
        entry.dump(): entry
        for path in (status.validation_path, stamp.validation_path)
        for entry in path.iter_certs(include_root=True)
    }
    # The order of a set would differ between processes.
    ordered: list[x509.Certificate] = [certificates[der] for der in sorted(certificates)]
    lists = [crl for crl in _context(given).crls if crl.dump() in given.crls]
    DocumentSecurityStore.supply_dss_in_writer(writer, None, certs=ordered, crls=lists)
    out: BytesIO = run(
        lambda: PdfTimeStamper(stamper, field_name=FIELD).async_timestamp_pdf(
            writer, "sha256", bytes_reserved=RESERVED_STAMP
        )
    )
    return out.getvalue()


RESERVED_STAMP = 32_768
"""Hex digits kept for the document timestamp."""


def _context(given: LongTerm) -> ValidationContext:
    return ValidationContext(
        trust_roots=list(roots_of(given.roots)),
        moment=given.moment,
        allow_fetching=False,
        revocation_mode="hard-fail",
        crls=list(given.crls),
        ocsps=[],
    )


def _status(signed: bytes, given: LongTerm) -> PdfSignatureStatus:
    signature = PdfFileReader(BytesIO(signed)).embedded_regular_signatures[0]
    return run(
        lambda: async_validate_pdf_signature(
            signature,
            signer_validation_context=_context(given),
            ts_validation_context=_context(given),
            key_usage_settings=SIGNER_USAGE,
        )
    )
